/* SPDX-License-Identifier: MIT */
/* Objects that are asked about before they are freed: gc/finalize/disclaim.h. */
#include "gc/finalize/disclaim.h"

#include "alloc/free.h"
#include "alloc/whole_heap.h"
#include "gc/config/public_vars.h"
#include "gc/threads/gc_lock.h"
#include "gc/finalize/register.h"
#include "gc/pacing/pacing.h"
#include "mark/mark_roots.h"
#include "mark/work/deque_memory.h"

enum {
    TAKEN = 1,                          /* bit of an entry: the program has freed the object */
    ENTRIES_A_PIECE = sizeof(struct sgc_work) / sizeof(uintptr_t),
};

#define MAX_ENTRIES ((size_t)1 << 26)

_Static_assert(SGC_KINDS <= 32, "a bit each");

struct disclaim {
    sgc_aw_t of[SGC_KINDS];             /* sgc_disclaim_t */
    sgc_a32_t kinds, mark_from_kinds;   /* those that have a procedure, and those that keep what
                                         * they point at: a bit each */
    struct sgc_stack_memory memory;     /* of the queue */
    uintptr_t *object;                  /* by address */
    size_t count, next;
    uintptr_t asking;                   /* the object that is asked about; 0: none, or the program
                                         * has freed it */
    size_t freed;                       /* bytes that the last cycle counted as live */
    sgc_a32_t busy;                     /* number of the cache whose thread asks; 0: nobody does */
};

SGC_STATE static struct disclaim all;
SGC_STATE sgc_a32_t sgc_disclaim_due;

__attribute__((unused)) static bool queue_ok(void)
{
    return all.next <= all.count && all.count <= all.memory.committed * ENTRIES_A_PIECE;
}

/* ---- procedures ---- */

static void set_bit(sgc_a32_t *bits, uint32_t kind, bool on)
{
    uint32_t others = sgc_a32_load(bits) & ~(1u << kind);

    sgc_a32_store_rel(bits, others | (uint32_t)on << kind);
}

bool sgc_disclaim_used(void)
{
    return sgc_a32_load_acq(&all.kinds) != 0;
}

bool sgc_disclaim_asks(uint32_t kind)
{
    sgc_assert(kind < SGC_KINDS);
    return sgc_a32_load_acq(&all.kinds) >> kind & 1;
}

bool sgc_disclaim_lets_go(uint32_t kind)
{
    sgc_assert(kind < SGC_KINDS);
    return (sgc_a32_load_acq(&all.kinds) & ~sgc_a32_load(&all.mark_from_kinds)) >> kind & 1;
}

bool sgc_disclaim_set(uint32_t kind, sgc_disclaim_t proc, bool from_all)
{
    if (all.object == NULL && !sgc_stack_memory_init(&all.memory, MAX_ENTRIES * sizeof(struct sgc_work), MAX_ENTRIES))
        return false;
    all.object = all.memory.base;
    sgc_aw_store_rel(&all.of[kind], (uintptr_t)proc);
    set_bit(&all.mark_from_kinds, kind, proc != NULL && from_all);
    set_bit(&all.kinds, kind, proc != NULL);
    return true;
}

/* ---- finding dead objects: world stopped ---- */

static void keep_contents(const struct sgc_dead *dead, void *marker)
{
    for (uintptr_t bits = dead->bits; bits != 0; bits &= bits - 1)
        sgc_mark_contents(marker, sgc_dead_object(dead, bits), dead->bytes);
}

static bool enqueue(uintptr_t object)
{
    if (all.count == all.memory.committed * ENTRIES_A_PIECE && !sgc_stack_memory_grow(&all.memory))
        return false;
    all.object[all.count++] = object;
    return true;
}

/* Marks them, but not what they point at. */
static void mark_only(struct sgc_marker *marker, const struct sgc_dead *dead)
{
    sgc_aw_or(dead->marks, dead->bits);
    sgc_count_marked(marker, (size_t)__builtin_popcountll(dead->bits), dead->bytes, false);
}

/* Those for which there is no room in the queue live on, too. */
static void enqueue_dead(const struct sgc_dead *dead, void *marker)
{
    uintptr_t bits = dead->bits;

    for (; bits != 0 && enqueue(sgc_dead_object(dead, bits)); bits &= bits - 1)
        ;
    mark_only(marker, dead);
}

