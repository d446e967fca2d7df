/* SPDX-License-Identifier: MIT */
/* Checked blocks: malloc/checked.h.  On the cache's thread, outside sections. */
#include "malloc/checked.h"

#include <string.h>
#include <sys/auxv.h>

#include "alloc/free.h"
#include "alloc/large/span.h"
#include "alloc/new_objects.h"
#include "alloc/pages/homes.h"
#include "malloc/empty.h"
#include "malloc/harden.h"
#include "malloc/quarantine.h"
#include "platform/platform.h"

enum {
    WORD = sizeof(uintptr_t),
    PADDING = 0x5a,
    SHORT = 128,                /* bytes below which a loop is quicker than the C library */
};
static const size_t WAITING = (size_t)1 << 55;              /* in place of a size */
static const size_t SPAN_MAX = (size_t)16 << 20;            /* larger ones do not wait */

SGC_STATE static uintptr_t secret;

SGC_STATE struct sgc_quarantine **sgc_quarantines;
SGC_STATE struct sgc_empty sgc_empty;

/* Each bit of the result depends on all of x. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* A program that reads a seal may find the secret, so it is nothing else's.  AT_RANDOM, for a
 * system that has no bytes to give, is what the C library has its canary from: only a part of a
 * mixture is used, from which that does not follow. */
static void make_secret(void)
{
    const void *random = (const void *)getauxval(AT_RANDOM);
    uint64_t words[2] = { 0, 0 };

    if (sgc_mem_randomize(&secret, sizeof secret))
        return;
    if (random != NULL)
        memcpy(words, random, sizeof words);
    secret = mix(words[0] ^ mix(words[1] ^ sgc_clock_ns())) + words[1];
}

void sgc_checked_start(void)
{
    make_secret();
    sgc_quarantines = sgc_owner_table_make(sizeof *sgc_quarantines);
    sgc_empty.start = sgc_mem_reserve(SGC_EMPTY_BYTES, sgc_os_page_size());
}

/* ---- messages ---- */

/* The size that the program passed is not that of the request. */
static void tell_size(const char *function, const void *block, size_t passed, size_t bytes)
{
    sgc_assert(passed != bytes);
    SGC_TELL("%s(%p): the size %zu is passed, but the program has asked for %zu; pass that one", function, block, passed,
             bytes);
}

/* The program has written behind the block. */
static void tell_overrun(const char *function, const void *block, size_t bytes)
{
    SGC_TELL("%s(%p): the program has written behind the block, which has %zu bytes; ask for more, or write less",
             function, block, bytes);
}

/* It has, or before the next one, and the block's size is lost.  The call changes nothing. */
static void tell_broken(const char *function, const void *block)
{
    SGC_TELL("%s(%p): the program has written behind the block, or before the next one, so that its size is lost; "
             "nothing is changed. Ask for more, or write less", function, block);
}

/* It has written into a block, or the end of one, after its free. */
static void tell_late_write(const void *block, size_t bytes, size_t offset)
{
    sgc_assert(offset <= bytes);
    SGC_TELL("%p: after its free the program has written to this block of %zu bytes, %zu bytes behind its beginning; "
             "do not use a block that you have freed", block, bytes, offset);
}

/* ---- seals ---- */

/* A slot in which a block begins. */
struct slot {
    uintptr_t start;
    size_t bytes;
    uint32_t page;
    bool span;
};

static sgc_aw_t *seal_of(const struct slot *s)
{
    sgc_assert(s->start % SGC_GRANULE == 0 && s->bytes % SGC_GRANULE == 0 && s->bytes >= SGC_GRANULE);
    return (sgc_aw_t *)(s->start + s->bytes - WORD);
}

static uintptr_t seal_for(const struct slot *s, size_t state)
{
    return (secret ^ s->start ^ state) << 8 | PADDING;
}

/* The size of the request, WAITING, or a number beyond both if the seal is broken. */
static size_t state_of(const struct slot *s)
{
    uintptr_t word = sgc_aw_load(seal_of(s)) ^ seal_for(s, 0);

    return word >> 8 | word << (8 * WORD - 8);
}

