/* SPDX-License-Identifier: MIT */
/*
 * Kinds of clients, mark procedures and what these call.  Making them: any thread, any time; the
 * tables are in alloc/pages/kind.h and mark/mark_procs.h.  GC_mark_and_push: on the marker that
 * runs the procedure.
 */
#include "gc/api/api.h"

#include <errno.h>

#include "gc/api/guards.h"
#include "gc/api/objects.h"
#include "gc/collect/allocate.h"
#include "gc/snapshot/snapshot.h"
#include "mark/descriptor.h"
#include "mark/layouts.h"
#include "platform/platform.h"

_Static_assert(GC_DS_LENGTH == (int)SGC_DS_LENGTH && GC_DS_BITMAP == (int)SGC_DS_BITMAP && GC_DS_PROC == (int)SGC_DS_PROC &&
               GC_DS_PER_OBJECT == (int)SGC_DS_PER_OBJECT && GC_DS_TAG_BITS == (int)SGC_DS_TAG_BITS &&
               GC_INDIR_PER_OBJ_BIAS == (int)SGC_DS_BIAS && GC_LOG_MAX_MARK_PROCS == (int)SGC_DS_PROC_BITS &&
               GC_RESERVED_MARK_PROCS == (int)SGC_MARK_PROCS_RESERVED, "the public header says the same");
_Static_assert(sizeof(GC_word) == sizeof(uintptr_t), "descriptors are words");

/* ---- free lists: there are none ---- */

enum { FREE_LIST_BYTES = 4096 };    /* more entries than any program looks at */

SGC_STATE static void *shared_list[FREE_LIST_BYTES / sizeof(void *)];

/* All zero, and outside the heap: a client that pops from it finds it empty. */
void **GC_new_free_list(void)
{
    void **list = sgc_mem_obtain(FREE_LIST_BYTES);

    return list != NULL ? list : shared_list;
}

void **GC_new_free_list_inner(void) SGC_API_SAME(GC_new_free_list);

/* ---- kinds ---- */

static bool is_length(GC_word descriptor)
{
    return (descriptor & GC_DS_TAGS) == GC_DS_LENGTH;
}

/* Objects whose words a procedure or the descriptor's place decides about must never be seen with
 * old words in them. */
static struct sgc_kind kind_from(GC_word descriptor, bool add_size, bool clear)
{
    struct sgc_kind kind = { .descriptor = descriptor, .add_size = add_size };

    if (!is_length(descriptor) || descriptor != 0)
        kind.scan = SGC_SCAN_DESCRIBED;
    else
        kind.scan = add_size ? SGC_SCAN_WORDS : SGC_SCAN_NOTHING;
    kind.clear = clear || (descriptor & GC_DS_PROC) != 0;
    sgc_assert(kind.clear || (descriptor & GC_DS_PROC) == 0);
    return kind;
}

static bool is_per_object(GC_word descriptor)
{
    return (descriptor & GC_DS_TAGS) == GC_DS_PER_OBJECT;
}

/* Why a descriptor can only be a mistake, or NULL; objects of such a kind are scanned word by
 * word. */
static const char *mistake(GC_word descriptor, bool add_size)
{
    uint32_t proc = descriptor >> GC_DS_TAG_BITS & (GC_MAX_MARK_PROCS - 1);

    if (add_size && !is_length(descriptor) && !is_per_object(descriptor))
        return "the size can only be added to a length or a distance (GC_DS_LENGTH, GC_DS_PER_OBJECT)";
    if ((descriptor & GC_DS_TAGS) == GC_DS_PROC && proc >= GC_RESERVED_MARK_PROCS && proc != SGC_PROC_LAYOUT &&
        sgc_mark_proc_at(proc) == NULL)
        return "it names a mark procedure that there is not; pass GC_MAKE_PROC what GC_new_proc returned";
    if (is_per_object(descriptor) && (add_size || (intptr_t)descriptor >= 0) &&
        (descriptor & ~(GC_word)GC_DS_TAGS) % sizeof(GC_word) != 0)
        return "the descriptor of an object must lie in it at a multiple of 8";
    if (is_length(descriptor) && descriptor > PTRDIFF_MAX)
        return "no object is so long";
    return NULL;
}

