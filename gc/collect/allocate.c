/* SPDX-License-Identifier: MIT */
/*
 * The slow path of allocation.  On the allocating mutator, outside sections.
 */
#include "gc/collect/allocate.h"

#include "alloc/small/orphan.h"
#include "alloc/new_objects.h"
#include "alloc/small/claim_short.h"
#include "alloc/small/sampling.h"
#include "alloc/small/small.h"
#include "alloc/pages/pool.h"
#include "alloc/large/span.h"
#include "gc/collect/start.h"
#include "gc/collect/client_hooks.h"
#include "gc/collect/concurrent.h"
#include "gc/collect/collect.h"
#include "gc/collect/external_stop.h"
#include "gc/config/public_vars.h"
#include "gc/finalize/disclaim.h"
#include "gc/finalize/queue.h"
#include "gc/pacing/costs.h"
#include "gc/pacing/counts.h"
#include "gc/pacing/heap_size.h"
#include "gc/profile/profile.h"
#include "gc/threads/world.h"
#include "gc/collect/start_state.h"
#include "gc/config/options.h"
#include "gc/pacing/pacing.h"
#include "gc/collect/torture.h"
#include "gc/collect/lead.h"

SGC_STATE struct sgc_allocate_settings sgc_allocate_settings;

enum {
    OVERTAKEN_MAX = 64,        /* times that other threads may take what a collection has freed for
                                  one */
};

/* Before a collection that was given up for a signal is tried once more: any thread may be the one
 * that is to take it. */
static const uint64_t SIGNAL_NS = 20000000;

/* An allocation request, worked out once. */
struct request {
    size_t bytes;               /* end byte included */
    uint32_t kind;
    size_t align;
    uint32_t cls;               /* small objects */
    bool small;
    bool many;                  /* as many as a page has, in a list */
    bool owed;                  /* it has come to a slot that is a sample: a collection may take that
                                   away, and not the sample */
    uintptr_t entry;            /* where the client's frames begin, or some of ours above, */
    uintptr_t from;             /* and what a collection is to look at, with the client's
                                   registers */
};

/* Of a batch each object has exactly so many bytes.  False if there can be none so large. */
static bool make_request(struct request *r, size_t bytes, uint32_t kind, size_t align)
{
    bool many = align == 0;

    sgc_assert(kind < sgc_kind_count() && (!many || bytes <= SGC_SMALL_MAX));
    *r = (struct request){ .bytes = bytes + (many ? 0 : sgc_heap.config.end_byte), .kind = kind,
                           .align = many ? SGC_GRANULE : align, .many = many };
    if (r->bytes == 0)
        r->bytes = 1;
    if (bytes > PTRDIFF_MAX - SGC_PAGE)
        return false;
    r->small = sgc_class_find(r->bytes, r->align, &r->cls);
    return true;
}

static void *find_room(struct sgc_mutator *self, const struct request *r)
{
    sgc_assert(!r->small || r->cls < sgc_size_classes.count);
    if (r->many)
        return sgc_small_many(&self->cache, r->kind, r->cls, UINT32_MAX);
    if (r->small)
        return sgc_small_refill(&self->cache, r->kind, r->cls);
    return sgc_span_alloc(sgc_section_of(self), r->bytes, r->kind, r->align);
}

static bool span_is_sample(struct sgc_cache *cache, const void *object)
{
    bool meets;

    sgc_section_enter(&cache->section);
    meets = cache->sampling.rate != 0 && sgc_sampling_meets(cache, sgc_span_bytes(sgc_page_number((uintptr_t)object)));
    sgc_section_leave(&cache->section);
    return meets;
}

/* With samples: notes the one that the claim has handed out. */
__attribute__((noinline))
static void *with_sample(struct sgc_mutator *self, const struct request *r, void *object)
{
    void *sample = sgc_sampling_end(&self->cache);

    if (object != NULL && (r->small ? r->owed && sample == NULL : span_is_sample(&self->cache, object)))
        sample = object;
    if (object != NULL && sample != NULL)
        sgc_profile_take(self, sample, r->entry);
    sgc_profile_poll(self);
    return object;
}

static inline void *try_heap(struct sgc_mutator *self, const struct request *r)
{
    void *object = find_room(self, r);

    return __builtin_expect(self->cache.sampling.rate == 0, 1) ? object : with_sample(self, r, object);
}

/* No object is in our hands when we collect, and our frames say nothing about the client's. */
static enum sgc_collect_result collect(struct sgc_mutator *self, enum sgc_reason reason, int (*stop)(void), uintptr_t from)
{
    enum sgc_collect_result result = sgc_collect_from(self, reason, stop, from);

    sgc_assert(sgc_mutator_mine(self) && from != 0);
    sgc_stack_clear_deep();
    return result;
}

