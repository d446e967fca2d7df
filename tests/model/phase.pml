/* SPDX-License-Identifier: MIT */
/*
 * The phases of a concurrent cycle, and those who ask for something in its middle, for the model checker spin.  Each inline
 * is named after the function it stands for, in gc/collect/: collect.c, concurrent.c, lead.c, stops.c, cycle.c, fork.c.
 * doc/design/concurrent.md.
 *
 * What is modelled: the lead, and two threads of the program, each of which does what FIRST and SECOND say:
 *
 *   COLLECTS  GC_gcollect: the object DROPPED was let go of before, and must be gone when it returns
 *   TRIES     GC_try_to_collect: the same, if its stop function lets it
 *   ALLOCATES asks for a cycle, stalls for it, and collects if there is still no memory
 *   MARKS     GC_collect_a_little: takes the cycle from the lead, marks some of it, and gives it back
 *   FORKS     the child must find a heap that nobody is at work in
 *
 *   NOBODY    has ended: with it the program has one thread
 *
 * With -DTOGGLES=n a thread that calls GC_disable and GC_enable n times; with -DSTARTS=1 one that starts, frees the object FREED
 * and ends; with -DASSISTS=n one that assists n times.  -DFAILS=1: stops, and marks in one pause, may be given
 * up.  -DREFUSED=1: the system has no thread for the lead.  -DLATE=1: nobody may have come for the lead's stop in time.
 *
 * Threads are in sections where a stop has to wait for them; everywhere else they may be stopped, or count as stopped.  How they
 * are stopped is in tests/model/stop.pml, how markers work together in interruption.pml, and which objects a mark beside the
 * program has to look at again in concurrent.pml: here the last stop marks what is alive.
 *
 * -DBROKEN_x puts one fault in; tests/model/check_phase lists them with the complaint each must cause.
 */
#ifndef FIRST
#define FIRST COLLECTS
#endif
#ifndef SECOND
#define SECOND ALLOCATES
#endif
#ifndef TOGGLES
#define TOGGLES 0
#endif
#ifndef STARTS
#define STARTS 0
#endif
#ifndef ASSISTS
#define ASSISTS 0
#endif
#ifndef REFUSED
#define REFUSED 0
#endif
#ifndef FAILS
#define FAILS 0
#endif
#ifndef LATE
#define LATE 0
#endif

#define COLLECTS 1
#define ALLOCATES 2
#define MARKS 3
#define FORKS 4
#define NOBODY 5
#define TRIES 6

#define LEAD 2                          /* the lock's holders are 1 + 0, 1 + 1, 1 + LEAD */

#define DROPPED 0
#define FREED 1

/* ---- the protocol's variables ---- */
mtype = { IDLE, ASKED, MARKING };
mtype state = IDLE;                     /* of struct sgc_cycle: ASKED stands for ARMING, too, MARKING for STANDS and RUNS */
mtype = { NONE, OFFERED, TAKEN };
mtype turn = NONE;                      /* lead.c: the word, and what is offered */
bit made, ends;
byte from;                              /* the epoch when the lead began to sweep; what came of the stop */
bit begun, ended;
bit held, inside;
byte holder;                            /* of the GC lock */
byte dont_gc;
byte epoch;
bit open;                               /* others may mark with the team */
byte in;                                /* and are doing so */

/* ---- the machine: who sleeps on a word, who stands in a section, whose stop is in force ---- */
bit stalls[2], asleep[3];                /* on `state`; the holder on `inside`, the lead on `held` */
byte sections;
byte stopped;
bit blocked[2], pinned;                 /* a blocked region, or a thread's end; nobody leaves one while it is pinned */

/* ---- the heap ---- */
bit alive[2] = 1;                       /* the program leads to it */
bit allocated[2] = 1, marked[2];
bit uncleared, unswept;                 /* mark bits are to be cleared, pages to be swept */
bit marking, noted;                     /* alloc/marking.h */
bit cache_made, frees_slowly;           /* the cache of the thread that starts */

/* ---- what only the checks see ---- */
bit quiet;                              /* GC_disable has returned, GC_enable was not called yet */
bit was_freed;
bit working;                            /* the lead, in the heap */
byte unfit;                             /* threads in the middle of a change of their own */
bit passed;                             /* nobody has come in time */

#include "phase_stops.pml"
#include "phase_turn.pml"

/* ---- collect.c ---- */

#ifdef BROKEN_EXPLICIT_FINISHES
#define may_finish 1
#else
#define may_finish (!explicit)
#endif

inline collect(me)
{
    if
    :: state == MARKING ->
        if
        :: may_finish || tries -> concurrent_finish(me)
        :: !(may_finish || tries) -> concurrent_cancel(me)
        fi;
        if
        :: done && !may_finish -> run_stopped(me)
        :: !done || may_finish
        fi
    :: state != MARKING -> run_stopped(me)
    fi;
    assert(!done || (state != MARKING && !marking))
}

/* What others have collected meanwhile is enough for who wants memory. */
inline collect_from(me)
{
    if
    :: dont_gc -> done = 0
    :: !dont_gc ->
        before = epoch;
        gc_lock_acquire(me);
        if
        :: !explicit && epoch != before -> done = 1
        :: explicit || epoch == before -> collect(me)
        fi;
        gc_lock_release(me)
    fi
}

