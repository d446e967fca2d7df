/* SPDX-License-Identifier: MIT */
/*
 * Part of stop.pml: what the thread that is stopped does, and its handler.
 */

inline wake(what)
{
    d_step {
        k = 0;
        do
        :: k < THREADS ->
            if :: asleep[k] == what -> asleep[k] = 0 :: else fi;
            if :: asleep_in_handler[k] == what -> asleep_in_handler[k] = 0 :: else fi;
            k++
        :: else -> break
        od;
        k = 0; last = 0
    }
}

/*
 * Sleeps while gen == g.  The futex sleeps only if the word still has the expected value; a look at
 * the word before the call would add nothing.
 */
inline sleep_through(sleeper)
{
    do
    :: atomic { sleeper == 0 && gen != g -> g = 0; break }
    :: atomic { sleeper == 0 && gen == g -> sleeper = ON_GEN }
    od
}

/* `missing` has just become smaller: it becomes zero once in a stop, when everybody is counted. */
inline note_missing()
{
    assert(missing >= 0);
    stalled = 0;
    if
    :: missing == 0 && !settling ->
        assert(!reached_zero);
        reached_zero = 1;
        k = 0;
        do
        :: k < THREADS ->
            assert(!concerned(k) || ((state[k] & STOPREQ) && (state[k] & COUNTED)));
            k++
        :: else -> break
        od;
        k = 0
    :: else
    fi
}

/* add(missing, -1); who takes the last one wakes the stopper */
inline count_self()
{
    d_step { missing--; note_missing(); last = (missing == 0) }
    if
    :: last -> wake(ON_MISSING)
    :: !last
    fi
}

/* A stop has asked and this thread is not counted in it. */
#ifdef BROKEN_BLOCKED_ACKNOWLEDGES
#define wanted(s) (((s) & (STOPREQ | ACKED)) == STOPREQ)
#else
#define wanted(s) (((s) & (STOPREQ | COUNTED)) == STOPREQ)
#endif

#define ack_by(frame) (ACKED | (frame == HANDLER -> BY_HANDLER : 0))

/* Acknowledges and sleeps until the stop is over, if one still wants us.  `gen` is read between the
 * acknowledgement and the count: the stop cannot end then. */
inline park(t, sleeper, frame)
{
#ifdef BROKEN_SP_AFTER_COUNT
    s = state[t];
#else
    atomic { sp[t] = frame; s = state[t] }          /* nobody looks at sp before we count */
#endif
    do
    :: atomic { !wanted(s) -> s = 0; break }
#ifdef BROKEN_ACK_WITHOUT_CAS
    :: atomic { wanted(s) -> state[t] = state[t] | ack_by(frame); s = 0; mine = 1; break }
#else
    :: atomic { wanted(s) && state[t] == s -> state[t] = s | ack_by(frame); s = 0; mine = 1; break }
    :: atomic { wanted(s) && state[t] != s -> s = state[t] }
#endif
    od;
    if
    :: !mine
#ifdef BROKEN_GEN_AFTER_COUNT
    :: atomic { mine -> mine = 0 }
        count_self();
        g = gen;
#else
    :: atomic { mine -> mine = 0; g = gen }
        count_self();
#endif
#ifdef BROKEN_SP_AFTER_COUNT
        sp[t] = frame;
#endif
        sleep_through(sleeper)
    fi
}

/* ---- blocked, and suspended ---- */

/* Counts itself at once if a stop has asked already, as its signal may come late. */
inline block(t)
{
    do
    :: s = state[t];
        if
#ifdef BROKEN_ENTER_UNCOUNTED
        :: atomic { state[t] == s -> state[t] = s | BLOCKED; s = 0; break }
#else
        :: atomic { !(s & STOPREQ) && state[t] == s -> state[t] = s | BLOCKED; s = 0; break }
        :: atomic { (s & STOPREQ) && state[t] == s -> state[t] = s | BLOCKED | ACKED; s = 0 }
            count_self();
            break
#endif
        :: state[t] != s
        fi
    od
}

#ifdef BROKEN_REGION_LEFT_SUSPENDED
#define to_stay(s, stays) (0 && stays)
#else
#define to_stay(s, stays) (((s) & TO_STAY) && stays)
#endif

