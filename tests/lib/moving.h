/* SPDX-License-Identifier: MIT */
/*
 * Processes that move objects about and compare them with a copy that is no object, while something goes wrong: for tests of
 * concurrent cycles.  Each loses nothing, comes to its end, collects beside the program or in stops as is expected, and
 * says just what is expected, once.
 */
#ifndef TESTS_LIB_MOVING_H
#define TESTS_LIB_MOVING_H

#define GC_THREADS 1
#define GC_NO_THREAD_REDIRECTS 1
#include <gc/gc.h>

#include <sys/mman.h>

#include "gc/collect/concurrent.h"
#include "gc/events/events.h"
#include "platform/dirty.h"
#include "tests/lib/child.h"
#include "tests/lib/random.h"
#include "tests/lib/white.h"

enum { NODES = 12000, CYCLES = 3, SECONDS = 20, WORDS = 12 };

/* ---- objects that move about, and what they are to be ---- */

struct leaf {
    uintptr_t id;
};

struct node {
    struct leaf *leaf;
    uintptr_t id, fill[WORDS];
};

static struct node **table;
static uintptr_t ids[NODES], leaves[NODES];
static uintptr_t next_id = 1;
static uint64_t seed = 1;

static uint32_t below(uint32_t n)
{
    return random_below(&seed, n);
}

/* For the source that knows of a store only if it is told. */
static void stored(void *object, size_t bytes)
{
    sgc_dirty_report_range((uintptr_t)object, bytes);
}

/* False: there is no memory. */
static bool make(uint32_t i)
{
    struct node *n = GC_malloc(sizeof *n);
    struct leaf *leaf = GC_malloc(sizeof *leaf);

    if (n == NULL || leaf == NULL)
        return false;
    *n = (struct node){ .leaf = leaf, .id = ids[i] = next_id++ };
    leaf->id = leaves[i] = next_id++;
    stored(n, sizeof *n);
    table[i] = n;
    stored(&table[i], sizeof table[i]);
    return true;
}

static void swap_nodes(uint32_t i, uint32_t j)
{
    struct node *n = table[i];
    uintptr_t id = ids[i], leaf = leaves[i];

    table[i] = table[j], ids[i] = ids[j], leaves[i] = leaves[j];
    table[j] = n, ids[j] = id, leaves[j] = leaf;
    stored(&table[i], sizeof table[i]);
    stored(&table[j], sizeof table[j]);
}

static void swap_leaves(uint32_t i, uint32_t j)
{
    struct leaf *leaf = table[i]->leaf;
    uintptr_t id = leaves[i];

    table[i]->leaf = table[j]->leaf, leaves[i] = leaves[j];
    table[j]->leaf = leaf, leaves[j] = id;
    stored(table[i], sizeof *table[i]);
    stored(table[j], sizeof *table[j]);
}

static bool change(void)
{
    uint32_t i = below(NODES), j = below(NODES);

    switch (below(4)) {
    case 0: swap_nodes(i, j); return true;
    case 1: swap_leaves(i, j); return true;
    default: return make(i);
    }
}

WHITE_UNUSED static void change_often(int times)
{
    while (times-- > 0)
        change();
}

WHITE_UNUSED static bool right(void)
{
    for (uint32_t i = 0; i < NODES; i++)
        if (table[i]->id != ids[i] || table[i]->leaf->id != leaves[i] || table[i]->fill[WORDS - 1] != 0)
            return false;
    return true;
}

/* ---- cycles ---- */

static sgc_a32_t beside, cycles;        /* cycles beside the program; all */

static void at_end(WHITE_UNUSED void *unused, const struct sgc_cycle_record *r)
{
    sgc_a32_add(&cycles, 1);
    if (r->earlier_stops != 0)
        sgc_a32_add(&beside, 1);
}

static const struct sgc_listener listener = { .cycle_end = at_end };

WHITE_UNUSED static uint64_t patience(void)
{
    return sgc_clock_ns() + (uint64_t)SECONDS * 1000000000;
}

