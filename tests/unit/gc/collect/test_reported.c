/* SPDX-License-Identifier: MIT */
/*
 * Programs that report their writes: gc/collect/write_watch.c, gc/api/objects.c, gc/collect/closure.c, gc/collect/concurrent.c.
 * Threads move pointers about that they also keep hidden, beside cycles whose marks are verified, and none of their objects
 * may be lost; threads that do the same without reporting must be told so.  What SGC itself stores into objects is reported;
 * how the source is chosen; and the program's part in marking.
 */
#include "gc/collect/concurrent.h"

#define GC_THREADS 1
#define GC_NO_THREAD_REDIRECTS 1
#include <gc/gc.h>
#include <gc/gc_backptr.h>
#include <gc/gc_gcj.h>
#include <gc/gc_inline.h>
#include <gc/gc_mark.h>
#include <gc/gc_typed.h>
#include <sgc.h>

#include "gc/collect/write_watch.h"
#include "gc/events/events.h"
#include "platform/dirty.h"
#include "tests/lib/capture.h"
#include "tests/lib/child.h"
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
    w->seed ^= w->seed << 13;
    w->seed ^= w->seed >> 7;
    w->seed ^= w->seed << 17;
    return (uint32_t)(w->seed >> 20) % n;
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

/* ---- what SGC stores ---- */

static bool is_written(const void *address)
{
    return sgc_a8_load(&sgc_cards.of[((uintptr_t)address - sgc_heap.base) / sgc_heap.os_page]) == SGC_CARD_WRITTEN;
}

static uintptr_t heap_bytes(void)
{
    return sgc_aw_load(&sgc_heap.limit);
}

static void watch_all(void)
{
    sgc_dirty_software.arm(sgc_heap.base, sgc_heap.base + heap_bytes());
}

static size_t count_written(void)
{
    size_t count = 0;

    for (uintptr_t at = 0; at < heap_bytes(); at += sgc_heap.os_page)
        count += is_written((const void *)(sgc_heap.base + at));
    return count;
}

static void GC_CALLBACK finalize(void *object, void *data)
{
    (void)object, (void)data;
}

static void *volatile held[8];          /* static data */

/* Nothing but the batch's links. */
static bool batch(size_t bytes, bool generic)
{
    void **cell = GC_malloc(sizeof *cell), *first;
    size_t count = 0;

    watch_all();
    if (generic)
        GC_generic_malloc_many(bytes, GC_I_NORMAL, cell);
    first = generic ? *cell : GC_malloc_many(bytes);
    for (void **object = first; GC_NEXT(object) != NULL; object = GC_NEXT(object), count++)
        if (!is_written(object))
            return false;
    return count != 0 && (!generic || is_written(cell));
}

static bool resized(size_t had, size_t bytes)
{
    char *object = GC_malloc(had), *fresh;

    held[0] = object;
    memset(object, 1, had);
    watch_all();
    fresh = GC_realloc(object, bytes);
    return fresh != object && is_written(fresh) && is_written(fresh + had - 1);
}

static bool resized_typed(void)
{
    static const GC_word pointers = 1;
    void **object = GC_malloc_explicitly_typed(32, GC_make_descriptor(&pointers, 1));

    watch_all();
    return is_written(GC_realloc(object, 3000));
}

static bool for_debugging(void)
{
    void *object, *fresh;

    watch_all();
    object = GC_debug_malloc(5000, __FILE__, __LINE__);
    if (!is_written(GC_base(object)))
        return false;
    watch_all();
    fresh = GC_debug_realloc(object, 9000, __FILE__, __LINE__);
    return is_written(fresh) && is_written((char *)fresh + 4999);
}

static bool finalizer_data(bool debug)
{
    void **cell = GC_malloc(sizeof *cell), *object = debug ? GC_debug_malloc(32, __FILE__, __LINE__) : GC_malloc(32);
    GC_finalization_proc fn;

    watch_all();
    if (debug)
        GC_debug_register_finalizer(object, finalize, cell, NULL, NULL);
    else
        GC_register_finalizer(object, finalize, cell, NULL, NULL);
    if (debug && count_written() == 0)                  /* the closure that has the data */
        return false;
    watch_all();
    if (debug)
        GC_debug_register_finalizer(object, NULL, NULL, &fn, cell);
    else
        GC_register_finalizer(object, NULL, NULL, &fn, cell);
    return *cell == (void *)cell && is_written(cell);
}

static bool gcj_type(void)
{
    static uintptr_t type[2];
    void *object;

    GC_init_gcj_malloc(0, NULL);
    watch_all();
    object = GC_gcj_malloc(64, type);
    return is_written(object);
}

