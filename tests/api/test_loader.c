/* SPDX-License-Identifier: MIT */
/*
 * Questions that look through all roots, while modules come and go: what is looked at is mapped, and nobody waits for a
 * stopped thread that has the loader's lock.
 */
#include "api.h"

#include <gc/gc_backptr.h>
#include <gc/gc_hooks.h>
#include <sgc.h>

#include <link.h>
#include <stdatomic.h>

#include "../lib/module.h"
#include "../lib/sanitized.h"

enum { ROUNDS = 2000, LOCKED_ROUNDS = 100, OTHERS_ROUNDS = 40, IDLE = 20, MOST_SECONDS = 3 };

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

static int look_at_module(TEST_UNUSED struct dl_phdr_info *info, TEST_UNUSED size_t size, TEST_UNUSED void *data)
{
    nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
    return 0;
}

/* Not stopped with the others, here and in a thread that nobody has registered. */
static void *unload_in_region(void *arg)
{
    return GC_do_blocking(load_and_unload, arg);
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

typedef int creator_fn(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);

/* What the next child does: another thread runs `beside`, and this one asks so often. */
static struct {
    creator_fn *create;
    void *(*beside)(void *);
    void (*question)(void *object);
    int rounds;
} now;

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

/* The idle ones make each stop last.  Who wants a lock that another thread hardly ever lets go of waits long: on a busy machine
 * a few rounds must do. */
static void ask_often(void)
{
    void *volatile object;
    pthread_t thread;
    time_t end;

    for (int i = 0; i < IDLE; i++)
        API_CHILD(GC_pthread_create(&thread, NULL, idle, NULL) == 0);
    API_CHILD(now.create(&thread, NULL, now.beside, NULL) == 0);
    while (atomic_load(&turns) == 0)
        continue;
    object = GC_malloc(API_LARGE);
    end = time(NULL) + MOST_SECONDS;
    for (int i = 0; i < now.rounds && time(NULL) <= end; i++)
        now.question(object);
    atomic_store(&over, 1);
    GC_pthread_join(thread, NULL);
}

static void check(void *(*beside)(void *), void (*question)(void *), int rounds, const char *message, const char *name)
{
    now.create = GC_pthread_create, now.beside = beside, now.question = question, now.rounds = rounds;
    api_check_started(ask_often, message, name);
}

/* ---- by a thread that is not stopped --------------------------------------------------------- */

static void let_them_unload(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* Modules have gone, and others come, since the world stands. */
static void ask_late(void *object)
{
    GC_stop_world_external();
    let_them_unload();
    ask(object);
    GC_start_world_external();
}

static void *held;                      /* static data: a root whose module has a name */

/* The loader knows that name, but a thread that stands still, or waits until we let go, may have its locks. */
static void ask_why(void)
{
    API_CHILD(SGC_why_live(held) == SGC_HELD_BY_STATIC);
}

/* What is mapped when the world stands must be mapped until it has been looked through. */
static void on_event(GC_EventType event)
{
    if (event != GC_EVENT_POST_STOP_WORLD)
        return;
    let_them_unload();
    if (held != NULL)
        ask_why();
}

static void collect(TEST_UNUSED void *object)
{
    GC_set_on_collection_event(on_event);
    GC_gcollect();
}

static void collect_and_ask_why(void *object)
{
    held = object;
    collect(object);
}

static void ask_why_stopped(void *object)
{
    held = object;
    GC_stop_world_external();
    ask_why();
    GC_start_world_external();
}

static void check_others(void (*question)(void *object), const char *message, const char *what)
{
    char text[100];

    snprintf(text, sizeof(text), "a thread in a region unloads modules: %s", what);
    check(unload_in_region, question, OTHERS_ROUNDS, message, text);
    snprintf(text, sizeof(text), "a thread that is not registered unloads modules: %s", what);
    now.create = pthread_create, now.beside = load_and_unload;
    api_check_started(ask_often, message, text);
}

int main(void)
{
    if (TEST_SANITIZED)
        tap_skip_all("threads that ask the loader get no signal there");
    check(load_and_unload, ask, ROUNDS, NULL, "questions while modules come and go");
    check(load_and_unload, ask_stopped, ROUNDS, NULL, "with the world stopped by hand");
    check(ask_loader, ask_stopped, LOCKED_ROUNDS, NULL, "and by hand while another thread asks the loader");
    check(load_and_unload, ask_why_stopped, LOCKED_ROUNDS, "static data",
          "and what holds an object is told by hand while modules come and go");
    check_others(collect, NULL, "collections");
    check_others(collect_and_ask_why, "static data", "what holds an object, told in a collection");
    check_others(ask, NULL, "questions");
    check_others(ask_late, NULL, "questions with the world stopped by hand");
    return tap_done();
}
