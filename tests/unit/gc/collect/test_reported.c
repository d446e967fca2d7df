/* SPDX-License-Identifier: MIT */
/*
 * Programs that report their writes: gc/collect/write_watch.c, gc/api/objects.c, gc/collect/closure.c, gc/collect/concurrent.c.
 * Threads move pointers about that they also keep hidden, beside cycles whose marks are verified, and none of their objects
 * may be lost; threads that do the same without reporting must be told so.  How the source is chosen; and the program's part in
 * marking.  What SGC itself stores: test_reported_own.c.
 */
#include "gc/collect/assists.h"
#include "gc/collect/concurrent.h"

#define GC_THREADS 1
#define GC_NO_THREAD_REDIRECTS 1
#include <gc/gc.h>
#include <gc/gc_mark.h>
#include <gc/gc_typed.h>
#include <sgc.h>

#include "gc/collect/write_watch.h"
#include "gc/events/events.h"
#include "tests/lib/capture.h"
#include "tests/lib/child.h"
#include "tests/lib/random.h"
#include "tests/lib/white.h"

enum { THREADS = 3, SLOTS = 3000, CYCLES = TEST_SANITIZED ? 3 : 8, SECONDS = 20, ROW = 16 };

/* ---- how many cycles there were ---- */

static sgc_a32_t cycles, most_stops;

static void at_end(WHITE_UNUSED void *unused, const struct sgc_cycle_record *r)
{
    if (r->earlier_stops != 0)
        sgc_a32_add(&cycles, 1);
    if (r->earlier_stops > sgc_a32_load(&most_stops))
        sgc_a32_store(&most_stops, (uint32_t)r->earlier_stops);
}

static const struct sgc_listener listener = { .cycle_end = at_end };

static bool goes_on(uint64_t until, uint32_t wanted)
{
    return sgc_a32_load(&cycles) < wanted && sgc_clock_ns() < until;
}

static uint64_t patience(void)
{
    return sgc_clock_ns() + (uint64_t)SECONDS * 1000000000;
}

/* ---- threads that move pointers about ---- */

struct node {
    struct node *next;
    uintptr_t id, not_id;
    uintptr_t payload[9];
};

/* What a thread has: slots in an object, each with a list of up to two nodes; and outside the heap, hidden, what is there. */
struct world {
    struct node **slot;
    uintptr_t (*hidden)[2];             /* addresses, inverted, and */
    uintptr_t (*wanted)[2];             /* ids; 0: none */
    uint64_t seed;
    uintptr_t next_id;
};

static bool forgetful;
static sgc_a32_t wrong;

static uint32_t below(struct world *w, uint32_t n)
{
    return random_below(&w->seed, n);
}

/* Each in another way. */
static void put(struct world *w, struct node **place, struct node *value, const void *object)
{
    if (forgetful) {
        *(struct node *volatile *)place = value;
    } else if (below(w, 4) != 0) {
        GC_PTR_STORE_AND_DIRTY(place, value);
    } else {
        *place = value;
        if (below(w, 2) != 0)
            GC_END_STUBBORN_CHANGE(object);
        else
            SGC_dirty(place, sizeof *place);
        GC_reachable_here(value);
    }
}

static struct node *make(struct world *w)
{
    static const GC_word pointers = 1;
    struct node *n;

    switch (below(w, 64)) {
    case 0: n = GC_malloc(70000); break;
    case 1: n = GC_malloc_explicitly_typed(sizeof *n, GC_make_descriptor(&pointers, 1)); break;
    case 2: n = GC_malloc_uncollectable(sizeof *n); break;
    case 3: n = GC_realloc(GC_malloc(40), sizeof *n); break;
    default: n = GC_malloc(sizeof *n); break;
    }
    n->id = w->next_id++;
    n->not_id = ~n->id;
    return n;
}

static bool good(const struct world *w, uint32_t slot)
{
    const struct node *n = w->slot[slot];

    for (int i = 0; i < 2 && w->wanted[slot][i] != 0; i++, n = n->next)
        if ((uintptr_t)n != ~w->hidden[slot][i] || n->id != w->wanted[slot][i] || n->not_id != ~n->id)
            return false;
    return true;
}

