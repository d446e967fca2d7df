/* SPDX-License-Identifier: MIT */
/*
 * Roots: the ranges the client added, the modules' static data, stacks and thread-local variables.
 * Locks and threads: gc/roots/roots.h.
 */
#include "gc/roots/roots.h"

#include "gc/config/public_vars.h"
#include "gc/threads/gc_lock.h"
#include "gc/roots/ranges.h"
#include "gc/roots/stack_roots.h"
#include "mark/drain.h"
#include "mark/mark_roots.h"
#include "platform/lock.h"

struct roots {
    struct sgc_lock lock;
    struct sgc_ranges added, excluded;
    struct sgc_modules modules;
    bool no_modules;                /* GC_no_dls, as the list of modules has heard it */
    uintptr_t applied_filter;         /* likewise */
    unsigned long long looked_at;   /* the list of modules in which another collector was last looked for */
    bool told;                      /* of one */
    bool reported_no_memory;            /* for the list of modules */
    bool answers; /* does the system say, in this stop, what memory can be read?  False, too, if nobody needs that */
    sgc_aw_t filter;                /* sgc_roots_filter_t; any thread, release / acquire */
};

SGC_STATE static struct roots roots = { .lock = SGC_LOCK_INIT(SGC_RANK_ROOTS) };

/* ---- what the client says ---- */

typedef bool (*change_fn)(struct sgc_ranges *set, struct sgc_range range);

static bool change(struct sgc_ranges *set, uintptr_t lo, uintptr_t hi, change_fn fn,
                   struct sgc_section *self)
{
    bool done;

    sgc_assert(sgc_section_mine(self));
    if (lo >= hi) {
        if (lo > hi)
            sgc_warn("the root range from %p to %p ends before it begins; it is ignored. Pass the lower "
                     "address first", (void *)lo, (void *)hi);
        return false;
    }
    sgc_lock(&roots.lock, self);
    done = fn(set, (struct sgc_range){ lo, hi });
    sgc_unlock(&roots.lock, self);
    if (!done)
        sgc_warn("no memory for another root range (%p to %p); it is ignored. Add fewer and larger "
                 "ranges", (void *)lo, (void *)hi);
    return done;
}

bool sgc_roots_add(uintptr_t lo, uintptr_t hi, struct sgc_section *self)
{
    return change(&roots.added, lo, hi, sgc_ranges_list_add, self);
}

static bool drop_inside(struct sgc_ranges *list, struct sgc_range range)
{
    sgc_ranges_list_drop(list, range);
    return true;
}

bool sgc_roots_remove(uintptr_t lo, uintptr_t hi, struct sgc_section *self)
{
    return change(&roots.added, lo, hi, drop_inside, self);
}

bool sgc_roots_exclude(uintptr_t lo, uintptr_t hi, struct sgc_section *self)
{
    return change(&roots.excluded, lo, hi, sgc_ranges_add, self);
}

void sgc_roots_clear(struct sgc_section *self)
{
    sgc_assert(sgc_section_mine(self));
    sgc_lock(&roots.lock, self);
    sgc_ranges_clear(&roots.added);
    sgc_unlock(&roots.lock, self);
}

bool sgc_roots_contain(uintptr_t address)
{
    return sgc_ranges_list_contain(&roots.added, address);
}

void sgc_roots_clear_excluded(struct sgc_section *self)
{
    sgc_assert(sgc_section_mine(self));
    sgc_lock(&roots.lock, self);
    sgc_ranges_clear(&roots.excluded);
    sgc_unlock(&roots.lock, self);
}

void sgc_roots_set_filter(sgc_roots_filter_t filter)
{
    sgc_aw_store_rel(&roots.filter, (uintptr_t)filter);
}

/* ---- modules ---- */

/* The client's answers about modules count from the next list on, so a change of mind asks for one. */
static void hear_client(void)
{
    bool no_modules = sgc_a32_load(&sgc_client_no_dls) != 0;
    uintptr_t filter = sgc_aw_load_acq(&roots.filter);

    if (no_modules == roots.no_modules && filter == roots.applied_filter)
        return;
    roots.no_modules = no_modules;
    roots.applied_filter = filter;
    roots.modules.adds = 0;
}

/* The program itself has an empty name. */
static bool leave_out(const char *name, uintptr_t lo, size_t bytes)
{
    sgc_roots_filter_t filter = (sgc_roots_filter_t)roots.applied_filter;

    return roots.no_modules || (filter != NULL && !filter(name, (void *)lo, bytes));
}

static void *resized(void *old, size_t old_bytes, size_t bytes)
{
    void *fresh = sgc_mem_obtain(bytes);

    sgc_assert(bytes > old_bytes);
    if (fresh != NULL && old != NULL)
        sgc_mem_release(old, old_bytes);
    return fresh;
}

