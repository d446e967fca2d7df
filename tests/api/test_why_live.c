/* SPDX-License-Identifier: MIT */
/*
 * Why an object is alive: the way to it from each sort of root, and no way.
 *
 * Also: mark/visit_words.c, gc/inspect/way.c.
 */
#include "api.h"

#include <gc/gc_backptr.h>
#include <gc/gc_typed.h>

#include <sgc.h>

enum { CHAIN = 100 };

struct node {
    void *other;
    struct node *next;
};

/* ---- the way as it is told ------------------------------------------------------------------- */

static struct {
    size_t count, wrong;
    struct SGC_step first, last;
} way;

/* Each step's word lies in the object before. */
static void record(const struct SGC_step *step, void *data)
{
    const char *before = way.last.object;

    way.wrong += data != &way || step->number != way.count || step->bytes != GC_size(step->object);
    if (way.count == 0)
        way.first = *step;
    else
        way.wrong += (const char *)step->word < before || (const char *)step->word >= before + way.last.bytes ||
                     step->thread != 0;
    way.last = *step;
    way.count++;
}

TEST_NOINLINE static SGC_held_t find(GC_hidden_pointer hidden)
{
    memset(&way, 0, sizeof(way));
    scrub_stack();
    return SGC_find_way(GC_REVEAL_POINTER(hidden), record, &way);
}

static bool leads_to(GC_hidden_pointer hidden, size_t count)
{
    return way.count == count && way.wrong == 0 && way.last.object == GC_REVEAL_POINTER(hidden);
}

/* Makes an object in a thread that is gone when this returns. */
static void *make(void *slot)
{
    void *object = GC_malloc(sizeof(struct node));

    if (slot != NULL)
        *(void **)slot = object;
    return (void *)GC_HIDE_POINTER(object);
}

static GC_hidden_pointer made(void *slot)
{
    return (GC_hidden_pointer)api_in_thread(make, slot);
}

/* ---- one root of each sort ------------------------------------------------------------------- */

void *in_static;
static _Thread_local void *in_thread_local;

static void check_static(void)
{
    GC_hidden_pointer hidden = made(&in_static);

    tap_ok(find(hidden) == SGC_HELD_BY_STATIC && leads_to(hidden, 1) && way.first.word == &in_static,
           "static data holds an object");
    in_static = NULL;
    tap_ok(find(hidden) == SGC_HELD_BY_NOTHING && way.count == 0, "and then nothing does");
    find(GC_HIDE_POINTER(&way));        /* the frames of the last question hold this address now */
    api_collect();
    tap_ok(find(hidden) == SGC_HELD_NO_OBJECT && way.count == 0, "and then there is no object");
}

static void check_added(void)
{
    void **range = api_outside(4096);
    GC_hidden_pointer hidden;

    GC_add_roots(range, range + 512);
    hidden = made(&range[7]);
    tap_ok(find(hidden) == SGC_HELD_BY_ADDED && leads_to(hidden, 1) && way.first.word == &range[7],
           "a range of the program's holds one");
    GC_remove_roots(range, range + 512);
    tap_ok(find(hidden) == SGC_HELD_BY_NOTHING, "until it is removed");
}

static GC_hidden_pointer by_thread[2];
static void **variable;        /* the thread's own */
static SGC_held_t found_by_thread;

static void *hold(void *unused)
{
    void *volatile object = GC_malloc(sizeof(struct node));

    by_thread[0] = GC_HIDE_POINTER(object);
    by_thread[1] = made(&in_thread_local);
    variable = &in_thread_local;
    found_by_thread = SGC_find_way(GC_REVEAL_POINTER(by_thread[1]), NULL, NULL);
    scrub_stack();
    api_stay();
    in_thread_local = NULL;
    return object != NULL ? unused : object;
}

