/* SPDX-License-Identifier: MIT */
/*
 * The file in which libsgcpauses keeps what it sees in one process: a head, then five areas of intervals.  It is mapped and
 * shared, so what was written is there however the process ends; tools/pauses/evidence.py reads it then, and repeats this
 * layout.
 *
 *   area          writer                                    an interval is
 *   GAPS          the probe                                 a time in which it could not look at the clock
 *   CONTROL       the control thread                        the same for a thread that no collector knows
 *   STOPS         who collects, one at a time               from before the first signal until all were told to go on
 *   ALLOCATIONS   the probe                                 an allocation that took long
 *   STORES        the probe                                 a store into an old object that took long
 *
 * Nobody else reads in the process.  An area's count is stored with release after the interval, so that a file whose process
 * was killed at any moment holds whole intervals.
 */
#ifndef TOOLS_PAUSES_FILE_H
#define TOOLS_PAUSES_FILE_H

#include <stddef.h>

#include "platform/atomics.h"

enum sgc_pauses_kind {
    SGC_PAUSES_GAPS,
    SGC_PAUSES_CONTROL,
    SGC_PAUSES_STOPS,
    SGC_PAUSES_ALLOCATIONS,
    SGC_PAUSES_STORES,
    SGC_PAUSES_AREAS
};

enum {
    SGC_PAUSES_WORK = 1,                /* the probe allocates and stores, too */
    SGC_PAUSES_BESIDE = 2               /* a control thread runs beside it */
};

enum { SGC_PAUSES_VERSION = 1, SGC_PAUSES_HEAD_BYTES = 4096 };

/* Times are CLOCK_MONOTONIC's, nanoseconds. */
struct sgc_pauses_interval {
    uint64_t begin_ns, end_ns;
};

struct sgc_pauses_area {
    uint64_t offset;                    /* of its first interval in the file, bytes */
    uint64_t capacity;                  /* intervals */
    sgc_aw_t count;                     /* intervals that are kept */
    uint64_t least_ns;                  /* shorter ones do not count */
    uint64_t threshold_ns;              /* shorter ones are not kept; least_ns at first, doubles when the area is full */
    uint64_t calls;                     /* what was timed, long or not; of allocations and stores only */
    uint64_t dropped;                   /* intervals that count and are not kept */
    uint64_t dropped_ns;                /* their sum */
    struct sgc_pauses_interval longest; /* always kept */
};

struct sgc_pauses_file {
    char magic[8];                      /* "sgcpause" */
    uint64_t version;
    uint64_t pid;
    uint64_t period_ns;                 /* between two looks; 0: no rest between them */
    uint64_t flags;                     /* SGC_PAUSES_WORK, SGC_PAUSES_BESIDE */
    uint64_t error;                     /* why there is no probe: an errno; 0 if there is one */
    sgc_aw_t begin_ns;                  /* the probe's first look, 0 before it */
    sgc_aw_t last_ns;                   /* and its last */
    char collector[32];                 /* "SGC 0.1.0" */
    struct sgc_pauses_area area[SGC_PAUSES_AREAS];
};

_Static_assert(sizeof(struct sgc_pauses_file) == 96 + SGC_PAUSES_AREAS * 80, "tools/pauses/evidence.py reads it");
_Static_assert(sizeof(struct sgc_pauses_file) <= SGC_PAUSES_HEAD_BYTES, "the areas lie behind it");

/* Bytes of a whole file. */
size_t sgc_pauses_bytes(void);

/* Makes the head of a file of zeros.  Gaps shorter than least_ns do not count. */
void sgc_pauses_prepare(struct sgc_pauses_file *file, uint64_t least_ns);

/* Keeps an interval if it is long enough.  By the area's writer only. */
void sgc_pauses_add(struct sgc_pauses_file *file, enum sgc_pauses_kind kind, uint64_t begin_ns, uint64_t end_ns);

/* Whether what the head says of its areas can be so. */
bool sgc_pauses_ok(const struct sgc_pauses_file *file);

#endif
