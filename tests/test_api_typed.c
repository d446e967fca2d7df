/* SPDX-License-Identifier: MIT */
/*
 * Typed objects: words in the descriptor keep what they point at, the others do not.  With API_PEER it runs on bdwgc's
 * library.
 */
#include "api.h"

#include <gc/gc_typed.h>

enum { MOST = 5000 };           /* words of the longest type */

static GC_hidden_pointer *kept, *lost;      /* not roots */
static void *volatile root;

/* ---- one object with that bitmap, and something large at each place ---- */

struct type {
    size_t words;               /* of the object */
    size_t length;              /* of the bitmap */
    size_t step;                /* so many words apart are looked at */
    bool (*is_pointer)(size_t n);
};

static GC_descr describe(const struct type *t)
{
    GC_word bits[MOST / GC_WORDSZ + 1] = { 0 };

    for (size_t n = 0; n < t->length; n++)
        if (t->is_pointer(n))
            GC_set_bit(bits, n);
    return GC_make_descriptor(bits, t->length);
}

static void *make(void *arg)
{
    const struct type *t = arg;
    void **object;

    GC_disable();
    object = GC_malloc_explicitly_typed(t->words * sizeof *object, describe(t));
    for (size_t n = 0; n < t->words; n++)
        API_CHILD(object[n] == NULL);
    for (size_t n = 0; n < t->words; n += t->step) {
        GC_hidden_pointer *places = n < t->length && t->is_pointer(n) ? kept : lost;

        object[n] = GC_malloc_atomic(API_LARGE);
        places[n] = GC_HIDE_POINTER(object[n]);
    }
    root = object;
    GC_enable();
    return arg;
}

static int expected(const struct type *t)
{
    int count = 0;

    for (size_t n = 0; n < t->words; n += t->step)
        count += n < t->length && t->is_pointer(n);
    return count;
}

static void check_type(const struct type *t)
{
    memset(kept, 0, MOST * sizeof *kept);
    memset(lost, 0, MOST * sizeof *lost);
    api_in_thread(make, (void *)(uintptr_t)t);
    api_collect();
    API_CHILD(api_alive(kept, MOST) == expected(t));
    API_CHILD(api_alive(lost, MOST) <= 1);
    root = NULL;
    api_collect();
    API_CHILD(api_alive(kept, MOST) <= 1);
}

static bool never(size_t n) { (void)n; return false; }
static bool always(size_t n) { (void)n; return true; }
static bool even(size_t n) { return n % 2 == 0; }
static bool third(size_t n) { return n % 3 == 2; }
static bool late(size_t n) { return n >= 60 && n % 2 == 1; }

static void start(void)
{
    GC_INIT();
    kept = api_outside(MOST * sizeof *kept);
    lost = api_outside(MOST * sizeof *lost);
}

static void check_bitmaps(void)
{
    static const struct type types[] = {
        { 4, 4, 1, never }, { 4, 4, 1, always }, { 4, 4, 1, even }, { 3, 3, 1, third }, { 10, 5, 1, always }, { 10, 5, 1, even },
        { 61, 61, 1, third }, { 62, 62, 1, even }, { 63, 63, 1, even }, { 64, 64, 1, third }, { 65, 65, 1, even },
        { 127, 126, 1, even }, { 200, 189, 1, third }, { 200, 200, 1, late }, { 200, 190, 1, never }, { 200, 150, 1, always },
        { 5000, 5000, 19, third }, { 5000, 4099, 20, even }, { 5000, 4100, 21, late }, { 5000, 40, 23, even },
    };

    start();
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        check_type(&types[i]);
}

static void with_markers(const char *markers)
{
    setenv("GC_MARKERS", markers, 1);
    check_bitmaps();
}

static void one(void) { with_markers("1"); }
static void eight(void) { with_markers("8"); }

int main(void)
{
    api_check_child(one, NULL, "bitmaps of all lengths, one marker");
    api_check_child(eight, NULL, "eight markers");
    return tap_done();
}