static bool is_size(const struct slot *s, size_t state)
{
    return state <= s->bytes - WORD;
}

/* The slot of the block that begins there; false: none does.  A slot that its thread does not know
 * to be free yet has no seal any more.  A span that another thread frees meanwhile may have any
 * size. */
static bool find(const void *block, struct slot *s)
{
    size_t granule = sgc_exact_granule(block);
    const struct sgc_page *d;

    if (granule >= sgc_aw_load(&sgc_heap.granules))
        return false;
    *s = (struct slot){ .start = (uintptr_t)block, .page = (uint32_t)(granule / SGC_PAGE_GRANULES) };
    d = &sgc_heap.pages[s->page];
    if (sgc_page_state(d) == SGC_PAGE_SMALL) {
        s->bytes = (size_t)d->granules * SGC_GRANULE;
        return sgc_alloc_bit(granule);
    }
    s->span = true;
    if (sgc_page_state(d) != SGC_PAGE_SPAN || granule % SGC_PAGE_GRANULES != 0 || !sgc_span_bit(s->page))
        return false;
    s->bytes = sgc_span_bytes(s->page);
    return s->bytes % SGC_GRANULE == 0 && sgc_heap_contains(s->start + s->bytes - 1);
}

/* ---- memory that has to be zero ---- */

typedef uint64_t pair __attribute__((vector_size(16), may_alias));

/* Of a multiple of granules. */
static inline bool is_zero(uintptr_t start, size_t bytes)
{
    const pair *at = (const pair *)start, *end = (const pair *)(start + bytes);
    pair found = { 0, 0 };

    sgc_assert(start % SGC_GRANULE == 0 && bytes % SGC_GRANULE == 0);
    for (; end - at >= 4; at += 4)
        found |= at[0] | at[1] | at[2] | at[3];
    for (; at < end; at++)
        found |= *at;
    return (found[0] | found[1]) == 0;
}

/* All of a slot but its seal. */
static inline void make_zero(const struct slot *s)
{
    size_t bytes = s->bytes - WORD;

    if (bytes > SHORT) {
        memset((void *)s->start, 0, bytes);
        return;
    }
    for (size_t i = 0; i < bytes - WORD; i += sizeof(pair))
        *(pair *)(s->start + i) = (pair){ 0, 0 };
    ((uintptr_t *)seal_of(s))[-1] = 0;
}

/* The program has written there: says so, and makes it zero. */
__attribute__((cold, noinline))
static void tell_written(uintptr_t start, size_t bytes)
{
    size_t at = 0;

    while (at < bytes && ((const char *)start)[at] == 0)
        at++;
    sgc_assert(at < bytes);
    tell_late_write((const void *)start, bytes, at);
    memset((void *)start, 0, bytes);
}

/* The first word of the block that the thread has freed last. */
static inline void check_last(const struct sgc_cache *cache)
{
    const struct sgc_quarantine *q = sgc_quarantine_there(cache);

    if (q != NULL && q->last != 0 && __builtin_expect(*(const uintptr_t *)q->last != 0, 0))
        tell_written(q->last, q->last_bytes);
}

/* ---- padding ----
 *
 * Words of it lie before the seal, and in one more word, behind the last bytes of the request, as
 * many bytes as are left. */

static const uintptr_t PADDINGS = (uintptr_t)-1 / 255 * PADDING;

static void pad(const struct slot *s, size_t bytes)
{
    uintptr_t *at = (uintptr_t *)seal_of(s) - 1;
    size_t left = s->bytes - WORD - bytes;

    sgc_assert(bytes <= s->bytes - WORD);
    for (; left >= WORD; left -= WORD)
        *at-- = PADDINGS;
    if (left != 0)
        *at = PADDINGS << 8 * (WORD - left);
}

static bool is_padded(const struct slot *s, size_t bytes)
{
    const uintptr_t *at = (const uintptr_t *)seal_of(s) - 1;
    size_t left = s->bytes - WORD - bytes;

    sgc_assert(bytes <= s->bytes - WORD);
    for (; left >= WORD; left -= WORD)
        if (*at-- != PADDINGS)
            return false;
    return left == 0 || (*at ^ PADDINGS) >> 8 * (WORD - left) == 0;
}

