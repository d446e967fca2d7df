/* SPDX-License-Identifier: MIT */
/*
 * Hooks for memory, messages and roots of the moment.  Setters on any thread, under the GC lock
 * where a collection calls the hook; who calls each hook is said in gc/collect/client_hooks.h and
 * the public headers.
 */
#include "gc/api/api.h"

#include <stdlib.h>

#include "alloc/large/span.h"
#include "alloc/new_objects.h"
#include "gc/api/objects.h"
#include "gc/collect/allocate.h"
#include "gc/api/hooks.h"
#include "gc/config/public_vars.h"
#include "gc/collect/collect.h"
#include "gc/pacing/heap_size.h"
#include "gc/snapshot/snapshot.h"
#include "mark/descriptor.h"
#include "mark/edge_bits.h"
#include "mark/mark_roots.h"
#include "mark/noted.h"

struct hooks {
    sgc_aw_t warn;                      /* GC_warn_proc; 0: our own way */
    struct sgc_marker *pushing;         /* while the push hook runs */
};

SGC_STATE static struct hooks hooks;

/* ---- memory ---- */

void GC_set_oom_fn(GC_oom_func hook)
{
    sgc_aw_store_rel(&sgc_client_oom_fn, (uintptr_t)hook);
}

GC_oom_func GC_get_oom_fn(void)
{
    GC_oom_func hook = (GC_oom_func)sgc_aw_load_acq(&sgc_client_oom_fn);

    return hook != NULL ? hook : sgc_oom_default;
}

SGC_API_HOOK(on_heap_resize, GC_on_heap_resize_proc, sgc_client_on_heap_resize)
SGC_API_HOOK(on_os_get_mem, GC_on_os_get_mem_proc, sgc_on_os_get_mem)

/* ---- warnings ---- */

enum { LINE = 1024 };

/* The hook before the client sets one: a client may keep it and call it from its own. */
static void default_warn(char *format, GC_word argument)
{
    char line[LINE];
    size_t length = sgc_format(line, sizeof line, format, argument);

    if (length >= sizeof line)
        length = sizeof line - 1;
    while (length > 0 && line[length - 1] == '\n')
        line[--length] = '\0';
    sgc_assert(length < sizeof line && line[length] == '\0');
    sgc_print("%s", line);
}

void GC_ignore_warn_proc(char *format, GC_word argument)
{
    (void)format, (void)argument;
}

static void warn_client(const char *line)
{
    static char format[] = "%s\n";
    GC_warn_proc hook = (GC_warn_proc)sgc_aw_load_acq(&hooks.warn);

    if (hook != NULL)
        hook(format, (GC_word)line);
}

static void abort_client(const char *line)
{
    GC_abort_func hook = (GC_abort_func)sgc_aw_load_acq(&sgc_client_on_abort);

    sgc_client_hooks.violation(line);
    if (hook != NULL)
        hook(line);
}

void sgc_api_install_reports(void)
{
    sgc_report_hooks(sgc_aw_load(&hooks.warn) != 0 ? warn_client : NULL, abort_client);
}

/* A hook that is kept as none while it is the one before the client sets any. */
#define REPORT_HOOK(name, type, word, first) \
    void GC_set_##name(type hook) \
    { \
        sgc_api_set_hook(&(word), hook == (first) ? 0 : (uintptr_t)hook); \
        sgc_api_install_reports(); \
    } \
    type GC_get_##name(void) \
    { \
        type hook = (type)sgc_aw_load_acq(&(word)); \
        return hook != NULL ? hook : (first); \
    }

REPORT_HOOK(warn_proc, GC_warn_proc, hooks.warn, default_warn)

void GC_set_log_fd(int fd)
{
    if (fd < 0)
        sgc_warn("GC_set_log_fd(%d): expected a file descriptor; nothing is changed", fd);
    else
        sgc_report_to(fd);
}

/* ---- the end ---- */

