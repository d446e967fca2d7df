/* SPDX-License-Identifier: MIT */
/* Calls that make, free and ask about objects.  See tests/fuzz/model.h. */
#include "tests/fuzz/model.h"

#include <errno.h>
#include <string.h>

#include "tests/lib/bytes.h"

static struct type { void *unused; GC_word descriptor; } by_bitmap = { NULL, (GC_word)5 << 60 | GC_DS_BITMAP },
    by_procedure = { NULL, GC_MAKE_PROC(GC_GCJ_RESERVED_MARK_PROC_INDEX, 0) };
static GC_descr descriptor;
static int plain_kind, disclaim_kind;
static int warnings;
static const struct GC_finalizer_closure closure = { finalize_dead, NULL };

/* ---- kinds ---- */

static struct GC_ms_entry *mark(GC_word *object, struct GC_ms_entry *top, struct GC_ms_entry *limit, GC_word env)
{
    (void)env;
    for (int i = 1; object[0] != 0 && i < EDGES; i++)
        top = GC_MARK_AND_PUSH((void *)object[i], top, limit, (void **)&object[i]);
    return top;
}

static void GC_CALLBACK count_warning(char *format, GC_word argument)
{
    (void)format, (void)argument;
    warnings++;
}

static void *GC_CALLBACK no_memory(size_t bytes)
{
    fuzz_expect(limited || bytes > PTRDIFF_MAX / 2, "there is no memory for %zu bytes", bytes);
    return NULL;
}

void prepare_kinds(void)
{
    GC_word bits[1] = { 5 };

    GC_set_warn_proc(count_warning);
    GC_set_oom_fn(no_memory);
    descriptor = GC_make_descriptor(bits, EDGES);
    GC_init_gcj_malloc(GC_GCJ_RESERVED_MARK_PROC_INDEX, (void *)mark);
    plain_kind = (int)GC_new_kind(GC_new_free_list(), 0, 1, 1);
    disclaim_kind = (int)GC_new_kind(GC_new_free_list(), 0, 1, 1);
    GC_register_disclaim_proc(disclaim_kind, disclaim, 0);
    GC_init_finalized_malloc();
}

/* ---- sizes ---- */

size_t size_of(struct fuzz_input *in)
{
    unsigned code = fuzz_byte(in);

    if (code < 160)
        return code;
    if (code < 220)
        return (size_t)fuzz_below(in, 4000);
    if (code < 250)
        return 4000 + (size_t)fuzz_below(in, 65536) / 2;
    if (code < 254)
        return 36000 + (size_t)fuzz_below(in, 65536) * 8;
    return code == 254 ? (size_t)PTRDIFF_MAX - fuzz_byte(in) : SIZE_MAX - fuzz_byte(in);
}

/* ---- allocation ---- */

static void *allocate_string(size_t size)
{
    static char text[70000];

    if (size > sizeof text)
        return NULL;
    memset(text, 'x', size);
    return GC_strndup(text, size == 0 ? 0 : size - 1);
}

/* The first of a list; the others are garbage. */
static void *allocate_many(size_t size)
{
    void *first = size < 4000 ? GC_malloc_many(size < sizeof(void *) ? sizeof(void *) : size) : NULL;

    if (first != NULL)
        GC_NEXT(first) = NULL;
    return first;
}

static void *allocate_aligned(size_t size, unsigned code)
{
    size_t alignment = (size_t)8 << code % 14;
    void *result = NULL;

    if (code >= 128)
        return GC_memalign(alignment, size);
    int error = GC_posix_memalign(&result, alignment, size);
    fuzz_expect((error == 0) == (result != NULL), "GC_posix_memalign: %d", error);
    fuzz_expect(((uintptr_t)result & (alignment - 1)) == 0, "GC_posix_memalign(%zu): %p", alignment, result);
    return result;
}

static void *allocate(enum how how, size_t size, unsigned code)
{
    switch (how) {
    case ATOMIC: return GC_malloc_atomic(size);
    case UNCOLLECTABLE: return GC_malloc_uncollectable(size);
    case ATOMIC_UNCOLLECTABLE: return GC_malloc_atomic_uncollectable(size);
    case OFF_PAGE: return GC_malloc_ignore_off_page(size);
    case ATOMIC_OFF_PAGE: return GC_malloc_atomic_ignore_off_page(size);
    case ALIGNED: return allocate_aligned(size, code);
    case STRING: return allocate_string(size);
    case MANY: return allocate_many(size);
    case TYPED: return GC_malloc_explicitly_typed(size, descriptor);
    case TYPED_ARRAY: return GC_calloc_explicitly_typed(1, size, descriptor);
    case GCJ: return GC_gcj_malloc(size, &by_bitmap);
    case PROCEDURE: return GC_gcj_malloc(size, &by_procedure);
    case KIND: return code % 2 != 0 ? GC_generic_malloc(size, plain_kind) : GC_malloc_kind(size, plain_kind);
    case DISCLAIMED: return GC_malloc_kind(size, disclaim_kind);
    case FINALIZED: return GC_finalized_malloc(size, &closure);
    case DEBUG_PLAIN: return GC_debug_malloc(size, __FILE__, __LINE__);
    case DEBUG_ATOMIC: return GC_debug_malloc_atomic(size, __FILE__, __LINE__);
    case DEBUG_UNCOLLECTABLE: return GC_debug_malloc_uncollectable(size, __FILE__, __LINE__);
    default: return GC_malloc(size);
    }
}

