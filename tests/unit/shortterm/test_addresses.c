/* SPDX-License-Identifier: MIT */
/*
 * Each function of sgc_shortterm.h takes the same addresses for objects: for each way to allocate one, with guards or without,
 * they agree about its first address, the one that the program has, and all others, in each mode.
 *
 * Also: shortterm/start.c.
 */
#define GC_THREADS

#include <errno.h>
#include <stdint.h>

#include "gc/gc.h"
#include "gc/gc_disclaim.h"
#include "gc/gc_gcj.h"
#include "gc/gc_typed.h"
#include "tests/lib/child.h"
#include "tests/unit/shortterm/shortterm.h"

enum { SMALL = 100, LARGE = 300000 };

static int mode;

/* ---- ways to allocate ---- */

static void nothing(void *object, void *data) { (void)object, (void)data; }

static const struct GC_finalizer_closure closure = { nothing, NULL };

static void *typed(void)
{
    GC_word bitmap[1] = { 5 };

    return GC_malloc_explicitly_typed(SMALL, GC_make_descriptor(bitmap, 13));
}

static void *finalizable(void)
{
    void *object = GC_malloc(SMALL);

    GC_register_finalizer_no_order(object, nothing, NULL, NULL, NULL);
    return object;
}

static void *small(void) { return GC_malloc(SMALL); }
static void *large(void) { return GC_malloc(LARGE); }
static void *plain(void) { return GC_malloc_atomic(SMALL); }
static void *aligned(void) { return GC_memalign(4096, SMALL); }
static void *uncollectable(void) { return GC_malloc_uncollectable(SMALL); }
static void *large_uncollectable(void) { return GC_malloc_uncollectable(LARGE); }
static void *disclaim(void) { return GC_base(GC_finalized_malloc(SMALL, &closure)); }
static void *dated(void) { return SGC_malloc_dated(SMALL, 1, 0); }
static void *debug(void) { return GC_debug_malloc(SMALL, "here.c", 1); }
static void *debug_large(void) { return GC_debug_malloc(LARGE, "here.c", 2); }
static void *debug_plain(void) { return GC_debug_malloc_atomic(SMALL, "here.c", 3); }
static void *debug_uncollectable(void) { return GC_debug_malloc_uncollectable(SMALL, "here.c", 4); }
static void *debug_string(void) { return GC_debug_strdup("a string of some bytes", "here.c", 5); }

static const struct way {
    void *(*make)(void);
    const char *name;
} ways[] = {
    { small, "small" }, { large, "large" }, { plain, "pointer-free" }, { aligned, "aligned" }, { typed, "typed" },
    { uncollectable, "uncollectable" }, { large_uncollectable, "large and uncollectable" }, { disclaim, "with a closure" },
    { finalizable, "with a finalizer" }, { dated, "with a date" }, { debug, "with guards" },
    { debug_large, "large with guards" },
    { debug_plain, "pointer-free with guards" }, { debug_uncollectable, "uncollectable with guards" },
    { debug_string, "a string with guards" },
};
static const struct way *way;

/* ---- what each function says of an address ---- */

static SGC_clock_t *rhythm;
static int called_with_other;
static void *due;

static int proc(void *object)
{
    called_with_other += object != due;
    return 0;
}

/* How many functions do not say `error`; 0 is EINVAL for who takes a hold back that nobody has. */
static int disagree(void *address, int error)
{
    int wrong = SGC_refresh(address, 0) != error, dates;

    wrong += SGC_refresh_global(address, 1) != error || SGC_refresh_clock(address, 2, rhythm) != error;
    wrong += SGC_refresh_clock(address, 0, NULL) != error || SGC_refresh_reachable(address, 1, 0, 1000) != error;
    wrong += SGC_unhold(address) != EINVAL || SGC_hold(address) != error;
    dates = SGC_dates(address);
    wrong += mode == SGC_SHORTTERM_PIN || error != 0 ? dates > 0 : dates < 6;
    wrong += SGC_unhold(address) != (error != 0 ? EINVAL : 0) || SGC_set_expiry_proc(address, NULL) != error;
    return wrong;
}

static int agree(void)
{
    char *object = way->make(), *base = GC_base(object);
    size_t bytes = GC_size(base), inside[] = { 1, 8, 16, 48, 96 };
    int wrong = disagree(object, 0) + disagree(base, 0);

    for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++)
        if (inside[i] < bytes && base + inside[i] != object)
            wrong += disagree(base + inside[i], EINVAL);
    wrong += disagree(base + bytes - 1, EINVAL) + disagree(NULL, EINVAL) + disagree(&mode, EINVAL);
    GC_reachable_here(object);
    return wrong;
}

/* What is freed is gone for all of them. */
static int freed(void)
{
    char *object = way->make(), *base = GC_base(object);

    if (way->make == dated && mode != SGC_SHORTTERM_PIN)
        return 0;                       /* it is not freed */
    if (object != base)
        GC_debug_free(object);
    else
        GC_free(object);
    return disagree(object, ESTALE);
}

/* A date by either address is one of the object, and what is to be done is done with the address that the program has. */
static int goes(void)
{
    char *object = way->make(), *base = GC_base(object);
    int wrong = SGC_refresh(object, 1) != 0 || SGC_refresh(base, 0) != 0 || SGC_set_expiry_proc(object, proc) != 0;

    due = object;
    wrong += SGC_tick() != 0 || SGC_refresh(object, 0) != 0 || SGC_tick() != 0;
    wrong += mode == SGC_SHORTTERM_FREE && way->make != disclaim && SGC_dates(object) != -1;
    return wrong + called_with_other;
}

static int run(int (*body)(void))
{
    GC_init_finalized_malloc();
    choose(mode, 3, SGC_SHORTTERM_EAGER, -1, -1);
    rhythm = SGC_clock_new();
    return rhythm == NULL ? 100 : body();
}

int main(void)
{
    unsetenv("SGC_SHORTTERM");
    for (mode = 0; mode < 4; mode++)
        for (way = ways; way < ways + sizeof ways / sizeof ways[0]; way++) {
            child_ok_of(run(agree), "%s: all functions agree about an object, %s", mode_names[mode], way->name);
            child_ok_of(run(freed), "%s: and when it has been freed", mode_names[mode]);
            child_ok_of(run(goes), "%s: it has dates by each of its addresses", mode_names[mode]);
        }
    return tap_done();
}
