/* SPDX-License-Identifier: MIT */
/*
 * Finalizers and disappearing links: so many objects are registered, die, and are finalized, or their links cleared.
 *
 *     finalizers   all live until the last is registered; finalizers without order
 *     links        the same; a link to each
 *     brief        each is dead as soon as the next one is there; finalizers run whenever the collector chooses
 *     living       each has a finalizer and a link, and all live while the program allocates, but for EXCHANGED in a million of
 *                  them, which others take the place of after each collection, until there were ROUNDS collections
 *
 * The time is from the first registration until the last finalizer has run, or the last link is cleared, of all rounds; the
 * first includes what memory costs when it is used for the first time.  Of the living the longest gap between two looks at the
 * clock counts.
 *
 *     finalize [finalizers|links|brief|living [OBJECTS [ROUNDS [EXCHANGED]]]]
 */
#include <stdlib.h>

#include "bench/cases/case.h"
#include "bench/measure.h"

enum { FINALIZERS, LINKS, BRIEF, LIVING, SIZE = 32, AT_ONCE = 64 };

static long ran;
static void **keep;             /* uncollectable */
static void **weak;             /* pointer-free */

static void finalizer(void *object, void *data)
{
    (void)object, (void)data;
    ran++;
}

static void make(int what, size_t objects)
{
    for (size_t i = 0; i < objects; i++) {
        void *p = obtained(GC_malloc(SIZE));

        if (what != BRIEF)
            keep[i] = p;
        if (what == LINKS) {
            weak[i] = p;
            GC_general_register_disappearing_link(&weak[i], p);
        } else {
            GC_register_finalizer_no_order(p, finalizer, NULL, NULL, NULL);
        }
    }
}

static void end(size_t objects)
{
    for (size_t i = 0; i < objects; i++)
        keep[i] = NULL;
    GC_gcollect();
    while (GC_should_invoke_finalizers())
        GC_invoke_finalizers();
}

static long cleared(size_t objects)
{
    long n = 0;

    for (size_t i = 0; i < objects; i++)
        n += weak[i] == NULL;
    return n;
}

static void make_living(size_t i)
{
    keep[i] = weak[i] = obtained(GC_malloc(SIZE));
    GC_general_register_disappearing_link(&weak[i], keep[i]);
    GC_register_finalizer_no_order(keep[i], finalizer, NULL, NULL, NULL);
}

/* The longest gap, once a collection has found all of them living. */
static double live(size_t objects, GC_word rounds, size_t exchanged)
{
    GC_word before = GC_get_gc_no(), seen = before + 1, now;
    uint64_t last = now_ns(), longest = 0, at;

    for (; (now = GC_get_gc_no()) - before <= rounds; last = at) {
        if (now > seen)
            for (size_t n = objects * exchanged / 1000000; n > 0; n--)
                make_living((size_t)(now * 7919 + n * 104729) % objects);
        if (now > seen)
            last = now_ns();
        seen = now > seen ? now : seen;
        for (int i = 0; i < AT_ONCE; i++)
            obtained(GC_malloc(SIZE));
        at = now_ns();
        if (now > before && at - last > longest)
            longest = at - last;
    }
    return (double)longest / 1e6;
}

static int measure_living(size_t objects, long rounds, size_t exchanged)
{
    for (size_t i = 0; i < objects; i++)
        make_living(i);
    figure("longest_gap_ms", live(objects, (GC_word)rounds, exchanged), "ms");
    figure("done", (double)ran, "objects");
    case_end();
    return 0;
}

int main(int argc, char **argv)
{
    int what = choice(argc, argv, 1, "finalizers|links|brief|living");
    size_t objects = (size_t)argument(argc, argv, 2, 1000000, 1, 1 << 30);
    long rounds = argument(argc, argv, 3, 3, 1, 1000), exchanged = argument(argc, argv, 4, 0, 0, 1000000);
    uint64_t from;
    double ns = 0;
    long done = 0;

    case_begin();
    keep = obtained(GC_malloc_uncollectable(objects * sizeof *keep));
    weak = obtained(GC_malloc_atomic(objects * sizeof *weak));
    if (what == LIVING)
        return measure_living(objects, rounds, (size_t)exchanged);
    for (long r = 0; r < rounds; r++) {
        from = now_ns();
        make(what, objects);
        end(objects);
        ns += (double)(now_ns() - from);
        done += what == LINKS ? cleared(objects) : 0;
    }
    figure("ns_per_object", ns / (double)rounds / (double)objects, "ns");
    figure("done", what == LINKS ? (double)done : (double)ran, "objects");
    case_end();
    return 0;
}
