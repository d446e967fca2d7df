/* SPDX-License-Identifier: MIT */
/*
 * Questions that look through all roots, while modules come and go: what is looked at is mapped, and nobody waits for a
 * stopped thread that has the loader's lock.
 */
#include "api.h"

#include <gc/gc_backptr.h>
#include <sgc.h>

#include <link.h>
#include <stdatomic.h>
#include <time.h>

#include "module.h"
#include "sanitized.h"

enum { ROUNDS = 2000, LOCKED_ROUNDS = 100, IDLE = 20, MOST_SECONDS = 3 };

static atomic_int over;
static atomic_ulong turns;

/* Its data must be gone when it is unloaded. */
static void *load_and_unload(void *arg)
{
    while (!atomic_load(&over)) {
        dlclose(module_load("module_small"));
        dlclose(module_load("module_large"));
        atomic_fetch_add(&turns, 1);
    }
    return arg;
}

static int look_at_module(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info, (void)size, (void)data;
    nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
    return 0;
}

/* Inside the loader's lock for most of the time. */
static void *ask_loader(void *arg)
{
    while (!atomic_load(&over)) {
        dl_iterate_phdr(look_at_module, NULL);
        atomic_fetch_add(&turns, 1);
    }
    return arg;
}

static void *idle(void *arg)
{
    for (;;)
        pause();
    return arg;
}

/* The idle ones make each stop last. */
static pthread_t start(void *(*fn)(void *))
{
    pthread_t thread;

    GC_INIT();
    for (int i = 0; i < IDLE; i++)
        API_CHILD(GC_pthread_create(&thread, NULL, idle, NULL) == 0);
    API_CHILD(GC_pthread_create(&thread, NULL, fn, NULL) == 0);
    while (atomic_load(&turns) == 0)
        continue;
    return thread;
}

static void finish(pthread_t thread)
{
    atomic_store(&over, 1);
    GC_pthread_join(thread, NULL);
}

/* Only our own stack points at the object, so everything else is looked through first. */
static void ask(void *object)
{
    void *base;
    size_t offset;

    API_CHILD(GC_get_back_ptr_info(object, &base, &offset) != GC_NO_SPACE);
    API_CHILD(SGC_find_way(object, NULL, NULL) != SGC_HELD_UNKNOWN);
}

static void ask_stopped(void *object)
{
    GC_stop_world_external();
    ask(object);
    GC_start_world_external();
}

/* Who wants a lock that another thread hardly ever lets go of waits long: on a busy machine a few rounds must do. */
static void ask_often(void (*question)(void *object), int rounds)
{
    void *volatile object = GC_malloc(API_LARGE);
    time_t end = time(NULL) + MOST_SECONDS;

    for (int i = 0; i < rounds && time(NULL) <= end; i++)
        question(object);
}

static void while_loading(void)
{
    pthread_t thread = start(load_and_unload);

    ask_often(ask, ROUNDS);
    finish(thread);
}

static void by_hand_while_loading(void)
{
    pthread_t thread = start(load_and_unload);

    ask_often(ask_stopped, ROUNDS);
    finish(thread);
}

static void while_loader_locked(void)
{
    pthread_t thread = start(ask_loader);

    ask_often(ask_stopped, LOCKED_ROUNDS);
    finish(thread);
}

int main(void)
{
    if (TEST_SANITIZED)
        tap_skip_all("threads that ask the loader get no signal there");
    tap_plan(0);
    api_check_child(while_loading, NULL, "questions while modules come and go");
    api_check_child(by_hand_while_loading, NULL, "with the world stopped by hand");
    api_check_child(while_loader_locked, NULL, "and by hand while another thread asks the loader");
    return tap_done();
}