void sgc_disclaim_keep(struct sgc_team *team)
{
    uint32_t mark_from_kinds = sgc_a32_load_acq(&all.mark_from_kinds);

    if (mark_from_kinds == 0 || sgc_finding_leaks())
        return;
    sgc_walk_dead(mark_from_kinds, keep_contents, sgc_team_first(team));
    sgc_team_round(team, NULL, true);
    sgc_team_rescan(team, NULL);
}

static const struct sgc_mutator *asker(uint32_t id)
{
    const struct sgc_mutator *m = sgc_registry.first;

    while (m != NULL && m->cache.id != id)
        m = m->next;
    return m;
}

/* A handler on an alternate stack tells what it interrupted. */
static bool has_left(const struct sgc_mutator *m)
{
    const struct sgc_stack_bounds *alternate = m->altstack.low != 0 ? &m->altstack : NULL;

    return sgc_mutator_frame_left(m, m->disclaiming, m->sp, alternate) ||
           sgc_mutator_frame_left(m, m->disclaiming, m->interrupted, alternate);
}

/* The frame from which the procedure was called has the object's address; when nothing leads to
 * that, the frame is gone, and maybe its stack: a coroutine's that is never resumed. */
static bool nobody_asks(void)
{
    uintptr_t object = all.asking;
    struct sgc_object o;

    return object != 0 && sgc_object_find(object, &o) && o.start == object && !sgc_walk_marked(&o);
}

/* A thread that left a procedure by a jump, or ended without a word, may never be here again. */
static void release_left(void)
{
    uint32_t id = sgc_a32_load_acq(&all.busy);
    const struct sgc_mutator *m = id != 0 ? asker(id) : NULL;

    if (id != 0 && (m == NULL || m->gone || has_left(m) || nobody_asks()))
        sgc_a32_store_rel(&all.busy, 0);
}

void sgc_disclaim_mark(struct sgc_team *team)
{
    uint32_t kinds = sgc_a32_load_acq(&all.kinds);

    sgc_assert(queue_ok());
    all.count = all.next = all.freed = 0;
    if (kinds == 0 || sgc_finding_leaks())
        return;
    release_left();
    sgc_walk_dead(kinds, enqueue_dead, sgc_team_first(team));
    sgc_a32_store(&sgc_disclaim_due, all.count != 0 || all.asking != 0);
}

/* ---- the GC lock ---- */

static void close_gate(struct sgc_mutator *self, struct sgc_gc_lock_hold *hold)
{
    if (!sgc_gc_lock_try(self, hold))
        sgc_gc_lock_acquire_for(self, hold);
}

/* ---- asking ---- */

/* With `busy` the thread has left a procedure, or runs one. */
bool sgc_disclaim_running(const struct sgc_mutator *self, uintptr_t entry)
{
    return sgc_a32_load_acq(&all.busy) == self->cache.id && !sgc_mutator_left(self, self->disclaiming, entry);
}

/* GC lock held: the thread, which runs no procedure and stands at `now`, is the one that asks from
 * here on. */
static bool begin(struct sgc_mutator *self, uintptr_t now)
{
    if (sgc_a32_load_acq(&all.busy) != self->cache.id && !sgc_a32_cas(&all.busy, 0, self->cache.id))
        return false;
    self->disclaiming = now;
    all.asking = 0;                     /* what was asked about when a procedure was left */
    return true;
}

static void end(struct sgc_mutator *self)
{
    sgc_a32_cas(&all.busy, self->cache.id, 0);
}

/* GC lock held: the next object, which is asked about from here on; 0: none waits. */
static uintptr_t take_next(void)
{
    uintptr_t object;

    sgc_assert(queue_ok());
    while (all.next < all.count && (all.object[all.next] & TAKEN) != 0)
        all.next++;
    object = all.next < all.count ? all.object[all.next++] : 0;
    sgc_test_point();                         /* a thread that frees the object without the GC lock
                                               * would be met here */
    all.asking = object;
    return object;
}

static bool is_dead(uintptr_t object)
{
    uint32_t kind = sgc_heap.pages[sgc_page_number(object)].kind;
    sgc_disclaim_t proc = (sgc_disclaim_t)sgc_aw_load_acq(&all.of[kind]);

    return proc == NULL || proc((void *)object) == 0;
}

