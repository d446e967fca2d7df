/* SPDX-License-Identifier: MIT */
/*
 * gc/collect/closure.c: a mark that has missed one object is noticed, wherever the word lies that leads there; a mark that
 * has missed none is not.  An event between the mark and the flip takes a mark away, as a faulty marker would leave it.
 */
#include "gc/collect/torture.h"

#include <gc/gc.h>
#include <gc/gc_disclaim.h>
#include <gc/gc_mark.h>
#include <gc/gc_typed.h>

#include <ucontext.h>

#include "alloc/pages/dangling.h"
#include "tests/lib/child.h"
#include "tests/lib/white.h"

static void *volatile holder;                       /* static data */
static _Thread_local void *volatile local_holder;
static void **added;                                /* memory of the system, an added root */
static uintptr_t hidden;                            /* whose mark is taken away */

static void GC_CALLBACK take_mark_away(GC_EventType event)
{
    struct sgc_object o;

    if (event != GC_EVENT_MARK_END || hidden == 0 || !sgc_object_find(~hidden, &o))
        return;
    if (o.span)
        sgc_aw_and(sgc_span_word(o.page, sgc_mark_role()), ~sgc_arena_bit(o.page));
    else
        sgc_aw_and(sgc_mark_word(o.granule), ~sgc_bit_mask(o.granule));
}

/* ---- ways to an object: each makes one, and hides its address ---- */

static void *hide(void *object)
{
    hidden = ~(uintptr_t)object;
    return object;
}

static void from_static(void) { holder = hide(GC_malloc(48)); }
static void from_local(void) { local_holder = hide(GC_malloc(48)); }
static void to_span(void) { holder = hide(GC_malloc(200000)); }
static void to_inside(void) { holder = (char *)hide(GC_malloc(200)) + 100; }
static void uncollectable(void) { hide(GC_malloc_uncollectable(48)); }
static void from_added(void) { added[0] = hide(GC_malloc(48)); }

static void from_object(void)
{
    void **object = GC_malloc(48);

    holder = object;
    object[3] = hide(GC_malloc(16));
}

static void from_typed(void)
{
    GC_word bits = 2;
    void **object = GC_malloc_explicitly_typed(48, GC_make_descriptor(&bits, 6));

    holder = object;
    object[1] = hide(GC_malloc(16));
}

static void from_uncollectable(void)
{
    void *volatile *object = GC_malloc_uncollectable(48);

    object[2] = hide(GC_malloc(16));
}

static void GC_CALLBACK never(TEST_UNUSED void *object, TEST_UNUSED void *data)
{
}

static void from_finalizer(void)
{
    holder = GC_malloc(16);
    GC_register_finalizer(holder, never, hide(GC_malloc(32)), NULL, NULL);
}

static const struct {
    const char *name, *where;
    void (*make)(void);
} ways[] = {
    { "static data", "static data", from_static },
    { "thread-local data", "thread-local data", from_local },
    { "an added root", "an added root", from_added },
    { "an object", "an object", from_object },
    { "a typed object", "an object", from_typed },
    { "an uncollectable object", "an object", from_uncollectable },
    { "static data, to a large object", "static data", to_span },
    { "static data, to the inside of an object", "static data", to_inside },
    { "nowhere: it is uncollectable", "an object", uncollectable },
    { "the tables of finalization", "the tables of finalization", from_finalizer },
};

/* ---- what has no mark and needs none ---- */

static void to_nothing(void)
{
    void **object = GC_malloc_atomic(48);
    GC_word bits = 2;
    void **typed = GC_malloc_explicitly_typed(48, GC_make_descriptor(&bits, 6));

    object[0] = GC_malloc(64);
    typed[0] = GC_malloc(64);
    typed[1] = object;
    holder = typed;
}

/* Words that point where a pointer does not count. */
static void to_unreachable_parts(void)
{
    void *volatile *object = GC_malloc(48);

    object[0] = (char *)GC_malloc(64) + 24;
    object[1] = (char *)GC_malloc_ignore_off_page(300000) + 100000;
    added[0] = (char *)GC_malloc(64) + 24;
    added[1] = (void *)(uintptr_t)object;
}

static void fill(void)
{
    for (int i = 0; i < 1000; i++) {
        void **object = GC_malloc(16 + (size_t)i % 600);

        *object = i % 3 == 0 ? holder : NULL;
        if (i % 5 != 0)
            holder = object;
    }
}

static size_t at;
static const char *option;

static void begin(void)
{
    setenv(option, option[4] == 'V' ? "marks" : "1000000000", 1);
    white_init();
    added = sgc_mem_obtain(sgc_os_page_size());
    GC_add_roots(added, added + 2);
    GC_set_on_collection_event(take_mark_away);
}

static int miss_one(void)
{
    begin();
    ways[at].make();
    white_collect();
    return 0;
}

static int miss_none(void)
{
    begin();
    GC_set_on_collection_event(NULL);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        ways[i].make();
    to_nothing();
    to_unreachable_parts();
    fill();
    for (int i = 0; i < 3; i++)
        white_collect();
    return 0;
}

/* A word leads to an object that came when it did so already: it has no mark, and nothing was missed. */
static void GC_CALLBACK take_mark_of_newcomer(GC_EventType event)
{
    if (event != GC_EVENT_MARK_END)
        return;
    sgc_dangling_begin();
    sgc_dangling_note(sgc_granule_number(~hidden) + 1);
    take_mark_away(event);
}

static int newcomer(void)
{
    begin();
    from_object();
    GC_set_on_collection_event(take_mark_of_newcomer);
    white_collect();
    return 0;
}

/* What a word of a root, or of an object, leads to is noted where nothing is allocated. */
static sgc_a32_t noticed;