/* What the kind needs at least. */
static size_t size_for(enum how how, size_t size)
{
    bool needs_edges = first_word(how) != 0 || how == TYPED || how == TYPED_ARRAY || is_disclaimed(how);
    size_t words = needs_edges ? (size_t)first_word(how) + EDGES : 0;

    if (how == TYPED_ARRAY)
        size = (size + EDGES * sizeof(uintptr_t) - 1) & ~(EDGES * sizeof(uintptr_t) - 1);
    if (size < words * sizeof(uintptr_t))
        size = words * sizeof(uintptr_t);
    return size == 0 && how == STRING ? 1 : size;
}

static size_t offset_of(enum how how)
{
    return is_debug(how) ? GC_get_debug_header_size() : how == FINALIZED ? sizeof(void *) : 0;
}

/* Nothing of an object that is alive may lie there. */
static void check_new(const char *p, size_t size, enum how how)
{
    const char *base = p - offset_of(how);

    fuzz_expect(((uintptr_t)base & 15) == 0, "%p is no address of an object", (const void *)p);
    fuzz_expect(GC_base((void *)(uintptr_t)p) == base && GC_size(base) >= size + offset_of(how),
                "%p: asked for %zu bytes, got %zu", (const void *)p, size, GC_size(base));
    fuzz_expect(!is_debug(how) || GC_size(p) == size, "%p, with guards: asked for %zu bytes, got %zu", (const void *)p, size,
                GC_size(p));
    model_reach();
    for (int h = 0; h < HANDLES; h++) {
        const char *other = (const char *)address_of(h);

        fuzz_expect(!kept[h] || p + size <= other || other + handle[h].size <= p, "%p, of %zu bytes, lies in object %d",
                    (const void *)p, size, h);
        fuzz_expect(!kept[h] || p != other, "%p is object %d, which is alive", (const void *)p, h);
    }
    if (how != STRING && is_scanned(how)) {
        size_t type = (size_t)first_word(how) * sizeof(uintptr_t);
        fuzz_expect(all_zero(p + type, size - type), "a new object of kind %d and %zu bytes is not zero", (int)how, size);
    }
}

static void adopt(int h, void *p, size_t size, enum how how)
{
    handle[h] = (struct handle){ .hidden = ~(uintptr_t)p, .size = size, .offset = offset_of(how), .how = how,
                                 .edge = { NONE, NONE, NONE, NONE }, .data = NONE, .link = NONE };
    if (has_edges(h) && !is_scanned(how))
        memset(p, 0, EDGES * sizeof(uintptr_t));
    fill(h, (uintptr_t)h * UINT64_C(0x9e3779b97f4a7c15) + size);
    GC_end_stubborn_change(base_of(h));
}

void op_allocate(struct fuzz_input *in)
{
    int h = free_handle(fuzz_byte(in));
    enum how how = (enum how)fuzz_below(in, HOWS);
    unsigned code = fuzz_byte(in);
    size_t size = size_for(how, size_of(in));

    if (h == NONE || used_bytes() > (size_t)64 << 20)
        return;
    if (how == STRING && size > 60000)
        size = 60000;
    if (how == MANY && size >= 4000)
        how = PLAIN;
    if (how == MANY && size < sizeof(void *))
        size = sizeof(void *);
    void *p = allocate(how, size, code);

    if (p == NULL) {
        fuzz_expect(limited || size > PTRDIFF_MAX / 2 || (how == ALIGNED && code % 14 > 12),
                    "no object of kind %d and %zu bytes", (int)how, size);
        return;
    }
    fuzz_expect(size <= PTRDIFF_MAX / 2, "an object of %zu bytes", size);
    check_new(p, size, how);
    forget_before((char *)p - offset_of(how));
    adopt(h, p, size, how);
    if (!is_uncollectable(how))
        set_place(h, IN_STATIC, 0);
}

void op_garbage(struct fuzz_input *in)
{
    unsigned count = 1 + fuzz_byte(in);
    size_t size = 16 + (size_t)fuzz_below(in, 3000);

    while (count-- > 0) {
        void **p = GC_malloc(size);

        fuzz_expect(p != NULL || limited, "no object of %zu bytes", size);
        if (p != NULL) {
            forget_before(p);
            *p = p;
        }
    }
}

