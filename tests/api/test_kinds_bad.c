/* SPDX-License-Identifier: MIT */
/*
 * What clients may do wrong with kinds and mark procedures: each mistake is named, and objects that cannot be scanned as was
 * meant are scanned word by word, so nothing dies that is in use.
 */
#include "api.h"
#include "entries.h"

#include <gc/gc_inline.h>

enum { WORDS = 20 };

static void *volatile root;
static GC_hidden_pointer *target;

/* ---- an object with one pointer, in its fourth word ---- */

static GC_word first_word, second_word;

static void *make(void *arg)
{
    GC_word *object = GC_generic_malloc(WORDS * sizeof *object, *(int *)arg);

    object[0] = first_word;
    object[1] = second_word;
    object[3] = (GC_word)GC_malloc(API_LARGE);
    target[0] = GC_HIDE_POINTER((void *)object[3]);
    root = object;
    return NULL;
}

/* The pointer counts, and so after two collections. */
static void kept(int kind)
{
    target = api_outside(4096);
    api_in_thread(make, &kind);
    API_CHILD(api_survive(target, 1) == 1);
    root = NULL;
    API_CHILD(api_survive(target, 1) == 0);
}

static int kind_of(GC_word descriptor, int add_size)
{
    GC_INIT();
    return (int)GC_new_kind(GC_new_free_list(), descriptor, add_size, 1);
}

/* ---- descriptors that make no sense ---- */

static void no_procedure(void) { kept(kind_of(GC_MAKE_PROC(40, 0), 0)); }
static void bitmap_and_size(void) { kept(kind_of((GC_word)1 << 60 | GC_DS_BITMAP, 1)); }

static void reserved_procedure(void) { kept(kind_of(GC_MAKE_PROC(3, 0), 0)); }
static void too_long(void) { second_word = 1 << 20, kept(kind_of(8 | GC_DS_PER_OBJECT, 0)); }
static void far_away(void) { kept(kind_of(1 << 20 | GC_DS_PER_OBJECT, 0)); }
static void in_a_circle(void) { second_word = 8 | GC_DS_PER_OBJECT, kept(kind_of(8 | GC_DS_PER_OBJECT, 0)); }

static GC_word by_type(void)
{
    return (GC_word)-(GC_signed_word)(8 + GC_INDIR_PER_OBJ_BIAS) | GC_DS_PER_OBJECT;
}

static void odd_type(void) { first_word = (GC_word)&first_word + 1, kept(kind_of(by_type(), 0)); }
static void small_type(void) { first_word = 16, kept(kind_of(by_type(), 0)); }

/* ---- procedures that return something else ---- */

static stack returns(TEST_UNUSED GC_word *object, stack top, stack limit, GC_word env)
{
    stack results[] = { NULL, limit, (stack)((struct entry *)top - 1), (stack)((char *)top + 8) };

    return results[env];
}

static void with_proc(GC_mark_proc proc, GC_word env)
{
    GC_INIT();
    kept(kind_of(GC_MAKE_PROC(GC_new_proc(proc), env), 0));
}

/* ---- pointers that are none: ignored by GC_mark_and_push, since any word may be given to it ---- */

static void *nowhere[8];

static stack marks_anything(GC_word *object, stack top, stack limit, TEST_UNUSED GC_word env)
{
    char *heap = GC_least_plausible_heap_addr;

    for (int i = 0; i < 8; i++)
        top = GC_mark_and_push(nowhere[i], top, limit, &nowhere[i]);
    for (long step = 0; step < 64 << 20; step += 4093)
        top = GC_mark_and_push(heap + step, top, limit, NULL);
    top = GC_mark_and_push((char *)GC_greatest_plausible_heap_addr - 1, top, limit, NULL);
    top = GC_mark_and_push(GC_greatest_plausible_heap_addr, NULL, NULL, NULL) != NULL ? NULL : top;
    return GC_mark_and_push((void *)object[3], top, limit, NULL);
}

