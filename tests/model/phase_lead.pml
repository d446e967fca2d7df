/* SPDX-License-Identifier: MIT */
/* The lead of tests/model/phase.pml. */

inline go_inside()
{
    do
    ::
#ifdef BROKEN_LOOKS_FIRST
        if :: !held -> inside = 1; ours = state == MARKING; break
#else
        inside = 1;
        if :: !held -> ours = state == MARKING; break
#endif
        :: held ->
            inside = 0;
            asleep[0] = 0; asleep[1] = 0;
            sgc_wait(asleep[LEAD], held, 1)
        fi
    od
}

inline come_out()
{
    inside = 0;
#ifndef BROKEN_OUT_UNHEARD
    asleep[0] = 0; asleep[1] = 0
#endif
}

/* sgc_team_go_on: what a marker has seen it marks later. */
inline team_go_on()
{
    working = 1;
    open = 1;
    do
    :: alive[FREED] && allocated[FREED] -> saw = 1
    :: saw -> atomic { assert(marking && !stopped); marked[FREED] = 1; saw = 0 }
    :: mark_one(DROPPED)
    :: held -> break
    :: !saw -> done = 1; break
    od;
    if :: saw -> atomic { marked[FREED] = 1; saw = 0 } :: !saw fi;
    close();
    working = 0
}

inline mark()
{
    done = 0;
    do
    :: !done ->
        go_inside();
        if :: ours -> team_go_on() :: !ours fi;
        come_out();
        if :: ours :: !ours -> break fi
    :: done -> break
    od
}

/* Rounds need no more than a mark does: they are in it. */
inline begin()
{
    ours = 0;
    gc_lock_acquire(LEAD);
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
        stop_enabled(LEAD);
        if
        :: stopped ->
            atomic { assert(!marking && !uncleared && !unswept && !noted); set_marking(1) };
            mark_some();
            world_resume(LEAD);
            ours = 1
        :: !stopped
        fi
    :: else -> skip
    fi;
    if :: ours :: !ours -> over() fi;
    gc_lock_release(LEAD);
#ifdef BROKEN_BEGINS_UNTOLD
    if :: ours -> state = MARKING :: !ours fi
#endif
}

/* True if that was the last stop.  The lead is out itself, so there is nobody to wait for before it gives the cycle up. */
inline try_to_finish()
{
    done = 1;
    gc_lock_acquire(LEAD);
    if
#ifdef BROKEN_ATTEMPT_NOT_OURS
    :: ours ->
#else
    :: state == MARKING ->
#endif
        if
        :: dont_gc ->
            cancel_in_stop(LEAD);
#ifdef BROKEN_OVER_TWICE
            if :: done -> over() :: !done fi
#endif
        :: !dont_gc ->
            done = 0;
            stop_enabled(LEAD);
            if
            :: stopped -> commit(); world_resume(LEAD); done = 1; over()
            :: stopped -> mark_some(); world_resume(LEAD)
            :: !stopped
            fi
        fi
    :: else -> skip
    fi;
    gc_lock_release(LEAD)
}

proctype Lead()
{
    byte from;
    bit ours, done, saw;

end:
    do
    :: state == ASKED ->
        from = epoch;
        sweep_all();
        begin();
        do
        :: ours ->
            mark();
            if
            :: ours -> try_to_finish(); ours = !done
            :: !ours
            fi
        :: !ours -> break
        od
    od
}
