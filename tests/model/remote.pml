/* SPDX-License-Identifier: MIT */
/*
 * Freeing objects of another thread's pages while pages change owner, as doc/design/remote-free.md
 * describes it, for the model checker spin.
 *
 * What is modelled: THREADS threads, each with its owner record, PAGES pages of SLOTS slots whose bits
 * share a word.  The first thread owns all pages and all slots are allocated.  A thread frees any
 * object it can get hold of, drains its inbox or that of the orphans, merges, allocates from pages it owns, adopts
 * orphans, exits and is followed by a new thread that takes over its record, in any order; FREES, ALLOCS and
 * EXITS bound that in all, the rest is bounded by what there is to do.  STOPS times the world is
 * stopped between sections, and the bitmaps flip.  When all threads are through, everybody drains and
 * merges once more and what is left is adopted: then each bit must be what the client thinks.
 * One statement is one access to a shared variable.
 *
 * -DSHARES=1: the first slots are claimed in orphans; what a thread gives up of them is freed like an object.  -DIDLES=1: a
 * thread makes a page that another owns an orphan.  Then the owner's own free is two steps, a load and a store.
 * -DREUSES=1: a page in which nothing is allocated is taken down, and set up by any thread.
 * -DABANDONS=1: one remote free may be left by a long jump out of a client's handler.  Then slots may be lost
 * until the next flip, but no object.
 * -DTWICE=1: one object may be freed twice, by any threads at any time; it is never allocated again.
 *
 * -DBROKEN_x puts one fault in; tests/model/check_remote lists them with the complaint each must cause.
 */
#ifndef THREADS
#define THREADS 3
#endif
#ifndef PAGES
#define PAGES 1
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef FREES
#define FREES 2
#endif
#ifndef ALLOCS
#define ALLOCS 1
#endif
#ifndef EXITS
#define EXITS 1
#endif
#ifndef STOPS
#define STOPS 0
#endif
#ifndef SHARES
#define SHARES 0
#endif
#ifndef IDLES
#define IDLES 0
#endif
#ifndef REUSES
#define REUSES 0
#endif
#ifndef TWICE
#define TWICE 0
#endif
#ifndef ABANDONS
#define ABANDONS 0
#endif

#define FULL   ((1 << SLOTS) - 1)       /* the bits of all slots of a page */
#define ORPHANS THREADS                 /* owner of pages that no thread owns */
#define NONE   200                      /* on no inbox */
#define EMPTY  201                      /* inbox heads and the last link */
#define CLOSED 202
#define NOBODY 203                      /* owner of a page that is not in use */

/* ---- the protocol's variables ---- */
byte alloc[PAGES], rfree[PAGES];        /* bitmaps, a bit a slot */
bit  queued[PAGES], remote[PAGES];
byte owner[PAGES], link[PAGES];
byte inbox[THREADS + 1];
byte arrived[THREADS + 1];              /* taken out of the inbox, not looked at yet; the thread's own, or under the lock */
bit  stale[PAGES];                      /* not swept since the last flip */
bit  usable[PAGES];                     /* the owner, or who has the orphans' lock, will look at the page again */
bit  lock[THREADS + 1];                 /* of the caches' lists, and of the orphans' */

/* ---- what only the checks and the bounds see ---- */
byte live[PAGES];                       /* what the client holds; cleared when its call of free begins */
byte on[PAGES];                         /* on whose inbox, or among whose arrived pages, it is */
byte sections;                          /* how many threads are in a section */
byte through;                           /* how many of the processes have ended for good */
byte frees_left = FREES, allocs_left = ALLOCS, exits_left = EXITS, stops_left = STOPS;
byte idles_left = IDLES, reuses_left = REUSES, abandons_left = ABANDONS, twice_left = TWICE, reported;
bit  returned;                          /* the first free of the object freed twice has returned */

/* A second free was found: right only if there may be one. */
#define complain d_step { assert(reported < TWICE); reported++ }

#include "remote_protocol.pml"

/* Any page that passes the test */
#define some(test)        (test(0) || test(PAGES - 1))
#define choose_page(test) if :: test(0) -> p = 0 :: test(PAGES - 1) -> p = PAGES - 1 fi

