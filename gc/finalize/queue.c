/* SPDX-License-Identifier: MIT */
/*
 * The queue of objects that wait for their finalizers, and running these.
 *
 * Anybody takes the first record by a compare-and-swap in a section.  Records come to the queue
 * only by the collecting thread: behind, with the world stopped, or, if the program wants to see
 * them first, in front with the world running.  A record that was taken can be registered for
 * another object at once, but comes here again only after a stop; a thread that has read it as the
 * first is in a section, and no stop ends before it has left that.  So a compare-and-swap that
 * succeeds has read the right successor.
 *
 * An object that the program frees while it waits leaves its record here, and its granule's bit in
 * the tree `freed`.  A thread that takes the record finds the bit, and calls nobody.  Each stop
 * takes such records out, and the bits away, before it puts others here, which may be of objects
 * that lie there by then.
 *
 *   what        written by                                         read by          ordering
 *   first       who takes: CAS; the collecting thread              everybody        acquire-release
 *   last        the GC lock's holder                               same             the GC lock.  Means something while
 *                                                                                   `first` is not 0
 *   news        the GC lock's holder: 1; who tells the program: 0     same             acquire-release RMW
 *   freed       the thread that frees: a bit; the collecting       who takes        the program's, which frees first;
 *               thread: 0                                                           stopping the world
 *   next        who has the record                                 also who has     relaxed; what was read too late is
 *                                                                  lost it          not used
 */
#include "gc/finalize/queue.h"

#include "gc/config/public_vars.h"
#include "gc/events/trace_buffer.h"
#include "gc/finalize/register.h"
#include "gc/threads/gc_lock.h"
#include "platform/faults.h"

enum { FREED_LOG = SGC_GRANULE_LOG + 6 };     /* a unit has the bits of 64 granules */

struct queue {
    sgc_aw_t first;
    struct sgc_node *last;
    sgc_a32_t news;
    struct sgc_tree freed;      /* since the last stop */
};

SGC_STATE static struct queue queue = { .freed = SGC_TREE_INIT(FREED_LOG) };
SGC_STATE sgc_a32_t sgc_finalizers_due, sgc_finalizers_at_once;

bool sgc_finalizers_waiting(void)
{
    return sgc_aw_load_acq(&queue.first) != 0;
}

bool sgc_finalizers_waiting_early(void)
{
    return (sgc_a32_load(&sgc_finalization.used) & SGC_USED_ALL) != 0 && sgc_finalizers_waiting();
}

size_t sgc_queue_length(void)
{
    size_t length = 0;
    const struct sgc_record *r = (const struct sgc_record *)sgc_aw_load(&queue.first);

    for (; r != NULL; r = (const struct sgc_record *)sgc_aw_load(&r->next))
        length++;
    return length;
}

/* ---- to the queue: the GC lock's holder ---- */

void sgc_queue_append(const struct sgc_node_chain *chain)
{
    sgc_assert(sgc_stopped_by_self() && sgc_aw_load(&chain->last->next) == 0);
    sgc_assert(sgc_record_ok((void *)chain->first) && sgc_record_ok((void *)chain->last));
    if (sgc_finalizers_waiting())
        sgc_aw_store(&queue.last->next, (uintptr_t)chain->first);
    else
        sgc_aw_store_rel(&queue.first, (uintptr_t)chain->first);
    queue.last = chain->last;
}

void sgc_queue_put_first(const struct sgc_node_chain *chain)
{
    sgc_assert(sgc_gc_lock_held());
    sgc_assert(sgc_record_ok((void *)chain->first) && sgc_record_ok((void *)chain->last));
    if (sgc_chain_push(&queue.first, chain) == 0)
        queue.last = chain->last;
}

void sgc_queue_announce(void)
{
    sgc_assert(sgc_gc_lock_held());
    if (!sgc_finalizers_waiting())
        return;
    sgc_a32_swap(&queue.news, 1);
    sgc_a32_swap(&sgc_finalizers_due, 1);
}

void sgc_queue_visit(void (*fn)(void *arg, uintptr_t address), void *arg)
{
    const struct sgc_record *r = (const struct sgc_record *)sgc_aw_load(&queue.first);

    sgc_assert(sgc_stopped_by_self());
    for (; r != NULL; r = (const struct sgc_record *)sgc_aw_load(&r->next)) {
        sgc_assert(sgc_record_ok(r));
        fn(arg, r->object);
        fn(arg, sgc_record_data(r));
    }
}

/* ---- objects that are freed while they wait ---- */

static uintptr_t freed_bit(uintptr_t object)
{
    return (uintptr_t)1 << (object >> SGC_GRANULE_LOG) % 64;
}

/* In a section, or with the world stopped. */
static bool is_freed(const struct sgc_record *r)
{
    sgc_assert(sgc_record_ok(r));
    return !sgc_tree_empty(&queue.freed) && (sgc_tree_value(&queue.freed, r->object) & freed_bit(r->object)) != 0;
}

/* Where the program sees objects before they are put here, none need wait yet.  Without memory for
 * the bit, the finalizer is called. */
void sgc_queue_object_freed(struct sgc_mutator *self, uintptr_t object)
{
    struct sgc_section *section = sgc_section_of(self);

    sgc_assert(sgc_mutator_mine(self) && sgc_registrable(object));
    if (!sgc_finalizers_waiting() && sgc_aw_load(&sgc_finalization.await) == 0)
        return;
    if (!sgc_nodes_reserve(&self->nodes, section) || !sgc_tree_reach(&queue.freed, object))
        return;
    sgc_section_enter(section);
    sgc_aw_or(sgc_tree_entry(&queue.freed, &self->nodes, object).unit, freed_bit(object));
    sgc_section_leave(section);
}

