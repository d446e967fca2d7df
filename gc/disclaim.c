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

static void keep_contents(const struct sgc_object *o, void *marker)
{
    if (!sgc_walk_marked(o))
        sgc_mark_contents(marker, o->start, o->bytes);
}

static bool enqueue(uintptr_t object)
{
    if (all.count == all.memory.committed * ENTRIES_A_PIECE && !sgc_stack_memory_grow(&all.memory))
        return false;
    sgc_aw_store(&all.object[all.count++], object);
    return true;
}

static void mark_only(struct sgc_marker *marker, const struct sgc_object *o)
{
    if (o->span)
        sgc_aw_or(sgc_span_word(o->page, sgc_mark_role()), sgc_arena_bit(o->page));
    else
        sgc_aw_or(sgc_mark_word(o->granule), sgc_bit_mask(o->granule));
    marker->objects++;
    marker->bytes += o->bytes;
}

/* One for which there is no room in the queue lives on, too. */
static void condemn(const struct sgc_object *o, void *marker)
{
    if (sgc_walk_marked(o))
        return;
    enqueue(o->start);
    mark_only(marker, o);
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
    sgc_walk_kinds(keepers, keep_contents, sgc_team_first(team));
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

static bool on_own_stack(const struct sgc_mutator *m, uintptr_t place)
{
    return place >= m->stack.low && place < m->stack.high;
}

/* It stands above the place from where it called the procedure.  A handler on an alternate stack tells what it interrupted;
 * of other stacks nothing can be told. */
static bool has_left(const struct sgc_mutator *m)
{
    uintptr_t stands = on_own_stack(m, m->sp) ? m->sp : m->interrupted;

    return on_own_stack(m, m->disclaiming) && on_own_stack(m, stands) && stands > m->disclaiming;
}

/* A thread that left a procedure by a jump, or ended without a word, may never be here again. */
static void release_left(void)
{
    uint32_t id = sgc_a32_load_acq(&all.busy);
    const struct sgc_mutator *m = id != 0 ? asker(id) : NULL;

    if (id != 0 && (m == NULL || m->gone || has_left(m)))
        sgc_a32_store_rel(&all.busy, 0);
}

void sgc_disclaim_mark(struct sgc_team *team)
{
    uint32_t kinds = sgc_a32_load_acq(&all.kinds);

    all.count = all.next = 0;
    if (kinds == 0 || leaks_are_wanted())
        return;
    release_left();
    sgc_walk_kinds(kinds, condemn, sgc_team_first(team));
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

/* Does the thread, which stands at `now`, run a procedure?  One that was left by a jump had its frame here or below. */
static bool inside(const struct sgc_mutator *self, uintptr_t now)
{
    bool at_home = now >= self->stack.low && now < self->stack.high;

    return self->disclaiming != 0 && !(at_home && now >= self->disclaiming);
}

static bool begin(struct sgc_mutator *self, uintptr_t now)
{
    uint32_t busy = sgc_a32_load_acq(&all.busy);

    if (busy == self->cache.id)
        return !inside(self, now);
    return busy == 0 && sgc_a32_cas(&all.busy, 0, self->cache.id);
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
    return keep == 0;
}

/* Not inlined, so that a call from within a procedure stands below the one that called that. */
__attribute__((noinline))
bool sgc_disclaim_run(struct sgc_mutator *self, size_t most)
{
    uintptr_t now = sgc_stack_pointer(), object;
    bool freed = false;

    if (self == NULL || sgc_gate_mine() || sgc_a32_load(&sgc_disclaim_due) == 0 || !begin(self, now))
        return false;
    self->disclaiming = now;
    for (; most > 0 && (object = take(self)) != 0; most--)
        freed |= ask(self, object);
    self->disclaiming = 0;
    sgc_a32_store_rel(&all.busy, 0);
    return freed;
}

void sgc_disclaim_thread_over(struct sgc_mutator *self)
{
    self->disclaiming = 0;
    if (sgc_a32_load(&all.busy) == self->cache.id)
        sgc_a32_store_rel(&all.busy, 0);
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