static void anything(void)
{
    nowhere[1] = (void *)1;
    nowhere[2] = (void *)UINTPTR_MAX;
    nowhere[3] = &nowhere;
    nowhere[4] = (void *)(uintptr_t)anything;
    nowhere[5] = api_outside(4096);
    with_proc(marks_anything, 0);
}

/* ---- entries that lead nowhere, and some that are only unusual ---- */

static struct entry pushed;

static stack pushes(GC_word *object, stack top, TEST_UNUSED stack limit, TEST_UNUSED GC_word env)
{
    struct entry *e = (struct entry *)top + 1;

    *e = pushed;
    if (e->start == (void *)-1)
        e->start = object;
    if (e->start == (void *)-2)
        e->start = (char *)object + 17;
    return (stack)e;
}

static stack pushes_and_marks(GC_word *object, stack top, stack limit, GC_word env)
{
    return GC_mark_and_push((void *)object[3], pushes(object, top, limit, env), limit, NULL);
}

static void entry(void *start, GC_word descriptor, GC_mark_proc proc)
{
    pushed = (struct entry){ start, descriptor };
    with_proc(proc, 0);
}

static void small_entry(void) { entry((void *)64, (GC_word)1 << 62 | GC_DS_BITMAP, pushes_and_marks); }

static void free_entry(void)
{
    entry((char *)GC_least_plausible_heap_addr + 8, 100, pushes_and_marks);
}

static void long_entry(void) { entry((void *)-1, 1 << 20, pushes); }
static void lost_entry(void) { entry((void *)-1, GC_MAKE_PROC(40, 0), pushes); }
static void uneven_procedure(void) { entry((void *)-2, GC_MAKE_PROC(40, 0), pushes); }

/* Large enough to be split. */
static void uneven_large(void)
{
    root = GC_malloc_ignore_off_page(1 << 20);
    entry((char *)root + 2, GC_MAKE_PROC(40, 0), pushes_and_marks);
}

static stack pushes_foreign(GC_word *object, stack top, stack limit, GC_word env)
{
    pushed.start = &object[3];
    pushed.descriptor = (GC_word)1 << 63 | GC_DS_BITMAP;
    top = pushes(object, top, limit, env);
    pushed.start = NULL;
    return top;
}

/* ---- too many ---- */

static void kinds_exhausted(void)
{
    int kind = 0;

    for (int i = 0; i < 12; i++)
        API_CHILD((kind = kind_of(0, 1)) == 4 + i);
    API_CHILD(kind_of(0, 0) == 1);
    kept(kind_of(0, 0));
}

static void siblings_exhausted(void)
{
    for (int i = 0; i < 12; i++)
        kind_of(0, 1);
    API_CHILD(GC_generic_malloc_uncollectable(10, 7) == NULL);
    API_CHILD(GC_generic_malloc(10, 7) != NULL);
}

static void procs_exhausted(void)
{
    for (unsigned i = GC_RESERVED_MARK_PROCS; i < GC_MAX_MARK_PROCS - 2; i++)        /* two are the collector's own */
        API_CHILD(GC_new_proc(i % 2 == 0 ? returns : pushes) == i);
    API_CHILD(GC_new_proc_inner(returns) < GC_RESERVED_MARK_PROCS);
    kept(kind_of(GC_MAKE_PROC(GC_new_proc(returns), 0), 0));
}

/* ---- calls at the wrong time, and sizes ---- */

static void outside(void)
{
    struct entry e;

    GC_INIT();
    API_CHILD(GC_mark_and_push(&e, (stack)&e, (stack)(&e + 1), NULL) == (stack)&e);
}

static void unknown_kind(void)
{
    API_CHILD(GC_generic_malloc(10, 4) == NULL && GC_generic_malloc(10, -1) == NULL);
}