/* What may be allocated: all slots, but for the one that is freed twice */
#define vacant(q)    (~alloc[q] & ((TWICE && (q) == 0) -> 2 : FULL))
#define has_room(q)  (owner[q] == me && (vacant(q) || stale[q]))
#define mergeable(q) (owner[q] == me && usable[q])
#define orphaned(q)  (owner[q] == ORPHANS && (usable[q] || stale[q]))
#ifdef BROKEN_LEAVES_SWEPT
#define idle(q)      (owner[q] != ORPHANS && owner[q] != me && !lock[owner[q]])
#else
#define idle(q)      (owner[q] != ORPHANS && owner[q] != me && stale[q] && !lock[owner[q]])
#endif

#define emptied(q)   (alloc[q] == 0 && ((owner[q] == me && !lock[me]) || (owner[q] == ORPHANS && !lock[ORPHANS])))

/* The client gives one of its objects up; or, once, one that somebody has given up already. */
inline choose_object()
{
    if
    :: live[0] & 1 -> p = 0; bit_ = 1
    :: live[0] & 2 -> p = 0; bit_ = 2
    :: live[PAGES - 1] & 1 -> p = PAGES - 1; bit_ = 1
    :: twice_left && !(live[0] & 1) -> twice_left--; p = 0; bit_ = 1; second = (returned -> 2 : 1)
    fi;
    live[p] = live[p] & ~bit_
}

inline take_slot()
{
    bit_ = ((vacant(p) & 1) -> 1 : 2);
    assert(!(live[p] & bit_));
    assert(!(rfree[p] & bit_));
    alloc[p] = alloc[p] | bit_;
    live[p] = live[p] | bit_
}

/* The page may have left its owner while that waited for its lock. */
inline allocate()
{
    sweep_own(p);
    atomic {
        if
        :: owner[p] == me && !stale[p] && vacant(p) -> take_slot()
        :: else
        fi;
        p = 0; bit_ = 0; sections--
    }
}

/* With the orphans' lock: the page is usable again when it has been looked at, if it has room. */
inline allocate_shared()
{
    sweep(p);
    merge(p);
    b = alloc[p];
    if
    :: atomic { vacant(p) -> bit_ = ((vacant(p) & 1) -> 1 : 2); assert(!(live[p] & bit_)); assert(!(rfree[p] & bit_)) }
    :: !vacant(p)
    fi;
    alloc[p] = b | bit_;
    atomic { live[p] = live[p] | bit_; usable[p] = (bit_ != 0); unlock_claim; b = 0; p = 0; bit_ = 0; sections-- }
}

proctype Thread(byte me)
{
    byte p, bit_, o, head, r, b;
    bit pushed, closed, told;
    byte second;                        /* frees what another frees, too: 1; what has been freed: 2 */
    do
    :: atomic { frees_left && (live[0] || (live[PAGES - 1] & 1)) -> frees_left--; sections++; choose_object() }
        sweep_own(p);
        if
        :: owner[p] == me ->
            free_here();
            assert(second != 2 || reported)         /* the owner refuses at once what is known to be free */
        :: owner[p] != me -> free_there()
        fi;
        atomic {
            if :: p == 0 && bit_ == 1 -> returned = TWICE :: else fi;
            second = 0; p = 0; bit_ = 0; sections--
        }
    :: atomic { arrived[me] != EMPTY || inbox[me] != EMPTY -> sections++ }
        drain(me);
        sections--
    :: atomic { !lock[ORPHANS] && (arrived[ORPHANS] != EMPTY || inbox[ORPHANS] != EMPTY) -> lock[ORPHANS] = 1; sections++ }
        drain(ORPHANS);
        atomic { lock[ORPHANS] = 0; sections-- }
    :: atomic { some(mergeable) -> sections++; choose_page(mergeable); usable[p] = 0 }
        sweep_own(p);
        if
        :: owner[p] == me -> merge(p)
        :: owner[p] != me
        fi;
        atomic { p = 0; sections-- }
    :: atomic { allocs_left && some(has_room) -> allocs_left--; sections++; choose_page(has_room) }
        allocate()
    :: atomic { !lock[ORPHANS] && some(orphaned) -> lock[ORPHANS] = 1; sections++; choose_page(orphaned); usable[p] = 0 }
        adopt();
        sections--
    :: atomic { SHARES && allocs_left && may_claim && some(orphaned) -> lock_claim; allocs_left--; sections++;
                choose_page(orphaned); usable[p] = 0 }
        allocate_shared()
    :: atomic { idles_left && !lock[ORPHANS] && some(idle) -> idles_left--; sections++; lock[ORPHANS] = 1; choose_page(idle);
                o = owner[p]; lock[o] = 1 }
        leave_idle();
        sections--
#if REUSES
    :: atomic { reuses_left && some(emptied) -> reuses_left--; sections++; choose_page(emptied); usable[p] = 0; owner[p] = NOBODY }
        reuse();
        atomic { p = 0; sections-- }
#endif
    :: atomic { exits_left -> exits_left--; sections++ }
        exit();
        sections--;
        if
        :: inbox[me] = EMPTY            /* a new thread takes the record over */
        :: break                        /* or nobody does */
        fi
    :: break
    od;
    through++
}

