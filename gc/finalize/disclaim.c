/* SPDX-License-Identifier: MIT */
/* Objects that are asked about before they are freed: gc/finalize/disclaim.h. */
#include "gc/finalize/disclaim.h"

#include "alloc/free.h"
#include "alloc/large/span.h"
#include "alloc/walk.h"
#include "gc/config/public_vars.h"
#include "gc/threads/gc_lock.h"
#include "gc/finalize/finalize.h"
#include "gc/pacing/pacing.h"
#include "mark/mark_roots.h"
#include "mark/work/deque_memory.h"

enum {
    TAKEN = 1,                          /* bit of an entry: freed by the program */
    ENTRIES_A_PIECE = sizeof(struct sgc_work) / sizeof(uintptr_t),
};

#define MOST_PIECES ((size_t)1 << 26)

_Static_assert(SGC_KINDS <= 32, "a bit each");

struct disclaim {
    sgc_aw_t of[SGC_KINDS];             /* sgc_disclaim_t */
    sgc_a32_t kinds, keepers;           /* those that have a procedure, and those that keep what they point at: a bit each */
    struct sgc_stack_memory memory;     /* of the queue */
    sgc_aw_t *object;                   /* by address */
    size_t count, next;
    sgc_aw_t asking;                    /* the object that is asked about; 0: none, or it was freed */
    size_t freed;                       /* bytes that the last cycle counted as live */
    sgc_a32_t busy;                     /* number of the cache whose thread asks; 0: nobody does */
};

SGC_STATE static struct disclaim all;
SGC_STATE sgc_a32_t sgc_disclaim_due;

/* ---- procedures ---- */

static void set_bit(sgc_a32_t *bits, uint32_t kind, bool on)
{
    uint32_t others = sgc_a32_load(bits) & ~(1u << kind);

    sgc_a32_store_rel(bits, others | (uint32_t)on << kind);
}

bool sgc_disclaim_set(uint32_t kind, sgc_disclaim_t proc, bool from_all)
{
    if (all.object == NULL && !sgc_stack_memory_init(&all.memory, MOST_PIECES * sizeof(struct sgc_work), MOST_PIECES))
        return false;
    all.object = all.memory.base;
    sgc_aw_store_rel(&all.of[kind], (uintptr_t)proc);
    set_bit(&all.keepers, kind, proc != NULL && from_all);
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
    sgc_aw_store(&all.object[all.count++], object);
    return true;
}

/* Marks them, but not what they point at. */
static void mark_only(struct sgc_marker *marker, const struct sgc_dead *dead)
{
    sgc_aw_or(dead->marks, dead->bits);
    sgc_count_marked(marker, (size_t)__builtin_popcountll(dead->bits), dead->bytes, false);
}

/* Those for which there is no room in the queue live on, too. */
static void condemn(const struct sgc_dead *dead, void *marker)
{
    uintptr_t bits = dead->bits;

    for (; bits != 0 && enqueue(sgc_dead_object(dead, bits)); bits &= bits - 1)
        ;
    mark_only(marker, dead);
}

static bool leaks_are_wanted(void)
{
    return sgc_a32_load(&sgc_client_find_leak) != 0;
}

void sgc_disclaim_keep(struct sgc_team *team)
{
    uint32_t keepers = sgc_a32_load_acq(&all.keepers);

    if (keepers == 0 || leaks_are_wanted())
        return;
    sgc_walk_dead(keepers, keep_contents, sgc_team_first(team));
    sgc_team_look_through(team, NULL, true);
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

    return sgc_mutator_left_at(m, m->disclaiming, m->sp, alternate) ||
           sgc_mutator_left_at(m, m->disclaiming, m->interrupted, alternate);
}

/* The frame from which the procedure was called has the object's address; when nothing leads to that, the frame is gone, and
 * maybe its stack: a coroutine's that is never resumed. */