/* The C library puts the variables of a thread at the top of its stack. */
static void check_thread(const pthread_attr_t *attributes, const char *stack)
{
    pthread_t thread;

    if (GC_pthread_create(&thread, attributes, hold, NULL) != 0)
        tap_bail("no thread");
    api_wait(&api_there);
    tap_ok(find(by_thread[0]) == SGC_HELD_BY_STACK && leads_to(by_thread[0], 1) && way.first.thread > 0 &&
           way.first.thread != getpid(), "%s: it holds an object, and the thread is named", stack);
    tap_ok(find(by_thread[1]) == SGC_HELD_BY_THREAD_LOCAL && leads_to(by_thread[1], 1) &&
           way.first.word == variable && way.first.thread > 0 && way.first.thread != getpid(),
           "%s: so does a thread-local variable there", stack);
    tap_ok(found_by_thread == SGC_HELD_BY_THREAD_LOCAL, "%s: which the thread itself finds, too", stack);
    sem_post(&api_may_go);
    GC_pthread_join(thread, NULL);
}

static void check_threads(void)
{
    enum { STACK = 1 << 22 };
    pthread_attr_t attributes;

    check_thread(NULL, "a stack of the C library's");
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, api_outside(STACK), STACK);
    check_thread(&attributes, "a stack of the program's");
    pthread_attr_destroy(&attributes);
    by_thread[0] = made(&in_thread_local);
    tap_ok(find(by_thread[0]) == SGC_HELD_BY_THREAD_LOCAL && way.first.word == &in_thread_local &&
           way.first.thread == getpid(), "the first thread's is not on its stack");
    in_thread_local = NULL;
}

static void check_own_stack(void)
{
    void *volatile here;
    GC_hidden_pointer hidden = made(NULL);

    here = GC_REVEAL_POINTER(hidden);
    tap_ok(find(hidden) == SGC_HELD_BY_OWN_STACK && leads_to(hidden, 1), "the caller's own stack comes last");
    in_static = here;
    tap_ok(find(hidden) == SGC_HELD_BY_STATIC, "and only if nothing else holds the object");
    in_static = NULL;
    here = NULL;
}

static void *make_uncollectable(TEST_UNUSED void *unused)
{
    struct node *root = GC_malloc_uncollectable(sizeof(*root));

    root->next = GC_malloc(sizeof(*root));
    return (void *)GC_HIDE_POINTER(root);
}

static void *hidden_next(void *hidden)
{
    return (void *)GC_HIDE_POINTER(((struct node *)GC_REVEAL_POINTER(hidden))->next);
}

static void *free_hidden(void *hidden)
{
    GC_free(GC_REVEAL_POINTER(hidden));
    return NULL;
}

static void check_uncollectable(void)
{
    void *root = api_in_thread(make_uncollectable, NULL);
    GC_hidden_pointer hidden = (GC_hidden_pointer)api_in_thread(hidden_next, root);

    tap_ok(find(hidden) == SGC_HELD_BY_UNCOLLECTABLE && leads_to(hidden, 2) && way.first.word == NULL &&
           (GC_word)way.first.object == ~(GC_word)root && way.first.kind == 2,
           "an uncollectable object holds one, and is the first on the way");
    tap_ok((const char *)way.last.word == (const char *)way.first.object + sizeof(void *), "by its second word");
    api_in_thread(free_hidden, root);
    tap_ok(find(hidden) == SGC_HELD_BY_NOTHING, "until it is freed");
}

static void *register_data(void *raw)
{
    void *data = GC_malloc(sizeof(struct node));

    GC_register_finalizer(*(void **)raw, api_ignore, data, NULL, NULL);
    return (void *)GC_HIDE_POINTER(data);
}

static void *let_go(void *unused)
{
    void *hidden = (void *)GC_HIDE_POINTER(in_static);

    in_static = unused;
    return hidden;
}

