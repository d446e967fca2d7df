/* SPDX-License-Identifier: MIT */
#include "tests/lib/world.h"

#define GC_THREADS 1
#define GC_NO_THREAD_REDIRECTS 1
#include <gc/gc.h>
#include <gc/gc_mark.h>
#include <gc/gc_typed.h>
#include <sgc.h>
#include <string.h>

#include "alloc/pages/kind.h"
#include "gc/events/events.h"
#include "platform/platform.h"
#include "tests/lib/random.h"
#include "tests/lib/tap.h"

enum { PAYLOAD = 24, LARGE = 100000, HANDS = 16, SECONDS = 20 };

struct world_node {
    struct world_node *next;
    uintptr_t id, not_id[PAYLOAD];
};

/* A node is there while it moves. */
static struct world_node *volatile hand[HANDS];
static _Thread_local struct world_node *volatile own_hand;

static uint32_t below(struct world *w, uint32_t n)
{
    return random_below(&w->random, n);
}

/* ---- stores ---- */

/* Into that object; each is reported in another way. */
static void put(struct world *w, struct world_node **to, struct world_node *n, const void *object)
{
    if (w->forgets) {
        *(struct world_node *volatile *)to = n;
    } else if (below(w, 4) != 0) {
        GC_PTR_STORE_AND_DIRTY(to, n);
    } else {
        *to = n;
        if (below(w, 2) != 0)
            GC_END_STUBBORN_CHANGE(object);
        else
            SGC_dirty(to, sizeof *to);
        GC_reachable_here(n);
    }
}

/* ---- nodes ---- */

static struct world_node *allocate(struct world *w)
{
    uint32_t sort = below(w, 64);

    if (sort == 0)
        return GC_malloc_uncollectable(sizeof(struct world_node));
    if (sort == 1)
        return GC_realloc(GC_malloc(40), sizeof(struct world_node));
    if (sort < 10)
        return GC_malloc_explicitly_typed(sizeof(struct world_node), w->typed);
    return GC_malloc(below(w, 128) == 0 ? LARGE : sizeof(struct world_node));
}

/* NULL: there is no memory. */
static struct world_node *make(struct world *w)
{
    struct world_node *n = allocate(w);

    if (n == NULL)
        return NULL;
    n->id = w->next_id++;
    for (int i = 0; i < PAYLOAD; i++)
        n->not_id[i] = ~n->id;
    return n;
}

static void drop(struct world *w, struct world_node *n)
{
    bool uncollectable = sgc_kind_uncollectable((uint32_t)GC_get_kind_and_size(n, NULL));

    if (uncollectable || below(w, 3) == 0)      /* the others become garbage */
        GC_free(n);
}

/* ---- lists ---- */

static uint32_t length(const struct world *w, uint32_t slot)
{
    uint32_t n = 0;

    while (w->id[slot][n] != 0)
        n++;
    return n;
}

/* As the i-th of so many. */
static void note(struct world *w, uint32_t slot, uint32_t i, uint32_t count, const struct world_node *n)
{
    memmove(&w->id[slot][i + 1], &w->id[slot][i], (count - i) * sizeof w->id[0][0]);
    memmove(&w->place[slot][i + 1], &w->place[slot][i], (count - i) * sizeof w->place[0][0]);
    w->id[slot][i] = n->id;
    w->place[slot][i] = ~(uintptr_t)n;
    w->id[slot][count + 1] = 0;
}

static void push(struct world *w, uint32_t slot, struct world_node *n)
{
    note(w, slot, 0, length(w, slot), n);
    put(w, &n->next, w->slot[slot], n);
    put(w, &w->slot[slot], n, w->slot);
}

static void append(struct world *w, uint32_t slot, struct world_node *n)
{
    uint32_t count = length(w, slot);
    struct world_node *last = w->slot[slot];

    if (count == 0) {
        push(w, slot, n);
        return;
    }
    note(w, slot, count, count, n);
    while (last->next != NULL)
        last = last->next;
    put(w, &last->next, n, last);
}

/* Clearing is not reported. */
static struct world_node *pop(struct world *w, uint32_t slot)
{
    struct world_node *n = w->slot[slot];

    put(w, &w->slot[slot], n->next, w->slot);
    n->next = NULL;
    memmove(&w->id[slot][0], &w->id[slot][1], WORLD_LENGTH * sizeof w->id[0][0]);
    memmove(&w->place[slot][0], &w->place[slot][1], WORLD_LENGTH * sizeof w->place[0][0]);
    return n;
}