static bool nobody_asks(void)
{
    uintptr_t object = sgc_aw_load(&all.asking);
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

    all.count = all.next = all.freed = 0;
    if (kinds == 0 || leaks_are_wanted())
        return;
    release_left();
    sgc_walk_dead(kinds, condemn, sgc_team_first(team));
    sgc_a32_store(&sgc_disclaim_due, all.count != 0);
}

/* ---- asking ---- */

/* With `busy` the thread has left a procedure, or runs one. */
static bool runs_one(const struct sgc_mutator *self, uintptr_t entry)
{
    return sgc_a32_load_acq(&all.busy) == self->cache.id && !sgc_mutator_left(self, self->disclaiming, entry);
}

/* In a section, on a thread that runs no procedure and stands at `now`. */
static bool may_ask(struct sgc_mutator *self, uintptr_t now)
{
    uint32_t busy = sgc_a32_load_acq(&all.busy);

    if (busy != 0 && busy != self->cache.id)
        return false;
    self->disclaiming = now;
    return busy != 0 || sgc_a32_cas(&all.busy, 0, self->cache.id);
}

/* In a section, since a collection that came between would let in another. */
static bool begin(struct sgc_mutator *self, uintptr_t now, uintptr_t entry)
{
    bool may;

    if (runs_one(self, entry))
        return false;
    sgc_section_enter(sgc_section_of(self));
    may = may_ask(self, now);
    if (may)
        sgc_aw_store(&all.asking, 0);   /* what was asked about when a procedure was left */
    sgc_section_leave(sgc_section_of(self));
    return may;
}

/* A collection may have let in another. */
static void end(struct sgc_mutator *self)
{
    sgc_a32_cas(&all.busy, self->cache.id, 0);
}

/* What one call has freed. */
struct turn {
    uint32_t page;                      /* of ours, that was offered last */
    bool any;
};

/* The object that is asked about, and what is to become of it. */
struct asked {
    uintptr_t object;                   /* 0: none */
    bool dead;                          /* it is to be freed, unless the procedure did it itself */
    bool dropped;                       /* it was */
};

/* In a section: the place of the first that waits, or `count`; those before it are over. */
static size_t first_waiting(void)
{
    while (all.next < all.count && (sgc_aw_load(&all.object[all.next]) & TAKEN) != 0)
        all.next++;
    if (all.next == all.count)
        sgc_a32_store(&sgc_disclaim_due, 0);
    return all.next;
}

/* In a section: announces the next object, 0: none, in place of *last, which becomes what was announced until now.  The entry is
 * looked at once more after that, and who frees an object does these in the other order: one sees the other.  TAKEN: it was
 * freed meanwhile. */
static uintptr_t announce(bool more, uintptr_t *last)
{
    size_t place = more ? first_waiting() : all.count;
    uintptr_t next = place < all.count ? sgc_aw_load(&all.object[place]) & ~(uintptr_t)TAKEN : 0;

    *last = sgc_aw_swap_sc(&all.asking, next);
    if (next == 0)
        return 0;
    all.next = place + 1;
    sgc_seam();
    return (sgc_aw_load_sc(&all.object[place]) & TAKEN) == 0 ? next : TAKEN;
}

/* In a section, where no collection comes between: what is freed by the owner of its page, and waits for a sweep, does not count
 * as freed, but is taken off what the last cycle counted as live. */
static void count_freed(const struct sgc_mutator *self, uintptr_t object)
{
    const struct sgc_page *d = &sgc_heap.pages[sgc_page_number(object)];

    if (sgc_aw_load(&d->tag) == self->cache.tag && sgc_a32_load_acq(&all.busy) == self->cache.id)
        all.freed += (size_t)d->granules * SGC_GRANULE;
}

/* In a section: the last one is freed at once in the common case, where there are no finalizers to be forgotten first. */
static void drop(struct sgc_mutator *self, struct asked *last, bool stays)
{
    last->dead &= stays;
    last->dropped = last->dead && !sgc_finalization_used() && sgc_small_drop(&self->cache, last->object);
    if (last->dropped)
        count_freed(self, last->object);
}

/* From the object that was asked about to the next, which the caller's frame keeps from here on; 0: there is none, or somebody
 * else asks by now.  The last one is dead yet if nobody has freed it: something else may lie there by now. */
