/* SPDX-License-Identifier: MIT */
/*
 * Claiming a short run: the free slots that lie side by side in one word of the active page's
 * allocation bits.
 *
 * In pages with live objects most runs are of one or a few slots.  Such a run is found, claimed,
 * zeroed and opened here, in the brief section of the common path that has found the bin empty.
 * All other cases are left to sgc_small_claim: the rest of an opened run, a word of free slots
 * only, which begins a long run, memory that was never used, the end of the page, a section to
 * repair.
 *
 * Each instruction may be the last, by a siglongjmp: then at worst slots whose bits are set are in
 * nobody's hands until the next cycle.  See doc/design/fast-path.md.
 */
#ifndef SGC_ALLOC_SMALL_CLAIM_SHORT_H
#define SGC_ALLOC_SMALL_CLAIM_SHORT_H

#include "alloc/small/cache.h"
#include "alloc/small/slots.h"
#include "platform/compiler.h"

enum { SGC_FETCH_MIN = 96 };      /* bytes of a slot whose beginning is fetched: smaller ones follow
                                     each other closely */

/* Is there nothing but the active page to take slots from?  In a bin that had a run in this epoch,
 * so that it is marked as one that holds slots. */
__attribute__((always_inline))
static inline bool sgc_bin_used_up(const struct sgc_bin *bin)
{
    return !sgc_bin_has_freed(bin) && bin->end != NULL && bin->cur == bin->end && bin->active_epoch == sgc_heap.epoch;
}

/*
 * Sets the bits of the next free slots of a word, from run->first on, and says where they are.
 * False: there is none below `limit`, or the run may go on in the next word or beyond `limit`; then
 * nothing is changed but that run->first says what has been looked at.
 */
__attribute__((always_inline))
static inline bool sgc_claim_in_word(const struct sgc_bin *bin, uint64_t starts, size_t limit, struct sgc_slots *run)
{
    sgc_aw_t *word;
    uint64_t free = sgc_find_free(&bin->size, starts, limit, &run->first, &word), taken;

    if (free == 0)
        return false;
    taken = sgc_behind_run(starts, free);
    if (taken == 0)
        return false;
    run->end = run->first + (uint32_t)__builtin_ctzll(taken);
    if (run->end > limit)
        return false;
    sgc_word_claim(word, run->first, starts & (taken - 1));
    return true;
}

typedef uintptr_t sgc_granule_words __attribute__((vector_size(SGC_GRANULE), may_alias));

/* Volatile, or the compiler makes it a call of memset, before which registers are saved. */
__attribute__((always_inline))
static inline void sgc_zero_granules(char *from, const char *end)
{
    volatile sgc_granule_words *p = (volatile sgc_granule_words *)(void *)from;
    const sgc_granule_words zero = { 0, 0 };

    if ((size_t)(end - from) / SGC_GRANULE % 2 != 0)
        *p++ = zero;
    for (; (const volatile char *)p != end; p += 2)
        p[0] = zero, p[1] = zero;
}

__attribute__((always_inline))
static inline void sgc_prepare_run(const struct sgc_bin *bin, char *from, char *end, uint32_t kind)
{
    if (sgc_kinds.of[kind].clear)
        sgc_zero_granules(from, end);
    else if (bin->size >= SGC_FETCH_MIN)
        for (char *slot = from + bin->size; slot != end; slot += bin->size)
            __builtin_prefetch(slot, 1);
}

/* The lines behind a run are fetched while the program uses the run: the next run is there or not
 * far, and has been left for so long that the caches have lost it.  Processors do not foresee it,
 * since there are live objects in between. */
__attribute__((always_inline))
static inline void sgc_fetch_behind(const char *end)
{
    __builtin_prefetch(end, 1);
    __builtin_prefetch(end + SGC_CACHE_LINE, 1);
}

/* The first slot of a run is handed out, the others are the bin's.  In an order in which the bin
 * has, at no instruction, slots that are not claimed, or ready ones that are not prepared. */
__attribute__((always_inline))
static inline void sgc_bin_give_others(struct sgc_bin *bin, char *others, char *end)
{
    bin->limit = bin->end = NULL;
    sgc_compiler_barrier();
    bin->cur = others;
    sgc_compiler_barrier();
    bin->end = end;
    sgc_compiler_barrier();
    bin->limit = end;
}

/* Finds one for a bin of the calling thread's that is used up: its first slot.  In a brief
 * section. */
__attribute__((always_inline))
static inline bool sgc_claim_short(struct sgc_bin *bin, uint64_t starts, const volatile uint32_t *kind, char **slot)
{
    struct sgc_slots run = { .first = bin->next };
    char *from, *end;

    if (!sgc_claim_in_word(bin, starts, sgc_granule_number((uintptr_t)bin->dirty), &run)) {
        bin->next = run.first;
        return false;
    }
    bin->next = run.end;
    *slot = from = sgc_granule_address(run.first);
    end = sgc_granule_address(run.end);
    sgc_count_add(&sgc_fast_cache->claimed, (size_t)(end - from));
    sgc_prepare_run(bin, from, end, *kind);
    sgc_fetch_behind(end);
    if (from + bin->size != end)
        sgc_bin_give_others(bin, from + bin->size, end);
    return true;
}

#endif