/* ---- free ---- */

/* Nothing that is looked at leads there any more. */
void clear_edges_to(int h)
{
    model_reach();
    for (int i = 0; i < HANDLES; i++)
        for (int e = 0; e < EDGES; e++)
            if (kept[i] && handle[i].edge[e] == h)
                set_edge(i, e, NONE);
            else if (handle[i].hidden != 0 && handle[i].edge[e] == h)
                handle[i].edge[e] = STALE;
}

bool is_data(int h)
{
    for (int i = 0; i < HANDLES; i++)
        if (handle[i].order != UNREGISTERED && handle[i].data == h)
            return true;
    return false;
}

void release_object(int h)
{
    void *p = address_of(h);

    bool debug = is_debug(handle[h].how);

    check_contents(h);
    clear_edges_to(h);
    unlink_in(h);
    lose_registrations(h);
    void *base = base_of(h);
    forget(h);
    warnings = 0;
    if (debug)
        GC_debug_free(p);
    else
        GC_free(base);
    fuzz_expect(warnings == 0, "GC_free of object %d: %d warnings", h, warnings);
}

void op_free(struct fuzz_input *in)
{
    int h = used_handle(fuzz_byte(in));

    if (h != NONE && !is_data(h))
        release_object(h);
}

/* Each is reported, and nothing happens. */
void op_free_wrongly(struct fuzz_input *in)
{
    int h = used_handle(fuzz_byte(in));
    unsigned how = fuzz_below(in, 5);
    int local = 0;

    if (h == NONE || is_debug(handle[h].how) || (how == 4 && is_data(h)))
        return;
    char *p = base_of(h);
    unsigned inside = handle[h].size < 256 ? (unsigned)handle[h].size : 256;
    warnings = 0;
    switch (how) {
    case 0: GC_free(p + 1 + fuzz_below(in, inside > 1 ? inside - 1 : 1)); break;
    case 1: GC_free(&local); break;
    case 2: GC_free(&warnings); break;
    case 3: fuzz_expect(GC_realloc(p + 8, 100) == NULL, "GC_realloc of an address inside"); break;
    default:
        release_object(h);
        GC_free(p);
    }
    fuzz_expect(warnings == 1, "a wrong free, %u: %d warnings", how, warnings);
}

/* ---- others ---- */

void op_edge(struct fuzz_input *in)
{
    int from = used_handle(fuzz_byte(in)), to = used_handle(fuzz_byte(in));
    unsigned code = fuzz_byte(in);

    if (from != NONE && has_edges(from) && (follows(from, (int)(code % EDGES)) || !handle[from].resized))
        set_edge(from, (int)(code % EDGES), code >= 192 ? NONE : to);
}

void op_fill(struct fuzz_input *in)
{
    int h = used_handle(fuzz_byte(in));

    if (h == NONE)
        return;
    check_contents(h);
    fill(h, handle[h].seal * 3 + fuzz_byte(in));
}

/* Also for who has the allocation lock. */
void check_address(int h, size_t at)
{
    char *p = (char *)address_of(h);

    fuzz_expect(GC_base(p + at) == base_of(h), "GC_base of %zu bytes behind object %d", at, h);
    fuzz_expect(GC_size(base_of(h)) >= handle[h].size + handle[h].offset, "object %d of %zu bytes has %zu", h, handle[h].size,
                GC_size(base_of(h)));
    fuzz_expect(GC_is_heap_ptr(p + at), "object %d is not in the heap", h);
}

/* What a root leads to has a way from one. */
static void check_way(int h)
{
    SGC_held_t held;

    if ((handle[h].places & IN_STATIC) == 0 || handle[h].seal % 4 != 0)
        return;
    held = SGC_find_way(address_of(h), NULL, NULL);
    fuzz_expect(held != SGC_HELD_NOT_HEAP && held != SGC_HELD_NO_OBJECT && held != SGC_HELD_BY_NOTHING,
                "object %d is held by static data, and SGC_find_way says %d", h, (int)held);
}

void op_query(struct fuzz_input *in)
{
    int h = used_handle(fuzz_byte(in));
    unsigned offset = fuzz_below(in, 65536);
    size_t psize = 0;

    if (h == NONE)
        return;
    char *p = (char *)address_of(h);
    size_t at = handle[h].size != 0 ? offset % handle[h].size : 0;

    check_address(h, at);
    fuzz_expect(GC_get_kind_and_size(base_of(h), &psize) >= 0 && psize >= handle[h].size, "object %d: %zu bytes", h, psize);
    fuzz_expect(GC_same_obj(p, p + at) == p, "GC_same_obj of object %d", h);
    check_contents(h);
    check_way(h);
}
