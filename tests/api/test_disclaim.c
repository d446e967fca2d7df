/* SPDX-License-Identifier: MIT */
/*
 * Disclaim procedures: called once for each object that is dead, with its contents intact; a procedure may keep its object,
 * allocate, jump out.  With API_PEER what both promise runs on bdwgc's library.
 */
#include "disclaim.h"

#include <gc/gc_inline.h>

enum { OBJECTS = 5000 };

static volatile int called[OBJECTS], wrong, finalized;
static void *volatile root;

/* ---- objects ---- */

static struct thing *make(long number)
{
    return make_thing(number, number % 500 == 3 ? 100000 : sizeof(struct thing));
}

/* Every tenth lives. */
static void make_things(void)
{
    struct thing **kept = GC_malloc(OBJECTS / 10 * sizeof *kept);

    root = kept;
    for (int i = 0; i < OBJECTS; i++) {
        struct thing *t = make(i);

        if (i % 10 == 0)
            kept[i / 10] = t;
    }
}

/* Dead objects may wait for somebody who sweeps their page: allocation does. */
static void allocate_more(void)
{
    for (int i = 0; i < OBJECTS; i++)
        GC_generic_malloc(sizeof(struct thing), kind);
}

static void collect_and_sweep(void)
{
    for (int i = 0; i < 3; i++) {
        api_collect();
        api_run(allocate_more);
    }
}

static int count(int from, int step)
{
    int sum = 0;

    for (int i = from; i < OBJECTS; i += step)
        sum += called[i] == 1;
    return sum;
}

static int note(void *object)
{
    struct thing *t = object;

    if (t->ready != READY)
        return 0;                               /* not set up, or of allocate_more */
    if (t->number < 0 || t->number >= OBJECTS || called[t->number]++ != 0)
        wrong = 1;
    t->ready = 0;
    return 0;
}

static void once_each(void)
{
    start(note, 0);
    api_run(make_things);
    collect_and_sweep();
    API_CHILD(wrong == 0 && count(0, 10) == 0);
    API_CHILD(count(0, 1) >= OBJECTS / 10 * 9 - STRAYS);
    root = NULL;
    collect_and_sweep();
    API_CHILD(wrong == 0 && count(0, 1) >= OBJECTS - STRAYS);
}

/* ---- what an object points at ---- */

static int look_at_other(void *object)
{
    struct thing *t = object;

    if (t->ready == READY && t->other != NULL &&
        (GC_base(t->other) != t->other || t->other->ready != READY || t->other->number != t->number + 1))
        wrong = 1;
    return note(object);
}

static void make_pairs(void)
{
    for (int i = 0; i < OBJECTS; i += 2) {
        struct thing *t = make(i);

        t->other = GC_malloc(sizeof *t->other);
        t->other->ready = READY;
        t->other->number = i + 1;
    }
}

static void contents_stay(void)
{
    start(look_at_other, 1);
    api_run(make_pairs);
    collect_and_sweep();
    API_CHILD(wrong == 0 && count(0, 2) >= OBJECTS / 2 - STRAYS);
}

/* A finalizer of what an object points at is called, and links to it are cleared, only after the object is gone. */
static volatile int over[OBJECTS];
static void *hidden[OBJECTS];

static void over_now(void *object, TEST_UNUSED void *data)
{
    const struct thing *t = object;

    over[t->number]++;
}

static int before_other(void *object)
{
    const struct thing *t = object;

    if (t->ready == READY && (over[t->number + 1] != 0 || hidden[t->number + 1] == NULL))
        wrong = 1;
    return look_at_other(object);
}

static void watch_others(void)
{
    for (int i = 0; i < OBJECTS; i += 2) {
        struct thing *t = make(i), *other = GC_malloc(sizeof *other);

        t->other = other;
        other->ready = READY;
        other->number = i + 1;
        hidden[i + 1] = (void *)GC_HIDE_POINTER(other);
        GC_REGISTER_FINALIZER(other, over_now, NULL, NULL, NULL);
        API_CHILD(GC_general_register_disappearing_link(&hidden[i + 1], other) == 0);
    }
}

