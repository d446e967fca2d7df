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

proctype Lead()
{
    bit ours, done, saw, sure, late;

end:
    do
    :: state == ASKED ->
        from = epoch;
        sweep_all();
        ends = 0;
        do
        :: offer();
#ifdef BROKEN_BEGINS_UNTOLD
            if :: !ends && begun -> state = MARKING :: ends || !begun fi;
#endif
            if :: ends -> ours = !ended :: !ends -> ours = begun fi;
            if :: ours -> mark() :: !ours fi;
            if :: ours -> ends = 1 :: !ours -> break fi
        od
    od
}
