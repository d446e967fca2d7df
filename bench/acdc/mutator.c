/* SPDX-License-Identifier: MIT */
/*
 * See mutator.h.  Each thread has its own buffers, references and figures; the pool and the barrier are all that they share.
 *
 * A unit of time ends at an `advance`.  At each, n units are left of an object's life, then one less; the one at which none
 * is left ends it.  It is released there; or, in the short-term model, it was refreshed at each advance before, with what was
 * left, and the tick of this one is the one at which it expires by the thread's own clock.  Exact lifetimes are known, so all
 * refreshes but one are redundant; programs do not know them.
 *
 * A shared object is refreshed with 1 at least.  That is needed, not generous: a thread that learns of it by looking into the
 * pool, and ticks later, may have looked just before it was put there.  With 0 it would have to look and tick in one step.
 */
#include "bench/acdc/mutator.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/acdc/draw.h"
#include "bench/acdc/memory.h"
#include "bench/acdc/share.h"

/* Global ticks beyond a date's extension after which it is over ([SCM] 3.2), and one that does not count: who has just joined
 * has ticked in that phase. */
enum { GLOBAL_BEYOND = 3 + 1 };

struct mutator {
    const struct options *options;
    struct memory *memory;
    long id;
    long time;
    uint64_t random;
    uint64_t number;                    /* of its next object */
    long share_due;                     /* hundredths of an object */
    double thought;
    struct arena arena;
    struct buffer own, shared;
    struct metrics metrics;
    pthread_t thread;
};

static struct mutator **mutators;
static pthread_barrier_t barrier;

static void wait_for_all(void)
{
    pthread_barrier_wait(&barrier);
}

static void fail(const char *what, const char *expected)
{
    fflush(stdout);
    fprintf(stderr, "acdc: %s; %s\n", what, expected);
    exit(1);
}

/* ---- objects ---- */

static uint64_t *first_word(const struct reference *r)
{
    return r->object;
}

/* One that was reclaimed too early has by now been given out again, or overwritten by the allocator. */
static void look_at(const struct mutator *m, const struct reference *r)
{
    if (m->options->check && __atomic_load_n(first_word(r), __ATOMIC_RELAXED) != r->number)
        fail("an object that is needed is not what was written", "the memory has reclaimed it too early");
}

static struct reference *new_object(struct mutator *m, size_t bytes, void *(*allocate)(size_t bytes))
{
    struct reference *r = reference_new(&m->arena);

    errno = ENOMEM;
    r->object = allocate(bytes);
    if (r->object == NULL)
        fail("an object cannot be had", strerror(errno));
    r->number = m->number++ << NUMBER_SHIFT | bytes;
    __atomic_store_n(first_word(r), r->number, __ATOMIC_RELAXED);
    r->bytes = m->options->trace && m->memory->size_of != NULL ? m->memory->size_of(r->object) : bytes;
    count(&m->metrics.asked_bytes, (long long)bytes);
    count(&m->metrics.allocated_bytes, (long long)r->bytes);
    count(&m->metrics.allocated_objects, 1);
    return r;
}

/* Its life is over for all. */
static void end_object(struct mutator *m, struct reference *r)
{
    count(&m->metrics.ended_bytes, (long long)r->bytes);
    count(&m->metrics.ended_objects, 1);
    if (m->options->model == PERSISTENT && m->memory->release != NULL) {
        look_at(m, r);
        m->memory->release(r->object);
    }
    reference_end(&m->arena, r);
}

/* ---- allocation ---- */

static long shared_objects(struct mutator *m, long objects)
{
    long whole;

    if (!m->options->shared)
        return 0;
    m->share_due += objects * m->options->share_ratio;
    whole = m->share_due / 100;
    m->share_due %= 100;
    return whole;
}

static void fetch_shared(struct mutator *m, long lifetime)
{
    if (m->options->shared)
        m->metrics.fetched += share_fetch(m->id, &m->arena, buffer_list(&m->shared, m->time + lifetime));
}

static void allocate_objects(struct mutator *m, long shared, long objects, size_t bytes, long lifetime)
{
    struct list to_share = { NULL, NULL }, *own = buffer_list(&m->own, m->time + lifetime);

    cost_begin(&m->metrics);
    for (long i = 0; i < shared; i++)
        list_add(&to_share, node_new(&m->arena, new_object(m, bytes, m->memory->allocate_shared)));
    for (long i = shared; i < objects; i++)
        list_add(own, node_new(&m->arena, new_object(m, bytes, m->memory->allocate)));
    cost_end(&m->metrics, ALLOCATE, objects);
    share_put(&to_share);
}

