/* SPDX-License-Identifier: MIT */
/*
 * Static roots: what is one by itself, what a client adds, removes and excludes.  The objects of interest are
 * pointed at from memory that no collector knows of by itself (api_outside), and are made by a thread that is gone.
 */
#include "api.h"

/* One added range with this many pointers; thousands of ranges with one each. */
enum { WORDS = 64, RANGES = api_on_sgc ? 5000 : 1500, STRIDE = 8 };     /* bdwgc ends at 2048 ranges */

static GC_hidden_pointer hidden[WORDS], many_hidden[RANGES];
static void **outside, **many;

/* Fills `outside`, each word with a new object. */
static void fill_outside(void)
{
    api_fill(outside, hidden, WORDS);
}

/* Makes new objects, with these words as roots, then collects; the number of objects alive. */
static int survivors(int first, int last)
{
    GC_disable();
    api_run(fill_outside);
    GC_add_roots(outside + first, outside + last);
    GC_enable();
    return api_survive(hidden, WORDS);
}

/* A few may survive by accident: stale words exist. */
static bool about(int alive, int wanted)
{
    return alive >= wanted && alive <= wanted + 3;
}

static bool alive_from_to(int first, int last)
{
    return api_alive(hidden + first, last - first) == last - first;
}

/* ---- add and remove -------------------------------------------------------------------------- */

static void check_add(void)
{
    int alive = survivors(0, 0);

    tap_ok(about(alive, 0), "memory that is no root keeps nothing alive (%d of %d)", alive, WORDS);
    alive = survivors(0, WORDS);
    tap_ok(alive == WORDS, "an added range does");
    GC_remove_roots(outside, outside + WORDS);
    tap_ok(about(api_survive(hidden, WORDS), 0), "and no more when it is removed");
    alive = survivors(16, 32);
    tap_ok(about(alive, 16) && alive_from_to(16, 32), "only the words inside count");
    GC_remove_roots(outside, outside + WORDS);
    tap_ok(about(survivors(0, 0), 0), "a larger range removes the smaller");
}

static void check_remove_part(void)
{
    survivors(16, 32);
    GC_remove_roots(outside + 20, outside + 40);
    GC_remove_roots(outside + 17, outside + 31);
    api_collect();
    tap_ok(alive_from_to(16, 32), "a range that sticks out of what is removed stays whole");
    GC_remove_roots(outside + 16, outside + 32);
    tap_ok(about(api_survive(hidden, WORDS), 0), "its own ends remove it");
}

static void check_overlap(void)
{
    GC_add_roots(outside + 10, outside + 30);
    GC_add_roots(outside + 20, outside + 50);
    GC_add_roots(outside + 50, outside + 60);
    GC_add_roots(outside + 12, outside + 20);
    GC_add_roots(outside + 10, outside + 30);
    survivors(0, 0);
    tap_ok(about(api_alive(hidden, WORDS), 50) && alive_from_to(10, 60), "overlapping and nested ranges all count");
    GC_remove_roots(outside, outside + WORDS);
    tap_ok(about(api_survive(hidden, WORDS), 0), "and are all removed by one that contains them");
}

static void check_ends(void)
{
    char *low = (char *)(outside + 16), *high = (char *)(outside + 32);

    GC_add_roots(low + 1, high + 7);
    survivors(0, 0);
    tap_ok(about(api_alive(hidden, WORDS), 15) && alive_from_to(17, 32), "of odd ends, the whole words inside count");
    GC_clear_roots();
    tap_ok(about(survivors(0, 0), 0), "GC_clear_roots removes what was added");
}

/* ---- thousands ------------------------------------------------------------------------------- */

static void fill_many(void)
{
    for (int i = 0; i < RANGES; i++) {
        many[i * STRIDE] = GC_malloc_atomic(API_LARGE);
        many_hidden[i] = GC_HIDE_POINTER(many[i * STRIDE]);
    }
}

static void check_many(void)
{
    int alive;

    many = api_outside(RANGES * STRIDE * sizeof(void *));
    GC_disable();
    api_run(fill_many);
    for (int i = 0; i < RANGES; i++)
        GC_add_roots(many + i * STRIDE, many + i * STRIDE + 1);
    GC_enable();
    tap_ok(api_survive(many_hidden, RANGES) == RANGES, "%d ranges all count", RANGES);
    for (int i = 0; i < RANGES; i += 2)
        GC_remove_roots(many + i * STRIDE, many + i * STRIDE + 1);
    alive = api_survive(many_hidden, RANGES);
    tap_ok(about(alive, RANGES / 2), "every second one removed: half of the objects stay (%d)", alive);
    GC_remove_roots(many, many + RANGES * STRIDE);
    tap_ok(about(api_survive(many_hidden, RANGES), 0), "the rest removed at once: none");
}

/* ---- what is a root by itself ---------------------------------------------------------------- */

