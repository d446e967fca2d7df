/* SPDX-License-Identifier: MIT */
/*
 * gc/threads/upper.c and those who call it: a layer on top of the collector is told when threads block, end and vanish, hears
 * of forks, and is asked before an object is freed.
 */
#include "gc/threads/upper.h"

#define GC_THREADS 1
#define GC_NO_THREAD_REDIRECTS 1
#include <gc/gc.h>
#include <gc/gc_typed.h>
#include <sys/syscall.h>

#include "tests/lib/child.h"
#include "tests/lib/layer.h"

static bool all_right(void)
{
    return sgc_a32_load(&layer.wrong) == 0;
}

/* ---- what happens to a thread ---- */

struct trial {
    void *(*fn)(void *);
    bool blocks;                /* it is called by GC_do_blocking */
    bool joins;                 /* something is kept of the thread */
    sgc_a32_t inside;
    struct layer_record record;
};

static struct trial *trial;

static void *run_trial(void *unused)
{
    sgc_mutator_register(0);
    if (trial->joins)
        layer_join(&trial->record);
    return trial->blocks ? GC_do_blocking(trial->fn, unused) : trial->fn(unused);
}

static bool logged(const char *wanted)
{
    bool same = strcmp(trial->record.log, wanted) == 0;

    if (!same)
        tap_diag("told \"%s\", expected \"%s\"", trial->record.log, wanted);
    return same && all_right();
}

/* The thread may have to be cancelled when it is inside. */
static void check_trial(void *(*fn)(void *), bool blocks, bool joins, bool cancelled, const char *wanted, const char *name)
{
    struct trial t = { .fn = fn, .blocks = blocks, .joins = joins };
    pthread_t thread;

    trial = &t;
    thread = thread_start(run_trial, NULL);
    if (cancelled && white_reached(&t.inside, 1))
        pthread_cancel(thread);
    white_join(thread);
    tap_ok(logged(wanted), "%s", name);
}

static void *do_nothing(void *arg)
{
    return arg;
}

static void *block_again(void *arg)
{
    return GC_do_blocking(do_nothing, arg);
}

static void *come_out(void *arg)
{
    return GC_call_with_gc_active(do_nothing, arg);
}

static void *join_other(void *arg)
{
    pthread_t other;

    if (GC_pthread_create(&other, NULL, do_nothing, NULL) == 0)
        GC_pthread_join(other, NULL);
    return arg;
}

static void *wait_for_cancel(void *arg)
{
    sgc_a32_store_rel(&trial->inside, 1);
    for (;;)
        pause();
    return arg;
}

static void *end_inside(void *arg)
{
    pthread_exit(arg);
}

static void *collect(void *arg)
{
    white_collect();
    GC_gcollect();
    return arg;
}

static void *unregister(void *arg)
{
    GC_unregister_my_thread();
    layer_expect(sgc_self == NULL);
    return arg;
}

static void check_blocking(void)
{
    check_trial(do_nothing, false, true, false, "o", "a thread's end is told");
    check_trial(unregister, false, true, false, "o", "or that of its registration, once");
    check_trial(do_nothing, true, true, false, "bao", "GC_do_blocking is told on both sides");
    check_trial(block_again, true, true, false, "bao", "once, if there is one in another");
    check_trial(come_out, true, true, false, "babao", "so is GC_call_with_gc_active");
    check_trial(join_other, false, true, false, "bao", "and GC_pthread_join");
    check_trial(wait_for_cancel, true, true, true, "bao", "a thread that is cancelled inside leaves the region, and ends");
    check_trial(end_inside, true, true, false, "bao", "so does one that ends there");
    check_trial(collect, false, true, false, "o", "our own waits are not told");
    check_trial(do_nothing, true, false, false, "", "nothing is told of threads of which nothing is kept");
}

/* ---- threads that vanish ---- */

static void *vanish(void *arg)
{
    syscall(SYS_exit, 0);
    return arg;
}

static void check_vanishing(bool blocks, const char *wanted, const char *name)
{
    struct trial t = { .fn = vanish, .blocks = blocks, .joins = true };
    bool unused = true;

    trial = &t;
    white_join(thread_start(run_trial, NULL));
    white_collect();
    white_collect();
    for (const struct sgc_mutator *m = sgc_registry.unused; m != NULL; m = m->next)
        unused = unused && sgc_aw_load(&m->upper) == 0;
    tap_ok(logged(wanted) && unused, "%s", name);
}

/* ---- forks ---- */

static struct layer_record mine, others;
static sgc_a32_t other_runs, end_other;

static void be_other(TEST_UNUSED void *unused)
{
    layer_join(&others);
    sgc_a32_store_rel(&other_runs, 1);
    white_reached(&end_other, 1);
}

static int in_child(void)
{
    if (sgc_a32_load(&layer.in_child) != 1 || sgc_a32_load(&layer.before_fork) != sgc_a32_load(&layer.in_parent) + 1 ||
        !all_right())
        return 1;
    if (sgc_a32_load(&layer.threads_in_child) < 2 || strcmp(others.log, "v") != 0)
        return 2;
    if (sgc_aw_load(&sgc_mutator_self()->upper) != (uintptr_t)&mine)
        return 3;
    return 0;
}

