/* SPDX-License-Identifier: MIT */
/*
 * The queue of disclaim procedures, as gc/finalize/disclaim.h describes it, for the model checker spin.
 *
 * What is modelled: THREADS threads of the program, which announce objects of the queue, ask, and free them, RUNS times each; one
 * that frees FREES objects while they wait or another thread is asked about them, and may take the kind's procedure away before;
 * and CYCLES collections, which fill the queue anew and let others ask when the asking thread has left a procedure by a jump: its
 * stack pointer says so, or nothing leads to the object any more that it asked about.  A procedure says yes or no, frees its
 * object itself (something else may lie there then), frees another one that waits, or is left by a jump; with HANDLERS the
 * section in which objects are announced is, too, and with COROUTINES a procedure may seem to be left and go on.  The world is
 * stopped between sections only.  All objects are dead from the beginning.
 *
 * Who frees an object is the program's to decide, and once: when it frees one itself, the procedure keeps that if it is asked; what
 * the procedure has said no about, the program does not free.  The procedure may still be asked about what another thread is just
 * freeing, or about what lies there by then: nobody can help that without a lock, but it must not be freed.
 *
 * -DBROKEN_x puts one fault in; tests/model/check_disclaim lists them with the complaint each must cause.
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef RUNS
#define RUNS 1
#endif
#ifndef CYCLES
#define CYCLES 2
#endif
#ifndef FREES
#define FREES 1
#endif
#ifndef HANDLERS
#define HANDLERS 0                      /* 1: they leave sections */
#endif
#ifndef COROUTINES
#define COROUTINES 0                    /* 1: procedures run on stacks of their own */
#endif

#define OBJECTS 2

#define NOBODY  THREADS
#define NOTHING OBJECTS
#define GONE    (OBJECTS + 1)           /* of what was announced: freed meanwhile, or nothing was */

/* ---- the protocol's variables ---- */
byte  object[OBJECTS];                  /* the queue, */
bit   taken[OBJECTS];                   /* with the lowest bit of each entry */
byte  count, next;
byte  asking = NOTHING, busy = NOBODY;
bit   due;
bit   has_proc = 1;                     /* the kind */

/* ---- the machine, and what only the checks see ---- */
#define FREER   THREADS

byte  sections;                         /* threads inside one */
bit   stopped;
bit   dead[OBJECTS];                    /* allocated, and found dead by each collection */
bit   again[OBJECTS];                   /* freed, and another object lies there, which lives */
byte  held[OBJECTS];                    /* on these threads' stacks: kept, and not queued */
byte  inside;                           /* threads that run a procedure */
bit   left[THREADS];                    /* it has left a procedure by a jump */
mtype = { nobody, program, procedure };
mtype frees[OBJECTS] = nobody;          /* who has decided to free it */

inline enter_section() { atomic { !stopped -> sections++ } }
inline leave_section() { sections-- }

#define hold(o, t)   held[o] = held[o] | (1 << (t))
#define forgo(o, t)  held[o] = held[o] & (255 - (1 << (t)))

/* GC_free */
inline give_back(o) { atomic { assert(dead[o] && !again[o]); dead[o] = 0; again[o] = 1; frees[o] = nobody } }

inline look_at_asking(o)
{
#ifdef BROKEN_ASKING_KEPT
    skip
#else
#ifdef BROKEN_ASKING_OVERWRITTEN
    if :: asking == o -> asking = NOTHING :: else fi
#else
    if :: asking == o -> atomic { if :: asking == o -> asking = NOTHING :: else fi } :: else fi
#endif
#endif
}

/* In a section no collection changes the queue, so the search is one step. */
inline take_out(o)
{
    enter_section();
    atomic {
        i = 0;
        do
        :: i < count && object[i] != o -> i++
        :: else -> break
        od;
#ifndef BROKEN_ENTRY_KEPT
        if :: i < count -> taken[i] = 1 :: else fi;
#endif
        i = 0
    }
    leave_section()
}

/* sgc_disclaim_forget */
inline forget(o)
{
#ifdef BROKEN_ASKING_FIRST
    look_at_asking(o);
#endif
    if
#ifdef BROKEN_KIND_ALONE
    :: has_proc -> take_out(o)
#else
    :: has_proc || due -> take_out(o)
#endif
    :: else
    fi;
#ifndef BROKEN_ASKING_FIRST
    look_at_asking(o);
#endif
    skip
}

inline leave_frames(t)
{
    forgo(0, t);
    forgo(1, t);
    last = NOTHING; got = NOTHING; was = GONE;
    said_no = 0; waits = 0; mine = 0
}

/* A client's handler leaves a section by a jump, between any two steps. */
inline jump_out(t)
{
    if
    :: atomic { HANDLERS -> leave_section(); left[t] = 1; leave_frames(t); i = 0; goto over }
    :: true
    fi
}

