/* SPDX-License-Identifier: MIT */
/*
 * Markers working together: see mark/team/team_state.h for who may touch what.
 */
#include "mark/team/team.h"

#include "mark/marker.h"
#include "platform/platform.h"
#include "platform/report.h"

/* ---- finding work ---- */

/* Marker 0's number of arenas goes for all markers. */
static uint32_t arenas(const struct sgc_team *team)
{
    return sgc_marker_arenas(team->marker[0]);
}

/* Finding a common source of work empty is an acquire, as finding one's own stack empty: see
 * mark/work/termination.h. */
static bool arenas_left(const struct sgc_team *team)
{
    return team->rescanning && sgc_a32_load_acq(&team->arena) < arenas(team);
}

static bool units_left(const struct sgc_team *team)
{
    return arenas_left(team) || (team->source != NULL && team->source->left()) ||
           (team->several && sgc_team_spare_left(team));
}

static uint32_t random_below(struct sgc_marker *m, uint32_t n)
{
    sgc_assert(n != 0 && m->random != 0);
    m->random ^= m->random << 13;
    m->random ^= m->random >> 17;
    m->random ^= m->random << 5;
    return (uint32_t)((uint64_t)m->random * n >> 32);
}

/* The numbers of mark/work/steal_rules.h: markers, then the spare ones. */
static struct sgc_marker *numbered(const struct sgc_team *team, uint32_t which)
{
    return which < team->markers ? team->marker[which] : team->spare[which - team->markers].marker;
}

static bool shows_work(const void *thief, uint32_t which)
{
    const struct sgc_marker *m = thief, *other = numbered(m->team, which);

    return other != m && !sgc_deque_seems_empty(&other->stack);
}

static uint32_t node_of(const void *thief, uint32_t which)
{
    return sgc_a32_load(&numbered(((const struct sgc_marker *)thief)->team, which)->node);
}

/* Somebody whose public part is not empty. */
static struct sgc_marker *victim(struct sgc_team *team, struct sgc_marker *m)
{
    const struct sgc_others others = { shows_work, node_of, m };
    uint32_t which = sgc_choose_victim(team->markers, team->several ? team->spares : 0, random_below(m, team->markers),
                                       sgc_a32_load(&m->node), &others);

    sgc_assert(sgc_team_has(team, m));
    return which != SGC_NO_VICTIM ? numbered(team, which) : NULL;
}

static bool rescan_next(struct sgc_team *team, struct sgc_marker *m)
{
    while (arenas_left(team)) {
        uint32_t arena = sgc_a32_add(&team->arena, 1);

        if (arena < arenas(team) && sgc_pages_rescan(m, arena))
            return true;
    }
    return false;
}

static bool next_unit(struct sgc_team *team, struct sgc_marker *m)
{
    return rescan_next(team, m) || (team->source != NULL && team->source->take(m)) ||
           (team->several && sgc_team_take_left(team, m));
}

static bool steal_from(struct sgc_team *team, struct sgc_marker *m, struct sgc_marker *other)
{
    size_t got = sgc_deque_steal(&other->stack, &m->stack, team->config.steal);

    sgc_assert(other != m && sgc_team_has(team, m));
    m->steals += got != 0;
    m->steals_far += got != 0 && sgc_a32_load(&other->node) != sgc_a32_load(&m->node);
    m->stolen += got;
    return got != 0;
}

/* Busy first, then take: see mark/work/termination.h.  A marker that left when the mark was
 * interrupted, and comes in once more before the team is closed, still has work, and gets none
 * here. */
bool sgc_team_try_work(struct sgc_team *team, struct sgc_marker *m)
{
    struct sgc_marker *other = team->config.balance ? victim(team, m) : NULL;

    if ((other == NULL && !units_left(team)) || sgc_termination_finished(&team->termination))
        return false;
    sgc_assert(sgc_marker_idle(m));
    sgc_termination_busy(&team->termination, m->index);
    if (next_unit(team, m) || (other != NULL && steal_from(team, m, other)))
        return true;
    sgc_termination_idle(&team->termination, m->index);
    return false;
}

/* ---- resting ---- */

/* The collecting thread is the one that the stop function may ask for the end, whoever has all the
 * work.  A pause ends with it, so it does not sleep, but lets others have its processor; beside the
 * program it sleeps like anybody. */
