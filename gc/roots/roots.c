/* SPDX-License-Identifier: MIT */
/*
 * Roots: the ranges the client added, the modules' static data (gc/roots/modules.c), stacks and
 * thread-local variables.  Locks and threads: gc/roots/roots.h.
 */
#include "gc/roots/roots.h"

#include "gc/threads/gc_lock.h"
#include "gc/threads/upper.h"
#include "gc/roots/ranges.h"
#include "mark/marker.h"
#include "mark/mark_roots.h"

struct roots {
    struct sgc_ranges added, excluded;
    bool answers; /* does the system say, in this stop, what memory can be read?  False, too, if
                   * nobody needs that */
};

SGC_STATE static struct roots roots;

/* ---- what the client says ---- */

static bool report_full(bool done, struct sgc_range range)
{
    if (!done)
        sgc_warn("no memory for another root range (%p to %p); it is ignored. Add fewer and larger "
                 "ranges", (void *)range.lo, (void *)range.hi);
    return done;
}

/* All with the registry's lock, which a stop holds to its end: a thread that is not stopped, since
 * it is in a blocked region or not registered, changes no list that is gone through, and its range
 * stays mapped until it has been scanned. */
bool sgc_roots_add(struct sgc_range range)
{
    struct sgc_registry_scope scope;
    bool done;

    sgc_registry_enter(&scope);
    done = sgc_ranges_list_add(&roots.added, range);
    sgc_registry_leave(&scope);
    return report_full(done, range);
}

void sgc_roots_remove(struct sgc_range range)
{
    struct sgc_registry_scope scope;

    sgc_registry_enter(&scope);
    sgc_ranges_list_drop(&roots.added, range);
    sgc_registry_leave(&scope);
}

bool sgc_roots_exclude(struct sgc_range range)
{
    struct sgc_registry_scope scope;
    bool done;

    sgc_registry_enter(&scope);
    done = sgc_ranges_add(&roots.excluded, range);
    sgc_registry_leave(&scope);
    return report_full(done, range);
}

static void clear(struct sgc_ranges *ranges)
{
    struct sgc_registry_scope scope;

    sgc_registry_enter(&scope);
    sgc_ranges_clear(ranges);
    sgc_registry_leave(&scope);
}

void sgc_roots_clear(void)
{
    clear(&roots.added);
}

void sgc_roots_clear_excluded(void)
{
    clear(&roots.excluded);
}

bool sgc_roots_contain(uintptr_t address)
{
    return sgc_ranges_list_contain(&roots.added, address);
}

/* ---- scanning, world stopped ---- */

/* Called for each range: scans it, or asks a question of it. */
struct visit {
    sgc_roots_visit_t fn;
    void *arg;
    bool copies;                    /* fn may be given a copy of memory that others may unmap; it
                                     * does not keep the address */
    bool names;                     /* thread-local variables inside a stack are called what they
                                     * are */
};

/* Of at most an OS page. */
SGC_STATE static uintptr_t copied[4096 / sizeof(uintptr_t)];

static void scan(void *arg, enum sgc_root_kind kind, const struct sgc_mutator *whose, struct sgc_range range,
                 const struct sgc_root_copy *copy)
{
    (void)whose;
    if (copy != NULL)
        sgc_mark_roots_now(arg, (void *)range.lo, (void *)range.hi);
    else if (kind <= SGC_ROOT_ADDED)
        sgc_mark_static(arg, (void *)range.lo, (void *)range.hi);
    else
        sgc_mark_roots(arg, (void *)range.lo, (void *)range.hi);
}

/* The range without its excluded parts. */
static void visit_range(const struct visit *visit, enum sgc_root_kind kind, const struct sgc_mutator *whose,
                        struct sgc_range range)
{
    size_t i = sgc_ranges_first_after(&roots.excluded, range.lo);

