/* SPDX-License-Identifier: MIT */
/*
 * Part of remote.pml: what the functions of alloc/small/remote_free.c and alloc/small/orphan.c do.  p is the page, bit_ the slot.
 */

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

/* A page that nobody uses has no owner to be told. */
#if REUSES
#define push_if_owned(q)   if :: o != NOBODY -> push(q) :: o == NOBODY fi
#define gone_if_nobodys(q) ; if :: owner[q] == NOBODY -> break :: owner[q] != NOBODY fi
#else
#define push_if_owned(q)   push(q)
#define gone_if_nobodys(q)
#endif

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
        push_if_owned(q);
        if
        :: atomic { pushed -> pushed = 0; break }
        :: atomic { !pushed -> queued[q] = 0 }
        fi
        gone_if_nobodys(q)
#ifdef BROKEN_NO_SECOND_LOOK
        ; break
#endif
    od;
    atomic { o = 0; head = 0 }
}

/* ---- the owner's part ---- */

/* The order is what keeps `remote` true: a bit that arrives behind the exchange sets it again. */
inline take_bits(q)
{
#ifdef BROKEN_MERGE_NOT_ATOMIC
    remote[q] = 0;
    r = rfree[q];
    rfree[q] = 0
#else
#ifdef BROKEN_REMOTE_CLEARED_LATE
    atomic { r = rfree[q]; rfree[q] = 0 }
    remote[q] = 0
#else
    remote[q] = 0;
    atomic { r = rfree[q]; rfree[q] = 0 }
#endif
#endif
}

/* A bit for a slot that is free already is a second free.  In a page not swept since the last flip it
 * says nothing: the flip has freed the slot. */
inline free_bits(q)
{
    atomic {
#ifndef BROKEN_MERGE_BLIND
        if
        :: !stale[q] && (r & ~alloc[q]) -> complain
        :: else
        fi;
#endif
        alloc[q] = alloc[q] & ~r;
        r = 0
    }
}

inline merge(q)
{
    if
    :: remote[q] -> take_bits(q); free_bits(q)
    :: !remote[q]
    fi
}

/* A page that a flip has passed is swept before anything is claimed from it: bits from before the flip
 * must not hit new objects. */
inline sweep(q)
{
#ifdef BROKEN_SWEEP_WITHOUT_MERGE
    stale[q] = 0
#else
    if
    :: stale[q] && remote[q] ->
        take_bits(q);
        atomic { alloc[q] = alloc[q] & ~r; stale[q] = 0; r = 0 }
    :: atomic { stale[q] && !remote[q] -> stale[q] = 0 }
    :: !stale[q]
    fi
#endif
}

/* The owner's, under the lock of its lists: until then the page may leave it. */
inline sweep_own(q)
{
    if
    :: atomic { owner[q] == me && stale[q] && !lock[me] -> lock[me] = 1 }
#ifdef BROKEN_LEAVES_UNLOCKED
        lock[me] = 0;
#endif
        if
        :: owner[q] == me && stale[q] -> sweep(q)
        :: else
        fi;
        lock[me] = 0
    :: owner[q] != me || !stale[q]
    fi
}

/* The next of the pages taken out of the inbox.  It is queued until then, so its link is ours. */
inline unlist(w)
{
#ifdef BROKEN_UNQUEUED_LATE
    atomic { p = arrived[w]; arrived[w] = link[p]; on[p] = NONE }
    told = remote[p];
    queued[p] = 0
#else
#ifdef BROKEN_UNQUEUED_BEFORE_LINK
    atomic { p = arrived[w]; queued[p] = 0; on[p] = NONE }
    arrived[w] = link[p]
#else
    atomic { p = arrived[w]; arrived[w] = link[p]; on[p] = NONE }
    queued[p] = 0
#endif
#endif
}

/* Delivers one page, of a thread's own inbox, or with the orphans' lock of theirs: others may come between.  A usable page is on
 * the owner's list of those to merge and claim from. */
inline drain(w)
{
    if
    :: arrived[w] != EMPTY
    :: atomic { arrived[w] == EMPTY -> arrived[w] = inbox[w]; inbox[w] = EMPTY }
    fi;
    unlist(w);
    if
#ifdef BROKEN_UNQUEUED_LATE
    :: atomic { owner[p] == w -> usable[p] = usable[p] | told; told = 0 }
#else
    :: atomic { owner[p] == w -> usable[p] = 1 }
#endif
    :: owner[p] != w -> notify(p)
    fi;
    p = 0
}

/* Both locks are held: the owner is changed, then the page is on the orphans' list. */
inline leave_pages()
{
    do
    :: atomic { p < PAGES && owner[p] != me -> p++ }
    :: atomic { p < PAGES && owner[p] == me && !lock[me] && !lock[ORPHANS] -> lock[me] = 1; lock[ORPHANS] = 1; owner[p] = ORPHANS;
                usable[p] = 0 }
        atomic { usable[p] = 1; lock[me] = 0; lock[ORPHANS] = 0; p++ }
    :: atomic { p == PAGES -> p = 0; break }
    od
}

