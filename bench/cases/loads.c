/* SPDX-License-Identifier: MIT */
/*
 * Programs of which a concurrent cycle has much to mark before anything is known about them, or whose objects are large.  Each
 * keeps so many megabytes in small objects, and then allocates and drops three times as much, or what WHAT says.
 *
 *     loads WHAT [MEGABYTES [THREADS]]
 *
 *     plain      as said
 *     expanded   calls GC_expand_hp for twice as much before
 *     disabled   disables collections until all that it keeps is there
 *     grows      drops nothing
 *     large      drops objects of 1 MB
 *     buffers    drops ten objects of 100 MB without pointers
 *     threads    drops small objects in that many threads
 *     trees      drops trees of 16 levels in that many threads, each of which keeps its part
 */
#include <string.h>

#include "bench/cases/case.h"
#include "bench/measure.h"

#define WHATS "plain|expanded|disabled|grows|large|buffers|threads|trees"
enum what { PLAIN, EXPANDED, DISABLED, GROWS, LARGE, BUFFERS, THREADS, TREES };

enum { MEGABYTE = 1 << 20, LINK_BYTES = 64, DEPTH = 16, MAX_THREADS = 64, BUFFERS_DROPPED = 10 };

static const size_t BUFFER = (size_t)100 << 20;

struct link {
    struct link *next;
    char rest[LINK_BYTES - sizeof(void *)];
};

struct tree {
    struct tree *left, *right;
};

/* Static data: a thread's list is its own. */
static struct link *kept[MAX_THREADS + 1];

static void keep(struct link **list, size_t bytes)
{
    for (size_t n = 0; n < bytes; n += LINK_BYTES) {
        struct link *link = obtained(GC_malloc(sizeof *link));

        link->next = *list;
        *list = link;
    }
}

static void check(const struct link *list, size_t bytes)
{
    size_t found = 0;

    for (; list != NULL; list = list->next)
        found += LINK_BYTES;
    result_check(found >= bytes && found < bytes + LINK_BYTES, "what is kept is there");
}

/* The first word of each is written. */
static void drop(size_t bytes, size_t size)
{
    for (size_t n = 0; n < bytes; n += size)
        *(char *)obtained(GC_malloc(size)) = 1;
}

static void drop_buffers(void)
{
    for (int i = 0; i < BUFFERS_DROPPED; i++)
        memset(obtained(GC_malloc_atomic(BUFFER)), 1, BUFFER);
}

static struct tree *grow(int depth)
{
    struct tree *tree = obtained(GC_malloc(sizeof *tree));

    if (depth > 1) {
        tree->left = grow(depth - 1);
        tree->right = grow(depth - 1);
    }
    return tree;
}

/* ---- in threads: each has so many bytes ---- */

static void drop_part(void *arg, long i)
{
    (void)i;
    drop(*(const size_t *)arg, LINK_BYTES);
}

static void grow_part(void *arg, long i)
{
    size_t bytes = *(const size_t *)arg, tree = ((size_t)1 << DEPTH) * sizeof(struct tree);

    keep(&kept[i + 1], bytes / 9);
    for (size_t n = 0; n < bytes; n += tree)
        grow(DEPTH);
    check(kept[i + 1], bytes / 9);
}

/* ---- all ---- */

static void run(enum what what, size_t bytes, long threads)
{
    size_t part = 6 * bytes / (size_t)threads, trees_part = 9 * bytes / (size_t)threads;

    if (what == EXPANDED)
        GC_expand_hp(2 * bytes);
    if (what == DISABLED)
        GC_disable();
    if (what != TREES)
        keep(&kept[0], bytes);
    if (what == DISABLED)
        GC_enable();
    if (what == THREADS)
        together_ns(NULL, drop_part, &part, threads);
    else if (what == TREES)
        together_ns(NULL, grow_part, &trees_part, threads);
    else if (what == BUFFERS)
        drop_buffers();
    else if (what != GROWS)
        drop(3 * bytes, what == LARGE ? MEGABYTE : LINK_BYTES);
    check(kept[0], what != TREES ? bytes : 0);
}

int main(int argc, char **argv)
{
    enum what what = (enum what)choice(argc, argv, 1, WHATS);
    size_t bytes = (size_t)argument(argc, argv, 2, 300, 1, 8192) * MEGABYTE;
    long threads = argument(argc, argv, 3, 1, 1, MAX_THREADS);
    uint64_t began;

    case_begin();
    began = now_ns();
    run(what, bytes, threads);
    figure("time_ms", (double)(now_ns() - began) / 1e6, "ms");
    case_end();
    return 0;
}
