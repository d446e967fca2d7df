/* SPDX-License-Identifier: MIT */
/*
 * Typed objects.  On any mutator.
 *
 * All are of one kind: the descriptor of an object is the last word of its slot.  It is 0, which
 * means no pointers, until the object has been handed out.  How descriptors look that do not fit
 * into a word: mark/layouts.h.
 */
#include "gc/api/api.h"
#include "gc/gc_typed.h"

#include <string.h>

#include "gc/api/objects.h"
#include "gc/collect/allocate.h"
#include "mark/layouts.h"

enum {
    WORD = sizeof(GC_word),
    BITS = 8 * WORD,
    SHORT = BITS - GC_DS_TAG_BITS,      /* bits that fit into a descriptor */
};

#define EVERYTHING sgc_ds_proc(SGC_PROC_LAYOUT, SGC_LAYOUT_ALL)

/* ---- descriptors ---- */

static bool bit_at(const GC_word *bitmap, size_t n)
{
    return (bitmap[n / BITS] >> n % BITS & 1) != 0;
}

/* Up to and with the last that is set. */
static size_t meaningful(const GC_word *bitmap, size_t length)
{
    while (length > 0 && !bit_at(bitmap, length - 1))
        length--;
    sgc_assert(length == 0 || bit_at(bitmap, length - 1));
    return length;
}

static bool all_set(const GC_word *bitmap, size_t length)
{
    while (length > 0 && bit_at(bitmap, length - 1))
        length--;
    return length == 0;
}

/* `count` bits from the n-th on, as far as there are so many; the n-th is the highest of the
 * result. */
static uintptr_t bits_from(const GC_word *bitmap, size_t n, size_t count, size_t length)
{
    uintptr_t bits = 0;

    sgc_assert(count <= BITS && n <= length);
    for (size_t i = 0; i < count && n + i < length; i++)
        bits |= (uintptr_t)bit_at(bitmap, n + i) << (BITS - 1 - i);
    return bits;
}

static GC_descr long_descriptor(const GC_word *bitmap, size_t length)
{
    size_t count = (length + SGC_LAYOUT_BITS - 1) / SGC_LAYOUT_BITS;
    uintptr_t *words, number = sgc_layout_add(count, &words);

    sgc_assert(length > SHORT);
    if (words == NULL) {
        sgc_warn(
            "GC_make_descriptor: no memory for a bitmap of %zu bits; all these words of the objects count as pointers. Make "
            "one descriptor for each type, and keep it",
            length);
        return length * WORD;
    }
    for (size_t i = 0; i < count; i++)
        words[i] = bits_from(bitmap, i * SGC_LAYOUT_BITS, SGC_LAYOUT_BITS, length) | (i + 1 < count ? SGC_LAYOUT_MORE : 0);
    return sgc_ds_proc(SGC_PROC_LAYOUT, number);
}

GC_descr GC_make_descriptor(const GC_word *bitmap, size_t length)
{
    if (length != 0 && (bitmap == NULL || length > PTRDIFF_MAX / WORD)) {
        sgc_warn(
            "GC_make_descriptor(%p, %zu): %s; all words of the objects count as pointers. Pass a bitmap and the number of its "
            "bits",
            (const void *)bitmap, length, bitmap == NULL ? "there is no bitmap" : "no object has so many words");
        return EVERYTHING;
    }
    length = length != 0 ? meaningful(bitmap, length) : 0;
    if (all_set(bitmap, length))
        return length * WORD;
    if (length <= SHORT)
        return bits_from(bitmap, 0, SHORT, length) | GC_DS_BITMAP;
    return long_descriptor(bitmap, length);
}

/* ---- the kind ---- */

SGC_STATE static sgc_a32_t typed_kind;      /* 0: not made yet.  Release / acquire */

static uint32_t kind_of_typed(void)
{
    static const struct sgc_kind kind = {
        .descriptor = (uintptr_t)-WORD | GC_DS_PER_OBJECT, .add_size = true, .clear = true, .scan = SGC_SCAN_DESCRIBED,
    };
    uint32_t number = sgc_a32_load_acq(&typed_kind);

    return number != 0 ? number : sgc_api_own_kind(&typed_kind, &kind, "typed objects");
}

bool sgc_api_is_typed(uint32_t kind)
{
    return sgc_kind_is_client(kind) && kind == sgc_a32_load_acq(&typed_kind);
}