static void check_finalization(void)
{
    GC_hidden_pointer hidden;

    GC_set_finalize_on_demand(1);
    made(&in_static);
    hidden = (GC_hidden_pointer)api_in_thread(register_data, &in_static);
    tap_ok(find(hidden) == SGC_HELD_BY_FINALIZATION && leads_to(hidden, 1) && way.first.word == NULL,
           "a registered finalizer holds its data");
    hidden = (GC_hidden_pointer)api_in_thread(let_go, NULL);
    api_collect();
    tap_ok(find(hidden) == SGC_HELD_BY_FINALIZATION && leads_to(hidden, 1), "what waits for its finalizer is held");
    GC_invoke_finalizers();
    scrub_stack();
    tap_ok(find(hidden) == SGC_HELD_BY_NOTHING, "until that has run");
}

/* ---- ways of several steps ------------------------------------------------------------------- */

/* A chain from in_static, whose last node's `other` is the object; a circle hangs on the first. */
static void *make_chain(TEST_UNUSED void *unused)
{
    struct node *n = GC_malloc(sizeof(*n)), *circle = GC_malloc(sizeof(*n));
    void *object = GC_malloc(1000);

    in_static = n;
    circle->next = circle;
    n->other = circle;
    for (int i = 1; i < CHAIN; i++)
        n = n->next = GC_malloc(sizeof(*n));
    n->other = (char *)object + 500;
    return (void *)GC_HIDE_POINTER(object);
}

static GC_hidden_pointer end_of_chain;

static void why_chain(void)
{
    API_CHILD(SGC_why_live(GC_REVEAL_POINTER(end_of_chain)) == SGC_HELD_BY_STATIC);
}

static void shorten(void)
{
    struct node *n = in_static;

    n->next->next->other = GC_REVEAL_POINTER(end_of_chain);
}

static void check_chain(void)
{
    end_of_chain = (GC_hidden_pointer)api_in_thread(make_chain, NULL);
    tap_ok(find(end_of_chain) == SGC_HELD_BY_STATIC && leads_to(end_of_chain, CHAIN + 1),
           "the way leads along a chain (%d steps, %d wrong)", (int)way.count, (int)way.wrong);
    tap_ok(find(end_of_chain - 700) == SGC_HELD_BY_STATIC && leads_to(end_of_chain, CHAIN + 1),
           "to the object in which the address lies");
    api_check_child(why_chain, "101 objects from a root:", "it is printed: how long it is");
    api_check_child(why_chain, "test_why_live, at ", "which module the root is in");
    api_check_child(why_chain, "     word at offset 8 of that -> ", "which word leads on");
    api_check_child(why_chain, "     ... 61 objects more ...", "and of a long way not everything");
    api_run(shorten);
    tap_ok(find(end_of_chain) == SGC_HELD_BY_STATIC && leads_to(end_of_chain, 4), "a shorter way is preferred");
    in_static = NULL;
    tap_ok(SGC_find_way(GC_REVEAL_POINTER(end_of_chain), NULL, NULL) == SGC_HELD_BY_NOTHING, "nobody need look at it");
}

/* ---- typed objects --------------------------------------------------------------------------- */

enum { LONG = 200 };

struct typed {
    size_t elements, words;             /* elements 0: no array */
    size_t first, pointers;             /* so many words of each element from there on */
    const char *what;
};

static GC_hidden_pointer led_to, not_led_to;

static void *typed_object(const struct typed *t)
{
    GC_word bits[LONG / 64 + 1] = { 0 };
    GC_descr descriptor;

    for (size_t i = t->first; i < t->first + t->pointers; i++)
        GC_set_bit(bits, i);
    descriptor = GC_make_descriptor(bits, t->words);
    return t->elements == 0 ? GC_malloc_explicitly_typed(t->words * sizeof(void *), descriptor)
                            : GC_calloc_explicitly_typed(t->elements, t->words * sizeof(void *), descriptor);
}