/* The contents are not kept: the list is made again anyway. */
static bool grow_modules(int more)
{
    struct sgc_modules *m = &roots.modules;
    size_t entry = sizeof *m->range + sizeof *m->tls;
    size_t old = sgc_round_up((size_t)m->range_capacity * entry, sgc_os_page_size());
    size_t bytes = sgc_round_up((size_t)(m->range_capacity + more + 64) * 2 * entry, sgc_os_page_size());
    char *memory = resized(m->range, old, bytes);

    sgc_assert(more > 0);
    if (memory == NULL)
        return false;
    m->range_capacity = m->tls_capacity = (int)(bytes / entry);
    m->range = (struct sgc_range *)(void *)memory;
    m->tls = (struct sgc_module_tls *)(void *)(m->range + m->range_capacity);
    sgc_assert(m->range_capacity > more);
    m->adds = 0;
    return true;
}

/* Said once, until there is memory again. */
static void report_no_memory(void)
{
    sgc_assert(roots.modules.overflow > 0);
    if (!roots.reported_no_memory)
        sgc_warn("no memory for the list of %d static data ranges of the loaded modules; no collection "
                 "is made. Free memory or raise the limit on it",
                 roots.modules.range_capacity + roots.modules.overflow);
    roots.reported_no_memory = true;
}

bool sgc_roots_snapshot(void (*stop)(void *arg), void *arg)
{
    sgc_assert(sgc_gc_lock_held());
    hear_client();
    while (!sgc_modules_snapshot(&roots.modules, leave_out, stop, arg))
        if (!grow_modules(roots.modules.overflow)) {
            report_no_memory();
            return false;
        }
    sgc_assert(roots.modules.ranges <= roots.modules.range_capacity && roots.modules.tlses <= roots.modules.tls_capacity);
    roots.reported_no_memory = false;
    return true;
}

void sgc_roots_look_for_other_collector(void)
{
    char path[256];

    if (roots.told || (roots.modules.adds != 0 && roots.modules.adds == roots.looked_at))
        return;
    roots.looked_at = roots.modules.adds;
    roots.told = sgc_modules_other_collector(path, sizeof path);
    if (roots.told)
        sgc_warn("another collector is in this process: %s. Neither knows the other's objects; have one only, by "
                 "sgc-run or by LD_LIBRARY_PATH with the folder of SGC's libgc.so.1", path);
}

/* ---- scanning, world stopped ---- */

/* Called for each range: scans it, or asks a question of it. */
struct visit {
    void (*fn)(void *arg, enum sgc_root_kind kind, const struct sgc_mutator *whose, struct sgc_range range);
    void *arg;
    bool copies;                    /* fn may be given a copy of memory that others may unmap; it does not keep the address */
};

/* Of at most an OS page. */
SGC_STATE static uintptr_t copied[4096 / sizeof(uintptr_t)];

static void scan(void *arg, enum sgc_root_kind kind, const struct sgc_mutator *whose, struct sgc_range range)
{
    (void)whose;
    if (range.lo == (uintptr_t)copied)
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
            visit->fn(visit->arg, kind, whose, (struct sgc_range){ range.lo, roots.excluded.of[i].lo });
        range.lo = roots.excluded.of[i].hi;
    }
    if (range.lo < range.hi)
        visit->fn(visit->arg, kind, whose, range);
}

static void visit_static(const struct visit *visit)
{
    for (int i = 0; i < roots.modules.ranges; i++)
        visit_range(visit, SGC_ROOT_STATIC, NULL, roots.modules.range[i]);
    for (size_t i = 0; i < roots.added.count; i++)
        visit_range(visit, SGC_ROOT_ADDED, NULL, roots.added.of[i]);
}

static bool inside_any(struct sgc_range r, const struct sgc_stack_part *part, int parts)
{
    for (int i = 0; i < parts; i++)
        if (r.lo >= part[i].range.lo && r.hi <= part[i].range.hi)
            return true;
    return false;
}

/* A range that ends nobody knows where, so that there may be memory of others in it, which they unmap when they like.  Its OS
 * pages are looked at one by one, those that can be read. */
static void visit_unsure(const struct visit *visit, enum sgc_root_kind kind, const struct sgc_mutator *m,
                         struct sgc_range range)
{
    uintptr_t next, at = sgc_round_up(range.lo, sizeof at), end = sgc_round_down(range.hi, sizeof end);