/* ---- objects ---- */

static GC_descr *descriptor_place(const struct sgc_object *o)
{
    sgc_assert(sgc_api_object_ok(o));
    return (GC_descr *)(o->start + o->bytes) - 1;
}

static struct sgc_array_end *array_end(const struct sgc_object *o)
{
    sgc_assert(o->bytes >= sizeof(struct sgc_array_end));
    return (struct sgc_array_end *)(o->start + o->bytes) - 1;
}

size_t sgc_api_typed_usable(const struct sgc_object *o)
{
    bool array = sgc_ds_is_proc(*descriptor_place(o), SGC_PROC_ARRAY);

    return o->bytes - (array ? sizeof(struct sgc_array_end) : WORD);
}

/* Room behind the object for `end` bytes: the end byte is a part of that.  If there are no kinds
 * left it is an ordinary one. */
static bool allocate(size_t size, size_t end, bool near_start, struct sgc_object *o)
{
    uint32_t kind = kind_of_typed();
    void *object;

    sgc_assert(end >= WORD);
    if (size > PTRDIFF_MAX - SGC_PAGE)
        return false;
    object = sgc_allocate_or_null(size + end - sgc_heap.config.end_byte, kind);
    if (object == NULL || !sgc_object_slot((uintptr_t)object, o))
        return false;
    sgc_assert(sgc_api_object_ok(o) && o->bytes >= size + end);
    if (near_start)
        sgc_api_near_start(o);
    return true;
}

static void *small_typed(size_t request, GC_descr descriptor)
{
    char *object = sgc_allocate_or_null(request, kind_of_typed());

    sgc_assert(sgc_fast_bytes(request) % WORD == 0 && sgc_fast_bytes(request) >= request);
    if (object != NULL)
        *((GC_descr *)(void *)(object + sgc_fast_bytes(request)) - 1) = descriptor;
    return object;
}

static void *typed(size_t size, GC_descr descriptor, bool near_start)
{
    struct sgc_object o;

    if (size <= SGC_FAST_MAX - WORD)
        return small_typed(size + WORD - sgc_heap.config.end_byte, descriptor);
    if (!allocate(size, WORD, near_start, &o))
        return NULL;
    *descriptor_place(&o) = descriptor;
    return (void *)o.start;
}

void *sgc_api_typed_everything(size_t size)
{
    return typed(size, EVERYTHING, false);
}

/* Only those of GC_calloc_explicitly_typed are arrays. */
static GC_descr checked(const char *function, GC_descr descriptor)
{
    if (!sgc_ds_is_proc(descriptor, SGC_PROC_ARRAY))
        return descriptor;
    sgc_warn("%s: %p is no descriptor; all words of the object count as pointers. Pass what GC_make_descriptor returned",
             function, (void *)descriptor);
    return EVERYTHING;
}

__attribute__((noinline))
static void *typed_slowly(size_t size, GC_descr descriptor)
{
    void *object = typed(size, checked("GC_malloc_explicitly_typed", descriptor), false);

    return object != NULL ? object : sgc_out_of_memory(size);
}

/* Jumped to. */
__attribute__((noinline))
static void *typed_missed(size_t size, GC_descr descriptor, struct sgc_cache *cache)
{
    sgc_brief_end(&cache->section);
    return typed_slowly(size, descriptor);
}

/* The common path of sgc_allocate for a kind that keeps no freed slots. */
void *GC_malloc_explicitly_typed(size_t size, GC_descr descriptor)
{
    struct sgc_cache *cache = sgc_fast_cache;
    uint32_t kind = sgc_a32_load_acq(&typed_kind);
    struct sgc_bin *bin;
    char *object;

    if (__builtin_expect(size > SGC_FAST_MAX - WORD || kind == 0 || sgc_ds_is_proc(descriptor, SGC_PROC_ARRAY), 0))
        return typed_slowly(size, descriptor);
    bin = sgc_fast_bin(cache, size + WORD - sgc_heap.config.end_byte, kind);
    sgc_brief_enter(&cache->section);
    if (__builtin_expect(!sgc_bin_has_run(bin), 0))
        return typed_missed(size, descriptor, cache);
    object = sgc_bin_bump(bin);
    *((GC_descr *)(void *)(object + bin->size) - 1) = descriptor;
    if (sgc_brief_leave(&cache->section))
        return sgc_brief_leave_slowly(&cache->section, object);
    return object;
}

