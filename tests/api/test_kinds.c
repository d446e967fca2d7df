/* SPDX-License-Identifier: MIT */
/*
 * Kinds of the client: each form of descriptor decides which words keep what they point at, in small and in large objects,
 * also when an object is not set up; kinds that are uncollectable, not cleared, of free lists; mark bits and finalizers.
 * In children, where torture or several markers are asked for.  With API_PEER it runs on bdwgc's library.
 *
 * Also: alloc/pages/kind.c, gc/api/unofficial.c.
 */
#include "api.h"

#include <gc/gc_inline.h>

enum { WORDS = 20, SPAN_WORDS = 5000, TARGETS = 16 };

#define ALL ((unsigned)(1u << TARGETS) - 1)

/* A description of a type, for descriptors that are found through the first word. */
struct type {
    GC_word unused[2];
    GC_word descriptor;
};

static GC_hidden_pointer *target;
static void *volatile root;

struct made {
    int kind;
    size_t words;
    void (*prepare)(GC_word *object);
};

/* The words 2 to 17 of the object lead to targets. */
static void fill(GC_word *object)
{
    for (int i = 0; i < TARGETS; i++) {
        object[2 + i] = (GC_word)GC_malloc(API_LARGE);
        target[i] = GC_HIDE_POINTER((void *)object[2 + i]);
    }
}

static void *make(void *arg)
{
    struct made *m = arg;
    GC_word *object = GC_generic_malloc(m->words * sizeof *object, m->kind);

    API_CHILD(object != NULL && GC_base(object) == object);
    root = object;
    fill(object);
    if (m->prepare != NULL)
        m->prepare(object);
    return NULL;
}

/* Which targets live after a collection, a bit each. */
static unsigned alive(void)
{
    unsigned bits = 0;

    api_collect();
    for (int i = 0; i < TARGETS; i++)
        bits |= (unsigned)api_alive(&target[i], 1) << i;
    return bits;
}

static void check(int kind, size_t words, void (*prepare)(GC_word *object), unsigned expected)
{
    struct made m = { kind, words, prepare };
    unsigned bits;

    api_make_in_thread(make, &m);
    bits = alive();
    if (bits != expected)
        fprintf(stderr, "%zu words: %#x live, %#x should; ", words, bits, expected);
    API_CHILD(bits == expected);
    root = NULL;
    API_CHILD(alive() == 0);
}

static void check_both(int kind, void (*prepare)(GC_word *object), unsigned expected)
{
    check(kind, WORDS, prepare, expected);
    check(kind, SPAN_WORDS, prepare, expected);
}

static void start(void)
{
    GC_INIT();
    target = api_outside((TARGETS + 1) * sizeof *target);
}

/* Starts the collector if it is the first. */
static int kind_of(GC_word descriptor, int add_size)
{
    if (target == NULL)
        start();
    return (int)GC_new_kind(GC_new_free_list(), descriptor, add_size, 1);
}

/* ---- forms of descriptors ---- */

static void lengths(void)
{
    int some = kind_of(7 * sizeof(GC_word) | GC_DS_LENGTH, 0);
    int all = kind_of(0 | GC_DS_LENGTH, 1), none = kind_of(0 | GC_DS_LENGTH, 0);

    API_CHILD(some >= 4 && all == some + 1 && none == some + 2);
    check_both(some, NULL, 0x1f);
    check_both(all, NULL, ALL);
    check_both(none, NULL, 0);
}

static void bitmaps(void)
{
    check_both(kind_of((GC_word)1 << 61 | GC_DS_BITMAP, 0), NULL, 0x1);
    check_both(kind_of((GC_word)5 << 46 | GC_DS_BITMAP, 0), NULL, 0xa000);
    check_both(kind_of(~(GC_word)GC_DS_TAGS | GC_DS_BITMAP, 0), NULL, ALL);
    check_both(kind_of(0 | GC_DS_BITMAP, 0), NULL, 0);
}

static void inside_bitmap(GC_word *object) { object[1] = (GC_word)0xF << 58 | GC_DS_BITMAP; }
static void inside_length(GC_word *object) { object[1] = 4 * sizeof(GC_word); }
static void inside_again(GC_word *object) { object[1] = GC_DS_PER_OBJECT; object[0] = 3 * sizeof(GC_word); }

