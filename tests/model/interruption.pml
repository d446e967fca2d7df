/* SPDX-License-Identifier: MIT */
/*
 * Several markers beside the program: a helper that comes and goes, assistants that leave when their time is over, and a lead
 * that is told at any moment to come out with all of them, and goes on later.  As mark/team/team_concurrent.c,
 * mark/team/team_assist.c and gc/collect/concurrent.c do it; doc/design/concurrent-marker.md.
 *
 * Pieces of work lie somewhere: in a marker's private part, in its public part, from which others steal, or they are done.
 * Doing a piece may make others, PIECES in all.  Scanning takes two steps: a piece that is gone at the second has been in two
 * hands.  The markers are the lead's, the helper's and the spare one, which belongs to whoever has made it HELD.
 *
 * How it is found out that nobody is busy is one look here; tests/model/termination.pml is about that.  Who has nothing to do
 * waits until there is something, since sleeps end by themselves.
 *
 * A holder takes the cycle HOLDS times, whenever it likes, and must find nobody in the heap.  When the lead takes the mark for
 * finished each piece must be done.
 *
 * -DHOLDS= -DVISITS= (of the helper) -DASSISTS= (of each assistant) -DASSISTANTS=
 */
#ifndef HOLDS
#define HOLDS 1
#endif
#ifndef VISITS
#define VISITS 2
#endif
#ifndef ASSISTS
#define ASSISTS 2
#endif
#ifndef ASSISTANTS
#define ASSISTANTS 1
#endif

#define PIECES 4                /* of which the lead has two at the start */
#define LEAD 0
#define HELPER 1
#define SPARE 2

#define has(m) (own[m] + shown[m] > 0)

mtype = { RUNNING, FINISHED, INTERRUPTED };
mtype = { FREE, HELD, LEFT };

byte own[3], shown[3];           /* pieces in the private and public parts of each marker's stack */
byte unmade = PIECES - 2;
mtype state = INTERRUPTED;      /* of the termination */
byte busy;                      /* markers that are */
bit open, over;
byte inside;                    /* helpers and assistants */
mtype spare = FREE;
bit held, lead_in;

/* ---- a marker with work ---- */

/* A piece goes from one place to another, if there is one. */
inline shift(from, to)
{
    atomic {
        if
        :: from > 0 -> from--; to++
        :: else
        fi
    }
}

inline work_one(m)
{
    own[m] > 0;
    atomic {
        assert(own[m] > 0);
        own[m]--;
        if
        :: unmade > 0 -> unmade--; own[m]++
        :: unmade > 1 -> unmade = unmade - 2; own[m] = own[m] + 2
        :: skip
        fi
    }
}

/* Until it is told to leave, or it has nothing. */
#define GOES_ON (state == RUNNING)
#define MARKS(m) \
    :: GOES_ON && own[m] > 0 -> work_one(m) \
    :: atomic { open && own[m] > 1 && shown[m] == 0 -> shift(own[m], shown[m]) } \
    :: atomic { GOES_ON && own[m] == 0 && shown[m] > 0 -> shift(shown[m], own[m]) }

/* ---- a marker without work ---- */

inline steal(m, from)
{
#ifdef BROKEN_STEAL_FIRST
    shift(shown[from], own[m]);
    busy++;
#else
    busy++;
    shift(shown[from], own[m]);
#endif
    if
    :: has(m)
    :: !has(m) -> busy--
    fi
}

/* Another may steal meanwhile. */
inline take_over(m, from)
{
    do
    :: own[from] > 0 -> shift(own[from], own[m])
    :: shown[from] > 0 -> shift(shown[from], own[m])
    :: !has(from) -> break
    od
}

/* The spare marker becomes idle when its stack has been found empty. */
inline take_left(m)
{
    busy++;
    if
#ifdef BROKEN_TAKEN_TWICE
    :: spare == LEFT -> spare = HELD;
#else
    :: atomic { spare == LEFT -> spare = HELD };
#endif
        take_over(m, SPARE);
        busy--;
        spare = FREE
    :: spare != LEFT
    fi;
    if
    :: has(m)
    :: !has(m) -> busy--
    fi
}

inline detect()
{
    if
    :: busy == 0 ->
        atomic { if :: state == RUNNING -> state = FINISHED :: else fi }
    :: busy != 0
    fi
}

/* ---- the lead ---- */

inline interrupt()
{
    atomic { if :: state == RUNNING -> state = INTERRUPTED :: else fi }
}

inline go_inside()
{
    do
    :: lead_in = 1;
#ifdef BROKEN_NOT_ASKED
        break
#else
        if
        :: !held -> break
        :: held -> lead_in = 0; !held
        fi
#endif
    od
}

inline drain_lead()
{
    do
    MARKS(LEAD)
    :: GOES_ON && !open -> open = 1
    :: GOES_ON && held -> interrupt()
    :: state != RUNNING || !has(LEAD) -> break
    od
}

