/* SPDX-License-Identifier: MIT */
/*
 * HERRMANN=pt, the thesis's pass-through (6.1): each call is a message to the manager, which calls
 * the next malloc.  A thread waits for its block; of a free it waits only until the manager has the
 * address, so freeing alone runs beside the program.
 *
 *   message   written and read under data: the thread that has the request lock writes what it
 *             wants, the manager the answer
 *   request   a lock, held by a thread around a whole call, so that there is one message at a time.
 *             The manager never takes it
 *   data      a lock, of the two conditions: placed, for the manager; answered, for the thread.
 *             Taken after request; the manager frees without it
 */
#include <errno.h>
#include <pthread.h>

#include "bench/herrmann/block.h"
#include "bench/herrmann/figures.h"
#include "bench/herrmann/manager.h"
#include "bench/herrmann/system.h"

enum kind { NOTHING, ALLOCATE, RELEASE, ANSWERED };

static struct {
    pthread_mutex_t request, data;
    pthread_cond_t placed, answered;
    struct {
        enum kind kind;
        size_t size;
        void *block;
    } message;
} channel = { .request = PTHREAD_MUTEX_INITIALIZER, .data = PTHREAD_MUTEX_INITIALIZER };

/* ---- the manager ---- */

/* Under data.  Returns the block that is to be freed when the answer is on its way, or NULL. */
static void *answer(void)
{
    void *to_free = NULL;

    if (channel.message.kind == ALLOCATE)
        channel.message.block = block_make_direct(channel.message.size);
    else
        to_free = channel.message.block;
    channel.message.kind = ANSWERED;
    pthread_cond_signal(&channel.answered);
    return to_free;
}

static void answer_for_ever(void)
{
    pthread_mutex_lock(&channel.data);
    for (;;) {
        void *to_free;

        while (channel.message.kind != ALLOCATE && channel.message.kind != RELEASE)
            pthread_cond_wait(&channel.placed, &channel.data);
        to_free = answer();
        if (to_free != NULL) {
            pthread_mutex_unlock(&channel.data);
            block_destroy(to_free);
            pthread_mutex_lock(&channel.data);
        }
    }
}

/* ---- the program's threads ---- */

/* Under request.  False: the manager has not come to the message in time, and will not see it. */
static bool send_message(enum kind kind, size_t size, void **block)
{
    struct timespec limit = manager_limit();
    int error = 0;
    bool done;

    pthread_mutex_lock(&channel.data);
    channel.message.kind = kind;
    channel.message.size = size;
    channel.message.block = *block;
    pthread_cond_signal(&channel.placed);
    while (channel.message.kind != ANSWERED && error == 0)
        error = pthread_cond_timedwait(&channel.answered, &channel.data, &limit);
    done = channel.message.kind == ANSWERED;
    if (done)
        *block = channel.message.block;
    channel.message.kind = NOTHING;
    pthread_mutex_unlock(&channel.data);
    return done;
}

/* False: there is no manager, or it is late. */
static bool pass(enum kind kind, size_t size, void **block)
{
    int cancellation;
    bool done;

    figures_add(&figures.calls, 1);
    if (!manager_runs())
        return false;
    cancellation = manager_hold_cancellation();
    pthread_mutex_lock(&channel.request);
    done = send_message(kind, size, block);
    pthread_mutex_unlock(&channel.request);
    manager_allow_cancellation(cancellation);
    if (!done)
        figures_add(&figures.misses, 1);
    return done;
}

static void *allocate(size_t size)
{
    void *block = NULL;

    return pass(ALLOCATE, size, &block) ? block : block_make_direct(size);
}

static void release(void *block, unsigned bin)
{
    int saved = errno;

    (void)bin;
    if (!pass(RELEASE, 0, &block))
        block_destroy(block);
    errno = saved;
}

/* ---- start and fork ---- */

static void start(void)
{
    manager_condition(&channel.placed);
    manager_condition(&channel.answered);
    manager_start_body(answer_for_ever);
}

/* No message is under way, but a block that the manager is freeing may be lost to the child. */
static void before_fork(void)
{
    pthread_mutex_lock(&channel.request);
    pthread_mutex_lock(&channel.data);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&channel.data);
    pthread_mutex_unlock(&channel.request);
}

static void begin_in_child(void)
{
    pthread_mutex_init(&channel.request, NULL);
    pthread_mutex_init(&channel.data, NULL);
    manager_condition(&channel.placed);
    manager_condition(&channel.answered);
    channel.message.kind = NOTHING;
}

const struct system system_pass_through = {
    .word = "pt", .allocate = allocate, .release = release, .start = start,
    .before_fork = before_fork, .after_fork = after_fork, .after_fork_in_child = begin_in_child
};
