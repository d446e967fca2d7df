/* SPDX-License-Identifier: MIT */
/* See alloc/small/sampling.h. */
#include "alloc/small/sampling.h"

#include <string.h>

#include "platform/report.h"

SGC_STATE struct sgc_sampling_settings sgc_sampling;

enum { SHORT_RUN_MAX = 64 * SGC_GRANULE };      /* bytes of a run that lies in one word of bits */

/* The bit of a bin among those that have a sample to come. */
struct place {
    uint32_t kind, half;
    uint64_t bit;
};

static struct place place_of(const struct sgc_cache *cache, const struct sgc_bin *bin)
{
    size_t at = (size_t)(bin - &cache->bin[0][0]), cls = at % SGC_CLASSES_MAX;

    sgc_assert(at / SGC_CLASSES_MAX < SGC_KINDS);
    return (struct place){ (uint32_t)(at / SGC_CLASSES_MAX), (uint32_t)cls / 64, UINT64_C(1) << cls % 64 };
}

static bool is_pending(const struct sgc_cache *cache, const struct sgc_bin *bin)
{
    struct place p = place_of(cache, bin);

    return (cache->sampling.pending[p.kind][p.half] & p.bit) != 0;
}

static void set_pending(struct sgc_cache *cache, const struct sgc_bin *bin, bool pending)
{
    struct place p = place_of(cache, bin);
    uint64_t *word = &cache->sampling.pending[p.kind][p.half];

    *word = pending ? *word | p.bit : *word & ~p.bit;
}

/* Bytes to the next point, as long as claimed ones count as ready. */
static size_t distance(const struct sgc_cache *cache)
{
    size_t claimed = sgc_aw_load(&cache->claimed);

    return cache->sampling.at > claimed ? cache->sampling.at - claimed : 0;
}

static void draw(struct sgc_cache *cache)
{
    cache->sampling.at = sgc_aw_load(&cache->claimed) + sgc_countdown_draw(&cache->sampling.random, cache->sampling.rate);
}

void sgc_sampling_allow_short(struct sgc_cache *cache)
{
    size_t from = cache->claimed_counted + SHORT_RUN_MAX, at = cache->sampling.at;

    cache->unpolled = cache->sampling.rate == 0 ? SGC_UNPOLLED_MAX
                      : at <= from ? 0 : at - from < SGC_UNPOLLED_MAX ? at - from : SGC_UNPOLLED_MAX;
}

bool sgc_sampling_meets(struct sgc_cache *cache, size_t bytes)
{
    bool meets;

    sgc_assert(cache->sampling.rate != 0 && bytes != 0);
    meets = distance(cache) < bytes;
    if (meets)
        draw(cache);
    else
        cache->sampling.at -= bytes;
    sgc_sampling_allow_short(cache);
    return meets;
}

/* The slot at `from` alone. */
static char *hand_out(struct sgc_cache *cache, struct sgc_bin *bin, char *from)
{
    set_pending(cache, bin, false);
    cache->sampling.taking = false;
    cache->sampling.sampled = from;
    return from + bin->size;
}

char *sgc_sampling_cut(struct sgc_cache *cache, struct sgc_bin *bin, char *from, char *upto)
{
    size_t before;

    sgc_assert(from < upto && bin->size != 0);
    if (is_pending(cache, bin)) {
        sgc_assert(cache->sampling.taking);
        return hand_out(cache, bin, from);
    }
    before = distance(cache) / bin->size * bin->size;
    if (!sgc_sampling_meets(cache, (size_t)(upto - from)))
        return upto;
    set_pending(cache, bin, true);
    return before == 0 && cache->sampling.taking ? hand_out(cache, bin, from) : from + before;
}

bool sgc_sampling_holds(const struct sgc_cache *cache, const struct sgc_bin *bin)
{
    return !cache->sampling.taking && is_pending(cache, bin);
}

void sgc_sampling_give_run(struct sgc_cache *cache, const struct sgc_bin *bin, size_t bytes)
{
    set_pending(cache, bin, false);
    cache->sampling.at += bytes;
    sgc_sampling_allow_short(cache);
}

/* Neighbouring seeds lead to numbers that have nothing in common.  [Steele, Lea and Flood 2014] */
static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void sgc_sampling_after_fork(struct sgc_cache *cache, uint64_t process)
{
    sgc_sampling.seed += mixed(process);
    cache->sampling.random = mixed(cache->sampling.random + sgc_sampling.seed);
    if (cache->sampling.rate != 0)
        draw(cache);
    sgc_sampling_allow_short(cache);
}

/* A thread that was stopped in the slow way begins its next claim anew. */
void sgc_sampling_apply(struct sgc_cache *cache)
{
    struct sgc_sampling *s = &cache->sampling;

    sgc_assert(sgc_cache_ok(cache));
    memset(s->pending, 0, sizeof s->pending);
    s->rate = sgc_sampling.rate;
    s->taking = false;
    s->sampled = NULL;
    sgc_sampling.seed += UINT64_C(0x9e3779b97f4a7c15);
    s->random = mixed(sgc_sampling.seed);
    if (s->rate != 0)
        draw(cache);
    cache->keeps_freed = s->rate == 0 && cache->claim_bytes != 0 && !sgc_heap.config.poison;
    sgc_sampling_allow_short(cache);
}