static void collect_if_due(struct sgc_mutator *self, const struct request *r)
{
    enum sgc_due due;

    sgc_section_of(self)->leaves = false;       /* it has gone on since */
    if (sgc_turn_offered()) {
        sgc_turn_take(self, r->from);
        sgc_stack_clear_deep();
    }
    due = r->small && sgc_sampling_polls_early(&self->cache) ? SGC_DUE_NOT
          : sgc_pacing_poll(self, r->small || r->bytes >= SGC_PACE_NEVER ? 0 : r->bytes);
    if (sgc_a32_load(&sgc_allocate_settings.manual) != 0)
        return;
    if (sgc_torture_due(self))
        sgc_collect_under_torture(self, r->from);
    else if (due != SGC_DUE_NOT)
        sgc_collect_as_due(self, due, sgc_allocate_stop(), r->from);
}

/* After a cycle that left plenty of room, a request that fails only means that other threads were
 * faster. */
static bool others_were_faster(size_t bytes)
{
    size_t pages = sgc_aw_load(&sgc_pool.limit);
    size_t live = sgc_counts_live();
    size_t limit = pages < SIZE_MAX / SGC_PAGE ? pages * SGC_PAGE : 0;

    sgc_assert(bytes != 0);
    return live < limit / 4 * 3 && bytes < (limit - live) / 4;
}

static bool try_again(size_t round, size_t bytes)
{
    return round <= sgc_aw_load(&sgc_client_max_retries) || (round < OVERTAKEN_MAX && others_were_faster(bytes));
}

static bool free_waiting(struct sgc_mutator *self, uintptr_t entry)
{
    bool freed = sgc_disclaim_run(self, SIZE_MAX, entry);

    sgc_assert(sgc_mutator_mine(self) && entry != 0);
    if (freed)
        sgc_pacing_limit_paid();
    return freed;
}

/* With the world stopped, has all threads leave their slots of the class, and their pages of it
 * with room, to everybody: memory has run out only when no page of any thread has room.  False:
 * there is nothing to leave, or the world could not be stopped. */
static bool take_from_others(struct sgc_mutator *self, const struct request *r)
{
    if (!r->small || !sgc_leave_others_have(&self->cache, r->kind, r->cls) || !sgc_external_stop(self))
        return false;
    sgc_leave_class(r->kind, r->cls, sgc_section_of(self));
    sgc_external_resume(self);
    return true;
}

/* The number of the last cycle that may have begun before a request failed, before which `seen` had
 * finished.  One that the program ran beside may have marked what has died since. */
static uint64_t last_begun(uint64_t seen)
{
    uint64_t marking = sgc_concurrent_marks() ? 1 : 0;

    return sgc_concurrent_enabled() ? sgc_cycles_finished() + marking : seen;
}

static void let_signal_come(void *unused)
{
    (void)unused;
    sgc_sleep_ns(SIGNAL_NS);
}

/* A signal that is to end the program, but is handled or left pending, costs one try. */
static bool collect_for_memory(struct sgc_mutator *self, const struct request *r)
{
    enum sgc_collect_result result = collect(self, SGC_REASON_LIMIT, NULL, r->from);

    if (result == SGC_COLLECT_INTERRUPTED) {
        sgc_world_sleep(self, let_signal_come, NULL);
        result = collect(self, SGC_REASON_LIMIT, NULL, r->from);
    }
    return result == SGC_COLLECTED;
}

/* Memory has run out: collections may help, unless the last ones did not.  A try is a cycle that
 * has begun since the request failed, so after `begun` cycles.  If another thread has made one, the
 * request is tried again first: one more so soon would free nothing, and count as useless.  A cycle
 * that had begun before is finished, and is no try.  Nothing is refused before those have been
 * asked that only wait to be freed; what is freed so may lie in pages of threads that have ended,
 * and it is the next cycle that finds these empty. */
static void *collect_and_try(struct sgc_mutator *self, const struct request *r, uint64_t begun)
{
    void *object = NULL;
    bool freed = false, last = false;

    for (size_t tries = 0; object == NULL && !last && (freed || try_again(tries, r->bytes));) {
        if (sgc_cycles_finished() <= begun)
            last = !sgc_pacing_limit_pays() || !collect_for_memory(self, r);
        freed = free_waiting(self, r->entry) && tries < OVERTAKEN_MAX;
        last = last && !freed;
        if (sgc_cycles_finished() > begun) {
            tries++;
            begun = last_begun(sgc_cycles_finished());
        }
        object = try_heap(self, r);
    }
    if (object == NULL && take_from_others(self, r))
        object = try_heap(self, r);
    while (object == NULL && sgc_group_limit_gives_way(r->bytes))
        object = try_heap(self, r);
    return object;
}

/* Does the calling thread allocate while it is being registered, or while it starts the collector?
 * Then it gets nothing: a function of the C library asks on its behalf, which can do without. */
