/* SPDX-License-Identifier: MIT */
/*
 * Part of stop.pml: what the stopper does, and what it relies on.
 */

/* i moves on to the next thread that the stop concerns */
#define skip_others i < THREADS && !concerned(i) -> i++
#define at_thread   i < THREADS && concerned(i)

/* It counts no more, now and in later stops. */
inline count_out(v)
{
    out[v] = 1; signalled[v] = 0; missing--; assert(missing >= 0)
}

/* `missing` goes up before the thread is asked: it may count itself as soon as it is. */
inline ask_all()
{
    do
    :: atomic { skip_others }
#ifdef BROKEN_COUNTED_AFTER_ASKING
    :: atomic { at_thread -> s = state[i]; state[i] = s | STOPREQ }
        missing++;
#else
    :: atomic { at_thread -> missing++ }
#ifdef BROKEN_NO_RMW
        s = state[i];
        state[i] = state[i] | STOPREQ;
#else
        atomic { s = state[i]; state[i] = s | STOPREQ }
#endif
#endif
        if
        :: atomic { s & BLOCKED -> signalled[i] = 0; i++; missing--; assert(missing > 0) }
        :: atomic { !(s & BLOCKED) -> signalled[i] = 1; sent[i] = 1; i++ }
        :: atomic { vanished[i] && !(s & BLOCKED) -> count_out(i); i++ }        /* its number is nobody's */
        :: atomic { refusals_left > 0 && !(s & BLOCKED) -> refusals_left--;
#ifdef BROKEN_REFUSED_IS_GONE
            count_out(i); i++
#else
            signalled[i] = 1; jumped[i] = 1; i++
#endif
            }
        fi
    :: atomic { i >= THREADS -> i = 0; s = 0; break }
    od
}

#define unanswered(k) (signalled[k] && !(state[k] & ACKED))

#ifdef BROKEN_STRANGER_OF_ANY_STOP
#define is_stranger(k) (stranger == (k) + 1)
#else
#define is_stranger(k) (stranger == (k) + 1 && stranger_gen == gen)
#endif

/* Sends once more to those not counted.  To look and to send are two steps: the signal may be stray. */
inline resend()
{
    do
    :: atomic { skip_others }
    :: atomic { at_thread && !(unanswered(i) && is_stranger(i)) -> i++ }
    :: atomic { at_thread && unanswered(i) && is_stranger(i) -> count_out(i); i++; stalled = 0; asleep[stopper] = 0 }
    :: atomic { i >= THREADS -> i = 0; break }
    od;
    do
    :: atomic { skip_others }
    :: atomic { at_thread && !unanswered(i) -> i++ }
    :: at_thread && unanswered(i) -> atomic { sent[i] = 1; i++ }
    :: atomic { i >= THREADS -> i = 0; break }
    od
}

/* Those that were let pass are asked again when they have run a little. */
#define to_ask_again(k) (passed[k] && unanswered(k) && !half_done[k])

inline ask_passed()
{
    do
    :: atomic { i < THREADS && !(concerned(i) && to_ask_again(i)) -> i++ }
    :: atomic { i < THREADS && concerned(i) && to_ask_again(i) -> passed[i] = 0; sent[i] = 1; stalled = 0; i++ }
    :: atomic { i >= THREADS -> i = 0; break }
    od
}

/* Nothing moves any more and somebody is missing: only a long jump explains it, and one resend helps. */
inline check_stall()
{
    d_step {
        assert(!stalled);
        stalled = 1;
        k = 0;
        do
        :: k < THREADS ->
            assert(!concerned(k) || !unanswered(k) || gone[k] || jumped[k] || vanished[k]);
            k++
        :: else -> break
        od;
        k = 0
    }
}

/* The word is read once: the value tested is the value handed to the futex. */
inline await_missing(t)
{
    do
    :: atomic { asleep[t] == 0 -> s = missing; if :: s == 0 -> break :: else fi }
        atomic { if :: missing == s -> asleep[t] = ON_MISSING :: else fi; s = 0 }
    :: atomic { asleep[t] && early -> early-- }             /* the time-out comes early, */
        resend()
#if LEAVES && !defined(BROKEN_PASSED_UNHEARD)
    :: atomic { asleep[t] && to_ask_again(0) -> skip }
        ask_passed()
#if THREADS > 2
    :: atomic { asleep[t] && to_ask_again(1) -> skip }
        ask_passed()
#endif
#endif
    :: atomic { timeout -> check_stall() }                  /* or when nothing moves any more, */
        resend()
    :: atomic { asleep[t] && give_ups_left -> give_ups_left--; asleep[t] = 0; gave_up = 1; break }
    od
}

/* What the collector relies on while the world is stopped. */
inline check_stopped()
{
    k = 0;
    do
    :: k < THREADS ->
        if
        :: concerned(k) ->
            assert((state[k] & STOPREQ) && (state[k] & COUNTED));
            assert(!section[k] || gone[k]);
            assert(!half_done[k]);
            assert(sp[k] == ((state[k] & BY_HANDLER) || stays_there[k] -> HANDLER : MAIN))
        :: else
        fi;
        /* no handler of the client's can run, but where the client said that it may */
        assert(!registered[k] || vanished[k] && out[k] || only && k != stopper && !concerned(k) || by_client[k] && (state[k] & BLOCKED) || guarded[k] || in_handler[k]);
        k++
    :: else -> break
    od;
    k = 0
}

