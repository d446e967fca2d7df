/* SPDX-License-Identifier: MIT */
/*
 * Serves page demands (tests/lib/page_trace.h) by the decisions of alloc/pages/page_rules.h, without a heap: pages are
 * numbers, a page's home is the owner that had it last.
 */
#ifndef TESTS_LIB_PAGE_REPLAY_H
#define TESTS_LIB_PAGE_REPLAY_H

#include "alloc/pages/page_rules.h"
#include "tests/lib/page_trace.h"

enum { REPLAY_PAGES = 1 << 16 };

struct replay {
    /* in */
    struct sgc_page_rule rule;
    bool exact;                             /* l is what was in use at most, known at once */
    uint32_t nodes;                         /* owner i runs on node i % nodes, and gets fresh pages there; 0: there is one */
    /* out */
    uint32_t consumed;                      /* pages ever taken fresh */
    uint32_t in_use, most_in_use;
    uint32_t most_of[TRACE_OWNERS];         /* u_i */
    uint32_t known_live;                    /* the last l */
    uint64_t taken, remote, refused;
    uint64_t path;                          /* a digest of all sources in order */
    /* inside */
    uint32_t held[TRACE_OWNERS], listed[TRACE_OWNERS], free;
    unsigned char home[REPLAY_PAGES];       /* of free pages, for PS; 0: in use */
};

static bool replay_near(const struct replay *r, uint32_t owner, uint32_t other)
{
    return r->nodes == 0 || owner % r->nodes == other % r->nodes;
}

/* Among the owners on the same node as this one, or those on others. */
static uint32_t replay_richest(const struct replay *r, uint32_t owner, bool near)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < TRACE_OWNERS; i++)
        if (replay_near(r, owner, i) == near && sgc_page_wealth(r->listed[i]) > sgc_page_wealth(r->listed[best]))
            best = i;
    return best;
}

/* The home of the free page with the lowest number; it is in use from now on. */
static uint32_t replay_lowest(struct replay *r)
{
    uint32_t page = 0, home;

    while (r->home[page] == 0)
        page++;
    home = r->home[page];
    r->home[page] = 0;
    return home;
}

/* Whose list has a page for the owner from this source: 0 none, the owner itself for a fresh one. */
static uint32_t replay_find(struct replay *r, enum sgc_page_source source, uint32_t owner)
{
    switch (source) {
    case SGC_SOURCE_OWN:
        return r->listed[owner] != 0 ? owner : 0;
    case SGC_SOURCE_OTHERS:
        return replay_richest(r, owner, true);
    case SGC_SOURCE_OTHERS_FAR:
        return replay_richest(r, owner, false);
    case SGC_SOURCE_ANY:
        return r->free != 0 ? replay_lowest(r) : 0;
    case SGC_SOURCE_FRESH:
        return r->consumed < REPLAY_PAGES ? owner : 0;
    default:
        return 0;
    }
}

static struct sgc_page_order replay_order(const struct replay *r)
{
    struct sgc_page_supply supply = {
        .consumed = r->consumed, .max_live = r->known_live, .near_and_far = r->nodes > 1,
    };

    if (r->exact)                           /* the page that is asked for counts */
        supply.max_live = r->in_use + 1 > r->most_in_use ? r->in_use + 1 : r->most_in_use;
    return sgc_page_order(&r->rule, &supply);
}

static void replay_account(struct replay *r, enum sgc_page_source source, uint32_t owner, uint32_t from)
{
    if (source == SGC_SOURCE_FRESH) {
        r->consumed++;
    } else {
        r->listed[from]--;
        r->free--;
    }
    r->remote += source != SGC_SOURCE_FRESH && from != owner;
    r->path = (r->path ^ (source * TRACE_OWNERS + from)) * UINT64_C(1099511628211);
    r->taken++;
    r->held[owner]++;
    r->in_use++;
    r->most_in_use = r->in_use > r->most_in_use ? r->in_use : r->most_in_use;
    r->most_of[owner] = r->held[owner] > r->most_of[owner] ? r->held[owner] : r->most_of[owner];
}

static void replay_take(struct replay *r, uint32_t owner)
{
    struct sgc_page_order order = replay_order(r);

    for (int i = 0; order.source[i] != SGC_SOURCE_NONE; i++) {
        uint32_t from = replay_find(r, order.source[i], owner);

        if (from != 0) {
            replay_account(r, order.source[i], owner, from);
            return;
        }
    }
    r->refused++;
}

/* Only PS asks which page it is; any number that is in use will do. */
static void replay_give(struct replay *r, uint32_t owner)
{
    if (r->rule.policy == SGC_POLICY_PS) {
        uint32_t page = (uint32_t)((r->path >> 32) % r->consumed);

        while (r->home[page] != 0)
            page = (page + 1) % r->consumed;
        r->home[page] = (unsigned char)owner;
    }
    r->listed[owner]++;
    r->free++;
    r->held[owner]--;
    r->in_use--;
}

/* The rule and `exact` must be set, the rest zero. */
TEST_UNUSED static void replay_run(struct replay *r, const struct trace *trace)
{
    for (size_t i = 0; i < trace->events; i++) {
        const struct trace_event *e = &trace->event[i];

        if (e->what == 'l')
            r->known_live = e->count;
        for (uint32_t n = 0; e->what == 't' && n < e->count; n++)
            replay_take(r, e->owner);
        for (uint32_t n = 0; e->what == 'g' && n < e->count; n++)
            replay_give(r, e->owner);
    }
}

#endif
