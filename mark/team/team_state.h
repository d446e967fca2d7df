/* SPDX-License-Identifier: MIT */
/*
 * A team as its markers see it: who is in it, how they come in and go out, and what they ask it
 * while they mark.  How they find work and end a mark together is in mark/team/team.h.
 *
 *   what              written by                             read by          ordering
 *   state             the collecting thread: open, closed;   same             acquire-release RMW: who comes in
 *                     helpers, assistants: come in, go out                    sees all that was written before it was opened;
 *                                                                             the thread that closes and then sees nobody
 *                                                                             inside sees all that they did
 *   places            the collecting thread, before it       helpers          release and acquire of `state`; who has an old
 *                     opens                                                   number comes in, though one more than was wanted
 *   off               the collecting thread                  helpers          relaxed: a hint; who has an old one shares a core
 *                                                                             for a mark
 *   wanted            any thread: set; the collecting        marker 0         relaxed: a hint
 *                     thread: cleared
 *   assisted          assistants: add; marker 0: 0, while     marker 0         relaxed: an estimate
 *                     nobody else is inside
 *   spare[i].state    assistants and markers that are        same             acquire and release: who makes it HELD owns the
 *                     inside: CAS to HELD; who made it                        marker as its last owner has left it
 *                     HELD: store
 *   call              the collecting thread, after state     helpers          release / acquire; a futex word
 *   leaving           who has the GC lock, while closed,     helpers          release / acquire; each helper takes itself
 *                     before `call`; helpers: add                             off; a futex word
 *   arena             its markers: atomic add                its markers      acquire-release add, acquire load
 *   marker[i]         helper i, once, when it is new; the    its markers      release of `state`, by the collecting thread,
 *                     collecting thread waits for that                        which its creator's handshake has told of it
 *   the other fields  the collecting thread, while closed    its markers      release of `state`
 *   a marker's own    that marker while inside; the          others: only     see mark/work/deque.h for its deque
 *   fields            collecting thread while closed         its deque, and
 *                                                            marker 0's limit
 *   a marker's node   that marker when it comes in; of       thieves          relaxed: a hint whom to steal from
 *                     marker 0 the collecting thread
 *   a mark beside     whoever is marker 0 then: the lead of  the same         the lead's: one thread at a time; those who are
 *   the program       the cycle, on any thread               when inside      inside, release of `state`
 */
#ifndef SGC_MARK_TEAM_TEAM_STATE_H
#define SGC_MARK_TEAM_TEAM_STATE_H

#include "mark/marker.h"
#include "mark/work/idle.h"
#include "mark/work/termination.h"

struct sgc_team_config {
    struct sgc_mark_config mark;        /* of each marker */
    uint32_t max_markers;               /* markers there may be */
    bool balance;                       /* markers without work steal */
    enum sgc_steal steal;
    enum sgc_termination_form termination;
    enum sgc_markbit markbit;           /* when there are several */
    uint32_t concurrent_markers;        /* markers that mark beside the program, at most; 0 is as
                                         * 1 */
    /* Of the markers there may be so many never mark with the others: there is one helper more than
     * is needed where one stays off the collecting thread's core. */
    uint32_t stay_out;
};

/* Work that lies on no stack, and is given out in units.  A marker takes one when it has nothing
 * else; the callers owe that taking one releases, and finding none left acquires, on the same
 * variable: see mark/work/termination.h. */
struct sgc_source {
    bool (*left)(void);
    bool (*take)(struct sgc_marker *marker);    /* does one unit; false if there was none */
};

/* Asked now and then whether it is time to come out of a mark that will go on; NULL: it is not. */
struct sgc_interruption {
    bool (*stop)(void *arg);
    void *arg;
};

/* The state: is it open, and to assistants, too; how many of them are inside, and how many
 * helpers. */
static const uint32_t SGC_TEAM_OPEN = UINT32_C(1) << 31, SGC_TEAM_OPEN_BRIEFLY = UINT32_C(1) << 30;

enum {
    SGC_TEAM_ASSISTANT = 1 << 16,
    SGC_TEAM_HELPERS = SGC_TEAM_ASSISTANT - 1,
};

enum { SGC_TEAM_SPARES = 4 };           /* assistants at a time */

/* A spare marker is for a thread that comes for a short time.  LEFT: such a thread has gone and
 * left work on its stack; the marker counts as busy until somebody has taken that. */
enum { SGC_SPARE_FREE, SGC_SPARE_HELD, SGC_SPARE_LEFT };

struct sgc_spare {
    struct sgc_marker *marker;
    sgc_a32_t state;
};