static void inside(void)
{
    int kind = kind_of(sizeof(GC_word) | GC_DS_PER_OBJECT, 0);

    check_both(kind, NULL, 0);
    check_both(kind, inside_length, 0x3);
    check_both(kind, inside_bitmap, 0xf);
    check_both(kind, inside_again, 0x1);
}

static void at_end_small(GC_word *object) { object[GC_size(object) / sizeof *object - 1] = (GC_word)0x3 << 60 | GC_DS_BITMAP; }

static void at_end(void)
{
    int kind = kind_of((GC_word)-(GC_signed_word)sizeof(GC_word) | GC_DS_PER_OBJECT, 1);

    check_both(kind, NULL, 0);
    check_both(kind, at_end_small, 0x3);
}

static struct type typed = { { 0, 0 }, (GC_word)0x7 << 59 | GC_DS_BITMAP };
static void through_type(GC_word *object) { object[0] = (GC_word)&typed; }

static void by_type(void)
{
    GC_signed_word offset = offsetof(struct type, descriptor) + GC_INDIR_PER_OBJ_BIAS;
    int kind = kind_of((GC_word)-offset | GC_DS_PER_OBJECT, 0);

    check_both(kind, NULL, 0);
    check_both(kind, through_type, 0x7);
}

/* ---- other uses ---- */

static void zeroed(void)
{
    int kind = kind_of(0 | GC_DS_LENGTH, 1);
    static void *list;

    for (int i = 0; i < 3000; i++) {
        GC_word *small = GC_generic_malloc(WORDS * sizeof(GC_word), kind);

        for (int w = 0; w < WORDS; w++) {
            API_CHILD(small[w] == 0);
            small[w] = 0x1111;
        }
        if (i % 2 == 0)
            GC_free(small);
        if (i % 1000 == 0)
            GC_gcollect();
    }
    GC_generic_malloc_many(WORDS * sizeof(GC_word), kind, &list);
    for (GC_word *n = list; n != NULL; n = GC_NEXT(n))
        for (int w = 1; w < WORDS; w++)
            API_CHILD(n[w] == 0);
}

static void not_zeroed(void)
{
    int kind;
    size_t size = 0;

    start();
    kind = (int)GC_new_kind(GC_new_free_list(), 0 | GC_DS_LENGTH, 1, 0);
    for (int i = 0; i < 1000; i++)
        memset(GC_generic_malloc(100, kind), 0x55, 100);
    API_CHILD(GC_get_kind_and_size(GC_generic_malloc(100, kind), &size) == kind && size >= 100);
    API_CHILD(GC_get_kind_and_size(GC_generic_or_special_malloc(50000, kind), &size) == kind && size >= 50000);
    API_CHILD(GC_get_kind_and_size(GC_generic_malloc_ignore_off_page(50000, kind), NULL) == kind);
    API_CHILD(GC_get_kind_and_size(GC_malloc_kind(50, kind), NULL) == kind);
}

/* For callers that hold the lock. */
static void *kind_inside(void *descriptor)
{
    return (void *)(GC_word)GC_new_kind_inner(GC_new_free_list_inner(), *(GC_word *)descriptor, 0, 1);
}

static void made_inside(void)
{
    GC_word first_two = 4 * sizeof(GC_word) | GC_DS_LENGTH;

    start();
    check_both((int)(GC_word)GC_call_with_alloc_lock(kind_inside, &first_two), NULL, 3);
}

static void free_lists(void)
{
    void **list, **other;

    start();
    list = GC_new_free_list();
    other = GC_new_free_list_inner();
    API_CHILD(list != NULL && other != NULL && list != other);
    for (int i = 0; i <= 128; i++)
        API_CHILD(list[i] == NULL && other[i] == NULL);
}

/* An object whose finalizer waits until what it leads to is finalized: of a bitmap's words only. */
static int finalized[2];
static void finalize(TEST_UNUSED void *object, void *data)
{
    ++*(int *)data;
}