static void lead_rests(struct sgc_team *team, struct sgc_rest *rest)
{
    sgc_team_ask_to_stop(team);
    if (sgc_termination_finished(&team->termination) || sgc_idle_spin(&team->idle, rest))
        return;
    if (sgc_team_is_concurrent(team))
        sgc_idle_sleep(&team->idle, rest);
    else
        sgc_yield();
}

/* A helper goes out to sleep, so that nobody has to wait for it.  False if it is out and the team
 * is closed. */
static bool rest_a_while(struct sgc_team *team, struct sgc_marker *m, struct sgc_rest *rest)
{
    sgc_assert(sgc_team_has(team, m) && !m->dealt);
    if (m->index == 0) {
        lead_rests(team, rest);
        return true;
    }
    if (sgc_idle_spin(&team->idle, rest))
        return true;
    sgc_team_leave(team, m);
    sgc_idle_sleep(&team->idle, rest);
    return sgc_team_enter(team, m);
}

bool sgc_team_all_finished(struct sgc_team *team, struct sgc_marker *m)
{
    if (!sgc_termination_detect(&team->termination, m->index))
        return false;
    if (team->called)
        sgc_idle_wake_all(&team->idle);
    return true;
}

/* The marker asks whether all is finished after it looked for work, so that a theft that failed is
 * followed by the question: a marker that sleeps without having asked might be the last.  Of an
 * idle marker; or of one that slept until roots were dealt to it: it is busy.  False when
 * everything is marked; a helper may then be outside already. */
static bool find_work(struct sgc_team *team, struct sgc_marker *m)
{
    struct sgc_rest rest = { 0 };
    bool found = false;

    sgc_assert(sgc_team_has(team, m));
    do {
        sgc_idle_note_signal(&team->idle, &rest);
        found = m->dealt || sgc_team_try_work(team, m);
    } while (!found && !sgc_team_all_finished(team, m) && rest_a_while(team, m, &rest));
    sgc_idle_end(&team->idle, &rest, found);
    if (found)
        m->dealt = false;
    return found;
}

/* All work of a marker is dropped: the mark is given up. */
static void drop_work(struct sgc_marker *m)
{
    sgc_assert(sgc_marker_ok(m));
    sgc_deque_reset(&m->stack);
    m->batch[0].count = m->batch[1].count = 0;
}

void sgc_team_work(struct sgc_team *team, struct sgc_marker *m)
{
    sgc_assert(sgc_team_has(team, m));
    do {
        if (!sgc_mark_drain(m)) {
            if (m->mode.program != SGC_MARK_STOPPED)
                return;
            drop_work(m);
        }
        sgc_termination_idle(&team->termination, m->index);
    } while (find_work(team, m));
}

/* ---- a mark: the collecting thread ---- */

struct sgc_marker *sgc_team_begin(struct sgc_team *team, uint32_t want)
{
    struct sgc_marker *first = sgc_team_first(team);

    sgc_assert(sgc_team_ok(team) && sgc_a32_load(&team->state) == 0 && !sgc_team_is_concurrent(team));
    team->markers = team->made;
    team->called = team->rescanning = false;
    team->next_root = 0;
    for (uint32_t i = 0; i < team->markers; i++)
        sgc_marker_begin(team->marker[i]);
    first->how = SGC_MARKBIT_PLAIN;
    sgc_team_begin_round(team);
    sgc_team_call(team, want);
    return first;
}

void sgc_team_call(struct sgc_team *team, uint32_t want)
{
    sgc_assert(sgc_team_ok(team) && want >= 1);
    if (want > 1 && team->markers > 1 && team->config.balance)
        sgc_team_open(team, (want < team->markers ? want : team->markers) - 1);
}

/* Without stealing each helper has its part of the roots already, and is busy. */
static void call_with_roots(struct sgc_team *team)
{
    sgc_assert(!team->config.balance && !team->called);
    for (uint32_t i = 1; i < team->markers; i++) {
        sgc_termination_busy(&team->termination, i);
        team->marker[i]->dealt = true;
    }
    sgc_team_open(team, team->markers - 1);
}

static bool run(struct sgc_team *team, int (*stop)(void))
{
    struct sgc_marker *first = sgc_team_first(team);

    sgc_assert(sgc_team_has(team, first));
    team->stop = stop;
    sgc_stay_begin(team, first);
    sgc_team_work(team, first);
    sgc_stay_end(team, first);
    if (team->called)
        sgc_team_close(team);
    return !sgc_termination_abandoned(&team->termination) && (stop == NULL || !stop());
}

