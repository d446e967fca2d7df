/* SPDX-License-Identifier: MIT */
/*
 * The GC lock taken without a guard, as gc/threads/gc_lock.h describes it, for the model checker spin.
 *
 * What is modelled: thread T, which calls a callback with the GC lock held OPS times, and then ends; a handler of the
 * program's, which interrupts T SIGNALS times, at any step where signals are let in, and calls such a callback itself; callbacks
 * and the handler may leave by a jump.  Thread W, which takes the GC lock under a guard TAKES times.  While the handler
 * runs, T stands still (`provided`).
 *
 * T's stack has levels: 0 the program, 1 its call, 2 the handler, 3 the handler's call.  A lower number is further up.  What
 * lies in a frame that is gone stays or is overwritten.
 *
 * -DBROKEN_x puts one fault in; tests/model/check_gc_lock lists them with the complaint each must cause.
 */
#ifndef OPS
#define OPS 2
#endif
#ifndef SIGNALS
#define SIGNALS 2
#endif
#ifndef TAKES
#define TAKES 2
#endif

#define T 1
#define W 2

/* ---- the protocol's variables: `holder` and `place` are one word ---- */
byte holder;                            /* 0: open */
byte place;                             /* 0: under a guard */
byte waiting;
bit  copy[4];                           /* the word lies at that level of T's stack */

/* ---- the machine ---- */
bit  guarded;                           /* T lets no signals in */
bit  handling, jump;                    /* the handler runs; it, or the callback, has jumped to level 0 */
bit  asleep[3];

/* ---- what only the checks see ---- */
bit  runs[4];                           /* T's callback at that level: the GC lock is to be closed */
bit  w_has;
bit  over;                              /* T has ended */

inline check() { assert(!(w_has && (runs[1] || runs[3]))) }

/* Of who sleeps, one. */
inline wake_if_waiting()
{
    atomic {
        if
        :: waiting > 0 && asleep[T] -> asleep[T] = 0
        :: waiting > 0 && asleep[W] -> asleep[W] = 0
        :: waiting == 0 || !(asleep[T] || asleep[W])
        fi
    }
}

/* Under a guard.  A futex compares the word when the sleep begins. */
inline take(t, at)
{
    waiting++;
    do
    :: atomic { holder == 0 -> holder = t; place = at; break }
    :: atomic { holder != 0 -> seen = holder; timed = place != 0 };
#ifdef BROKEN_SLEEPS_FOREVER
        timed = 0;
#endif
        if
        :: atomic { holder == seen -> asleep[t] = 1 };
            if
            :: atomic { !asleep[t] -> skip }
            :: atomic { timed && holder == 0 -> asleep[t] = 0 }     /* to look again in vain changes nothing */
            fi
        :: atomic { holder != seen -> skip }
        fi
    od;
    waiting--
}

inline open(t)
{
    atomic { assert(holder == t && place == 0); holder = 0 };
    wake_if_waiting()
}

/* Two steps: who leaves between them leaves without the wake. */
inline drop(at)
{
    atomic { if :: holder == T && place == at -> holder = 0; place = 0; dropped = 1 :: else -> dropped = 0 fi };
    if
    :: dropped -> wake_if_waiting()
    :: else
    fi
}

/* BROKEN_PLACE_LATER: who is where the copy will lie is not in the word from the beginning. */
inline try(at)
{
    copy[at] = 1;
    atomic {
        if
        :: holder == 0 && waiting == 0 ->
            holder = T;
            got = 1;
#ifndef BROKEN_PLACE_LATER
            place = at
#endif
        :: else -> got = 0
        fi
    }
#ifdef BROKEN_PLACE_LATER
    if :: got -> place = at :: else fi
#endif
}

#ifdef BROKEN_COPY_ALONE
#define gone(from) (!copy[place])
#else
#ifdef BROKEN_NESTED_IS_GONE
#define gone(from) 1
#else
#define gone(from) ((from) < place || !copy[place])
#endif
#endif

/* sgc_gc_lock_recover, called from that level: is the GC lock held for a frame that is still there?  BROKEN_LOOKS_TWICE: a handler
 * comes between, with a hold of its own that it leaves. */
inline look(from)
{
    atomic { was = place; left = holder == T && place != 0 && gone(from); mine = holder == T && !left };
    if
    :: left -> drop(was)
    :: else
    fi;
#ifdef BROKEN_LOOKS_TWICE
    mine = holder == T
#endif
}

/* The frames below that level are gone. */
inline forget(level)
{
    runs[3] = 0;
    if :: copy[3] = 0 :: skip fi;
    if
    :: (level) == 0 ->
        runs[1] = 0;
        if :: copy[1] = 0 :: skip fi
    :: else
    fi
}

/* The program's callback, which may jump to where the handler or the program called. */
inline callback(at)
{
    atomic { runs[at] = 1; check() };
    if
    :: skip
    :: at == 3 && handling -> jumps = 1
    :: atomic { at == 1 -> forget(0); jump = 1 }
    fi;
    atomic { if :: !jumps -> runs[at] = 0 :: else fi }
}

/* GC_call_with_alloc_lock.  In a handler the program may jump into the handler's own frame, or out of it. */
inline call(at)
{
    try(at);
    if
    :: got
    :: !got ->
#ifdef BROKEN_NEVER_LOOKS
        mine = holder == T;
#else
        look(at - 1);
#endif
        if
        :: mine -> nested = 1
        :: !mine ->
            guarded = 1;
            copy[at] = 1;
#ifndef BROKEN_WAITS_FOR_ITSELF
            if :: holder == T -> drop(place) :: else fi;
#endif
            take(T, at);
            guarded = 0
        fi
    fi;
    callback(at);
    if
    :: jumps || nested
    :: else -> drop(at)
    fi;
    nested = 0
}

proctype Thread() provided (!handling)
{
    byte ops, seen, was;
    bit mine, timed, got, left, dropped, nested, jumps;

    do
    :: ops < OPS ->
        ops++;
        { call(1); atomic { forget(0) } } unless { atomic { jump -> jump = 0; got = 0; nested = 0 } }
    :: ops == OPS -> break
    od;
    atomic { guarded = 1; runs[1] = 0 };
#ifndef BROKEN_NEVER_LOOKS
    look(0);
#endif
    over = 1
}

/* Signals are let in again when the thread jumps. */
proctype Handler()
{
    byte count, seen, was;
    bit mine, timed, got, left, dropped, nested, jumps;

    do
    :: atomic { count < SIGNALS && !guarded && !over -> handling = 1; count++ };
        if
        :: skip
        :: call(3)
        fi;
        atomic { forget(1); jumps = 0 };
        if
        :: atomic { skip -> handling = 0 }
        :: atomic { skip -> forget(0); jump = 1; handling = 0 }
        fi
    :: count == SIGNALS || over -> break
    od
}

proctype Other()
{
    byte takes, seen;
    bit timed;

    do
    :: takes < TAKES ->
        takes++;
        take(W, 0);
        atomic { w_has = 1; check() };
        w_has = 0;
        open(W)
    :: takes == TAKES -> break
    od
}

init { atomic { run Thread(); run Handler(); run Other() } }
