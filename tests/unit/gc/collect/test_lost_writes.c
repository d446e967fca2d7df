/* SPDX-License-Identifier: MIT */
/*
 * Also: gc/collect/write_watch.c.  No store is lost: while cycles run one after the other, threads move pointers of which no
 * copy is kept between small, typed, large and uncollectable objects, static data, thread-local data, stacks and registers, by
 * stores and by system calls that write for them (read, recv, process_vm_writev), also into arenas that are new.  Each object
 * must be where it was put, with its contents, and allocated.
 *
 * Without arguments: some stores with each source of written pages.  test_lost_writes SOURCE STORES: so many with one.
 */
#include "gc/collect/write_watch.h"

#define GC_THREADS 1
#include <gc/gc.h>
#include <gc/gc_typed.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "gc/collect/concurrent.h"
#include "platform/faults.h"
#include "tests/lib/child.h"
#include "tests/lib/random.h"
#include "tests/lib/white.h"
#include "tests/lib/world.h"

enum { WORKERS = 2, GROUPS = 256, PLACES = 16, ALL = GROUPS * PLACES, OWN_GROUPS = 4, KERNEL = 16,
       ASK = 256, LEAST = 2, SECONDS = 30 };

static const uint64_t SHORT_STORES = TEST_SANITIZED ? 100000 : 500000;

static const char *source;
static uint64_t stores;

struct token {
    uintptr_t id, seal, rest[4];
};

/* Sixteen places, at equal distances in one object, or in memory that is a root. */
struct group {
    char *holder;
    size_t distance;
};

struct worker {
    struct group group[GROUPS];
    uintptr_t expected[ALL];            /* the id of the token in each place */
    uint64_t random, stored, by_kernel;
    uintptr_t next_id;
    int pipe[2], pair[2];
    bool kernel;
};

static struct token *in_static_data[WORKERS][OWN_GROUPS * PLACES];
static _Thread_local struct token *in_thread_data[OWN_GROUPS * PLACES];
static GC_descr every_other_word;
static sgc_aw_t all_stored, all_by_kernel;

static struct token **place(const struct worker *w, uint32_t i)
{
    const struct group *g = &w->group[i / PLACES];

    return (struct token **)(void *)(g->holder + i % PLACES * g->distance);
}

/* ---- tokens ---- */

static struct token *token_make(struct worker *w)
{
    uint32_t sort = random_below(&w->random, 64);
    struct token *t = sort == 0 ? GC_malloc(70000) : sort < 8 ? GC_malloc_atomic(sizeof *t + sort * 100) : GC_malloc(sizeof *t);

    t->id = w->next_id++;
    t->seal = t->rest[3] = ~t->id;
    return t;
}

/* Several threads may find something lost: the first one says what, and ends the process. */
static void be_first(void)
{
    static sgc_a32_t found;

    if (sgc_a32_add(&found, 1) != 0)
        for (;;)
            sgc_sleep_ns(1000000000);
}

static void token_check(const struct token *t, uintptr_t id)
{
    if (t != NULL && t->id == id && t->seal == ~id && t->rest[3] == ~id)
        return;
    be_first();
    sgc_fatal("lost writes: the object at %p should be number %lu and is not", (const void *)t, (unsigned long)id);
}

/* ---- stores ---- */

/* All stores are reported as well, for a source that relies on that. */
static void store(struct worker *w, struct token **to, struct token *t)
{
    *to = t;
    GC_end_stubborn_change(to);
    w->stored++;
}

/* False: the system does not do that. */
static bool store_by_kernel(struct worker *w, struct token **to, struct token *t)
{
    struct iovec from = { &t, sizeof t }, into = { to, sizeof *to };
    bool done = false;

    switch (random_below(&w->random, 3)) {
    case 0: done = write(w->pipe[1], &t, sizeof t) == sizeof t && read(w->pipe[0], to, sizeof *to) == sizeof *to; break;
    case 1: done = send(w->pair[1], &t, sizeof t, 0) == sizeof t && recv(w->pair[0], to, sizeof *to, 0) == sizeof *to; break;
    default: done = process_vm_writev(getpid(), &from, 1, &into, 1, 0) == sizeof t; break;
    }
    GC_end_stubborn_change(to);
    w->stored += done;
    w->by_kernel += done;
    return done;
}