static int child_of_blocked(void)
{
    int wrong = in_child();

    if (wrong == 0 && (!sgc_world_is_blocked(sgc_mutator_self()) || strcmp(mine.log, "b") != 0))
        return 4;
    return wrong;
}

static void *fork_blocked(void *result)
{
    *(int *)result = run_in_child(child_of_blocked);
    return NULL;
}

static void check_forks(void)
{
    uint32_t before;
    pthread_t other;
    int result = -1;

    layer_join(&mine);
    other = white_start(be_other, NULL);
    white_reached(&other_runs, 1);
    child_ok(in_child, "a child is told, then that the other threads are gone");
    tap_ok(sgc_a32_load(&layer.before_fork) == 1 && sgc_a32_load(&layer.in_parent) == 1 && others.log[0] == '\0' && all_right(),
           "before that, and in the parent, the layer is told with all locks held");
    before = sgc_a32_load(&layer.in_parent);
    GC_do_blocking(fork_blocked, &result);
    tap_ok(result == 0 && strcmp(mine.log, "ba") == 0 && sgc_a32_load(&layer.in_parent) == before + 1,
           "a fork in a blocked region does not end that (%d)", result);
    sgc_a32_store_rel(&end_other, 1);
    white_join(other);
    tap_ok(strcmp(others.log, "o") == 0 && all_right(), "in the parent the other thread goes on, and ends");
}

/* ---- objects that are kept ---- */

static void *watched(void *object)
{
    sgc_page_free_slowly(sgc_page_number((uintptr_t)object));
    return object;
}

static bool allocated(const void *object)
{
    struct sgc_object o;

    return sgc_object_find((uintptr_t)object, &o) && o.start <= (uintptr_t)object;
}

static void keep(const void *object)
{
    sgc_a32_store(&layer.kept_freed, 0);
    sgc_a32_store(&layer.kept_moved, 0);
    sgc_aw_store_rel(&layer.keep, (uintptr_t)object);
}

static bool kept(const void *object, uint32_t freed, uint32_t moved)
{
    return allocated(object) && sgc_a32_load(&layer.kept_freed) == freed && sgc_a32_load(&layer.kept_moved) == moved &&
           all_right();
}

static void check_free(void *object, const char *what)
{
    bool first, second;

    keep(object);
    GC_free(object);
    first = kept(object, 1, 0);
    keep(NULL);
    GC_free(object);
    second = !allocated(object);
    tap_ok(first && second, "GC_free leaves %s that is kept, and frees it when it is not", what);
}

/* One that cannot grow where it is. */
static void *large_before_another(void)
{
    static void *volatile behind;
    void *object = GC_malloc(100000);

    behind = GC_malloc(100000);
    tap_ok(behind != NULL, "another lies behind a large object");
    return object;
}

static void check_realloc(char *object, size_t bytes, const char *what)
{
    char *moved;

    object[0] = 7;
    keep(object);
    moved = GC_realloc(object, bytes);
    tap_ok(moved != object && moved[0] == 7 && kept(object, 0, 1) && object[0] == 7,
           "GC_realloc moves %s, and leaves the old one", what);
    keep(NULL);
    moved = GC_realloc(object, bytes);
    tap_ok(moved != object && !allocated(object), "which goes if it is not kept");
}

static void check_debug(void)
{
    char *object = GC_debug_malloc(40, "here", 1), *base = GC_base(object), *moved;
    const char *said;

    watched(base);
    keep(base);
    capture_begin();
    GC_debug_free(object);
    tap_ok(kept(base, 1, 0) && GC_size(object) == 40, "GC_debug_free leaves an object that is kept as it is");
    moved = GC_debug_realloc(object, 400, "here", 2);
    tap_ok(moved != object && kept(base, 1, 1) && GC_size(object) == 40, "so does GC_debug_realloc");
    keep(NULL);
    GC_debug_free(object);
    said = capture_end();
    tap_ok(!allocated(base) && said[0] == '\0', "and later it is freed without a word (%s)", said);
}

static void check_keeping(void)
{
    static GC_descr descriptor;
    GC_word bits[1] = { 1 };

    descriptor = GC_make_descriptor(bits, 2);
    check_free(watched(GC_malloc(48)), "an object of a page that is freed slowly");
    check_free(GC_malloc(300000), "a large object");
    check_free(watched(GC_malloc_uncollectable(48)), "an uncollectable object");
    check_realloc(watched(GC_malloc(64)), 4096, "an object");
    check_realloc(large_before_another(), 900000, "a large object");
    check_realloc(GC_malloc_explicitly_typed(64, descriptor), 2000, "a typed object");
    check_debug();
}

int main(void)
{
    setenv("SGC_MODE", "stop", 1);
    white_init();
    layer_start(&layer_of_roots);
    check_blocking();
    if (TEST_SANITIZED) {
        tap_skip("a sanitizer must see how threads end");
    } else {
        check_vanishing(false, "v", "that a thread has vanished is told by who finds it, and its record is free");
        check_vanishing(true, "bv", "so is one that was blocked");
    }
    return tap_all(check_keeping, check_forks);
}
