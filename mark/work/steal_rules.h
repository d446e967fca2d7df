/* SPDX-License-Identifier: MIT */
/*
 * How much work is passed on, and when, and from which marker it is stolen: the decisions of
 * mark/work/deque.c and mark/team/team.c as functions of numbers only, so that a simulator decides
 * as the collector does.
 *
 * A watermark divides a mark stack.  Pieces below it are public (oldest first), pieces above it
 * private.  The oldest pieces are the ones to give away: near the root of what is being marked,
 * each leads to much.
 */
#ifndef SGC_MARK_WORK_STEAL_RULES_H
#define SGC_MARK_WORK_STEAL_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The share of a public part that a thief takes. */
enum sgc_steal { SGC_STEAL_HALF, SGC_STEAL_ONE };

enum {
    SGC_SHARE_MIN = 2,        /* private pieces, fewer are not shared: one is what the owner does
                                 next */
    SGC_PUBLIC_MAX = 4095,     /* what the shared word has room for */
    SGC_BATCH_MAX = 64,        /* 1 KB: copied in less time than a marker needs for a few pieces */
    SGC_SLIDE_MIN = 4096,     /* stolen places, fewer are not worth a thought: 64 KB */
};

/* ---- how much ---- */

/* The public part has run dry: how many of the private pieces become public.  Half, as in [Endo]
 * 3.3, where the watermark goes to the centre of the stack: a thief finds several, and the owner is
 * not soon back for more. */
static inline size_t sgc_share_count(size_t private_pieces)
{
    size_t half = private_pieces / 2;

    return half < SGC_PUBLIC_MAX ? half : SGC_PUBLIC_MAX;
}

/* The private part has run dry: how many of the public pieces the owner takes back.  Half, at least
 * one: the rest is left to thieves. */
static inline size_t sgc_reclaim_count(size_t public_pieces)
{
    return public_pieces - public_pieces / 2;
}

/* How many a thief takes in one go. */
static inline size_t sgc_steal_count(enum sgc_steal how, size_t public_pieces)
{
    size_t half = public_pieces - public_pieces / 2;

    if (how == SGC_STEAL_ONE)
        return public_pieces != 0;
    return half < SGC_BATCH_MAX ? half : SGC_BATCH_MAX;
}

/* The pieces for which a thief makes room before it looks. */
static inline size_t sgc_steal_max(enum sgc_steal how)
{
    return how == SGC_STEAL_ONE ? 1 : SGC_BATCH_MAX;
}

/* `stolen` places lie unused below the private part and nothing is public: is it time to move the
 * private part down?  Each piece moved is paid for by four stolen ones. */
static inline bool sgc_slide_pays(size_t stolen, size_t private_pieces)
{
    return stolen >= SGC_SLIDE_MIN && stolen / 4 >= private_pieces;
}

/* Is it time to move the private part down when there is no memory for the next piece? */
static inline bool sgc_slide_helps(size_t stolen, size_t private_pieces)
{
    return stolen > 0 && stolen >= private_pieces;
}

/* ---- from whom ---- */

/* A thief's view of the other markers: does one show work, and on which node is its thread? */
struct sgc_others {
    bool (*shows_work)(const void *all, uint32_t which);
    uint32_t (*node)(const void *all, uint32_t which);
    const void *all;
};

enum { SGC_NO_VICTIM = UINT32_MAX };

/* Whom a thief on node `here` steals from: one that shows work; of another node only if none of its
 * own does.  The numbers below `markers` are looked at from `from` on, which is random, so that
 * thieves spread; those above, the spare ones, after them. */
static inline uint32_t sgc_choose_victim(uint32_t markers, uint32_t spares, uint32_t from, uint32_t here,
                                         const struct sgc_others *others)
{
    uint32_t far = SGC_NO_VICTIM;

    for (uint32_t i = 0; i < markers + spares; i++) {
        uint32_t which = i < markers ? (from + i) % markers : i;

        if (!others->shows_work(others->all, which))
            continue;
        if (others->node(others->all, which) == here)
            return which;
        if (far == SGC_NO_VICTIM)
            far = which;
    }
    return far;
}

#endif
