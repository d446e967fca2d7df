/* SPDX-License-Identifier: MIT */
/*
 * The numbers of dates of an object, as shortterm/dates/count_rules.h describes them, for the model checker spin.
 *
 * What is modelled: one place in a page of thread OWNER, in which OBJECTS objects lie one after the other; OTHERS more
 * threads.  The owner does OPS operations, others do MORE: they refresh the object, or take off one of their dates, in any
 * order; who has the object to itself after its last date frees it, and the owner puts the next one there.  JUMPS operations are
 * left half way by a jump; then the tracer, too, frees an object that has no date, when no thread is in an operation.
 *
 * A thread refreshes an object only if it knows that it is not over: the object has not lost any date yet, or the thread has a
 * date itself, or somebody who has one waits for it.
 *
 * Each object is marked as one that may be freed: a bit beside the owner's number, which whoever frees it takes away, and the
 * tracer of what it frees, but where a jump has left a number too high: counting anew takes it away there, which is not modelled.
 *
 * The properties: an object with a date is not freed, none is freed twice, none that has lost its last date is forgotten, and
 * what comes next to its place is not marked.
 *
 * -DBROKEN_x puts one fault in; tests/model/check_dates lists them with the complaint each must cause.
 */
#ifndef OTHERS
#define OTHERS 2
#endif
#ifndef OPS
#define OPS 4
#endif
#ifndef MORE
#define MORE OPS
#endif
#ifndef OBJECTS
#define OBJECTS 2
#endif
#ifndef JUMPS
#define JUMPS 0
#endif

#define THREADS (OTHERS + 1)
#define OWNER 0

/* ---- the two bytes ---- */
byte own; bit marked = 1;               /* one byte */
byte others; bit alone;                 /* one byte */

/* ---- what threads have written down ---- */
byte word[THREADS];

/* ---- the machine ---- */
bit  busy[THREADS];                     /* in a section */
byte jumps = JUMPS;

/* ---- what only the checks see ---- */
bit  there = 1;                         /* an object lies there, */
bit  fresh = 1;                         /* that has lost no date yet */
byte objects = 1;
bit  adds[THREADS];                     /* it has begun to refresh the object, */
bit  takes[THREADS];                    /* to take off one of the dates that are written down */
byte relied[THREADS];                   /* so many threads refresh it since that one has a date */
byte early;                             /* refreshes of a fresh object that go on */
byte ended;

#if OTHERS > 1
#define no_date (word[0] + word[1] + word[2] + adds[0] + adds[1] + adds[2] == 0)
#define nobody_busy (busy[0] + busy[1] + busy[2] == 0)
#else
#define no_date (word[0] + word[1] + adds[0] + adds[1] == 0)
#define nobody_busy (busy[0] + busy[1] == 0)
#endif

inline may_jump()
{
    if
    :: skip
    :: jumps > 0 -> jumps--; goto over
    fi
}

#define no_numbers (own == 0 && others == 0 && !alone)
#define looking (others == 0 && alone)   /* one date, whose thread looks whether the owner has any */
#define same (others == v && alone == a)

#ifdef BROKEN_ALONE_IS_NOTHING
#define with_alone (o == 0)
#else
#define with_alone 1
#endif
inline load() { v = others; a = alone }
inline forget() { v = 0; a = 0; o = 0; last = 0 }

/* ---- sgc_counts_add ---- */

inline add_own()
{
    do
    :: atomic { load() };
#ifdef BROKEN_ALONE_STAYS
        a = 0;
#endif
        if
        :: !a -> break
        :: atomic { a && same -> others = (v == 0 -> 1 : v); alone = 0; break }
        :: atomic { a && !same -> forget() }
        fi
    od;
    may_jump();
    own++
}

inline add(t)
{
    if
    :: t == OWNER -> add_own()
    :: atomic { t != OWNER && looking -> others = 2; alone = 0 }
    :: atomic { t != OWNER && !looking -> others++ }
    fi
}

/* ---- sgc_counts_take ---- */

inline take_own()
{
    if
    :: own > 1 -> own--
    :: own == 1 ->
#ifdef BROKEN_BIT_STORED
        m = marked;
#endif
#ifdef BROKEN_OWN_FIRST
        own = 0;
#endif
        do
        :: atomic { load() };
            if
            :: v == 0 && !a -> last = 1; break
#ifdef BROKEN_NO_ALONE
            :: v != 0 || a -> break
#endif
            :: atomic { (v != 0 || a) && same -> others = (v == 0 -> 1 : v); alone = 1; break }
            :: atomic { (v != 0 || a) && !same -> forget() }
            fi
        od;
        may_jump();
#ifdef BROKEN_BIT_STORED
        atomic { own = 0; marked = m }
#else
        own = 0
#endif
    fi
}

