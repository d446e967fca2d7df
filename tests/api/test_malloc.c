/* SPDX-License-Identifier: MIT */
/*
 * The allocation functions of gc.h: sizes, alignment, contents, and what they refuse.  One thread.
 *
 * Also: gc/api/free.c.
 */
#include "api.h"

static const size_t sizes[] = {
    0, 1, 8, 15, 16, 17, 31, 32, 100, 255, 256, 257, 1000, 2048, 4096, 10000, 65536, 300000
};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static bool all_bytes(const void *memory, size_t size, unsigned char value)
{
    const unsigned char *byte = memory;

    for (size_t i = 0; i < size; i++)
        if (byte[i] != value)
            return false;
    return true;
}

typedef void *allocator(size_t size);

/* end_byte: 1 if the object is larger by it, so that the address just past the request is inside. */
static void check_allocator(const char *name, allocator *allocate, bool zeroed, size_t end_byte)
{
    bool aligned = true, large_enough = true, zero = true, based = true;

    for (int i = 0; i < SIZES; i++) {
        for (int n = 0; n < 50; n++) {
            char *object = allocate(sizes[i]);
            aligned = aligned && object != NULL && (uintptr_t)object % 16 == 0;
            large_enough = large_enough && GC_size(object) >= sizes[i] + end_byte;
            zero = zero && all_bytes(object, GC_size(object), 0);
            based = based && GC_base(object + GC_size(object) - 1) == object
                && GC_base(object + sizes[i] / 2) == object;
            memset(object, 0xff, GC_size(object));
            GC_free(object);
        }
    }
    tap_ok(aligned, "%s: objects are aligned to 16 bytes", name);
    tap_ok(large_enough, "%s: at least as large as asked for, and %zu more", name, end_byte);
    tap_ok(based, "%s: every address inside belongs to the object", name);
    if (zeroed)
        tap_ok(zero, "%s: zeroed, where other objects were before", name);
}

static void check_sizes(void)
{
    tap_ok(GC_size(GC_malloc(16)) == 32, "16 bytes and the end byte take two granules");
    tap_ok(GC_size(GC_malloc(15)) == 16, "15 bytes and the end byte take one");
    tap_ok(GC_size(GC_malloc(0)) == 16 && GC_malloc(0) != GC_malloc(0), "no bytes: an object of its own");
    tap_ok(GC_get_size_map_at(16) == 32, "the size map says so too");
    tap_ok(GC_get_size_map_at(-1) == SIZE_MAX, "it has no negative sizes");
    tap_ok(GC_get_size_map_at(1 << 20) == SIZE_MAX, "and no large ones");
}

/* Two collections on, memory that was full of other data is zero when it is handed out again. */
static void dirty(void)
{
    for (int i = 0; i < 20000; i++)
        memset(GC_malloc(sizes[i % 14]), 0xee, sizes[i % 14]);
}

static void check_reclaimed_zero(void)
{
    bool zero = true;

    for (int round = 0; round < 3; round++) {
        api_run(dirty);
        api_collect();
        for (int i = 0; i < 20000; i++)
            zero = zero && all_bytes(GC_malloc(sizes[i % 14]), sizes[i % 14], 0);
    }
    tap_ok(zero, "reclaimed memory is zero again");
}

static int static_word;
static volatile size_t too_much = SIZE_MAX / 2 + 2, wraps = SIZE_MAX - 100;  /* volatile: or the compiler warns */

static void check_addresses(void)
{
    char local = 0, *object = GC_malloc(1000), *middle = GC_malloc(100000);

    tap_ok(GC_base(object) == object && GC_base(object + 999) == object, "GC_base finds the object");
    tap_ok(GC_base(middle + 99999) == middle && GC_base(middle + 54321) == middle, "and a large one");
    tap_ok(GC_base(NULL) == NULL && GC_base(&local) == NULL && GC_base(&static_word) == NULL,
           "GC_base knows nothing of NULL, the stack and static data");
    tap_ok(GC_is_heap_ptr(object) && GC_is_heap_ptr(object + 999) && GC_is_heap_ptr(middle + 99999),
           "GC_is_heap_ptr of heap addresses");
    tap_ok(!GC_is_heap_ptr(NULL) && !GC_is_heap_ptr(&local) && !GC_is_heap_ptr(&static_word),
           "GC_is_heap_ptr of others");
}

