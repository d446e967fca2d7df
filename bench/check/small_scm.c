/* SPDX-License-Identifier: MIT */
/*
 * A small libscm ([SCM-C], chapter 4), for tests of what uses one: the calls and what they mean, under one lock, everything
 * expired at once (eager).  An object is freed when its last date is over; its finalizer, if it has one, is called before.
 *
 * With fewer SCM_LISTS than dates need, dates are over too early: what a test of premature frees must see.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifndef SCM_LISTS
#define SCM_LISTS 67
#endif
enum { MOST = 64, LISTS = SCM_LISTS, ROOM = 16 };

struct header {
    long dates;
    int (*finalizer)(void *object);
};
_Static_assert(sizeof(struct header) == ROOM, "what follows the header is aligned");

struct dates {
    void **objects;
    size_t n, room;
};

/* A clock of one thread: list (now + e) % LISTS is over at the (e+1)-th tick from now. */
struct clock {
    struct dates lists[LISTS];
    size_t now;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long global_time, active, countdown;
static int (*finalizers[4])(void *object);
static int finalizers_used;
static _Thread_local struct {
    struct clock own, global;
    long phase;
    int takes_part;
} self;

void *scm_malloc(size_t bytes)
{
    struct header *header = calloc(1, ROOM + bytes);

    return header == NULL ? NULL : header + 1;
}

static struct header *header_of(void *object)
{
    return (struct header *)object - 1;
}

void scm_free(void *object)
{
    if (object != NULL && header_of(object)->dates == 0)
        free(header_of(object));
}

static void expire(struct clock *clock)
{
    struct dates *list = &clock->lists[clock->now++ % LISTS];

    while (list->n > 0) {
        void *object = list->objects[--list->n];
        struct header *header = header_of(object);

        if (--header->dates == 0 && (header->finalizer == NULL || header->finalizer(object) == 0)) {
            memset(object, 0xdd, sizeof(void *));
            free(header);
        }
    }
}

static void refresh(struct clock *clock, void *object, size_t extension)
{
    struct dates *list = &clock->lists[(clock->now + extension) % LISTS];

    pthread_mutex_lock(&lock);
    if (list->n == list->room) {
        list->room = 2 * list->room + 64;
        list->objects = realloc(list->objects, list->room * sizeof *list->objects);
    }
    list->objects[list->n++] = object;
    header_of(object)->dates++;
    pthread_mutex_unlock(&lock);
}

void scm_register_thread(void)
{
    pthread_mutex_lock(&lock);
    self.takes_part = 1;
    self.phase = active == 0 ? global_time : global_time + 1;
    countdown += active == 0;
    active++;
    pthread_mutex_unlock(&lock);
}

void scm_unregister_thread(void)
{
    pthread_mutex_lock(&lock);
    active--;
    if (self.phase == global_time && --countdown <= 0) {
        countdown = active;
        global_time++;
    }
    pthread_mutex_unlock(&lock);
}

void scm_block_thread(void)
{
    scm_unregister_thread();
}

void scm_resume_thread(void)
{
    scm_register_thread();
}

void scm_refresh(void *object, unsigned extension)
{
    refresh(&self.own, object, extension < MOST ? extension : MOST);
}

void scm_global_refresh(void *object, unsigned extension)
{
    refresh(&self.global, object, (extension < MOST - 2 ? extension : MOST - 2) + 2);
}

void scm_tick(void)
{
    pthread_mutex_lock(&lock);
    expire(&self.own);
    pthread_mutex_unlock(&lock);
}

void scm_global_tick(void)
{
    pthread_mutex_lock(&lock);
    if (self.phase == global_time) {
        self.phase++;
        expire(&self.global);
        if (--countdown <= 0) {
            countdown = active;
            global_time++;
        }
    }
    pthread_mutex_unlock(&lock);
}

void scm_collect(void)
{
}

int scm_register_finalizer(int (*finalizer)(void *object))
{
    finalizers[finalizers_used] = finalizer;
    return finalizers_used++;
}

void scm_set_finalizer(void *object, int number)
{
    header_of(object)->finalizer = finalizers[number];
}