    sgc_assert(range.lo <= range.hi && (whose == NULL || sgc_mutator_ok(whose)));
    for (; i < roots.excluded.count && roots.excluded.of[i].lo < range.hi; i++) {
        if (roots.excluded.of[i].lo > range.lo)
            visit->fn(visit->arg, kind, whose, (struct sgc_range){ range.lo, roots.excluded.of[i].lo }, NULL);
        range.lo = roots.excluded.of[i].hi;
    }
    if (range.lo < range.hi)
        visit->fn(visit->arg, kind, whose, range, NULL);
}

static void visit_static(const struct visit *visit)
{
    sgc_assert(sgc_registry_locked());
    for (int i = 0; i < sgc_root_modules.ranges; i++)
        visit_range(visit, SGC_ROOT_STATIC, NULL, sgc_root_modules.range[i]);
    for (size_t i = 0; i < roots.added.count; i++)
        visit_range(visit, SGC_ROOT_ADDED, NULL, roots.added.of[i]);
}

static bool is_inside(struct sgc_range r, struct sgc_range in)
{
    return r.lo >= in.lo && r.hi <= in.hi;
}

static bool inside_any(struct sgc_range r, const struct sgc_stack_part *part, int parts)
{
    for (int i = 0; i < parts; i++)
        if (is_inside(r, part[i].range))
            return true;
    return false;
}

/* Words of a stack, which may be a copy, and then what they lead to of frames elsewhere. */
static void visit_words(const struct visit *visit, enum sgc_root_kind kind, const struct sgc_mutator *m,
                        struct sgc_range stack, struct sgc_range words, const struct sgc_root_copy *copy)
{
    struct sgc_range frame;

    visit->fn(visit->arg, kind, m, words, copy);
    if (m->fake_stack != NULL && kind == SGC_ROOT_STACK)
        for (uintptr_t at = words.lo; sgc_stack_next_fake(m, stack, &at, words.hi, &frame);)
            visit->fn(visit->arg, kind, m, frame, NULL);
}

/* A range that ends nobody knows where, so that there may be memory of others in it, which they
 * unmap when they like.  Its OS pages are looked at one by one, those that can be read. */
static void visit_unsure(const struct visit *visit, enum sgc_root_kind kind, const struct sgc_mutator *m,
                         struct sgc_range range)
{
    uintptr_t next, at = sgc_round_up(range.lo, sizeof at), end = sgc_round_down(range.hi, sizeof end);

    for (; at < end; at = next) {
        next = sgc_round_down(at, sizeof copied) + sizeof copied;
        next = next < end ? next : end;
        sgc_assert(at < next && next - at <= sizeof copied);
        if (visit->copies && sgc_mem_copy(copied, at, next - at))
            visit_words(visit, kind, m, range, (struct sgc_range){ (uintptr_t)copied, (uintptr_t)copied + (next - at) },
                        &(struct sgc_root_copy){ at, range });
        else if (!visit->copies && sgc_mem_readable(at))
            visit_words(visit, kind, m, range, (struct sgc_range){ at, next }, NULL);
    }
}

/* The first of the thread's blocks inside the range that ends behind `at`, from there on, in whole
 * words: two blocks may share one.  Empty, at the range's end: there is none. */
static struct sgc_range next_tls_block(const struct sgc_mutator *m, struct sgc_range in, uintptr_t at)
{
    struct sgc_range block, first = { in.hi, in.hi };

    sgc_assert(in.lo <= at && at < in.hi);
    for (int i = 0; i < sgc_root_modules.tlses; i++)
        if (sgc_tls_block(m->thread_pointer, sgc_root_modules.tls[i], &block) && is_inside(block, in) &&
            block.hi > at && block.lo < first.lo)
            first = block;
    first.lo = sgc_round_down(first.lo, sizeof at);
    first.lo = first.lo > at ? first.lo : at;
    first.hi = sgc_round_up(first.hi, sizeof at);
    first.hi = first.hi < in.hi ? first.hi : in.hi;
    return first;
}

/* The C library puts most blocks at the top of the stacks that it makes, those of the first thread
 * below its control block. */
static void visit_divided(const struct visit *visit, enum sgc_root_kind kind, const struct sgc_mutator *m,
                          struct sgc_range range)
{
    struct sgc_range block;