WHITE_UNUSED static void begin(void)
{
    GC_INIT();
    sgc_listener_add(&listener);
    table = GC_malloc(NODES * sizeof *table);
    for (uint32_t i = 0; i < NODES; i++)
        make(i);
}

/* Until so many more have come of it. */
WHITE_UNUSED static bool work_for(const sgc_a32_t *count, uint32_t more)
{
    uint64_t until = patience();
    uint32_t wanted = sgc_a32_load(count) + more;

    while (sgc_a32_load(count) < wanted && sgc_clock_ns() < until)
        change_often(500);
    return sgc_a32_load(count) >= wanted;
}

WHITE_UNUSED static bool work_until_marking(bool marking)
{
    uint64_t until = patience();

    while (sgc_concurrent_marks() != marking && sgc_clock_ns() < until)
        change_often(marking ? 50 : 500);
    return sgc_concurrent_marks() == marking;
}

enum mode { STOPPED, BESIDE, EITHER };

WHITE_UNUSED static int end(enum mode mode)
{
    if (!work_for(&cycles, 1) || !work_for(mode == BESIDE ? &beside : &cycles, CYCLES))
        return 3;
    if (!right())
        return 1;
    GC_gcollect();
    if (!right())
        return 2;
    return mode == EITHER || GC_is_incremental_mode() == (mode == BESIDE) ? 0 : 4;
}

WHITE_UNUSED static int whole_run(enum mode mode)
{
    begin();
    return end(mode);
}

/* The process works, something happens in the middle of a cycle or between two, and it works on. */
WHITE_UNUSED static int disturbed(bool in_the_middle, bool (*happens)(void), enum mode mode)
{
    begin();
    if (!GC_is_incremental_mode() || !work_for(&beside, 1) || !work_until_marking(in_the_middle))
        return CHILD_SKIPS;
    if (!happens())
        return CHILD_SKIPS;
    return end(mode);
}

/* ---- what is said ---- */

/* Body returns 0 and nothing is said but that, once; NULL: nothing; after "+": and whatever else. */
TAP_PRINTF(3, 4) static void says(int (*body)(void), const char *message, const char *format, ...)
{
    char name[256];
    const char *text;
    bool more = message != NULL && message[0] == '+';
    int status;

    tap_format(name, format);
    message += more;
    capture_begin();
    status = run_in_child(body);
    text = capture_end();
    if (status == CHILD_SKIPS)
        tap_skip("%s: cannot be tried here", name);
    else if (!tap_ok(status == 0 && (more || capture_count(text, "SGC: ") == (message != NULL)) &&
                     (message == NULL || capture_count(text, message) == 1), "%s", name))
        tap_diag("status %d, said: %.600s", status, text);
}

/* ---- what any source must stand ---- */

WHITE_UNUSED static int little_address_space(void)
{
    struct rlimit little = { 400 << 20, 400 << 20 };

    return setrlimit(RLIMIT_AS, &little) == 0 ? whole_run(BESIDE) : CHILD_SKIPS;
}

WHITE_UNUSED static int locked_memory(void)
{
    return mlockall(MCL_CURRENT | MCL_FUTURE) == 0 ? whole_run(BESIDE) : CHILD_SKIPS;
}

WHITE_UNUSED static int plain(void)
{
    return whole_run(BESIDE);
}

enum { FORKS = 12 };

static int child_number;

/* One child in four collects beside itself; the others store and end. */
static int child_of_fork(void)
{
    if (child_number % 4 == 0)
        return end(BESIDE);
    change_often(3000);
    return right() ? 0 : 1;
}

WHITE_UNUSED static int forks(void)
{
    GC_set_handle_fork(1);
    begin();
    if (!GC_is_incremental_mode())
        return CHILD_SKIPS;
    for (child_number = 0; child_number < FORKS; child_number++) {
        pid_t child;

        if (child_number % 3 != 0)
            work_until_marking(true);
        child = child_start(child_of_fork);
        change_often(500);
        if (child_wait(child) != 0)
            return 5;
    }
    return end(BESIDE);
}

#endif
