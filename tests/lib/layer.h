/* SPDX-License-Identifier: MIT */
/*
 * A layer on top of the collector, for tests of gc/threads/upper.h: it counts what it is told, keeps the objects it is told to,
 * and has some words outside all other roots, as dates are.
 */
#ifndef TESTS_LIB_LAYER_H
#define TESTS_LIB_LAYER_H

#include "gc/collect/start.h"
#include "mark/mark_roots.h"
#include "mark/team/team.h"
#include "tests/lib/white.h"

enum { LAYER_DATES = 512, LAYER_LOG = 32 };

/* What is kept of a thread: a letter for each thing that happened to it. */
struct layer_record {
    char log[LAYER_LOG];
    sgc_a32_t length;
};

/* By any thread: counters, each for itself.  By the test's thread: the rest. */
struct layer {
    sgc_a32_t stopped, visits, marks, over, given_up, before_fork, in_parent, in_child, kept_freed, kept_moved;
    sgc_a32_t threads_in_child;         /* that were still listed when the child was told */
    sgc_a32_t wrong;                    /* something was called where it should not be */
    sgc_aw_t keep;                      /* this object is kept; 0: none */
    uintptr_t *date;                    /* LAYER_DATES of them, in memory that is no root */
    const struct sgc_mutator *whose;    /* they are said to be this thread's */
    void (*at_stop)(void);
    void (*at_mark)(void);
};

SGC_STATE static struct layer layer;

static void layer_expect(bool right)
{
    if (!right)
        sgc_a32_add(&layer.wrong, 1);
}

static void layer_stopped(void)
{
    layer_expect(sgc_stopped_by_self());
    sgc_a32_add(&layer.stopped, 1);
    if (layer.at_stop != NULL)
        layer.at_stop();
}

static void layer_visit(void (*fn)(void *arg, const struct sgc_mutator *whose, struct sgc_range range), void *arg)
{
    layer_expect(sgc_stopped_by_self());
    sgc_a32_add(&layer.visits, 1);
    fn(arg, layer.whose, (struct sgc_range){ (uintptr_t)layer.date, (uintptr_t)(layer.date + LAYER_DATES) });
}

/* ---- marking by itself ---- */

SGC_STATE static uint32_t layer_next;

static bool layer_left(void)
{
    return layer_next < LAYER_DATES;
}

static bool layer_take(struct sgc_marker *marker)
{
    if (layer_next == LAYER_DATES)
        return false;
    sgc_mark_address(marker, layer.date[layer_next++]);
    return true;
}

static void layer_mark(struct sgc_team *team)
{
    static const struct sgc_source source = { layer_left, layer_take };

    layer_expect(sgc_stopped_by_self());
    sgc_a32_add(&layer.marks, 1);
    if (layer.at_mark != NULL)
        layer.at_mark();
    layer_next = 0;
    sgc_team_round(team, &source, false);
}

static void layer_over(bool complete)
{
    layer_expect(!sgc_world_stopped() && sgc_gc_lock_held());
    sgc_a32_add(complete ? &layer.over : &layer.given_up, 1);
}

/* ---- threads ---- */

static void layer_log(const struct sgc_mutator *m, char what)
{
    struct layer_record *r = (struct layer_record *)sgc_aw_load_acq(&m->upper);

    layer_expect(r != NULL);
    if (r != NULL)
        r->log[sgc_a32_add(&r->length, 1) % (LAYER_LOG - 1)] = what;
}

static void layer_log_own(struct sgc_mutator *self, char what)
{
    layer_expect(sgc_mutator_mine(self) && !sgc_world_is_blocked(self) && sgc_section_of(self)->held == 0);
    layer_log(self, what);
}

static void layer_blocks(struct sgc_mutator *self)
{
    layer_log_own(self, 'b');
}

static void layer_active(struct sgc_mutator *self)
{
    layer_log_own(self, 'a');
}

static void layer_thread_over(struct sgc_mutator *self)
{
    layer_log_own(self, 'o');
}

static void layer_vanished(struct sgc_mutator *m)
{
    layer_expect(m != sgc_mutator_self() && m->cache.id != 0 && !sgc_world_stopped());
    layer_log(m, 'v');
}

static bool layer_keeps(struct sgc_mutator *self, uintptr_t object, bool freed)
{
    layer_expect(sgc_mutator_mine(self) && sgc_section_of(self)->held == 0);
    if (object != sgc_aw_load_acq(&layer.keep))
        return false;
    sgc_a32_add(freed ? &layer.kept_freed : &layer.kept_moved, 1);
    return true;
}

/* ---- fork ---- */

static void layer_before_fork(void)
{
    layer_expect(sgc_gc_lock_held() && sgc_lock_taken(&sgc_pool.lock) && sgc_registry_locked());
    sgc_a32_add(&layer.before_fork, 1);
}

static void layer_in_parent(void)
{
    layer_expect(sgc_gc_lock_held() && sgc_lock_taken(&sgc_pool.lock));
    sgc_a32_add(&layer.in_parent, 1);
}

static void layer_in_child(struct sgc_mutator *self)
{
    layer_expect(self == sgc_mutator_self() && sgc_registry_locked());
    sgc_a32_store(&layer.threads_in_child, sgc_registry.count);
    sgc_a32_add(&layer.in_child, 1);
}

/* ---- start ---- */

TEST_UNUSED static const struct sgc_upper layer_of_roots = {
    .stopped = layer_stopped, .visit = layer_visit, .over = layer_over, .blocks = layer_blocks, .active = layer_active,
    .thread_over = layer_thread_over, .vanished = layer_vanished, .keeps = layer_keeps, .before_fork = layer_before_fork,
    .after_fork_parent = layer_in_parent, .after_fork_child = layer_in_child,
};

TEST_UNUSED static const struct sgc_upper layer_that_marks = {
    .stopped = layer_stopped, .visit = layer_visit, .mark = layer_mark, .over = layer_over,
};

TEST_UNUSED static void layer_start(const struct sgc_upper *upper)
{
    layer.date = sgc_mem_obtain(LAYER_DATES * sizeof *layer.date);
    layer.whose = sgc_mutator_self();
    if (layer.date == NULL)
        tap_bail("the system has no memory");
    sgc_upper_start(sgc_mutator_self(), upper);
}

/* From now on something is kept of the calling thread. */
TEST_UNUSED static void layer_join(struct layer_record *record)
{
    sgc_aw_store_rel(&sgc_mutator_self()->upper, (uintptr_t)record);
}

#endif
