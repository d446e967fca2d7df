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
 *   what        written by                                         read by          ordering
 *   first       who takes: CAS; the collecting thread              everybody        acquire-release
 *   last        the GC lock's holder                               same             the GC lock.  Means something while
 *                                                                                   `first` is not 0
 *   news        the GC lock's holder: 1; who tells the program: 0     same             acquire-release RMW
 *   next        who has the record                                 also who has     relaxed; what was read too late is
 *                                                                  lost it          not used
 */
#include "gc/finalize/queue.h"

#include "gc/config/public_vars.h"
#include "gc/finalize/register.h"
#include "gc/threads/gc_lock.h"

struct queue {
    sgc_aw_t first;
    struct sgc_node *last;
    sgc_a32_t news;
};

SGC_STATE static struct queue queue;
SGC_STATE sgc_a32_t sgc_finalizers_due;

bool sgc_finalizers_waiting(void)
{
    return sgc_aw_load_acq(&queue.first) != 0;
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
        fn(arg, (uintptr_t)r->data);
    }
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
 * object and data. */
static bool take(struct sgc_mutator *self, struct sgc_record *copy)
{
    struct sgc_record *r;

    sgc_assert(sgc_mutator_mine(self));
    sgc_section_enter(sgc_section_of(self));
    r = take_first();
    if (r != NULL) {
        copy->object = r->object;
        copy->fn = r->fn;
        copy->data = r->data;
        sgc_node_give(&self->nodes, SGC_NODE_RECORD, r);
    }
    sgc_section_leave(sgc_section_of(self));
    return r != NULL;
}

/* `finalizing` stays the outermost finalizer's place: one that it has asked for may jump back to
 * it. */
int sgc_finalizers_run(struct sgc_mutator *self)
{
    uintptr_t outer = sgc_finalizer_running(self, sgc_stack_pointer()) ? self->finalizing : 0;
    struct sgc_record r;
    int count = 0;

    sgc_assert(sgc_mutator_mine(self) && !sgc_gc_lock_held());
    while (sgc_finalizers_waiting() && take(self, &r)) {
        self->finalizing = outer != 0 ? outer : sgc_stack_pointer();
        r.fn((void *)r.object, r.data);
        self->finalizing = outer;
        count++;
    }
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
