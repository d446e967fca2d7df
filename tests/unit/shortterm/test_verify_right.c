/* SPDX-License-Identifier: MIT */
/*
 * Right programs, of many kinds: each runs with free, and does what it should; and verify, with a check at each tick, calls
 * nothing certain in it.
 */
#define GC_THREADS

#include <stdatomic.h>

#include "gc/gc.h"
#include "gc/gc_disclaim.h"
#include "gc/gc_typed.h"
#include "sgc_shortterm.h"
#include "tests/lib/child.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/threads.h"

enum { SLOTS = 64, ROUNDS = 60 };

struct item {
    struct item *next;
    uintptr_t value;
    char text[40];
};

static struct item *table[SLOTS];
static int calls;
static atomic_int wrong;                 /* by any thread */

static bool frees(void)
{
    return SGC_shortterm_mode() == SGC_SHORTTERM_FREE;
}

static struct item *fill(struct item *item, uintptr_t value)
{
    item->value = value;
    return item;
}

static void look(const struct item *item, uintptr_t value)
{
    wrong += item->value != value;
}

static void tick_and_expire(int times)
{
    for (int i = 0; i < times; i++) {
        SGC_tick();
        SGC_expire(SIZE_MAX);
    }
}

/* ---- a table whose objects are refreshed as long as they are in it ---- */

static void refreshed(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SLOTS; i++)
            if (i % 8 == round % 8)
                table[i] = fill(GC_MALLOC(sizeof *table[i]), (uintptr_t)i);
            else if ((i + round) % 16 == 0)
                table[i] = NULL;
        for (int i = 0; i < SLOTS; i++)
            if (table[i] != NULL) {
                look(table[i], (uintptr_t)i);
                SGC_refresh(table[i], 1);
            }
        SGC_tick();
    }
    memset(table, 0, sizeof table);
}

/* ---- uncollectable objects with dates: also such that lead to each other ---- */

static void uncollectable(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct item *list = NULL;

        for (int i = 0; i < 8; i++) {
            struct item *item = GC_malloc_uncollectable(i % 4 == 0 ? 40000 : sizeof *item);

            item->next = list;
            list = fill(item, (uintptr_t)i);
            SGC_refresh(list, (unsigned)(round % 3));
        }
        list = SGC_malloc_dated(sizeof *list, 0, 0);
        table[0] = GC_malloc_uncollectable(sizeof *list);
        table[0]->next = list;
        SGC_refresh(table[0], 0);
        table[0] = NULL;
        SGC_tick();
    }
}

/* ---- objects whose own procedures take them out of a table, or keep them there ---- */

static int take_out(void *object)
{
    struct item *item = object;

    calls++;
    wrong += table[item->value] != item;
    table[item->value] = NULL;
    return 0;
}

static void cache(void)
{
    int made = 0;

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SLOTS; i++) {
            if (table[i] != NULL)
                continue;
            table[i] = fill(GC_MALLOC(sizeof *table[i]), (uintptr_t)i);
            SGC_set_expiry_proc(table[i], take_out);
            SGC_refresh(table[i], (unsigned)i % 4);
            made++;
        }
        tick_and_expire(1);
    }
    tick_and_expire(6);
    wrong += calls != made;
    for (int i = 0; i < SLOTS; i++)
        wrong += table[i] != NULL;
}

static int keep(void *object)
{
    calls++;
    wrong += ((struct item *)object)->value >= SLOTS;
    return 1;
}

/* They stay where they are, as the program's. */
static void kept(void)
{
    for (int i = 0; i < SLOTS; i++) {
        table[i] = fill(GC_MALLOC(sizeof *table[i]), (uintptr_t)i);
        SGC_set_expiry_proc(table[i], keep);
        SGC_refresh(table[i], (unsigned)i % 4);
    }
    tick_and_expire(8);
    wrong += calls != SLOTS;
    for (int i = 0; i < SLOTS; i++)
        look(table[i], (uintptr_t)i);
}

/* ---- objects that dates do not free: with finalizers, links, closures ---- */

static void finalize(void *object, void *data) { (void)object, (void)data; }

static const struct GC_finalizer_closure closure = { finalize, NULL };
static void *links[SLOTS];

static GC_ToggleRefStatus stay(void *object)
{
    return object != NULL ? GC_TOGGLE_REF_STRONG : GC_TOGGLE_REF_DROP;
}

static void finalized(void)
{
    GC_set_toggleref_func(stay);
    GC_init_finalized_malloc();
    for (int i = 0; i < SLOTS; i++) {
        table[i] = i % 4 == 0 ? GC_finalized_malloc(sizeof *table[i], &closure) : GC_MALLOC(sizeof *table[i]);
        fill(table[i], (uintptr_t)i);
        if (i % 4 == 1)
            GC_register_finalizer(table[i], finalize, NULL, NULL, NULL);
        else if (i % 4 == 2)
            GC_general_register_disappearing_link(&links[i], table[i]);
        else if (i % 4 == 3)
            GC_toggleref_add(table[i], 1);
        SGC_refresh(GC_base(table[i]), (unsigned)i % 3);
    }
    tick_and_expire(8);
    for (int i = 0; i < SLOTS; i++)
        look(table[i], (uintptr_t)i);
}

/* ---- objects with guards, typed ones, and such without pointers ---- */

