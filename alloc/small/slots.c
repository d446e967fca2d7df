/* SPDX-License-Identifier: MIT */
/*
 * Claiming and releasing runs of slots.  alloc/small/slots.h says which thread may.
 */
#include "alloc/small/slots.h"

#include "alloc/pages/marks.h"

/* A page as granules of the heap. */
struct place {
    size_t start, end;          /* where its first slot begins, and its last one ends */
    uint64_t starts;            /* of the class */
    uint32_t bytes;             /* of a slot */
    uint32_t granules;
};

static inline struct place place_of(uint32_t page, uint32_t cls)
{
    const struct sgc_size_class *c = &sgc_size_classes.of[cls];
    size_t start = sgc_page_first_granule(page);

    sgc_assert(cls < sgc_size_classes.count);
    return (struct place){ start, start + (size_t)c->per_page * c->granules, c->starts, sgc_class_bytes(cls), c->granules };
}

__attribute__((unused)) static bool place_ok(const struct place *p, struct sgc_slots s)
{
    return p->start <= s.first && s.first <= s.end && s.end <= p->end && (s.first - p->start) % p->granules == 0 &&
           (s.end - p->start) % p->granules == 0;
}

/* The slots that begin in the word of granule `at`, from there on and not beyond `end`: its bits,
 * shifted down.  *next: the first one behind them. */
static inline uint64_t in_word(const struct place *p, size_t at, size_t end, size_t *next)
{
    sgc_assert(at < end);
    *next = sgc_next_word_slot(p->bytes, p->starts, at);
    if (__builtin_expect(*next <= end, 1))
        return p->starts & UINT64_MAX >> at % 64;
    *next = end;
    return p->starts & ((UINT64_C(1) << (end - at)) - 1);
}

/* Goes on as long as all slots of a word are free. */
static size_t claim_until(const struct place *p, size_t at, size_t end)
{
    sgc_assert(at <= end && end <= p->end);
    while (at < end) {
        sgc_aw_t *word = sgc_slot_word(at);
        size_t next;
        uint64_t bits = in_word(p, at, end, &next), taken = sgc_behind_run(bits, sgc_word_free(word, p->starts, at));

        if (taken != 0) {
            sgc_word_claim(word, at, bits & (taken - 1));
            return at + (uint32_t)__builtin_ctzll(taken);
        }
        sgc_word_claim(word, at, bits);
        at = next;
    }
    return at;
}

struct sgc_slots sgc_slots_claim(uint32_t page, uint32_t cls, size_t from, uint32_t max)
{
    struct place p = place_of(page, cls);
    struct sgc_slots s = { from, p.end };
    sgc_aw_t *word;

    sgc_assert(sgc_page_ok(page) && max != 0 && place_ok(&p, s));
    if (sgc_find_free(&p.bytes, p.starts, p.end, &s.first, &word) == 0 || s.first >= p.end)
        return (struct sgc_slots){ p.end, p.end };
    if ((p.end - s.first) > (size_t)max * p.granules)
        s.end = s.first + (size_t)max * p.granules;
    s.end = claim_until(&p, s.first, s.end);
    return s;
}

static bool none_taken(const struct place *p)
{
    const sgc_aw_t *words = sgc_slot_word(p->start);

    for (uint32_t w = 0; w < SGC_PAGE_WORDS; w++)
        if (sgc_aw_load(words + SGC_BITMAPS * w) != 0)
            return false;
    return true;
}

/* Of large slots each has a word of its own, and most words none. */
static bool no_large_taken(const struct place *p)
{
    for (size_t at = p->start; at < p->end; at += p->granules)
        if (sgc_aw_load(sgc_slot_word(at)) != 0)
            return false;
    return true;
}

enum sgc_fill sgc_slots_fill(uint32_t page, uint32_t cls)
{
    struct place p = place_of(page, cls);
    size_t first = p.start;
    sgc_aw_t *word;

    sgc_assert(sgc_page_ok(page) && sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL);
    if (sgc_find_free(&p.bytes, p.starts, p.end, &first, &word) == 0 || first >= p.end)
        return SGC_FILL_FULL;
    if (first != p.start)
        return SGC_FILL_PART;
    return (p.granules < 64 ? none_taken(&p) : no_large_taken(&p)) ? SGC_FILL_EMPTY : SGC_FILL_PART;
}

void sgc_slots_release(uint32_t page, uint32_t cls, struct sgc_slots s)
{
    struct place p = place_of(page, cls);

    sgc_assert(sgc_page_ok(page) && place_ok(&p, s));
    sgc_marking_note_freed(page);
    for (size_t at = s.first, next; at < s.end; at = next) {
        sgc_aw_t *word = sgc_slot_word(at);
        uint64_t bits = in_word(&p, at, s.end, &next);

        sgc_assert((sgc_word_free(word, p.starts, at) & bits) == 0);
        sgc_aw_store_rel(word, sgc_aw_load(word) & ~(bits << at % 64));
    }
}
