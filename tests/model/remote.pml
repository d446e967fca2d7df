/* SPDX-License-Identifier: MIT */
/*
 * Freeing objects of another thread's pages while pages change owner, as doc/design/remote-free.md
 * describes it, for the model checker spin.
 *
 * What is modelled: THREADS threads, each with its owner record, PAGES pages of two slots whose
 * bits share a word.  The first thread owns all pages and all slots are allocated.  A thread frees
 * any object it can get hold of, drains its inbox, allocates from pages it owns, adopts orphans,
 * exits and is followed by a new thread that takes over its record, in any order; FREES, ALLOCS and
 * EXITS bound that in all, drains and adoptions are bounded by what there is to do.  STOPS times the
 * world is stopped between sections, and the bitmaps flip.  When all threads are through, everybody
 * drains once more and what is left is adopted: then each bit must be what the client thinks.
 * One statement is one access to a shared variable.
 *
 * -DTWICE: one object is freed twice, by any two threads at any time, and never allocated again.
 *
 * -DBROKEN_x puts one fault in; tests/test_models.sh lists them with the complaint each must cause.
 */
#ifndef THREADS
#define THREADS 3
#endif
#ifndef PAGES
#define PAGES 2
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef FREES
#define FREES 3
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

#define FULL   ((1 << SLOTS) - 1)        /* the bits of all slots of a page */
#define NONE   200                      /* owner: nobody; also "on no inbox" */
#define EMPTY  201                      /* inbox heads and the last link */
#define CLOSED 202

/* ---- the protocol's variables ---- */
byte alloc[PAGES], rfree[PAGES];        /* bitmaps, a bit a slot */
bit  queued[PAGES], remote[PAGES];
byte owner[PAGES], link[PAGES];
byte inbox[THREADS];
bit  stale[PAGES];                      /* the page's epoch is older than the last flip */
bit  pooled[PAGES];                     /* in the orphan pool */
bit  pool_lock;

/* ---- what only the checks and the bounds see ---- */
byte live[PAGES];                       /* what the client holds; cleared when its call of free begins */
byte on[PAGES];                         /* whose inbox the page is on */
byte sections;                          /* how many threads are in a section */
byte through;                           /* how many of the processes have ended for good */
byte frees_left = FREES, allocs_left = ALLOCS, exits_left = EXITS, stops_left = STOPS;
byte twice_left, reported;

/* A second free was found: right only if there was one. */
#ifdef TWICE
#define complain reported++
#else
#define complain assert(false)
#endif

/* ---- handing a page to its owner ---- */

inline push(q)
{
    do
    :: head = inbox[o];
        if
        :: head == CLOSED -> break
        :: head != CLOSED ->
            atomic { assert(on[q] == NONE); link[q] = head }
            if
            :: atomic { inbox[o] == head -> inbox[o] = q; on[q] = o; pushed = 1; break }
            :: inbox[o] != head
            fi
        fi
    od
}

inline notify(q)
{
    do
    :: atomic {
            if
            :: queued[q] -> break
            :: else -> queued[q] = 1
            fi
        }
        o = owner[q];
        if
        :: o != NONE -> push(q)
        :: o == NONE
        fi;
        if
        :: atomic { pushed -> pushed = 0; break }
        :: atomic { !pushed -> queued[q] = 0 }
        fi;
#ifdef BROKEN_NO_SECOND_LOOK
        if :: o == NONE -> break :: else fi
#else
        if
        :: owner[q] == NONE -> break
        :: owner[q] != NONE
        fi
#endif
    od;
    atomic { o = 0; head = 0 }
}

/* ---- the owner's part ---- */

/* A bit that arrives for a slot already free is a second free; before the page has caught up with a
 * flip it says nothing, as the flip has freed the slot. */
