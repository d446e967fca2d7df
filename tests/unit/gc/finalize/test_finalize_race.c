/* SPDX-License-Identifier: MIT */
/*
 * Threads that register, unregister, move, free and run finalizers while others collect.  Each object is finalized at
 * most once, with its own data, and none that was freed or unregistered; no link is cleared whose object lives.
 */
#include "tests/api/api.h"

#include <stdatomic.h>

#include "gc/finalize/register.h"
#include "gc/finalize/rounds.h"
#include "gc/threads/gc_lock.h"
#include "platform/section/section.h"

enum { THREADS = 4, MILLISECONDS = 1500, KEPT = 64 };

struct object {
    atomic_int state;
    struct object *self;
    GC_hidden_pointer weak;
    long rest[4];
};

enum { PLAIN = 1, REGISTERED, FINALIZED };

static atomic_int done;
static atomic_long wrong, made, finalized;

static void finalizer(void *p, void *data)
{
    struct object *o = p;

    if (data != &finalized || atomic_exchange(&o->state, FINALIZED) != REGISTERED)
        atomic_fetch_add(&wrong, 1);
    atomic_fetch_add(&finalized, 1);
    GC_malloc(100);
}

static void forbidden(TEST_UNUSED void *p, TEST_UNUSED void *data)
{
    atomic_fetch_add(&wrong, 1);
}

static struct object *make(void)
{
    struct object *o = GC_malloc(sizeof *o);

    atomic_store(&o->state, PLAIN);
    atomic_fetch_add(&made, 1);
    return o;
}

static struct object *with_finalizer(long i)
{
    struct object *o = make();

    o->self = o;
    atomic_store(&o->state, REGISTERED);
    if (i % 2)
        GC_register_finalizer_no_order(o, finalizer, &finalized, NULL, NULL);
    else
        GC_register_finalizer_ignore_self(o, finalizer, &finalized, NULL, NULL);
    return o;
}

/* Its finalizer goes again, one way or the other. */
static void withdrawn(long i)
{
    struct object *o = make();
    GC_finalization_proc old;

    GC_register_finalizer(o, forbidden, NULL, NULL, NULL);
    if (i % 2) {
        GC_free(o);
        return;
    }
    GC_register_finalizer(o, NULL, NULL, &old, NULL);
    if (old != forbidden)
        atomic_fetch_add(&wrong, 1);
}

/* The object lives; the link must be there, wherever it was moved. */
static void linked(GC_hidden_pointer *word, struct object *o)
{
    word[0] = word[1] = GC_HIDE_POINTER(o);
    if (GC_general_register_disappearing_link((void **)&word[0], o) != GC_SUCCESS ||
        GC_move_disappearing_link((void **)&word[0], (void **)&word[1]) != GC_SUCCESS ||
        GC_register_long_link((void **)&word[0], o) != GC_SUCCESS)
        atomic_fetch_add(&wrong, 1);
    GC_malloc(5000);
    if (word[0] != GC_HIDE_POINTER(o) || word[1] != GC_HIDE_POINTER(o) ||
        GC_unregister_disappearing_link((void **)&word[1]) != 1 || GC_unregister_long_link((void **)&word[0]) != 1)
        atomic_fetch_add(&wrong, 1);
    GC_reachable_here(o);
}

static void check_alive(struct object *o)
{
    if (o != NULL && atomic_load(&o->state) != REGISTERED)
        atomic_fetch_add(&wrong, 1);
}

static void *worker(void *unused)
{
    struct object **kept = GC_malloc(KEPT * sizeof *kept);
    GC_hidden_pointer word[2];

    for (long i = 0; !atomic_load(&done); i++) {
        kept[i % KEPT] = with_finalizer(i);
        check_alive(kept[(i + 1) % KEPT]);
        withdrawn(i);
        linked(word, kept[i % KEPT]);
        /* a link that dies with what contains it */
        kept[i % KEPT]->weak = GC_HIDE_POINTER(kept[i % KEPT]);
        GC_general_register_disappearing_link((void **)&kept[i % KEPT]->weak, kept[i % KEPT]);
        if (i % 50 == 0)
            GC_invoke_finalizers();
    }
    return unused;
}