void *GC_malloc_explicitly_typed_ignore_off_page(size_t size, GC_descr descriptor)
{
    void *object = typed(size, checked("GC_malloc_explicitly_typed_ignore_off_page", descriptor), true);

    return object != NULL ? object : sgc_out_of_memory(size);
}

/* ---- arrays ---- */

/* The descriptor as a bitmap, without what lies beyond the element; others stay as they are. */
static GC_descr short_form(GC_descr descriptor, size_t words)
{
    uintptr_t mask = words >= SHORT ? ~(uintptr_t)GC_DS_TAGS : ~(UINTPTR_MAX >> words);

    if ((descriptor & GC_DS_TAGS) == GC_DS_LENGTH && descriptor / WORD <= SHORT && descriptor != 0)
        descriptor = ~(UINTPTR_MAX >> descriptor / WORD) | GC_DS_BITMAP;
    return (descriptor & GC_DS_TAGS) == GC_DS_BITMAP ? (descriptor & mask) | GC_DS_BITMAP : descriptor;
}

/* The bitmap of a few elements, one after the other. */
static GC_descr repeated(GC_descr descriptor, size_t words, size_t count)
{
    uintptr_t one = descriptor & ~(uintptr_t)GC_DS_TAGS, all = 0;

    sgc_assert(words > 0 && count * words <= SHORT && (descriptor & GC_DS_TAGS) == GC_DS_BITMAP);
    for (size_t i = 0; i < count; i++)
        all |= one >> i * words;
    return all | GC_DS_BITMAP;
}

static void *true_array(size_t bytes, size_t size, GC_descr descriptor)
{
    struct sgc_object o;
    struct sgc_array_end *end;

    sgc_assert(size % WORD == 0);
    if (!allocate(bytes, sizeof *end, false, &o))
        return NULL;
    end = array_end(&o);
    end->element_bytes = size;
    end->element_descriptor = descriptor;
    sgc_compiler_barrier();
    *(volatile uintptr_t *)&end->descriptor = sgc_ds_proc(SGC_PROC_ARRAY, 0);
    return (void *)o.start;
}

/* How an array is made, worked out once for all arrays like it.  The client's struct does not show
 * it. */
enum { TOO_LARGE, AS_OBJECT, AS_ARRAY };

struct plan {
    uintptr_t how;
    size_t bytes, element;
    GC_descr descriptor;
    uintptr_t unused[4];
};
_Static_assert(sizeof(struct plan) == sizeof(struct GC_calloc_typed_descr_s), "part of the ABI");

/* Most arrays need not be one: nothing or everything is a pointer, or there are few words. */
static struct plan plan_for(size_t count, size_t size, GC_descr descriptor)
{
    size_t words = size / WORD;
    GC_descr d = short_form(descriptor, words);
    struct plan plan = { .how = AS_OBJECT, .bytes = count * size, .descriptor = descriptor };

    if (count <= 1 || size == 0 || descriptor == 0 || descriptor == EVERYTHING)
        return plan;
    if ((descriptor & GC_DS_TAGS) == GC_DS_LENGTH && descriptor >= size)
        plan.descriptor = count * size;
    else if ((d & GC_DS_TAGS) == GC_DS_BITMAP && count <= SHORT / words)
        plan.descriptor = repeated(d, words, count);
    else
        plan = (struct plan){ .how = AS_ARRAY, .bytes = count * size, .element = size, .descriptor = d };
    return plan;
}

static struct plan plan_checked(const char *function, size_t count, size_t size, GC_descr descriptor)
{
    size_t bytes;

    descriptor = checked(function, descriptor);
    if (size % WORD != 0 && descriptor != EVERYTHING && descriptor != 0) {
        sgc_warn(
            "%s: elements of %zu bytes; a multiple of %d is expected, so that all have their pointers at the same places; all "
            "words of the array count as pointers. Round the size up", function, size, (int)WORD);
        descriptor = EVERYTHING;
    }
    if (__builtin_mul_overflow(count, size, &bytes))
        return (struct plan){ .how = TOO_LARGE, .bytes = SIZE_MAX };
    return plan_for(count, size, descriptor);
}

static void *make(const struct plan *plan)
{
    void *object = NULL;

    if (plan->how == AS_OBJECT)
        object = typed(plan->bytes, plan->descriptor, false);
    else if (plan->how == AS_ARRAY)
        object = true_array(plan->bytes, plan->element, plan->descriptor);
    return object != NULL ? object : sgc_out_of_memory(plan->bytes);
}