/* The first of one list becomes the first or the last of another. */
static void move(struct world *w, uint32_t from, uint32_t to)
{
    struct world_node *n = pop(w, from);

    switch (below(w, 3)) {
    case 0: hand[w->number % HANDS] = n; n = NULL; n = hand[w->number % HANDS]; hand[w->number % HANDS] = NULL; break;
    case 1: own_hand = n; n = NULL; n = own_hand; own_hand = NULL; break;
    default: break;
    }
    (below(w, 2) == 0 ? push : append)(w, to, n);
}

static void add(struct world *w, uint32_t slot)
{
    struct world_node *n = make(w);

    if (n != NULL)
        push(w, slot, n);
}

static bool good(const struct world *w, uint32_t slot)
{
    const struct world_node *n = w->slot[slot];
    uint32_t i = 0;

    for (; w->id[slot][i] != 0; i++, n = n->next)
        if ((uintptr_t)n != ~w->place[slot][i] || n->id != w->id[slot][i] || n->not_id[0] != ~n->id ||
            n->not_id[PAYLOAD - 1] != ~n->id)
            return false;
    return n == NULL;
}

/* ---- worlds ---- */

struct world world_make(uint32_t slots, uint32_t number, bool forgets)
{
    static const GC_word first_word = 1;
    struct world w = { .slots = slots, .number = number, .forgets = forgets, .next_id = 1 };

    w.random = UINT64_C(88172645463325252) + number;
    w.typed = GC_make_descriptor(&first_word, 1);
    w.slot = GC_malloc(slots * sizeof *w.slot);
    w.id = sgc_mem_obtain(slots * sizeof *w.id);
    w.place = sgc_mem_obtain(slots * sizeof *w.place);
    if (w.slot == NULL || w.id == NULL || w.place == NULL)
        tap_bail("no memory for objects that move about");
    for (uint32_t slot = 0; slot < slots; slot++)
        for (int i = 0; i < 2; i++)
            add(&w, slot);
    return w;
}

bool world_change(struct world *w)
{
    uint32_t a = below(w, w->slots), b = below(w, w->slots), count = length(w, a);

    if (!good(w, a) || !good(w, b))
        return false;
    switch (below(w, 4)) {
    case 0:
        if (count < WORLD_LENGTH)
            add(w, a);
        break;
    case 1:
        if (count > 2)
            drop(w, pop(w, a));
        break;
    default:
        if (count != 0 && a != b && length(w, b) < WORLD_LENGTH)
            move(w, a, b);
    }
    return true;
}

void world_change_often(struct world *w, int times)
{
    while (times-- > 0)
        world_change(w);
}

bool world_right(const struct world *w)
{
    for (uint32_t slot = 0; slot < w->slots; slot++)
        if (!good(w, slot))
            return false;
    return true;
}

void world_write_all(const struct world *w)
{
    for (uint32_t slot = 0; slot < w->slots; slot++)
        for (struct world_node *n = w->slot[slot]; n != NULL; n = n->next)
            *(volatile uintptr_t *)&n->not_id[PAYLOAD - 1] = ~n->id;
}

/* ---- cycles ---- */

struct world_cycles world_cycles;

static void at_end(TEST_UNUSED void *unused, const struct sgc_cycle_record *r)
{
    sgc_a32_add(&world_cycles.all, 1);
    sgc_a32_add(&world_cycles.wrong, !sgc_cycle_check(r));
    if (r->concurrent.earlier_stops == 0)
        return;
    sgc_a32_add(&world_cycles.concurrent, 1);
    if (r->concurrent.earlier_stops > sgc_a32_load(&world_cycles.stops_max))
        sgc_a32_store(&world_cycles.stops_max, (uint32_t)r->concurrent.earlier_stops);
}

void world_count_cycles(void)
{
    static const struct sgc_listener listener = { .cycle_end = at_end };

    sgc_listener_add(&listener);
}

uint64_t world_patience(void)
{
    return sgc_clock_ns() + (uint64_t)SECONDS * 1000000000;
}

bool world_waits_for(uint32_t concurrent, uint64_t until)
{
    return sgc_a32_load(&world_cycles.concurrent) < concurrent && sgc_clock_ns() < until;
}