/* STOPREQ is taken back before gen changes, so a sleep on the gen read before it ends.  `stays`: who is suspended sleeps on
 * its state. */
inline unblock(t, sleeper, stays)
{
#ifdef BROKEN_LEAVE_UNCHECKED
    state[t] = state[t] & ~BLOCKED;
#else
    do
    :: g = gen;
        s = state[t];
        if
#ifdef BROKEN_LEAVE_SPINS
        :: s & STOPREQ
#else
        :: s & STOPREQ -> sleep_through(sleeper)
#endif
        :: !(s & STOPREQ) && to_stay(s, stays) ->
            atomic { if :: state[t] == s -> sleeper = ON_STATE :: else fi }
            sleeper == 0
#ifdef BROKEN_LEAVE_UNCOMPARED
        :: !(s & STOPREQ) && !to_stay(s, stays) -> atomic { state[t] = state[t] & ~BLOCKED; break }
#else
        :: atomic { !(s & STOPREQ) && !to_stay(s, stays) && state[t] == s -> state[t] = s & ~BLOCKED; break }
        :: !(s & STOPREQ) && !to_stay(s, stays) && state[t] != s
#endif
        fi
    od;
#endif
    atomic { s = 0; g = 0 }
}

/* Suspended, it counts as blocked until it is told to go on. */
inline stay(t)
{
    do
    :: atomic { !(state[t] & TO_STAY) -> sp[t] = 0; break }
    :: atomic { state[t] & TO_STAY -> sp[t] = MAIN }
        block(t);
        unblock(t, asleep[t], 1)
    od
}

/* The count is lowered before the end looks: suspended later, the thread stays in its handler. */
inline end_guard(t)
{
#ifdef BROKEN_GUARD_LOOKS_FIRST
    stay(t);
    guards[t] = 0;
#else
    guards[t] = 0;
#ifndef BROKEN_GUARD_BLIND
    stay(t);
#endif
#endif
    guarded[t] = 0
}

/* ---- the handler of the suspend signal, one for each thread ---- */

#ifdef BROKEN_NO_REPAIR
#define inside(t) section[t]
#else
#define inside(t) (section[t] && !gone[t])
#endif

/* The thread stands still from the delivery to the first look at its word, so they are one step; and
 * where that look ends it, the whole handler is.  A sleep that the handler interrupted ends. */
proctype Suspend(byte t)
{
    byte s, g, k, saved;
    bit last, mine;
end:
    do
    :: atomic {
            sent[t] && !masked[t] && !in_handler[t] ->
            sent[t] = 0;
            if :: !self[t] && (gen & 1) -> stranger = t + 1; stranger_gen = gen; stalled = 0 :: else fi;
            if
#ifdef BROKEN_SP_BEFORE_LOOK
            :: !self[t] || !(state[t] & STOPREQ) || (state[t] & BLOCKED) || inside(t) -> asleep[t] = 0
#else
            :: !self[t] || !wanted(state[t]) || inside(t) -> asleep[t] = 0
#endif
            :: else ->
                if
                :: leaves[t] -> leaves[t] = 0; passed[t] = 1; stalled = 0; asleep[t] = 0
                :: !leaves[t] && passed[t] -> asleep[t] = 0             /* a late signal came first */
                :: !leaves[t] && !passed[t] -> in_handler[t] = 1; section[t] = 0; gone[t] = 0; saved = sp[t]
                fi
            fi
        }
    :: in_handler[t] ->
        park(t, asleep_in_handler[t], HANDLER);
#ifndef BROKEN_HANDLER_GOES_ON
        do
        :: atomic { guards[t] || !(state[t] & TO_STAY) -> stays_there[t] = 0; break }
        :: atomic { !guards[t] && (state[t] & TO_STAY) -> stays_there[t] = 1 }
            block(t);
            unblock(t, asleep_in_handler[t], 1)
        od;
#endif
#ifndef BROKEN_SP_NOT_RESTORED
        sp[t] = saved;
#endif
        atomic { saved = 0; asleep[t] = 0; in_handler[t] = 0 }
    od
}