static uint32_t make_kind(const struct sgc_kind *kind)
{
    struct sgc_registry_scope scope;
    uint32_t number;

    sgc_registry_enter(&scope);
    number = sgc_caches_make_kind(kind);
    sgc_registry_leave(&scope);
    sgc_assert(number >= SGC_KINDS_BUILT_IN && number <= SGC_KINDS);
    return number;
}

static void say_none_made(const char *who, const char *instead)
{
    if (sgc_kind_count() == SGC_KINDS)
        sgc_warn("%s: there are %d kinds already; %s. Make each kind once and keep its number", who, SGC_KINDS, instead);
    else
        sgc_warn("%s: the system has no memory for what each thread keeps of a kind; %s. Free memory or raise the limit", who,
                 instead);
}

unsigned GC_new_kind(void **free_list, GC_word descriptor, int add_size, int clear)
{
    const char *why = mistake(descriptor, add_size != 0);
    struct sgc_kind kind = kind_from(descriptor, add_size != 0, clear != 0);
    uint32_t number;

    (void)free_list;
    if (why != NULL) {
        sgc_warn("GC_new_kind: descriptor %p: %s. All words of objects of this kind count as pointers", (void *)descriptor,
                 why);
        kind = kind_from(0, true, true);
    }
    number = make_kind(&kind);
    if (number != SGC_KINDS)
        return number;
    say_none_made("GC_new_kind", "1 is returned, an ordinary object with pointers");
    return GC_I_NORMAL;
}

unsigned GC_new_kind_inner(void **free_list, GC_word descriptor, int add_size, int clear) SGC_API_SAME(GC_new_kind);

uint32_t sgc_api_own_kind(sgc_a32_t *number, const struct sgc_kind *kind, const char *what)
{
    uint32_t made = SGC_KINDS;
    bool closed;

    if (sgc_api_self() == NULL)
        return SGC_KIND_CONSERVATIVE;
    closed = sgc_gc_lock_enter(sgc_mutator_self());
    if (sgc_a32_load(number) == 0 && (made = make_kind(kind)) != SGC_KINDS)
        sgc_a32_store_rel(number, made);
    made = sgc_a32_load(number);
    sgc_assert(made == 0 || (SGC_KINDS_BUILT_IN <= made && made < sgc_kind_count()));
    sgc_gc_lock_leave(closed);
    if (made != 0)
        return made;
    say_none_made(what, "ordinary objects are used instead");
    return SGC_KIND_CONSERVATIVE;
}

/* Kinds like these, but uncollectable; 0: not made yet.  Any thread, release / acquire. */
SGC_STATE static sgc_a32_t uncollectable_like[SGC_KINDS];

/* The kind of objects like that one's that are not collected; SGC_KINDS, with a message, if it
 * cannot be made. */
static uint32_t uncollectable_kind(uint32_t kind)
{
    uint32_t like = sgc_a32_load_acq(&uncollectable_like[kind]);
    struct sgc_kind copy = sgc_kinds.of[kind];

    sgc_assert(kind < sgc_kind_count());
    if (!sgc_kind_is_client(kind))
        return sgc_kind_has_pointers(kind) ? SGC_KIND_UNCOLLECTABLE : SGC_KIND_POINTER_FREE_UNCOLLECTABLE;
    if (like != 0 || copy.uncollectable)
        return like != 0 ? like : kind;
    sgc_assert(sgc_kind_is_client(kind));
    copy.uncollectable = true;
    like = make_kind(&copy);
    if (like == SGC_KINDS)
        say_none_made("GC_generic_malloc_uncollectable", "NULL is returned, since that would be a kind of its own");
    else
        sgc_a32_store_rel(&uncollectable_like[kind], like);
    return like;
}

/* ---- mark procedures ---- */

/* A reserved number, which no procedure has: objects with it are scanned word by word. */
enum { NO_PROCEDURE = GC_RESERVED_MARK_PROCS - 1 };