inline merge(q)
{
#ifdef BROKEN_MERGE_NOT_ATOMIC
    remote[q] = 0;
    r = rfree[q];
    rfree[q] = 0;
#else
#ifdef BROKEN_REMOTE_CLEARED_LATE
    atomic { r = rfree[q]; rfree[q] = 0 }
    remote[q] = 0;
#else
    remote[q] = 0;
    atomic { r = rfree[q]; rfree[q] = 0 }
#endif
#endif
    atomic {
#ifndef BROKEN_MERGE_BLIND
        if :: !stale[q] && (r & ~alloc[q]) -> complain :: else fi;
#endif
        alloc[q] = alloc[q] & ~r;
        stale[q] = 0; r = 0
    }
}

/* Takes the next page off a list that was swapped out of an inbox. */
inline unlist()
{
    atomic { p = list; list = link[p]; on[p] = NONE }
    queued[p] = 0
}

inline drain()
{
    atomic { list = inbox[me]; inbox[me] = EMPTY }
    do
    :: list != EMPTY ->
#ifdef BROKEN_UNQUEUED_BEFORE_LINK
        atomic { p = list; queued[p] = 0; on[p] = NONE }
        list = link[p];
#else
        unlist();
#endif
        if
        :: owner[p] == me -> merge(p)
        :: owner[p] != me -> notify(p)
        fi
    :: atomic { list == EMPTY -> list = 0; p = 0; break }
    od
}

inline leave_pages()
{
    do
    :: atomic { p < PAGES && owner[p] != me -> p++ }
    :: atomic { p < PAGES && owner[p] == me -> owner[p] = NONE }
        atomic { !pool_lock -> pooled[p] = 1; p++ }
    :: atomic { p == PAGES -> p = 0; break }
    od
}

inline exit()
{
    leave_pages();
#ifdef BROKEN_INBOX_LEFT_OPEN
    atomic { list = inbox[me]; inbox[me] = EMPTY }
#else
    atomic { list = inbox[me]; inbox[me] = CLOSED }
#endif
    do
    :: list != EMPTY -> unlist(); notify(p)
    :: atomic { list == EMPTY -> list = 0; p = 0; break }
    od
}

/* p is in the pool, and this thread has the pool's lock */
inline adopt()
{
    atomic { pooled[p] = 0; owner[p] = me }
#ifdef BROKEN_ADOPTION_UNQUEUES
    queued[p] = 0;
#endif
#ifndef BROKEN_ADOPTION_WITHOUT_MERGE
    merge(p);
#endif
    atomic { pool_lock = 0; p = 0; sections-- }
}

/* ---- free ---- */

inline free_here()
{
    if
    :: !(alloc[p] & bit_) -> complain
#ifdef BROKEN_LOCAL_FREE_BLIND
    :: alloc[p] & bit_ -> alloc[p] = alloc[p] & ~bit_
#else
    :: atomic { (alloc[p] & bit_) && !remote[p] -> alloc[p] = alloc[p] & ~bit_ }
    :: (alloc[p] & bit_) && remote[p] ->
        if
        :: rfree[p] & bit_ -> complain
        :: !(rfree[p] & bit_) -> alloc[p] = alloc[p] & ~bit_
        fi
#endif
    fi
}

inline free_there()
{
    if
    :: !(alloc[p] & bit_) -> complain
    :: alloc[p] & bit_ ->
#ifdef BROKEN_REMOTE_SET_EARLY
        remote[p] = 1;
#endif
        atomic { r = rfree[p] & bit_; rfree[p] = rfree[p] | bit_ }
        if
        :: atomic { r -> r = 0; complain }
        :: !r ->
#ifndef BROKEN_REMOTE_SET_EARLY
            remote[p] = 1;
#endif
            notify(p)
        fi
    fi
}

/* ---- threads ---- */

/* Any page that passes the test */
#define some(test)        (test(0) || test(PAGES - 1))
#define choose_page(test) if :: test(0) -> p = 0 :: test(PAGES - 1) -> p = PAGES - 1 fi

/* Which slots may be allocated: all, but for the one that is freed twice */
#ifdef TWICE
#define usable(q) ((q) == 0 -> 2 : FULL)
#else
#define usable(q) FULL
#endif
#define vacant(q)   (~alloc[q] & usable(q))
#define has_room(q) (owner[q] == me && (vacant(q) || stale[q]))
#define orphan(q)   pooled[q]