static bool is_unborn(void)
{
    return sgc_mutator_registering() || sgc_init_mine();
}

void *sgc_out_of_memory(size_t bytes)
{
    sgc_oom_t hook = (sgc_oom_t)sgc_aw_load_acq(&sgc_client_oom_fn);

    if (is_unborn())
        return NULL;
    return hook != NULL ? hook(bytes) : sgc_oom_default(bytes);
}

/* The calling thread, if it may allocate. */
static struct sgc_mutator *allocator_self(void)
{
    struct sgc_mutator *self = sgc_mutator_self();

    if (self == NULL)
        self = sgc_mutator_adopt();
    return self != NULL && !sgc_init_ended() ? self : NULL;
}

/* Only who has taken memory, or was refused some, looks at its size: the words are shared. */
static void note_growth(struct sgc_mutator *self, const struct request *r, bool refused)
{
    sgc_assert(sgc_mutator_mine(self));
    if (r->small && !self->cache.page_taken && !refused)
        return;
    self->cache.page_taken = false;
    sgc_heap_watch(self);
}

/* Objects that wait for their disclaim procedures are asked about first: a look for a page with
 * free slots before that would find all of them full, and take new ones. */
static void *allocate_or_collect(struct sgc_mutator *self, const struct request *r)
{
    uint64_t seen;
    void *object;

    sgc_assert(sgc_mutator_mine(self) && r->entry != 0 && r->from != 0);
    collect_if_due(self, r);
    sgc_disclaim_poll(self, r->entry);
    seen = sgc_cycles_finished();
    object = try_heap(self, r);
    if (object == NULL)
        object = collect_and_try(self, r, last_begun(seen));
    note_growth(self, r, object == NULL);
    return object;
}

/* The arguments and the result of a call that is made with the client's registers stored. */
struct call {
    size_t bytes;
    uint32_t kind;
    size_t align;               /* 0: as many as a page has */
    uintptr_t entry;
    void *object;
};

/* With the world stopped, in the hook that pushes roots: small objects can be had all the same, one
 * at a time.  Requests for large ones, and those of other callbacks, are reported where a section
 * is entered. */
static void *allocate_in_hook(struct sgc_mutator *self, const struct request *r)
{
    sgc_assert(sgc_stopped_by_self() && r->small);
    sgc_section_restore(sgc_section_of(self));
    return sgc_stopped_claim(&self->cache, r->kind, r->cls);
}

/* The client's frames, and those of ours that hold what it has passed, are above `sp`, with their
 * registers. */
static void with_client_frames(void *arg, uintptr_t sp)
{
    struct call *c = arg;
    struct sgc_mutator *self = allocator_self();
    struct request r;

    if (self == NULL || !make_request(&r, c->bytes, c->kind, c->align))
        return;
    if (r.small && sgc_called_by_hook(self)) {
        c->object = allocate_in_hook(self, &r);
        return;
    }
    sgc_gc_lock_recover(self, c->entry);
    r.entry = c->entry;
    r.from = sp;
    r.owed = r.small && sgc_sampling_waits(&self->cache, &self->cache.bin[r.kind][r.cls]);
    c->object = allocate_or_collect(self, &r);
    sgc_finalizers_poll(self, c->entry);
}

/* Not inlined, nor are the others like it: whoever calls them clears their frames. */
__attribute__((noinline))
static void *slow_or_null(size_t bytes, uint32_t kind, size_t align, uintptr_t entry)
{
    struct call c = { bytes, kind, align, entry, NULL };

    sgc_with_registers(with_client_frames, &c);
    return c.object;
}

__attribute__((noinline))
static void *slow(size_t bytes, uint32_t kind, size_t align, uintptr_t entry)
{
    void *object = slow_or_null(bytes, kind, align, entry);

    return object != NULL ? object : sgc_out_of_memory(bytes);
}

void *sgc_allocate_slow_or_null(size_t bytes, uint32_t kind, size_t align)
{
    return sgc_stack_clear_more(slow_or_null(bytes, kind, align, sgc_callers_stack_pointer()));
}

void *sgc_allocate_slow(size_t bytes, uint32_t kind, size_t align)
{
    return sgc_stack_clear_more(slow(bytes, kind, align, sgc_callers_stack_pointer()));
}

/* Is it too early to look whether a collection is due?  Never when each allocation is to look. */
__attribute__((always_inline))
static inline bool below_batch(const struct sgc_cache *cache)
{
    return cache->claim_bytes != 0 && sgc_pacing_below_batch(cache);
}

__attribute__((noinline))
static void *long_run(size_t bytes, uint32_t kind, struct sgc_cache *cache)
{
    sgc_brief_end(&cache->section);
    if (cache->section.held != 0 || !below_batch(cache))
        return NULL;
    return sgc_small_claim(cache, kind, sgc_fast_bins[bytes] / (uint32_t)sizeof(struct sgc_bin));
}