static void of_sorts(void)
{
    GC_word bitmap[1] = { 1 };
    GC_descr first = GC_make_descriptor(bitmap, 8);

    for (int round = 0; round < ROUNDS; round++) {
        struct item *guarded = GC_debug_malloc(sizeof *guarded, "here.c", round);
        struct item *typed = GC_malloc_explicitly_typed(64, first), *plain = GC_MALLOC_ATOMIC(64);

        SGC_refresh(guarded, 0);
        SGC_refresh(typed, 0);
        SGC_refresh(plain, 0);
        typed->next = guarded;
        typed->value = (uintptr_t)plain;
        guarded->next = typed;
        table[0] = guarded;
        look(fill(table[0], 7), 7);
        table[0] = NULL;
        SGC_tick();
    }
}

/* ---- holds, clocks, and frees by hand of what was never dated ---- */

static void held(void)
{
    SGC_clock_t *clock = SGC_clock_new();

    for (int round = 0; round < ROUNDS; round++) {
        struct item *other = GC_MALLOC(sizeof *other);

        for (int i = 0; i < SLOTS / 2; i++) {
            table[i] = fill(GC_MALLOC(sizeof *table[i]), (uintptr_t)i);
            SGC_hold(table[i]);
            SGC_refresh_clock(table[i], 1, clock);
            SGC_refresh(table[i], 0);
        }
        SGC_tick();
        SGC_tick_clock(clock);
        for (int i = 0; i < SLOTS / 2; i++) {
            look(table[i], (uintptr_t)i);
            SGC_unhold(table[i]);
        }
        memset(table, 0, sizeof table);
        GC_free(other);
        SGC_tick_clock(clock);
    }
    SGC_clock_release(clock);
}

/* ---- threads, and what they hand on ---- */

static struct item *handed[4];

static void *hands_on(void *which)
{
    intptr_t n = (intptr_t)which;

    for (int round = 0; round < ROUNDS; round++) {
        handed[n] = fill(GC_MALLOC(sizeof *handed[n]), (uintptr_t)n);
        SGC_refresh_global(handed[n], 0);
        look(handed[n], (uintptr_t)n);
        handed[n] = NULL;
        SGC_tick_global();
        SGC_tick();
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread[3];

    threads_start(thread, 3, hands_on);
    threads_join(thread, 3);
}

/* ---- regions, and objects beside them ---- */

static void regions(void)
{
    SGC_region_t *region = SGC_region_new();

    for (int round = 0; round < ROUNDS; round++) {
        struct item *list = NULL;

        for (int i = 0; i < SLOTS; i++) {
            struct item *item = SGC_region_malloc(region, sizeof *item);

            item->next = list;
            list = fill(item, (uintptr_t)i);
        }
        table[1] = list;
        SGC_region_refresh(region, 0);
        look(table[1], SLOTS - 1);
        table[1] = NULL;
        SGC_tick();
    }
}

/* ---- a fork: both go on ---- */

static void forks(void)
{
    pid_t child;

    GC_set_handle_fork(1);
    for (int i = 0; i < SLOTS; i++)
        table[i] = fill(SGC_malloc_dated(sizeof *table[i], 0, 0), (uintptr_t)i);
    memset(table, 0, sizeof table);
    SGC_tick();
    child = child_begin();
    refreshed();
    if (child == 0)
        _exit(wrong != 0);
    wrong += child_wait(child) != 0;
}

/* ---- the table ---- */

static const struct program {
    void (*run)(void);
    const char *name;
    bool sanitized;                     /* it can be run with sanitizers */
} programs[] = {
    { refreshed, "a table whose objects are refreshed", true }, { uncollectable, "uncollectable objects with dates", true },
    { cache, "objects whose procedures take them out of a table", true }, { kept, "procedures that keep their objects", true },
    { finalized, "objects with finalizers, links, toggle references and closures", true },
    { of_sorts, "objects with guards, typed ones, and without pointers", true }, { held, "holds and clocks", true },
    { threads, "threads with global time", true }, { regions, "regions", true }, { forks, "a fork", false },
};
static const struct program *program;

/* Elsewhere, so that the stack of who tells has no words of it. */
static void *run_there(void *unused)
{
    program->run();
    SGC_tick();
    SGC_tick();
    return unused;
}

static int run(void)
{
    if (TEST_SANITIZED && !program->sanitized)
        return CHILD_SKIPS;
    GC_INIT();
    GC_allow_register_threads();
    pthread_join(thread_start(run_there, NULL), NULL);
    SGC_shortterm_check(NULL, NULL);
    return wrong != 0 || frees() != (strcmp(getenv("SGC_SHORTTERM"), "free") == 0);
}

static void check(void)
{
    const char *said;
    int status;

    setenv("SGC_SHORTTERM", "free", 1);
    child_ok(run, "free: %s", program->name);
    setenv("SGC_SHORTTERM", "verify", 1);
    setenv("SGC_SHORTTERM_CHECK", "1", 1);
    capture_begin();
    status = run_in_child(run);
    said = capture_end();
    unsetenv("SGC_SHORTTERM_CHECK");
    if (status == CHILD_SKIPS)
        tap_skip("verify: %s", program->name);
    else if (!tap_ok(status == 0 && strstr(said, "certainly") == NULL, "verify calls nothing certain: %s", program->name))
        tap_diag("status %d, said: %.900s", status, said);
}

int main(void)
{
    setenv("SGC_MODE", "stop", 1);
    for (program = programs; program < programs + sizeof programs / sizeof programs[0]; program++)
        check();
    return tap_done();
}
