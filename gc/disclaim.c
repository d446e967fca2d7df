/* SPDX-License-Identifier: MIT */
/* Objects that are asked about before they are freed: gc/disclaim.h. */
#include "gc/disclaim.h"

#include "alloc/free.h"
#include "alloc/span.h"
#include "alloc/walk.h"
#include "gc/client_vars.h"
#include "gc/cycle.h"
#include "gc/finalize.h"
#include "mark/stack_memory.h"

enum {
    TAKEN = 1,                          /* bit of an entry */
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
    size_t count = (size_t)__builtin_popcountll(dead->bits);

    sgc_aw_or(dead->marks, dead->bits);
    marker->objects += count;
    marker->bytes += count * dead->bytes;
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

    all.count = all.next = 0;
    if (kinds == 0 || leaks_are_wanted())
        return;
    release_left();
    sgc_walk_dead(kinds, condemn, sgc_team_first(team));
    sgc_a32_store(&sgc_disclaim_due, all.count != 0);
}

/* ---- asking ---- */

/* The next object, which the caller's frame keeps from here on; 0: there is none. */
static uintptr_t take(struct sgc_mutator *self)
{
    uintptr_t object = TAKEN;

    sgc_section_enter(sgc_section_of(self));
    for (; (object & TAKEN) != 0 && all.next < all.count; all.next++)
        object = sgc_aw_swap(&all.object[all.next], sgc_aw_load(&all.object[all.next]) | TAKEN);
    if ((object & TAKEN) != 0) {
        sgc_a32_store(&sgc_disclaim_due, 0);
        object = 0;
    }
    sgc_section_leave(sgc_section_of(self));
    return object;
}

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

/* Unless the procedure did it itself: something else may lie there by now. */
static void free_object(struct sgc_mutator *self, uintptr_t object)
{
    struct sgc_object o;

    if (sgc_aw_swap(&all.asking, 0) != object || !sgc_object_find(object, &o) || o.start != object)
        return;
    if (sgc_finalization_used())
        sgc_finalization_forget(self, object);
    sgc_object_free(&self->cache, (void *)object);
}

static bool ask(struct sgc_mutator *self, uintptr_t object)
{
    uint32_t kind = sgc_heap.pages[sgc_page_number(object)].kind;
    sgc_disclaim_t proc = (sgc_disclaim_t)sgc_aw_load_acq(&all.of[kind]);
    int keep;

    sgc_aw_store(&all.asking, object);
    keep = proc != NULL ? proc((void *)object) : 0;
    if (keep == 0)
        free_object(self, object);
    else
        sgc_aw_store(&all.asking, 0);
    return keep == 0;
}

bool sgc_disclaim_run(struct sgc_mutator *self, size_t most, uintptr_t entry)
{
    uintptr_t now = sgc_stack_pointer(), object;
    bool freed = false;

    if (self == NULL || sgc_gate_mine() || sgc_a32_load(&sgc_disclaim_due) == 0 || !begin(self, now, entry))
        return false;
    for (; most > 0 && (object = take(self)) != 0; most--)
        freed |= ask(self, object);
    end(self);
    return freed;
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

void sgc_disclaim_forget(struct sgc_mutator *self, uintptr_t object, uint32_t kind)
{
    size_t place;

    if (sgc_aw_load(&all.asking) == object)
        sgc_aw_cas(&all.asking, object, 0);
    if ((sgc_a32_load_acq(&all.kinds) >> kind & 1) == 0)
        return;
    sgc_section_enter(sgc_section_of(self));
    place = place_of(object);
    if (place < all.count)
        sgc_aw_cas(&all.object[place], object, object | TAKEN);
    sgc_section_leave(sgc_section_of(self));
}