/* In the last element.  The object whose address is in a word that is no pointer comes first. */
static void *make_typed(void *raw)
{
    const struct typed *t = raw;
    void **object = typed_object(t), **last = object + (t->elements == 0 ? 0 : (t->elements - 1) * t->words);
    size_t pointer = t->first + t->pointers - 1, other = t->first == 0 ? t->pointers : 0;

    in_static = object;
    GC_disable();                       /* the first is garbage from the beginning */
    last[other] = GC_malloc(API_LARGE);
    last[pointer] = GC_malloc(API_LARGE);
    GC_enable();
    not_led_to = GC_HIDE_POINTER(last[other]);
    led_to = GC_HIDE_POINTER(last[pointer]);
    return NULL;
}

static bool held_by_typed(void)
{
    return find(led_to) == SGC_HELD_BY_STATIC && way.count == 2 && way.first.object == in_static &&
           way.last.object == GC_REVEAL_POINTER(led_to);
}

static GC_ref_kind pointed_at_by(GC_hidden_pointer hidden)
{
    void *base = NULL;
    size_t offset;

    scrub_stack();
    return GC_get_back_ptr_info(GC_REVEAL_POINTER(hidden), &base, &offset);
}

static void check_typed(void)
{
    static const struct typed shapes[] = {
        { 0, 2, 1, 1, "a bitmap" }, { 0, LONG, LONG - 1, 1, "a long bitmap" }, { 10, 3, 2, 1, "a repeated bitmap" },
        { 1000, 3, 2, 1, "an array" }, { 20, LONG, LONG - 2, 2, "an array of long bitmaps" }, { 0, 10, 0, 1, "a length" },
    };

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        GC_gcollect();              /* none is to come by itself while the words lie in registers */
        api_in_thread(make_typed, (void *)(uintptr_t)&shapes[i]);
        tap_ok(held_by_typed() && pointed_at_by(led_to) == GC_REFD_FROM_HEAP,
               "%s: a word that is a pointer leads on", shapes[i].what);
        tap_ok(find(not_led_to) == SGC_HELD_BY_NOTHING && pointed_at_by(not_led_to) != GC_REFD_FROM_HEAP,
               "%s: a word that is none does not", shapes[i].what);
    }
    in_static = NULL;
}

/* ---- no way ---------------------------------------------------------------------------------- */

static void *asked;

static void check_none(void *address, const char *message, const char *name)
{
    asked = address;
    api_check_child_of(API_CHILD(SGC_why_live(asked) == (GC_is_heap_ptr(asked) ? SGC_HELD_NO_OBJECT : SGC_HELD_NOT_HEAP)),
                       message, name);
    asked = NULL;               /* which would hold the next object there */
}

static void why_nothing(void)
{
    GC_hidden_pointer hidden = made(NULL);

    scrub_stack();
    API_CHILD(SGC_why_live(GC_REVEAL_POINTER(hidden)) == SGC_HELD_BY_NOTHING);
}

static void *why_own(void *object)
{
    return SGC_why_live(object) == SGC_HELD_BY_OWN_STACK ? object : NULL;
}

static void why_mine(void)
{
    void *volatile object = GC_malloc(100);

    API_CHILD(why_own(object) == object);
}

int main(void)
{
    void *freed;

    GC_INIT();
    GC_exclude_static_roots(&way, &way + 1);
    tap_each(check_static, check_added, check_threads, check_own_stack, check_uncollectable, check_finalization,
             check_chain, check_typed);
    check_none(NULL, "is not in the collector's heap", "NULL is told");
    check_none(&in_static, "is not in the collector's heap", "so is an address outside the heap");
    freed = GC_malloc(100);
    GC_free(freed);
    check_none(freed, "it has been freed or reclaimed", "a freed object");
    api_check_child(why_nothing, "nothing leads to the object", "one that is garbage");
    api_check_child(why_mine, "only the calling thread's own stack", "and one that only the caller has");
    return tap_done();
}
