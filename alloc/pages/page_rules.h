/* SPDX-License-Identifier: MIT */
/*
 * The decisions of the page policies, and nothing else: pure arithmetic, so that the heap, the
 * replay of recorded demands (tests/unit/alloc/pages/test_page_rules_bounds.c) and a simulator take
 * the same ones.
 *
 * A policy is two answers: does a thread's own free page come first, and may the heap expand
 * although other threads have free pages ([Endo] 2.2.4).  Everything else follows:
 * doc/design/page-policy.md.
 */
#ifndef SGC_ALLOC_PAGES_PAGE_RULES_H
#define SGC_ALLOC_PAGES_PAGE_RULES_H

#include <stdbool.h>
#include <stdint.h>

enum sgc_page_policy {
    SGC_POLICY_PS,              /* page shared: the free pages are everybody's, whoever had them */
    SGC_POLICY_AL,              /* all local: nobody takes another thread's page */
    SGC_POLICY_LPS,             /* locality-aware: own pages first, then local while that costs at
                                   most k times what PS does */
};

enum { SGC_K_ONE = 256 };      /* k is in such parts */

/* Fixed before the heap is used.  All zero is PS. */
struct sgc_page_rule {
    enum sgc_page_policy policy;
    uint32_t k;                 /* LPS: allowable consumption ratio, times SGC_K_ONE */
};

/* Where a page may come from.  A page that is free and has contents is on the list of the thread
 * that had it last, or nobody's. */
enum sgc_page_source {
    SGC_SOURCE_NONE,
    SGC_SOURCE_OWN,             /* the asking thread's list */
    SGC_SOURCE_NOBODYS,         /* has contents and is on no list */
    SGC_SOURCE_ANY,             /* whatever has contents, lowest address first */
    SGC_SOURCE_OTHERS,          /* the list of the thread that has (about) the most */
    SGC_SOURCE_FRESH,           /* without contents: the heap expands */
    SGC_SOURCE_NOBODYS_FAR,     /* the same three where the pages' home is not the asking thread's
                                   node */
    SGC_SOURCE_OTHERS_FAR,
    SGC_SOURCE_FRESH_FAR,
    SGC_SOURCES
};

/* The figures on which a decision depends, in pages. */
struct sgc_page_supply {
    uint64_t consumed;          /* in use by threads, or free and with contents */
    uint64_t max_live;         /* l: the most that were live at one time, as far as is known */
    bool near_and_far;          /* pages have homes on several memory nodes: otherwise all are
                                   near */
};

/* Sources in the order in which they are asked, SGC_SOURCE_NONE at the end. */
struct sgc_page_order {
    unsigned char source[8];
};

/* Automatic k: locality is paid for with memory where there is any to gain, that is with more than
 * one memory node (doc/design/page-policy.md has what was measured).  The number of threads need
 * not be looked at: LPS(k) never takes more than AL, whatever k is, and with one thread they are
 * all the same. */
static inline uint32_t sgc_lps_auto_k(uint32_t memory_nodes)
{
    return memory_nodes > 1 ? 2 * SGC_K_ONE : SGC_K_ONE;
}

/* May a thread that has no free page of its own take a fresh one although others have free
 * pages? */
static inline bool sgc_heap_expansion_allowed(const struct sgc_page_rule *rule,
                                              const struct sgc_page_supply *supply)
{
    if (rule->policy == SGC_POLICY_LPS)
        return supply->consumed * SGC_K_ONE < rule->k * supply->max_live;
    return rule->policy == SGC_POLICY_AL;
}

/* The orders of the policies that tell threads apart, by whether there are near and far pages, and
 * whether the heap may expand.  Near pages come before far ones, and far pages that cost no memory
 * before fresh ones, except where the heap may expand: the policy decides on that, whatever the
 * nodes are.  The last sources are for the case that those before them have nothing: nobody is
 * refused a page while there is a free one, or while the heap can expand. */
static const struct sgc_page_order sgc_page_orders[2][2] = {
    { { { SGC_SOURCE_OWN, SGC_SOURCE_NOBODYS, SGC_SOURCE_OTHERS, SGC_SOURCE_FRESH } },
      { { SGC_SOURCE_OWN, SGC_SOURCE_NOBODYS, SGC_SOURCE_FRESH, SGC_SOURCE_OTHERS } } },
    { { { SGC_SOURCE_OWN, SGC_SOURCE_NOBODYS, SGC_SOURCE_OTHERS, SGC_SOURCE_NOBODYS_FAR, SGC_SOURCE_OTHERS_FAR,
          SGC_SOURCE_FRESH, SGC_SOURCE_FRESH_FAR } },
      { { SGC_SOURCE_OWN, SGC_SOURCE_NOBODYS, SGC_SOURCE_FRESH, SGC_SOURCE_OTHERS, SGC_SOURCE_NOBODYS_FAR,
          SGC_SOURCE_OTHERS_FAR, SGC_SOURCE_FRESH_FAR } } },
};
static const struct sgc_page_order sgc_page_order_shared = { { SGC_SOURCE_ANY, SGC_SOURCE_FRESH, SGC_SOURCE_FRESH_FAR } };

static inline struct sgc_page_order sgc_page_order(const struct sgc_page_rule *rule,
                                                   const struct sgc_page_supply *supply)
{
    if (rule->policy == SGC_POLICY_PS)
        return sgc_page_order_shared;
    return sgc_page_orders[supply->near_and_far][sgc_heap_expansion_allowed(rule, supply)];
}

/* The threads with the most free pages are found by the length of this number, so "the most" is
 * meant within a factor of two: the richest of many threads is then found without looking at
 * each. */
static inline uint32_t sgc_page_wealth(uint32_t pages)
{
    return pages == 0 ? 0 : 32 - (uint32_t)__builtin_clz(pages);
}

#endif
