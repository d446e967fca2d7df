/* SPDX-License-Identifier: MIT */
/*
 * One thread frees objects that wait, just ahead of another that is asked about them: what it allocates there then is not
 * freed, and nothing is freed twice.
 */
#include "disclaim.h"

#include <stdatomic.h>
#include <sched.h>

enum { OBJECTS = 2000, ROUNDS = 30 };

enum { NOBODY, PROGRAM, PROCEDURE };            /* frees the object */

static GC_word hidden[OBJECTS];                 /* by address */
static struct thing *volatile successor[OBJECTS];
static atomic_int frees[OBJECTS];
static atomic_int at, over;                     /* the number that was asked about last; this round is */
static pthread_barrier_t line;
static bool freer_makes;                        /* the objects, or who is asked */

static int compare(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)GC_REVEAL_POINTER(*(const GC_word *)a), y = (uintptr_t)GC_REVEAL_POINTER(*(const GC_word *)b);

    return x < y ? -1 : x > y;
}

static int number_of(void *object)
{
    GC_word key = GC_HIDE_POINTER(object);
    const GC_word *place = bsearch(&key, hidden, OBJECTS, sizeof key, compare);

    return place != NULL ? (int)(place - hidden) : -1;
}

/* It does not look at the object, which may be another by now. */
static int unless_program_does(void *object)
{
    int number = number_of(object), nobody = NOBODY;

    if (number < 0)
        return 0;                               /* of an earlier round */
    atomic_store(&at, number);
    return !atomic_compare_exchange_strong(&frees[number], &nobody, PROCEDURE);
}

static struct thing *make(long number)
{
    return make_thing(number, sizeof(struct thing));
}

TEST_NOINLINE static void make_all(void)
{
    for (int i = 0; i < OBJECTS; i++) {
        hidden[i] = GC_HIDE_POINTER(make(i));
        successor[i] = NULL;
        atomic_store(&frees[i], NOBODY);
    }
    qsort(hidden, OBJECTS, sizeof hidden[0], compare);
    atomic_store(&at, -1);
    atomic_store(&over, 0);
}

/* The procedure may answer what it likes about the object that lies there afterwards. */
static void free_and_replace(int number)
{
    int nobody = NOBODY;

    if (!atomic_compare_exchange_strong(&frees[number], &nobody, PROGRAM))
        return;
    GC_free(GC_REVEAL_POINTER(hidden[number]));
    successor[number] = make(number);
    atomic_store(&frees[number], NOBODY);
}

static void free_ahead(void)
{
    for (int last = -1; !atomic_load(&over) && last < OBJECTS - 2;) {
        int now = atomic_load(&at);

        if (now > last)
            free_and_replace((last = now) + 1 < OBJECTS ? now + 1 : now);
        else
            sched_yield();
    }
}

static void *freer(void *arg)
{
    for (int round = 0; round < ROUNDS; round++) {
        if (freer_makes)
            make_all();
        pthread_barrier_wait(&line);
        free_ahead();
        pthread_barrier_wait(&line);
        pthread_barrier_wait(&line);            /* looked at */
    }
    return arg;
}

static void look(void)
{
    for (int i = 0; i < OBJECTS; i++) {
        struct thing *t = successor[i];

        API_CHILD(t == NULL || (GC_base(t) == t && t->ready == READY && t->number == i));
    }
}

static void *asked(void *arg)
{
    for (int round = 0; round < ROUNDS; round++) {
        if (!freer_makes)
            make_all();
        pthread_barrier_wait(&line);
        GC_enable();
        GC_gcollect();
        GC_disable();
        atomic_store(&over, 1);
        pthread_barrier_wait(&line);
        for (int i = 0; i < OBJECTS; i++)
            make(i);
        look();
        pthread_barrier_wait(&line);
    }
    return arg;
}

static void race(void)
{
    pthread_t thread[2];

    start(unless_program_does, 0);
    GC_disable();               /* while objects are made, which nobody is to be asked about yet */
    pthread_barrier_init(&line, NULL, 2);
    thread[0] = api_start(freer, NULL);
    thread[1] = api_start(asked, NULL);
    api_join_all(thread, 2);
}

int main(void)
{
    api_check_child(race, NULL, "freed while they wait, by another thread");
    api_check_child_of((freer_makes = true, race()), NULL, "by the thread that owns their pages");
    api_check_child_with("SGC_TORTURE=1000000", race, "with delays");
    return tap_done();
}
