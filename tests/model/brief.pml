/* SPDX-License-Identifier: MIT */
/*
 * Brief sections and the suspend handler, as doc/design/fast-path.md describes them, for the model checker spin.
 *
 * What is modelled: one thread, which does OPS sections, brief and full ones, from two ats of its stack; a handler
 * of the client's, which may interrupt a section CLIENTS times, at any step, and return, jump out, or use a section
 * itself, which it may leave by a jump of its own; the suspend handler; and the stopper, which asks STOPS times and
 * asks again when nothing moves any more, and EARLY times for no reason.  While a handler runs, what it has
 * interrupted stands still (`provided`).  How threads are counted and sleep is in stop.pml.
 *
 * Small numbers stand for addresses of the stack, which grows downward; `brief` holds twice the number, so that bit 0
 * is free.  The thread stands at 7 or 5 outside sections; its sections are at 6 or 4.
 *
 * -DGO_ON=0: no section goes on where a common path has jumped to.
 * -DSTEPS=1: leaving by load, store and a look at `state`, instead of one subtraction.
 * -DBROKEN_x puts one fault in; tests/model/check_brief lists them with the complaint each must cause.
 */
#ifndef OPS
#define OPS 2
#endif
#ifndef STOPS
#define STOPS 1
#endif
#ifndef CLIENTS
#define CLIENTS 1
#endif
#ifndef EARLY
#define EARLY 0
#endif
#ifndef GO_ON
#define GO_ON 1
#endif
#ifndef STEPS
#define STEPS 0
#endif

#define STOPREQ 1
#define ACKED   2
#define AGAIN   4

#define HANDLER 2                       /* where the client's handler stands, */
#define INNER   1                       /* and its sections */

/* ---- the protocol's variables ---- */
short brief;                            /* see platform/section/brief.h */
byte  sp;                               /* of the full section that is recorded */
byte  state;

#define ASKED 1
#define word      (brief & ~ASKED)
#define recorded  (word / 2)
#define under_way (word > 0)            /* else it is over: nothing, the bit alone, or less than 0 */

/* ---- the machine ---- */
byte  stand = 7;                        /* where the thread stands */
bit   sent;                             /* a suspend signal is pending in the kernel */
bit   in_suspend, in_client;
bit   guarded;                          /* all signals but the suspend signal are blocked */
bit   jump;                             /* the client's handler has jumped out */
bit   dead;                             /* the program was ended with a message */
bit   popped;                           /* the stack pointer is just above where the section recorded it, not at it */

/* ---- what only the checks and the bounds see ---- */
byte  frame;                            /* the thread's section, also while it is left: where */
byte  outer, inner;                     /* the thread's and the handler's while the heap may be half changed */
bit   in_full;                          /* outer is a full one */
bit   meddled;                          /* a section was used in the middle of the thread's, */
bit   meddled_late;                     /* or while it was left */
bit   parked_inside;                    /* the thread was parked in the middle of a brief section */
bit   unrepaired;                       /* a full section was left by a jump, and not repaired since */
bit   jumped;                           /* a jump may have cost a request */
bit   stalled;                          /* asked again because nothing moved */
bit   finished;

/* ---- parking ---- */

/* The heap must be whole.  A brief section may be cut in two where a handler has meddled: then the program ends at its
 * end (see `passed`). */
inline check_whole()
{
    assert(!unrepaired && !inner && !(outer && in_full));
    parked_inside = outer != 0
}

#define wanted ((state & (STOPREQ | ACKED)) == STOPREQ)

inline repair()
{
    assert(!inner && (!outer || meddled && !in_full));
    unrepaired = 0;
    sp = 0
}

/* What a handler has interrupted, as the thread itself sees it: there is a handler's frame below. */
#define interrupted(at) (in_client && (at) == frame)

/* sgc_section_stop_requested.  A full section that is recorded here has been left; or a handler's brief one has
 * interrupted it, and it looks itself at its end. */
inline stop_requested()
{
    if
    :: atomic { sp != 0 && interrupted(sp) -> skip }
    :: atomic {
            sp == 0 || !interrupted(sp) -> guarded = 1;
#ifndef BROKEN_PARKED_UNREPAIRED
            if :: sp != 0 -> repair() :: else fi
#endif
        }
        do
        :: atomic { wanted -> check_whole(); state = state | ACKED; stalled = 0 }
            !(state & ACKED)
        :: atomic { !wanted -> guarded = 0; break }
        od
    fi
}

/* ---- the suspend handler ---- */

#define there(at) ((at) == frame || (at) == inner)

#define above(at) (stand > (at) || popped && stand == (at))

#ifdef BROKEN_AGAIN_IGNORED
#define abandoned(at) above(at)
#else
#define abandoned(at) (above(at) || (state & AGAIN) && !there(at))
#endif

/* So near that the section's frame may be gone because a slow path is about to finish it. */
#ifdef BROKEN_NEAR_WIPED
#define near 0
#else
#define near (under_way && above(recorded) && stand <= recorded + 1)
#endif

