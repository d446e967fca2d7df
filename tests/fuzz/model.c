/* SPDX-License-Identifier: MIT */
/* See tests/fuzz/model.h. */
#include "tests/fuzz/model.h"

#include <stdio.h>
#include <string.h>

struct handle handle[HANDLES];
struct link links[LINKS];
bool reached[HANDLES], kept[HANDLES], limited;
int disabled;

bool is_scanned(enum how how)
{
    return how != ATOMIC && how != ATOMIC_UNCOLLECTABLE && how != ATOMIC_OFF_PAGE && how != STRING && how != DEBUG_ATOMIC;
}

bool is_uncollectable(enum how how)
{
    return how == UNCOLLECTABLE || how == ATOMIC_UNCOLLECTABLE || how == DEBUG_UNCOLLECTABLE;
}

bool is_debug(enum how how)
{
    return how == DEBUG_PLAIN || how == DEBUG_ATOMIC || how == DEBUG_UNCOLLECTABLE;
}

bool is_disclaimed(enum how how)
{
    return how == DISCLAIMED || how == FINALIZED;
}

/* The first word of gcj's objects leads to their type. */
int first_word(enum how how)
{
    return how == GCJ || how == PROCEDURE ? 1 : 0;
}

bool has_edges(int h)
{
    return handle[h].how != STRING && handle[h].size >= (size_t)(first_word(handle[h].how) + EDGES) * sizeof(uintptr_t);
}

/* Of objects with a type the first and the third word are pointers. */
bool follows(int h, int edge)
{
    switch (handle[h].how) {
    case TYPED: case TYPED_ARRAY: case GCJ: return edge % 2 == 0;
    case PROCEDURE: return edge != 3;
    default: return is_scanned(handle[h].how);
    }
}

/* ---- what is reached ---- */

static int stack[HANDLES], depth;

static void reach(bool set[HANDLES], int h)
{
    if (h < 0 || set[h] || handle[h].hidden == 0)
        return;
    set[h] = true;
    stack[depth++] = h;
}

static void close_over(bool set[HANDLES])
{
    while (depth > 0) {
        int h = stack[--depth];

        for (int e = 0; e < EDGES; e++)
            if (follows(h, e))
                reach(set, handle[h].edge[e]);
    }
}

static bool is_root(const struct handle *h)
{
    return h->places != 0 || is_uncollectable(h->how) || (h->toggled && h->strong);
}

void model_reach(void)
{
    memset(reached, 0, sizeof reached);
    for (int h = 0; h < HANDLES; h++)
        if (handle[h].hidden != 0) {
            if (is_root(&handle[h]))
                reach(reached, h);
            if (handle[h].order != UNREGISTERED)
                reach(reached, handle[h].data);
        }
    close_over(reached);
    memcpy(kept, reached, sizeof kept);
    for (int h = 0; h < HANDLES; h++)
        if (handle[h].order != UNREGISTERED || handle[h].blamed || (handle[h].how == FINALIZED && handle[h].hidden != 0))
            reach(kept, h);
    close_over(kept);
}

/* Is h led to by one of those of which `leads` is true?  By itself counts if `by_itself`, but not at once if its finalizer says
 * so. */
static bool is_led_to(int h, bool (*leads)(int i), bool by_itself)
{
    static bool set[HANDLES];

    memset(set, 0, sizeof set);
    for (int i = 0; i < HANDLES; i++)
        for (int e = 0; e < EDGES; e++)
            if (handle[i].hidden != 0 && leads(i) && (i != h || by_itself) && follows(i, e) &&
                (i != h || handle[i].edge[e] != h || handle[h].order != IGNORE_SELF))
                reach(set, handle[i].edge[e]);
    close_over(set);
    return set[h];
}

static bool is_in_order(int i)
{
    return handle[i].order != UNREGISTERED && handle[i].order != NO_ORDER;
}

static bool asks_when_dead(int i)
{
    return handle[i].how == FINALIZED;
}

bool waits_for_others(int h)
{
    return is_led_to(h, is_in_order, handle[h].order != NO_ORDER) || held_by_dead(h);
}

bool held_by_dead(int h)
{
    return is_led_to(h, asks_when_dead, true);
}

/* ---- handles ---- */

int handle_at(const void *address)
{
    for (int h = 0; h < HANDLES; h++)
        if (handle[h].hidden == ~(uintptr_t)address)
            return h;
    return NONE;
}

int handle_of_base(const void *base)
{
    for (int h = 0; h < HANDLES; h++)
        if (handle[h].hidden != 0 && base_of(h) == base)
            return h;
    return NONE;
}

int used_handle(unsigned from)
{
    model_reach();
    for (unsigned i = 0; i < HANDLES; i++)
        if (reached[(from + i) % HANDLES])
            return (int)((from + i) % HANDLES);
    return NONE;
}

int free_handle(unsigned from)
{
    for (unsigned i = 0; i < HANDLES; i++)
        if (handle[(from + i) % HANDLES].hidden == 0)
            return (int)((from + i) % HANDLES);
    return NONE;
}

void forget(int h)
{
    clear_places(h);
    for (int i = 0; i < HANDLES; i++)
        for (int e = 0; e < EDGES; e++)
            if (handle[i].hidden != 0 && handle[i].edge[e] == h)
                handle[i].edge[e] = STALE;
    links_lose_target(h);
    links_lose_holder(h);
    handle[h] = (struct handle){ .hidden = 0 };
}

/* What lay there is gone, though nobody has looked yet. */
void forget_before(const void *base)
{
    int h = handle_of_base(base);

    if (h == NONE)
        return;
    model_reach();
    fuzz_expect(!kept[h], "a new object is object %d, which is alive", h);
    forget(h);
}

static void describe(int h)
{
    const struct handle *o = &handle[h];

    fprintf(stderr, "object %d at %p: kind %d, %zu bytes, edges %d %d %d %d, roots %#x", h, (void *)address_of(h), (int)o->how,
            o->size, o->edge[0], o->edge[1], o->edge[2], o->edge[3], o->places);
    if (o->order != UNREGISTERED)
        fprintf(stderr, ", finalizer %d with %d%s", (int)o->order, o->data, o->revives ? " revives" : "");
    if (o->toggled)
        fprintf(stderr, ", toggled, %s", o->strong ? "strong" : "weak");
    fprintf(stderr, "%s%s\n", reached[h] ? ", reached" : kept[h] ? ", kept" : "", o->queued ? ", perhaps queued" : "");
}

void fuzz_describe(void)
{
    model_reach();
    for (int h = 0; h < HANDLES; h++)
        if (handle[h].hidden != 0)
            describe(h);
    for (int i = 0; i < LINKS; i++)
        if (links[i].registered)
            fprintf(stderr, "%s link %d to object %d, in %d\n", links[i].is_long ? "long" : "short", i, links[i].target,
                    links[i].in);
}

size_t used_bytes(void)
{
    size_t bytes = 0;

    for (int h = 0; h < HANDLES; h++)
        bytes += handle[h].hidden != 0 ? handle[h].size : 0;
    return bytes;
}