    sgc_assert(range.lo <= range.hi);
    for (uintptr_t at = range.lo; at < range.hi; at = block.hi) {
        block = next_tls_block(m, range, at);
        sgc_assert(at <= block.lo && block.lo <= block.hi && at < block.hi);
        if (at < block.lo)
            visit_words(visit, kind, m, range, (struct sgc_range){ at, block.lo }, NULL);
        if (block.lo < block.hi)
            visit->fn(visit->arg, SGC_ROOT_THREAD_LOCAL, m, block, NULL);
    }
}

static void visit_stack(const struct visit *visit, const struct sgc_mutator *m, const struct sgc_stack_part *part)
{
    if (part->unsure)
        visit_unsure(visit, SGC_ROOT_STACK, m, part->range);
    else if (visit->names)
        visit_divided(visit, SGC_ROOT_STACK, m, part->range);
    else
        visit_words(visit, SGC_ROOT_STACK, m, part->range, part->range, NULL);
}

/* The blocks that the thread's vector leads to; false if it lacks one. */
static bool visit_tls_blocks(const struct visit *visit, const struct sgc_mutator *m, const struct sgc_stack_part *part,
                             int parts)
{
    struct sgc_range block;
    bool complete = true;

    for (int i = 0; i < sgc_root_modules.tlses; i++) {
        if (!sgc_tls_block(m->thread_pointer, sgc_root_modules.tls[i], &block)) {
            complete = false;
            continue;
        }
        sgc_tls_learn(&sgc_root_modules.tls[i], m->thread_pointer, m->stack, block);
        sgc_assert(block.lo <= block.hi);
        if (!inside_any(block, part, parts) && !is_inside(block, m->control))
            visit_range(visit, SGC_ROOT_THREAD_LOCAL, m, block);
    }
    return complete;
}

/* Most of it lies within the stack's mapping, for all threads but the first.  A block that no
 * vector leads to may lie below the first thread's control block. */
static void visit_thread_local(const struct visit *visit, const struct sgc_mutator *m,
                               const struct sgc_stack_part *part, int parts)
{
    if (visit->names)
        visit_divided(visit, SGC_ROOT_THREAD_LOCAL, m, m->control);
    else if (m->control.lo < m->control.hi)
        visit->fn(visit->arg, SGC_ROOT_THREAD_LOCAL, m, m->control, NULL);
    if (!visit_tls_blocks(visit, m, part, parts) && m->below_control.lo < m->below_control.hi &&
        (roots.answers || sgc_mem_answers()))
        visit_unsure(visit, SGC_ROOT_THREAD_LOCAL, m, m->below_control);
}

static bool is_root(const struct sgc_mutator *m)
{
    return !m->service && !m->gone;
}

static void visit_mutator(const struct visit *visit, const struct sgc_mutator *m)
{
    struct sgc_stack_part part[SGC_STACK_PARTS];
    int parts;

    sgc_assert(sgc_mutator_ok(m) && sgc_mutator_linked(m));
    if (!is_root(m) || !sgc_stack_known(m, roots.answers))
        return;
    parts = sgc_stack_parts(m, part);
    sgc_assert(0 < parts && parts <= SGC_STACK_PARTS);
    for (int i = 0; i < parts; i++)
        visit_stack(visit, m, &part[i]);
    visit_thread_local(visit, m, part, parts);
}

static void visit_all(const struct visit *visit)
{
    visit_static(visit);
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        visit_mutator(visit, m);
}

/* ---- what the layer on top keeps ---- */

static void visit_date(void *arg, const struct sgc_mutator *whose, struct sgc_range range)
{
    const struct visit *visit = arg;

    sgc_assert(range.lo <= range.hi && range.lo % sizeof range.lo == 0);
    if (range.lo < range.hi)
        visit->fn(visit->arg, SGC_ROOT_DATE, whose, range, NULL);
}

/* Last, so that a question is answered by another root if there is one as near.  A layer that marks
 * by itself has its say after the roots of a mark. */
