/* SPDX-License-Identifier: MIT */
/*
 * limits_list THREADS MOST: how many bytes of live lists the collector can hold that this runs with, at most MOST; several
 * threads have a list each.  Prints the number.  It counts what it has got before it says so.
 *
 * No thread begins before there are all: the first would leave no memory for the stacks of the last, and whether the last came
 * in time would be measured, which differs from run to run.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <gc.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MOST = 64 };

struct cell {
    struct cell *next;
    uintptr_t fill[2];
};

static size_t cells[THREADS_MOST], most;
static volatile int full, lost;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;        /* of the first thread until there are all */

static void *give_up(size_t bytes)
{
    (void)bytes;
    return NULL;
}

static void *fill(void *raw)
{
    size_t *n = raw, found = 0;
    struct cell *list = NULL, *cell;

    while (!full && *n < most && (cell = GC_MALLOC(sizeof *cell)) != NULL) {
        cell->next = list;
        list = cell;
        ++*n;
    }
    full = full || *n < most;
    for (cell = list; cell != NULL; cell = cell->next)
        found++;
    lost = lost || found != *n;
    return NULL;
}

static void *fill_when_all_are_there(void *raw)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return fill(raw);
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t thread[THREADS_MOST];
    size_t sum = 0;

    most = (argc > 2 ? strtoull(argv[2], NULL, 0) : SIZE_MAX) / sizeof(struct cell) / (size_t)threads;
    GC_INIT();
    GC_set_oom_fn(give_up);
    GC_set_warn_proc(GC_ignore_warn_proc);
    pthread_mutex_lock(&gate);
    for (int i = 1; i < threads; i++)
        if (GC_pthread_create(&thread[i], NULL, fill_when_all_are_there, &cells[i]) != 0)
            return 2;
    pthread_mutex_unlock(&gate);
    fill(&cells[0]);
    for (int i = 1; i < threads; i++)
        GC_pthread_join(thread[i], NULL);
    for (int i = 0; i < threads; i++)
        sum += cells[i] * sizeof(struct cell);
    printf("%zu\n", sum);
    return lost ? 3 : 0;
}
