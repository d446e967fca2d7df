/* SPDX-License-Identifier: MIT */
/*
 * What the bits of a page say over several cycles, some of them beside the program: allocation and mark bits, the flip, the
 * first sweep after it, clearing, frees by the owner and by others.  doc/design/concurrent.md, C5 and C7 to C9.
 *
 * One page of two slots, of which the second is uncollectable.  Two bitmaps: `role` is the one that says what is allocated.  A
 * slot that is freed after it was marked would come back by the flip; so who clears an allocation bit notes the page, and
 * before the flip the marks of a noted page are reduced to what is allocated.  While marking goes on nothing is swept or
 * cleared, and the common path of freeing, which notes nothing, finds no page.
 *
 * A slot's state is what the client knows: nobody's, claimed by the owner but not handed out, held, dropped without a free,
 * freed.  After each flip held slots are allocated, and those that nobody has are not.
 *
 * What is reached only by way of objects that the marker has done with is not looked at again in the last stop: `done`.  A new
 * object is; the page that it lies on has been written.
 *
 * -DOPS= (of the owner), -DFREES= (by another thread), -DCYCLES=.
 *
 * Sweeping, and what the owner does in a section, is one thread's at a time (`busy`); stops are atomic, and wait for that.
 * Clearing runs beside everything, and is waited for before a mark.
 */
#ifndef OPS
#define OPS 4
#endif
#ifndef FREES
#define FREES 1
#endif
#ifndef CYCLES
#define CYCLES 2
#endif

#define SLOTS 2
#define UNCOLLECTABLE(s) ((s) == 1)
#define BIT(which, s) bitmap[(which) * SLOTS + (s)]
#define OTHER (1 - role)
#define EACH(operation) operation(0); operation(1)

mtype = { NOBODYS, CLAIMED, HELD, DROPPED, FREED };

bit bitmap[2 * SLOTS];
bit remote[SLOTS];              /* freed by another thread, not merged yet */
bit done[SLOTS];                /* the marker has marked the object that is there */
mtype state[SLOTS] = NOBODYS;
bit role;
bit swept = 1;                  /* the page's tag is this epoch's */
bit marking;                    /* beside the program */
bit noted;                      /* something was freed meanwhile */
bit uncleared, clearing;        /* marks are to be cleared; a thread is at it */
bit whatever_the_tag;           /* in a swept page, too */
bit busy;                       /* a thread is in a section with this page: stops wait for it */
byte working = 2;               /* owner and other thread */

inline note()
{
    if
    :: marking -> noted = 1
    :: else
    fi
}

/* ---- sweeping, with `busy` ---- */

inline merge(s)
{
    if
    :: atomic { remote[s] -> remote[s] = 0 };
#ifndef BROKEN_MERGE_UNNOTED
        note();
#endif
        BIT(role, s) = 0
    :: else
    fi
}

inline clear_mark(s)
{
    BIT(OTHER, s) = 0
}

inline sweep()
{
    if
    :: !swept ->
        EACH(merge);
        EACH(clear_mark);
        swept = 1
    :: else
    fi
}

/* ---- the owner ---- */

inline claim(s)
{
    if
    :: !BIT(role, s) ->
        assert(state[s] != HELD);
        BIT(role, s) = 1;
        state[s] = CLAIMED
    :: else
    fi
}

inline hand_out(s)
{
    atomic { state[s] == CLAIMED -> state[s] = HELD; done[s] = 0 }
}

/* The cache's tag for this is the page's. */
inline free_commonly(s)
{
#ifdef BROKEN_FREES_COMMONLY
    atomic { state[s] == HELD && swept -> state[s] = FREED };
#else
    atomic { state[s] == HELD && swept && !marking -> state[s] = FREED };
#endif
    BIT(role, s) = 0
}

/* A jump out of a handler leaves it in the middle. */
inline free_slowly(s)
{
    atomic { state[s] == HELD -> state[s] = DROPPED };
    sweep();
#ifdef BROKEN_NOTED_AFTER
    atomic { BIT(role, s) = 0; state[s] = FREED };
    if
    :: true -> note()
    :: skip
    fi
#else
#ifndef BROKEN_FREE_UNNOTED
    note();
#endif
    if
    :: atomic { BIT(role, s) = 0; state[s] = FREED }
    :: skip
    fi
#endif
}

active proctype owner()
{
    byte ops;

    do
    :: atomic { ops < OPS && !busy -> busy = 1; ops++ };
        if
        :: true -> sweep(); EACH(claim)
        :: hand_out(0)
        :: hand_out(1)
        :: free_commonly(0)
        :: free_commonly(1)
        :: free_slowly(0)
        :: free_slowly(1)
        :: true -> sweep(); EACH(merge)
        :: atomic { state[0] == HELD -> state[0] = DROPPED }
        :: atomic { state[1] == HELD -> state[1] = DROPPED }
        :: skip
        fi;
        busy = 0
    :: atomic { ops == OPS && !busy -> working--; break }
    od
}