unsigned GC_new_proc(GC_mark_proc proc)
{
    uint32_t number = proc != NULL ? sgc_mark_proc_add(proc) : SGC_MARK_PROCS;

    sgc_assert(number <= SGC_MARK_PROCS);

    if (number != SGC_MARK_PROCS)
        return number;
    if (proc == NULL)
        sgc_warn("GC_new_proc(NULL): a mark procedure is expected; %d is returned, with which all words of an object count as "
                 "pointers", NO_PROCEDURE);
    else
        sgc_warn(
            "GC_new_proc: there are %d mark procedures already; %d is returned, with which all words of an object count as "
            "pointers. Register each procedure once and keep its number",
            SGC_MARK_PROCS_OWN - GC_RESERVED_MARK_PROCS, NO_PROCEDURE);
    return NO_PROCEDURE;
}

unsigned GC_new_proc_inner(GC_mark_proc proc) SGC_API_SAME(GC_new_proc);

static void say_no_procedure(const char *function, const void *object, const char *instead)
{
    sgc_warn("%s(%p): called outside a mark procedure; nothing is marked. In the hook of GC_set_push_other_roots use %s",
             function, object, instead);
}

/* The marker pushes what it has to on its own stack, so the client's never fills up. */
struct GC_ms_entry *GC_mark_and_push(void *object, struct GC_ms_entry *mark_stack_ptr, struct GC_ms_entry *mark_stack_limit,
                                     void **source)
{
    (void)mark_stack_limit, (void)source;
    if (!sgc_mark_for_procedure((uintptr_t)object))
        say_no_procedure("GC_mark_and_push", object, "GC_push_all");
    return mark_stack_ptr;
}

struct GC_ms_entry *GC_ms_push_obj_descr(void *object, GC_word descriptor, struct GC_ms_entry *mark_stack_ptr,
                                         struct GC_ms_entry *mark_stack_limit)
{
    void *top = mark_stack_ptr;

    (void)mark_stack_limit;
    if (sgc_marker_here != NULL)
        top = sgc_push_for_procedure(top, (uintptr_t)object, descriptor);
    else
        say_no_procedure("GC_ms_push_obj_descr", object, "GC_push_obj_descr");
    return top;
}

struct GC_ms_entry *GC_ms_push_all(void *bottom, void *top, struct GC_ms_entry *mark_stack_ptr,
                                   struct GC_ms_entry *mark_stack_limit)
{
    uintptr_t start = sgc_round_up((uintptr_t)bottom, sizeof start), end = sgc_round_down((uintptr_t)top, sizeof end);

    (void)mark_stack_limit;
    if (sgc_marker_here == NULL)
        say_no_procedure("GC_ms_push_all", bottom, "GC_push_all");
    else if (start < end)
        sgc_push_words_for_procedure(start, end);
    return mark_stack_ptr;
}

/* Finalizers, what they are registered for and their data are looked at in any case. */
void GC_push_finalizer_structures(void)
{
}

/* ---- objects by the number of their kind ---- */

bool sgc_api_good_kind(const char *function, int kind)
{
    if (kind >= 0 && (uint32_t)kind < sgc_kind_count())
        return true;
    sgc_warn(
        "%s: there is no kind %d; nothing is done, and NULL returned. Pass 0 (pointer-free), 1 (with pointers), 2 (the same, "
        "uncollectable), 3 (pointer-free, uncollectable) or what GC_new_kind returned",
        function, kind);
    return false;
}

typedef void *(*allocate_fn)(size_t size, uint32_t kind);

static void *of_kind(const char *function, size_t size, int kind, allocate_fn allocate)
{
    void *object;

    if (!sgc_api_good_kind(function, kind))
        return NULL;
    object = allocate(size, (uint32_t)kind);
    return object != NULL ? object : sgc_out_of_memory(size);
}

static void *of_uncollectable_kind(size_t size, uint32_t kind)
{
    uint32_t like = uncollectable_kind(kind);

    sgc_assert(kind < sgc_kind_count());
    sgc_assert(like == SGC_KINDS || sgc_kind_uncollectable(like));
    return like != SGC_KINDS ? sgc_api_allocate_or_null(size, like) : NULL;
}