static void default_abort(const char *message)
{
    if (message != NULL)
        sgc_print("%s", message);
}

REPORT_HOOK(abort_func, GC_abort_func, sgc_client_on_abort, default_abort)

/* No defect, so no core is dumped. */
void GC_abort_on_oom(void)
{
    GC_abort_func hook = (GC_abort_func)sgc_aw_load_acq(&sgc_client_on_abort);

    sgc_error("out of memory, and the program chose to end in that case (GC_abort_on_oom); raise "
              "GC_MAXIMUM_HEAP_SIZE or the system's limits");
    if (hook != NULL)
        hook(NULL);
    exit(EXIT_FAILURE);
}

/* ---- roots of the moment ---- */

SGC_API_HOOK(push_other_roots, GC_push_other_roots_proc, sgc_client_push_other_roots)

void sgc_client_before(struct sgc_mutator *self)
{
    GC_push_other_roots_proc hook = GC_get_push_other_roots();

    sgc_assert(sgc_gc_lock_held() && !sgc_stopped_by_self());
    if (self != NULL)
        sgc_stopped_reserve(&self->cache, hook != NULL && hook != sgc_client_push_nothing);
}

static void mark_allocated(void *marker, uintptr_t object)
{
    sgc_assert(sgc_heap_contains(object));
    sgc_mark_address(marker, object);
    sgc_snapshot_put_allocated(object);
}

/* Objects that the hook allocates are marked when it is done, and hold what they are to hold. */
void sgc_client_push_roots(struct sgc_marker *marker)
{
    GC_push_other_roots_proc hook = GC_get_push_other_roots();

    sgc_assert(sgc_stopped_by_self() && hooks.pushing == NULL);
    if (hook == NULL)
        return;
    hooks.pushing = marker;
    hook();
    sgc_assert(hooks.pushing == marker);
    sgc_stopped_each(mark_allocated, marker);
    hooks.pushing = NULL;
}

bool sgc_client_pushing(void)
{
    return hooks.pushing != NULL && sgc_stopped_by_self();
}

static bool may_push(const char *function)
{
    if (hooks.pushing != NULL)
        return true;
    sgc_warn("%s: called outside the hook of GC_set_push_other_roots; nothing is marked. Use GC_add_roots for "
             "memory that is a root for long", function);
    return false;
}

/* A heap snapshot has the words now: the memory may be the hook's own. */
static void push(const char *function, bool data, const void *bottom, const void *top)
{
    if (may_push(function) && bottom < top) {
        (data ? sgc_mark_static : sgc_mark_roots)(hooks.pushing, bottom, top);
        sgc_snapshot_put_pushed((uintptr_t)bottom, (uintptr_t)top, data);
    }
}