static void *make_order(void *arg)
{
    GC_word *first = GC_generic_malloc(WORDS * sizeof *first, *(int *)arg);
    GC_word *second = GC_malloc(WORDS * sizeof *first);

    first[2] = first[3] = (GC_word)second;
    GC_register_finalizer(first, finalize, &finalized[0], NULL, NULL);
    GC_register_finalizer(second, finalize, &finalized[1], NULL, NULL);
    return NULL;
}

static void order(GC_word descriptor, int second_waits)
{
    int kind = kind_of(descriptor, 0);

    api_in_thread(make_order, &kind);
    scrub_stack();
    GC_gcollect();
    while (GC_invoke_finalizers() > 0)
        continue;
    API_CHILD(finalized[0] == 1 && finalized[1] == !second_waits);
}

#ifndef API_PEER
/* Objects of a client's kind that stay until they are freed, and keep what their descriptor says. */
static void *make_uncollectable(void *arg)
{
    GC_word *object = GC_generic_malloc_uncollectable(WORDS * sizeof *object, *(int *)arg);

    fill(object);
    target[TARGETS] = GC_HIDE_POINTER(object);
    return NULL;
}

static void uncollectable(void)
{
    int like, kind = kind_of((GC_word)0x5 << 59 | GC_DS_BITMAP, 0);

    api_make_in_thread(make_uncollectable, &kind);
    API_CHILD(alive() == 0x5 && api_alive(&target[TARGETS], 1) == 1);
    like = GC_get_kind_and_size(GC_REVEAL_POINTER(target[TARGETS]), NULL);
    API_CHILD(like == kind + 1 && GC_get_kind_and_size(GC_generic_malloc_uncollectable(10, kind), NULL) == like);
    GC_free(GC_REVEAL_POINTER(target[TARGETS]));
    API_CHILD(alive() == 0);
}

static void bounds(void)
{
    char *object;

    start();
    object = GC_malloc(1 << 20);
    API_CHILD((char *)GC_least_plausible_heap_addr <= object && object < (char *)GC_greatest_plausible_heap_addr);
    API_CHILD((char *)&typed < (char *)GC_least_plausible_heap_addr ||
              (char *)&typed > (char *)GC_greatest_plausible_heap_addr);
}

static void dump(void)
{
    root = GC_generic_malloc(100, kind_of(0, 1));
    GC_dump();
    GC_print_free_list(4, 2);
}

static void check_beyond(void)
{
    api_check_child(uncollectable, NULL, "uncollectable objects of such a kind");
    api_check_child(bounds, NULL, "the bounds of the heap are bounds");
    api_check_child(dump, "of the program's kinds", "a dump names them");
}
#else
static void check_beyond(void) { }
#endif

/* ---- environments ---- */

static void all_forms(void)
{
    static void (*const forms[])(void) = { lengths, bitmaps, inside, at_end, by_type };
    static char errors[4096];

    for (unsigned i = 0; i < sizeof forms / sizeof forms[0]; i++)
        API_CHILD(api_child(forms[i], errors, sizeof errors) == 0);
}

int main(void)
{
    api_check_child(lengths, NULL, "lengths");
    api_check_child(bitmaps, NULL, "bitmaps");
    api_check_child(inside, NULL, "a descriptor in the object");
    api_check_child(at_end, NULL, "at its end");
    api_check_child(by_type, NULL, "in a description of its type");
    api_check_child_with("SGC_TORTURE=50 GC_MARKERS=4", all_forms, "all of these under torture");
    api_check_child_with("GC_ALL_INTERIOR_POINTERS=0", all_forms, "without interior pointers");
    api_check_child_with("SGC_MARK_BATCH=0", all_forms, "without prefetching");
    api_check_child(zeroed, NULL, "new objects are zero");
    api_check_child(not_zeroed, NULL, "each function gives objects of the kind");
    api_check_child(made_inside, NULL, "a kind that is made with the lock held");
    api_check_child(free_lists, NULL, "free lists are empty");
    api_check_child_of(order((GC_word)1 << 61 | GC_DS_BITMAP, 1), NULL, "a finalizer waits for what the descriptor leads to");
    api_check_child_of(order((GC_word)1 << 59 | GC_DS_BITMAP, 0), NULL, "and not for the rest");
    check_beyond();
    return tap_done();
}