/* ---- the collector: what a marker takes as allocated is what the client holds; then the flip ---- */

#define seen(q) (alloc[q] & ~(remote[q] -> rfree[q] : 0))

proctype World()
{
    byte q;
    do
    :: atomic {
            stops_left && sections == 0 -> stops_left--;
            do
            :: q < PAGES ->
                assert((live[q] & ~seen(q)) == 0);
                assert(ABANDONS || seen(q) == live[q]);
                alloc[q] = live[q];
                stale[q] = 1; usable[q] = 0;
                q++
            :: else -> q = 0; break
            od
        }
    :: break
    od;
    through++
}

/* ---- when all threads are through ---- */

/* A freed slot that is not free yet is known as such, and somebody will come by. */
inline check_quiet()
{
    do
    :: p < PAGES ->
        assert(owner[p] == NOBODY || inbox[owner[p]] != CLOSED);
        if
        :: !ABANDONS && (alloc[p] & ~live[p]) ->
            assert(!(alloc[p] & ~live[p] & ~rfree[p]));
            assert(usable[p] || stale[p] || (on[p] != NONE && inbox[on[p]] != CLOSED))
        :: else
        fi;
        p++
    :: else -> p = 0; break
    od
}

/* A page may be on the inbox of a record that is not its owner's any more: a second round sees to it. */
inline drain_everybody()
{
    do
    :: me <= ORPHANS && (arrived[me] != EMPTY || (inbox[me] != EMPTY && inbox[me] != CLOSED)) -> drain(me)
    :: me <= ORPHANS && arrived[me] == EMPTY && (inbox[me] == EMPTY || inbox[me] == CLOSED) -> me++
    :: me > ORPHANS -> me = 0; break
    od
}

inline merge_everything()
{
    do
    :: p < PAGES ->
        if :: usable[p] || stale[p] -> merge(p) :: else fi;
        p++
    :: else -> p = 0; break
    od
}

inline check_end()
{
    do
    :: p < PAGES ->
        assert(!(live[p] & ~alloc[p]));
        assert(!(live[p] & rfree[p]));
        assert(on[p] == NONE);
        assert(ABANDONS || (alloc[p] == live[p] && !queued[p]));
        p++
    :: else -> p = 0; break
    od;
    /* where a flip comes in between, it may free the slot before the merge tells */
    assert(reported == TWICE - twice_left || (STOPS && reported < TWICE - twice_left))
}

proctype Finale()
{
    byte me, p, o, head, r;
    bit pushed, told;
    atomic {
        through == THREADS + 1;
        check_quiet();
        drain_everybody();
        drain_everybody();
        merge_everything();
        check_end()
    }
}

init
{
    byte q;
    atomic {
        do
        :: q < THREADS -> inbox[q] = EMPTY; arrived[q] = EMPTY; run Thread(q); q++
        :: else -> inbox[q] = EMPTY; arrived[q] = EMPTY; q = 0; break
        od;
        do
        :: q < PAGES -> alloc[q] = FULL; live[q] = FULL; owner[q] = 0; link[q] = EMPTY; on[q] = NONE; q++
        :: else -> q = 0; break
        od;
        run World();
        run Finale()
    }
}
