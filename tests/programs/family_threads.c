/* SPDX-License-Identifier: MIT */
/* The gc.h family in a client's program: threads by the usual names, blocking, suspension.  tests/check/check_family runs
 * it. */
#define GC_THREADS
#include <pthread.h>

#include <gc.h>
#include <gc/javaxfc.h>

#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 2000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void *add(void *amount)
{
    pthread_mutex_lock(&lock);
    total += *(int *)amount;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *work(void *raw)
{
    int *amount = (int *)raw;

    for (int i = 0; i < ROUNDS; i++) {
        int *copy = (int *)GC_MALLOC_ATOMIC(sizeof(*copy) + (size_t)(i % 500));

        *copy = *amount;
        GC_do_blocking(add, copy);
    }
    return amount;
}

static void *suspend_me(void *unused)
{
    GC_suspend_thread(pthread_self());
    return unused;
}

int main(void)
{
    pthread_t thread[THREADS];
    long sum = 0;
    void *result;

    GC_INIT();
    for (int i = 0; i < THREADS; i++) {
        int *amount = (int *)GC_MALLOC(sizeof(*amount));

        *amount = i + 1;
        if (pthread_create(&thread[i], NULL, work, amount) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], &result);
        sum += *(int *)result;
    }
    printf("%ld by all threads, %ld returned\n", total, sum);
    if (pthread_create(&thread[0], NULL, suspend_me, NULL) != 0)
        return 1;
    while (!GC_is_thread_suspended(thread[0]))
        GC_gcollect();
    GC_resume_thread(thread[0]);
    pthread_join(thread[0], &result);
    printf("suspended and resumed; %d now\n", GC_thread_is_registered());
    return 0;
}
