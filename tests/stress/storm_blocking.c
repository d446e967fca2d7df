/* SPDX-License-Identifier: MIT */
/*
 * Storm of GC_do_blocking and GC_call_with_gc_active, nested to any depth, while others collect:
 * active frames hold the only references to their objects, in the frame, in registers that calls
 * preserve, or handed through the client data; blocking frames sleep, wait or compute, and a
 * collection must not wait for them.
 *
 * What frames hold belongs to their thread; the collector thread shares only an atomic counter.
 */
#include "tests/stress/storm.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "tests/stress/object.h"

enum { BLOCKING, ACTIVE, REGISTER, RESULT, LONG_BLOCK, RETURN_DURING, COLLECT };
static const char *const parts[] = { "blocking", "active", "register", "result", "long-block", "return-during",
                                     "collect", NULL };

#define DEPTH_MAX 12

struct level { struct rng *rng; int depth; };

/* A thread in here for the whole storm: collections must go on. */
static sem_t release_blocked;
static _Atomic uint64_t collections;

static void *GC_CALLBACK blocking(void *argument);
static void *GC_CALLBACK active(void *argument);

static void pause_somehow(struct rng *rng)
{
    switch (rng_below(rng, 3)) {
    case 0:
        sched_yield();
        break;
    case 1:
        storm_doze_us((unsigned)rng_below(rng, 1000));
        break;
    default:
        /* Back from blocking while a collection is likely under way. */
        for (uint64_t now = atomic_load(&collections), turns = 0; turns < 300; turns++) {
            if (atomic_load(&collections) != now) {
                storm_ran(RETURN_DURING);
                break;
            }
            sched_yield();
        }
    }
}

/* No reference to the collected heap may be used here. */
static void *GC_CALLBACK blocking(void *argument)
{
    struct level *level = argument, inner = { level->rng, level->depth - 1 };
    storm_step("blocking");
    storm_ran(BLOCKING);
    pause_somehow(level->rng);
    void *result = NULL;
    if (level->depth > 0 && rng_below(level->rng, 4))
        result = GC_call_with_gc_active(active, &inner);
    pause_somehow(level->rng);
    return result;
}

static void work(struct rng *rng)
{
    struct ref graph = graph_make(rng, 2000);
    if (rng_once_in(rng, 10)) {
        storm_collect();
        storm_ran(COLLECT);
    }
    graph_check(&graph);
}

/* The address only in a register that calls preserve, across a blocking call. */
static __attribute__((noinline)) void hold_while_blocking(struct level *inner)
{
    struct message *message = message_make(inner->rng, REGISTER);
    uintptr_t hidden = ~(uintptr_t)message;
    __asm__ volatile("" : "+r"(hidden) : : "memory");
    message = (struct message *)~hidden;
    __asm__ volatile("" : "+r"(message));
    GC_do_blocking(blocking, inner);
    __asm__ volatile("" : "+r"(message));
    message_check(message, "a register across GC_do_blocking");
    storm_ran(REGISTER);
}

/* Returns a message to whoever called; through a blocking frame, so it is kept by static data. */
static struct message *handed_out[256];
static _Atomic unsigned next_hand;

static void *hand_out(struct rng *rng)
{
    struct message **hand = &handed_out[atomic_fetch_add(&next_hand, 1) % 256];
    struct message *none = NULL, *message = message_make(rng, RESULT);
    if (!__atomic_compare_exchange_n(hand, &none, message, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return NULL;
    return hand;
}

static void take_back(struct message **hand)
{
    if (!hand)
        return;
    message_check(*hand, "the result of GC_do_blocking");
    __atomic_store_n(hand, NULL, __ATOMIC_RELEASE);
    storm_ran(RESULT);
}

static void *GC_CALLBACK active(void *argument)
{
    struct level *level = argument, inner = { level->rng, level->depth - 1 };
    storm_step("active");
    storm_ran(ACTIVE);
    struct message *message = message_make(level->rng, ACTIVE);
    storm_scrub_stack();
    work(level->rng);
    if (level->depth > 0 && storm_has(REGISTER) && rng_once_in(level->rng, 3))
        hold_while_blocking(&inner);
    else if (level->depth > 0)
        take_back(GC_do_blocking(blocking, &inner));
    work(level->rng);
    message_check(message, "an active frame above blocking ones");
    return storm_has(RESULT) && rng_once_in(level->rng, 2) ? hand_out(level->rng) : NULL;
}

static void *GC_CALLBACK block_all_the_time(void *argument)
{
    while (sem_wait(&release_blocked))
        STORM_CHECK(errno == EINTR, "sem_wait: error %d", errno);
    return argument;
}

static void stay_blocked(struct rng *rng)
{
    struct message *message = message_make(rng, LONG_BLOCK);
    GC_do_blocking(block_all_the_time, NULL);
    message_check(message, "the frame below a long GC_do_blocking");
    storm_ran(LONG_BLOCK);
}

/* Everybody else may be in a blocking call: then nothing but this keeps collections going. */
static void collect_often(struct rng *rng)
{
    while (storm_running()) {
        storm_collect();
        storm_ran(COLLECT);
        atomic_fetch_add(&collections, 1);
        storm_doze_us((unsigned)rng_below(rng, 2000));
        if (storm_has(LONG_BLOCK) && rng_once_in(rng, 40))
            sem_post(&release_blocked);
    }
    sem_post(&release_blocked);
}

static void mutate(int index)
{
    struct rng rng = rng_make((uint64_t)index);
    if (index == 0) {
        collect_often(&rng);
        return;
    }
    while (storm_running()) {
        struct level level = { &rng, (int)rng_below(&rng, DEPTH_MAX) };
        if (index == 1 && storm_has(LONG_BLOCK))
            stay_blocked(&rng);
        else
            take_back(active(&level));
    }
}

static void body(void)
{
    sem_init(&release_blocked, 0, 0);
    storm_on_threads(storm.threads + 2, mutate);
}

const struct storm_program storm_program = { "storm_blocking", parts, 0, 0, NULL, body, NULL };
