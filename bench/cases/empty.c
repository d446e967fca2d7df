/* SPDX-License-Identifier: MIT */
/*
 * Collections of a heap with almost nothing in it, beside threads that sleep: what a collection costs that finds
 * nothing to mark, and how that grows with the number of threads.
 *
 *     empty [THREADS [COLLECTIONS]]      threads beside the one that collects
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/cases/case.h"
#include "bench/measure.h"

enum { STACK_BYTES = 128 << 10, WARM_UP = 5 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long asleep;
static int end;

static void *sleeper(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    asleep++;
    pthread_cond_broadcast(&changed);
    while (!end)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void start(pthread_t *thread, long threads)
{
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&thread[i], &attr, sleeper, NULL) != 0) {
            fprintf(stderr, "empty: thread %ld cannot be created; use fewer\n", i + 1);
            exit(1);
        }
    pthread_attr_destroy(&attr);
    pthread_mutex_lock(&lock);
    while (asleep < threads)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void stop(pthread_t *thread, long threads)
{
    pthread_mutex_lock(&lock);
    end = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (long i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
}

static double collection_us(void)
{
    uint64_t began = now_ns();

    GC_gcollect();
    return (double)(now_ns() - began) / 1e3;
}

int main(int argc, char **argv)
{
    long threads = argument(argc, argv, 1, 1, 0, 30000);
    size_t n = (size_t)argument(argc, argv, 2, 200, 1, 1000000);
    pthread_t *thread = obtained(malloc((size_t)(threads + 1) * sizeof *thread));
    double *us = obtained(malloc(n * sizeof *us));

    case_begin();
    start(thread, threads);
    for (int i = 0; i < WARM_UP; i++)
        GC_gcollect();
    for (size_t i = 0; i < n; i++)
        us[i] = collection_us();
    figures("collection_us", us, n, "us");
    stop(thread, threads);
    case_end();
    free(us);
    free(thread);
    return 0;
}
