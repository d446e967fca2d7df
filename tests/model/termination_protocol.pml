/* SPDX-License-Identifier: MIT */
/*
 * Part of termination.pml: what the functions of mark/work/termination.c do.
 */

/* ---- store buffers: what waits in one reaches the others at any time, and before an atomic operation ---- */

#define EMPTY     0
#define FLAG_BUSY 1                     /* what is to be stored */
#define FLAG_IDLE 2
#define TICKET    3                     /* ... plus the ticket */

inline drain(m)
{
    d_step {
        if
        :: stored[m] == EMPTY
        :: stored[m] == FLAG_BUSY -> flag[m] = 1
        :: stored[m] == FLAG_IDLE -> flag[m] = 0
        :: stored[m] >= TICKET -> ticket = stored[m] - TICKET
        fi;
        stored[m] = EMPTY
    }
}

inline store_later(what)
{
    atomic { drain(me); stored[me] = what }
}

inline store_sc(what)
{
    atomic { store_later(what); drain(me) }
}

/* A marker sees its own store before the others do. */
#define flag_seen(m) (flag[m] && !(m == me && stored[me] == FLAG_IDLE))
#define ticket_seen  (stored[me] >= TICKET -> stored[me] - TICKET : ticket)

/* ---- becoming busy and idle ---- */

inline set_flag()
{
#ifdef BROKEN_FLAG_NOT_SC
    store_later(FLAG_BUSY)
#else
    store_sc(FLAG_BUSY)
#endif
}

inline interrupt()
{
    if
    :: ticket_seen != 0 ->
        atomic { drain(me); stored[me] = (BUFFERED -> TICKET : EMPTY); ticket = (BUFFERED -> ticket : 0) }
    :: ticket_seen == 0
    fi
}

inline flag_busy()
{
#ifdef BROKEN_INTERRUPTED_FIRST
    interrupt();
    set_flag()
#else
    set_flag();
#ifndef BROKEN_NOT_INTERRUPTED
    interrupt()
#endif
#endif
}

inline count_busy()
{
#ifdef BROKEN_COUNT_NOT_ATOMIC
    k = busy;
    busy = k + 1;
    k = 0
#else
    busy++
#endif
}

inline become_busy()
{
    if
    :: COUNTER -> count_busy()
    :: !COUNTER -> flag_busy()
    fi
}

inline clear_flag()
{
#ifdef BROKEN_IDLE_NOT_SC
    store_later(FLAG_IDLE)
#else
    store_sc(FLAG_IDLE)
#endif
}

inline become_idle()
{
    if
    :: COUNTER -> busy--
    :: !COUNTER -> clear_flag()
    fi
}

/* ---- detection ---- */

#define known(n) (ticket_seen == n || ticket == n || mine[0] == n || mine[1] == n || mine[LAST] == n)

inline draw()
{
#ifdef BROKEN_TICKET_TWICE
    mine[me] = 1
#else
    mine[me] = (!known(1) -> 1 : (!known(2) -> 2 : (!known(3) -> 3 : 4)))
#endif
}

inline open_detection()
{
#ifdef BROKEN_NOT_OPENED
    mine[me] = ticket_seen
#else
    if
    :: atomic { ticket_seen != 0 -> mine[me] = ticket_seen }
    :: atomic { ticket_seen == 0 -> draw() }
#ifdef BROKEN_TICKET_NOT_SC
        store_later(TICKET + mine[me])
#else
        store_sc(TICKET + mine[me])
#endif
    fi
#endif
}

inline wake_all()
{
    d_step { signal = 1; asleep[0] = 0; asleep[1] = 0; asleep[LAST] = 0 }
}

inline found_out()
{
    assert(pieces == 0);
#ifdef BROKEN_WAKE_FIRST
    wake_all();
    finished = 1
#else
    finished = 1;
    wake_all()
#endif
}

inline detect_by_flags()
{
    open_detection();
    do
    :: k < MARKERS && !flag_seen(k) -> k++
    :: k < MARKERS && flag_seen(k) -> break
    :: k == MARKERS -> break
    od;
    if
    :: k < MARKERS
#ifdef BROKEN_NOT_CHECKED_AGAIN
    :: k == MARKERS -> found_out()
#else
    :: k == MARKERS && ticket_seen != mine[me]
    :: k == MARKERS && ticket_seen == mine[me] -> found_out()
#endif
    fi;
    atomic { k = 0; mine[me] = 0 }
}

inline detect()
{
    if
    :: COUNTER && busy == 0 -> found_out()
    :: COUNTER && busy != 0
    :: !COUNTER -> detect_by_flags()
    fi
}