/* In a section.  It is in the thread's frame as soon as it is announced. */
inline announce(t)
{
    atomic {
        do
        :: next < count && taken[next] -> next++
        :: else -> break
        od;
        if
        :: next >= count -> due = 0; got = NOTHING
        :: next < count -> i = next; got = object[i]
        :: got = NOTHING                                /* enough for this time */
        fi
    }
    jump_out(t);
    atomic {
        was = asking;
        asking = got;
        if :: got != NOTHING -> hold(got, t); waits = dead[got] :: else fi
    }
    jump_out(t);
    atomic {
        if :: got != NOTHING -> next = i + 1 :: else fi;
        if
#ifndef BROKEN_ENTRY_UNSEEN
        :: got != NOTHING && taken[i] -> forgo(got, t); got = GONE
#endif
        :: else
        fi;
        i = 0
    }
    jump_out(t)
}

inline pass_on(t)
{
    atomic {
#ifndef BROKEN_ANNOUNCED_OUTSIDE
        !stopped -> sections++;
#endif
#ifdef BROKEN_NOT_MINE_FREED
        was = last;
#else
        was = GONE;
#endif
        got = NOTHING;
#ifdef BROKEN_BUSY_UNSEEN
        mine = 1
#else
        mine = busy == t;
        assert(mine || COROUTINES)                      /* who has not left it is not taken to have */
#endif
    }
    if :: mine -> announce(t) :: else fi;
    atomic {
        /* what only the procedure frees is freed */
        assert(!said_no || was == GONE || was == last || !dead[last] || frees[last] != procedure);
#ifndef BROKEN_ASKING_BLIND
        if :: was != last -> said_no = 0 :: else fi;
#endif
        was = GONE;
        if
        :: said_no -> give_back(last); said_no = 0      /* at once, */
        :: true                                         /* or when the section is left */
        fi
    }
    do
    :: got == GONE -> announce(t)
    :: else -> break
    od;
    atomic {
        was = GONE; mine = 0;
#ifndef BROKEN_ANNOUNCED_OUTSIDE
        leave_section();
#endif
        if :: !said_no && last != NOTHING -> forgo(last, t); last = NOTHING :: else fi
    }
    if :: said_no -> atomic { give_back(last); forgo(last, t); said_no = 0 } :: else fi;
    atomic { last = got; got = NOTHING }
}

/* The coroutine on which the procedure runs gives way, and its thread seems to have left the procedure; maybe nothing leads to
 * the object meanwhile.  Others may ask until it returns, and then it is one of two. */
inline give_way(t)
{
    atomic {
        left[t] = 1; inside--; away = 1;
        if :: forgo(last, t) :: true fi
    }
    atomic { left[t] = 0; hold(last, t) }
}

inline come_back()
{
    if :: !away -> inside-- :: away -> away = 0 fi
}

/* The procedure. */
inline ask(t)
{
    atomic { assert(inside == 0); assert(waits); waits = 0; inside++ }
    if :: COROUTINES -> give_way(t) :: true fi;
    if
    :: atomic { frees[last] != program -> frees[last] = procedure; said_no = 1 }
    :: true                                             /* yes */
    :: atomic { has_proc && dead[last] && frees[last] == nobody -> frees[last] = program }
        forget(last);                                   /* it frees its object itself, and says no */
        give_back(last);
        said_no = 1
    :: atomic { has_proc && dead[1 - last] && frees[1 - last] == nobody ->
            o = 1 - last; frees[o] = program; hold(o, t) }
        forget(o);                                      /* it frees another, and says yes */
        give_back(o);
        atomic { forgo(o, t); o = 0 }
    :: atomic { come_back(); left[t] = 1; jumped = 1; leave_frames(t) }    /* it is left by a jump */
    fi;
    atomic { if :: !jumped -> come_back() :: else fi }
}

proctype Thread(byte t)
{
    byte runs, got = NOTHING, last = NOTHING, was = GONE, i, o;
    bit jumped, may, mine, said_no, waits, away;
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
        :: pass_on(t);
            if
            :: last == NOTHING -> atomic { if :: busy == t -> busy = NOBODY :: else fi }; break
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

/* GC_free by a thread that is asked about nothing. */
proctype Freer()
{
    byte done, i, o;
    if
    :: has_proc = 0
    :: skip
    fi;
    do
    :: atomic { done < FREES -> done++ }
        if
        :: atomic { dead[0] && frees[0] == nobody -> o = 0; frees[o] = program; hold(o, FREER) }
        :: atomic { dead[1] && frees[1] == nobody -> o = 1; frees[o] = program; hold(o, FREER) }
        :: atomic { done = FREES; o = NOTHING }
        fi;
        if
        :: o != NOTHING ->
            forget(o);
            give_back(o);
            atomic { forgo(o, FREER); o = 0 }
        :: else -> o = 0
        fi
    :: done == FREES -> break
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
                if :: has_proc && dead[k] -> object[count] = k; count++ :: else fi;
#else
                if :: has_proc && dead[k] && held[k] == 0 -> object[count] = k; count++ :: else fi;
#endif
                k++
            :: else -> break
            od;
            k = 0;
            if :: has_proc -> due = (count != 0) :: else fi;
#ifdef BROKEN_RELEASED_INSIDE
            busy = NOBODY;
#else
            if
            :: has_proc && busy != NOBODY && (left[busy] || (asking != NOTHING && dead[asking] && held[asking] == 0)) ->
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
        run Freer();
        run Collector()
    }
}
