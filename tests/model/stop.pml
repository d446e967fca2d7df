/* SPDX-License-Identifier: MIT */
/*
 * Stopping and resuming the world, as doc/design/world.md describes it, for the model checker spin.
 *
 * What is modelled: MUTATORS threads, each with a signal handler that interrupts it (while the
 * process Suspend handles a signal the process Mutator stands still: `provided`), futexes, two
 * locks, and up to STOPS stops in a row.  A mutator does OPS operations, in any order: a section
 * that it leaves properly or by a long jump out of a client's handler, a blocking call, leaving the
 * registry and coming back, a collection of its own.  One statement is one access to a shared
 * variable; what a thread does alone with its own variables is folded into its neighbours.
 *
 * Shapes: the default has one collecting thread and MUTATORS mutators; -DPEERS has no collecting
 * thread and every mutator may collect; -DPOLL adds the look at the state word at section exit that
 * builds for TSan have.
 *
 * -DBROKEN_x puts one fault in; tests/test_models.sh lists them with the complaint each must cause.
 */
#ifndef MUTATORS
#define MUTATORS 2
#endif
#ifndef STOPS
#define STOPS 2
#endif
#ifndef OPS
#define OPS 2
#endif
#ifndef EARLY
#define EARLY 1                         /* resends in each stop before anything is stuck */
#endif
#ifdef PEERS
#define THREADS MUTATORS
#else
#define THREADS (MUTATORS + 1)          /* the last one only collects */
#endif

#define BLOCKED 1
#define STOPREQ 2
#define ACKED   4
#define COUNTED (BLOCKED | ACKED)       /* with STOPREQ: this thread is not missing */

#define MAIN    1                       /* whose frame was published as stack pointer */
#define HANDLER 2

#define ON_GEN     1                    /* what a sleeper sleeps on */
#define ON_MISSING 2

/* ---- the protocol's variables ---- */
byte  state[THREADS];
bit   section[THREADS];                 /* the recorded stack pointer: set or zero */
bit   pending[THREADS];
byte  sp[THREADS];
bit   self[THREADS];                    /* the thread-local pointer to the record is set */
bit   registered[THREADS];
byte  gen;
short missing;
bit   registry_lock, cycle_lock;

/* ---- the machine ---- */
bit   sent[THREADS];                    /* a suspend signal is pending in the kernel */
bit   masked[THREADS];                  /* the thread has blocked all signals */
bit   in_handler[THREADS];
byte  asleep[THREADS], asleep_in_handler[THREADS];

/* ---- what only the checks and the bounds see ---- */
bit   stopped;                          /* the stopper believes the world stopped */
byte  stopper;
bit   gone[THREADS];                    /* the frame that section[] recorded has been jumped out of */
bit   jumped[THREADS];                  /* in this stop a long jump may have lost a request */
bit   reached_zero;                     /* missing has been zero in this stop */
bit   stalled;                          /* a resend was due and nobody was counted since */
byte  stops_left = STOPS;

/* The mutator changes heap data: never while another has the world stopped. */
#define touch(t) assert(!stopped || stopper == t)

/* The threads that a stop concerns; the registry lock keeps them the same throughout. */
#define concerned(k) (registered[k] && (k) != stopper)

/*
 * Sleeps while gen == g.  The futex sleeps only if the word still has the expected value; a look at
 * the word before the call would add nothing.
 */
inline sleep_while_gen(sleeper)
{
    do
    :: sleeper == 0 && gen != g -> g = 0; break
    :: atomic { sleeper == 0 && gen == g -> sleeper = ON_GEN }
    od
}

inline wake_gen()
{
    d_step {
        k = 0;
        do
        :: k < THREADS ->
            if :: asleep[k] == ON_GEN -> asleep[k] = 0 :: else fi;
            if :: asleep_in_handler[k] == ON_GEN -> asleep_in_handler[k] = 0 :: else fi;
            k++
        :: else -> break
        od;
        k = 0
    }
}

