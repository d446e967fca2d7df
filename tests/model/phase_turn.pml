/* SPDX-License-Identifier: MIT */
/* Whose turn it is to make a stop of tests/model/phase.pml's cycle: gc/collect/lead.c.
 *
 * Between its calls a thread of the program may have something half changed (`unfit`), or be in a blocked region.  The lead may
 * stop it in the region, and in the middle of a change only when time is over (-DLATE=1: it may be over at any moment).  The
 * lead looks from time to time, so that who wakes it is left out. */

/* ---- the program between two calls ---- */

inline blocked_region(me)
{
    blocked[me] = 1;
#ifdef BROKEN_LEFT_PINNED
    blocked[me] = 0
#else
    atomic { !pinned -> blocked[me] = 0 }
#endif
}

inline program(me)
{
    blocked_region(me);
    unfit++;
    unfit--
}

/* ---- the two stops, with the GC lock, by whoever makes them ---- */

/* Rounds need no more than a mark does: they are in it. */
inline begin(me)
{
    begun = 0;
    if
#ifdef BROKEN_BEGINS_ANYWAY
    :: !dont_gc ->
#else
    :: epoch == from && !dont_gc ->
#endif
        clear_finish();
#ifndef BROKEN_BEGINS_UNTOLD
        state = MARKING;
#endif
        stop_enabled(me);
        if
        :: stopped ->
            atomic { assert(!marking && !uncleared && !unswept && !noted); set_marking(1) };
            mark_some();
            world_resume(me);
            begun = 1
        :: !stopped
        fi
    :: else -> skip
    fi;
    if :: begun :: !begun -> over() fi
}

/* The lead is out itself, so there is nobody to wait for before the cycle is given up. */
inline attempt_once_more(me)
{
    ended = 1;
    if
#ifdef BROKEN_ATTEMPT_NOT_OURS
    :: begun ->
#else
    :: state == MARKING ->
#endif
        if
        :: dont_gc ->
            cancel_in_stop(me);
            ended = done;
#ifdef BROKEN_OVER_TWICE
            if :: done -> over() :: !done fi
#endif
        :: !dont_gc ->
            ended = 0;
            stop_enabled(me);
            if
            :: stopped -> commit(); world_resume(me); ended = 1; over()
            :: stopped -> mark_some(); world_resume(me)
            :: !stopped
            fi
        fi
    :: else -> skip
    fi
}

inline make(me)
{
    atomic { assert(!made && holder == 1 + me); made = 1 };
    if
    :: !ends -> begin(me)
    :: ends -> attempt_once_more(me)
    fi
}

/* ---- who makes them ---- */

/* Own sleeps do not count. */
#define nobody_runs (blocked[0] && blocked[1])

inline pin()
{
#ifdef BROKEN_STOPS_UNASKED
    sure = 1
#elif defined(BROKEN_NOT_PINNED)
    if :: nobody_runs -> sure = 1 :: !nobody_runs fi
#else
    atomic { if :: nobody_runs -> pinned = 1; sure = 1 :: !nobody_runs fi }
#endif
}

inline make_if_time()
{
    sure = 0;
    if :: turn == NONE -> late = 1 :: turn != NONE && LATE -> late = 1 :: turn != NONE -> late = 0 fi;
    if :: !made -> pin() :: made fi;
    if
    :: !made && (sure || late) ->
        passed = late && turn != NONE;
#ifndef BROKEN_TURN_KEPT
        turn = NONE;
#endif
        make(LEAD);
        passed = 0
    :: else -> skip
    fi;
    pinned = 0;
    done = made
}

inline offer()
{
    atomic { assert(turn == NONE); made = 0; turn = OFFERED };
    done = 0;
    do
    :: done -> break
    :: !done ->
#ifdef BROKEN_OFFERS_LOCKED
        gc_lock_acquire(LEAD);
#endif
#ifndef BROKEN_STOPS_UNASKED
        turn != OFFERED || nobody_runs || LATE;
#endif
#ifndef BROKEN_OFFERS_LOCKED
        gc_lock_acquire(LEAD);
#endif
        make_if_time();
        gc_lock_release(LEAD)
    od
}

/* Where a thread allocates, or helps. */
inline take(me)
{
    if
    :: turn == OFFERED ->
        gc_lock_acquire(me);
        if
#ifdef BROKEN_TAKEN_UNSEEN
        :: skip ->
#else
        :: turn == OFFERED ->
#endif
            turn = TAKEN;
            make(me);
            turn = NONE
        :: else -> skip
        fi;
        gc_lock_release(me)
    :: else -> skip
    fi
}

inline withdraw() { atomic { if :: turn == OFFERED -> turn = NONE :: turn != OFFERED fi } }
