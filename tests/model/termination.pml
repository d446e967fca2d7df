/* SPDX-License-Identifier: MIT */
/*
 * How markers find out that marking is finished, as mark/termination.c does it, for the model checker spin.
 *
 * What is modelled: MARKERS markers.  One has a piece of work in hand; the others may come at any time, or not at
 * all.  It is the last one, since detectors look at the flags from the first one on.  A marker that does a piece may
 * make public ones of its own, PIECES in all; it takes its own back, and when it has none it steals, or becomes
 * idle.  A theft is one step, the look before it another.  An idle marker steals, or tries to find out whether marking
 * is finished, in any order and as often as it likes.  When somebody finds that it is, there must be no piece left.
 * One statement is one access to a shared variable.
 *
 * -DCOUNTER=1: the shared counter; otherwise the flags, with as many detectors at once as there are idle markers.
 * -DSLEEP=1: an idle marker that has looked once sleeps until it is told of the end, without a timeout and
 * without news of work (mark/backoff.h).  Still every run ends, and everybody leaves.
 * -DBUFFERED=1: the one store that is not sequentially consistent in the code waits in a store buffer, as on x86.
 * So do those that some of the faults make so.
 *
 * A ticket is a number that nobody remembers; the code's are never drawn twice, which comes to the same.
 *
 * -DBROKEN_x puts one fault in; tests/test_models.sh lists them with the complaint each must cause.
 */
#ifndef MARKERS
#define MARKERS 3
#endif
#ifndef PIECES
#define PIECES 2
#endif
#ifndef COUNTER
#define COUNTER 0
#endif
#ifndef SLEEP
#define SLEEP 0
#endif
#ifndef BUFFERED
#define BUFFERED 0
#endif

#define LAST (MARKERS - 1)
#define NOBODY 200

/* ---- the protocol's variables ---- */
bit  flag[MARKERS];                     /* busy */
byte ticket;                            /* 0: interrupted */
byte busy;                              /* the counter */
bit  finished;
bit  signal;
bit  asleep[MARKERS];

/* ---- work ---- */
byte public[MARKERS];
byte pieces_left = PIECES;              /* that may still be made */
byte pieces;                            /* that are not done */

/* ---- what only the checks and the bounds see ---- */
byte gone;                              /* markers that have left, or never came */
byte mine[MARKERS];                     /* the ticket of each one's detection, or 0 */
byte stored[MARKERS];                   /* store buffers */

/* ---- store buffers: what waits in one reaches the others at any time, and before an atomic operation ---- */

#define EMPTY     0
#define FLAG_BUSY 1                     /* what is to be stored */
#define FLAG_IDLE 2
#define TICKET    3                     /* ... plus the ticket */

inline drain(m)
{
    d_step {
        if
        :: stored[m] == EMPTY
        :: stored[m] == FLAG_BUSY -> flag[m] = 1
        :: stored[m] == FLAG_IDLE -> flag[m] = 0
        :: stored[m] >= TICKET -> ticket = stored[m] - TICKET
        fi;
        stored[m] = EMPTY
    }
}

inline store_later(what)
{
    atomic { drain(me); stored[me] = what }
}

inline store_sc(what)
{
    atomic { store_later(what); drain(me) }
}

/* A marker sees its own store before the others do. */
#define flag_seen(m) (flag[m] && !(m == me && stored[me] == FLAG_IDLE))
#define ticket_seen  (stored[me] >= TICKET -> stored[me] - TICKET : ticket)

/* ---- becoming busy and idle ---- */

inline set_flag()
{
#ifdef BROKEN_FLAG_NOT_SC
    store_later(FLAG_BUSY)
#else
    store_sc(FLAG_BUSY)
#endif
}

inline interrupt()
{
    if
    :: ticket_seen != 0 ->
        atomic { drain(me); stored[me] = (BUFFERED -> TICKET : EMPTY); ticket = (BUFFERED -> ticket : 0) }
    :: ticket_seen == 0
    fi
}

inline flag_busy()
{
#ifdef BROKEN_INTERRUPTED_FIRST
    interrupt();
    set_flag()
#else
    set_flag();
#ifndef BROKEN_NOT_INTERRUPTED
    interrupt()
#endif
#endif
}

inline count_busy()
{
#ifdef BROKEN_COUNT_NOT_ATOMIC
    k = busy;
    busy = k + 1;
    k = 0
#else
    busy++
#endif
}

inline become_busy()
{
    if
    :: COUNTER -> count_busy()
    :: !COUNTER -> flag_busy()
    fi
}

inline clear_flag()
{
#ifdef BROKEN_IDLE_NOT_SC
    store_later(FLAG_IDLE)
#else
    store_sc(FLAG_IDLE)
#endif
}

inline become_idle()
{
    if
    :: COUNTER -> busy--
    :: !COUNTER -> clear_flag()
    fi
}

/* ---- detection ---- */

#define known(n) (ticket_seen == n || ticket == n || mine[0] == n || mine[1] == n || mine[LAST] == n)

inline draw()
{
#ifdef BROKEN_TICKET_TWICE
    mine[me] = 1
#else
    mine[me] = (!known(1) -> 1 : (!known(2) -> 2 : (!known(3) -> 3 : 4)))
#endif
}