/* `missing` has just become smaller: it becomes zero once in a stop, when everybody is counted. */
inline note_missing()
{
    assert(missing >= 0);
    stalled = 0;
    if
    :: missing == 0 ->
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

/* fetch_sub(missing, 1); who takes the last one wakes the stopper, the only sleeper on missing */
inline count_self()
{
    d_step { missing--; note_missing(); last = (missing == 0) }
    if
    :: atomic { last -> last = 0; if :: asleep[stopper] == ON_MISSING -> asleep[stopper] = 0 :: else fi }
    :: !last
    fi
}

/* Stays until the world runs.  Signals are masked, and the word was seen to hold STOPREQ alone. */
inline park(t, sleeper, frame)
{
#ifndef BROKEN_GEN_AFTER_ACK
    g = gen;
#endif
#ifdef BROKEN_SP_AFTER_ACK
    state[t] = state[t] | ACKED;
    count_self();
    sp[t] = frame;
#else
    atomic { sp[t] = frame; state[t] = state[t] | ACKED }   /* nobody looks at sp before the ack */
    count_self();
#endif
#ifdef BROKEN_GEN_AFTER_ACK
    g = gen;
#endif
    sleep_while_gen(sleeper)
}

/* ---- the handler of the suspend signal, one for each thread ---- */
#ifdef BROKEN_HANDLER_IGNORES_BLOCKED
#define asked(t) ((state[t] & (STOPREQ | ACKED)) == STOPREQ)
#else
#define asked(t) ((state[t] & (STOPREQ | COUNTED)) == STOPREQ)
#endif

proctype Suspend(byte t)
{
    byte g, k, saved;
    bit last;
end:
    do
    :: atomic { sent[t] && !masked[t] && !in_handler[t] -> sent[t] = 0; in_handler[t] = 1 }
        atomic {
            if
            :: !self[t] || !asked(t) -> goto leave
#ifdef BROKEN_NO_REPAIR
            :: self[t] && asked(t) && section[t] -> pending[t] = 1; goto leave
#else
            :: self[t] && asked(t) && section[t] && !gone[t] -> pending[t] = 1; goto leave
#endif
            :: else -> section[t] = 0; gone[t] = 0; saved = sp[t]
            fi
        }
        park(t, asleep_in_handler[t], HANDLER);
#ifndef BROKEN_SP_NOT_RESTORED
        sp[t] = saved;
#endif
leave:
        atomic { saved = 0; asleep[t] = 0; in_handler[t] = 0 }  /* a sleep that it interrupted ends */
    od
} /* never: a handler has no end */

/* ---- what a mutator does ---- */

#ifdef POLL
#define must_look(t) (pending[t] || (state[t] & STOPREQ))
#else
#define must_look(t) pending[t]
#endif

/* The rest of a section's exit, when must_look() said so. */
inline leave_slowly(t)
{
#ifdef BROKEN_PARK_UNMASKED
    pending[t] = 0;
#else
    atomic { masked[t] = 1; pending[t] = 0 }
#endif
    if
    :: asked(t) -> park(t, asleep[t], MAIN)
    :: !asked(t)
    fi;
    atomic { masked[t] = 0; sp[t] = 0 }
}

/* A client's handler may interrupt at any point and jump away: nothing after that point is done. */
inline use_section(t)
{
    atomic { section[t] = 1; gone[t] = 0; touch(t) }        /* an abandoned one is repaired by this */
    if
    :: atomic { gone[t] = 1; jumped[t] = 1 }
#ifdef BROKEN_PENDING_BEFORE_SECTION
    :: atomic { must_look(t) -> touch(t); section[t] = 0 }
        leave_slowly(t)
    :: atomic { !must_look(t) -> touch(t) }
        section[t] = 0
#else
    :: atomic { touch(t); section[t] = 0 }
        if
        :: jumped[t] = 1
        :: must_look(t) -> leave_slowly(t)
        :: !must_look(t)
        fi
#endif
    fi
}

inline use_blocking(t)
{
    sp[t] = MAIN;
    d_step { s = state[t]; state[t] = s | BLOCKED }
    if
#ifdef BROKEN_ENTER_BY_ACK
    :: s & STOPREQ ->
        d_step { s = state[t]; state[t] = s | ACKED }
        if :: !(s & ACKED) -> count_self() :: else fi
#else
    :: s & STOPREQ -> count_self()
#endif
    :: !(s & STOPREQ)
    fi;
    /* here it blocks, and touches nothing */
#ifdef BROKEN_LEAVE_UNCHECKED
    state[t] = state[t] & ~BLOCKED;
#else
    do
    :: g = gen;
        s = state[t];
        if
        :: s & STOPREQ -> sleep_while_gen(asleep[t])
        :: atomic { !(s & STOPREQ) && state[t] == s -> state[t] = s & ~BLOCKED; break }
        :: !(s & STOPREQ) && state[t] != s
        fi
    od;
#endif
    atomic { s = 0; g = 0; sp[t] = 0 }
}

/* The thread unregisters and another (or the same) takes the record; a signal may still be pending. */
inline register_anew(t)
{
    atomic { !registry_lock -> registry_lock = 1 }
    assert(!(state[t] & (STOPREQ | COUNTED)));
    atomic { self[t] = 0; registered[t] = 0; registry_lock = 0 }
    atomic { !registry_lock -> registry_lock = 1 }
    d_step { state[t] = 0; section[t] = 0; pending[t] = 0; sp[t] = 0; gone[t] = 0; jumped[t] = 0 }
    atomic { self[t] = 1; registered[t] = 1; registry_lock = 0 }
}

/* ---- the stopper's side ---- */

/* Everybody asked counts as missing before the first is asked; who turns out to be blocked does not. */
inline count_all()
{
    d_step {
        do
        :: k < THREADS -> if :: concerned(k) -> missing++ :: else fi; k++
        :: else -> break
        od;
        k = 0
    }
}

/* i moves on to the next thread that the stop concerns */
#define skip_others i < THREADS && !concerned(i) -> i++

inline ask_all()
{
    do
    :: atomic { skip_others }
#ifdef BROKEN_NO_RMW
    :: atomic { i < THREADS && concerned(i) -> s = state[i] };
        state[i] = state[i] | STOPREQ;
#else
    :: atomic { i < THREADS && concerned(i) -> s = state[i]; state[i] = s | STOPREQ };
#endif
        if
#ifdef BROKEN_COUNTED_AS_ASKED
        :: atomic { s & BLOCKED -> i++ }
        :: atomic { !(s & BLOCKED) -> missing++ }
            atomic { sent[i] = 1; i++ }
#else
        :: atomic { s & BLOCKED -> missing--; i++; note_missing() }
        :: atomic { !(s & BLOCKED) -> sent[i] = 1; i++ }
#endif
        fi
    :: atomic { i >= THREADS -> i = 0; s = 0; break }
    od
}

/* Sends once more to those not counted.  To look and to send are two steps: the signal may be stray. */
inline resend()
{
    do
    :: atomic { skip_others }
    :: atomic { i < THREADS && concerned(i) && (state[i] & COUNTED) -> i++ }
    :: i < THREADS && concerned(i) && !(state[i] & COUNTED) -> atomic { sent[i] = 1; i++ }
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
            assert(!concerned(k) || (state[k] & COUNTED) || gone[k] || jumped[k]);
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
    :: atomic { asleep[t] && early -> early = 0 }           /* the time-out comes early, */
        resend()
    :: atomic { timeout -> check_stall() }                  /* or when nothing moves any more */
        resend()
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
            assert(sp[k] == ((in_handler[k] && !(state[k] & BLOCKED)) -> HANDLER : MAIN))
        :: else
        fi;
        /* no client's handler can run, but in a blocking call */
        assert(!registered[k] || (state[k] & BLOCKED) || masked[k] || in_handler[k]);
        k++
    :: else -> break
    od;
    k = 0
}

inline clear_all()
{
    do
    :: atomic { skip_others }
    :: atomic { i < THREADS && concerned(i) -> state[i] = state[i] & ~(STOPREQ | ACKED); jumped[i] = 0; i++ }
    :: atomic { i >= THREADS -> i = 0; break }
    od
}

inline resume()
{
#ifdef BROKEN_WAKE_BEFORE_CLEAR
    gen++;
    wake_gen();
    clear_all();
#else
    clear_all();
#ifdef BROKEN_WAKE_BEFORE_GEN
    wake_gen();
    gen++;
#else
    gen++;
    wake_gen();
#endif
#endif
}

/* One collection by thread t, which is registered, in no section and holds no lock. */
inline collect(t)
{
#ifdef BROKEN_MASKED_TOO_EARLY
    masked[t] = 1;
#endif
    atomic { !cycle_lock -> cycle_lock = 1 }
#ifndef BROKEN_STOPPER_UNMASKED
    masked[t] = 1;
#endif
    atomic {
        !registry_lock -> registry_lock = 1;
        stopper = t; reached_zero = 0; stalled = 0; early = EARLY;
#ifndef BROKEN_COUNTED_AS_ASKED
#ifndef BROKEN_COUNTED_AFTER_ASKING
        count_all()                     /* nobody looks at it before the first is asked */
#endif
#endif
    }
    gen++;
    ask_all();
#ifdef BROKEN_COUNTED_AFTER_ASKING
    count_all();
#endif
    await_missing(t);
    skip;
    d_step { check_stopped(); stopped = 1 }
    d_step { check_stopped(); stopped = 0; early = 0 }
    resume();
    atomic { registry_lock = 0; masked[t] = 0; cycle_lock = 0 }
}

proctype Mutator(byte t) provided (!in_handler[t])
{
    byte ops, s, g, k;
    bit last;
#ifdef PEERS
    byte i;
    bit early;
#endif
    do
    :: atomic { ops < OPS -> ops++; touch(t) }
        if
        :: use_section(t)
        :: use_blocking(t)
        :: register_anew(t)
#ifdef PEERS
        :: atomic { stops_left > 0 -> stops_left-- }
            collect(t)
#endif
        fi
    :: atomic { ops == OPS -> touch(t); break }
    od
}

#ifndef PEERS
proctype Collector(byte t) provided (!in_handler[t])
{
    byte s, k, i;
    bit early;
    do
    :: stops_left > 0 -> stops_left--; collect(t)
    :: else -> break
    od
}
#endif

init
{
    byte k;
    atomic {
        do
        :: k < THREADS ->
            self[k] = 1; registered[k] = 1;
            run Suspend(k);
            if
            :: k < MUTATORS -> run Mutator(k)
#ifndef PEERS
            :: k == MUTATORS -> run Collector(k)
#endif
            fi;
            k++
        :: else -> break
        od;
        k = 0
    }
}