#define OF_KIND(name, allocate) \
    void *name(size_t size, int kind) { return of_kind(#name, size, kind, allocate); }

OF_KIND(GC_malloc_kind, sgc_api_allocate_or_null)
OF_KIND(GC_malloc_kind_global, sgc_api_allocate_or_null)
OF_KIND(GC_generic_malloc, sgc_api_allocate_or_null)
OF_KIND(GC_generic_or_special_malloc, sgc_api_allocate_or_null)
OF_KIND(GC_generic_malloc_uncollectable, of_uncollectable_kind)
OF_KIND(GC_generic_malloc_ignore_off_page, sgc_api_near_start_or_null)

/* ---- lists of them, for allocators in the client's code (gc_inline.h) ---- */

/* Each of them is taken off the count as it is freed. */
static void count_uncollectable(void *first)
{
    struct sgc_object o;
    intptr_t bytes = 0;

    if (!sgc_object_slot((uintptr_t)first, &o))
        return;
    for (void *object = first; object != NULL; object = GC_NEXT(object))
        bytes += (intptr_t)o.bytes;
    sgc_api_count_uncollectable(bytes);
}

/* The size is that of the slots: the client has added an end byte if it wants one. */
void GC_generic_malloc_many(size_t size, int kind, void **result)
{
    void *first = NULL;

    if (sgc_api_good_kind("GC_generic_malloc_many", kind) && sgc_api_self() != NULL && size <= PTRDIFF_MAX)
        first = sgc_allocate_many(size, (uint32_t)kind);
    if (first != NULL && size > SGC_SMALL_MAX)
        GC_NEXT(first) = NULL;
    if (first != NULL && sgc_kind_uncollectable((uint32_t)kind))
        count_uncollectable(first);
    sgc_assert(first == NULL || sgc_heap_contains((uintptr_t)first));
    sgc_written_store(result, first);
}

void GC_print_free_list(int kind, size_t granules)
{
    sgc_print("free list of kind %d, %zu bytes: SGC has none; free slots are bits in tables, see GC_dump()", kind,
            granules * SGC_GRANULE);
}

int SGC_name_kind(int kind, const char *name)
{
    if (kind >= 0 && (uint32_t)kind < sgc_kind_count()) {
        sgc_snapshot_name_kind((uint32_t)kind, name != NULL ? name : "");
        return 0;
    }
    sgc_warn("SGC_name_kind: there is no kind %d; nothing is named. Pass 0 to 3 or what GC_new_kind returned", kind);
    return EINVAL;
}

/* ---- questions ---- */

SGC_STATE static sgc_aw_t describers[SGC_KINDS];    /* GC_describe_type_fn; any thread, release /
                                                     * acquire */

void GC_register_describe_type_fn(int kind, GC_describe_type_fn describe)
{
    if (sgc_api_good_kind("GC_register_describe_type_fn", kind))
        sgc_aw_store_rel(&describers[kind], (uintptr_t)describe);
}

void sgc_api_describe(uint32_t kind, void *object, char text[GC_TYPE_DESCR_LEN + 1])
{
    GC_describe_type_fn describe = kind < SGC_KINDS ? (GC_describe_type_fn)sgc_aw_load_acq(&describers[kind]) : NULL;

    text[0] = '\0';
    if (describe != NULL)
        describe(object, text);
    text[GC_TYPE_DESCR_LEN] = '\0';
}

/* Of an object with guards either address will do. */
int GC_get_kind_and_size(const void *object, size_t *size)
{
    const struct sgc_debug_header *guards = NULL;
    struct sgc_object o;
    bool found;

    if (sgc_debug_in_use(sgc_debug_around(object)))
        guards = sgc_debug_header_of((void *)(uintptr_t)object);
    found = sgc_object_find((uintptr_t)object, &o) && o.start == (uintptr_t)(guards != NULL ? guards : object);
    if (!found)
        sgc_warn("GC_get_kind_and_size(%p): no object begins there; -1 is returned. GC_base() finds the first "
                 "address", object);
    sgc_assert(!found || sgc_api_object_ok(&o));
    if (size != NULL)
        *size = guards != NULL ? guards->size : found ? sgc_api_usable(&o) : 0;
    return found ? (int)o.kind : -1;
}