/* ---- another thread, which frees what it was given ---- */

inline free_remotely(s)
{
    atomic { state[s] == HELD -> state[s] = FREED; remote[s] = 1 }
}

active proctype other()
{
    byte frees;

    do
    :: frees < FREES ->
        if
        :: free_remotely(0)
        :: free_remotely(1)
        :: skip
        fi;
        frees++
    :: atomic { frees == FREES -> working--; break }
    od
}

/* ---- work between cycles ---- */

inline clear_if_needed()
{
    if
    :: !swept || whatever_the_tag -> EACH(clear_mark)
    :: else
    fi;
    clearing = 0
}

active proctype background()
{
    do
#ifdef BROKEN_SWEEPS_MARKING
    :: atomic { !busy && (!swept || marking) -> busy = 1; swept = 0 };
#else
    :: atomic { !busy && !swept -> busy = 1 };
#endif
        sweep();
        busy = 0
    :: atomic { uncleared -> uncleared = 0; clearing = 1 };
        clear_if_needed()
    :: working == 0 -> break
    od
}

/* ---- cycles ---- */

inline clear_before()
{
    if
    :: atomic { uncleared -> uncleared = 0; clearing = 1 };
        clear_if_needed()
    :: else
    fi;
#ifndef BROKEN_CLEARS_MARKING
    !clearing
#endif
}

inline begin_clearing(all)
{
    uncleared = 1;
    whatever_the_tag = all
}

inline retire(s)
{
    if
    :: state[s] == CLAIMED ->
#ifndef BROKEN_RETIRE_UNNOTED
        note();
#endif
        BIT(role, s) = 0;
        state[s] = NOBODYS
    :: else
    fi
}

/* In a stop: from the roots. */
inline mark(s)
{
    if
    :: BIT(role, s) && !remote[s] && !done[s] && (state[s] == HELD || UNCOLLECTABLE(s)) ->
        BIT(OTHER, s) = 1;
        done[s] = 1
    :: else
    fi
}

/* Whatever has an allocation bit may be found, by a stray word, and marked a while after. */
inline maybe_mark(s)
{
    if
    :: BIT(role, s) && !remote[s] -> atomic { BIT(OTHER, s) = 1; done[s] = 1 }
    :: skip
    fi
}

inline reduce(s)
{
    BIT(OTHER, s) = BIT(OTHER, s) && BIT(role, s)
}

inline forget(s)
{
    done[s] = 0
}

inline finish()
{
    if
    :: noted -> EACH(reduce)
    :: else
    fi;
    noted = 0;
    marking = 0
}

inline expect_right(s)
{
    assert(state[s] != HELD || BIT(role, s));
    assert((state[s] != FREED && state[s] != NOBODYS) || !BIT(role, s) || remote[s])
}

inline flip()
{
    role = OTHER;
    swept = 0;
    EACH(forget);
    begin_clearing(0)
}

inline expect_clear(s)
{
    assert(!BIT(OTHER, s))
}

inline concurrent_cycle()
{
#ifndef BROKEN_BEGINS_UNSWEPT
    atomic { !busy -> busy = 1 };
    sweep();
    busy = 0;
#endif
    clear_before();
    atomic { !busy -> EACH(retire); EACH(expect_clear); marking = 1 };
    EACH(maybe_mark);
    if
    :: atomic { !busy -> EACH(retire); EACH(mark) };                /* tried in vain */
        EACH(maybe_mark)
    :: skip
    fi;
    if
#ifdef BROKEN_FINISHES_LATE
    :: atomic { !busy -> EACH(retire); EACH(mark); flip(); finish(); EACH(expect_right) }
#else
    :: atomic { !busy -> EACH(retire); EACH(mark); finish(); flip(); EACH(expect_right) }
#endif
    :: atomic { !busy -> noted = 0; marking = 0; EACH(forget); begin_clearing(1) }     /* given up */
    fi
}

inline stopped_cycle()
{
    clear_before();
    atomic {
        !busy ->
        EACH(retire);
        EACH(expect_clear);
        EACH(mark);
        flip();
        EACH(expect_right)
    }
}

active proctype collector()
{
    byte cycles;

    do
    :: cycles < CYCLES -> cycles++;
        if
        :: true -> concurrent_cycle()
        :: true -> stopped_cycle()
        fi
    :: cycles == CYCLES -> break
    od;
    atomic {
        working == 0 && !busy ->
        EACH(retire);
        sweep();
        EACH(expect_right)
    }
}