/* The client gives one of its objects up; or, once, one that somebody has given up already. */
inline choose_object()
{
    if
    :: live[0] & 1 -> p = 0; bit_ = 1
    :: live[0] & 2 -> p = 0; bit_ = 2
    :: live[PAGES - 1] & 1 -> p = PAGES - 1; bit_ = 1
#ifdef TWICE
    :: twice_left && !(live[0] & 1) -> twice_left--; p = 0; bit_ = 1
#endif
    fi;
    live[p] = live[p] & ~bit_
}

/* A page that a flip has passed is caught up with first: bits from before must not hit new objects. */
inline allocate()
{
    if
#ifdef BROKEN_SWEEP_WITHOUT_MERGE
    :: stale[p] -> stale[p] = 0
#else
    :: stale[p] -> merge(p)
#endif
    :: !stale[p]
    fi;
    atomic {
        if
        :: vacant(p) ->
            bit_ = ((vacant(p) & 1) -> 1 : 2);
            assert(!(live[p] & bit_));
            assert(!(rfree[p] & bit_));
            alloc[p] = alloc[p] | bit_;
            live[p] = live[p] | bit_
        :: else
        fi;
        p = 0; bit_ = 0; sections--
    }
}

proctype Thread(byte me)
{
    byte p, bit_, o, head, list, r;
    bit pushed;
    do
    :: atomic { frees_left && (live[0] || (live[PAGES - 1] & 1)) -> frees_left--; sections++; choose_object() }
        if
        :: owner[p] == me -> free_here()
        :: owner[p] != me -> free_there()
        fi;
        atomic { p = 0; bit_ = 0; sections-- }
    :: atomic { inbox[me] != EMPTY -> sections++ }
        drain();
        sections--
    :: atomic { allocs_left && some(has_room) -> allocs_left--; sections++; choose_page(has_room) }
        allocate()
    :: atomic { !pool_lock && some(orphan) -> pool_lock = 1; sections++; choose_page(orphan) }
        adopt()
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

proctype World()
{
    byte q;
    do
    :: atomic {
            stops_left && sections == 0 -> stops_left--;
            do
            :: q < PAGES ->
                assert((alloc[q] & ~(remote[q] -> rfree[q] : 0)) == live[q]);
                alloc[q] = live[q];
                stale[q] = 1;
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
        assert(owner[p] == NONE || inbox[owner[p]] != CLOSED);
        assert(queued[p] == (on[p] != NONE));
        if
        :: alloc[p] & ~live[p] ->
            assert(!(alloc[p] & ~live[p] & ~rfree[p]));
            assert((owner[p] == NONE && pooled[p]) || (on[p] != NONE && inbox[on[p]] != CLOSED))
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
    :: me < THREADS ->
        if
        :: inbox[me] != EMPTY && inbox[me] != CLOSED -> drain()
        :: else
        fi;
        me++
    :: else -> me = 0; break
    od
}

proctype Finale()
{
    byte me, p, o, head, list, r;
    bit pushed;
    atomic {
        through == THREADS + 1;
        check_quiet();
        drain_everybody();
        drain_everybody();
        do
        :: p < PAGES ->
            if :: pooled[p] -> pooled[p] = 0; owner[p] = me; merge(p) :: else fi;
            p++
        :: else -> p = 0; break
        od;
        do
        :: p < PAGES ->
            assert(alloc[p] == live[p]);
            assert(!queued[p] && on[p] == NONE);
            assert(!(rfree[p] & alloc[p]));
            p++
        :: else -> p = 0; break
        od;
#ifdef TWICE
        assert(reported == 1 - twice_left)
#endif
    }
}

init
{
    byte q;
    atomic {
        do
        :: q < THREADS -> inbox[q] = EMPTY; run Thread(q); q++
        :: else -> q = 0; break
        od;
        do
        :: q < PAGES -> alloc[q] = FULL; live[q] = FULL; owner[q] = 0; link[q] = EMPTY; on[q] = NONE; q++
        :: else -> q = 0; break
        od;
#ifdef TWICE
        twice_left = 1;
#endif
        run World();
        run Finale()
    }
}
