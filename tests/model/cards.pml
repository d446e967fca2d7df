/* SPDX-License-Identifier: MIT */
/*
 * Cards of programs that report their writes (platform/written/written_software.c): a thread stores a pointer, then looks at the page's
 * card and sets it if it is not set; the collector clears a card, then a barrier of all threads, then it reads the page.
 * A store that the collector has not read must have left a set card, when the world is stopped for the last time.
 *
 * Each thread has a buffer of stores, which go to memory in their order and at any time, and from which it alone reads
 * earlier, as the processor does.  A barrier waits until each buffer has been empty once; so does stopping the world.  A processor
 * that mixes up its stores, too, needs the release of the card's store, which is not in this model.
 *
 * There is one object without mark, and PLACES words on pages of their own that may lead to it; words are 1 when they do.
 * Each of THREADS has a register, takes the object from a word into it, stores it to a word, clears a word, and forgets it, OPS
 * steps in all.  Clearing is not reported.  The collector arms, scans, makes ROUNDS, and stops the world.  The object is reachable
 * through words and registers, and must then be marked; whoever has the only register keeps it until it has reported.
 */
#ifndef THREADS
#define THREADS 1
#endif
#ifndef PLACES
#define PLACES 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef OPS
#define OPS 3
#endif
#define WATCHED 0
#define WRITTEN 1
#define COLLECTOR THREADS
#define CARD PLACES             /* in a buffer: the words first, then the cards */

byte memory[2 * PLACES];        /* words, then cards: what was never armed counts as written */
chan buffer[THREADS + 1] = [2] of { byte, byte };
byte held[THREADS];             /* registers */
byte doing;                     /* steps of all threads */
bool begun;
bool marked;

/* The oldest of a thread's stores reaches memory. */
inline drain_one(who)
{
    atomic { buffer[who] ? at, value -> memory[at] = value; at = 0; value = 0 }
}

/* The buffers empty themselves, whenever they like. */
active [THREADS + 1] proctype Memory()
{
    byte at, value;

end:
    do
    :: drain_one(_pid)
    od
}

inline put(who, where, what)
{
    atomic { nfull(buffer[who]); buffer[who] ! where, what }
}

/* By its own newest store, if one waits; where two do, once one of them is gone. */
inline get(who, where, result)
{
    atomic {
        if
        :: buffer[who] ?? [eval(where), 0] && !(buffer[who] ?? [eval(where), 1]) -> result = 0
        :: buffer[who] ?? [eval(where), 1] && !(buffer[who] ?? [eval(where), 0]) -> result = 1
        :: !(buffer[who] ?? [eval(where), 0]) && !(buffer[who] ?? [eval(where), 1]) -> result = memory[where]
        fi
    }
}

inline report(p)
{
    skip;
#ifndef BROKEN_FORGET
    get(me, CARD + p, card);
    if
    :: card == WATCHED -> put(me, CARD + p, WRITTEN)
    :: else
    fi;
    card = 0
#endif
}

inline store(p)
{
#ifdef BROKEN_REPORT_FIRST
    report(p);
    put(me, p, 1);
#else
    put(me, p, 1);
#ifdef BROKEN_LET_GO
    held[me] = 0;
#endif
    report(p);
#endif
    held[me] = 0
}

active [THREADS] proctype Thread()
{
    byte me = _pid - THREADS - 1, card;

    begun;
    do
    :: atomic {
            doing < OPS -> doing++;
            if
            :: get(me, 0, held[me])
            :: get(me, 1, held[me])
            fi
        }
    :: atomic { doing < OPS && held[me] == 1 -> doing++ } if :: store(0) :: store(1) fi
    :: atomic { doing < OPS -> doing++ } if :: put(me, 0, 0) :: put(me, 1, 0) fi
    :: atomic { doing == OPS -> break }
    od
}

/* ---- the collector ---- */

inline barrier()
{
    skip;
#ifndef BROKEN_NO_BARRIER
    empty(buffer[COLLECTOR]);
    empty(buffer[0]);
    empty(buffer[THREADS - 1])
#endif
}

inline arm(p)
{
    put(COLLECTOR, CARD + p, WATCHED)
}

inline scan(p)
{
    get(COLLECTOR, p, seen);
    marked = marked | (seen == 1);
    seen = 0
}

/* A card that is written is cleared, and then its page is read. */
inline look_again(p)
{
    get(COLLECTOR, CARD + p, seen);
    if
    :: seen == WRITTEN ->
#ifdef BROKEN_CLEAR_LATE
        scan(p);
        arm(p);
        barrier()
#else
        arm(p);
        barrier();
        scan(p)
#endif
    :: else
    fi;
    seen = 0
}

/* Buffers are empty when everybody stands still. */
inline look_last(p)
{
    if
    :: memory[CARD + p] == WRITTEN -> marked = marked | (memory[p] == 1)
    :: else
    fi
}

active proctype Collector()
{
    byte seen, round;

    atomic { memory[0] = 1; begun = true }
    arm(0);
    arm(1);
    atomic {                                    /* the first stop */
        empty(buffer[COLLECTOR]) && empty(buffer[0]) && empty(buffer[THREADS - 1]);
        marked = marked | (held[0] == 1) | (held[THREADS - 1] == 1)
    }
    scan(0);
    scan(1);
    do
    :: round < ROUNDS -> look_again(0); look_again(1); round++
    :: else -> break
    od;
    atomic {                                    /* the last */
        empty(buffer[COLLECTOR]) && empty(buffer[0]) && empty(buffer[THREADS - 1]);
        marked = marked | (held[0] == 1) | (held[THREADS - 1] == 1);
        look_last(0);
        look_last(1);
        assert(marked || (memory[0] == 0 && memory[1] == 0))
    }
}
