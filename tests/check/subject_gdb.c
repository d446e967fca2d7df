/* SPDX-License-Identifier: MIT */
/*
 * What tests/check/check_gdb looks at: objects small and large, what they are held by, and a class.  Given a number of
 * megabytes it makes a list of that many, too.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define GC_THREADS
#include "gc.h"

enum { CHAIN = 3, LONG = 20, SHAPES = 700, CELLS = 32768 };

struct cell {
    struct cell *next;
    void *other[3];
};

/* Looks like a C++ class's table. */
extern const void *const _ZTV5Shape[4];
const void *const _ZTV5Shape[4] = { NULL, NULL, puts, puts };
extern const void *const _ZTV7Guarded[4];
const void *const _ZTV7Guarded[4] = { NULL, NULL, puts, puts };

char *volatile small, *volatile large;
struct cell *volatile chain, *volatile long_chain, *volatile list;
uintptr_t hidden_end, hidden_far, hidden_garbage, hidden_of_thread, hidden_local;
_Thread_local void *volatile in_thread_local;
void *shapes[SHAPES], *guarded;

static sem_t there, end;

void here(void);

void here(void)
{
    puts("here");
}

/* The address of the last one, hidden. */
static uintptr_t make_chain(struct cell *volatile *from, int length)
{
    struct cell *last = *from = GC_malloc(sizeof *last);

    for (int i = 1; i < length; i++)
        last = last->next = GC_malloc(sizeof *last);
    return ~(uintptr_t)last;
}

static void *make_all(void *megabytes)
{
    small = GC_malloc(40);
    large = GC_malloc_atomic(1000000);
    hidden_end = make_chain(&chain, CHAIN);
    hidden_far = make_chain(&long_chain, LONG);
    hidden_garbage = ~(uintptr_t)GC_malloc(200);
    for (int i = 0; i < SHAPES; i++) {
        const void **shape = GC_malloc(112);

        shape[0] = &_ZTV5Shape[2];
        shapes[i] = shape;
    }
    guarded = GC_debug_malloc(240, __FILE__, __LINE__);
    *(const void **)guarded = &_ZTV7Guarded[2];
    for (long i = 0; i < atol(megabytes) * CELLS; i++) {
        struct cell *cell = GC_malloc(sizeof *cell);

        cell->next = list;
        list = cell;
    }
    return NULL;
}

static void *hold(void *unused)
{
    void *volatile object = GC_malloc(72);

    hidden_of_thread = ~(uintptr_t)object;
    in_thread_local = GC_malloc(88);
    hidden_local = ~(uintptr_t)in_thread_local;
    sem_post(&there);
    sem_wait(&end);
    return object == NULL ? object : unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    GC_INIT();
    GC_gcollect();
    GC_disable();
    sem_init(&there, 0, 0);
    sem_init(&end, 0, 0);
    pthread_create(&thread, NULL, make_all, argc > 1 ? argv[1] : (char *)(uintptr_t)"0");
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, hold, NULL);
    sem_wait(&there);
    here();
    sem_post(&end);
    pthread_join(thread, NULL);
    return 0;
}
