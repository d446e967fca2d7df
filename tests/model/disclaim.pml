/* SPDX-License-Identifier: MIT */
/*
 * The queue of disclaim procedures, as gc/disclaim.h describes it, for the model checker spin.
 *
 * What is modelled: THREADS threads of the program, which take objects from the queue, ask, and free them, RUNS times each; and
 * CYCLES collections, which fill the queue anew and let others ask when the asking thread has left a procedure by a jump: its
 * stack pointer says so, or nothing leads to the object any more that it asked about.  A
 * procedure says yes or no, frees its object itself (something else may lie there then), frees another one that waits, or is
 * left by a jump.  The world is stopped between sections only.  All objects are dead from the beginning.
 *
 * -DBROKEN_x puts one fault in; tests/model/check_disclaim lists them with the complaint each must cause.
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef RUNS
#define RUNS 2
#endif
#ifndef CYCLES
#define CYCLES 2
#endif

#define OBJECTS 2

#define NOBODY  THREADS
#define NOTHING OBJECTS

/* ---- the protocol's variables ---- */
byte  object[OBJECTS];                  /* the queue, */
bit   taken[OBJECTS];                   /* with the lowest bit of each entry */
byte  count, next;
byte  asking = NOTHING, busy = NOBODY;

/* ---- the machine, and what only the checks see ---- */
byte  sections;                         /* threads inside one */
bit   stopped;
bit   dead[OBJECTS];                    /* allocated, and found dead by each collection */
bit   again[OBJECTS];                   /* freed, and another object lies there, which lives */
bit   held[OBJECTS];                    /* on the stack of who asks about it: kept, and not queued */
byte  inside;                           /* threads that run a procedure */
bit   left[THREADS];                    /* it has left a procedure by a jump */

inline enter_section() { atomic { !stopped -> sections++ } }
inline leave_section() { sections-- }

/* GC_free */
inline give_back(o) { atomic { assert(dead[o] && !again[o]); dead[o] = 0; again[o] = 1 } }

/* sgc_disclaim_forget: by the procedure, which may free its own object or another that waits. */
inline forget(o)
{
#ifndef BROKEN_ASKING_KEPT
    atomic { if :: asking == o -> asking = NOTHING :: else fi }
#endif
    enter_section();
    i = 0;
    do
    :: i < count && object[i] != o -> i++
    :: else -> break
    od;
#ifndef BROKEN_ENTRY_KEPT
    atomic { if :: i < count && !taken[i] -> taken[i] = 1 :: else fi; i = 0 }
#endif
    leave_section()
}

/* To look at an entry and to change it is a swap. */
inline take()
{
    got = NOTHING;
#ifndef BROKEN_TAKEN_OUTSIDE
    enter_section();
#endif
    do
    :: next >= count || got != NOTHING -> break
    :: next < count && got == NOTHING ->
        i = next;
        atomic {
            assert(i < count || stopped);
            if :: !taken[i] -> got = object[i]; held[got] = 1 :: else fi;
            taken[i] = 1; i = 0
        }
        next++
    od;
#ifndef BROKEN_TAKEN_OUTSIDE
    leave_section();
#endif
    skip
}

/* The procedure, and what follows. */
inline ask(t)
{
    asking = got;
    atomic { assert(inside == 0); assert(dead[got]); inside++ }
    if
    :: inside--;                                        /* no: it is freed */
#ifdef BROKEN_ASKING_BLIND
        give_back(got)
#else
        atomic { o = asking; asking = NOTHING }
        if
        :: o == got -> give_back(got)
        :: else
        fi
#endif
    :: inside--;                                        /* yes */
#ifndef BROKEN_ASKING_STALE
        asking = NOTHING
#endif
    :: forget(got);                                     /* it frees its object itself, and says no */
        give_back(got);
        inside--;
#ifdef BROKEN_ASKING_BLIND
        give_back(got)
#else
        atomic { assert(asking != got); asking = NOTHING }
#endif
    :: atomic { dead[1 - got] -> o = 1 - got; held[o] = 1 }
        forget(o);                                      /* it frees another, and says yes */
        give_back(o);
        inside--;
        asking = NOTHING
    :: atomic { inside--; left[t] = 1; jumped = 1 }     /* it is left by a jump */
    fi;
    atomic { held[0] = 0; held[1] = 0; o = 0 }
}

proctype Thread(byte t)
{
    byte runs, got, i, o;
    bit jumped, may;
    do
    :: atomic { runs < RUNS -> runs++ }
#ifndef BROKEN_BEGUN_OUTSIDE
        enter_section();
#endif
        may = 0;
        if
        :: atomic { busy == NOBODY -> busy = t; left[t] = 0; may = 1 }
#ifdef BROKEN_NOT_BUSY
        :: atomic { busy != NOBODY -> left[t] = 0; may = 1 }
#else
        :: atomic { busy == t && left[t] -> left[t] = 0; may = 1 }
        :: busy != NOBODY && !(busy == t && left[t])
#endif
        fi;
#ifndef BROKEN_ASKING_LEFT
        if :: may -> asking = NOTHING :: else fi;
#endif
#ifndef BROKEN_BEGUN_OUTSIDE
        leave_section();
#endif
        if :: may :: else -> goto over fi;
        do
        :: take();
            if
            :: got == NOTHING -> atomic { if :: busy == t -> busy = NOBODY :: else fi }; break
            :: else -> ask(t);
                if
                :: atomic { jumped -> jumped = 0; break }
                :: !jumped
                fi
            fi
        od;
over:   skip
    :: runs == RUNS -> break
    od
}

/* The world stands still when nobody is in a section. */
proctype Collector()
{
    byte cycles, k;
    do
    :: atomic { cycles < CYCLES -> cycles++; stopped = 1 }
        d_step {
            sections == 0 ->
            count = 0; next = 0; k = 0;
            do
            :: k < OBJECTS ->
                taken[k] = 0;
#ifdef BROKEN_HELD_QUEUED
                if :: dead[k] -> object[count] = k; count++ :: else fi;
#else
                if :: dead[k] && !held[k] -> object[count] = k; count++ :: else fi;
#endif
                k++
            :: else -> break
            od;
            k = 0;
#ifdef BROKEN_RELEASED_INSIDE
            busy = NOBODY;
#else
            if
            :: busy != NOBODY && (left[busy] || (asking != NOTHING && dead[asking] && !held[asking])) ->
                left[busy] = 0; busy = NOBODY
            :: else
            fi;
#endif
            stopped = 0
        }
    :: cycles == CYCLES -> break
    od
}

init
{
    byte k;
    atomic {
        do
        :: k < OBJECTS -> dead[k] = 1; k++
        :: else -> k = 0; break
        od;
        do
        :: k < THREADS -> run Thread(k); k++
        :: else -> k = 0; break
        od;
        run Collector()
    }
}