static void contents_unfinalized(void)
{
    int gone = 0;

    start(before_other, 1);
    api_run(watch_others);
    for (int i = 0; i < 3; i++) {
        collect_and_sweep();
        api_in_thread(api_invoke_finalizers, NULL);
    }
    for (int i = 1; i < OBJECTS; i += 2)
        gone += over[i] == 1 && hidden[i] == NULL;
    API_CHILD(wrong == 0 && count(0, 2) >= OBJECTS / 2 - STRAYS && gone >= OBJECTS / 2 - 2 * STRAYS);
}

/* ---- a procedure that keeps its object ---- */

static int twice(void *object)
{
    struct thing *t = object;

    return t->ready == READY && ++called[t->number] < 3;
}

static void asked_again(void)
{
    int often = 0;

    start(twice, 0);
    api_run(make_things);
    root = NULL;
    for (int i = 0; i < 4; i++)
        collect_and_sweep();
    for (int i = 0; i < OBJECTS; i++) {
        often += called[i] == 3;
        API_CHILD(called[i] <= 3);
    }
    API_CHILD(often >= OBJECTS - STRAYS);
}

/* ---- closures ---- */

static void closed(void *object, void *data)
{
    struct thing *t = object;

    if (data != (void *)&finalized || t->ready != READY)
        wrong = 1;
    finalized++;
}

static void make_finalized(void)
{
    for (int i = 0; i < OBJECTS; i++) {
        struct GC_finalizer_closure *c = GC_malloc(sizeof *c);
        struct thing *t;

        c->proc = closed;
        c->cd = (void *)&finalized;
        t = GC_finalized_malloc(i % 500 == 3 ? 100000 : sizeof *t, c);
        API_CHILD(t != NULL && t->ready == 0 && t->other == NULL && GC_base(t) == (char *)t - sizeof(void *));
        t->ready = READY;
    }
}

static void finalized_malloc(void)
{
    GC_init_finalized_malloc();
    GC_init_finalized_malloc();
    for (int i = 0; i < 5; i++) {
        api_run(make_finalized);
        api_collect();
    }
    api_collect();
    API_CHILD(wrong == 0 && finalized >= (api_on_sgc ? 5 * OBJECTS - STRAYS : 4 * OBJECTS) && finalized <= 5 * OBJECTS);
}

/* Threads that begin with it at the same time: none has an object before its kind has its procedure. */
enum { RACERS = 8, EACH = 20 };

static pthread_barrier_t line;

static void closed_count(TEST_UNUSED void *object, TEST_UNUSED void *data)
{
    __atomic_add_fetch(&finalized, 1, __ATOMIC_RELAXED);
}

static void *race(void *arg)
{
    static const struct GC_finalizer_closure closure = { closed_count, NULL };

    pthread_barrier_wait(&line);
    GC_init_finalized_malloc();
    for (int i = 0; i < EACH; i++)
        API_CHILD(GC_finalized_malloc(sizeof(struct thing), &closure) != NULL);
    GC_gcollect();
    return arg;
}

static void begun_together(void)
{
    pthread_t thread[RACERS];

    pthread_barrier_init(&line, NULL, RACERS);
    api_start_all(thread, RACERS, race);
    api_join_all(thread, RACERS);
    api_collect();
    api_collect();
    API_CHILD(finalized <= RACERS * EACH && finalized >= RACERS * EACH - STRAYS);
}

/* ---- what only SGC allows ---- */

static int allocating(void *object)
{
    const struct thing *t = object;

    for (int i = 0; i < 20 && t->ready == READY; i++)
        GC_generic_malloc(sizeof *t, kind);
    GC_free(GC_malloc(100));
    if (t->ready == READY && t->number % 100 == 0)
        GC_gcollect();
    return note(object);
}

static void may_allocate(void)
{
    start(allocating, 0);
    api_run(make_things);
    root = NULL;
    collect_and_sweep();
    API_CHILD(wrong == 0 && count(0, 1) >= OBJECTS - STRAYS);
}