static void look(const struct world *w, uint32_t slot)
{
    if (!good(w, slot))
        sgc_a32_store(&wrong, 1);
}

static void fill(struct world *w, uint32_t slot)
{
    struct node *n = make(w);

    w->wanted[slot][0] = n->id;
    w->hidden[slot][0] = ~(uintptr_t)n;
    w->wanted[slot][1] = 0;
    put(w, &w->slot[slot], n, w->slot);
}

/* An uncollectable node would stay. */
static void drop(struct world *w, uint32_t slot)
{
    for (struct node *n = w->slot[slot], *next; n != NULL; n = next) {
        next = n->next;
        n->next = NULL;
        if (below(w, 4) == 0 || sgc_kind_uncollectable((uint32_t)GC_get_kind_and_size(n, NULL)))
            GC_free(n);
    }
    w->slot[slot] = NULL;
    w->wanted[slot][0] = w->wanted[slot][1] = 0;
}

/* The list of one slot, which nothing else leads to, to another slot; clearing is not reported. */
static void move(struct world *w, uint32_t from, uint32_t to)
{
    struct node *n = w->slot[from];

    drop(w, to);
    memcpy(w->wanted[to], w->wanted[from], sizeof w->wanted[to]);
    memcpy(w->hidden[to], w->hidden[from], sizeof w->hidden[to]);
    put(w, &w->slot[to], n, w->slot);
    w->slot[from] = NULL;
    w->wanted[from][0] = w->wanted[from][1] = 0;
}

/* Behind the node of another slot. */
static void append(struct world *w, uint32_t from, uint32_t to)
{
    if (w->wanted[from][1] != 0 || w->wanted[to][1] != 0)
        return;
    w->wanted[to][1] = w->wanted[from][0];
    w->hidden[to][1] = w->hidden[from][0];
    put(w, &w->slot[to]->next, w->slot[from], w->slot[to]);
    w->slot[from] = NULL;
    w->wanted[from][0] = 0;
}

static void change(struct world *w)
{
    uint32_t a = below(w, SLOTS), b = below(w, SLOTS);

    look(w, a);
    look(w, b);
    if (w->wanted[a][0] == 0)
        fill(w, a);
    else if (a != b && w->wanted[b][0] != 0 && below(w, 3) == 0)
        append(w, a, b);
    else if (a != b && below(w, 3) != 0)
        move(w, a, b);
    else
        drop(w, a);
}

static void *change_on(void *arg)
{
    uint64_t until = patience();
    struct world w = { .seed = 88172645463325252u + (uintptr_t)arg, .next_id = 1 };

    w.slot = GC_malloc(SLOTS * sizeof *w.slot);
    w.hidden = sgc_mem_obtain(SLOTS * sizeof *w.hidden);
    w.wanted = sgc_mem_obtain(SLOTS * sizeof *w.wanted);
    while (goes_on(until, CYCLES) && sgc_a32_load(&wrong) == 0)
        for (int i = 0; i < 500; i++)
            change(&w);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        look(&w, slot);
    return NULL;
}

static bool begin(void)
{
    GC_INIT();
    sgc_listener_add(&listener);
    return sgc_concurrent_enabled() && strcmp(sgc_watch_name(), "software") == 0;
}

static int change_in_threads(void)
{
    pthread_t thread[THREADS];

    if (!begin())
        return CHILD_SKIPS;
    for (uintptr_t i = 0; i < THREADS; i++)
        if (GC_pthread_create(&thread[i], NULL, change_on, (void *)i) != 0)
            return 4;
    for (int i = 0; i < THREADS; i++)
        GC_pthread_join(thread[i], NULL);
    if (sgc_a32_load(&wrong) != 0)
        return 1;
    return sgc_a32_load(&cycles) >= CYCLES ? 0 : 3;
}

static int forget(void)
{
    forgetful = true;
    return change_in_threads();
}