inline withdraw()
{
    do
    :: atomic { skip_others }
    :: atomic {
            at_thread -> left = left + unanswered(i);
            state[i] = state[i] & ~(STOPREQ | ACKED | BY_HANDLER);
            signalled[i] = 0; jumped[i] = 0; passed[i] = 0; i++
        }
    :: atomic { i >= THREADS -> i = 0; break }
    od
}

inline let_go()
{
#ifdef BROKEN_WAKE_BEFORE_GEN
    wake(ON_GEN);
    gen++
#else
    gen++;
    wake(ON_GEN)
#endif
}

/* Those who have acknowledged count yet: the next stop must not start before they have. */
inline settle()
{
    settling = 1;
    withdraw();
#ifndef BROKEN_UNSETTLED
    missing == left;
#endif
    atomic { missing = 0; left = 0; gave_up = 0; settling = 0 }
    let_go()
}

inline resume()
{
#ifdef BROKEN_WAKE_BEFORE_WITHDRAWING
    let_go();
    withdraw();
#else
    withdraw();
    let_go();
#endif
    assert(left == 0)
}

/* The GC lock is closed under a guard.  The wait is a blocked region, with the suspend signal blocked as well. */
inline close_gate(t)
{
#ifndef BROKEN_GATE_UNGUARDED
    atomic { guarded[t] = 1; guards[t] = 1 }
#endif
#ifdef BROKEN_GATE_WAITED_FOR_UNBLOCKED
    masked[t] = 1;
    atomic { !gate -> gate = 1; masked[t] = 0 }
#else
    do
    :: if
        :: atomic { !gate -> gate = 1; won = 1 }
        :: gate
        fi;
        if
#ifdef BROKEN_GATE_TAKEN_SUSPENDED
        :: atomic { won -> won = 0; break }
#else
        :: atomic { (state[t] & TO_STAY) && won -> gate = 0; won = 0 }
            stay(t)
        :: (state[t] & TO_STAY) && !won ->
            stay(t)
        :: atomic { !(state[t] & TO_STAY) && won -> won = 0; break }
#endif
        :: !(state[t] & TO_STAY) && !won ->
            masked[t] = 1;
            enter_blocked(t, 0);
            if
            :: !gate
            :: atomic { !woken -> woken = 1 }       /* a wait may end for no reason */
            fi;
            leave_blocked(t);
            masked[t] = 0
        fi
    od
#endif
}

/* Lets the suspended one go on. */
inline unsuspend(t)
{
    lock_registry(t);
#ifdef BROKEN_WAKE_BEFORE_UNSUSPENDING
    wake(ON_STATE);
    atomic { held = 0; state[VICTIM] = state[VICTIM] & ~SUSPENDED }
#else
    atomic { held = 0; state[VICTIM] = state[VICTIM] & ~SUSPENDED }
    wake(ON_STATE);
#endif
    unlock_registry(t)
}

/* Pins the first thread where it counts as stopped by its own wish. */
inline pin()
{
#ifdef BROKEN_PINS_RUNNING
    atomic { !registry_lock -> if :: registered[VICTIM] -> state[VICTIM] = state[VICTIM] | PINNED; held = 1 :: else fi }
#else
    atomic {
        !registry_lock ->
        if
        :: registered[VICTIM] && (state[VICTIM] & BLOCKED) && by_client[VICTIM] -> state[VICTIM] = state[VICTIM] | PINNED; held = 1
        :: else
        fi
    }
#endif
}

inline unpin()
{
    atomic { held = 0; state[VICTIM] = state[VICTIM] & ~PINNED }
    wake(ON_STATE)
}

/* One collection by thread t, or the stop in which it suspends one, which is registered, in no section and holds no lock.  The GC lock keeps
 * other stops away, so there is none to park for around the lock. */
inline collect(t)
{
    close_gate(t);
#if PINS
    pin();
#endif
    atomic { !registry_lock -> registry_lock = 1; section[t] = 1; gone[t] = 0 }
    atomic { touch(t); stopper = t; only = (one -> VICTIM + 1 : 0); one = 0; reached_zero = 0; stalled = 0; early = EARLY }
#ifndef BROKEN_NO_BIAS
    missing = 1;
#endif
    gen++;
    ask_all();
#ifndef BROKEN_NO_BIAS
    atomic { missing--; note_missing() }
#endif
    await_missing(t);
    if
    :: !gave_up ->
        d_step { check_stopped(); stopped = (only == 0) }
        d_step {
            check_stopped();
            stopped = 0; early = 0;
            if
            :: only && registered[VICTIM] -> state[VICTIM] = state[VICTIM] | SUSPENDED; held = 1
            :: else
            fi
        }
        resume()
    :: gave_up -> settle()
    fi;
    d_step {
        k = 0;
        do
        :: k < THREADS -> if :: out[k] -> out[k] = 0; registered[k] = 0; state[k] = 0; section[k] = 0 :: else fi; k++
        :: else -> break
        od;
        k = 0
    }
    atomic { registry_lock = 0; section[t] = 0; early = 0; only = 0; assert(!must_park(t)) }
#if PINS
    unpin();
#endif
    gate = 0;
    end_guard(t)
}