/* ---- what a mutator does ---- */

/* Looked at after section[t] = 0: a signal that came before found us inside and did nothing. */
#define must_park(t) (state[t] & STOPREQ)

/* Under a guard: a client's handler must not run while we count as stopped. */
inline leave_slowly(t)
{
    do
    :: must_park(t) -> park(t, asleep[t], MAIN)
    :: !must_park(t) -> break
    od
}

/* A client's handler may interrupt at any point and jump away: nothing after that point is done. */
inline use_section(t)
{
    atomic { section[t] = 1; gone[t] = 0; touch(t) }        /* an abandoned one is repaired by this */
    if
    :: atomic { gone[t] = 1; jumped[t] = 1 }
#ifdef BROKEN_LOOK_BEFORE_LEAVING
    :: atomic { must_park(t) -> touch(t); section[t] = 0; guarded[t] = 1; guards[t] = 1 }
        leave_slowly(t);
        sp[t] = 0;
        end_guard(t)
    :: atomic { !must_park(t) -> touch(t) }
        section[t] = 0
#else
    :: atomic { touch(t); section[t] = 0 }
        if
        :: jumped[t] = 1
#ifdef BROKEN_PARK_UNGUARDED
        :: must_park(t) ->
#else
        :: atomic { must_park(t) -> guarded[t] = 1; guards[t] = 1 }
#endif
            leave_slowly(t);
            end_guard(t)
        :: !must_park(t)
        fi
#endif
    fi
}

inline enter_blocked(t, wish)
{
    atomic { sp[t] = MAIN; by_client[t] = wish }
    block(t)
}

/* Under a guard the wait is our own, and the guard's end is where the thread stays. */
inline leave_blocked(t)
{
    unblock(t, asleep[t], !guards[t]);
    atomic { sp[t] = 0; by_client[t] = 0 }
}

/* A lock is held inside a section, under a guard; the wait for it is outside. */
inline lock_registry(t)
{
    do
    :: atomic { guarded[t] = 1; guards[t] = 1; section[t] = 1; gone[t] = 0 }
        if
        :: atomic { !registry_lock -> registry_lock = 1; break }
        :: atomic { registry_lock -> section[t] = 0 }
            leave_slowly(t);
            !registry_lock
        fi
    od
}

inline unlock_registry(t)
{
    atomic { registry_lock = 0; section[t] = 0 }
    leave_slowly(t);
    end_guard(t)
}

/* The GC lock is opened, so it is not held by a stopper: a thread that is let pass once in a stop does not come here again. */
inline open_gate(t)
{
#ifdef BROKEN_LEAVES_UNMARKED
    atomic { !gate -> half_done[t] = 1 }
#else
#ifdef BROKEN_MARKED_LATE
    atomic { !gate -> half_done[t] = 1 }
    leaves[t] = 1;
#else
    atomic { !gate -> half_done[t] = 1; leaves[t] = 1 }
#endif
#endif
    atomic { touch(t); half_done[t] = 0 }
}

/* It ends, maybe in a section; what it held is left. */
inline vanish(t)
{
    vanished[t] = 1; self[t] = 0;
    if
    :: section[t] = 1; gone[t] = 0
    :: skip
    fi
}

/* The thread unregisters and another takes the record over; a signal may still be on its way. */
inline register_anew(t)
{
    lock_registry(t);
#ifndef BROKEN_ENDS_SUSPENDED
    do
    :: !(state[t] & TO_STAY) -> break
    :: state[t] & TO_STAY ->
        unlock_registry(t);
        lock_registry(t)
    od;
#endif
    assert(!(state[t] & (STOPREQ | COUNTED | TO_STAY)));
    atomic { self[t] = 0; registered[t] = 0; section[t] = 0; registry_lock = 0 }
    atomic { guarded[t] = 0; guards[t] = 0; masked[t] = 1 }
    atomic {
        !registry_lock -> registry_lock = 1;
        state[t] = 0; sp[t] = 0; jumped[t] = 0; self[t] = 1; registered[t] = 1
    }
    registry_lock = 0;
    masked[t] = 0
}
