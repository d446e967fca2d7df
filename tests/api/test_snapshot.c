/* SPDX-License-Identifier: MIT */
/*
 * SGC_write_heap_snapshot: what is reachable in the file is what the very same collection has marked, with every kind of object
 * and of root; and what it returns when it cannot be written.
 */
#include "tests/api/snapshot.h"

#include "gc/gc_disclaim.h"
#include "gc/gc_gcj.h"
#include "gc/gc_mark.h"
#include "gc/gc_typed.h"
#include "tests/lib/child.h"

enum { MANY = 200, THREADS = 3, LARGE = 300000 };

/* ---- objects of all kinds ---- */

static void make_plain(void)
{
    struct cell *cell = keep(chain(MANY, GC_MALLOC_ATOMIC(1000)));

    cell->other = (char *)GC_MALLOC_ATOMIC(LARGE) + LARGE / 2;              /* an interior pointer */
    keep((char *)GC_MALLOC(40) + 40);                                       /* just behind an object */
    keep((char *)chain(1, NULL) + 9);
    keep((char *)GC_MALLOC(LARGE) + LARGE - 8);
    cell = keep(GC_malloc_ignore_off_page(LARGE));
    cell->other = chain(5, NULL);
    roots[used++] = (char *)GC_malloc_ignore_off_page(LARGE) + LARGE - 100; /* that keeps it not */
    cell = GC_MALLOC_UNCOLLECTABLE(sizeof *cell);
    cell->other = chain(7, NULL);
    GC_malloc_atomic_uncollectable(500);
    chain(MANY, NULL);                                                      /* nobody's */
    for (int i = 0; i < MANY; i += 3)
        GC_FREE(GC_MALLOC(48));
}

static void make_typed(void)
{
    GC_word bits[4] = { 6, 0, 0, 1 };
    GC_descr few = GC_make_descriptor(bits, 4), many = GC_make_descriptor(bits, 200);
    void **object = keep(GC_MALLOC_EXPLICITLY_TYPED(32, few));

    object[0] = chain(3, NULL);                                             /* that word is no pointer */
    object[1] = chain(4, NULL);
    object = keep(GC_MALLOC_EXPLICITLY_TYPED(1600, many));
    object[192] = chain(5, NULL);
    object[191] = chain(6, NULL);
    object = keep(GC_CALLOC_EXPLICITLY_TYPED(100, 32, few));
    object[4 * 7 + 2] = chain(8, NULL);
    object[4 * 7 + 3] = chain(9, NULL);
}

static void make_gcj(void)
{
    static GC_word type[2] = { 0, 2 * sizeof(void *) };
    void **object;

    GC_init_gcj_malloc(GC_GCJ_RESERVED_MARK_PROC_INDEX, NULL);
    object = keep(GC_GCJ_MALLOC(4 * sizeof(void *), type));
    object[1] = chain(10, NULL);
    object[2] = chain(11, NULL);                                            /* behind what the type says */
}

static void make_finalized(void)
{
    struct cell *cycle = chain(2, NULL);

    GC_REGISTER_FINALIZER(chain(MANY, NULL), api_ignore, chain(3, NULL), NULL, NULL);
    GC_REGISTER_FINALIZER_NO_ORDER(chain(5, NULL), api_ignore, NULL, NULL, NULL);
    GC_REGISTER_FINALIZER_UNREACHABLE(chain(5, NULL), api_ignore, NULL, NULL, NULL);
    GC_REGISTER_FINALIZER(keep(chain(6, NULL)), api_ignore, chain(7, NULL), NULL, NULL);
    cycle->next->other = cycle;
    GC_REGISTER_FINALIZER(cycle, api_ignore, NULL, NULL, NULL);
    cycle = chain(2, NULL);
    cycle->other = cycle;
    GC_REGISTER_FINALIZER_IGNORE_SELF(cycle, api_ignore, NULL, NULL, NULL);
    cycle = keep(chain(2, NULL));
    cycle->other = (void *)GC_HIDE_POINTER(chain(4, NULL));
    GC_GENERAL_REGISTER_DISAPPEARING_LINK(&cycle->other, GC_REVEAL_POINTER(cycle->other));
    GC_toggleref_add(chain(12, NULL), 1);
    GC_toggleref_add(chain(13, NULL), 0);
}

