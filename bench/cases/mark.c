/* SPDX-License-Identifier: MIT */
/*
 * Marking: a heap that lives wholly, and the time of explicit collections of it, one after the other, as the program
 * sees them: from the call of GC_gcollect to its return.  So what a collector does in there beside marking counts, and
 * what it does afterwards on other threads does not, unless the next collection has to wait for it.  The first
 * collection is reported apart.
 *
 *     mark [tree|graph|list|array|large [MEGABYTES [COLLECTIONS]]]
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/cases/case.h"
#include "bench/cases/shapes.h"
#include "bench/measure.h"

static void *volatile root;         /* volatile: nobody reads it but the collector */

static double collection_ms(void)
{
    uint64_t began = now_ns();

    GC_gcollect();
    return (double)(now_ns() - began) / 1e6;
}

/* A graph that died would be marked in no time: free memory would show it. */
static void check_alive(size_t bytes)
{
    size_t used = GC_get_heap_size() - GC_get_free_bytes();

    if (used >= bytes / 10 * 9 && root != NULL)
        return;
    fprintf(stderr, "mark: %zu bytes should be alive, %zu are in use\n", bytes, used);
    exit(1);
}

static void check_collections(size_t done, size_t wanted)
{
    if (done == wanted)
        return;
    fprintf(stderr, "mark: %zu collections were asked for, %zu done\n", wanted, done);
    exit(1);
}

int main(int argc, char **argv)
{
    enum shape shape = (enum shape)choice(argc, argv, 1, SHAPE_WORDS);
    size_t bytes = (size_t)argument(argc, argv, 2, 256, 1, 1 << 20) << 20;
    size_t n = (size_t)argument(argc, argv, 3, 7, 1, 100000), objects, edges;
    double *ms = obtained(malloc(n * sizeof *ms));
    GC_word before;

    case_begin();
    GC_start_mark_threads();    /* else bdwgc has none until a thread is created */
    GC_disable();
    root = build_shape(shape, bytes, &objects, &edges);
    GC_enable();
    before = GC_get_gc_no();
    figure("first_ms", collection_ms(), "ms");
    for (size_t i = 0; i < n; i++)
        ms[i] = collection_ms();
    check_collections((size_t)(GC_get_gc_no() - before), n + 1);
    check_alive(bytes);
    figures("collection_ms", ms, n, "ms");
    figure("mb_per_s", (double)(bytes >> 20) / (ms[n / 2] / 1e3), "MB/s");
    figure("objects", (double)objects, "objects");
    figure("edges", (double)edges, "edges");
    case_end();
    free(ms);
    return 0;
}