static void visit_dates(const struct visit *visit, bool to_mark)
{
    const struct sgc_upper *upper = sgc_upper();

    if (upper != NULL && upper->visit != NULL && !(to_mark && upper->mark != NULL))
        upper->visit(visit_date, (void *)(uintptr_t)visit);
}

/* ---- everything ---- */

static const struct sgc_mutator *first_unknown(void)
{
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (is_root(m) && !sgc_stack_known(m, roots.answers))
            return m;
    return NULL;
}

/* The system is asked whether it answers only if a thread needs that. */
sgc_tid_t sgc_roots_unknown(void)
{
    const struct sgc_mutator *m;

    sgc_assert(sgc_stopped_by_self());
    roots.answers = false;
    m = first_unknown();
    if (m == NULL)
        return 0;
    roots.answers = sgc_mem_answers();
    m = first_unknown();
    return m == NULL ? 0 : m->asking ? -1 : m->tid;
}

void sgc_roots_visit(sgc_roots_visit_t fn, void *arg, bool copies)
{
    sgc_assert(sgc_stopped_by_self());
    sgc_roots_unknown();
    visit_all(&(struct visit){ fn, arg, copies, true });
    visit_dates(&(struct visit){ fn, arg, copies, true }, false);
}

void sgc_roots_mark(struct sgc_marker *marker)
{
    sgc_assert(sgc_stopped_by_self());
    visit_all(&(struct visit){ scan, marker, true, false });
    visit_dates(&(struct visit){ scan, marker, true, false }, true);
    sgc_mark_uncollectable(marker);
}

/* ---- questions ---- */

static bool in_static(uintptr_t address)
{
    struct sgc_registry_scope scope;
    bool found;

    sgc_registry_enter(&scope);
    found = sgc_roots_contain(address);
    for (int i = 0; i < sgc_root_modules.ranges && !found; i++)
        found = address >= sgc_root_modules.range[i].lo && address < sgc_root_modules.range[i].hi;
    found = found && !sgc_ranges_contain(&roots.excluded, address);
    sgc_registry_leave(&scope);
    return found;
}

static bool is_on_stack(const struct sgc_mutator *m, const void *address)
{
    return !m->service && (uintptr_t)address >= m->stack.low && (uintptr_t)address < m->stack.high;
}

static bool in_thread_local(uintptr_t address, const struct sgc_mutator *self)
{
    struct sgc_range block;

    sgc_assert(sgc_mutator_mine(self));
    for (int i = 0; i < sgc_root_modules.tlses; i++)
        if (sgc_tls_block(self->thread_pointer, sgc_root_modules.tls[i], &block) && address >= block.lo &&
            address < block.hi)
            return true;
    return false;
}

/* The thread that has stopped the world has a list of that moment, and may not call the client's
 * filter for another. */
static bool list_is_true(void)
{
    sgc_assert(sgc_gc_lock_held());
    return sgc_stopped_by_self() || sgc_roots_snapshot(NULL, NULL);
}

bool sgc_roots_visible(uintptr_t address, struct sgc_mutator *self)
{
    bool closed, found;

    sgc_assert(self == sgc_mutator_self());
    if (self == NULL)
        return false;
    closed = sgc_gc_lock_enter(self);
    found = list_is_true() &&
            (in_static(address) || sgc_registry_any(is_on_stack, (const void *)address) || in_thread_local(address, self));
    sgc_gc_lock_leave(closed);
    return found;
}

static void dump_ranges(const char *what, const struct sgc_range *of, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (of[i].lo < of[i].hi)
            sgc_print("%s: %p to %p, %zu bytes", what, (void *)of[i].lo, (void *)of[i].hi,
                    of[i].hi - of[i].lo);
}

void sgc_roots_dump(void)
{
    sgc_assert(sgc_stopped_by_self());
    dump_ranges("static data", sgc_root_modules.range, (size_t)sgc_root_modules.ranges);
    dump_ranges("added roots", roots.added.of, roots.added.count);
    dump_ranges("excluded from roots", roots.excluded.of, roots.excluded.count);
}

void sgc_roots_check(void)
{
    sgc_ranges_list_check(&roots.added);
    sgc_ranges_check(&roots.excluded);
}