/* ---- new blocks ---- */

/* All of the slot is zero. */
static inline void *hand_out(const struct slot *s, size_t bytes)
{
    pad(s, bytes);
    sgc_aw_store(seal_of(s), seal_for(s, bytes));
    return (void *)s->start;
}

static void *new_span(struct sgc_cache *cache, size_t bytes, size_t slot, size_t align)
{
    void *block = sgc_span_alloc(&cache->section, slot, SGC_KIND_CONSERVATIVE, align);
    struct slot s = { (uintptr_t)block, slot, sgc_page_number((uintptr_t)block), true };

    if (block == NULL)
        return NULL;
    sgc_assert(sgc_span_bytes(s.page) == slot);
    sgc_page_set_kind(&sgc_heap.pages[s.page], SGC_KIND_POINTER_FREE);
    return hand_out(&s, bytes);
}

/* Of a class, for a request that is not 0. */
static inline void *hand_out_small(void *block, uint32_t cls, size_t bytes)
{
    struct slot s = { .start = (uintptr_t)block, .bytes = sgc_class_bytes(cls) };

    if (__builtin_expect(!is_zero(s.start, s.bytes), 0))
        tell_written(s.start, s.bytes);
    return hand_out(&s, bytes);
}

void *sgc_checked_new(struct sgc_cache *cache, size_t bytes, size_t align)
{
    size_t slot;
    void *block = bytes == 0 && align == SGC_GRANULE ? sgc_empty_new() : NULL;
    uint32_t cls;

    sgc_assert(bytes <= PTRDIFF_MAX - SGC_PAGE);
    if (block != NULL)
        return block;
    bytes += bytes == 0;
    slot = sgc_round_up(bytes + WORD, SGC_GRANULE);
    check_last(cache);
    if (!sgc_class_find(slot, align, &cls))
        return new_span(cache, bytes, slot, align);
    block = sgc_small_refill(cache, SGC_KIND_POINTER_FREE, cls);
    return block != NULL ? hand_out_small(block, cls, bytes) : NULL;
}

void *sgc_checked_try(struct sgc_cache *cache, size_t bytes)
{
    struct sgc_bin *bin;
    uint32_t cls;

    sgc_assert(cache == sgc_self && sgc_cache_ok(cache));
    if (bytes - 1 >= SGC_SMALL_MAX - WORD)
        return NULL;
    cls = sgc_class_for((bytes + WORD + SGC_GRANULE - 1) / SGC_GRANULE);
    bin = &cache->bin[SGC_KIND_POINTER_FREE][cls];
    if (!sgc_bin_has_freed(bin))
        return NULL;
    check_last(cache);
    return hand_out_small(sgc_bin_pop(bin), cls, bytes);
}

/* ---- out of quarantine ---- */

/* The slot is all zero now.  It is the heap's, or is for the caller to free. */
static inline void *leave(struct sgc_cache *cache, const struct slot *s)
{
    void *block = (void *)s->start;

    sgc_assert(sgc_cache_ok(cache) && s->start % SGC_GRANULE == 0);
    if (__builtin_expect(state_of(s) != WAITING, 0))
        tell_late_write(block, s->bytes - WORD, s->bytes - WORD);
    sgc_aw_store(seal_of(s), 0);
    return sgc_free_in_section(cache, block, sgc_exact_granule(block)) == SGC_FREE_STEP_DONE ? NULL : block;
}

/* The part of a span's slot that can be closed: all but the OS page with the seal. */
static size_t closed_bytes(const struct slot *s)
{
    return sgc_round_down(s->bytes - WORD, sgc_os_page_size());
}

/* A span that cannot be opened again stays where it is, for ever. */
static void *leave_span(struct sgc_cache *cache, void *block)
{
    struct slot s;
    size_t closed, rest;

    if (!find(block, &s))
        return NULL;
    closed = closed_bytes(&s);
    rest = s.bytes - WORD - closed;
    if (!sgc_mem_commit(block, closed))
        return NULL;
    for (size_t i = 0; i < rest; i++)
        if (((const char *)block)[closed + i] != 0) {
            tell_written(s.start + closed, rest);
            break;
        }
    return leave(cache, &s);
}

