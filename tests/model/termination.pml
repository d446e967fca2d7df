/* SPDX-License-Identifier: MIT */
/*
 * How markers find out that marking is finished, as mark/work/termination.c does it, for the model checker spin.
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
 * without news of work (mark/work/idle.h).  Still every run ends, and everybody leaves.
 * -DBUFFERED=1: the one store that is not sequentially consistent in the code waits in a store buffer, as on x86.
 * So do those that some of the faults make so.
 *
 * A ticket is a number that nobody remembers; the code's are never drawn twice, which comes to the same.
 *
 * -DBROKEN_x puts one fault in; tests/model/check_termination lists them with the complaint each must cause.
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

#include "termination_protocol.pml"

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