inline take_other()
{
    do
    :: atomic { load() };
        o = own;
        may_jump();
        if
        :: atomic { same && v > 1 -> others--; break }
        :: atomic { same && v == 1 && a -> last = with_alone; others = 0; alone = 0; break }
#ifdef BROKEN_LOOKS_ONCE
        :: atomic { same && v == 1 && !a -> last = o == 0; others = 0; break }
#else
        :: atomic { same && v == 1 && !a && o != 0 -> others = 0; break }
        :: atomic { same && v == 1 && !a && o == 0 -> others = 0; alone = 1; forget() }
        :: atomic { same && v == 0 && a -> last = o == 0; alone = 0; break }
#endif
#ifdef BROKEN_NO_EXCHANGE
        :: atomic { !same && v > 1 -> others = v - 1; alone = a; break }
        :: atomic { !same && v <= 1 -> forget() }
#else
        :: atomic { !same -> forget() }
#endif
        fi
    od
}

/* ---- operations ---- */

inline free()
{
    assert(there && no_date);
#ifdef BROKEN_NUMBER_STORED
    o = own;
    atomic { own = o; marked = 0 };
#else
    marked = 0;
#endif
    there = 0
}

inline refresh(t)
{
#ifdef BROKEN_WORD_FIRST
    word[t]++;
    may_jump();
    add(t);
#else
    add(t);
    may_jump();
    atomic { word[t]++; adds[t] = 0 };
#endif
    atomic { adds[t] = 0; forget() }
}

inline take(t)
{
#ifndef BROKEN_COUNT_FIRST
    atomic { word[t]--; takes[t] = 0 };
    may_jump();
#endif
    if
    :: t == OWNER -> take_own()
    :: t != OWNER -> take_other()
    fi;
    may_jump();
#ifdef BROKEN_COUNT_FIRST
    atomic { word[t]--; takes[t] = 0 };
#endif
    if
    :: last -> free(); forget()
    :: atomic { !last -> forget() }
    fi
}

proctype Thread(byte t)
{
    byte ops, v, o, whom = THREADS, u, most = (t == OWNER -> OPS : MORE);
    bit a, last, first, m;

    do
    :: atomic { ops < most -> ops++; busy[t] = 1 };
        if
        /* it knows of the object by itself, or has it from u */
        :: atomic { there && fresh -> first = 1; early++; adds[t] = 1 };
            refresh(t)
        :: atomic { there && word[t] > 0 -> adds[t] = 1 };
            refresh(t)
        :: atomic {
                there && !fresh ->
                u = 0;
                do
                :: u < THREADS && u != t && word[u] > takes[u] -> whom = u; break
                :: u < THREADS -> u++
                :: u == THREADS -> break
                od;
                u = 0;
                if
                :: whom < THREADS -> relied[whom]++; adds[t] = 1
                :: whom == THREADS -> goto over
                fi
            };
            refresh(t)
        :: atomic { word[t] > 0 && relied[t] == 0 && early == 0 -> fresh = 0; takes[t] = 1 };
            take(t)
        :: atomic {
                t == OWNER && !there && objects < OBJECTS ->
                assert(jumps != JUMPS || no_numbers);
                assert(!marked || (jumps != JUMPS && !no_numbers));
                there = 1; fresh = 1; marked = 1; objects++
            }
        :: skip
        fi;
over:
        atomic {
            if :: whom < THREADS -> relied[whom]--; whom = THREADS :: else fi;
            if :: first -> first = 0; early-- :: else fi;
            adds[t] = 0;
            takes[t] = 0;
            forget();
            busy[t] = 0
        }
    :: ops == most -> break
    od;
    ended++
}

/* The tracer frees what has no date, where a jump has left it so. */
#ifdef BROKEN_NOT_NOTED
#define forgets 0
#else
#define forgets no_numbers
#endif
proctype Tracer()
{
    do
    :: atomic { jumps < JUMPS && there && no_date && nobody_busy -> there = 0; marked = (forgets -> 0 : marked) }
    :: ended == THREADS -> break
    od
}

proctype Finale()
{
    atomic {
        ended == THREADS ->
        assert(jumps != JUMPS || fresh || !there || !no_date);
        assert(own >= word[OWNER]);
        assert(jumps != JUMPS || own == word[OWNER])
    }
}

init {
    byte t;

    atomic {
        do
        :: t < THREADS -> run Thread(t); t++
        :: else -> break
        od;
        run Tracer();
        run Finale()
    }
}