bool sgc_team_mark(struct sgc_team *team, int (*stop)(void))
{
    sgc_assert(sgc_team_ok(team) && !sgc_team_is_concurrent(team));
    if (!team->config.balance && team->markers > 1)
        call_with_roots(team);
    return run(team, stop);
}

void sgc_team_round(struct sgc_team *team, const struct sgc_source *source, bool helpers)
{
    sgc_assert(sgc_team_ok(team));
    sgc_team_set_source(team, source);
    team->rescanning = false;
    sgc_team_mark_again(team);
    sgc_team_begin_round(team);
    if (team->markers > 1 && (team->called || helpers))
        sgc_team_open(team, team->markers - 1);
    run(team, NULL);
    team->source = NULL;
}

static bool take_overflows(struct sgc_team *team)
{
    bool any = false;

    for (uint32_t i = 0; i < team->markers; i++) {
        any |= team->marker[i]->overflowed;
        team->marker[i]->overflowed = false;
    }
    return any;
}

/* Ends: a page is flagged only when an object of it has been marked for the first time. */
bool sgc_team_rescan(struct sgc_team *team, int (*stop)(void))
{
    bool again = team->called;

    sgc_assert(sgc_team_ok(team));
    team->rescanning = true;
    sgc_team_mark_again(team);
    while (take_overflows(team)) {
        sgc_team_begin_round(team);
        if (again)
            sgc_team_open(team, team->markers - 1);
        while (rescan_next(team, sgc_team_first(team)))
            continue;
        if (!run(team, stop)) {
            team->marker[0]->overflowed = true;
            return false;
        }
    }
    return true;
}

/* No page is to be scanned again. */
static void forget_flags(void)
{
    uint32_t arenas = (uint32_t)(sgc_aw_load_acq(&sgc_heap.limit) >> SGC_ARENA_LOG);

    for (uint32_t a = 0; a < arenas; a++)
        sgc_aw_store(&sgc_heap.arenas[a].rescan, 0);
}

void sgc_team_abandon(struct sgc_team *team)
{
    bool flagged = take_overflows(team) || sgc_team_is_concurrent(team);

    sgc_assert(sgc_team_ok(team) && sgc_a32_load(&team->state) == 0);
    if (sgc_team_is_concurrent(team))
        sgc_team_concurrent_end(team);
    if (!sgc_termination_finished(&team->termination))
        sgc_termination_abandon(&team->termination);
    for (uint32_t i = 0; i < team->markers; i++)
        drop_work(team->marker[i]);
    if (flagged)
        forget_flags();
}

void sgc_team_totals(const struct sgc_team *team, struct sgc_team_totals *totals)
{
    sgc_assert(sgc_team_ok(team) && sgc_a32_load(&team->state) == 0);
    *totals = (struct sgc_team_totals){ .objects = 0 };
    for (uint32_t i = 0; i < team->markers; i++) {
        const struct sgc_marker *m = team->marker[i];

        totals->objects += m->objects;
        totals->bytes += m->bytes;
        totals->pointer_free += m->pointer_free;
        totals->root_bytes += m->root_bytes;
        totals->rescans += m->rescans;
        totals->steals += m->steals;
        totals->steals_far += m->steals_far;
        totals->stolen += m->stolen;
        totals->markers += i == 0 || m->objects != 0 || m->stolen != 0;
        if (m->stack.deepest > totals->deepest)
            totals->deepest = m->stack.deepest;
    }
}

/* ---- helpers: idle when they come in, unless roots were dealt to them ---- */

/* The last one that sees it wakes the thread that waits for them. */
static bool is_dismissed(struct sgc_team *team)
{
    if (sgc_a32_load_acq(&team->leaving) == 0)
        return false;
    if (sgc_a32_add(&team->leaving, UINT32_MAX) == 1)
        sgc_wake(&team->leaving, 1);
    return true;
}

void sgc_team_serve(struct sgc_team *team, uint32_t i)
{
    struct sgc_marker *m = team->marker[i];

    sgc_assert(i > 0 && i < team->slots && m->index == i);
    for (;;) {
        uint32_t seen = sgc_a32_load_acq(&team->call);

        if (is_dismissed(team))
            return;
        if (sgc_team_enter(team, m)) {
            if (find_work(team, m))
                sgc_team_work(team, m);
            if (m->inside)
                sgc_team_leave(team, m);
        }
        sgc_wait(&team->call, seen, -1);
    }
}
