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
static unsigned current;                /* the thread whose turn it is, 0: the main one; HELPERS + 1: one that ends soon */

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

    unsigned before = current;

    h->fn = fn;
    h->in = in;
    current = 1 + (number - 1) % HELPERS;
    sem_post(&h->go);
    wait_for(&h->done);
    current = before;
}

/* ---- a thread that is counted as blocked ---- */

static void *GC_CALLBACK be_active(void *in)
{
    call_here(in);
    scrub_stack();
    return NULL;
}

static void *GC_CALLBACK be_blocked(void *arg)
{
    struct fuzz_input *in = arg;
    unsigned code = fuzz_byte(in);

    if (code % 2 != 0)
        on_thread(1 + code % HELPERS, call_here, in);
    if (code % 4 >= 2)
        GC_call_with_gc_active(be_active, in);
    return NULL;
}

void op_block(struct fuzz_input *in)
{
    if (current == 0 && helpers)
        GC_do_blocking(be_blocked, in);
}

/* ---- a thread that begins and ends ---- */

static void *live_shortly(void *arg)
{
    struct fuzz_input *in = arg;

    for (unsigned calls = 1 + fuzz_byte(in) % 3; calls > 0; calls--)
        call_here(in);
    return NULL;
}

static void *live_by_itself(void *arg)
{
    struct GC_stack_base base;

    fuzz_expect(GC_get_stack_base(&base) == GC_SUCCESS && GC_register_my_thread(&base) == GC_SUCCESS, "no registration");
    live_shortly(arg);
    fuzz_expect(GC_unregister_my_thread() == GC_SUCCESS, "the registration is not undone");
    return NULL;
}

void op_thread(struct fuzz_input *in)
{
    bool registers = fuzz_byte(in) % 2 != 0;
    pthread_t thread;
    int error;

    if (current != 0 || !helpers)
        return;
    current = HELPERS + 1;
    error = registers ? pthread_create(&thread, NULL, live_by_itself, in) : GC_pthread_create(&thread, NULL, live_shortly, in);
    fuzz_expect(error == 0, "no thread: %d", error);
    error = registers ? pthread_join(thread, NULL) : GC_pthread_join(thread, NULL);
    fuzz_expect(error == 0, "a thread is not joined: %d", error);
    current = 0;
}

/* ---- with the allocation lock, or the world stopped ---- */

static void *GC_CALLBACK look_at(void *arg)
{
    const int *h = arg;

    check_address(*h, 0);
    return arg;
}

void op_lock(struct fuzz_input *in)
{
    int h = used_handle(fuzz_byte(in));
    bool stop = fuzz_byte(in) % 2 != 0;

    if (h == NONE)
        return;
    if (!stop) {
        fuzz_expect(GC_call_with_alloc_lock(look_at, &h) == &h, "GC_call_with_alloc_lock returns something else");
        return;
    }
    GC_stop_world_external();
    check_address(h, 0);
    GC_start_world_external();
}

void **helper_roots(void)
{
    return helper[0].roots;
}

void no_helpers_here(void)
{
    current = 0;
    helpers = false;
}
