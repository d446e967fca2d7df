/* SPDX-License-Identifier: MIT */
/*
 * What a thread in a blocked region may call.  It counts as stopped: it waits for no stop at a section's end, and leaves its
 * cache alone.
 */
#include "gc/collect/external_stop.h"
#include "gc/pacing/counts.h"
#include "gc/threads/gc_lock.h"
#include "tests/lib/white.h"

/* ---- questions ------------------------------------------------------------------------------------ */

static sgc_a32_t asked, may_end;

static void ask_inside(TEST_UNUSED void *unused)
{
    struct sgc_counts counts;
    struct sgc_object object;

    while (!sgc_a32_load_acq(&may_end)) {
        sgc_object_find((uintptr_t)&counts, &object);
        sgc_counts_get(&counts);
        sgc_counts_freed_since();
        sgc_counts_freed_total();
        sgc_a32_add(&asked, 1);
    }
}

static void ask_blocked(TEST_UNUSED void *unused)
{
    white_blocked(ask_inside, NULL);
}

static void test_questions(void)
{
    pthread_t thread = white_start(ask_blocked, NULL);
    bool answered;

    white_reached(&asked, 1);
    sgc_external_stop(sgc_mutator_self());
    answered = white_reached(&asked, sgc_a32_load_acq(&asked) + 3);
    sgc_external_resume(sgc_mutator_self());
    tap_ok(answered, "questions are answered while another thread has stopped the world");
    sgc_a32_store_rel(&may_end, 1);
    white_join(thread);
}

/* ---- a stop ----------------------------------------------------------------------------------------- */

static sgc_a32_t locked;

static void *hold_registry(void *unused)
{
    sgc_lock(&sgc_registry.lock, NULL);
    sgc_a32_store_rel(&locked, 1);
    sgc_sleep_ns(50 * WHITE_MS);
    sgc_unlock(&sgc_registry.lock, NULL);
    return unused;
}

static void stop_inside(void *stays)
{
    struct sgc_mutator *self = sgc_mutator_self();

    if (sgc_external_stop(self))
        sgc_external_resume(self);
    *(bool *)stays = sgc_world_is_blocked(self);
}

static void test_stop(void)
{
    pthread_t holder = thread_start(hold_registry, NULL);
    bool stays = false;

    white_reached(&locked, 1);
    white_blocked(stop_inside, &stays);
    tap_ok(stays, "a thread that waits for a stop of its own stays in the region");
    pthread_join(holder, NULL);
}

/* ---- a section that was left by a jump -------------------------------------------------------------- */

TEST_NOINLINE static void leave_section_open(void)
{
    sgc_section_enter(sgc_section_self());
}

static void lock_inside(void *recorded)
{
    sgc_gc_lock_acquire(sgc_mutator_self());
    *(bool *)recorded = sgc_section_inside(sgc_section_self());
    sgc_gc_lock_release();
}

static void test_abandoned(void)
{
    bool recorded = false;

    leave_section_open();
    white_blocked(lock_inside, &recorded);
    tap_ok(recorded, "who takes the GC lock does not repair its cache");
    sgc_gc_lock_acquire(sgc_mutator_self());
    tap_ok(!sgc_section_inside(sgc_section_self()), "but outside the region");
    sgc_gc_lock_release();
}

int main(void)
{
    white_init();
    return tap_all(test_questions, test_stop, test_abandoned);
}
