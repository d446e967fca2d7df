/* SPDX-License-Identifier: MIT */
/*
 * Single objects (see object.h).  Layout of a node: its seal, its number of links, the links, then
 * filling; of a blob: filling only.  Runs on the thread that owns the object; the only shared thing
 * is the counter of stamps, which is atomic.
 */
#include "tests/stress/object.h"

#include <stdatomic.h>
#include <string.h>

/* Set in every word of filling, so that none of them looks like an address. */
#define NO_ADDRESS 0x8000000000000000u

struct node {
    uint64_t seal;
    uint64_t links;
    struct ref link[];
};

bool object_may_fail;

static _Atomic uint64_t stamps;

static uint64_t new_stamp(enum object_kind kind)
{
    return NO_ADDRESS | (atomic_fetch_add(&stamps, 1) << 2) | kind;
}

char *ref_base(const struct ref *ref)
{
    return ref->where - (ref->offset & ~REF_BACK);
}

enum object_kind ref_kind(const struct ref *ref)
{
    return (enum object_kind)(ref->stamp & 3);
}

static bool is_node(const struct ref *ref)
{
    return ref->stamp & 1;
}

static size_t node_bytes(uint32_t links)
{
    return sizeof(struct node) + links * sizeof(struct ref);
}

static struct node *node_of(const struct ref *ref)
{
    return (struct node *)ref_base(ref);
}

struct ref ref_elsewhere(struct rng *rng, struct ref ref)
{
    char *base = ref_base(&ref);
    size_t places = ref.size + 1u, choice = rng_below(rng, 4);
    size_t offset = choice == 0 ? 0 : choice == 1 ? ref.size : rng_below(rng, places);
    ref.where = base + offset;
    ref.offset = (uint32_t)offset | (ref.offset & REF_BACK);
    return ref;
}

uint32_t object_links(const struct ref *ref)
{
    return is_node(ref) ? (uint32_t)node_of(ref)->links : 0;
}

struct ref *object_link(const struct ref *ref, uint32_t i)
{
    return &node_of(ref)->link[i];
}

/* ---- filling ---- */

static uint64_t filling(const char *base, uint64_t stamp, size_t word)
{
    return storm_mix(stamp ^ ((uintptr_t)base << 20) ^ word) | NO_ADDRESS;
}

/* The next word to look at out of n: all of a small object, a sample of a large one. */
static size_t next_word(size_t word, size_t n)
{
    size_t stride = n <= 512 ? 1 : n <= 131072 ? 61 : 509;
    if (word < 8 || word + 8 >= n)
        return word + 1;
    return word + stride > n - 8 ? n - 8 : word + stride;
}

/* The last word of an object may be cut short. */
static size_t word_length(size_t bytes, size_t word)
{
    return bytes - word * 8 < 8 ? bytes - word * 8 : 8;
}

/* [from, size) of the object at base, in words counted from `from`, which is a multiple of 8. */
static void fill(char *base, uint64_t stamp, size_t from, size_t size)
{
    size_t bytes = size - from, words = (bytes + 7) / 8;
    for (size_t i = 0; i < words; i = next_word(i, words)) {
        uint64_t value = filling(base, stamp, i);
        memcpy(base + from + i * 8, &value, word_length(bytes, i));
    }
}

/* Is the filling that belongs at `home` found at `base`?  (They differ after a realloc.)  Returns
 * the offset of the first wrong word, or size. */
static size_t first_wrong(const char *base, const char *home, uint64_t stamp, size_t from, size_t size, size_t upto)
{
    size_t bytes = size - from, words = (bytes + 7) / 8;
    for (size_t i = 0; i < words && from + i * 8 + word_length(bytes, i) <= upto; i = next_word(i, words)) {
        uint64_t value = filling(home, stamp, i);
        if (memcmp(base + from + i * 8, &value, word_length(bytes, i)))
            return from + i * 8;
    }
    return size;
}

void object_check_zero(const char *start, size_t bytes, const char *what)
{
    size_t stride = bytes <= 65536 ? 1 : 251;
    for (size_t i = 0; i < bytes; i += i + stride < bytes ? stride : 1)
        STORM_CHECK(!start[i], "%s: %zu bytes at %p are not zero: byte %zu is 0x%02x", what, bytes, (const void *)start,
                    i, (unsigned char)start[i]);
}

/* ---- making ---- */

static void *allocate(enum object_kind kind, size_t size)
{
    switch (kind) {
    case OBJECT_BLOB:
        return GC_malloc_atomic(size);
    case OBJECT_NODE:
        return GC_malloc(size);
    case OBJECT_ROOT_BLOB:
        return GC_malloc_atomic_uncollectable(size);
    default:
        return GC_malloc_uncollectable(size);
    }
}