#ifdef BROKEN_FULL_FIRST
#define brief_one (under_way && sp == 0)
#else
#define brief_one (under_way && recorded != sp)
#endif

#define goes_on(at) (!abandoned(at) || near && !(state & AGAIN))

/* inside() of gc/threads/world.c */
inline look_inside()
{
    inside = 0;
    if
    :: brief_one && goes_on(recorded) ->
        inside = 1;
#ifndef BROKEN_BIT_NOT_SET
        brief = brief | ASKED
#endif
    :: brief_one && !goes_on(recorded) -> if :: !near -> brief = 0 :: else fi
#ifdef BROKEN_BIT_ALONE
    :: !brief_one && brief != 0 && !under_way -> inside = 1
#endif
    :: else
    fi;
#ifdef BROKEN_PARKS_INSIDE
    inside = 0;
#endif
    if
    :: !inside && sp != 0 && abandoned(sp) ->
        repair();
#ifdef BROKEN_REMAINS_WIPED
        brief = 0
#else
        if :: under_way && !near -> brief = 0 :: else fi
#endif
    :: !inside && sp != 0 && !abandoned(sp) -> inside = 1
    :: else
    fi
}

proctype Suspend()
{
    bit inside;
end:
    do
    :: atomic {
            sent && !in_suspend && !dead ->
            sent = 0;
            if
            :: wanted ->
                look_inside();
                if
                :: inside -> inside = 0
                :: else -> check_whole(); state = state | ACKED; stalled = 0; in_suspend = 1
                fi
            :: else
            fi
        }
    :: atomic { in_suspend && !(state & ACKED) -> in_suspend = 0 }
    od
}

/* ---- sections ---- */

inline begin(at)
{
    if
    :: at == INNER -> inner = at; stand = at; if :: outer -> meddled = 1 :: else -> meddled_late = 1 fi
    :: else -> frame = at; stand = at; outer = at; in_full = 0; meddled = 0; meddled_late = 0; parked_inside = 0
    fi
}

/* The last change of the heap is done. */
inline end_work(at) { if :: at == INNER -> inner = 0 :: else -> outer = 0 fi }

/* It was found to be in order. */
inline passed(at) { assert(at == INNER || !meddled && !parked_inside) }

/* The program is told that its handler used a section inside another, and ends. */
inline fatal() { atomic { assert(in_client || meddled || meddled_late); in_client = 0; dead = 1; false } }

/* sgc_brief_leave_slowly */
inline look(at)
{
    r = word;
    brief = 0;
    if
    :: atomic { r != 0 -> r = 0 }
        fatal()
    :: atomic { r == 0 && (state & STOPREQ) -> passed(at) }
        stop_requested()
    :: atomic { r == 0 && !(state & STOPREQ) -> passed(at) }
    fi
}

/* sgc_brief_leave */
inline leave(at)
{
#if STEPS
    atomic {
        r = brief - 2 * at; end_work(at);
#ifdef BROKEN_LOOK_BEFORE_LEAVING
        s = state & STOPREQ
#endif
    }
    brief = r;
#ifndef BROKEN_LOOK_BEFORE_LEAVING
    s = state & STOPREQ;
#endif
#elif defined(BROKEN_LOOK_BEFORE_LEAVING)
    atomic { s = state & STOPREQ; end_work(at) }
    atomic { r = (brief & ~ASKED) - 2 * at; brief = r }
#elif defined(BROKEN_CLEARED)
    atomic { r = brief & ASKED; brief = r; end_work(at) }
#else
    atomic { r = brief - 2 * at; brief = r; end_work(at) }
#ifdef BROKEN_BIT_IGNORED
    atomic { r = r & ~ASKED; brief = r }
#endif
#endif
    if
    :: atomic { r != 0 || s -> r = 0; s = 0 }
        look(at)
    :: atomic { r == 0 && !s -> passed(at) }
    fi
}

/* sgc_brief_leave_at_last: what had been asked for before the section went on may be in `state` only. */
inline leave_at_last(at)
{
#if STEPS
    leave(at)
#else
    atomic { r = brief - 2 * at; brief = r; end_work(at) }
#ifndef BROKEN_GONE_ON_BLIND
    s = state & STOPREQ;
#endif
    if
    :: atomic { r != 0 || s -> r = 0; s = 0 }
        look(at)
    :: atomic { r == 0 && !s -> passed(at) }
    fi
#endif
}