/* Objects of one size and one lifetime; how many bytes they have. */
static long allocate_batch(struct mutator *m)
{
    const struct options *o = m->options;
    long class = draw_between(&m->random, o->size_least, o->size_most);
    long lifetime = draw_between(&m->random, 1, o->lifetime);
    long bytes = draw_between(&m->random, 1L << class, (2L << class) - 1);
    long objects = batch_objects(o, class, lifetime);

    m->metrics.by_class[class] += objects;
    m->metrics.by_lifetime[lifetime] += objects;
    fetch_shared(m, lifetime);
    allocate_objects(m, shared_objects(m, objects), objects, (size_t)bytes, lifetime);
    return objects * bytes;
}

/* ---- what a program does with its objects, and between ---- */

static void think(struct mutator *m)
{
    for (long i = 1; i <= m->options->think; i++)
        m->thought += log((double)i + m->thought);
}

static void use_list(struct mutator *m, const struct list *list)
{
    for (const struct node *n = list->first; n != NULL; n = n->next) {
        look_at(m, n->reference);
        if (draw_between(&m->random, 1, 100) <= m->options->access)
            __atomic_store_n(first_word(n->reference), n->reference->number, __ATOMIC_RELAXED);
        else
            m->thought += (double)(__atomic_load_n(first_word(n->reference), __ATOMIC_RELAXED) & 1);
    }
}

static void use_objects(struct mutator *m)
{
    if (m->options->access < 0)
        return;
    for (long i = 0; i < m->own.length; i++) {
        use_list(m, &m->own.lists[i]);
        use_list(m, &m->shared.lists[i]);
    }
}

/* ---- time ---- */

static void refresh_buffer(struct mutator *m, struct buffer *buffer, enum operation operation,
                           void (*refresh)(void *object, unsigned extension))
{
    long refreshed = 0, missing = m->options->early;

    cost_begin(&m->metrics);
    for (long left = 1; left < buffer->length; left++)
        for (struct node *n = buffer_list(buffer, m->time + left)->first; n != NULL; n = n->next, refreshed++) {
            look_at(m, n->reference);
            refresh(n->reference->object, (unsigned)(left - missing));
        }
    cost_end(&m->metrics, operation, refreshed);
}

static void refresh_and_tick(struct mutator *m)
{
    refresh_buffer(m, &m->own, REFRESH, m->memory->refresh);
    if (m->options->shared)
        refresh_buffer(m, &m->shared, REFRESH_GLOBAL, m->memory->refresh_global);
    cost_begin(&m->metrics);
    m->memory->tick();
    cost_end(&m->metrics, TICK, 1);
    if (!m->options->shared)
        return;
    cost_begin(&m->metrics);
    m->memory->tick_global();
    cost_end(&m->metrics, TICK_GLOBAL, 1);
}

static long end_own(struct mutator *m, struct list *list)
{
    long ended = 0;

    for (struct node *n = list->first, *next; n != NULL; n = next, ended++) {
        next = n->next;
        end_object(m, n->reference);
        node_end(&m->arena, n);
    }
    *list = (struct list){ NULL, NULL };
    return ended;
}

/* The last user ends the object's life. */
static long end_shared(struct mutator *m, struct list *list)
{
    long ended = 0;

    for (struct node *n = list->first, *next; n != NULL; n = next) {
        next = n->next;
        if (atomic_fetch_sub_explicit(&n->reference->users, 1, memory_order_acq_rel) == 1) {
            end_object(m, n->reference);
            ended++;
        }
        node_end(&m->arena, n);
    }
    *list = (struct list){ NULL, NULL };
    return ended;
}

static void end_lives(struct mutator *m)
{
    long ended;

    cost_begin(&m->metrics);
    ended = end_own(m, buffer_list(&m->own, m->time)) + end_shared(m, buffer_list(&m->shared, m->time));
    if (m->options->model == PERSISTENT)
        cost_end(&m->metrics, RELEASE, ended);
}

#define SUM(name) sum_of(m->options->threads, offsetof(struct metrics, name))

static long long sum_of(long threads, size_t place)
{
    long long all = 0;

    for (long i = 0; i < threads; i++)
        all += atomic_load_explicit((_Atomic long long *)((char *)&mutators[i]->metrics + place), memory_order_relaxed);
    return all;
}

/* Before lives end: then there is the most. */
static void note_most(struct mutator *m)
{
    long long ended = SUM(ended_bytes), now = SUM(allocated_bytes) - ended;

    if (m->metrics.moments != NULL && now > m->metrics.most_bytes)
        m->metrics.most_bytes = now;
}

