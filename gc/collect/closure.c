/* SPDX-License-Identifier: MIT */
/* The closure of a mark.  gc/collect/torture.h says on which thread it is checked. */
#include "gc/collect/torture.h"

#include "alloc/object.h"
#include "alloc/pages/dangling.h"
#include "alloc/whole_heap.h"
#include "gc/config/options.h"
#include "gc/finalize/disclaim.h"
#include "gc/finalize/register.h"
#include "gc/roots/roots.h"
#include "gc/threads/gc_lock.h"
#include "mark/descriptor.h"
#include "mark/word_form.h"
#include "platform/compiler.h"
#include "platform/report.h"
#include "platform/written/written.h"

static const char in_object[] = "an object";

struct check {
    struct sgc_gap gap;         /* the first */
    const char *where;          /* words are looked at now */
    bool root;
    bool anywhere;              /* they count wherever in an object they point */
    bool notes;                 /* no mark is looked for, but words that lead to nothing */
    uintptr_t from;             /* lower ones have changed since the mark */
    uintptr_t shift;            /* what is looked at is a copy of words that lie so much higher */
};

static void expect_mark(struct check *check, uintptr_t word, const struct sgc_object *o)
{
    if (!check->notes && check->gap.where == NULL && !sgc_walk_marked(o) && !sgc_dangling_any(o->start, o->bytes))
        check->gap = (struct sgc_gap){ check->where, word, o->start };
}

/* As a marker takes it: a root that equals an object's first address may also mean the one that
 * ends there. */
static void check_word(struct check *check, uintptr_t at, uintptr_t word)
{
    struct sgc_object o;

    if (word - sgc_heap.base > sgc_aw_load(&sgc_heap.limit))
        return;
    if (sgc_object_find(word, &o)) {
        if (sgc_word_keeps(word, &o, check->anywhere))
            expect_mark(check, at, &o);
    } else if (check->notes) {
        sgc_dangling_note(sgc_granule_number(word));
    }
    if (check->root && sgc_options.end_byte == SGC_END_BYTE_ROOTS && sgc_object_find(word - 1, &o) &&
        o.start + o.bytes == word)
        expect_mark(check, at, &o);
}

/* Reads memory that was never meant for us, as the marker does. */
__attribute__((no_sanitize("address", "thread", "undefined")))
static void check_word_at(void *arg, uintptr_t at)
{
    struct check *check = arg;
    uintptr_t word = sgc_read_once(at), formed = sgc_word_formed(word);

    sgc_assert(at % sizeof(uintptr_t) == 0);
    if (at + check->shift < check->from)
        return;
    check_word(check, at + check->shift, word);
    if (formed != word)
        check_word(check, at + check->shift, formed);
}

/* An object or a root may be a thread's stack, a coroutine's: what lies below the frames that the
 * mark has read is in use by this very function, or by a thread that waits in a blocked region. */
enum { STACK_MIN = 4096 };              /* bytes */

static uintptr_t in_use_below(uintptr_t start, size_t bytes)
{
    uintptr_t sp = 0;

    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL && bytes >= STACK_MIN; m = m->next)
        if (m->sp - start < bytes && m->sp > sp)
            sp = m->sp;
    return sp;
}

/* Of a part of a stack nobody was told of, which reaches up to the first hole, so that there are
 * other stacks in it: what is in use at an address.  If that is in the heap the stack is one
 * object; otherwise nobody knows where it ends.  Up to *end the answer is the same. */
static uintptr_t in_use_around(uintptr_t at, struct sgc_range part, uintptr_t *end)
{
    struct sgc_object stack;

    sgc_assert(at >= part.lo && at < part.hi);
    *end = part.hi;
    if (!sgc_heap_contains(at))
        return in_use_below(part.lo, part.hi - part.lo);
    *end = sgc_round_down(at, SGC_GRANULE) + SGC_GRANULE;
    if (!sgc_object_slot(at, &stack))
        return 0;
    *end = stack.start + stack.bytes;
    return in_use_below(stack.start, stack.bytes);
}