static int initial;
static void *volatile data_word = &initial, *volatile bss_word;  /* volatile: the stores matter */
static _Thread_local void *volatile thread_word;

static void fill_static(void)
{
    data_word = GC_malloc(API_LARGE);
    bss_word = GC_malloc(API_LARGE);
    hidden[0] = GC_HIDE_POINTER(data_word);
    hidden[1] = GC_HIDE_POINTER(bss_word);
}

static void *fill_thread_word(void *unused)
{
    thread_word = GC_malloc(API_LARGE);
    hidden[2] = GC_HIDE_POINTER(thread_word);
    api_collect();
    return (void *)(intptr_t)(api_alive(hidden + 2, 1) == 1 ? 1 : unused != NULL);
}

static void check_static(void)
{
    api_run(fill_static);
    tap_ok(api_survive(hidden, 2) == 2, "initialised and zeroed static data are roots");
    tap_ok(!api_on_sgc || api_in_thread(fill_thread_word, NULL) == (void *)1, "thread-local data is a root");
    data_word = bss_word = NULL;
    tap_ok(api_survive(hidden, 3) == 0, "until the words change, and the thread ends");
}

/* ---- exclusion: in children ------------------------------------------------------------------ */

static void *volatile table[WORDS];

static void *table_at(int index)
{
    return (void *)(uintptr_t)(table + index);
}

/* Without a collection meanwhile: it could hand the same memory to two words of the table. */
static void fill_table(void)
{
    api_fill(table, hidden, WORDS);
}

static void exclude(void)
{
    GC_exclude_static_roots(table_at(16), table_at(32));
    if (api_on_sgc) {
        GC_exclude_static_roots(table_at(30), table_at(40));
        GC_exclude_static_roots(table_at(20), table_at(21));
    }
    api_make(fill_table);
    api_collect();
    API_CHILD(alive_from_to(0, 16) && alive_from_to(40, WORDS) && api_alive(hidden + 16, api_on_sgc ? 24 : 16) <= 3);
    if (!api_on_sgc)
        return;
    GC_clear_exclusion_table();
    api_make(fill_table);
    api_collect();
    API_CHILD(alive_from_to(0, WORDS));
}

static void exclude_added(void)
{
    outside = api_outside(WORDS * sizeof(void *));
    GC_exclude_static_roots(outside + 16, outside + 32);
    survivors(0, WORDS);
    API_CHILD(alive_from_to(0, 16) && alive_from_to(32, WORDS) && api_alive(hidden + 16, 16) <= 3);
}

static void no_static_data(void)
{
    GC_set_no_dls(1);
    GC_INIT();
    outside = api_outside(WORDS * sizeof(void *));
    api_make(fill_table);
    API_CHILD(api_survive(hidden, WORDS) <= 3);
    API_CHILD(survivors(0, WORDS) == WORDS);
    GC_set_no_dls(0);
    api_make(fill_table);
    api_collect();
    API_CHILD(alive_from_to(0, WORDS));
}

static volatile int filter_calls, filter_found;

static int filter(const char *name, void *start, size_t size)
{
    filter_calls++;
    if (name == NULL || (char *)start > (char *)table_at(0) || (char *)start + size <= (char *)table_at(0))
        return 1;
    filter_found++;
    return 0;
}

static void filter_module(void)
{
    GC_register_has_static_roots_callback(filter);
    GC_INIT();
    api_make(fill_table);
    api_collect();
    API_CHILD(filter_calls > 1 && filter_found >= 1);
    API_CHILD(api_alive(hidden, WORDS) <= 3);
}

/* ---- wrong ranges: in children --------------------------------------------------------------- */

static void empty_range(void)
{
    GC_add_roots(table_at(0), table_at(0));
    GC_remove_roots(table_at(0), table_at(0));
    GC_exclude_static_roots(table_at(0), table_at(0));
    GC_remove_roots(table_at(0), table_at(10));
    api_collect();
}

static void add(void *from, void *to)
{
    GC_INIT();
    GC_add_roots(from, to);
    api_collect();
}

int main(void)
{
    api_check_started(exclude, NULL,
                      "excluded ranges of static data, which may overlap, are no roots until they are forgotten");
    api_check_child(no_static_data, NULL, "with GC_set_no_dls(1) only what is added is a root");
    api_check_child(filter_module, NULL, "a filter takes a module's data out");
    api_check_started(empty_range, NULL, "empty ranges are ignored");
    if (api_on_sgc) {
        api_check_child_of(add(table_at(10), table_at(0)), "GC_add_roots", "a reversed range is reported");
        api_check_child_of(add(NULL, table_at(1)), "GC_add_roots", "a range from NULL is reported");
    }
    api_check_started(exclude_added, NULL, "exclusion holds for added ranges too");
    GC_INIT();
    outside = api_outside(WORDS * sizeof(void *));
    return tap_all(check_add, check_remove_part, check_overlap, check_ends, check_many, check_static);
}
