/* SPDX-License-Identifier: MIT */
/*
 * What the heap costs beside the objects: side tables, stacks and caches as far as they were touched, for
 * a heap of live 64-byte objects; then how fast memory goes back when nine tenths of it die, in
 * whole pages.
 *
 *     bench/footprint [MEGABYTES]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sgc.h"

#include "bench/measure.h"

enum { REQUEST = 63 };          /* and the end byte: 64 */

struct link {
    struct link *next;
};

static struct link *list;

static void build(size_t objects)
{
    for (size_t i = 0; i < objects; i++) {
        struct link *l = GC_malloc(REQUEST);

        if (l == NULL) {
            fprintf(stderr, "footprint: memory ran out after %zu objects; give a smaller size\n", i);
            exit(1);
        }
        l->next = list;
        list = l;
    }
}

/* The list runs through the pages in the order of allocation, so its end is whole pages. */
static void cut_after(size_t objects)
{
    struct link *l = list;

    while (--objects > 0)
        l = l->next;
    l->next = NULL;
}

static void wait_half_a_second(void)
{
    static const struct timespec half = { 0, 500000000 };

    nanosleep(&half, NULL);
}

int main(int argc, char **argv)
{
    size_t megabytes = (size_t)argument(argc, argv, 1, 1024, 16, 1 << 20);
    size_t objects = (megabytes << 20) / 64;
    size_t start, before;
    struct SGC_stats s;

    GC_INIT();
    start = resident_bytes();
    build(objects);
    GC_gcollect();
    SGC_get_stats(&s, sizeof s);
    printf("%zu MB in 64-byte objects: metadata %.2f %% of it (%.1f MB); resident %.2f %% more than the objects\n",
           megabytes, 100.0 * (double)s.metadata_bytes / (double)(megabytes << 20),
           (double)s.metadata_bytes / 1048576.0,
           100.0 * ((double)(resident_bytes() - start) / (double)(megabytes << 20) - 1));
    before = resident_bytes();
    cut_after(objects / 10);
    GC_gcollect();
    SGC_get_stats(&s, sizeof s);
    for (int half = 0; half <= 4; half++) {
        size_t now = resident_bytes();

        printf("%.1f s after the collection: resident %.1f MB (before %.1f), live %.1f MB, ratio %.2f\n",
               half / 2.0, (double)now / 1048576.0, (double)before / 1048576.0,
               (double)s.live_bytes / 1048576.0, (double)now / (double)s.live_bytes);
        wait_half_a_second();
    }
    return 0;
}