static void sizes(void)
{
    int kind = kind_of((GC_word)1 << 60 | GC_DS_BITMAP, 0);
    void *list = &list;
    volatile size_t huge = SIZE_MAX;        /* unknown to the compiler */

    GC_set_oom_fn(api_refuse);
    API_CHILD(GC_generic_malloc(0, kind) != NULL && GC_size(GC_generic_malloc(0, kind)) > 0);
    API_CHILD(GC_generic_malloc(huge, kind) == NULL && GC_generic_malloc(huge / 2, kind) == NULL);
    API_CHILD(GC_generic_malloc_ignore_off_page(huge - 7, kind) == NULL);
    API_CHILD(GC_generic_malloc_uncollectable(huge, kind) == NULL && GC_generic_malloc_uncollectable(0, kind) != NULL);
    GC_generic_malloc_many(huge, kind, &list);
    API_CHILD(list == NULL);
    GC_generic_malloc_many(0, kind, &list);
    API_CHILD(list != NULL);
    GC_gcollect();
}

int main(void)
{
    api_check_child(no_procedure, "names a mark procedure that there is not", "a kind with a procedure that is not registered");
    api_check_child(bitmap_and_size, "the size can only be added to", "a size added to a bitmap");
    api_check_child_of(kept(kind_of(4 | GC_DS_PER_OBJECT, 0)), "at a multiple of 8", "a descriptor between words");
    api_check_child_of(kept(kind_of((GC_word)1 << 63, 0)), "no object is so long", "a length beyond all objects");
    api_check_child(reserved_procedure, "names a mark procedure that there is not", "a reserved procedure that nobody has set");
    api_check_child(too_long, "is a length beyond the object's end", "a length beyond the object");
    api_check_child(far_away, "is where none can be", "a descriptor beyond the object");
    api_check_child(in_a_circle, "is where none can be", "a descriptor that leads to itself");
    api_check_child(odd_type, "is where none can be", "a first word that is no address of a type");
    api_check_child(small_type, "is where none can be", "a first word that is a small number");
    api_check_child_of(with_proc(returns, 0), "returned something else", "a procedure that returns NULL");
    api_check_child_of(with_proc(returns, 1), "returned something else", "a procedure that returns the limit");
    api_check_child_of(with_proc(returns, 2), "returned something else", "a procedure that pops");
    api_check_child_of(with_proc(returns, 3), "returned something else", "a procedure that returns half an entry");
    api_check_child(anything, NULL, "words that are no pointers are ignored");
    api_check_child_of(entry(NULL, 100, pushes_and_marks), "where nothing can be", "a pushed NULL");
    api_check_child(small_entry, "where nothing can be", "a pushed small number");
    api_check_started(free_entry, "where nothing can be", "pushed free memory");
    api_check_child(long_entry, "is a length beyond the object's end", "a pushed part that is too long");
    api_check_child(lost_entry, "names a mark procedure that there is not", "a pushed procedure that is not registered");
    api_check_child_of(entry((void *)-2, 100, pushes), NULL, "a pushed address between words");
    api_check_child_of(entry((void *)-2, 4, pushes_and_marks), NULL, "and less than a word from there");
    api_check_child(uneven_procedure, "between two words", "a pushed procedure for such an address");
    api_check_started(uneven_large, "between two words", "likewise, in an object that is split");
    api_check_child_of(entry(api_outside(4096), 4096, pushes_and_marks), NULL, "memory outside the heap");
    api_check_child_of(with_proc(pushes_foreign, 0), NULL, "a part of the object");
    api_check_child(kinds_exhausted, "there are 16 kinds already", "too many kinds");
    api_check_child(siblings_exhausted, "GC_generic_malloc_uncollectable: there are 16 kinds already; NULL",
                    "no kind left for uncollectable objects");
    api_check_child(procs_exhausted, "there are 54 mark procedures already", "too many procedures");
    api_check_child_of(with_proc(NULL, 0), "GC_new_proc(NULL)", "no procedure");
    api_check_child(outside, "called outside a mark procedure", "GC_mark_and_push outside");
    api_check_started(unknown_kind, "there is no kind 4", "a kind that nobody has made");
    api_check_child(sizes, NULL, "sizes 0 and too large");
    return tap_done();
}
