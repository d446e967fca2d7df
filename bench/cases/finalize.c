/* SPDX-License-Identifier: MIT */
/*
 * Finalizers and disappearing links: so many objects are registered, die, and are finalized, or their links cleared.
 *
 *     finalizers   all live until the last is registered; finalizers without order
 *     links        the same; a link to each
 *     brief        each is dead as soon as the next one is there; finalizers run whenever the collector chooses
 *
 * The time is from the first registration until the last finalizer has run, or the last link is cleared, of all rounds; the first
 * includes what memory costs when it is used for the first time.
 *
 *     finalize [finalizers|links|brief [OBJECTS [ROUNDS]]]
 */
#include <stdlib.h>

#include "bench/cases/case.h"
#include "bench/measure.h"

enum { FINALIZERS, LINKS, BRIEF, SIZE = 32 };

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

int main(int argc, char **argv)
{
    int what = choice(argc, argv, 1, "finalizers|links|brief");
    size_t objects = (size_t)argument(argc, argv, 2, 1000000, 1, 1 << 30);
    long rounds = argument(argc, argv, 3, 3, 1, 1000);
    uint64_t from;
    double ns = 0;
    long done = 0;

    case_begin();
    keep = obtained(GC_malloc_uncollectable(objects * sizeof *keep));
    weak = obtained(GC_malloc_atomic(objects * sizeof *weak));
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