#define PUSH(name, data) \
    void name(void *bottom, void *top) { push(#name, data, bottom, top); }

PUSH(GC_push_all, true)
PUSH(GC_push_all_eager, false)

/* A snapshot has it as a root of one word, which counts as one. */
static void put_word(void *arg, uintptr_t at)
{
    struct sgc_marker *marker = arg;

    marker->root_bytes += sizeof at;
    sgc_snapshot_put_pushed(at, at + sizeof at, true);
}

void GC_push_obj_descr(void *object, GC_word descriptor)
{
    if (!may_push("GC_push_obj_descr"))
        return;
    if (sgc_noting())
        sgc_visit_pushed((uintptr_t)object, descriptor, put_word, hooks.pushing);
    sgc_mark_described(hooks.pushing, (uintptr_t)object, descriptor);
}

void GC_push_conditional(void *bottom, void *top, int all)
{
    (void)all;
    push("GC_push_conditional", true, bottom, top);
}

/* ---- mark bits ---- */

/* The marker that runs a client's procedure, or the hook, on this thread. */
static struct sgc_marker *marking(void)
{
    return sgc_marker_here != NULL ? sgc_marker_here : hooks.pushing;
}

static sgc_aw_t *mark_word(const struct sgc_object *o, uintptr_t *bit)
{
    sgc_assert(sgc_api_object_ok(o));
    *bit = o->span ? sgc_arena_bit(o->page) : sgc_bit_mask(o->granule);
    return o->span ? sgc_span_word(o->page, sgc_mark_role()) : sgc_mark_word(o->granule);
}

enum { UNKNOWN = 2 };

/* Is the object that begins in the granule marked?  Bits are only where small ones begin; one that
 * a thread has freed may still have them. */
static int small_is_marked(const struct sgc_marker *marker, uintptr_t address)
{
    uintptr_t edge = address - marker->base;

    if (edge >= marker->limit)
        return UNKNOWN;
    if (sgc_bit_of(sgc_aw_load(&marker->marks[sgc_edge_word(edge)]), sgc_edge_granule(edge)))
        return sgc_a8_load_acq(&sgc_heap.pages[edge >> SGC_PAGE_LOG].remote) == 0 ? 1 : UNKNOWN;
    return sgc_bit_of(sgc_edge_allocated(marker, edge), sgc_edge_granule(edge)) ? 0 : UNKNOWN;
}

__attribute__((noinline))
static int is_marked(uintptr_t address)
{
    struct sgc_object o;
    uintptr_t bit;

    if (!sgc_object_find(address, &o))
        return 0;
    return marking() == NULL || (sgc_aw_load(mark_word(&o, &bit)) & bit) != 0;
}

/* A page's bits: marks while the client asks in a mark, and otherwise what is allocated. */
static unsigned count_bits(uint32_t page, uint32_t role)
{
    size_t first = (size_t)page * SGC_PAGE_WORDS;
    unsigned count = 0;

    sgc_assert(sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL);
    for (size_t w = first; w < first + SGC_PAGE_WORDS; w++)
        count += (unsigned)__builtin_popcountll(sgc_aw_load(sgc_bits_word(w, role)));
    return count;
}

unsigned GC_count_set_marks_in_hblk(const void *p)
{
    uint32_t role = marking() != NULL ? sgc_mark_role() : sgc_heap.alloc_role, page;

    if (!sgc_heap_contains((uintptr_t)p))
        return 0;
    page = sgc_page_number((uintptr_t)p);
    if (sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL)
        return count_bits(page, role);
    page = sgc_span_first_page(page);
    return page != SGC_NO_PAGE && (sgc_aw_load(sgc_span_word(page, role)) & sgc_arena_bit(page)) != 0;
}

/* Hooks for ephemerons ask it of each key again and again. */
int GC_is_marked(const void *object)
{
    const struct sgc_marker *marker = marking();
    int marked = marker != NULL ? small_is_marked(marker, (uintptr_t)object) : UNKNOWN;

    return __builtin_expect(marked != UNKNOWN, 1) ? marked : is_marked((uintptr_t)object);
}

/* While a procedure runs the lock of the notes is its own. */
static void note_mark(uintptr_t object)
{
    sgc_assert(sgc_heap_contains(object));
    if (sgc_marker_here != NULL)
        sgc_note(SGC_NOTED_BY_HAND, object);
    else
        sgc_note_alone(SGC_NOTED_BY_HAND, object);
}

/* It is counted as a marker would. */
void GC_set_mark_bit(const void *object)
{
    struct sgc_marker *marker = marking();
    struct sgc_object o;
    uintptr_t bit;
    sgc_aw_t *word;

    if (marker == NULL || !sgc_object_find((uintptr_t)object, &o))
        return;
    word = mark_word(&o, &bit);
    sgc_assert(bit != 0);
    if (!sgc_mark_by_hand(marker, word, bit))
        return;
    sgc_count_marked(marker, 1, o.bytes, !sgc_kind_has_pointers(o.kind));
    if (sgc_noting())
        note_mark(o.start);
}

void GC_clear_mark_bit(const void *object)
{
    (void)object;
}
