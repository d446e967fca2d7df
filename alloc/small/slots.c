/* SPDX-License-Identifier: MIT */
/*
 * Claiming and releasing runs of slots.  Who may: alloc/small/slots.h.
 */
#include "alloc/small/slots.h"

/* The slots that begin in one word of the bitmap, from some slot on and not beyond an end. */
struct piece {
    sgc_aw_t *word;
    uint64_t bits;              /* the word, when it was read */
    uint32_t shift;             /* bit of the first */
    uint32_t count;             /* at least 1 */
    uint64_t starts;            /* their bits, shifted down */
};

/* The bits of the first `count` slots of a word. */
static inline uint64_t first_bits(const struct sgc_size_class *c, uint32_t count)
{
    uint32_t bits = count * c->granules;

    return bits < 64 ? c->starts & ((UINT64_C(1) << bits) - 1) : c->starts;
}

__attribute__((always_inline))
static inline struct piece piece_at(sgc_aw_t *words, const struct sgc_size_class *c, uint32_t slot, uint32_t end)
{
    uint32_t granule = slot * c->granules;
    struct piece p = { .word = words + granule / 64 * 2, .shift = granule % 64 };

    p.starts = c->starts & (UINT64_MAX >> p.shift);
    p.bits = sgc_aw_load(p.word);
    p.count = sgc_slot_of(63 - p.shift, c->reciprocal) + 1;
    if (__builtin_expect(p.count > end - slot, 0)) {
        p.count = end - slot;
        p.starts = first_bits(c, p.count);
    }
    return p;
}

static inline uint64_t busy(const struct piece *p)
{
    return p->bits >> p->shift & p->starts;
}

/* How many slots lie before the one whose bit is the lowest of `bits`. */
static inline uint32_t slots_before(const struct sgc_size_class *c, uint64_t bits)
{
    return sgc_slot_of((uint32_t)__builtin_ctzll(bits), c->reciprocal);
}

/* ---- slots of many granules: hardly ever two begin in one word ---- */

enum { WIDE = 32 };             /* granules */

static inline bool wide_taken(const sgc_aw_t *words, uint32_t granule)
{
    return (sgc_aw_load(words + granule / 64 * 2) >> granule % 64 & 1) != 0;
}

static uint32_t first_free_wide(const sgc_aw_t *words, const struct sgc_size_class *c, uint32_t slot)
{
    uint32_t granule = slot * c->granules;

    for (; slot < c->per_page && wide_taken(words, granule); slot++)
        granule += c->granules;
    return slot;
}

static uint32_t claim_wide_until(sgc_aw_t *words, const struct sgc_size_class *c, uint32_t slot, uint32_t end)
{
    uint32_t granule = slot * c->granules;

    for (; slot < end; slot++) {
        sgc_aw_t *word = words + granule / 64 * 2;
        uint64_t bits = sgc_aw_load(word), bit = UINT64_C(1) << granule % 64;

        if ((bits & bit) != 0)
            return slot;
        sgc_aw_store_rel(word, bits | bit);
        granule += c->granules;
    }
    return slot;
}

/* ---- any ---- */

static uint32_t first_free(sgc_aw_t *words, const struct sgc_size_class *c, uint32_t slot)
{
    if (c->granules >= WIDE)
        return first_free_wide(words, c, slot);
    while (slot < c->per_page) {
        struct piece p = piece_at(words, c, slot, c->per_page);
        uint64_t free = busy(&p) ^ p.starts;

        if (free != 0)
            return slot + slots_before(c, free);
        slot += p.count;
    }
    return slot;
}

static uint32_t claim_until(sgc_aw_t *words, const struct sgc_size_class *c, uint32_t slot, uint32_t end)
{
    if (c->granules >= WIDE)
        return claim_wide_until(words, c, slot, end);
    while (slot < end) {
        struct piece p = piece_at(words, c, slot, end);
        uint64_t taken = busy(&p);

        if (taken != 0) {
            uint32_t n = slots_before(c, taken);

            sgc_aw_store_rel(p.word, p.bits | first_bits(c, n) << p.shift);
            return slot + n;
        }
        sgc_aw_store_rel(p.word, p.bits | p.starts << p.shift);
        slot += p.count;
    }
    return slot;
}

static sgc_aw_t *words_of(uint32_t page)
{
    return sgc_alloc_words + (size_t)page * SGC_PAGE_WORDS * 2;
}

struct sgc_slots sgc_slots_claim(uint32_t page, uint32_t cls, uint32_t from, uint32_t most)
{
    const struct sgc_size_class *c = &sgc_size_classes.of[cls];
    sgc_aw_t *words = words_of(page);
    uint32_t first = first_free(words, c, from);
    uint32_t end = most < c->per_page - first ? first + most : c->per_page;

    return (struct sgc_slots){ first, claim_until(words, c, first, end) };
}

static bool none_taken(const sgc_aw_t *words)
{
    for (uint32_t w = 0; w < SGC_PAGE_WORDS; w++)
        if (sgc_aw_load(words + 2 * w) != 0)
            return false;
    return true;
}

/* Of large slots each has a word of its own, and most words none. */
static bool no_large_taken(const sgc_aw_t *words, const struct sgc_size_class *c)
{
    for (uint32_t slot = 0; slot < c->per_page; slot++)
        if (sgc_aw_load(words + slot * c->granules / 64 * 2) != 0)
            return false;
    return true;
}

enum sgc_fill sgc_slots_fill(uint32_t page, uint32_t cls)
{
    const struct sgc_size_class *c = &sgc_size_classes.of[cls];
    sgc_aw_t *words = words_of(page);
    uint32_t free = first_free(words, c, 0);

    if (free != 0)
        return free == c->per_page ? SGC_FILL_FULL : SGC_FILL_PART;
    return (c->granules < 64 ? none_taken(words) : no_large_taken(words, c)) ? SGC_FILL_EMPTY : SGC_FILL_PART;
}

void sgc_slots_release(uint32_t page, uint32_t cls, uint32_t first, uint32_t end)
{
    const struct sgc_size_class *c = &sgc_size_classes.of[cls];
    sgc_aw_t *words = words_of(page);

    while (first < end) {
        struct piece p = piece_at(words, c, first, end);

        sgc_assert(busy(&p) == p.starts);
        sgc_aw_store(p.word, p.bits & ~(p.starts << p.shift));
        first += p.count;
    }
}