/* By another thread, which has the locks of the owner `o` and of the orphans. */
inline leave_idle()
{
    owner[p] = ORPHANS;
    atomic { usable[p] = 1; lock[o] = 0; lock[ORPHANS] = 0; o = 0; p = 0 }
}

#ifdef BROKEN_INBOX_LEFT_OPEN
#define close_inbox(me) arrived[me] = inbox[me]; inbox[me] = EMPTY
#else
#define close_inbox(me) arrived[me] = inbox[me]; inbox[me] = CLOSED
#endif

/* Passes on what has arrived, closes the inbox, and passes on what it held. */
inline exit()
{
#ifdef BROKEN_CLOSED_BEFORE_LEAVING
    atomic { arrived[me] == EMPTY -> close_inbox(me); closed = 1 }
#endif
    leave_pages();
    do
    :: arrived[me] != EMPTY -> unlist(me); notify(p)          /* none of the pages is ours any more */
    :: atomic { arrived[me] == EMPTY && !closed -> close_inbox(me); closed = 1 }
    :: atomic { arrived[me] == EMPTY && closed -> closed = 0; p = 0; break }
    od
}

/* p is an orphan, and this thread has the orphans' lock. */
inline adopt()
{
    owner[p] = me;
#ifdef BROKEN_ADOPTION_UNQUEUES
    queued[p] = 0;
#endif
    merge(p);
    atomic { stale[p] = 0; lock[ORPHANS] = 0; p = 0 }
}

#ifdef BROKEN_CLAIM_UNLOCKED
#define may_claim    true
#define lock_claim   skip
#define unlock_claim skip
#else
#define may_claim    !lock[ORPHANS]
#define lock_claim   lock[ORPHANS] = 1
#define unlock_claim lock[ORPHANS] = 0
#endif

/* The page is nobody's, and becomes this thread's.  Were the last two steps the other way round, a thread that set `remote` in
 * between would find nobody to tell. */
inline reuse()
{
    rfree[p] = 0;
#ifdef BROKEN_REUSE_UNQUEUES
    queued[p] = 0;
#endif
#ifdef BROKEN_OWNED_LATE
    remote[p] = 0;
    owner[p] = me
#else
    owner[p] = me;
    remote[p] = 0
#endif
}

/* ---- free ---- */

/* In two steps where somebody else might come between. */
#if IDLES
#define clear_bit() b = alloc[p]; alloc[p] = b & ~bit_; b = 0
#else
#define clear_bit() alloc[p] = alloc[p] & ~bit_
#endif

inline free_here()
{
    if
    :: !(alloc[p] & bit_) -> complain
#ifdef BROKEN_LOCAL_FREE_BLIND
    :: alloc[p] & bit_ -> clear_bit()
#else
#if IDLES
    :: (alloc[p] & bit_) && !remote[p] -> clear_bit()
#else
    :: atomic { (alloc[p] & bit_) && !remote[p] -> clear_bit() }
#endif
    :: (alloc[p] & bit_) && remote[p] ->
        if
        :: rfree[p] & bit_ -> complain
        :: !(rfree[p] & bit_) -> clear_bit()
        fi
#endif
    fi
}

/* The section was left by a long jump, with the bit set, and perhaps with `queued` set but nothing pushed.
 * What must not be lost is that the page has bits. */
inline repair()
{
#ifndef BROKEN_UNREPAIRED
    remote[p] = 1;
#endif
    if
    :: queued[p] = 1
    :: notify(p)
    fi
}

/* Who finds `remote` 0 behind the bit sets it, and sees to it that the page is looked at. */
inline tell()
{
#ifdef BROKEN_REMOTE_SET_LATE
    notify(p);
    remote[p] = 1
#else
    remote[p] = 1;
    notify(p)
#endif
}

inline free_there()
{
    if
    :: !(alloc[p] & bit_) -> complain
#ifdef BROKEN_RUN_TAKEN_BACK
    :: (alloc[p] & bit_) && owner[p] == ORPHANS -> b = alloc[p]; alloc[p] = b & ~bit_; b = 0
#endif
    :: alloc[p] & bit_ ->
#ifdef BROKEN_FLAG_READ_EARLY
        told = remote[p];
#endif
#ifdef BROKEN_REMOTE_SET_EARLY
        remote[p] = 1;
#endif
        atomic { r = rfree[p] & bit_; rfree[p] = rfree[p] | bit_ }
        if
        :: atomic { r -> r = 0; told = 0; complain }
        :: !r ->
#ifdef BROKEN_REMOTE_SET_EARLY
            notify(p)
#else
#ifndef BROKEN_FLAG_READ_EARLY
            told = remote[p];
#endif
            if
            :: atomic { told -> told = 0 }
            :: !told -> tell()
            fi
#endif
        :: atomic { !r && abandons_left -> abandons_left--; told = 0 }
            repair()
        fi
    fi
}
