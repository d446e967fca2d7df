/* SPDX-License-Identifier: MIT */
/*
 * Objects whose first word points at a description of their type.  On any mutator; the kinds are
 * made once, under the GC lock.
 */
#include "gc/api/api.h"
#include "gc/gc_gcj.h"
#include "gc/api/guards.h"

#include "gc/api/objects.h"
#include "gc/collect/allocate.h"
#include "gc/config/public_vars.h"
#include "mark/mark_procs.h"

enum { FOR_DEBUGGING = 1 };             /* environment of the procedure */

/* Kinds: 0 until they are made.  Any thread, release / acquire; the public variables are copies. */
SGC_STATE static sgc_a32_t plain_kind, debug_kind;

static bool set_proc(int number, GC_mark_proc proc)
{
    sgc_assert(sgc_gc_lock_held());
    if (proc == NULL)
        return false;
    if (number >= 0 && sgc_mark_proc_set((uint32_t)number, proc))
        return true;
    sgc_warn(
        "GC_init_gcj_malloc(%d, %p): a number below %d is expected, or one that GC_new_proc has returned; the procedure is not "
        "used. Pass GC_GCJ_RESERVED_MARK_PROC_INDEX",
        number, (void *)(uintptr_t)proc, GC_RESERVED_MARK_PROCS);
    return false;
}

/* The descriptor lies `offset` bytes from where the first word points. */
static struct sgc_kind described_by_type(size_t offset)
{
    bool good = offset % sizeof(GC_word) == 0 && offset <= INT32_MAX;

    if (!good)
        sgc_warn("GC_init_gcj_malloc_mp: descriptors at byte %zu of a type; a multiple of %zu is expected; all words of the "
                 "objects count as pointers. Pass GC_GCJ_MARK_DESCR_OFFSET", offset, sizeof(GC_word));
    return (struct sgc_kind){
        .descriptor = good ? (uintptr_t)-(offset + GC_INDIR_PER_OBJ_BIAS) | GC_DS_PER_OBJECT : 0,
        .clear = true, .scan = good ? SGC_SCAN_DESCRIBED : SGC_SCAN_WORDS,
    };
}

static void make_kinds(int number, GC_mark_proc proc, size_t offset)
{
    struct sgc_kind plain = described_by_type(offset), debug = { .clear = true, .scan = SGC_SCAN_WORDS };
    static const char what[] = "objects of gcj";

    sgc_assert(sgc_gc_lock_held() && sgc_a32_load(&plain_kind) == 0);
    if (set_proc(number, proc)) {
        debug.scan = SGC_SCAN_DESCRIBED;
        debug.descriptor = GC_MAKE_PROC((uint32_t)number, FOR_DEBUGGING);
    }
    sgc_a32_store(&sgc_client_gcj_debug_kind, sgc_api_own_kind(&debug_kind, &debug, what));
    sgc_a32_store(&sgc_client_gcj_kind, sgc_api_own_kind(&plain_kind, &plain, what));
    sgc_assert(sgc_a32_load(&plain_kind) < SGC_KINDS && sgc_a32_load(&debug_kind) < SGC_KINDS);
}

static void make_kinds_once(int number, GC_mark_proc proc, size_t offset)
{
    bool closed;

    if (sgc_a32_load_acq(&plain_kind) != 0 || sgc_api_self() == NULL)
        return;
    closed = sgc_gc_lock_enter(sgc_mutator_self());
    if (sgc_a32_load(&plain_kind) == 0)
        make_kinds(number, proc, offset);
    sgc_gc_lock_leave(closed);
}

void GC_init_gcj_malloc(int number, void *proc)
{
    make_kinds_once(number, (GC_mark_proc)(uintptr_t)proc, GC_GCJ_MARK_DESCR_OFFSET);
}

void GC_init_gcj_malloc_mp(unsigned number, GC_mark_proc proc, size_t offset)
{
    make_kinds_once((int)number, proc, offset);
}

/* ---- objects ---- */

/* Without its own kind, or a type, an object is an ordinary one. */
static uint32_t kind_for(const char *function, const sgc_a32_t *kind, const void *type)
{
    uint32_t number = sgc_a32_load_acq(kind);

    sgc_assert(number < SGC_KINDS);
    if (number == 0)
        sgc_warn("%s: called before GC_init_gcj_malloc; all words of the object count as pointers. Call that first", function);
    else if (type == NULL)
        sgc_warn("%s: the object's type is NULL; all its words count as pointers. Pass the address of its description",
                 function);
    return number == 0 || type == NULL ? SGC_KIND_CONSERVATIVE : number;
}

static void *with_type(void *object, void *type, size_t size)
{
    if (object == NULL)
        return sgc_out_of_memory(size);
    sgc_assert((uintptr_t)object % sizeof type == 0);
    sgc_written_store(object, type);
    return object;
}

static size_t with_place(size_t size)
{
    return size < sizeof(void *) ? sizeof(void *) : size;
}

void *GC_gcj_malloc(size_t size, void *type)
{
    uint32_t kind = kind_for("GC_gcj_malloc", &plain_kind, type);

    return with_type(sgc_allocate_or_null(with_place(size), kind), type, size);
}

void *GC_gcj_malloc_ignore_off_page(size_t size, void *type)
{
    uint32_t kind = kind_for("GC_gcj_malloc_ignore_off_page", &plain_kind, type);

    return with_type(sgc_api_near_start_or_null(with_place(size), kind), type, size);
}

void *GC_debug_gcj_malloc(size_t size, void *type, const char *file, int line)
{
    uint32_t kind = kind_for("GC_debug_gcj_malloc", &debug_kind, type);

    return with_type(sgc_debug_allocate(sgc_api_allocate_or_null, with_place(size), kind, file, line), type, size);
}
