/* SPDX-License-Identifier: MIT */
/*
 * Stopping and resuming the world, as doc/design/world.md describes it, for the model checker spin.
 *
 * What is modelled: MUTATORS threads, each with a signal handler that interrupts it (while the
 * process Suspend handles a signal the process Thread stands still: `provided`), futexes, the
 * registry's lock, the GC lock, and STOPS stops, of which GIVE_UPS may be given up.  A mutator does
 * OPS operations, in any order: a section, left properly or by a long jump out of a client's
 * handler; a blocked region; leaving the registry and coming back, which takes a lock and so is a
 * section under a guard; a collection of its own.  With SUSPENDS the last thread suspends the first one so often, in a stop of
 * its own, and lets it go again, in between collecting as it likes.  With LEAVES threads open the GC lock and publish after
 * that what they have changed; who is let pass runs on until it has.  With PINS who collects pins the first thread.  A thread that vanishes leaves its record behind, and its
 * number, which a thread that is not registered may have from then on: what is left of the process Thread t is that one, and takes signals.  One statement is one access to a shared
 * variable; what a thread does alone with its own variables is folded into its neighbours.
 *
 * Shapes: the default has one collecting thread and MUTATORS mutators; with -DPEERS there is none,
 * and every mutator may collect.
 *
 * -DBROKEN_x puts one fault in; tests/model/check_stop lists them with the complaint each must cause.
 */
#ifndef MUTATORS
#define MUTATORS 2
#endif
#ifndef STOPS
#define STOPS 2
#endif
#ifndef OPS
#define OPS 1
#endif
#ifndef GIVE_UPS
#define GIVE_UPS 0
#endif
#ifndef EARLY
#define EARLY 0                         /* resends in each stop before anything is stuck */
#endif
#ifndef PEERS
#define PEERS 0                         /* 1: any mutator collects; 0: only a thread of its own does */
#endif
#ifndef SUSPENDS
#define SUSPENDS 0                      /* of the stops */
#endif
#ifndef VANISHING
#define VANISHING 0                     /* threads that end without a word */
#endif
#ifndef REFUSALS
#define REFUSALS 0                      /* times that the system refuses to send a signal, in a thread's first asking */
#endif
#ifndef LEAVES
#define LEAVES 0                        /* 1: threads open the GC lock, and publish just after that what they have changed */
#endif
#ifndef PINS
#define PINS 0                          /* 1: who collects pins the first thread before, if that counts as stopped */
#endif
#define THREADS (MUTATORS + 1 - PEERS)
#define mutates(t)  (t < MUTATORS)
#define collects(t) (PEERS || t == MUTATORS)

#define BLOCKED 1
#define STOPREQ 2
#define ACKED   4
#define COUNTED (BLOCKED | ACKED)       /* with STOPREQ: this thread is not missing */
#define SUSPENDED 16
#define PINNED  32
#define TO_STAY (SUSPENDED | PINNED)
#define BY_HANDLER 8                    /* for the checks: the handler acknowledged */

#define MAIN    1                       /* whose frame was published as stack pointer */
#define HANDLER 2

#define ON_GEN     1                    /* what a sleeper sleeps on */
#define ON_MISSING 2
#define ON_STATE   3

#define VICTIM 0                        /* who is suspended, and by whom */
#define suspends(t) (may_suspend && t == THREADS - 1)

/* ---- the protocol's variables ---- */
byte  state[THREADS];
bit   section[THREADS];                 /* the recorded stack pointer: set or zero */
byte  sp[THREADS];
bit   self[THREADS];                    /* the thread-local pointer to the record is set */
bit   registered[THREADS];
bit   signalled[THREADS];               /* in this stop; the stopper's own note */
bit   out[THREADS];                     /* found to be gone: counts no more; likewise */
byte  gen;
short missing;
bit   registry_lock, gate;
bit   leaves[THREADS];                  /* it has opened the GC lock */
bit   passed[THREADS];                  /* asked, and let go on */
byte  stranger, stranger_gen;           /* who was signalled last without being registered, + 1, and in which stop */

/* ---- the machine ---- */
bit   sent[THREADS];                    /* a suspend signal is pending in the kernel */
bit   masked[THREADS];                  /* the thread has blocked all signals */
bit   guarded[THREADS];                 /* all but the suspend signal */
bit   guards[THREADS];                  /* the thread's count of guards is not zero */
bit   in_handler[THREADS];
byte  asleep[THREADS], asleep_in_handler[THREADS];

/* ---- what only the checks and the bounds see ---- */
bit   stopped;                          /* the stopper believes the world stopped */
byte  stopper;
bit   gone[THREADS];                    /* the frame that section[] recorded has been jumped out of */
bit   jumped[THREADS];                  /* in this stop a long jump may have lost a request */
bit   by_client[THREADS];               /* it is the client's own wish to be in a blocked region */
bit   reached_zero;                     /* missing has been zero in this stop */
bit   settling;                         /* this stop has been given up */
bit   stalled;                          /* a resend was due and nobody was counted since */
bit   stays_there[THREADS];             /* suspended, it stays in its handler */
bit   half_done[THREADS];               /* the program has not published yet what it has changed */
bit   held;                             /* VICTIM is suspended, and the stop of it is over or about to be */
bit   may_suspend = SUSPENDS != 0;      /* no constant, or spin numbers the statements of each shape otherwise */
bit   vanished[THREADS];                /* its record says a number that is nobody's, or another thread's */
byte  vanishing_left = VANISHING, refusals_left = REFUSALS;
byte  only;                             /* this stop is of one thread: its number + 1 */
byte  stops_left = STOPS, give_ups_left = GIVE_UPS, suspends_left = SUSPENDS;

/* The mutator changes heap data: never while another has the world stopped, or while it is suspended. */
#define touch(t) assert((!stopped || stopper == t) && !(held && t == VICTIM))

/* The threads that a stop concerns; the registry's lock keeps them the same throughout. */
#define concerned(k) (registered[k] && !out[k] && (k) != stopper && (only == 0 || only == (k) + 1))

#include "stop_thread.pml"
#include "stop_stopper.pml"

/* ---- threads ---- */

proctype Thread(byte t) provided (!in_handler[t])
{
    byte ops, s, g, k, i, left, early;
    bit last, mine, gave_up, woken, won, one;
    do
    :: atomic { mutates(t) && ops < OPS -> ops++; touch(t) }
        if
        :: use_section(t)
        :: enter_blocked(t, 1); leave_blocked(t)
        :: register_anew(t)
#if LEAVES
        :: open_gate(t)
#endif
        fi
    :: atomic { mutates(t) && vanishing_left > 0 -> vanishing_left--; vanish(t); break }
    :: atomic {
            collects(t) && stops_left > 0 && (!PEERS || ops < OPS) -> stops_left--; ops++;
            if
            :: suspends(t) && suspends_left > 0 && !held -> suspends_left--; one = 1
            :: skip
            fi
        }
        collect(t)
    :: atomic { suspends(t) && held -> skip }
        unsuspend(t)
    :: atomic { (mutates(t) -> ops >= OPS : stops_left == 0) && !(suspends(t) && held) -> touch(t); break }
    od
}

init
{
    byte k;
    atomic {
        do
        :: k < THREADS -> self[k] = 1; registered[k] = 1; run Suspend(k); run Thread(k); k++
        :: else -> k = 0; break
        od
    }
}
