/* SPDX-License-Identifier: MIT */
/* What tests/model/phase.pml is made of: locks and sleeps, marks, whose the cycle is, and its stops. */

/* ---- words to sleep on ---- */

inline sgc_wait(sleeper, word, seen)
{
    atomic { if :: word == seen -> sleeper = 1 :: word != seen fi };
    !sleeper
}

/* ---- sections, the GC lock, stops ---- */

inline section_enter() { atomic { !stopped -> sections++ } }
inline section_leave() { sections-- }

inline gc_lock_acquire(me) { atomic { holder == 0 -> holder = 1 + me } }
inline gc_lock_release(me) { atomic { assert(holder == 1 + me && !stopped); holder = 0 } }

/* Nobody marks while the world stands, but who has stopped it.  The registry's lock is the stop's. */
inline world_stop(me)
{
    atomic {
        assert(holder == 1 + me && !stopped);
        if
        :: sections == 0 ->
            stopped = 1 + me;
            assert(!working && in == 0);
            assert(me != LEAD || passed || unfit == 0)
        :: FAILS
        fi
    }
}

inline world_resume(me) { atomic { assert(stopped == 1 + me); stopped = 0 } }

/* ---- marks ---- */

inline mark_one(i)
{
    atomic { if :: alive[i] && allocated[i] -> marked[i] = 1 :: !alive[i] || !allocated[i] fi }
}

inline mark_some() { if :: mark_one(DROPPED) :: mark_one(FREED) fi }

inline set_marking(on) { marking = on; frees_slowly = on && cache_made }

inline clear_finish()
{
    atomic { if :: uncleared -> assert(!marking); marked[DROPPED] = 0; marked[FREED] = 0; uncleared = 0 :: !uncleared fi }
}

inline sweep_all()
{
    section_enter();
    atomic { assert(!marking); unswept = 0 };
    section_leave();
    clear_finish()
}

inline swap(i) { allocated[i] = allocated[i] ^ marked[i]; marked[i] = allocated[i] ^ marked[i]; allocated[i] = allocated[i] ^ marked[i] }

/* World stopped. */
inline flip()
{
    atomic {
        assert(!quiet);
        assert(!alive[DROPPED] || marked[DROPPED]);
        assert(!alive[FREED] || marked[FREED]);
        assert(!was_freed || !marked[FREED]);
        swap(DROPPED);
        swap(FREED);
        uncleared = 1;
        unswept = 1;
        epoch++
    }
}

/* ---- the cycle changes hands ---- */

inline over()
{
    assert(state != IDLE);
    state = IDLE;
    withdraw();
#ifndef BROKEN_OVER_UNHEARD
    atomic { stalls[0] = 0; stalls[1] = 0 }
#endif
}

inline hold(me)
{
    held = 1;
    do
    :: inside -> sgc_wait(asleep[me], inside, 1)
    :: !inside -> break
    od
}

inline release()
{
    held = 0;
#ifndef BROKEN_RELEASE_UNHEARD
    asleep[LEAD] = 0
#endif
}

inline forget()
{
    atomic {
        assert(marking && state == MARKING);
        noted = 0;
#ifndef BROKEN_CANCEL_KEEPS_MARKS
        uncleared = 1;
#endif
        set_marking(0)
    };
    over()
}

inline cancel_in_stop(me)
{
    world_stop(me);
    if
    :: stopped -> forget(); world_resume(me); done = 1
    :: !stopped -> done = 0
    fi
}

inline concurrent_cancel(me)
{
#ifndef BROKEN_CANCEL_NOT_HELD
    hold(me);
#endif
    cancel_in_stop(me);
#ifndef BROKEN_CANCEL_NOT_HELD
    release()
#endif
}

/* ---- stops ---- */

/* phase_stop */
inline stop_enabled(me)
{
    world_stop(me);
    if
#ifndef BROKEN_DISABLED_MISSED
    :: stopped && dont_gc -> world_resume(me)
    :: !stopped || !dont_gc
#else
    :: skip
#endif
    fi
}

/* The rows `commit` of a stop: marking_finish drops what was freed. */
inline commit()
{
    atomic {
        assert(marking && state == MARKING);
        mark_one(DROPPED);
        mark_one(FREED);
        if :: noted -> marked[FREED] = marked[FREED] && allocated[FREED]; noted = 0 :: !noted fi;
        set_marking(0)
    };
    flip()
}

/* If its stop function gives it up, the cycle goes on. */
inline concurrent_finish(me)
{
    hold(me);
    stop_enabled(me);
    if
    :: stopped ->
        commit();
        world_resume(me);
        done = 1;
#ifndef BROKEN_FINISHED_IS_NOT_OVER
        over()
#endif
    :: stopped && tries ->
        atomic { assert(marking && state == MARKING); marked[FREED] = marked[FREED] || (alive[FREED] && allocated[FREED]) };
#ifdef BROKEN_INTERRUPTED_IS_OVER
        over();
#endif
        world_resume(me);
        done = 0
    :: !stopped -> done = 0
    fi;
    release()
}

/* In one pause; its stop function may give it up. */
inline run_stopped(me)
{
    clear_finish();
    stop_enabled(me);
    if
    :: stopped ->
        atomic { assert(!marking && !uncleared); mark_one(DROPPED); mark_one(FREED) };
        flip();
        world_resume(me);
        done = 1
    :: stopped && (FAILS || tries) ->
        atomic { mark_one(DROPPED); uncleared = 1 };
        world_resume(me);
        done = 0
    :: !stopped -> done = 0
    fi
}