static void store_somehow(struct worker *w, struct token **to, struct token *t)
{
    if (!w->kernel || random_below(&w->random, KERNEL) != 0 || !store_by_kernel(w, to, t))
        store(w, to, t);
}

/* ---- moving ---- */

static struct token *look(struct worker *w, uint32_t i)
{
    struct token *t = *place(w, i);

    token_check(t, w->expected[i]);
    return t;
}

static void exchange(struct worker *w)
{
    uint32_t a = random_below(&w->random, ALL), b = random_below(&w->random, ALL);
    struct token *first = look(w, a), *second = look(w, b);
    uintptr_t id = w->expected[a];

    store_somehow(w, place(w, a), second);
    store_somehow(w, place(w, b), first);
    w->expected[a] = w->expected[b];
    w->expected[b] = id;
}

/* For a while only a register, or this frame, holds it. */
static void hold(struct worker *w)
{
    uint32_t a = random_below(&w->random, ALL);
    struct token *t = look(w, a);

    store(w, place(w, a), NULL);
    for (uint32_t n = random_below(&w->random, 8); n > 0; n--)
        *(void *volatile *)GC_malloc(16 + random_below(&w->random, 400)) = NULL;
    store_somehow(w, place(w, a), t);
}

static void renew(struct worker *w)
{
    uint32_t a = random_below(&w->random, ALL);
    struct token *old = look(w, a), *new = token_make(w);

    w->expected[a] = new->id;
    store_somehow(w, place(w, a), new);
    if (random_below(&w->random, 4) == 0)
        GC_free(old);
}

/* ---- places ---- */

static struct group make_group(struct worker *w)
{
    static const struct { size_t distance; uint32_t times; } sorts[] = { { 8, 40 }, { 16, 40 }, { 200, 20 }, { 20000, 10 },
                                                                        { 262144, 1 }, { 8, 10 } };
    uint32_t n = random_below(&w->random, 121), sort = 0;
    size_t bytes;

    for (; n >= sorts[sort].times; sort++)
        n -= sorts[sort].times;
    bytes = sorts[sort].distance * PLACES;
    if (sort == 1)
        return (struct group){ GC_malloc_explicitly_typed(bytes, every_other_word), sorts[sort].distance };
    return (struct group){ sort == 5 ? GC_malloc_uncollectable(bytes) : GC_malloc(bytes), sorts[sort].distance };
}

static void set_group(struct worker *w, uint32_t g, struct group group)
{
    w->group[g] = group;
    GC_end_stubborn_change(&w->group[g]);
}

/* Its tokens move into new memory, one by one. */
static void move_group(struct worker *w)
{
    uint32_t g = 3 * OWN_GROUPS + random_below(&w->random, GROUPS - 3 * OWN_GROUPS);
    struct group old = w->group[g], new = make_group(w);

    for (uint32_t i = 0; i < PLACES; i++) {
        struct token *t = look(w, g * PLACES + i);

        store(w, place(w, g * PLACES + i), NULL);
        store_somehow(w, (struct token **)(void *)(new.holder + i * new.distance), t);
    }
    set_group(w, g, new);
    GC_free(old.holder);
}

static void fill(struct worker *w, struct token **in_stack, uint32_t number)
{
    struct token **own[] = { in_static_data[number], in_thread_data, in_stack };

    for (uint32_t g = 0; g < 3 * OWN_GROUPS; g++)
        set_group(w, g, (struct group){ (char *)(own[g / OWN_GROUPS] + g % OWN_GROUPS * PLACES), sizeof(struct token *) });
    for (uint32_t g = 3 * OWN_GROUPS; g < GROUPS; g++)
        set_group(w, g, make_group(w));
    for (uint32_t i = 0; i < ALL; i++) {
        struct token *t = token_make(w);

        w->expected[i] = t->id;
        store(w, place(w, i), t);
    }
}