inline open_detection()
{
#ifdef BROKEN_NOT_OPENED
    mine[me] = ticket_seen
#else
    if
    :: atomic { ticket_seen != 0 -> mine[me] = ticket_seen }
    :: atomic { ticket_seen == 0 -> draw() }
#ifdef BROKEN_TICKET_NOT_SC
        store_later(TICKET + mine[me])
#else
        store_sc(TICKET + mine[me])
#endif
    fi
#endif
}

inline wake_all()
{
    d_step { signal = 1; asleep[0] = 0; asleep[1] = 0; asleep[LAST] = 0 }
}

inline found_out()
{
    assert(pieces == 0);
#ifdef BROKEN_WAKE_FIRST
    wake_all();
    finished = 1
#else
    finished = 1;
    wake_all()
#endif
}

inline detect_by_flags()
{
    open_detection();
    do
    :: k < MARKERS && !flag_seen(k) -> k++
    :: k < MARKERS && flag_seen(k) -> break
    :: k == MARKERS -> break
    od;
    if
    :: k < MARKERS
#ifdef BROKEN_NOT_CHECKED_AGAIN
    :: k == MARKERS -> found_out()
#else
    :: k == MARKERS && ticket_seen != mine[me]
    :: k == MARKERS && ticket_seen == mine[me] -> found_out()
#endif
    fi;
    atomic { k = 0; mine[me] = 0 }
}

inline detect()
{
    if
    :: COUNTER && busy == 0 -> found_out()
    :: COUNTER && busy != 0
    :: !COUNTER -> detect_by_flags()
    fi
}

/* ---- stealing ---- */

#define stealable(m) (m != me && public[m])
#define anything     (stealable(0) || stealable(1) || stealable(LAST))

/* Whose public part is not empty, if anybody's. */
inline look()
{
    if
    :: atomic { stealable(0) -> v = 0 }
    :: atomic { stealable(1) -> v = 1 }
    :: atomic { stealable(LAST) -> v = LAST }
    :: !anything
    fi
}

inline steal()
{
    atomic {
        drain(me);
        if
        :: public[v] -> public[v]--; hand = 1
        :: else
        fi;
        v = NOBODY
    }
}

inline busy_and_steal()
{
#ifdef BROKEN_STEAL_FIRST
    steal();
    if
    :: hand -> become_busy()
    :: !hand
    fi
#else
    become_busy();
    steal();
    if
    :: hand
    :: !hand -> become_idle()
    fi
#endif
}

inline steal_if_any()
{
    look();
    if
    :: v != NOBODY -> busy_and_steal()
    :: v == NOBODY
    fi
}

/* ---- an idle marker: until it has work, or there is none ---- */

inline poll()
{
    do
    :: !hand && !finished -> steal_if_any()
    :: !hand && !finished -> detect()
    :: hand || finished -> break
    od
}

/* The kernel compares and lets sleep in one step. */
inline sleep()
{
    if
    :: atomic { signal == seen -> asleep[me] = 1 }
        asleep[me] == 0
    :: signal != seen
    fi
}

inline look_and_sleep()
{
    do
    :: hand -> break
    :: !hand ->
#ifndef BROKEN_SIGNAL_NOTED_LATE
        seen = signal;
#endif
        if
        :: finished -> break
        :: !finished
        fi;
#ifdef BROKEN_DETECTION_FIRST
        detect();
        steal_if_any();
#else
        steal_if_any();
        if
        :: hand
        :: !hand -> detect()
        fi;
#endif
#ifdef BROKEN_SIGNAL_NOTED_LATE
        seen = signal;
#endif
        if
        :: hand
        :: !hand -> sleep()
        fi
    od;
    seen = 0
}

/* ---- a busy marker: until it has nothing ---- */

inline process()
{
    do
    :: atomic { pieces_left -> pieces_left--; pieces++; public[me]++ }
    :: atomic { hand = 0; pieces--; break }
    od
}

inline work()
{
    do
    :: hand -> process()
    :: atomic { !hand && public[me] -> public[me]--; hand = 1 }
    :: !hand && !public[me] ->
        look();
        if
        :: v != NOBODY -> steal()
        :: v == NOBODY -> break
        fi
#ifdef BROKEN_IDLE_TOO_EARLY
    :: !hand && public[me] ->
        become_idle();
        if
        :: atomic { public[me] -> public[me]--; hand = 1 }
            become_busy()
        :: !public[me] -> become_busy()
        fi
#endif
    od
}

proctype Marker(byte me)
{
    byte k, v = NOBODY;
    bit  hand, seen;

    if
    :: me == LAST -> hand = 1
    :: me != LAST -> goto idle
    :: me != LAST -> goto out             /* there is no such thread */
    fi;
    do
    :: work();
        become_idle();
idle:
        if
        :: SLEEP -> look_and_sleep()
        :: !SLEEP -> poll()
        fi;
        if
        :: hand
        :: !hand -> break
        fi
    od;
    assert(finished);
out:
    gone++
}

active proctype Buffers()
{
    do
    :: stored[0] != EMPTY -> drain(0)
    :: stored[1] != EMPTY -> drain(1)
    :: stored[LAST] != EMPTY -> drain(LAST)
    :: gone == MARKERS -> break
    od
}

active proctype Finale()
{
    byte m;

    atomic {
        pieces = 1; busy = 1; flag[LAST] = 1;
        do
        :: m < MARKERS -> run Marker(m); m++
        :: else -> break
        od
    }
    gone == MARKERS ->
    assert(finished && pieces == 0)
}
