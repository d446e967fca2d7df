/* SPDX-License-Identifier: MIT */
/*
 * Programs that keep a list in static data and drop what they allocate besides, and a listener that counts their cycles, for a
 * child process (tests/lib/child.h) that reports to its parent.
 */
#ifndef TESTS_LIB_KEPT_H
#define TESTS_LIB_KEPT_H

#include <gc/gc.h>

#include "gc/events/events.h"
#include "tests/lib/white.h"

#define MB ((size_t)1 << 20)

enum { KEPT_LINK_BYTES = 64, KEPT_THREADS = 64 };

struct kept_link {
    struct kept_link *next;
    char rest[KEPT_LINK_BYTES - sizeof(void *)];
};

static struct kept_link *kept;

/* False: there is no more memory. */
static bool keep(size_t bytes)
{
    for (size_t n = 0; n < bytes; n += KEPT_LINK_BYTES) {
        struct kept_link *link = GC_malloc(sizeof *link);

        if (link == NULL)
            return false;
        link->next = kept;
        kept = link;
    }
    return true;
}

static size_t kept_bytes(void)
{
    size_t found = 0;

    for (const struct kept_link *link = kept; link != NULL; link = link->next)
        found += KEPT_LINK_BYTES;
    return found;
}

/* So many bytes are allocated and dropped. */
static void drop(size_t bytes)
{
    for (size_t n = 0; n < bytes; n += KEPT_LINK_BYTES)
        GC_malloc(KEPT_LINK_BYTES);
}

static inline void *drop_all(void *bytes)
{
    drop(*(const size_t *)bytes);
    return NULL;
}

/* By each of so many threads that the collector knows, beside what is kept. */
static inline void keep_and_drop(size_t kept_first, int threads, size_t bytes)
{
    pthread_t thread[KEPT_THREADS];

    sgc_verify(threads <= KEPT_THREADS && keep(kept_first));
    for (int i = 0; i < threads; i++)
        thread[i] = thread_start(drop_all, &bytes);
    threads_join(thread, threads);
}

/* A child's cycles in one stop; beside the program; all of them by what they stopped the program for; and its largest heap.  In
 * memory that parent and child share. */
struct kept_report {
    unsigned stops, beside, stopped_for[SGC_STOPPED_FOR];
    size_t heap;
};

static struct kept_report *kept_report;

static inline void kept_note(TEST_UNUSED void *context, const struct sgc_cycle_record *record)
{
    kept_report->stops += record->concurrent.earlier_stops == 0;
    kept_report->beside += record->concurrent.earlier_stops != 0;
    kept_report->stopped_for[record->stopped_for]++;
    if (record->heap.bytes > kept_report->heap)
        kept_report->heap = record->heap.bytes;
}

#endif