/* GC lock held.  An object whose page belongs to the calling thread waits for a sweep when it is
 * freed, and does not count as freed: its bytes are taken off those that the last cycle counted as
 * live. */
static void count_freed(const struct sgc_mutator *self, const struct sgc_object *o)
{
    if (sgc_aw_load(&sgc_heap.pages[o->page].tag) == self->cache.tag)
        all.freed += o->bytes;
}

/* GC lock held.  Objects of clients' kinds are not kept for reuse when they are freed, so their
 * page is to be looked through again: once for each page, since objects lie in the queue page by
 * page. */
static void drop(struct sgc_mutator *self, uintptr_t object, uint32_t *offered)
{
    struct sgc_object o;

    if (sgc_finalization_used())
        sgc_finalization_forget(self, object);
    if (!sgc_object_slot(object, &o) || sgc_free_found(&self->cache, &o) != SGC_FREE_DONE)
        return;
    count_freed(self, &o);
    if (o.page != *offered)
        sgc_free_reuse_page(&self->cache, o.page);
    *offered = o.page;
}

/* GC lock held, but for the call of each procedure.  Whether the thread still asks, since a
 * collection may have let in another, and whether the object is still the one that was there, is
 * only known when the GC lock is held again. */
static void ask(struct sgc_mutator *self, struct sgc_gc_lock_hold *hold, size_t max, uint32_t *offered)
{
    uintptr_t object;

    while (max-- > 0 && (object = take_next()) != 0) {
        bool dead;

        sgc_gc_lock_release_for(hold);
        dead = is_dead(object);
        close_gate(self, hold);
        if (sgc_a32_load_acq(&all.busy) != self->cache.id)
            return;
        if (dead && all.asking == object)
            drop(self, object, offered);
    }
    all.asking = 0;
}

/* GC lock held: when nothing waits any more, all at once. */
static void settle(const struct sgc_mutator *self)
{
    if (sgc_a32_load_acq(&all.busy) != self->cache.id || all.next < all.count)
        return;
    sgc_a32_store(&sgc_disclaim_due, 0);
    sgc_pacing_reclaimed(all.freed);
    all.freed = 0;
}

bool sgc_disclaim_run(struct sgc_mutator *self, size_t max, uintptr_t entry)
{
    uintptr_t now = sgc_stack_pointer();
    struct sgc_gc_lock_hold hold;
    uint32_t offered = SGC_NO_PAGE;

    if (self == NULL || sgc_gc_lock_held() || sgc_a32_load(&sgc_disclaim_due) == 0 || sgc_disclaim_running(self, entry))
        return false;
    close_gate(self, &hold);
    if (begin(self, now)) {
        ask(self, &hold, max, &offered);
        settle(self);
        end(self);
    }
    sgc_gc_lock_release_for(&hold);
    return offered != SGC_NO_PAGE;
}

void sgc_disclaim_thread_over(struct sgc_mutator *self)
{
    end(self);
}

void sgc_disclaim_after_fork(struct sgc_mutator *self)
{
    if (self == NULL || sgc_a32_load(&all.busy) != self->cache.id)
        sgc_a32_store(&all.busy, 0);
}

/* ---- freeing ---- */

/* The place of the first entry that is not below the address. */
static size_t place_of(uintptr_t object)
{
    size_t low = 0, high = all.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if ((all.object[middle] & ~(uintptr_t)TAKEN) < object)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* GC lock held: nobody is asked about the object any more, nor frees it who is just being asked. */
static void take_out(uintptr_t object)
{
    size_t place = place_of(object);

    sgc_assert(queue_ok());
    if (place < all.count && all.object[place] == object)
        all.object[place] = object | TAKEN;
    if (all.asking == object)
        all.asking = 0;
}

/* Looks into the queue for objects of any kind: one that waits may be of a kind that has no
 * procedure any more. */
void sgc_disclaim_forget(struct sgc_mutator *self, uintptr_t object, uint32_t kind)
{
    struct sgc_gc_lock_hold hold;

    sgc_assert(kind < SGC_KINDS);
    if ((sgc_a32_load_acq(&all.kinds) >> kind & 1) == 0 && sgc_a32_load(&sgc_disclaim_due) == 0)
        return;
    if (sgc_gc_lock_held()) {
        take_out(object);
        return;
    }
    close_gate(self, &hold);
    take_out(object);
    sgc_gc_lock_release_for(&hold);
}