static uintptr_t pass_on(struct sgc_mutator *self, bool more, struct asked *last)
{
    uintptr_t next = 0, announced = TAKEN;

    sgc_section_enter(sgc_section_of(self));
    if (sgc_a32_load_acq(&all.busy) == self->cache.id)
        next = announce(more, &announced);
    drop(self, last, announced == last->object);
    while (next == TAKEN)
        next = announce(more, &announced);
    sgc_section_leave(sgc_section_of(self));
    return next;
}

static bool free_slowly(struct sgc_mutator *self, uintptr_t object)
{
    if (sgc_finalization_used())
        sgc_finalization_forget(self, object);
    if (sgc_object_free(&self->cache, (void *)object) != SGC_FREE_DONE)
        return false;
    sgc_section_enter(sgc_section_of(self));
    count_freed(self, object);
    sgc_section_leave(sgc_section_of(self));
    return true;
}

/* Objects of clients' kinds are not kept for reuse when they are freed: their page is to be looked through again.  Objects lie in
 * the queue page by page. */
static void offer(struct sgc_mutator *self, struct turn *turn, uintptr_t object)
{
    uint32_t page = sgc_page_number(object);

    turn->any = true;
    if (page == turn->page)
        return;
    sgc_free_offer(&self->cache, page);
    turn->page = page;
}

static bool is_dead(uintptr_t object)
{
    uint32_t kind = sgc_heap.pages[sgc_page_number(object)].kind;
    sgc_disclaim_t proc = (sgc_disclaim_t)sgc_aw_load_acq(&all.of[kind]);

    return proc == NULL || proc((void *)object) == 0;
}

static void ask_all(struct sgc_mutator *self, struct turn *turn, size_t most)
{
    struct asked last = { .object = 0 };

    do {
        uintptr_t next = pass_on(self, most-- > 0, &last);

        if (last.dropped || (last.dead && free_slowly(self, last.object)))
            offer(self, turn, last.object);
        last.object = next;
        last.dead = next != 0 && is_dead(next);
    } while (last.object != 0);
}

/* When nothing waits any more, all at once. */
static void settle(const struct sgc_mutator *self)
{
    if (sgc_a32_load_acq(&all.busy) != self->cache.id || sgc_a32_load(&sgc_disclaim_due) != 0)
        return;
    sgc_pacing_reclaimed(all.freed);
    all.freed = 0;
}

bool sgc_disclaim_run(struct sgc_mutator *self, size_t most, uintptr_t entry)
{
    uintptr_t now = sgc_stack_pointer();
    struct turn turn = { .page = SGC_NO_PAGE };

    if (self == NULL || sgc_gate_mine() || sgc_a32_load(&sgc_disclaim_due) == 0 || !begin(self, now, entry))
        return false;
    ask_all(self, &turn, most);
    sgc_section_enter(sgc_section_of(self));
    settle(self);
    sgc_section_leave(sgc_section_of(self));
    end(self);
    return turn.any;
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

        if ((sgc_aw_load(&all.object[middle]) & ~(uintptr_t)TAKEN) < object)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* So that nobody asks about it any more. */
static void take_out(struct sgc_mutator *self, uintptr_t object)
{
    size_t place;

    sgc_section_enter(sgc_section_of(self));
    place = place_of(object);
    if (place < all.count)
        sgc_aw_cas_sc(&all.object[place], object, object | TAKEN);
    sgc_section_leave(sgc_section_of(self));
}

/* What waits may be of a kind that has no procedure any more. */
void sgc_disclaim_forget(struct sgc_mutator *self, uintptr_t object, uint32_t kind)
{
    if ((sgc_a32_load_acq(&all.kinds) >> kind & 1) != 0 || sgc_a32_load(&sgc_disclaim_due) != 0)
        take_out(self, object);
    sgc_seam();
    if (sgc_aw_load_sc(&all.asking) == object)
        sgc_aw_cas(&all.asking, object, 0);
}