static uint64_t seal(const struct ref *ref, uint64_t links)
{
    return storm_mix(ref->stamp ^ ((uintptr_t)ref_base(ref) << 16) ^ (links << 8) ^ ref->size) | NO_ADDRESS;
}

static size_t filling_from(const struct ref *ref)
{
    return is_node(ref) ? node_bytes(object_links(ref)) : 0;
}

struct ref object_adopt(void *memory, enum object_kind kind, size_t size, uint32_t links)
{
    struct ref ref = { memory, 0, (uint32_t)size, new_stamp(kind) };
    STORM_CHECK((uintptr_t)memory % 16 == 0, "%zu bytes at %p: not a multiple of 16", size, memory);
    if (is_node(&ref)) {
        object_check_zero(memory, size, "fresh memory");
        node_of(&ref)->seal = seal(&ref, links);
        node_of(&ref)->links = links;
    }
    fill(memory, ref.stamp, filling_from(&ref), size);
    return ref;
}

struct ref object_make(struct rng *rng, enum object_kind kind, size_t size, uint32_t links)
{
    if ((kind & 1) && size < node_bytes(links))
        size = node_bytes(links);
    void *memory = allocate(kind, size);
    if (!memory) {
        STORM_CHECK(object_may_fail, "no memory for %zu bytes with a heap of %zu KB", size, GC_get_heap_size() >> 10);
        return REF_NONE;
    }
    return ref_elsewhere(rng, object_adopt(memory, kind, size, links));
}

size_t object_random_size(struct rng *rng)
{
    static const int below[] = { 650, 900, 975, 995, 999, 1000 };
    static const size_t largest[] = { 96, 512, 4096, 32768, 262144, 2097152 };
    size_t most = largest[rng_choose(rng, below)];
    return 1 + rng_below(rng, most);
}

/* ---- checking ---- */

static void check_bounds(const struct ref *ref, const char *base)
{
    STORM_CHECK(GC_base(ref->where) == base || (ref->offset & ~REF_BACK) == ref->size,
                "%u bytes at %p: GC_base(%p) is %p", ref->size, (const void *)base, (void *)ref->where,
                GC_base(ref->where));
    STORM_CHECK(GC_size(base) >= ref->size, "%u bytes at %p: GC_size is %zu", ref->size, (const void *)base,
                GC_size(base));
}

static void check_seal(const struct ref *ref)
{
    const struct node *node = node_of(ref);
    STORM_CHECK(node->seal == seal(ref, node->links),
                "node of %u bytes at %p, stamp %llx: not there any more: words %llx %llx", ref->size,
                (const void *)node, (unsigned long long)ref->stamp, (unsigned long long)node->seal,
                (unsigned long long)node->links);
}

void object_check(const struct ref *ref)
{
    const char *base = ref_base(ref);
    if (is_node(ref))
        check_seal(ref);
    size_t wrong = first_wrong(base, base, ref->stamp, filling_from(ref), ref->size, ref->size);
    STORM_CHECK(wrong == ref->size, "%s of %u bytes at %p, stamp %llx: not its contents at offset %zu",
                is_node(ref) ? "node" : "blob", ref->size, (const void *)base, (unsigned long long)ref->stamp, wrong);
    if (storm_mix(ref->stamp ^ (uintptr_t)ref) % 16 == 0)
        check_bounds(ref, base);
}

/* ---- explicit freeing ---- */

void object_free(struct ref ref)
{
    object_check(&ref);
    GC_free(ref_base(&ref));
}

/* What stood before must stand at the new place; what is new must be zero in conservative memory. */
struct ref object_resize(struct rng *rng, struct ref ref, size_t size)
{
    char *old = ref_base(&ref);
    uint32_t links = object_links(&ref);
    if (is_node(&ref) && size < node_bytes(links))
        size = node_bytes(links);
    object_check(&ref);
    size_t from = filling_from(&ref), kept = ref.size < size ? ref.size : size;
    char *now = GC_realloc(old, size);
    STORM_CHECK(now || object_may_fail, "GC_realloc to %zu bytes: no memory", size);
    if (!now)
        return ref;
    size_t wrong = first_wrong(now, old, ref.stamp, from, ref.size, kept);
    STORM_CHECK(wrong == ref.size, "GC_realloc from %u bytes at %p to %zu at %p lost the contents at %zu", ref.size,
                (void *)old, size, (void *)now, wrong);
    if (is_node(&ref) && size > ref.size)
        object_check_zero(now + ref.size, size - ref.size, "what GC_realloc added");
    struct ref resized = { now, ref.offset & REF_BACK, (uint32_t)size, ref.stamp };
    if (is_node(&ref))
        node_of(&resized)->seal = seal(&resized, links);
    fill(now, resized.stamp, from, size);
    return ref_elsewhere(rng, resized);
}