struct sgc_team {
    struct sgc_team_config config;
    struct sgc_marker **marker;
    uint32_t made;                      /* markers that exist: 0 and those of helpers */
    uint32_t markers;                   /* that may take part in this mark */
    bool called;                        /* helpers were told of this mark */
    bool rescanning;
    bool several;                       /* it goes on just now, and others than marker 0 may come */
    void (*stayed)(const struct sgc_marker *m);     /* after a marker's stay in a mark, on its
                                                     * thread; NULL: nobody asks.  Set once, while
                                                     * there is one marker */
    struct sgc_spare spare[SGC_TEAM_SPARES];
    uint32_t spares;                    /* that there are: mark/team/team_assist.c */
    uint32_t slots;                     /* of the termination: a number for each marker there may
                                         * be, and each spare one */
    sgc_aw_t assisted;                  /* bytes that assistants have marked, and have still on
                                         * their markers' counts */
    sgc_a32_t wanted;                   /* an assistant has come, and marker 0 marked alone */
    const struct sgc_source *source;    /* NULL: none */
    uint32_t next_root;                 /* balance off: the marker that gets the next roots */
    sgc_a32_t arena;
    int (*stop)(void);
    struct sgc_interruption interruption;
    size_t split_bytes;                 /* marker 0's otherwise, while it marks beside the
                                         * program */
    sgc_a32_t state, call, places;
    sgc_a32_t leaving;                  /* helpers that are to end, and have not seen it yet */
    sgc_a32_t off;                      /* a core, or SGC_NO_CORE: see sgc_team_keep_off */
    struct sgc_termination termination;
    struct sgc_idle idle;
};

/* Is this a mark that the program runs beside (mark/team/team_concurrent.c), its last stop
 * excepted?  Marker 0 changes that only while nobody else is inside. */
static inline bool sgc_team_is_concurrent(const struct sgc_team *team)
{
    return team->marker[0]->mode.program != SGC_MARK_STOPPED;
}

/* Was it made, and are its numbers of markers in order?  On the collecting thread, or on a helper
 * that is inside. */
static inline bool sgc_team_ok(const struct sgc_team *team)
{
    return team->marker != NULL && team->markers >= 1 && team->markers <= team->made &&
           team->made <= team->config.max_markers &&
           (!sgc_team_is_concurrent(team) || team->several || (team->markers == 1 && !team->called)) &&
           sgc_termination_ok(&team->termination);
}

/* Does the marker take part in this mark? */
static inline bool sgc_team_has(const struct sgc_team *team, const struct sgc_marker *m)
{
    if (m->team != team || (m->index != 0 && !m->inside))
        return false;
    if (m->index < team->markers)
        return team->marker[m->index] == m;
    return team->several && m->index < team->slots && team->spare[team->slots - 1 - m->index].marker == m;
}

/* ---- how long markers stay ---- */

/* A marker begins to mark; and it ends. */
static inline void sgc_stay_begin(const struct sgc_team *team, struct sgc_marker *m)
{
    if (team->stayed != NULL)
        m->stay = (struct sgc_stay){ sgc_clock_ns(), m->objects, m->bytes, m->steals };
}

static inline void sgc_stay_end(const struct sgc_team *team, struct sgc_marker *m)
{
    if (team->stayed != NULL && m->stay.began_ns != 0 && m->objects != m->stay.objects)
        team->stayed(m);
    m->stay.began_ns = 0;
}

/* ---- coming in and going out: helpers ---- */

/* False: the team is closed. */
bool sgc_team_enter(struct sgc_team *team, struct sgc_marker *m);

static inline void sgc_team_leave(struct sgc_team *team, struct sgc_marker *m)
{
    sgc_assert(m->team == team && m->index != 0 && m->inside);
    sgc_stay_end(team, m);
    m->inside = false;
    sgc_a32_add(&team->state, (uint32_t)-1);
}

/* ---- opening and closing: the collecting thread ---- */

/* The collecting thread runs on that core: helpers bound to it, or to one that another helper has,
 * stay out from now on.  SGC_NO_CORE: all may come.  For marks with no more markers than there are
 * cores.  Any time. */
void sgc_team_keep_off(struct sgc_team *team, uint32_t core);

/* Calls so many helpers.  Everything that they read is written. */
void sgc_team_open(struct sgc_team *team, uint32_t helpers);

/* Opens the team while the program runs: calls so many helpers, 0 of them maybe, and lets
 * assistants in. */
void sgc_team_open_concurrent(struct sgc_team *team, uint32_t helpers);

/* Waits for those inside, who are on their way out. */
void sgc_team_close(struct sgc_team *team);

/* Asks whether the mark is to be given up, or beside the program interrupted. */
void sgc_team_ask_to_stop(struct sgc_team *team);

/* Marker 0 is busy, the others idle.  The collecting thread, while the team is closed. */
void sgc_team_begin_round(struct sgc_team *team);

/* From now on markers of this mark may scan objects that have been scanned already.  The collecting
 * thread, while the team is closed. */
void sgc_team_mark_again(struct sgc_team *team);

/* Marker 0 is as in a stopped mark again, whatever it had to do. */
void sgc_team_concurrent_end(struct sgc_team *team);

/* ---- spare markers: markers that are inside ---- */

/* Has an assistant left work?  Takes all that one of them left; false: nobody did, or another was
 * faster.  Of a busy marker. */
bool sgc_team_spare_left(const struct sgc_team *team);
bool sgc_team_take_left(struct sgc_team *team, struct sgc_marker *marker);

/* ---- for markers ---- */

/* The functions that each marker of a team is given. */
SGC_INNER const struct sgc_team_answers sgc_team_answers;

/* An idle marker looks for work: true if it has some, and is busy; and asks whether all is
 * finished, which it tells the others. */
bool sgc_team_try_work(struct sgc_team *team, struct sgc_marker *marker);
bool sgc_team_all_finished(struct sgc_team *team, struct sgc_marker *marker);

/* A busy marker marks until all is finished, given up, or interrupted. */
void sgc_team_work(struct sgc_team *team, struct sgc_marker *marker);

#endif