/* ---- the work ---- */

static void step(struct worker *w)
{
    uint32_t what = random_below(&w->random, 1024);

    if (what < 900)
        exchange(w);
    else if (what < 1020)
        (what % 2 == 0 ? hold : renew)(w);
    else
        move_group(w);
}

/* Also until there has been a cycle, for a while. */
static bool goes_on(const struct worker *w, uint64_t until)
{
    return w->stored < stores / WORKERS || (sgc_a32_load(&world_cycles.concurrent) < LEAST && sgc_clock_ns() < until);
}

/* Allocated, each where it should be. */
static void check_all(const struct worker *w)
{
    for (uint32_t i = 0; i < ALL; i++) {
        struct token *t = *place(w, i);

        token_check(t, w->expected[i]);
        if (GC_base(t) == t)
            continue;
        be_first();
        sgc_fatal("lost writes: the object at %p, number %lu, is not allocated", (void *)t, (unsigned long)t->id);
    }
}

static void *work(void *arg)
{
    struct token *volatile in_stack[OWN_GROUPS * PLACES] = { NULL };
    uint64_t until = sgc_clock_ns() + SECONDS * UINT64_C(1000000000);
    uint32_t number = (uint32_t)(uintptr_t)arg;
    struct worker *w = GC_malloc(sizeof *w);

    w->random = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    w->next_id = (uintptr_t)(number + 1) << 48;
    w->kernel = sgc_watch_kernel_writes();
    if (pipe(w->pipe) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, w->pair) != 0)
        sgc_fatal("lost writes: no pipe");
    fill(w, (struct token **)(uintptr_t)in_stack, number);
    for (uint32_t n = 0; goes_on(w, until); n++) {
        step(w);
        if (n % ASK == 0 && !sgc_concurrent_busy())
            sgc_concurrent_ask(sgc_mutator_self());
    }
    check_all(w);
    sgc_aw_add(&all_stored, w->stored);
    sgc_aw_add(&all_by_kernel, w->by_kernel);
    return NULL;
}

/* A source that loses writes is found, too. */
static bool loses;

static int lose_none(void)
{
    GC_word bits[1] = { 0x55555555 };
    pthread_t thread[WORKERS];

    setenv("SGC_DIRTY", source, 1);
    GC_INIT();
    if (!sgc_concurrent_enabled())
        return CHILD_SKIPS;
    sgc_fault_plant(loses ? SGC_FAULT_NOT_REARMED : SGC_FAULT_NONE);
    every_other_word = GC_make_descriptor(bits, 32);
    world_count_cycles();
    threads_start(thread, WORKERS, work);
    threads_join(thread, WORKERS);
    tap_diag("%s: %lu stores, %lu of them by the kernel, in %u cycles beside the program", source,
             (unsigned long)sgc_aw_load(&all_stored), (unsigned long)sgc_aw_load(&all_by_kernel),
             sgc_a32_load(&world_cycles.concurrent));
    return sgc_a32_load(&world_cycles.concurrent) >= LEAST ? 0 : 3;
}

int main(int argc, char **argv)
{
    static const char *const sources[] = { "none", "async", "mprotect", "softdirty", "software" };

    environment("SGC_MODE=concurrent", "GC_PAUSE_TIME_TARGET=0");
    stores = argc == 3 ? strtoull(argv[2], NULL, 10) : SHORT_STORES;
    if (stores == 0)
        tap_bail("not a number of stores");
    for (size_t i = 0; i < (argc == 3 ? 1 : sizeof sources / sizeof *sources); i++) {
        source = argc == 3 ? argv[1] : sources[i];
        child_ok(lose_none, "%s: no store is lost", source);
    }
    if (argc != 3 && TEST_ASSERTIONS && !TEST_SANITIZED) {
        source = "mprotect", loses = true;
        setenv("SGC_VERIFY", "nothing", 1); /* which would find it first */
        child_says(lose_none, 128 + SIGABRT, "lost writes: the object at", "a source that loses writes is found");
    }
    return tap_done();
}