static int GC_CALLBACK disclaim(TEST_UNUSED void *object)
{
    return 0;
}

static void make_disclaimed(void)
{
    for (int from_all = 0; from_all < 2; from_all++) {
        unsigned kind = GC_new_kind(GC_new_free_list(), GC_DS_LENGTH, 1, 1);

        GC_register_disclaim_proc((int)kind, disclaim, from_all);
        for (int i = 0; i < 10; i++)
            *(void **)GC_generic_malloc(32, (int)kind) = chain(3, NULL);
    }
}

static void make_dated(void)
{
    *(void **)SGC_malloc_dated(32, 5, 0) = chain(14, NULL);
    SGC_malloc_dated(2000, 0, 0);
    SGC_tick();
    SGC_tick();
}

/* ---- threads: their stacks and variables ---- */

/* Signals get through to threads that wait so, also where a sanitizer holds them back. */
static __thread void *own;

static void *stay(void *arg)
{
    api_stay();
    return arg;
}

static void *live(void *arg)
{
    struct cell *volatile local = chain(20, NULL);

    own = chain(30, NULL);
    if (arg != NULL)
        GC_do_blocking(stay, NULL);
    else
        api_stay();
    return local;
}

static void start_threads(pthread_t thread[THREADS])
{
    for (int i = 0; i < THREADS; i++)
        thread[i] = api_start(live, i == 0 ? &api_there : NULL);
    for (int i = 0; i < THREADS; i++)
        api_wait(&api_there);
}

static void end_threads(pthread_t thread[THREADS])
{
    for (int i = 0; i < THREADS; i++)
        sem_post(&api_may_go);
    api_join_all(thread, THREADS);
}

/* ---- is it the same? ---- */

static int exact(void)
{
    pthread_t thread[THREADS];
    bool agrees = true;

    GC_INIT();
    snapshot_listen();
    if (!GC_get_all_interior_pointers())
        GC_register_displacement(9);
    make_plain();
    make_typed();
    make_gcj();
    start_threads(thread);
    make_dated();
    for (int i = 0; i < 3 && agrees; i++) {
        make_finalized();
        agrees = snapshot_is_exact(NULL);
    }
    make_disclaimed();
    agrees = agrees && snapshot_is_exact(NULL);
    end_threads(thread);
    return agrees && snapshot_last.marked.objects > 2 * MANY ? 0 : 1;
}

static void try_exact(const char *option, const char *value)
{
    setenv(option, value, 1);
    child_ok(exact, "all kinds of objects and roots, %s=%s: the snapshot is what was marked", option, value);
    unsetenv(option);
}

/* ---- what it returns ---- */

static int no_growth(void)
{
    struct SGC_stats before, after;

    GC_INIT();
    keep(chain(10000, NULL));
    GC_gcollect();
    SGC_get_stats(&before, sizeof before);
    if (SGC_write_heap_snapshot(folder_path("growth")) != 0)
        return 1;
    SGC_get_stats(&after, sizeof after);
    return after.heap_bytes <= before.heap_bytes && after.allocated_bytes == before.allocated_bytes ? 0 : 2;
}

/* Dead objects have led to their type, which was unmapped with its module; one that lives has another. */
static int types_gone(void)
{
    static GC_word type[2] = { 0, 2 * sizeof(void *) };
    GC_word *mapped = api_outside(sizeof type);
    void **object;

    GC_INIT();
    snapshot_listen();
    GC_init_gcj_malloc(GC_GCJ_RESERVED_MARK_PROC_INDEX, NULL);
    memcpy(mapped, type, sizeof type);
    for (int i = 0; i < MANY; i++)
        GC_GCJ_MALLOC(4 * sizeof(void *), mapped);
    object = keep(GC_GCJ_MALLOC(4 * sizeof(void *), type));
    object[1] = chain(10, NULL);
    munmap(mapped, sizeof type);
    GC_clear_stack(NULL);
    return snapshot_is_exact(NULL) ? 0 : 1;
}

