/* SPDX-License-Identifier: MIT */
/* See gc/events/trace_buffer.h, which says which thread writes what. */
#include "gc/events/trace_buffer.h"

#include <string.h>

#include "platform/report.h"

enum {
    SLOTS = 16384,                  /* events between two times that they are taken */
    TRIES = 8,                      /* slots that a thread tries */
};

enum { FREE, FILLING, FULL };

struct slot {
    _Alignas(SGC_CACHE_LINE) sgc_a32_t state;
    struct sgc_trace_entry entry;
};

struct buffer {
    sgc_a32_t next;                 /* entries begun: of this one, and after it, a slot is tried */
    sgc_a32_t dropped;              /* of them, those that found none */
    uint32_t taken;                 /* and those that were taken */
    uint32_t seen;                  /* of these and those before it nothing is outstanding */
    uint32_t reported;              /* of `dropped` */
    struct slot slot[SLOTS];
};

SGC_STATE sgc_a32_t sgc_trace_on;
SGC_STATE struct sgc_trace_parts sgc_trace_parts;
SGC_STATE static sgc_aw_t memory;

bool sgc_trace_buffer_open(void)
{
    if (sgc_aw_load(&memory) == 0)
        sgc_aw_store_rel(&memory, (uintptr_t)sgc_mem_obtain_wiped(sizeof(struct buffer)));
    return sgc_aw_load(&memory) != 0;
}

/* ---- putting ---- */

static bool fill(struct slot *slot, const struct sgc_trace_entry *entry)
{
    if (sgc_a32_load(&slot->state) != FREE || !sgc_a32_cas(&slot->state, FREE, FILLING))
        return false;
    slot->entry = *entry;
    sgc_a32_store_rel(&slot->state, FULL);
    return true;
}

void sgc_trace_put(const struct sgc_trace_entry *entry)
{
    struct buffer *b = (struct buffer *)sgc_aw_load_acq(&memory);
    uint32_t first;
    bool done = false;

    sgc_assert(entry->what < SGC_TRACE_WHATS && entry->from_ns <= entry->to_ns);
    if (b == NULL || !sgc_trace_wanted() || entry->tid <= 0)
        return;
    first = sgc_a32_add(&b->next, 1);
    for (uint32_t i = 0; i < TRIES && !done; i++)
        done = fill(&b->slot[(first + i) % SLOTS], entry);
    if (!done)
        sgc_a32_add(&b->dropped, 1);
}

void sgc_trace_span(enum sgc_trace_what what, uint64_t from_ns, uint64_t to_ns, uint64_t arg)
{
    struct sgc_trace_entry entry = { .what = what, .from_ns = from_ns, .to_ns = to_ns, .arg = { arg } };

    if (from_ns == 0 || !sgc_trace_wanted())
        return;
    entry.tid = sgc_thread_id();
    sgc_trace_put(&entry);
}

void sgc_trace_name(void)
{
    struct sgc_trace_entry entry = { .what = SGC_TRACE_NAMED };
    char name[SGC_THREAD_NAME];

    if (!sgc_trace_wanted())
        return;
    sgc_thread_name(name);
    _Static_assert(sizeof name <= sizeof entry.arg, "a name fits");
    memcpy(entry.arg, name, sizeof name);
    entry.tid = sgc_thread_id();
    entry.from_ns = entry.to_ns = sgc_clock_ns();
    sgc_trace_put(&entry);
}

void sgc_trace_part(uint32_t phase, bool first, uint64_t from_ns, uint64_t to_ns)
{
    struct sgc_trace_parts *p = &sgc_trace_parts;

    sgc_assert(from_ns <= to_ns);
    if (first)
        p->count = 0;
    if (p->count < SGC_TRACE_PARTS)
        p->of[p->count++] = (struct sgc_trace_part){ phase, from_ns, to_ns };
    else
        p->of[SGC_TRACE_PARTS - 1].to_ns = to_ns;
}

/* ---- taking ---- */

static void take_one(struct buffer *b, struct slot *slot, void (*visit)(void *arg, const struct sgc_trace_entry *entry),
                     void *arg)
{
    struct sgc_trace_entry entry;

    if (sgc_a32_load_acq(&slot->state) != FULL)
        return;
    entry = slot->entry;
    sgc_a32_store_rel(&slot->state, FREE);
    b->taken++;
    visit(arg, &entry);
}

/* An entry that was begun and is not there yet belongs to a thread that is in the middle of it: its
 * slot is visited again. */
uint32_t sgc_trace_take(void (*visit)(void *arg, const struct sgc_trace_entry *entry), void *arg)
{
    struct buffer *b = (struct buffer *)sgc_aw_load_acq(&memory);
    uint32_t end, dropped;

    if (b == NULL)
        return 0;
    end = sgc_a32_load_acq(&b->next) + TRIES;
    if (end - b->seen > SLOTS)
        b->seen = end - SLOTS;
    for (uint32_t i = b->seen; i != end; i++)
        take_one(b, &b->slot[i % SLOTS], visit, arg);
    dropped = sgc_a32_load(&b->dropped);
    end = sgc_a32_load_acq(&b->next);
    if (b->taken + dropped == end)
        b->seen = end;
    dropped -= b->reported;
    b->reported += dropped;
    return dropped;
}
