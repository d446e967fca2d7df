/* SPDX-License-Identifier: MIT */
/*
 * A program as it is written for libscm, with its headers alone: check_scm compiles it by itself, with and without --wrap, and
 * runs it in each mode.  What it prints is the same in all.
 *
 * It reads "requests" that it makes up, keeps an answer for three periods by a table, and counts what it has seen.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "libscm.h"
#include "stm-debug.h"
#include "stm.h"

#define PERIODS 200
#define REQUESTS 50
#define KEPT 3

struct answer {
    struct answer *next;
    char *text;
    int period;
};

static unsigned long sum;

static void add(const char *text)
{
    while (*text != 0)
        sum = sum * 31 + (unsigned char)*text++;
}

/* A string that is not looked at after this period. */
static char *make_request(int period, int number)
{
    char *text = scm_malloc(60);

    scm_refresh(text, 0);
    snprintf(text, 60, "request %d of period %d", number, period);
    return text;
}

static struct answer *make_answer(struct answer *next, const char *request, int period)
{
    struct answer *a = scm_malloc(sizeof *a);

    a->text = malloc(100);
    snprintf(a->text, 100, "answer to %s", request);
    a->period = period;
    a->next = next;
    return a;
}

/* What is younger than three periods is needed in the next one, too. */
static struct answer *keep_young(struct answer *list, int period)
{
    struct answer **at = &list, *a;

    while ((a = *at) != NULL && a->period > period - KEPT) {
        scm_refresh(a, 1);
        add(a->text);
        at = &a->next;
    }
    *at = NULL;
    for (; a != NULL; a = a->next)
        free(a->text);
    return list;
}

static void by_periods(void)
{
    struct answer *list = NULL;

    for (int period = 0; period < PERIODS; period++) {
        for (int i = 0; i < REQUESTS; i++)
            list = make_answer(list, make_request(period, i), period);
        list = keep_young(list, period);
        scm_tick();
    }
    printf("periods: %lx\n", sum);
}

/* ---- regions and clocks ---- */

static void by_regions(void)
{
    const int slow = scm_register_clock();
    const int region = scm_create_region(), other = scm_create_region();

    printf("numbers: %d %d %d\n", slow, region, other);
    for (int period = 0; period < PERIODS; period++) {
        char *first = scm_malloc_in_region(200, region), *last = first;

        for (int i = 0; i < REQUESTS; i++) {
            last = scm_malloc_in_region(200, i % 2 == 0 ? region : other);
            snprintf(last, 200, "%d in %d", i, period);
            scm_refresh(last, 0);
        }
        strcpy(first, last);
        scm_refresh_with_clock(last, 2, slow);
        scm_refresh_region(region, 1);
        scm_refresh_region_with_clock(other, 1, slow);
        add(first);
        scm_tick();
        add(last);
        if (period % 10 == 9)
            scm_tick_clock(slow);
    }
    scm_unregister_region(region);
    scm_unregister_clock(slow);
    printf("regions: %lx\n", sum);
}

/* ---- threads ---- */

static pthread_barrier_t barrier;
static char *box[2];

static void *worker(void *arg)
{
    const int own = *(int *)arg;
    unsigned long bad = 0;

    scm_register_thread();
    for (int period = 0; period < PERIODS; period++) {
        box[own] = scm_malloc(80);
        snprintf(box[own], 80, "%d from %d", period, own);
        scm_global_refresh(box[own], 0);
        pthread_barrier_wait(&barrier);
        bad += atoi(box[!own]) != period;
        scm_global_refresh(box[!own], 0);
        scm_block_thread();
        pthread_barrier_wait(&barrier);
        scm_resume_thread();
        scm_global_tick();
    }
    scm_collect();
    scm_unregister_thread();
    return (void *)bad;
}

static void by_threads(void)
{
    pthread_t thread[2];
    int numbers[2] = { 0, 1 };
    void *bad[2];

    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&thread[i], NULL, worker, &numbers[i]) != 0)
            exit(1);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], &bad[i]);
    printf("threads: %lu bad\n", (unsigned long)bad[0] + (unsigned long)bad[1]);
}

/* ---- the rest ---- */

static int finalize(void *object)
{
    return object == NULL;
}

int main(void)
{
    struct scm_mem_info info;
    char *copy = strdup("of the C library");
    void *object = scm_malloc(10);

    by_periods();
    by_regions();
    by_threads();
    scm_set_finalizer(object, scm_register_finalizer(finalize));
    scm_global_refresh_region(0, SCM_MAX_EXPIRATION_EXTENSION);
    scm_free(object);
    free(copy);
    scm_get_mem_info(&info);
    printf("largest extension %d, %d regions, %d finalizers\n", SCM_MAX_EXPIRATION_EXTENSION, SCM_MAX_REGIONS,
           SCM_FINALIZER_TABLE_SIZE);
    return info.num_alloc < (unsigned long)PERIODS * REQUESTS;
}