static bool results(void)
{
    void **cell = GC_malloc(sizeof *cell), **holder = GC_malloc(sizeof *holder);
    size_t offset;
    bool told;

    watch_all();
    told = GC_posix_memalign(cell, 64, 100) == 0 && is_written(cell);
    *holder = GC_malloc(16);
    held[1] = holder;
    watch_all();
    return told && (GC_get_back_ptr_info(*holder, cell, &offset) < GC_REFD_FROM_ROOT || is_written(cell));
}

static sgc_a32_t may_end;

static void *return_it(void *arg)
{
    white_reached(&may_end, 1);
    return arg;
}

static bool uncollectable_written(void)
{
    for (uint32_t page = 1; page < heap_bytes() / SGC_PAGE; page++)
        if (sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL &&
            sgc_kind_uncollectable(sgc_heap.pages[page].kind))
            for (size_t at = 0; at < SGC_PAGE; at += sgc_heap.os_page)
                if (is_written((const char *)sgc_page_start(page) + at))
                    return true;
    return false;
}

/* A record has the thread's argument, then its result. */
static bool thread_record(void)
{
    void **cell = GC_malloc(sizeof *cell);
    uint64_t until = patience();
    pthread_t thread;
    bool told;

    watch_all();
    told = GC_pthread_create(&thread, NULL, return_it, cell) == 0 && uncollectable_written();
    watch_all();
    sgc_a32_store_rel(&may_end, 1);
    while (!uncollectable_written() && sgc_clock_ns() < until)
        sgc_yield();
    told = told && uncollectable_written() && !is_written(cell);
    GC_pthread_join(thread, cell);
    return told && *cell == (void *)cell && is_written(cell);
}

static bool reports(void)
{
    char *small = GC_malloc(9000), *large = GC_malloc(100000);
    size_t os_page = sgc_heap.os_page;
    bool told;

    watch_all();
    GC_end_stubborn_change(small + 8000);
    told = count_written() == 1 && is_written(small + 8000);
    watch_all();
    GC_ptr_store_and_dirty(large + 8 * os_page, small);
    told = told && count_written() == 1 && is_written(large + 8 * os_page);
    watch_all();
    GC_end_stubborn_change(large + 500);
    told = told && is_written(large) && is_written(large + 99999);
    watch_all();
    SGC_dirty(large + os_page, 2 * os_page);
    told = told && count_written() == 2 && is_written(large + os_page) && is_written(large + 2 * os_page);
    watch_all();
    GC_end_stubborn_change(&told);
    GC_end_stubborn_change((void *)8);
    SGC_dirty(NULL, sgc_heap.base);
    return told && count_written() == 0;
}

/* Each alone: no cycle comes between. */
static int store_by_itself(void)
{
    int at = 1;

    setenv("GC_PAUSE_TIME_TARGET", "3600000", 1);
    if (!begin())
        return CHILD_SKIPS;
    GC_expand_hp(16 << 20);
    held[7] = GC_malloc(1 << 20);
    held[6] = GC_malloc_uncollectable(24);
    watch_all();
    held[5] = GC_malloc(5000);
    if (count_written() != 0)
        return at;
#define EXPECT(condition) do { at++; if (!(condition)) return at; } while (0)
    EXPECT(batch(16, false));
    EXPECT(batch(2000, false));
    EXPECT(batch(2000, true));
    EXPECT(resized(100, 3000));
    EXPECT(resized(15000, 30000));
    EXPECT(resized(200000, 900000));
    EXPECT(resized_typed());
    EXPECT(for_debugging());
    EXPECT(finalizer_data(false));
    EXPECT(finalizer_data(true));
    EXPECT(gcj_type());
    EXPECT(results());
    EXPECT(thread_record());
    EXPECT(reports());
#undef EXPECT
    return 0;
}

/* ---- which source ---- */

static void report_early(void)
{
    int local;

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
        little = sgc_concurrent_help(self, 1) || little;
        much = !sgc_concurrent_help(self, SIZE_MAX / 2);
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
    child_ok(store_by_itself, "what SGC stores into objects is reported");
    child_ok(help, "the program marks a little, or all that is left");
    child_ok(no_attempts, "no stop keeps to the time limit if the program says so");
    child_ok(two_attempts, "or two do");
    child_ok(choose_manual, "a program that promises to report its writes, before the mode is enabled");
    child_ok(choose_named, "the user's choice wins");
    child_ok(choose_late, "later the promise changes nothing");
    return tap_done();
}
