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
        if
        :: o == NONE -> break
        :: o != NONE
        fi
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

/* The next of the pages taken out of the inbox.  It is queued until then, so its link is ours. */
inline unlist()
{
#ifdef BROKEN_UNQUEUED_BEFORE_LINK
    atomic { p = arrived[me]; queued[p] = 0; on[p] = NONE }
    arrived[me] = link[p]
#else
    atomic { p = arrived[me]; arrived[me] = link[p]; on[p] = NONE }
    queued[p] = 0
#endif
}

/* Delivers one page: others may come between.  A usable page is on the owner's list of those to merge and
 * claim from. */
inline drain()
{
    if
    :: arrived[me] != EMPTY
    :: atomic { arrived[me] == EMPTY -> arrived[me] = inbox[me]; inbox[me] = EMPTY }
    fi;
    unlist();
    if
    :: owner[p] == me -> usable[p] = 1
    :: owner[p] != me -> notify(p)
    fi;
    p = 0
}

inline leave_pages()
{
    do
    :: atomic { p < PAGES && owner[p] != me -> p++ }
    :: atomic { p < PAGES && owner[p] == me -> owner[p] = NONE; usable[p] = 0 }
        atomic { !orphans_lock -> orphan[p] = 1; p++ }
    :: atomic { p == PAGES -> p = 0; break }
    od
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
    :: arrived[me] != EMPTY -> unlist(); notify(p)          /* none of the pages is ours any more */
    :: atomic { arrived[me] == EMPTY && !closed -> close_inbox(me); closed = 1 }
    :: atomic { arrived[me] == EMPTY && closed -> closed = 0; p = 0; break }
    od
}

/* p is an orphan, and this thread has the orphans' lock.  Whatever `remote` says, all bits are taken. */
inline adopt()
{
#ifdef BROKEN_ADOPTION_MERGES_FIRST
    take_bits(p);
    free_bits(p);
#endif
    atomic { orphan[p] = 0; owner[p] = me }
#ifdef BROKEN_ADOPTION_UNQUEUES
    queued[p] = 0;
#endif
#ifndef BROKEN_ADOPTION_MERGES_FIRST
    take_bits(p);
    free_bits(p);
#endif
    atomic { stale[p] = 0; orphans_lock = 0; p = 0 }
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

/* The section was left by a long jump, with the bit set, and perhaps with `queued` set but nothing pushed.
 * What must not be lost is that the page has bits. */
inline repair()
{
#ifndef BROKEN_UNREPAIRED
    remote[p] = 1;
#endif
    if
    :: queued[p] = 1
    :: true
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
        :: atomic { !r && abandons_left -> abandons_left-- }
            repair()
        fi
    fi
}