static void test_forgetful(void)
{
    const char *text;
    int status;

    capture_begin();
    status = run_in_child(forget);
    text = capture_end();
    if (status == CHILD_SKIPS)
        tap_skip("threads that report nothing: cannot be tried here");
    else if (!tap_ok(status == 128 + SIGABRT && strstr(text, "call GC_END_STUBBORN_CHANGE") != NULL,
                     "threads that report nothing are told so"))
        tap_diag("status %d: %.600s", status, text);
}

/* ---- which source ---- */

static void *volatile held[2];          /* static data */

static void report_early(void)
{
    int local = 0;

    GC_end_stubborn_change(&local);
    GC_ptr_store_and_dirty((void *)&held[0], NULL);
    SGC_dirty(NULL, SIZE_MAX);
}

static int choose(int before, int after, const char *name)
{
    unsetenv("SGC_MODE");
    report_early();
    GC_set_manual_vdb_allowed(before);
    GC_INIT();
    report_early();
    GC_enable_incremental();
    GC_set_manual_vdb_allowed(after);
    GC_enable_incremental();
    if (!GC_is_incremental_mode())
        return CHILD_SKIPS;
    return GC_get_manual_vdb_allowed() == after && strcmp(sgc_watch_name(), name) == 0 &&
           GC_incremental_protection_needs() == GC_PROTECTS_NONE ? 0 : 1;
}

static int choose_manual(void)
{
    unsetenv("SGC_DIRTY");
    return choose(1, 0, "software");
}

static int choose_named(void)
{
    setenv("SGC_DIRTY", "none", 1);
    return choose(1, 1, "none");
}

static int choose_late(void)
{
    setenv("SGC_DIRTY", "async", 1);
    return choose(0, 1, "async");
}

/* ---- the program's part ---- */

static void *make_list(size_t count)
{
    void *list = NULL;

    for (size_t i = 0; i < count; i++) {
        void **cell = GC_malloc(64);

        GC_PTR_STORE_AND_DIRTY(cell, list);
        list = cell;
    }
    return list;
}

/* While the lead marks a long list, which has no room for two to work on, a little leaves more, and much leaves nothing. */
static int help(void)
{
    uint64_t until = patience();
    struct sgc_mutator *self;
    bool little = false, much = false;

    if (!begin())
        return CHILD_SKIPS;
    self = sgc_mutator_self();
    held[0] = make_list(400000);
    while (!(little && much) && sgc_clock_ns() < until) {
        GC_start_incremental_collection();
        while (!sgc_concurrent_marks() && sgc_clock_ns() < until)
            sgc_yield();
        little = sgc_assist_bytes(self, 1) || little;
        much = !sgc_assist_bytes(self, SIZE_MAX / 2);
        while (GC_collect_a_little() != 0 && sgc_clock_ns() < until)
            continue;
    }
    return little && much ? 0 : 1;
}

static int attempts(int prior)
{
    uint64_t until = patience();

    GC_set_max_prior_attempts(prior);
    if (!begin())
        return CHILD_SKIPS;
    held[0] = make_list(20000);
    while (goes_on(until, 4)) {
        held[1] = make_list(1000);
        GC_collect_a_little();
    }
    return sgc_a32_load(&cycles) == 0 || sgc_a32_load(&most_stops) > 1 + (uint32_t)prior;
}

static int no_attempts(void)
{
    return attempts(0);
}

static int two_attempts(void)
{
    return attempts(2);
}

int main(void)
{
    setenv("SGC_MODE", "concurrent", 1);
    setenv("GC_PAUSE_TIME_TARGET", "0", 1);
    setenv("SGC_VERIFY", "marks", 1);
    setenv("SGC_DIRTY", "software", 1);
    tap_plan(0);
    child_ok(change_in_threads, "%d threads move pointers about and report that: none of their objects is lost", THREADS);
    test_forgetful();
    child_ok(help, "the program marks a little, or all that is left");
    child_ok(no_attempts, "no stop keeps to the time limit if the program says so");
    child_ok(two_attempts, "or two do");
    child_ok(choose_manual, "a program that promises to report its writes, before the mode is enabled");
    child_ok(choose_named, "the user's choice wins");
    child_ok(choose_late, "later the promise changes nothing");
    return tap_done();
}
