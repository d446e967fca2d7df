/* SPDX-License-Identifier: MIT */
/*
 * What the programs share that measure a malloc.  They use names of the C library alone, so the
 * loader decides at each start whose malloc they run on (LD_PRELOAD).
 *
 * A program prints its figures as lines "name value unit".  It checks what it wrote into its blocks
 * before it frees them.  Exit status: 1 if something is wrong, 2 for arguments that it does not
 * know, 3 if there is no memory.  An alarm ends it after CLIENT_SECONDS, so that none hangs.
 */
#ifndef SGC_BENCH_MALLOC_CLIENT_H
#define SGC_BENCH_MALLOC_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"

enum { CLIENT_SECONDS = 300, CLIENT_THREADS_MAX = 64, CLIENT_STEP = 4096 };

/* ---- the program's frame ---- */

/* First in main: the alarm, and a line that says which file has malloc. */
void client_begin(void);

/* One line of the output. */
void client_figure(const char *name, double value, const char *unit);

/* The work of thread i.  Returns its part of the result, which does not depend on the allocator. */
typedef uint64_t client_part(void *arg, long i);

struct client_run {
    double seconds;             /* from the first thread that began to the last that ended */
    uint64_t result;            /* the sum of all parts */
};

/*
 * Runs work(arg, 0) to work(arg, threads - 1) at once.  A single one runs on the calling thread, so
 * that the process stays without threads.
 */
struct client_run client_together(client_part *work, void *arg, long threads);

/*
 * After the work, when all is freed: time, memory at its peak, and memory at rest, after a while in
 * which the process calls nothing (BENCH_REST_MS, 1000).  Returns main's result.
 */
int client_end(struct client_run run, double operations);

double client_now(void);

/* Resident memory now and at its peak, in megabytes; page faults so far that read no file. */
double client_resident_mb(void);
double client_peak_mb(void);
long client_faults(void);

_Noreturn void client_wrong(const char *what);
_Noreturn void client_no_memory(size_t bytes);

/* The end of the program with errno's reason, if the system did not do something. */
void client_need(bool done, const char *what);

/* ---- numbers that look random and are the same in each run; *state is not 0 ---- */

/* A state for thread i that has nothing in common with its neighbours'. */
static inline uint64_t client_seed(long i)
{
    return (((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15)) | 1;
}

/* ---- blocks of at least 8 bytes that carry a tag ---- */

/* Writes the tag into the last 8 bytes, the first, and one place in each CLIENT_STEP bytes. */
static inline void client_mark(void *block, size_t size, uint64_t tag)
{
    unsigned char *p = block;

    for (size_t at = 0; at + 2 * sizeof tag <= size; at += CLIENT_STEP)
        memcpy(p + at, &tag, sizeof tag);
    memcpy(p + size - sizeof tag, &tag, sizeof tag);
}

static inline bool client_is_marked(const void *block, size_t size, uint64_t tag)
{
    const unsigned char *p = block;
    uint64_t word, wrong = 0;

    for (size_t at = 0; at + 2 * sizeof tag <= size; at += CLIENT_STEP) {
        memcpy(&word, p + at, sizeof word);
        wrong |= word ^ tag;
    }
    memcpy(&word, p + size - sizeof word, sizeof word);
    return (wrong | (word ^ tag)) == 0;
}

/* What a word of a block is while the block is in use, and not after it was freed. */
static inline uint64_t client_live(const void *block)
{
    return (uint64_t)(uintptr_t)block ^ UINT64_C(0xd6e8feb86659fd93);
}

static inline void *client_new(size_t size, uint64_t tag)
{
    void *block = malloc(size);

    if (block == NULL)
        client_no_memory(size);
    client_mark(block, size, tag);
    return block;
}

static inline void client_free(void *block, size_t size, uint64_t tag)
{
    if (!client_is_marked(block, size, tag))
        client_wrong("a block does not contain what was written into it");
    free(block);
}

#endif
