/* SPDX-License-Identifier: MIT */
/*
 * Which of the objects that a thread allocates are samples (alloc/small/countdown_rules.h).
 *
 * Points lie on the bytes that the thread's bins make ready to be handed out, in the order in which
 * they do.  The slot in which one lies is left for later: what a bin has ready ends there, so the
 * common paths come to its end by themselves, and the slow way hands out that slot alone, as a
 * sample.  Until then the bin has a sample to come; other bins and the distance to the next point
 * go on.  A slot that is never handed out is no sample: then its point counts for nothing.
 *
 * Slots of short runs (alloc/small/claim_short.h) are ready when they are claimed, and counted only
 * as claimed, so none is claimed when a point is near (struct sgc_cache, `unpolled`).
 *
 * By the cache's own thread in a section, or world stopped.
 */
#ifndef SGC_ALLOC_SMALL_SAMPLING_H
#define SGC_ALLOC_SMALL_SAMPLING_H

#include "alloc/small/cache.h"
#include "alloc/small/countdown_rules.h"

/* The next of `bytes` are made ready, or are one object of its own: have they a point?  Then the
 * distance to the next one is drawn. */
bool sgc_sampling_meets(struct sgc_cache *cache, size_t bytes);

/* A bin makes [from, upto) ready: returns where it has to end. */
char *sgc_sampling_cut(struct sgc_cache *cache, struct sgc_bin *bin, char *from, char *upto);

/* Has the bin a sample to come, which is not to be handed out now? */
bool sgc_sampling_holds(const struct sgc_cache *cache, const struct sgc_bin *bin);

/* Is a sample the next that the bin hands out?  By its own thread. */
static inline bool sgc_sampling_waits(const struct sgc_cache *cache, const struct sgc_bin *bin)
{
    return __builtin_expect(cache->sampling.rate != 0, 0) && bin->cur == bin->limit && bin->limit < bin->end &&
           sgc_sampling_holds(cache, bin);
}

/* Does only a sample that is near have the thread come so soon to where it polls whether a
 * collection is due?  If collections began where samples are, sites would be favoured that allocate
 * just behind. */
static inline bool sgc_sampling_polls_early(const struct sgc_cache *cache)
{
    return __builtin_expect(cache->sampling.rate != 0, 0) &&
           sgc_aw_load(&cache->claimed) - cache->claimed_counted < SGC_UNPOLLED_MAX;
}

/* A bin has got a new run of so many bytes, none of which is ready yet. */
void sgc_sampling_give_run(struct sgc_cache *cache, const struct sgc_bin *bin, size_t bytes);

/* Short runs may be claimed until a point is near; all that has been claimed is counted. */
void sgc_sampling_allow_short(struct sgc_cache *cache);

/* Written before the first thread is registered, or world stopped. */
struct sgc_sampling_settings {
    size_t rate;                        /* a sample in so many bytes, 0: none */
    uint64_t seed;                      /* another one for each cache that is opened */
    /* Called before an object of a large span, or of a page that is watched as one with something
     * registered (sgc_page_watch), is freed explicitly; NULL: nobody wants to know.  Outside
     * sections. */
    void (*freed)(struct sgc_section *self, uintptr_t object);
};
SGC_INNER struct sgc_sampling_settings sgc_sampling;

/* The settings are the cache's from now on.  It has no slots at hand, and with samples it keeps
 * none that are freed: what is allocated again is to be claimed again.  World stopped, or by the
 * thread that opens it. */
void sgc_sampling_apply(struct sgc_cache *cache);

/* In the child of a fork, which would have the samples that its parent and its siblings have: the
 * distance is drawn anew. */
void sgc_sampling_after_fork(struct sgc_cache *cache, uint64_t process);

/* ---- the slow way of allocating ---- */

/* The bin's next claim may hand out a sample, unless it has one ready already.  Before each claim:
 * a collection may have taken that one away, and a handler of the program that allocates in between
 * ends what the thread has begun. */
static inline void sgc_sampling_begin(struct sgc_cache *cache, const struct sgc_bin *bin)
{
    bool ready;

    if (__builtin_expect(cache->sampling.rate == 0, 1))
        return;
    ready = cache->sampling.sampled != NULL && cache->sampling.sampled == bin->cur && bin->cur < bin->limit;
    cache->sampling.taking = !ready;
    if (!ready)
        cache->sampling.sampled = NULL;
}

/* The object that was, since this was last called; NULL: none. */
static inline void *sgc_sampling_end(struct sgc_cache *cache)
{
    void *object = cache->sampling.sampled;

    cache->sampling.taking = false;
    cache->sampling.sampled = NULL;
    return object;
}

#endif