__attribute__((noinline))
static void *long_run_or_slow(size_t bytes, uint32_t kind, struct sgc_cache *cache, uintptr_t entry)
{
    void *object = long_run(bytes, kind, cache);

    return object != NULL ? object : sgc_stack_clear_more(slow(bytes, kind, SGC_GRANULE, entry));
}

/* Jumped to. */
__attribute__((noinline))
static void *fast_miss(size_t bytes, uint32_t kind, struct sgc_cache *cache)
{
    return sgc_stack_clear_little(long_run_or_slow(bytes, kind, cache, sgc_callers_stack_pointer()));
}

/* A full section that was left is repaired first. */
static inline bool may_claim_short(const struct sgc_cache *cache, const struct sgc_bin *bin)
{
    return cache->section.sp == 0 && sgc_bin_used_up(bin) && below_batch(cache);
}

static inline uint64_t starts_for(size_t bytes)
{
    return sgc_size_classes.of[sgc_fast_bins[bytes] / (uint32_t)sizeof(struct sgc_bin)].starts;
}

/* The arguments that are needed later are kept in memory: registers for them would have the
 * compiler save the client's, and leave the client's values on the stack.  There is no frame to be
 * cleared. */
__attribute__((always_inline))
static inline void *short_run_or(size_t bytes, uint32_t kind, struct sgc_cache *cache, struct sgc_bin *bin,
                                 void *(*otherwise)(size_t, uint32_t, struct sgc_cache *))
{
    volatile size_t asked_bytes = bytes;
    volatile uint32_t asked_kind = kind;
    struct sgc_cache *volatile own = cache;
    char *object;

    if (!sgc_brief_go_on(&cache->section) || !may_claim_short(cache, bin) ||
        !sgc_claim_short(bin, starts_for(bytes), &asked_kind, &object))
        return otherwise(asked_bytes, asked_kind, own);
    cache = own;
    if (sgc_brief_leave_at_last(&cache->section))
        return sgc_brief_leave_slowly(&cache->section, object);
    return object;
}

void *sgc_allocate_missed(size_t bytes, uint32_t kind, struct sgc_cache *cache, struct sgc_bin *bin)
{
    return short_run_or(bytes, kind, cache, bin, fast_miss);
}

/* In pages with live objects runs are short: who took the slow way for each would do so for every
 * few objects. */
static void *try_or_claim(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    return below_batch(cache) ? sgc_small_claim(cache, kind, cls) : sgc_small_try(cache, kind, cls);
}

__attribute__((noinline))
static void *or_null_slow(size_t bytes, uint32_t kind)
{
    struct sgc_cache *cache = sgc_self;
    size_t granules = sgc_request_granules(bytes);
    void *object = NULL;

    if (cache != NULL && cache->section.held == 0 && granules != 0)
        object = try_or_claim(cache, kind, sgc_class_for(granules));
    return object != NULL ? sgc_stack_clear_little(object) : sgc_allocate_slow_or_null(bytes, kind, SGC_GRANULE);
}

/* Jumped to, like the next. */
__attribute__((noinline))
static void *or_null_miss(size_t bytes, uint32_t kind, struct sgc_cache *cache)
{
    sgc_brief_end(&cache->section);
    return or_null_slow(bytes, kind);
}

__attribute__((noinline))
static void *or_null_short_run(size_t bytes, uint32_t kind, struct sgc_cache *cache, struct sgc_bin *bin)
{
    return short_run_or(bytes, kind, cache, bin, or_null_miss);
}

/* The common path once more, for kinds of any number: without a frame, see
 * doc/design/fast-path.md. */
void *sgc_allocate_or_null(size_t bytes, uint32_t kind)
{
    struct sgc_cache *cache = sgc_fast_cache;
    struct sgc_bin *bin;
    void *object;

    if (bytes > SGC_FAST_MAX)
        return or_null_slow(bytes, kind);
    bin = sgc_fast_bin(cache, bytes, kind);
    sgc_brief_enter(&cache->section);
    if (sgc_bin_has_freed(bin) || !sgc_bin_has_run(bin))
        return or_null_short_run(bytes, kind, cache, bin);
    object = sgc_bin_bump(bin);
    if (sgc_brief_leave(&cache->section))
        return sgc_brief_leave_slowly(&cache->section, object);
    return object;
}

/* Without an end byte of its own: the caller adds one where it is wanted. */
void *sgc_allocate_many(size_t bytes, uint32_t kind)
{
    if (bytes > SGC_SMALL_MAX)
        return sgc_allocate_slow_or_null(bytes, kind, SGC_GRANULE);
    return sgc_stack_clear_more(slow_or_null(bytes, kind, 0, sgc_callers_stack_pointer()));
}