static void check_copy(struct check *check, struct sgc_range range, const struct sgc_root_copy *copy)
{
    uintptr_t end = 0;

    check->shift = copy->from - range.lo;
    for (uintptr_t at = range.lo; at < range.hi; at += sizeof at) {
        if (at + check->shift >= end)
            check->from = in_use_around(at + check->shift, copy->part, &end);
        check_word_at(check, at);
    }
    check->shift = 0;
}

static void check_root(void *arg, enum sgc_root_kind kind, const struct sgc_mutator *whose, struct sgc_range range,
                       const struct sgc_root_copy *copy)
{
    static const char *const names[] = {
        [SGC_ROOT_STATIC] = "static data", [SGC_ROOT_ADDED] = "an added root", [SGC_ROOT_STACK] = "a stack",
        [SGC_ROOT_THREAD_LOCAL] = "thread-local data", [SGC_ROOT_DATE] = "the list of dates",
    };
    struct check *check = arg;

    (void)whose;
    sgc_assert((unsigned)kind <= SGC_ROOT_DATE && range.lo <= range.hi);
    check->where = names[kind];
    check->anywhere = sgc_options.all_interior_pointers || kind > SGC_ROOT_ADDED;
    if (copy != NULL) {
        check_copy(check, range, copy);
        return;
    }
    check->from = in_use_below(range.lo, range.hi - range.lo);
    for (uintptr_t at = sgc_round_up(range.lo, sizeof at); at + sizeof at <= range.hi; at += sizeof at)
        check_word_at(check, at);
}

/* The words of an object prove nothing if its mark procedure alone knows which of them are
 * pointers; nor do those of an object that may be dead, and only waits to be disclaimed. */
static void check_object(const struct sgc_object *o, void *arg)
{
    struct check *check = arg;
    struct sgc_gap before = check->gap;

    if (sgc_kind_uncollectable(o->kind))
        expect_mark(check, o->start, o);
    check->from = in_use_below(o->start, o->bytes);
    if (before.where == NULL && (check->notes || (sgc_walk_marked(o) && !sgc_disclaim_lets_go(o->kind))) &&
        !sgc_visit_words(o->kind, o->start, o->bytes, check_word_at, check))
        check->gap = before;
}

static void check_registered(void *arg, uintptr_t address)
{
    check_word(arg, address, address);
}

static void check_all(struct check *check)
{
    sgc_assert(sgc_stopped_by_self());
    check->root = true;
    sgc_roots_visit(check_root, check, true);
    check->root = false;
    check->where = "the tables of finalization";
    check->anywhere = true;
    sgc_finalization_visit(check_registered, check);
    check->where = in_object;
    check->anywhere = sgc_options.all_interior_pointers;
    sgc_walk_objects(check_object, check);
}

void sgc_closure_begin(void)
{
    struct check check = { .notes = true };

    if (sgc_dangling_begin())
        check_all(&check);
}

struct sgc_gap sgc_closure_find_gap(void)
{
    struct check check = { .gap = { NULL, 0, 0 } };

    check_all(&check);
    return check.gap;
}

static void complain(const struct sgc_gap *gap)
{
    unsigned long target = gap->target, word = gap->word;

    if (sgc_written_is_reported() && gap->where == in_object)
        sgc_fatal("the mark has missed the object at %lx, which the word at %lx, in an object, leads to; the program reports "
                  "its writes itself, so expected it to report the one to that word: call GC_END_STUBBORN_CHANGE, or store by "
                  "GC_PTR_STORE_AND_DIRTY", target, word);
    sgc_fatal("the mark has missed the object at %lx, which the word at %lx, in %s, leads to; expected it to reach all that "
              "roots lead to, so this is a defect of SGC: report this line", target, word, gap->where);
}

void sgc_closure_check(void)
{
    struct sgc_gap gap = { NULL, 0, 0 };

    if (sgc_a32_load(&sgc_marked_by_hand) == 0)
        gap = sgc_closure_find_gap();
    if (gap.where != NULL)
        complain(&gap);
}
