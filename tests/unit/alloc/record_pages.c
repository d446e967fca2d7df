/* SPDX-License-Identifier: MIT */
/*
 * record_pages PROGRAM: runs a small threaded program on the collector and writes its page demand
 * (tests/lib/page_trace.h) to standard output.  tests/traces/ has some, made with
 *
 *     tests/unit/alloc/record_pages turns >tests/traces/turns.txt
 *
 * It is linked with sgc_policy_take_singles and sgc_pool_give_singles wrapped (tests/local.mk).  Takes are noted before
 * and gives after they happen, so that at no moment more is in use than is noted.  No thread ends before the
 * recording does: pages without an owner have no place in a trace.
 */
#define GC_THREADS 1
#include <pthread.h>

#include "alloc/pages/live_pages.h"
#include "alloc/page_supply.h"
#include "gc.h"
#include "tests/lib/page_trace.h"

enum { THREADS = 4, ROUNDS = 6, EVENTS = 1 << 18 };

/* Written by any thread, each event by who drew its number; read when nothing is recorded any more. */
static struct trace_event events[EVENTS];
static sgc_a32_t next_event, recording, last_live;

static void note(char what, uint32_t owner, uint32_t count)
{
    uint32_t i;

    if (sgc_a32_load(&recording) == 0)
        return;
    i = sgc_a32_add(&next_event, 1);
    if (i < EVENTS)
        events[i] = (struct trace_event){ what, owner, count };
}

uint32_t __real_sgc_policy_take_singles(struct sgc_cache *cache, uint32_t most, struct sgc_taken *taken);
void __real_sgc_pool_give_singles(const uint32_t *pages, uint32_t count, uint32_t owner, struct sgc_section *self);
uint32_t __wrap_sgc_policy_take_singles(struct sgc_cache *cache, uint32_t most, struct sgc_taken *taken);
void __wrap_sgc_pool_give_singles(const uint32_t *pages, uint32_t count, uint32_t owner, struct sgc_section *self);

uint32_t __wrap_sgc_policy_take_singles(struct sgc_cache *cache, uint32_t most, struct sgc_taken *taken)
{
    uint32_t live = (uint32_t)sgc_live_pages_max(), count;

    if (live != sgc_a32_swap(&last_live, live))
        note('l', 0, live);
    note('t', cache->id, most);
    count = __real_sgc_policy_take_singles(cache, most, taken);
    if (count < most)
        note('g', cache->id, most - count);
    return count;
}

void __wrap_sgc_pool_give_singles(const uint32_t *pages, uint32_t count, uint32_t owner, struct sgc_section *self)
{
    __real_sgc_pool_give_singles(pages, count, owner, self);
    note('g', owner, count);
}

/* ---- the programs ---- */

struct cell {
    struct cell *next;
    char rest[120];
};

static pthread_barrier_t barrier;

static void meet(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&barrier);
}

/* A stopped world need not wait for who waits here. */
static void all_meet(void)
{
    GC_do_blocking((GC_fn_type)(void (*)(void))meet, NULL);
}

static struct cell *build(int cells, size_t bytes)
{
    struct cell *list = NULL;

    for (int i = 0; i < cells; i++) {
        struct cell *cell = GC_malloc(sizeof *cell + bytes);

        cell->next = list;
        list = cell;
    }
    return list;
}

/* Each thread in its turn builds something large and drops it: what each needs at most adds up to much more than what
 * is needed at one time. */
static void *take_turns(void *arg)
{
    int me = (int)(intptr_t)arg;

    for (int round = 0; round < ROUNDS * THREADS; round++) {
        struct cell *list = build(round % THREADS == me ? 40000 : 2000, 0);

        all_meet();
        GC_reachable_here(list);
        list = NULL;
        if (me == 0)
            GC_gcollect();
        all_meet();
    }
    return NULL;
}

/* Tables of lists of any size, replaced at random. */
static void *churn(void *arg)
{
    uint64_t state = (uint64_t)(intptr_t)arg + 17;
    struct cell **table = GC_malloc(64 * sizeof *table);

    for (int i = 0; i < 250 * ROUNDS; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        table[state >> 58] = build((int)(state >> 33) % 300, (size_t)(state >> 40) % 8 * 100);
    }
    return NULL;
}

static struct cell *handed[THREADS];

/* The first half builds, the other half keeps what it was given for a while. */
static void *pipeline(void *arg)
{
    int me = (int)(intptr_t)arg, partner = (me + THREADS / 2) % THREADS;
    struct cell *kept[3] = { NULL };

    for (int round = 0; round < 8 * ROUNDS; round++) {
        if (me < THREADS / 2)
            __atomic_store_n(&handed[partner], build(4000 + 2000 * me + 200 * round, 0), __ATOMIC_RELEASE);
        all_meet();
        if (me >= THREADS / 2)
            kept[round % 3] = __atomic_exchange_n(&handed[me], NULL, __ATOMIC_ACQUIRE);
        build(1000 * me, 64);
        all_meet();
    }
    GC_reachable_here(kept);
    return NULL;
}

static struct {
    const char *name;
    void *(*body)(void *arg);
} const programs[] = { { "turns", take_turns }, { "churn", churn }, { "pipeline", pipeline } };

/* ---- running and writing ---- */

static void *run(void *arg)
{
    void *(*body)(void *) = programs[(intptr_t)arg / THREADS].body;

    body((void *)((intptr_t)arg % THREADS));
    all_meet();
    sgc_a32_store(&recording, 0);
    all_meet();
    return NULL;
}

static void record(int program)
{
    pthread_t thread[THREADS];

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++)
        if (GC_pthread_create(&thread[i], NULL, run, (void *)(program * THREADS + i)) != 0)
            exit(1);
    for (int i = 0; i < THREADS; i++)
        GC_pthread_join(thread[i], NULL);
}

static void write_all(const char *name)
{
    struct trace trace = { NULL, 0, 0 };

    for (uint32_t i = 0; i < sgc_a32_load(&next_event); i++)
        trace_add(&trace, events[i].what, events[i].owner, events[i].count);
    printf("# SPDX-License-Identifier: MIT\n# A page demand (tests/lib/page_trace.h), written by: "
           "tests/unit/alloc/record_pages %s\n",
           name);
    trace_write(stdout, &trace);
    trace_free(&trace);
}

int main(int argc, char **argv)
{
    setenv("SGC_DECAY_MS", "-1", 1);                /* nothing that was consumed goes back */
    setenv("SGC_SHARE_PAGES", "off", 1);            /* each page has an owner */
    sgc_a32_store(&recording, 1);                   /* from the first page on */
    GC_INIT();
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (argc == 2 && strcmp(argv[1], programs[i].name) == 0) {
            record((int)i);
            if (sgc_a32_load(&next_event) > EVENTS)
                return 1;
            write_all(argv[1]);
            return 0;
        }
    fprintf(stderr, "usage: record_pages turns|churn|pipeline\n");
    return 2;
}
