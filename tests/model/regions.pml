/* SPDX-License-Identifier: MIT */
/*
 * The word of a region, as shortterm/region_rules.h describes it, for the model checker spin.
 *
 * What is modelled: a region of thread OWNER, and OTHERS more threads.  Each does OPS operations, in any order: the owner
 * refreshes the region, allocates in it, and closes it; others refresh it, whether they know that it is not over or not; all
 * take off their dates.  With ENDS the owner ends, once: its dates become others'.  Who has the region to itself after its last
 * date empties it, in two steps.
 *
 * The properties: nothing is emptied while a thread has a date whose refresh has returned 0, or while the owner allocates, or by
 * two threads at once; nobody touches a region that is gone; and none whose last date is over is forgotten: it is emptied, or
 * its owner finds it so.
 *
 * -DBROKEN_x puts one fault in; tests/model/check_regions lists them with the complaint each must cause.
 */
#ifndef OTHERS
#define OTHERS 1
#endif
#ifndef OPS
#define OPS 4
#endif

#define THREADS (OTHERS + 1)
#define OWNER 0

/* ---- the word ---- */
byte dates;
bit  over, closed, orphan;

/* ---- what threads have written down ---- */
byte word[THREADS];

/* ---- what only the checks see ---- */
byte emptying;                          /* threads that are about it */
bit  allocating;
bit  gone;                              /* it was closed, and is freed */
bit  dated;                             /* it has had a date since it was emptied */
bit  left;                              /* the owner has ended, and left dates */
byte visitors;                          /* threads that refresh it without a date: it is not closed meanwhile */
byte ended;

#if OTHERS > 1
#define written (word[0] + word[1] + word[2])
#else
#define written (word[0] + word[1])
#endif

/* The caller has it to itself. */
inline clear()
{
    atomic { assert(!gone && written == 0 && emptying == 0 && !allocating); emptying++ };
#ifdef BROKEN_WORD_FIRST
    if :: !closed -> over = 0 :: else fi;
#endif
    atomic {
        assert(written == 0 && emptying == 1 && !allocating);
        emptying--;
        dated = 0;
        if
        :: closed -> gone = 1
        :: !closed -> over = 0
        fi
    }
}

/* A date more: false (`added` 0), if it is over.  Counted before it is written down. */
inline add(t)
{
    atomic {
        assert(!gone);
        added = 0;
#ifdef BROKEN_DATED_OVER
        if
        :: !over || t != OWNER -> dates++; dated = 1; added = 1
        :: else
        fi
#else
        if
        :: !over -> dates++; dated = 1; added = 1
        :: over
        fi
#endif
    };
    atomic {
        if
        :: added -> word[t]++
        :: !added
        fi;
        added = 0
    }
}

/* A date less; `mine`: the caller has the region to itself. */
inline take(t)
{
    word[t]--;
#ifdef BROKEN_FLAG_LATER
    atomic { dates--; last = dates == 0 };
    atomic {
        if
        :: last -> over = 1; mine = t == OWNER || closed || orphan
        :: !last
        fi
    };
#else
    atomic {
        assert(!gone && dates != 0);
        dates--;
        if
        :: dates == 0 ->
            over = 1;
#ifdef BROKEN_TAKERS_ALWAYS
            mine = 1
#else
            mine = t == OWNER || closed || orphan
#endif
        :: dates != 0
        fi
    };
#endif
    if
    :: mine -> clear(); mine = 0
    :: !mine
    fi;
    last = 0
}

/* The owner uses it. */
inline look()
{
    if
    :: over && !closed -> clear()
    :: !over || closed
    fi
}

proctype Owner()
{
    byte ops;
    bit added, mine, last;

    do
    :: atomic { ops < OPS && !gone -> ops++ };
        if
        :: !closed -> look(); add(OWNER)
        :: !closed -> look();
            atomic { allocating = 1; assert(emptying == 0) };
            allocating = 0
        :: !closed ->
#ifdef BROKEN_CLOSED_APART
            look();
            atomic { visitors == 0 -> closed = 1 }
#else
            do
            :: atomic { !over && visitors == 0 -> closed = 1; break }
            :: over -> clear()
            od
#endif
        :: word[OWNER] > 0 -> take(OWNER)
        :: skip
        fi
    :: ops == OPS || gone -> break
    od;
#ifdef ENDS
    /* what the owner has to find is the tracer's from now on, but not what it has a date of */
    left = word[OWNER] != 0;
#ifdef BROKEN_ORPHAN_LATE
    atomic { word[1] = word[1] + word[OWNER]; word[OWNER] = 0 };
    atomic { if :: left && !over -> orphan = 1 :: else fi }
#else
    atomic { if :: left -> assert(!over); orphan = 1 :: else fi };
    atomic { word[1] = word[1] + word[OWNER]; word[OWNER] = 0 }
#endif
#else
    do
    :: word[OWNER] > 0 -> take(OWNER)
    :: word[OWNER] == 0 -> break
    od
#endif
    ended++
}

proctype Other(byte t)
{
    byte ops;
    bit added, mine, last;

    do
    :: atomic { ops < OPS -> ops++ };
        if
        :: atomic { !closed -> visitors++ };
            add(t);
            visitors--
        :: word[t] > 0 -> add(t)
        :: word[t] > 0 -> take(t)
        :: skip
        fi
    :: ops == OPS -> break
    od;
    do
    :: word[t] > 0 -> take(t)
    :: ended > 0 && word[t] == 0 -> break
    od;
    ended++
}

proctype Finale()
{
    atomic {
        ended == THREADS ->
        assert(written == 0 && dates == 0);
        assert(!dated || (over && !closed && !orphan && !left));
        assert(!closed || gone || !dated)
    }
}

init {
    byte t = 1;

    atomic {
        run Owner();
        do
        :: t < THREADS -> run Other(t); t++
        :: else -> break
        od;
        run Finale()
    }
}