static void take_bits_away(void *arg, struct sgc_tree_chunk *block, uintptr_t address, sgc_aw_t *unit)
{
    (void)arg, (void)block, (void)address;
    sgc_aw_store(unit, 0);
}

void sgc_queue_drop_freed(void)
{
    static const struct sgc_tree_visit visit = { .tree = &queue.freed, .unit = take_bits_away, .prune = true };
    struct sgc_record *r = (struct sgc_record *)sgc_aw_load_acq(&queue.first), *next;
    struct sgc_node_chain others = { NULL, NULL };

    sgc_assert(sgc_stopped_by_self());
    if (sgc_tree_empty(&queue.freed))
        return;
    for (; r != NULL; r = next) {
        next = (struct sgc_record *)sgc_aw_load(&r->next);
        if (is_freed(r))
            sgc_node_share(SGC_NODE_RECORD, r);
        else
            sgc_chain_add(&others, r);
    }
    sgc_aw_store_rel(&queue.first, (uintptr_t)others.first);
    queue.last = others.last;
    sgc_tree_walk(&visit, NULL);
    sgc_assert(sgc_tree_empty(&queue.freed));
}

/* ---- from the queue: any mutator ---- */

/* In a section. */
static struct sgc_record *take_first(void)
{
    struct sgc_record *r;

    do
        r = (struct sgc_record *)sgc_aw_load_acq(&queue.first);
    while (r != NULL && !sgc_aw_cas(&queue.first, (uintptr_t)r, sgc_aw_load(&r->next)));
    sgc_assert(r == NULL || sgc_record_ok(r));
    if (r != NULL)
        __builtin_prefetch((const void *)sgc_aw_load(&r->next));
    return r;
}

/* Copies it, so that the record is free before the program's code runs; from here on the copy keeps
 * object and data.  Without a function: the object has been freed. */
static bool take(struct sgc_mutator *self, struct sgc_record *copy)
{
    struct sgc_record *r;

    sgc_assert(sgc_mutator_mine(self));
    sgc_section_enter(sgc_section_of(self));
    r = take_first();
    if (r != NULL) {
        copy->object = r->object;
        copy->fn = is_freed(r) ? NULL : r->fn;
        copy->data = r->data;
        sgc_node_give(&self->nodes, SGC_NODE_RECORD, r);
    }
    sgc_section_leave(sgc_section_of(self));
    return r != NULL;
}

/* May one more run, after so many in this call?  The program may change its mind meanwhile. */
static bool may_run(int count)
{
    uint32_t max = sgc_a32_load(&sgc_finalizers_at_once);

    return (max == 0 || (uint32_t)count < max) && sgc_finalizers_waiting();
}

/* `finalizing` stays the outermost finalizer's place: one that it has asked for may jump back to
 * it. */
int sgc_finalizers_run(struct sgc_mutator *self)
{
    uintptr_t outer = sgc_finalizer_running(self, sgc_stack_pointer()) ? self->finalizing : 0;
    struct sgc_record r = { .fn = NULL };
    uint64_t began = sgc_trace_begin();
    int count = 0;

    sgc_assert(sgc_mutator_mine(self) && !sgc_gc_lock_held());
    while (may_run(count) && take(self, &r)) {
        if (r.fn == NULL)
            continue;
        self->finalizing = outer != 0 ? outer : sgc_stack_pointer();
        r.fn((void *)r.object, r.data);
        if (sgc_fault_turn(SGC_FAULT_FINALIZED_TWICE, 8))
            r.fn((void *)r.object, r.data);
        self->finalizing = outer;
        count++;
    }
    if (count != 0)
        sgc_trace_end(SGC_TRACE_FINALIZED, began, (uint64_t)count);
    return count;
}

/* A finalizer that runs on a coroutine's stack, and gives way to the thread's own, which may be for
 * ever, keeps others waiting no longer: finalizers need not run one at a time. */
bool sgc_finalizer_running(struct sgc_mutator *self, uintptr_t entry)
{
    bool gave_way = sgc_mutator_at_home(self, entry) && !sgc_mutator_at_home(self, self->finalizing);

    sgc_assert(sgc_mutator_mine(self) && entry != 0);
    if (gave_way || sgc_mutator_left(self, self->finalizing, entry))
        self->finalizing = 0;
    return self->finalizing != 0;
}

/* Counts as a finalizer: a collection that the notifier makes is told of when it has returned, not
 * inside it. */
static void notify(struct sgc_mutator *self)
{
    void (*notifier)(void) = (void (*)(void))sgc_aw_load_acq(&sgc_client_finalizer_notifier);

    sgc_assert(self->finalizing == 0);
    if (sgc_a32_load(&queue.news) == 0 || sgc_a32_swap(&queue.news, 0) == 0 || notifier == NULL
        || !sgc_finalizers_waiting())
        return;
    self->finalizing = sgc_stack_pointer();
    notifier();
    self->finalizing = 0;
}

/* The hint is taken away at the end, since a finalizer may leave by longjmp; what came to the queue
 * before that is seen by the look afterwards. */
void sgc_finalizers_poll_slowly(struct sgc_mutator *self, uintptr_t entry)
{
    bool on_demand = sgc_a32_load(&sgc_client_finalize_on_demand) != 0;

    sgc_assert(self == sgc_mutator_self());
    if (self == NULL || sgc_gc_lock_held() || sgc_finalizer_running(self, entry))
        return;
    if (on_demand)
        notify(self);
    else
        sgc_finalizers_run(self);
    sgc_a32_swap(&sgc_finalizers_due, 0);
    if (on_demand ? sgc_a32_load(&queue.news) != 0 : sgc_finalizers_waiting())
        sgc_a32_store(&sgc_finalizers_due, 1);
}
