/* SPDX-License-Identifier: MIT */
/* Threads that take turns.  See tests/fuzz/model.h. */
#include "tests/fuzz/model.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "tests/lib/scrub.h"

static struct helper {
    sem_t go, done;
    void (*fn)(struct fuzz_input *in);
    struct fuzz_input *in;
    void **roots;
} helper[HELPERS];
static bool helpers;

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR)
        continue;
}

static void *take_turns(void *arg)
{
    struct helper *self = arg;
    void *volatile roots[HANDLES] = { NULL };

    self->roots = (void **)(uintptr_t)roots;
    sem_post(&self->done);
    for (;;) {
        wait_for(&self->go);
        self->fn(self->in);
        scrub_stack();
        sem_post(&self->done);
    }
    return NULL;
}

void prepare_turns(void)
{
    for (int i = 0; i < HELPERS; i++) {
        pthread_t thread;

        sem_init(&helper[i].go, 0, 0);
        sem_init(&helper[i].done, 0, 0);
        fuzz_expect(GC_pthread_create(&thread, NULL, take_turns, &helper[i]) == 0, "no thread");
        wait_for(&helper[i].done);
    }
    helpers = true;
}

void on_thread(unsigned number, void (*fn)(struct fuzz_input *in), struct fuzz_input *in)
{
    if (number == 0 || !helpers) {
        fn(in);
        scrub_stack();
        return;
    }
    struct helper *h = &helper[(number - 1) % HELPERS];

    h->fn = fn;
    h->in = in;
    sem_post(&h->go);
    wait_for(&h->done);
}

void **helper_roots(void)
{
    return helper[0].roots;
}

void no_helpers_here(void)
{
    helpers = false;
}