static bool is_counted(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != (unsigned char)(i * 7 + 1))
            return false;
    return true;
}

static bool resize(size_t from, size_t to)
{
    unsigned char *object = GC_malloc(from), *other;
    size_t common = from < to ? from : to;

    for (size_t i = 0; i < from; i++)
        object[i] = (unsigned char)(i * 7 + 1);
    other = GC_realloc(object, to);
    return other != NULL && GC_size(other) > to && is_counted(other, common)
        && (to <= from || all_bytes(other + from, to - from, 0));
}

static void check_realloc(void)
{
    bool kept = true;
    char *object;

    for (int from = 1; from < SIZES; from++)
        for (int to = 1; to < SIZES; to++)
            kept = kept && resize(sizes[from], sizes[to]);
    tap_ok(kept, "GC_realloc keeps the contents, adds zeros");
    object = GC_realloc(NULL, 100);
    tap_ok(object != NULL && GC_base(object) == object && all_bytes(object, 100, 0), "GC_realloc(NULL) allocates");
    tap_ok(GC_realloc(object, 0) == NULL, "GC_realloc to nothing frees");
    tap_ok(!api_on_sgc || GC_base(object) == NULL, "really");
    object = GC_malloc(1000);
    tap_ok(GC_realloc(object, 990) == object, "a little smaller: the same object");
    tap_ok(GC_realloc(object, too_much) == NULL, "GC_realloc to PTRDIFF_MAX + 1 fails");
    tap_ok(GC_base(object) == object, "and leaves the object alone");
}

static void check_strings(void)
{
    char text[] = "collector", *copy = GC_strdup(text);

    tap_ok(copy != text && strcmp(copy, "collector") == 0, "GC_strdup copies");
    tap_ok(GC_strdup(NULL) == NULL, "GC_strdup(NULL) is NULL");
    tap_ok(strcmp(GC_strdup(""), "") == 0, "GC_strdup of the empty string");
    tap_ok(strcmp(GC_strndup(text, 7), "collect") == 0, "GC_strndup cuts");
    tap_ok(strcmp(GC_strndup(text, 100), "collector") == 0, "GC_strndup stops at the end");
    tap_ok(strcmp(GC_strndup(text, SIZE_MAX), "collector") == 0, "even with the largest limit");
    tap_ok(GC_strndup(text, 0)[0] == '\0', "GC_strndup of nothing");
}

static bool aligned_object(size_t alignment, size_t size)
{
    char *object = GC_memalign(alignment, size);
    bool good = object != NULL && (uintptr_t)object % (alignment == 0 ? 16 : alignment) == 0
        && all_bytes(object, size, 0) && GC_base(object + size) == GC_base(object);

    if (good && api_on_sgc) {
        good = GC_base(object) == object && GC_size(object) > size;
        memset(object, 0xdd, size);
        GC_free(object);
    }
    return good;
}

static void check_memalign(void)
{
    size_t most = api_on_sgc ? 65536 : 4096;
    bool good = true;

    for (size_t alignment = 1; alignment <= most; alignment *= 2)
        for (int i = 0; i < SIZES; i++)
            good = good && aligned_object(alignment, sizes[i]);
    tap_ok(good, "GC_memalign, 1 to %zu bytes", most);
    tap_ok(aligned_object(0, 100), "alignment 0 is the usual one");
    tap_ok(GC_memalign((size_t)1 << 46, 100) == NULL, "an alignment beyond any heap fails");
    tap_ok(GC_memalign(64, wraps) == NULL, "so does a size that overflows with the alignment");
}