void *GC_calloc_explicitly_typed(size_t count, size_t size, GC_descr descriptor)
{
    struct plan plan = plan_checked("GC_calloc_explicitly_typed", count, size, descriptor);

    sgc_assert(plan.how == TOO_LARGE || plan.bytes == count * size);
    return make(&plan);
}

static bool is_plan(const char *function, size_t bytes)
{
    if (bytes == sizeof(struct plan))
        return true;
    sgc_warn("%s: a struct of %zu bytes; %zu are expected; nothing is done. Pass sizeof(struct GC_calloc_typed_descr_s)",
             function, bytes, sizeof(struct plan));
    return false;
}

int GC_calloc_prepare_explicitly_typed(struct GC_calloc_typed_descr_s *prepared, size_t bytes, size_t count, size_t size,
                                       GC_descr descriptor)
{
    static const char function[] = "GC_calloc_prepare_explicitly_typed";
    struct plan plan;

    if (!is_plan(function, bytes))
        return 0;
    plan = plan_checked(function, count, size, descriptor);
    memcpy(prepared, &plan, sizeof plan);
    return plan.how != TOO_LARGE;
}

void *GC_calloc_do_explicitly_typed(const struct GC_calloc_typed_descr_s *prepared, size_t bytes)
{
    struct plan plan;

    if (!is_plan("GC_calloc_do_explicitly_typed", bytes))
        return NULL;
    memcpy(&plan, prepared, sizeof plan);
    return make(&plan);
}

/* ---- resizing ---- */

/* Exact up to the last pointer; the words behind it may be pointers. */
static GC_descr bitmap_for(GC_descr descriptor, size_t size)
{
    uintptr_t bits = descriptor & ~(uintptr_t)GC_DS_TAGS;
    size_t words = sgc_round_up(size, WORD) / WORD;

    sgc_assert((descriptor & GC_DS_TAGS) == GC_DS_BITMAP);
    if (bits == 0)
        return descriptor;
    if (words > SHORT)
        return EVERYTHING;
    bits |= (bits & -bits) - 1;
    return (bits & ~(UINTPTR_MAX >> words) & ~(uintptr_t)GC_DS_TAGS) | GC_DS_BITMAP;
}

/* The descriptor of an object that has another size now.  The object may be an array that is stored
 * as an ordinary object, so added words, which begin somewhere behind the last pointer that is
 * known, may be pointers; unless there never were any.  A descriptor with a mark procedure of the
 * program's stays as it is. */
static GC_descr descriptor_for(GC_descr descriptor, size_t size, size_t had)
{
    sgc_assert(!sgc_ds_is_proc(descriptor, SGC_PROC_ARRAY));
    if (descriptor == 0)
        return 0;
    if ((descriptor & GC_DS_TAGS) == GC_DS_BITMAP)
        return bitmap_for(descriptor, size);
    if ((descriptor & GC_DS_TAGS) == GC_DS_LENGTH || (size > had && sgc_ds_is_proc(descriptor, SGC_PROC_LAYOUT)))
        return EVERYTHING;
    return descriptor;
}

/* A new object for so many bytes of an old one.  An array stays one as far as whole elements
 * fit. */
static void *like(const struct sgc_object *o, size_t size)
{
    const struct sgc_array_end *end;

    sgc_assert(sgc_api_object_ok(o));
    if (!sgc_ds_is_proc(*descriptor_place(o), SGC_PROC_ARRAY))
        return typed(size, descriptor_for(*descriptor_place(o), size, sgc_api_typed_usable(o)), false);
    end = array_end(o);
    return true_array(sgc_round_up(size, WORD), end->element_bytes, end->element_descriptor);
}

void *sgc_api_typed_resize(const struct sgc_object *o, size_t size)
{
    size_t had = sgc_api_typed_usable(o);
    void *fresh = size <= PTRDIFF_MAX - SGC_PAGE ? like(o, size) : NULL;

    sgc_assert(sgc_api_object_ok(o) && sgc_api_is_typed(o->kind) && had < o->bytes);
    if (fresh == NULL)
        return sgc_out_of_memory(size);
    sgc_api_copy(fresh, (void *)o->start, size < had ? size : had);
    sgc_api_free_moved(sgc_mutator_self(), (void *)o->start);
    return fresh;
}
