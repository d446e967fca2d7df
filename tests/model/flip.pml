/* SPDX-License-Identifier: MIT */
/*
 * What the bits of a page say over several cycles, some of them concurrent: allocation and mark bits, the flip, the first sweep
 * after it, frees by the owner and by others.  doc/design/concurrent.md, C5 and C7 to C9.
 *
 * One page of two slots.  Two bitmaps: `role` is the one that says what is allocated.  A concurrent cycle marks while slots
 * are allocated and freed; a slot that is freed after it was marked would come back by the flip, so the first
 * sweep after such a flip takes away what is not in the other bitmap, the allocation bits of before, and clears that then.
 * Until then nobody may touch the other bitmap.
 *
 * A slot's state is what the client knows: nobody's, held, or dropped without a free.  Held slots must stay allocated and must not
 * be handed out; in the end, when all is swept, nothing else may be allocated that was freed.
 *
 * -DOPS= (of the owner), -DFREES= (by another thread), -DCYCLES=.
 *
 * Sweeping is one thread's at a time (`busy`), word by word in the library, a slot a step here.  Stops are atomic: no sweep
 * and no free is in the middle of something then.
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
#define BIT(which, s) bitmap[(which) * SLOTS + (s)]
#define OTHER (1 - role)
#define EACH(operation) operation(0); operation(1)

mtype = { NOBODYS, HELD, DROPPED, FREED };

bit bitmap[2 * SLOTS];
bit remote[SLOTS];              /* freed by another thread, not merged yet */
mtype state[SLOTS] = NOBODYS;
bit role;
bit swept = 1;                  /* the page's tag is this epoch's */
bit merge;                      /* the first sweep of this epoch takes away what is not in the other bitmap */
bit marking;                    /* a concurrent cycle is in progress */
bit busy;                       /* a thread is in a section with this page: stops wait for it */
byte working = 2;               /* owner and other thread */

/* ---- sweeping, with `busy` ---- */

inline sweep_slot(s)
{
#ifdef BROKEN_CLEARS_FIRST
    BIT(OTHER, s) = 0;
#endif
#ifndef BROKEN_COMES_BACK
    if
    :: merge && !BIT(OTHER, s) -> BIT(role, s) = 0
    :: else
    fi;
#endif
    if
    :: atomic { remote[s] -> remote[s] = 0; BIT(role, s) = 0 }
    :: else
    fi;
    BIT(OTHER, s) = 0
}

inline sweep()
{
    if
    :: !swept ->
        assert(!marking);
        i = 0;
        do
        :: i < SLOTS -> sweep_slot(i); i++
        :: else -> i = 0; break
        od;
        swept = 1
    :: swept
    fi
}

/* ---- the owner ---- */

inline take(s)
{
    assert(state[s] != HELD);
    BIT(role, s) = 1;
    state[s] = HELD
}

inline allocate()
{
    sweep();
    if
    :: atomic { !BIT(role, 0) && !remote[0] -> take(0) }
    :: atomic { !BIT(role, 1) && !remote[1] -> take(1) }
    :: else
    fi
}

/* What others have freed arrives in the inbox. */
inline merge_remote(s)
{
    atomic { remote[s] -> remote[s] = 0 }
    sweep();
    BIT(role, s) = 0
}

inline free(s)
{
    atomic { state[s] == HELD -> state[s] = FREED }
    sweep();
    BIT(role, s) = 0
}

active proctype owner()
{
    byte i, ops;

    do
    :: atomic { ops < OPS && !busy -> busy = 1; ops++ }
        if
        :: allocate()
        :: free(0)
        :: free(1)
        :: merge_remote(0)
        :: atomic { state[0] == HELD -> state[0] = DROPPED }
        :: skip
        fi;
        busy = 0
    :: atomic { ops == OPS -> working--; break }
    od
}

/* ---- another thread, which frees what it was given ---- */

inline free_remotely(s)
{
    atomic { !busy && state[s] == HELD -> state[s] = FREED; remote[s] = 1 }
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

inline clear_mark(s)
{
    BIT(OTHER, s) = 0
}

active proctype background()
{
    byte i;

    do
    :: atomic { !busy && !marking && !swept -> busy = 1 }
        if
        :: sweep()
#ifdef BROKEN_CLEARS_AHEAD
        :: true ->
#else
        :: !merge ->                    /* only then are the old bits nobody's */
#endif
            EACH(clear_mark)
        :: skip
        fi;
        busy = 0
    :: working == 0 -> break
    od
}

/* ---- cycles ---- */

inline mark(s)
{
    if
    :: BIT(role, s) && (state[s] == HELD) -> BIT(OTHER, s) = 1
    :: else
    fi
}

/* Anything that has an allocation bit may be found, by a stray word. */
inline maybe_mark(s)
{
    if
    :: atomic { BIT(role, s) -> BIT(OTHER, s) = 1 }
    :: skip
    fi
}

inline flip()
{
    role = OTHER;
    swept = 0
}

inline expect_clear(s)
{
    assert(!BIT(OTHER, s))
}

inline concurrent_cycle()
{
    atomic { !busy -> busy = 1 }
#ifndef BROKEN_MARKS_UNSWEPT
    sweep();
#endif
    atomic { busy = 0; EACH(expect_clear); marking = 1 }
    EACH(maybe_mark);
    if
    :: atomic { !busy -> EACH(mark); flip(); merge = 1; marking = 0 }
    :: atomic { !busy -> EACH(clear_mark); marking = 0 }            /* given up */
    fi
}

inline stop_cycle()
{
    atomic {
        !busy ->
#ifndef BROKEN_STOP_CLEARS
        if
        :: merge -> sweep()
        :: else -> EACH(clear_mark)
        fi;
#else
        EACH(clear_mark);
#endif
        EACH(maybe_mark);
        EACH(mark);
        flip();
        merge = 0
    }
}

inline expect_right(s)
{
    assert((state[s] != HELD || BIT(role, s)) && (state[s] != FREED || !BIT(role, s) || remote[s]))
}

active proctype collector()
{
    byte i, cycles;

    do
    :: cycles < CYCLES -> cycles++;
        if
        :: concurrent_cycle()
        :: stop_cycle()
        fi
    :: cycles == CYCLES -> break
    od;
    atomic {
        working == 0 && !busy ->
        sweep();
        EACH(expect_right)
    }
}