/* ---- collect.c: when one is due ---- */

/* The service thread is started by the first who asks.  Where there can be none, there are no such cycles. */
inline ask_lead(me)
{
#ifdef BROKEN_ASKED_LATE
    asks = 0;
    if :: state == IDLE -> asks = 1; state = ASKED :: state != IDLE fi;
#else
    atomic { asks = 0; if :: state == IDLE -> state = ASKED; asks = 1 :: state != IDLE fi };
#endif
    if
#if REFUSED && !defined(BROKEN_REFUSED_UNHEARD)
    :: asks -> gc_lock_acquire(me); over(); gc_lock_release(me)
    :: !asks
#else
    :: skip
#endif
    fi
}

/* It looks now and then whether a stop is offered, since the lead does not make that while such a thread sleeps. */
inline sleep_while(me, seen)
{
    atomic { if :: state == seen -> stalls[me] = 1 :: state != seen fi };
#ifdef BROKEN_STALL_SLEEPS_ON
    !stalls[me]
#else
    !stalls[me] || turn == OFFERED
#endif
}

inline stall(me)
{
#ifdef BROKEN_STALL_RUNS
    section_enter();
#endif
#ifdef BROKEN_STALL_LOCKED
    gc_lock_acquire(me);
#endif
    do
    :: state == IDLE -> break
    :: state != IDLE ->
        seen = state;
        if :: seen != IDLE -> sleep_while(me, seen) :: seen == IDLE fi;
        stalls[me] = 0;
        take(me)
    :: state != IDLE -> break                   /* it has waited as long as it may */
    od;
#ifdef BROKEN_STALL_LOCKED
    gc_lock_release(me);
#endif
#ifdef BROKEN_STALL_RUNS
    section_leave()
#endif
}

inline close()
{
    open = 0;
    in == 0
}

inline assist_bytes(me)
{
    gc_lock_acquire(me);
    if
    :: state == MARKING ->
        hold(me);
        open = 1;
        mark_some();
        close();
        release()
    :: state != MARKING
    fi;
    gc_lock_release(me)
}

/* ---- fork.c ---- */

/* In the child only what the program's memory says counts: the lead, and who marks with it, are not there. */
inline fork(me)
{
    gc_lock_acquire(me);
#ifndef BROKEN_FORK_NOT_HELD
    hold(me);
#endif
    atomic {
        assert(!working && in == 0 && !open && !stopped);
        assert(marking == (state == MARKING));
        assert(marking || !noted);
        assert(turn != TAKEN)
    };
#ifndef BROKEN_FORK_NOT_HELD
    release();
#endif
    gc_lock_release(me)
}

/* ---- the program ---- */

proctype Client(byte me; byte role)
{
    byte before;
    mtype seen;
    bit explicit, tries, asks, done;

    if
    :: role == COLLECTS || role == TRIES -> alive[DROPPED] = 0; explicit = 1; tries = role == TRIES
    :: role != COLLECTS && role != TRIES -> ask_lead(me)
    fi;
    program(me);
    if
    :: role == ALLOCATES || role == MARKS -> take(me)
    :: role == COLLECTS || role == TRIES || role == FORKS
    fi;
    if
    :: role == ALLOCATES -> stall(me)
    :: role == ALLOCATES || role == COLLECTS || role == TRIES -> collect_from(me); assert(!done || !explicit || !allocated[DROPPED])
    :: role == MARKS -> assist_bytes(me)
    :: role == FORKS -> fork(me)
    fi;
    if
    :: role == ALLOCATES -> ask_lead(me)
    :: role != ALLOCATES
    fi;
    blocked[me] = 1
}

proctype Toggler()
{
    byte n;

    do
    :: n < TOGGLES ->
        n++;
        atomic { !stopped -> dont_gc++; quiet = 1 };
        atomic { quiet = 0; dont_gc-- }
    :: n == TOGGLES -> break
    od
}

/* The common path of freeing compares one tag; the slow one notes the page first. */
proctype Starter()
{
    bit slowly;

    section_enter();
#ifdef BROKEN_STARTS_UNTOLD
    cache_made = 1;
#else
    atomic { cache_made = 1; frees_slowly = marking };
#endif
    section_leave();
    section_enter();
    slowly = frees_slowly;
    if
#ifndef BROKEN_FREE_NOT_NOTED
    :: slowly -> noted = 1
    :: !slowly
#else
    :: skip
#endif
    fi;
    atomic { assert(allocated[FREED]); alive[FREED] = 0; allocated[FREED] = 0; was_freed = 1 };
    section_leave()
}

/* sgc_team_assist */
proctype Assistant()
{
    byte n;

    do
    :: n < ASSISTS ->
        n++;
        if
        :: atomic { open -> in++ };
            assert(!stopped && marking && state == MARKING);
            mark_some();
            assert(!stopped && marking && state == MARKING);
            in--
        :: skip
        fi
    :: n == ASSISTS -> break
    od
}

#include "phase_lead.pml"

init
{
    atomic {
#if !REFUSED
        run Lead();
#endif
        run Client(0, FIRST);
#if SECOND != NOBODY
        run Client(1, SECOND);
#else
        blocked[1] = 1;
#endif
#if TOGGLES
        run Toggler();
#endif
#if STARTS
        run Starter();
#endif
#if ASSISTS
        run Assistant()
#endif
    }
}