static void check_posix_memalign(void)
{
    void *object = &static_word;

    tap_ok(GC_posix_memalign(&object, 3, 100) == EINVAL, "GC_posix_memalign: 3 is no alignment");
    tap_ok(GC_posix_memalign(&object, 0, 100) == EINVAL, "nor 0");
    tap_ok(GC_posix_memalign(&object, 4, 100) == EINVAL, "nor less than a pointer");
    tap_ok(GC_posix_memalign(&object, 48, 100) == EINVAL, "nor 48");
    tap_ok(object == &static_word, "the result is untouched");
    tap_ok(GC_posix_memalign(&object, (size_t)1 << 46, 100) == ENOMEM, "too much is ENOMEM");
    tap_ok(GC_posix_memalign(&object, 1024, 100) == 0 && (uintptr_t)object % 1024 == 0, "1024 works");
}

static bool good_list(size_t size, int *count)
{
    bool good = true;
    void *next;

    *count = 0;
    for (void *object = GC_malloc_many(size); object != NULL; object = next) {
        next = GC_NEXT(object);
        good = good && GC_base(object) == object && GC_size(object) >= size
            && all_bytes((char *)object + sizeof(void *), size - sizeof(void *), 0);
        memset(object, 0xcc, size);
        ++*count;
    }
    return good && *count >= 1;
}

static void check_many(void)
{
    bool good = true;
    int count, most = 0;

    for (int i = 2; i < SIZES; i++) {
        good = good && good_list(sizes[i], &count);
        most = count > most ? count : most;
    }
    tap_ok(good, "GC_malloc_many gives distinct, zeroed objects");
    tap_ok(most > 10 || getenv("SGC_TORTURE") != NULL, "of small sizes, many (%d)", most);
}

static void check_refusals(void)
{
    allocator *all[] = { GC_malloc, GC_malloc_atomic, GC_malloc_uncollectable, GC_malloc_atomic_uncollectable,
                         GC_malloc_ignore_off_page, GC_malloc_atomic_ignore_off_page };
    volatile size_t sizes_refused[] = { SIZE_MAX, SIZE_MAX - 15, SIZE_MAX / 2 + 1, (size_t)1 << 46 };
    bool refused = true;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        for (int n = 0; n < 4; n++)
            refused = refused && all[i](sizes_refused[n]) == NULL;
    tap_ok(refused, "SIZE_MAX, PTRDIFF_MAX + 1 and the like: NULL");
    tap_ok(GC_malloc(100) != NULL, "and the heap goes on");
}

/* Made and freed over and over, as operator new and delete do: the same slots serve. */
static void check_churn(const char *name, allocator *allocate)
{
    enum { ROUNDS = 200000, BYTES = 100, KEPT = 10 };
    size_t before = GC_get_heap_size();
    void *kept[KEPT] = { NULL };

    for (int i = 0; i < ROUNDS; i++) {
        GC_free(kept[i % KEPT]);
        kept[i % KEPT] = allocate(BYTES);
        memset(kept[i % KEPT], i, BYTES);
    }
    tap_ok(GC_get_heap_size() - before < ROUNDS * BYTES / 4, "%s: what is freed serves again (the heap grew by %zu bytes)",
           name, GC_get_heap_size() - before);
}

int main(void)
{
    GC_INIT();
    check_allocator("GC_malloc", GC_malloc, true, 1);
    check_allocator("GC_malloc_atomic", GC_malloc_atomic, false, 1);
    check_allocator("GC_malloc_uncollectable", GC_malloc_uncollectable, true, 0);
    check_allocator("GC_malloc_atomic_uncollectable", GC_malloc_atomic_uncollectable, false, 0);
    check_allocator("GC_malloc_ignore_off_page", GC_malloc_ignore_off_page, true, 1);
    check_allocator("GC_malloc_atomic_ignore_off_page", GC_malloc_atomic_ignore_off_page, false, 1);
    check_churn("GC_malloc", GC_malloc);
    check_churn("GC_malloc_uncollectable", GC_malloc_uncollectable);
    check_churn("GC_malloc_atomic_uncollectable", GC_malloc_atomic_uncollectable);
    return tap_all(check_sizes, check_reclaimed_zero, check_addresses, check_realloc, check_strings,
                   check_memalign, check_posix_memalign, check_many, check_refusals);
}