/* ---- frees ---- */

/* Spans do not keep their memory while they wait. */
static void *retire_span(struct sgc_cache *cache, const struct slot *s)
{
    struct sgc_quarantine *q = s->bytes <= SPAN_MAX ? sgc_quarantine_of(cache) : NULL;
    size_t closed = closed_bytes(s);
    void *block = (void *)s->start, *leaves;

    if (!sgc_mem_discard(block, closed))
        memset(block, 0, closed);
    memset((char *)block + closed, 0, s->bytes - WORD - closed);
    if (q == NULL || !sgc_mem_close(block, closed))
        return leave(cache, s);
    q->last = 0;
    leaves = sgc_quarantine_pass_span(q, block);
    return leaves != NULL ? leave_span(cache, leaves) : NULL;
}

static inline void *retire(struct sgc_cache *cache, const struct slot *s)
{
    struct sgc_quarantine *q = sgc_quarantine_of(cache);
    struct slot leaves = { .bytes = s->bytes, .page = s->page };

    if (s->span)
        return retire_span(cache, s);
    make_zero(s);
    if (q == NULL)
        return leave(cache, s);
    q->last = s->start;
    q->last_bytes = s->bytes - WORD;
    leaves.start = (uintptr_t)sgc_quarantine_pass(q, sgc_heap.pages[s->page].cls, (void *)s->start);
    return leaves.start != 0 ? leave(cache, &leaves) : NULL;
}

/* Tells what the state says that is no size. */
__attribute__((cold, noinline))
static void tell_state(const void *block, size_t state, const char *function)
{
    struct sgc_object o;

    sgc_assert(sgc_heap_contains((uintptr_t)block));
    if (state == WAITING || !sgc_object_find((uintptr_t)block, &o))
        sgc_tell_wrong(function, block);
    else
        tell_broken(function, block);
}

/* Of a block without bytes. */
static void free_empty(void *block, size_t bytes, const char *function)
{
    if (!sgc_empty_free(block))
        sgc_tell_nothing(function, block);
    else if (bytes != SGC_ANY_SIZE && bytes != 0)
        tell_size(function, block, bytes, 0);
}

void *sgc_checked_free(struct sgc_cache *cache, void *block, size_t bytes, const char *function)
{
    struct slot s;
    size_t state;

    sgc_assert(sgc_cache_ok(cache) && !sgc_section_inside(&cache->section) && function != NULL);
    if (__builtin_expect(!find(block, &s), 0)) {
        if (sgc_empty_contains(block))
            free_empty(block, bytes, function);
        else
            sgc_tell_wrong(function, block);
        return NULL;
    }
    state = state_of(&s);
    if (__builtin_expect(!is_size(&s, state) || !sgc_aw_cas(seal_of(&s), seal_for(&s, state), seal_for(&s, WAITING)), 0)) {
        tell_state(block, state_of(&s), function);
        return NULL;
    }
    if (bytes != SGC_ANY_SIZE && (bytes != 0 ? bytes : 1) != state)
        tell_size(function, block, bytes, state);
    if (!is_padded(&s, state))
        tell_overrun(function, block, state);
    return retire(cache, &s);
}

static bool find_empty(const void *block, const char *function, struct sgc_object *object)
{
    bool there = sgc_empty_there(block);

    *object = (struct sgc_object){ .start = (uintptr_t)block };
    if (!there)
        sgc_tell_nothing(function, block);
    return there;
}

bool sgc_checked_find(const void *block, const char *function, struct sgc_object *object)
{
    struct slot s;
    size_t state;

    if (sgc_empty_contains(block))
        return find_empty(block, function, object);
    if (!find(block, &s) || !sgc_object_slot((uintptr_t)block, object)) {
        sgc_tell_wrong(function, block);
        return false;
    }
    state = state_of(&s);
    sgc_assert(object->start == s.start && object->bytes == s.bytes);
    if (is_size(&s, state))
        object->bytes = state;
    else
        tell_state(block, state, function);
    return is_size(&s, state);
}
