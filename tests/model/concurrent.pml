/* SPDX-License-Identifier: MIT */
/*
 * Marking beside the program: what is armed, read, armed again and read again, and in which order, so that no reachable
 * object is without mark when the bits change roles.  doc/design/concurrent.md has the conditions C1 to C4 and C12
 * that are checked here.
 *
 * Objects are slots with one word each; PER_PAGE of them lie on a page whose writes are noted.  The mutator has two
 * registers and a static word and does what a program does, in any order: loads, stores, allocates, forgets.  New objects are
 * white.  The last slot lies in an arena that is committed when it is first needed, above the limit that the markers
 * know.  The collector runs one cycle; its stops are atomic, as the mutator stands still.
 *
 * -DOPS= (steps of the mutator), -DSLOTS=, -DPER_PAGE=, -DROUNDS= (of pre-cleaning), -DATTEMPTS= (final stops that give up before the one that does not).
 *
 * The memory is sequentially consistent here.  A store and the note that its page was written are one step: the
 * processor takes the fault before it stores.  That re-arming and reading are not mixed up by store buffers is the barrier's
 * doing, after re-arming.
 */
#ifndef SLOTS
#define SLOTS 3
#endif
#ifndef PER_PAGE
#define PER_PAGE 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef ATTEMPTS
#define ATTEMPTS 1
#endif
#ifndef OPS
#define OPS 8
#endif
#define NONE SLOTS
#define PAGES ((SLOTS + PER_PAGE - 1) / PER_PAGE)
#define PAGE(s) ((s) / PER_PAGE)

byte field[SLOTS];
bit allocated[SLOTS];
bit marked[SLOTS];
bit scanned[SLOTS];             /* the collector's: taken off the mark stack */
bit written[PAGES];             /* not proven clean */
bit dirty[PAGES];               /* the collector's copy, of a round */
byte a = NONE, b = NONE, fixed = NONE;
byte heap_limit = SLOTS - 1;    /* slots below are committed */
byte limit;                     /* the markers' copy */

/* ---- the program ---- */

inline allocate()
{
    if
    :: !allocated[0] -> s = 0
    :: !allocated[1] -> s = 1
    :: SLOTS > 2 && !allocated[2] -> s = 2
    :: SLOTS > 3 && !allocated[3] -> s = 3
    fi;
    allocated[s] = 1;
    field[s] = NONE;
    written[PAGE(s)] = 1;
    if
    :: s >= heap_limit -> heap_limit = SLOTS
    :: else
    fi;
    a = s;
    s = 0
}

active proctype mutator()
{
    byte s, ops;

    do
    :: atomic { ops < OPS && fixed != NONE -> ops++; a = fixed }
    :: atomic { ops < OPS -> ops++; fixed = a }
    :: atomic { ops < OPS -> ops++; b = a }
    :: atomic { ops < OPS && a != NONE -> ops++; a = field[a] }
    :: atomic { ops < OPS && a != NONE -> ops++; written[PAGE(a)] = 1; field[a] = b }
    :: atomic { ops < OPS && a != NONE -> ops++; written[PAGE(a)] = 1; field[a] = NONE }
    :: atomic { ops < OPS -> ops++; a = NONE }
    :: atomic { ops < OPS && !(allocated[0] && allocated[1] && (SLOTS < 3 || allocated[2]) && (SLOTS < 4 || allocated[3])) -> ops++; allocate() }
    :: atomic { ops == OPS -> break }
    od
}

/* ---- marking ---- */

inline mark(word)
{
    if
    :: word < limit && allocated[word] && !marked[word] -> marked[word] = 1; scanned[word] = 0
    :: else
    fi
}

/* Reading a word and marking by it are two steps. */
inline scan(s)
{
    word = field[s];
    atomic { mark(word); word = NONE }
}

inline drain()
{
    do
    :: atomic { marked[0] && !scanned[0] -> scanned[0] = 1 } scan(0)
    :: atomic { marked[1] && !scanned[1] -> scanned[1] = 1 } scan(1)
    :: atomic { SLOTS > 2 && marked[2] && !scanned[2] -> scanned[2] = 1 } scan(2)
    :: atomic { SLOTS > 3 && marked[3] && !scanned[3] -> scanned[3] = 1 } scan(3)
    :: else -> break
    od
}

inline mark_roots()
{
    mark(a);
    mark(b);
    mark(fixed)
}

inline rescan(s)
{
#ifdef BROKEN_ONLY_UNSCANNED
    if
    :: marked[s] && !scanned[s] && dirty[PAGE(s)] -> scan(s)
    :: else
    fi
#else
    if
    :: marked[s] && dirty[PAGE(s)] -> scan(s)
    :: else
    fi
#endif
}

inline rescan_dirty()
{
    i = 0;
    do
    :: i < SLOTS -> rescan(i); i++
    :: else -> i = 0; break
    od
}

/* Which pages were written; `again`: they are watched anew, page by page, each in one step. */
inline collect(again)
{
    i = 0;
    do
    :: i < PAGES ->
        atomic {
            dirty[i] = written[i];
            written[i] = written[i] & !again;
        }
        i++
    :: else -> i = 0; break
    od
}

/* ---- the cycle ---- */

inline take_limit()
{
    limit = heap_limit
}

inline arm()
{
    do
    :: i < PAGES -> written[i] = 0; i++
    :: else -> i = 0; break
    od
}

inline preclean()
{
#ifdef BROKEN_READ_BEFORE_REARM
    collect(0);
    rescan_dirty();
    arm();
#else
    collect(1);
#ifndef BROKEN_OLD_LIMIT
    take_limit();
#endif
    rescan_dirty();
#endif
    drain()
}

/* Everything reachable is marked? */
inline check()
{
    i = 0;
    d_step {
        if :: a != NONE -> assert(marked[a]) :: else fi;
        if :: b != NONE -> assert(marked[b]) :: else fi;
        if :: fixed != NONE -> assert(marked[fixed]) :: else fi;
        do
        :: i < SLOTS ->
            if
            :: marked[i] && field[i] != NONE -> assert(marked[field[i]])
            :: else
            fi;
            i++
        :: else -> i = 0; break
        od
    }
}

active proctype collector()
{
    byte i, round, attempt, word = NONE;

#ifdef BROKEN_ARM_LATE
    atomic { take_limit(); mark_roots() }
    drain();
    arm();
#else
    arm();
    atomic { take_limit(); mark_roots() }
    drain();
#endif
    do
    :: round < ROUNDS -> preclean(); round++
    :: break
    od;
    do
    :: atomic {
            attempt < ATTEMPTS ->       /* a stop that is given up: its marks stay, what it has not done is left to the next */
            attempt++;
            collect(0);
#ifdef BROKEN_GIVEN_UP_CLEAN
            arm();
#endif
            take_limit();
            mark_roots();
        }
        drain()
    :: break
    od;
    atomic {
        collect(0);
        take_limit();
#ifndef BROKEN_NO_ROOTS
        mark_roots();
#endif
        rescan_dirty();
        drain();
        check()
    }
}