/* sgc_brief_end: a common path went over to a slow one.  A full section ends likewise, `sp` cleared last. */
inline finish(at, is_full)
{
    atomic { r = word; end_work(at) }
#ifdef BROKEN_END_LOOKS_FIRST
    s = state & STOPREQ;
#endif
    brief = 0;
    if
#if defined(BROKEN_NOT_COMPARED)
    :: atomic { r == 0 -> skip }
#elif defined(BROKEN_FULL_BLIND)
    :: atomic { !is_full && r != 2 * at -> r = 0 }
#else
    :: atomic { r != 2 * at -> r = 0 }
#endif
        fatal()
    :: atomic { else -> passed(at); r = 0 }
    fi;
    if
    :: is_full -> sp = 0
    :: else
    fi;
#ifndef BROKEN_END_LOOKS_FIRST
    s = state & STOPREQ;
#endif
    if
    :: atomic { s -> s = 0 }
        stop_requested()
    :: !s
    fi
}

inline brief_section(at)
{
    atomic { brief = 2 * at; begin(at) }
    if
    :: leave(at)
    :: finish(at, 0)
    :: atomic { popped = 1; end_work(at) }                  /* its frame goes before the jump to the slow path */
        popped = 0;
        finish(at, 0)
#if GO_ON
    :: atomic { at != INNER -> popped = 1; end_work(at) }     /* likewise, but the section goes on where it has jumped to */
        if
        :: atomic { word != 2 * at -> popped = 0 }
            finish(at, 0)
        :: atomic { word == 2 * at -> skip }
#ifdef BROKEN_NOT_GONE_ON
            outer = at;
            atomic { popped = 0; end_work(at) }
#else
            atomic { popped = 0; brief = 2 * at; begin(at) }
#endif
            leave_at_last(at)
        fi
#endif
    :: atomic { at == INNER -> inner = 0; jumped = 1 }       /* it jumps, but only within the handler */
    fi
}

#define used_inside (sp != 0 && interrupted(sp) || under_way && interrupted(recorded))

/* sgc_section_enter_again is one step: it is under a guard. */
inline full_section(at)
{
    if
    :: sp == 0 && brief == 0
    :: atomic { used_inside -> skip }
        fatal()
    :: atomic {
            (sp != 0 || brief != 0) && !used_inside ->
#ifndef BROKEN_ENTERED_UNREPAIRED
            if :: sp != 0 -> repair() :: else fi;
#endif
            skip
        }
    fi;
    atomic { brief = 2 * at; begin(at) }
    atomic { assert(!unrepaired); sp = at; if :: at != INNER -> in_full = 1 :: else fi }
    finish(at, 1)
}

/* ---- processes ---- */

inline use(at)
{
    if
    :: brief_section(at)
    :: full_section(at)
    fi;
    atomic {
        stand = at + 1; popped = 0;
        if :: at != INNER -> frame = 0 :: else fi;
        if :: !(state & STOPREQ) && brief == 0 && sp == 0 -> jumped = 0 :: else fi
    }
}

proctype Thread() provided (!in_suspend && !in_client)
{
    byte ops, s;
    short r;
    {
        do
        :: atomic { ops <= OPS -> ops++; if :: stand = 7 :: stand = 5 fi }     /* it calls or returns */
            {
                if
                :: ops <= OPS && stand == 7 -> use(6)
                :: ops <= OPS && stand == 5 -> use(4)
                :: ops > OPS -> finished = 1
                fi
            } unless { atomic { jump -> jump = 0; r = 0; s = 0 } }
        :: finished -> break
        od
    } unless { dead }
}

inline jump_out()
{
    atomic {
        jump = 1; jumped = 1; in_client = 0; stand = 7; popped = 0;
        unrepaired = unrepaired || (outer && in_full);
        frame = 0; outer = 0; in_full = 0
    }
}

/* The client's handler.  A thread in a system call of ours under a guard is not interrupted. */
proctype Client() provided (!in_suspend)
{
    byte saved, s, clients;
    bit was;
    short r;
    {
        do
        :: atomic { clients < CLIENTS && frame && !guarded -> clients++; in_client = 1; saved = stand; was = popped; stand = HANDLER; popped = 0 }
            if
            :: skip
            :: !meddled -> use(INNER)                   /* a second one might wipe away what the first has left */
            fi;
            if
            :: jump_out()
            :: atomic { stand = saved; popped = was; in_client = 0 }
            fi;
            saved = 0; was = 0
        :: atomic { finished -> break }
        od
    } unless { dead }
}

/* Nothing moves any more: only a jump explains it, and one resend helps. */
inline ask_again()
{
    atomic { state = state | AGAIN; sent = 1 }
}

proctype Stopper()
{
    byte stops, early;
    do
    :: atomic { stops < STOPS -> stops++; state = state | STOPREQ }
        sent = 1;
        do
        :: state & ACKED -> break
        :: atomic { !(state & ACKED) && early < EARLY -> early++ }
            ask_again()
        :: atomic { timeout && !dead && !(state & ACKED) -> assert(jumped && !stalled); stalled = 1 }
            ask_again()
        :: dead -> goto ended
        od;
        atomic { state = 0 }
    :: stops == STOPS -> break
    od;
ended:
    skip
}

init { atomic { run Suspend(); run Thread(); run Client(); run Stopper() } }