/* ---- a cycle at the wrong moment ---- */

static GC_word cycles;

static void collect_once(void)
{
    sgc_section_hooks.seam = NULL;
    GC_gcollect();
}

/* Until one lies at that address. */
static struct object *make_there(GC_hidden_pointer address)
{
    struct object *o;
    int i = 0;

    do
        o = make();
    while (GC_HIDE_POINTER(o) != address && ++i < 100000);
    return GC_HIDE_POINTER(o) == address ? o : NULL;
}

/* The target is about to be freed when a cycle comes; then another object lives there, before the next cycle. */
static void check_freed(void)
{
    static GC_hidden_pointer word;
    static struct object *next;
    struct object *o = make();

    word = GC_HIDE_POINTER(o);
    GC_general_register_disappearing_link((void **)&word, o);
    cycles = GC_get_gc_no();
    sgc_section_hooks.seam = collect_once;
    GC_free(o);
    cycles = GC_get_gc_no() - cycles;
    sgc_section_hooks.seam = NULL;
    GC_disable();
    next = make_there(word);
    GC_enable();
    tap_ok(cycles == 1 && next != NULL, "an object is freed beside a cycle, and its place used again");
    GC_gcollect();
    tap_ok(word == 0, "a link to what was freed is cleared, whatever lives there");
    next = NULL;
}

/* ---- a toggle reference that is added while the program is asked about it ---- */

static uintptr_t add_and_drop(void *object, uintptr_t now)
{
    sgc_toggle_add(sgc_mutator_self(), (uintptr_t)object, now == SGC_TOGGLE_STRONG);
    return 0;
}

static uintptr_t drop(TEST_UNUSED void *object, TEST_UNUSED uintptr_t now)
{
    return 0;
}

static size_t toggles_after(sgc_toggle_fn ask)
{
    bool closed = sgc_gc_lock_enter(sgc_mutator_self());
    struct sgc_finalization_counts counts;

    sgc_finalization_before(ask);
    sgc_gc_lock_leave(closed);
    sgc_finalization_count(&counts);
    return counts.toggles;
}

static void check_added_meanwhile(void)
{
    sgc_toggle_add(sgc_mutator_self(), (uintptr_t)make(), true);
    tap_ok(toggles_after(add_and_drop) == 1 && toggles_after(drop) == 0,
           "a toggle reference that is added while it is dropped stays");
}

int main(void)
{
    pthread_t thread[THREADS];
    struct sgc_finalization_counts counts;

    tap_plan(7);
    GC_INIT();
    check_freed();
    check_added_meanwhile();
    for (int i = 0; i < THREADS; i++)
        if (GC_pthread_create(&thread[i], NULL, worker, NULL) != 0)
            tap_bail("no thread");
    for (long end = api_milliseconds() + MILLISECONDS; api_milliseconds() < end;)
        GC_gcollect();
    atomic_store(&done, 1);
    for (int i = 0; i < THREADS; i++)
        GC_pthread_join(thread[i], NULL);
    for (int i = 0; i < 4; i++) {
        GC_gcollect();
        GC_invoke_finalizers();
    }
    sgc_finalization_count(&counts);
    tap_ok(atomic_load(&made) > 100 && atomic_load(&finalized) > 0, "%ld objects, %ld finalized", atomic_load(&made),
           atomic_load(&finalized));
    tap_ok(atomic_load(&wrong) == 0, "each as it should be (%ld not)", atomic_load(&wrong));
    tap_ok((long)counts.finalizers + atomic_load(&finalized) <= atomic_load(&made), "none is registered twice");
    tap_ok(counts.finalizers < THREADS * KEPT && counts.links[0] < THREADS * KEPT && counts.links[1] == 0,
           "little is left in the tables (%zu, %zu, %zu)", counts.finalizers, counts.links[0], counts.links[1]);
    return tap_done();
}