inline find_work_lead()
{
    do
    :: has(LEAD) -> break
    :: !has(LEAD) && GOES_ON && shown[HELPER] > 0 -> steal(LEAD, HELPER)
    :: !has(LEAD) && GOES_ON && shown[SPARE] > 0 -> steal(LEAD, SPARE)
#ifndef BROKEN_LEFT_ALONE
    :: !has(LEAD) && GOES_ON && spare == LEFT -> take_left(LEAD)
#endif
    :: !has(LEAD) && GOES_ON && busy == 0 -> detect()
    :: !has(LEAD) && GOES_ON && held -> interrupt()
    :: !has(LEAD) && state != RUNNING -> break
    od
}

/* Nobody else is inside. */
inline gather()
{
#ifndef BROKEN_HELPER_KEEPS
    take_over(LEAD, HELPER);
#endif
#ifndef BROKEN_SPARE_KEEPS
    take_over(LEAD, SPARE);
#endif
    spare = FREE
}

inline go_on()
{
    atomic { busy = 1; state = RUNNING };
    do
    :: drain_lead();
        if
        :: has(LEAD) -> break
        :: !has(LEAD) -> busy--; find_work_lead()
        fi;
        if
        :: has(LEAD) && GOES_ON
        :: !has(LEAD) || !GOES_ON -> break
        fi
    od;
#ifdef BROKEN_OUT_TOO_SOON
    lead_in = 0;
#endif
    open = 0;
#ifndef BROKEN_NOT_WAITED_FOR
    inside == 0;
#endif
    gather()
}

proctype Lead()
{
    do
    :: go_inside();
        go_on();
        if
        :: state == FINISHED ->
            assert(!has(LEAD) && !has(HELPER) && !has(SPARE));
            break
        :: state != FINISHED -> lead_in = 0
        fi
    od;
    over = 1;
    lead_in = 0
}

/* ---- those who come ---- */

/* Broken: it looks whether the team is open, and counts itself later. */
inline enter()
{
#ifdef BROKEN_ENTERS_LATE
    open;
    inside++
#else
    atomic { open -> inside++ }
#endif
}

/* It goes out to rest when it likes. */
proctype Helper()
{
    byte visits;

    do
    :: visits < VISITS ->
        visits++;
        if
        :: over -> break
        :: enter()
        fi;
        do
        :: !has(HELPER) && GOES_ON && shown[LEAD] > 0 -> steal(HELPER, LEAD)
        :: !has(HELPER) && GOES_ON && shown[SPARE] > 0 -> steal(HELPER, SPARE)
        :: !has(HELPER) && GOES_ON && spare == LEFT -> take_left(HELPER)
        :: !has(HELPER) && GOES_ON && busy == 0 -> detect()
        :: !has(HELPER) -> break
        :: has(HELPER) ->
            do
            MARKS(HELPER)
            :: state != RUNNING || !has(HELPER) -> break
            od;
            if
            :: has(HELPER) -> break
            :: !has(HELPER) -> busy--
            fi
        od;
        inside--
    :: visits == VISITS -> break
    :: break                    /* there is no such thread */
    od
}

inline let_go()
{
    if
    :: has(SPARE) ->
#ifdef BROKEN_LEFT_IDLE
        busy--;
#endif
        spare = LEFT
    :: !has(SPARE) ->
        busy--;
        if
        :: GOES_ON && busy == 0 -> detect()
        :: else
        fi;
        spare = FREE
    fi
}

/* A marker until its time is over. */
inline assist()
{
    do
    MARKS(SPARE)
    :: has(SPARE) -> break
    :: !has(SPARE) -> break
    od;
    let_go()
}

proctype Assistant()
{
    byte visits;

    do
    :: visits < ASSISTS ->
        visits++;
        if
        :: over -> break
        :: enter()
        fi;
        if
        :: atomic { spare == LEFT -> spare = HELD }
            assist()
        :: atomic { spare == FREE -> spare = HELD }
            if
            :: GOES_ON && shown[LEAD] > 0 -> steal(SPARE, LEAD)
            :: GOES_ON && shown[HELPER] > 0 -> steal(SPARE, HELPER)
            :: skip
            fi;
            if
            :: has(SPARE) -> assist()
            :: !has(SPARE) -> spare = FREE
            fi
        :: spare == HELD
        fi;
        inside--
    :: visits == ASSISTS -> break
    :: break
    od
}

/* ---- who wants the heap for himself ---- */

proctype Holder()
{
    byte holds;

    do
    :: holds < HOLDS ->
        held = 1;
        !lead_in;
        assert(inside == 0 && (over || has(LEAD) || state == INTERRUPTED) && !open);
        holds++;
        held = 0
    :: break
    od
}

init
{
    atomic {
        own[LEAD] = 2;
        run Lead();
        run Helper();
        run Assistant();
#if ASSISTANTS > 1
        run Assistant();
#endif
        run Holder()
    }
}