/* What expires at the tick is forgotten before: nothing is to lead to it then. */
static void advance(struct mutator *m)
{
    note_most(m);
    end_lives(m);
    if (m->options->model == SHORT_TERM)
        refresh_and_tick(m);
    m->time++;
}

/* ---- the trace ---- */

static double asked(size_t (*function)(void))
{
    return function != NULL ? (double)function() : -1;
}

/* What has ended is read first, so that it is not more than what was allocated. */
static void note_moment(struct mutator *m)
{
    long long ended_bytes = SUM(ended_bytes), ended_objects = SUM(ended_objects);
    long long bytes = SUM(allocated_bytes), objects = SUM(allocated_objects);
    struct managed now = { bytes - ended_bytes, objects - ended_objects };

    if (m->memory->managed != NULL)
        now = m->memory->managed(bytes, objects);
    m->metrics.moments[m->time - 1] = (struct moment){ .bytes = (double)now.bytes, .objects = (double)now.objects,
                                                       .resident = resident_now(), .allocated = (double)objects,
                                                       .most = (double)m->metrics.most_bytes,
                                                       .heap = asked(m->memory->heap),
                                                       .collections = asked(m->memory->collections) };
}

/* ---- a thread ---- */

static void work(struct mutator *m)
{
    const struct options *o = m->options;
    long bytes = 0;

    while (m->time < o->duration) {
        use_objects(m);
        bytes += allocate_batch(m);
        think(m);
        if (bytes < 1L << o->threshold)
            continue;
        advance(m);
        cost_unit(&m->metrics);
        if (m->metrics.moments != NULL)
            note_moment(m);
        bytes = 0;
        if (o->drift > 0 && m->time % o->drift == 0)
            wait_for_all();
    }
}

/* All lives come to their ends.  A thread that waits for others takes no part in global time; then all tick together, until the
 * last date is over. */
static void finish(struct mutator *m)
{
    bool by_global_time = m->options->model == SHORT_TERM && m->options->shared;

    m->metrics.fetched += share_leave(m->id, &m->arena, buffer_list(&m->shared, m->time + 1));
    for (long i = 0; i <= m->options->lifetime; i++)
        advance(m);
    if (by_global_time)
        m->memory->leave_time();
    wait_for_all();
    if (by_global_time)
        m->memory->join_time();
    wait_for_all();
    for (long i = 0; by_global_time && i < m->options->lifetime + GLOBAL_BEYOND; i++) {
        m->memory->tick_global();
        wait_for_all();
    }
    if (m->options->model == SHORT_TERM)
        m->memory->expire_all();
    wait_for_all();
    if (m->id == 0 && m->memory->settle != NULL)
        m->memory->settle();
    wait_for_all();
}

static void *run(void *arg)
{
    struct mutator *m = arg;

    m->memory->thread_begin();
    wait_for_all();
    m->metrics.began = wall_ns();
    m->metrics.cpu = thread_ns();
    work(m);
    m->metrics.cpu = thread_ns() - m->metrics.cpu;
    m->metrics.ended = wall_ns();
    finish(m);
    m->memory->thread_end();
    return NULL;
}

static struct mutator *mutator_new(const struct options *options, long id)
{
    struct mutator *m = metadata_map(sizeof *m);

    m->options = options;
    m->memory = options->memory;
    m->id = id;
    m->random = draw_seed(options->seed, id);
    m->number = (uint64_t)id << 27;
    m->arena.add_roots = m->memory->add_roots;
    m->own = buffer_new(options->lifetime);
    m->shared = buffer_new(options->lifetime);
    metrics_begin(&m->metrics, options, id);
    return m;
}

struct metrics **mutators_run(const struct options *options)
{
    struct metrics **metrics = metadata_map((size_t)options->threads * sizeof *metrics);

    share_begin(options->threads);
    pthread_barrier_init(&barrier, NULL, (unsigned)options->threads);
    mutators = metadata_map((size_t)options->threads * sizeof(struct mutator *));
    for (long i = 0; i < options->threads; i++) {
        mutators[i] = mutator_new(options, i);
        metrics[i] = &mutators[i]->metrics;
    }
    for (long i = 0; i < options->threads; i++)
        if (pthread_create(&mutators[i]->thread, NULL, run, mutators[i]) != 0)
            fail("a thread cannot be created", "use fewer");
    for (long i = 0; i < options->threads; i++)
        pthread_join(mutators[i]->thread, NULL);
    return metrics;
}