static int jumping(void *object)
{
    const struct thing *t = object;

    if (t->ready == READY && t->number % 50 == 7) {
        note(object);
        longjmp(back, 1);
    }
    return note(object);
}

TEST_NOINLINE static void collect_jumping(void)
{
    volatile int jumps = 0;

    if (setjmp(back) != 0)
        jumps = jumps + 1;
    GC_gcollect();
    API_CHILD(jumps > 10);
}

static void may_jump(void)
{
    start(jumping, 0);
    api_make(make_things);      /* a procedure would have nowhere to jump to yet */
    root = NULL;
    for (int i = 0; i < 2; i++)
        scrub_stack();
    api_run(collect_jumping);
    API_CHILD(wrong == 0 && count(0, 1) >= OBJECTS - STRAYS);
}

/* Memory is not refused as long as dead objects wait. */
static void *volatile rest;             /* for which the objects asked for are too large */

static void *fill(void *size)
{
    struct thing *t, *last = NULL;

    while ((t = GC_generic_malloc(*(size_t *)size, kind)) != NULL) {
        t->other = last;
        root = last = t;
    }
    for (last = NULL; (t = GC_malloc(300)) != NULL; rest = last = t)
        t->other = last;
    return NULL;
}

static int leave_or_note(void *object)
{
    if (leaves)
        longjmp(back, 1);
    return note(object);
}

static void start_full(size_t size)
{
    setenv("GC_MAXIMUM_HEAP_SIZE", "8M", 1);
    start(leave_or_note, 0);
    GC_set_oom_fn(api_refuse);
    api_in_thread(fill, &size);
    root = NULL;
}

static void have_many(void)
{
    void *many = NULL;

    API_CHILD(GC_malloc_many(200) != NULL);
    GC_generic_malloc_many(300, kind, &many);
    API_CHILD(many != NULL);
}

static void have_large(void)
{
    API_CHILD(GC_malloc_atomic(1 << 20) != NULL);
}

/* No collection is to be had then. */
static void (*then)(void);

static void fill_queue(void)
{
    collect_and_leave();
    GC_disable();
    then();
}

static void many_when_full(void) { start_full(sizeof(struct thing)); api_run(have_many); }
static void many_when_waiting(void) { start_full(100000); then = have_many; api_run(fill_queue); }
static void large_when_full(void) { start_full(sizeof(struct thing)); api_run(have_large); }
static void large_when_waiting(void) { start_full(100000); then = have_large; api_run(fill_queue); }

static void memory_runs_out(void)
{
    if (TEST_SANITIZED) {
        tap_skip("one stale word, of which there are more under sanitizers, keeps a chain of objects");
        tap_skip("the same");
    } else {
        api_check_child(many_when_full, NULL, "many objects, when all memory is dead objects");
        api_check_child(large_when_full, NULL, "a large object, when all memory is dead objects");
    }
    api_check_child(many_when_waiting, NULL, "many objects, when dead ones wait and there is no collection");
    api_check_child(large_when_waiting, NULL, "a large object, when dead ones wait and there is no collection");
}

/* A thread that jumps out, and then only waits, keeps nobody else from asking. */
static volatile int jumped, may_end;

static void *jump_and_wait(void *arg)
{
    collect_and_leave();
    jumped = 1;
    while (!may_end)
        usleep(1000);
    return arg;
}

static void asked_by_others(void)
{
    pthread_t thread;

    start(leave_or_note, 0);
    api_run(make_things);
    root = NULL;
    API_CHILD(GC_pthread_create(&thread, NULL, jump_and_wait, NULL) == 0);
    while (!jumped)
        usleep(1000);
    collect_and_sweep();
    API_CHILD(wrong == 0 && count(0, 1) >= OBJECTS - STRAYS);
    may_end = 1;
    GC_pthread_join(thread, NULL);
}

/* The call that was left stood higher than those that come after: they know by where they are entered, not by how deep they
 * go, that no procedure runs. */
TEST_NOINLINE static void jump_and_allocate(void)
{
    leaves = 1;
    if (setjmp(back) == 0)
        GC_gcollect();
    leaves = 0;
    GC_disable();
    have_large();
}

