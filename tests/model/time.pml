/* SPDX-License-Identifier: MIT */
/*
 * Global time, as shortterm/dates/time_rules.h describes it, for the model checker spin.
 *
 * What is modelled: THREADS threads, the first ACTIVE of which are active at the start.  Each does OPS operations in any order:
 * it ticks, refreshes its object with extension 0, leaves, joins; threads but the first do MORE.  Each operation is a
 * section; JUMPS of them are left half way by a jump.  With -DRECOUNTS=n the world is stopped n times, when no thread is in a
 * section, and the word counted again.  Where only the word decides what it becomes, load and exchange are one step.
 *
 * The property: when a date ends, each other thread that has been active since the refresh has begun a tick since then.
 *
 * -DBROKEN_x puts one fault in; tests/model/check_time lists them with the complaint each must cause.
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef ACTIVE
#define ACTIVE THREADS
#endif
#ifndef OPS
#define OPS 5
#endif
#ifndef MORE
#define MORE OPS
#endif
#ifndef JUMPS
#define JUMPS 0
#endif
#ifndef RECOUNTS
#define RECOUNTS 0
#endif

#ifdef BROKEN_ONE_LATER
#define LATER 1
#else
#define LATER 2
#endif

/* ---- the word ---- */
byte now, members, waiting;

/* ---- what each thread remembers ---- */
byte phase[THREADS];
bit  in[THREADS];                       /* it is active */
byte left[THREADS];                     /* ticks until its date ends; 0: it has none */

/* ---- the machine ---- */
bit  section[THREADS];
byte jumps = JUMPS;

/* ---- what only the checks see ---- */
bit  bound[THREADS * THREADS];          /* [t, u]: u has not ticked since the refresh of t, and was active ever since */
byte ended;

inline let_go(u)
{
    i = 0;
    do
    :: i < THREADS -> bound[i * THREADS + u] = 0; i++
    :: else -> break
    od;
    i = 0
}

inline may_jump()
{
    if
    :: skip
    :: jumps > 0 -> jumps--; goto over
    fi
}

inline go_on() { if :: waiting == 0 -> now++; waiting = members :: else fi }

/* The word is what was loaded: then the exchange is made. */
#define same (now == w_now && members == w_members && waiting == w_waiting)
inline load() { w_now = now; w_members = members; w_waiting = waiting }
inline forget() { w_now = 0; w_members = 0; w_waiting = 0 }

inline begin_tick(t)
{
    let_go(t);
#ifndef BROKEN_PHASE_LATER
    phase[t] = now + 1
#endif
}

/* The thread's own clock, and the date, if that was its last tick. */
inline own_tick(t)
{
    if
    :: left[t] == 1 ->
        do
        :: i < THREADS -> assert(!bound[t * THREADS + i]); i++
        :: else -> break
        od;
        i = 0;
        left[t] = 0
    :: left[t] > 1 -> left[t]--
    :: left[t] == 0
    fi
}

inline tick(t)
{
    if
    :: phase[t] != now                  /* it has ticked in this phase */
    :: atomic { phase[t] == now -> begin_tick(t) }
        may_jump();
        atomic { assert(waiting > 0); waiting--; go_on() };
        may_jump();
#ifdef BROKEN_PHASE_LATER
        phase[t]++;
#endif
        atomic { own_tick(t) }
    fi
}

#ifdef BROKEN_JOINS_UNTICKED
#define joined now
#else
#define joined (members == 0 -> now : now + 1)
#endif

inline join(t)
{
#ifdef BROKEN_JOINED_EARLY
    in[t] = 1;
#endif
#ifdef BROKEN_PHASE_ONCE
    phase[t] = joined;
#endif
    do
    :: atomic {
            load();
#ifndef BROKEN_PHASE_ONCE
            phase[t] = joined
#endif
        };
        may_jump();
        if
        :: atomic { same -> waiting = (members == 0 -> 1 : waiting); members++; forget(); break }
        :: atomic { !same -> forget() }
        fi
    od;
    may_jump();
    in[t] = 1
}

inline leave(t)
{
#ifndef BROKEN_LEFT_LATE
    atomic { in[t] = 0; let_go(t) };
#endif
    may_jump();
    atomic {
#ifndef BROKEN_LEAVES_UNCOUNTED
        waiting = (phase[t] == now -> waiting - 1 : waiting);
#endif
        members--;
        waiting = (waiting > members -> members : waiting);
        go_on()
    };
    may_jump();
#ifdef BROKEN_LEFT_LATE
    atomic { in[t] = 0; let_go(t) }
#endif
}

inline refresh(t)
{
    left[t] = 1 + LATER;
    do
    :: i < THREADS -> bound[t * THREADS + i] = in[i] && i != t; i++
    :: else -> break
    od;
    i = 0
}

proctype Thread(byte t)
{
    byte ops, i, w_now, w_members, w_waiting;
    byte most = (t == 0 -> OPS : MORE);

    do
    :: atomic { ops < most -> ops++; section[t] = 1 };
        if
        :: in[t] -> tick(t)
        :: atomic { in[t] && left[t] == 0 -> refresh(t) }
        :: in[t] -> leave(t)
        :: !in[t] -> join(t)
        fi;
over:
        atomic { section[t] = 0; forget() }
    :: ops == most -> break
    od;
    atomic { ended++ }
}

inline count()
{
    i = 0; n = 0; m = 0;
    do
    :: i < THREADS ->
        n = n + in[i];
        m = m + (in[i] && phase[i] == now);
        i++
    :: else -> break
    od;
    i = 0
}

#ifdef BROKEN_RECOUNT_RUNS
#define stopped true
#else
#define stopped (section[0] + section[1] + (THREADS > 2 -> section[THREADS - 1] : 0) == 0)
#endif

proctype Stopper()
{
    byte stops, i, n, m;

    do
    :: atomic {
            stops < RECOUNTS && stopped ->
            stops++;
            count();
            members = n; waiting = m;
            go_on();
            n = 0; m = 0
        }
    :: stops == RECOUNTS -> break
    od;
    atomic { ended++ }
}

/* The word never waits for too few; for too many only after a jump. */
proctype Finale()
{
    byte i, n, m;

    atomic {
        ended == THREADS + 1 ->
        count();
        assert(members >= n && waiting >= m);
        assert(jumps != JUMPS || (members == n && waiting == m));
        assert(members == 0 || waiting > 0)
    }
}

init {
    byte t;

    atomic {
        members = ACTIVE; waiting = ACTIVE;
        do
        :: t < THREADS -> in[t] = (t < ACTIVE); run Thread(t); t++
        :: else -> break
        od;
        run Stopper();
        run Finale()
    }
}