static void GC_CALLBACK look_for_dangling(GC_EventType event)
{
    if (event != GC_EVENT_MARK_START)
        return;
    sgc_closure_begin();
    sgc_a32_store(&noticed, sgc_dangling_any(~hidden, 1));
}

static int dangling(void)
{
    void **object;

    begin();
    object = GC_malloc(48);
    holder = object;
    object[1] = hide(GC_malloc(3000));
    GC_set_on_collection_event(look_for_dangling);
    white_collect();
    if (sgc_a32_load(&noticed) != 0)
        return 1;
    GC_free(object[1]);
    white_collect();
    return sgc_a32_load(&noticed) != 0 ? 0 : 2;
}

/* A dead object waits for its procedure, what it points at need not. */
static int GC_CALLBACK let_go(TEST_UNUSED void *object)
{
    return 0;
}

static int disclaimed(void)
{
    unsigned kind;

    begin();
    GC_set_on_collection_event(NULL);
    kind = GC_new_kind(GC_new_free_list(), 0, 1, 1);
    GC_register_disclaim_proc((int)kind, let_go, 0);
    for (int i = 0; i < 1000; i++)
        *(void **)GC_generic_malloc(48, (int)kind) = GC_malloc(64);
    white_collect();
    return 0;
}

/* ---- the end of an object ---- */

enum { NEIGHBOURS = 100 };

/* In small pages objects are neighbours, and every other one is dead. */
static void make_neighbours(TEST_UNUSED void *unused)
{
    for (int i = 0; i < NEIGHBOURS; i++) {
        void *object = GC_malloc(64);

        if (i % 2 == 0)
            GC_register_finalizer(holder, never, object, NULL, NULL), holder = GC_malloc(16);
    }
}

/* What is kept by its exact address does not keep the object that ends there. */
static int neighbours(void)
{
    setenv("SGC_END_BYTE", "roots", 1);
    begin();
    GC_set_on_collection_event(NULL);
    GC_disable();
    holder = GC_malloc(16);
    white_join(white_start(make_neighbours, NULL));
    GC_enable();
    white_collect();
    return 0;
}

/* ---- a stack that is a root, or an object ---- */

enum { STACK = 1 << 18, DEEP = 1024 };

static ucontext_t home, coroutine;
static char static_stack[STACK];

/* Leaves the address of an object without mark in frames that are no more when the mark is checked. */
TEST_NOINLINE static void write_deep(void)
{
    volatile uintptr_t deep[DEEP];

    for (int i = 0; i < DEEP; i++)
        deep[i] = ~hidden;
    (void)deep[DEEP - 1];
}

static void GC_CALLBACK write_below(GC_EventType event)
{
    if (event == GC_EVENT_MARK_END)
        write_deep();
}

/* Between two others: the end of one object may also mean the next one. */
static void hide_one(TEST_UNUSED void *unused)
{
    GC_malloc(300000);
    hide(GC_malloc(300000));
    GC_malloc(300000);
}

static void collect_there(void)
{
    GC_gcollect();
}

static char *added_stack(void)
{
    char *stack = sgc_mem_obtain(STACK);

    GC_add_roots(stack, stack + STACK);
    return stack;
}

static char *stack_in_heap(void) { return holder = GC_malloc(STACK); }
static char *stack_in_data(void) { return static_stack; }

static char *(*make_stack)(void);

/* 0: no complaint, and the hidden object was dead. */
static int on_own_stack(void)
{
    begin();
    GC_disable();
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = make_stack();
    white_join(white_start(hide_one, NULL));
    coroutine.uc_stack.ss_size = STACK;
    coroutine.uc_link = &home;
    makecontext(&coroutine, collect_there, 0);
    GC_set_on_collection_event(write_below);
    GC_enable();
    swapcontext(&home, &coroutine);
    GC_set_on_collection_event(NULL);
    return white_lives(hidden) ? 1 : 0;
}

static void check_own_stack(char *(*make)(void), const char *what)
{
    make_stack = make;
    child_ok(on_own_stack, "frames below those that were marked lead nowhere: a stack that is %s", what);
}

static void test_missed(void)
{
    int status;
    const char *text = capture_said(status = run_in_child(miss_one));

    bool named = strstr(text, "the mark has missed") != NULL && strstr(text, ways[at].where) != NULL;
    if (!tap_ok(status == 128 + SIGABRT && named, "an object without mark, led to from %s", ways[at].name))
        tap_diag("status %d: %s", status, text);
}

int main(void)
{
    option = "SGC_VERIFY";
    for (at = 0; at < sizeof ways / sizeof *ways; at++)
        test_missed();
    tap_ok(run_in_child(miss_none) == 0, "a whole mark passes");
    child_ok(neighbours, "what data of finalizers begins with does not mean the object before it");
    check_own_stack(added_stack, "an added root");
    check_own_stack(stack_in_heap, "an object");
    check_own_stack(stack_in_data, "static data");
    setenv("GC_ALL_INTERIOR_POINTERS", "0", 1);
    tap_ok(run_in_child(miss_none) == 0, "and one without interior pointers");
    unsetenv("GC_ALL_INTERIOR_POINTERS");
    tap_ok(run_in_child(newcomer) == 0, "so does one of an object that came where a word led to nothing before");
    tap_ok(run_in_child(dangling) == 0, "words that lead to nothing are found");
    tap_ok(run_in_child(disclaimed) == 0, "what dead objects point at that wait to be disclaimed may be dead");
    option = "SGC_TORTURE";
    at = 0;
    test_missed();
    tap_ok(run_in_child(miss_none) == 0, "and under torture");
    return tap_done();
}