static void allocate_after_jump(void) { start_full(100000); api_run(jump_and_allocate); }

/* What the program frees itself is not asked about, not even from within a procedure when it was waiting already. */
static void free_all(void)
{
    for (int i = 0; i < OBJECTS; i++)
        GC_free(make(i));
}

static int frees_others(void *object)
{
    struct thing *t = object;
    struct thing *other = t->ready == READY ? t->other : NULL;

    if (t->ready == READY)
        called[t->number]++;
    t->ready = 0;
    if (other != NULL && other->ready == READY)
        GC_free(other);
    return 0;
}

static void make_couples(void)
{
    for (int i = 0; i < OBJECTS; i += 2) {
        struct thing *a = make(i), *b = make(i + 1);

        a->other = b;
        b->other = a;
    }
}

static void freed(void)
{
    start(frees_others, 0);
    api_run(free_all);
    collect_and_sweep();
    API_CHILD(count(0, 1) == 0);
    api_run(make_couples);
    collect_and_sweep();
    for (int i = 0; i < OBJECTS; i += 2)
        API_CHILD(called[i] + called[i + 1] <= 1);
    API_CHILD(count(0, 1) >= OBJECTS / 2 - STRAYS);
}

/* ---- bad input ---- */

static void no_closure(void)
{
    void *(*volatile allocate)(size_t, const struct GC_finalizer_closure *) = GC_finalized_malloc;    /* not "nonnull" */

    GC_init_finalized_malloc();
    API_CHILD(allocate(20, NULL) != NULL);
}

static GC_hidden_pointer base;
static void *volatile kept;

static void make_kept(void)
{
    void *(*volatile allocate)(size_t, const struct GC_finalizer_closure *) = GC_finalized_malloc;    /* not "nonnull" */

    kept = allocate(64, NULL);
    base = GC_HIDE_POINTER(GC_base(kept));
    GC_general_register_disappearing_link((void **)&base, GC_base(kept));
}

static void kept_exactly(void)
{
    GC_set_all_interior_pointers(0);
    GC_INIT();
    api_run(make_kept);
    api_collect();
    API_CHILD(base != 0);
}

static void not_begun(void)
{
    make_finalized();
    collect_and_sweep();
    API_CHILD(finalized > 0);
}

static void bad_input(void)
{
    api_check_started_of(GC_register_disclaim_proc(14, note, 0), "kind 14 is not one", "a kind that there is not");
    api_check_started_of(GC_register_disclaim_proc(1, note, 0), "kind 1 is not one", "a built-in kind");
    api_check_started_of(GC_register_disclaim_proc(-1, note, 0), "kind -1 is not one", "a negative kind");
    api_check_started(no_closure, "there is no closure", "no closure");
    api_check_child(kept_exactly, "there is no closure", "without interior pointers, what is returned keeps the object, too");
    api_check_started(not_begun, "called before GC_init_finalized_malloc", "without GC_init_finalized_malloc");
}

int main(void)
{
    api_check_child(once_each, NULL, "once for each dead object");
    api_check_child_with("GC_MARKERS=8", once_each, "with eight markers");
    api_check_child_with("SGC_TORTURE=1000", once_each, "under torture");
    api_check_child(contents_stay, NULL, "what an object points at stays if that is wanted");
    api_check_child(contents_unfinalized, NULL, "and is not finalized before the object is gone");
    api_check_child(asked_again, NULL, "a procedure may keep its object for a time");
    api_check_started(finalized_malloc, NULL, "objects with a closure");
    if (api_on_sgc) {
        api_check_started(begun_together, NULL, "from threads that begin together");
        api_check_child(may_allocate, NULL, "a procedure may allocate and collect");
        api_check_child(may_jump, NULL, "and jump out");
        api_check_child(asked_by_others, NULL, "and another thread asks the rest");
        api_check_child(allocate_after_jump, NULL, "and allocates from where it jumped to, when only dead objects are left");
        memory_runs_out();
        api_check_child(freed, NULL, "nobody is asked about what is freed");
        bad_input();
    }
    return tap_done();
}