static int errors(void)
{
    char path[600];
    int wrong = 0;

    GC_INIT();
    snprintf(path, sizeof path, "%s/none/file", folder);
    wrong |= (SGC_write_heap_snapshot(path) != ENOENT) << 0;
    wrong |= (SGC_write_heap_snapshot(folder) != EISDIR) << 1;
    wrong |= (SGC_write_heap_snapshot(NULL) != EINVAL || SGC_write_heap_snapshot("") != EINVAL) << 2;
    wrong |= (SGC_write_heap_snapshot("/dev/full") != ENOSPC) << 3;
    GC_disable();
    wrong |= (SGC_write_heap_snapshot(folder_path("x")) != EPERM) << 4;
    GC_enable();
    wrong |= (SGC_write_heap_snapshot(folder_path("x")) != 0 || access(folder_path("x"), R_OK) != 0) << 5;
    return wrong;
}

/* Without the collector's care the signal would end the process. */
static int small_limit(void)
{
    struct rlimit limit = { 1000, 1000 };

    GC_INIT();
    keep(chain(10000, NULL));
    setrlimit(RLIMIT_FSIZE, &limit);
    if (SGC_write_heap_snapshot(folder_path("limit")) != EFBIG)
        return 1;
    return access(folder_path("limit"), F_OK) != 0 ? 0 : 2;
}

/* ---- what comes after the collection ---- */

static int finalized, disclaimed;

static void count_finalized(TEST_UNUSED void *object, TEST_UNUSED void *data)
{
    finalized++;
}

static int GC_CALLBACK count_disclaimed(void *object)
{
    disclaimed += *(GC_word *)object != 0;
    return 0;
}

TEST_NOINLINE static void make_dying(int kind)
{
    for (int i = 0; i < MANY; i++) {
        *(GC_word *)GC_generic_malloc(32, kind) = 1;
        GC_REGISTER_FINALIZER_NO_ORDER(GC_MALLOC(32), count_finalized, NULL, NULL, NULL);
    }
}

/* What the last call of either collects is counted when it returns.  A few objects may be kept by what lies on the stack. */
static int runs_them(void (*collect)(void))
{
    int kind = (int)GC_new_kind(GC_new_free_list(), GC_DS_LENGTH, 1, 1);

    GC_register_disclaim_proc(kind, count_disclaimed, 0);
    finalized = disclaimed = 0;
    make_dying(kind);
    GC_clear_stack(NULL);
    collect();
    return (finalized < MANY - 8) << 0 | (disclaimed < MANY - 8) << 1;
}

static void collect_for_snapshot(void)
{
    if (SGC_write_heap_snapshot(folder_path("dying")) != 0)
        finalized = -1;
}

static int runs_procedures(void)
{
    GC_INIT();
    return runs_them(GC_gcollect) | runs_them(collect_for_snapshot) << 2;
}

static void *GC_CALLBACK from_callback(void *result)
{
    *(int *)result = SGC_write_heap_snapshot(folder_path("inside"));
    return NULL;
}

static int locked(void)
{
    int result = -1;

    GC_INIT();
    GC_call_with_alloc_lock(from_callback, &result);
    return result == EDEADLK ? 0 : 1;
}

int main(void)
{
    folder_make();
    try_exact("nothing", "");
    try_exact("GC_ALL_INTERIOR_POINTERS", "0");
    try_exact("SGC_END_BYTE", "roots");
    try_exact("GC_MARKERS", "1");
    try_exact("SGC_MODE", "concurrent");
    try_exact("SGC_SHORTTERM", "verify");
    try_exact("SGC_MARK_STACK_LIMIT", "64k");
    child_ok(types_gone, "types of dead objects may be unmapped");
    child_ok(no_growth, "writing takes no memory of the heap");
    child_ok(errors, "what cannot be written is answered with an error");
    child_ok(small_limit, "so is the limit on the size of files, and nothing is left behind");
    child_ok(runs_procedures, "finalizers and disclaim procedures have run when it returns, as after GC_gcollect");
    child_says(locked, 0, "a collection was asked for by a callback", "with the allocation lock none is written");
    folder_remove();
    return tap_done();
}