    for (; at < end; at = next) {
        next = sgc_round_down(at, sizeof copied) + sizeof copied;
        next = next < end ? next : end;
        sgc_assert(at < next && next - at <= sizeof copied);
        if (visit->copies && sgc_mem_copy(copied, at, next - at))
            visit->fn(visit->arg, kind, m, (struct sgc_range){ (uintptr_t)copied, (uintptr_t)copied + (next - at) });
        else if (!visit->copies && sgc_mem_readable(at))
            visit->fn(visit->arg, kind, m, (struct sgc_range){ at, next });
    }
}

static void visit_stack(const struct visit *visit, const struct sgc_mutator *m, const struct sgc_stack_part *part)
{
    if (part->unsure)
        visit_unsure(visit, SGC_ROOT_STACK, m, part->range);
    else
        visit->fn(visit->arg, SGC_ROOT_STACK, m, part->range);
}

/* The blocks that the thread's vector leads to; false if it lacks one. */
static bool visit_tls_blocks(const struct visit *visit, const struct sgc_mutator *m, const struct sgc_stack_part *part,
                             int parts)
{
    struct sgc_range block;
    bool complete = true;

    for (int i = 0; i < roots.modules.tlses; i++) {
        if (!sgc_tls_block(m->thread_pointer, roots.modules.tls[i], &block)) {
            complete = false;
            continue;
        }
        sgc_tls_learn(&roots.modules.tls[i], m->thread_pointer, m->stack, block);
        sgc_assert(block.lo <= block.hi);
        if (!inside_any(block, part, parts))
            visit_range(visit, SGC_ROOT_THREAD_LOCAL, m, block);
    }
    return complete;
}

/* Most of it lies within the stack's mapping, for all threads but the first.  A block that no vector leads to may lie below the
 * first thread's control block. */
static void visit_thread_local(const struct visit *visit, const struct sgc_mutator *m,
                               const struct sgc_stack_part *part, int parts)
{
    if (m->control.lo < m->control.hi)
        visit->fn(visit->arg, SGC_ROOT_THREAD_LOCAL, m, m->control);
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

void sgc_roots_visit(sgc_roots_visit_t fn, void *arg)
{
    sgc_assert(sgc_stopped_by_self());
    sgc_roots_unknown();
    visit_all(&(struct visit){ fn, arg, false });
}

void sgc_roots_mark(struct sgc_marker *marker, struct sgc_mutator *self)
{
    sgc_assert(sgc_stopped_by_self() && sgc_mutator_mine(self));
    visit_all(&(struct visit){ scan, marker, true });
    sgc_mark_uncollectable(marker);
    (void)self;
}

/* ---- questions ---- */

static bool in_static(uintptr_t address, struct sgc_section *self)
{
    bool found;

    sgc_assert(sgc_section_mine(self));
    sgc_lock(&roots.lock, self);
    found = sgc_roots_contain(address);
    for (int i = 0; i < roots.modules.ranges && !found; i++)
        found = address >= roots.modules.range[i].lo && address < roots.modules.range[i].hi;
    found = found && !sgc_ranges_contain(&roots.excluded, address);
    sgc_unlock(&roots.lock, self);
    return found;
}

static bool on_stack(uintptr_t address)
{
    struct sgc_registry_look look;
    bool found = false;

    sgc_registry_enter(&look);
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL && !found; m = m->next)
        found = !m->service && address >= m->stack.low && address < m->stack.high;
    sgc_registry_leave(&look);
    return found;
}

static bool in_thread_local(uintptr_t address, const struct sgc_mutator *self)
{
    struct sgc_range block;

    sgc_assert(sgc_mutator_mine(self));
    for (int i = 0; i < roots.modules.tlses; i++)
        if (sgc_tls_block(self->thread_pointer, roots.modules.tls[i], &block) && address >= block.lo &&
            address < block.hi)
            return true;
    return false;
}

/* The thread that has stopped the world has a list of that moment, and may not call the client's filter for another. */
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
            (in_static(address, sgc_section_of(self)) || on_stack(address) || in_thread_local(address, self));
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
    dump_ranges("static data", roots.modules.range, (size_t)roots.modules.ranges);
    dump_ranges("added roots", roots.added.of, roots.added.count);
    dump_ranges("excluded from roots", roots.excluded.of, roots.excluded.count);
}

void sgc_roots_check(void)
{
    sgc_ranges_list_check(&roots.added);
    sgc_ranges_check(&roots.excluded);
}

void sgc_roots_lock(struct sgc_section *self)
{
    sgc_assert(sgc_section_mine(self));
    sgc_lock(&roots.lock, self);
}

void sgc_roots_unlock(struct sgc_section *self)
{
    sgc_assert(sgc_section_mine(self));
    sgc_unlock(&roots.lock, self);
}

void sgc_roots_after_fork(void)
{
    sgc_lock_reset(&roots.lock);
}
