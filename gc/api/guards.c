/* SPDX-License-Identifier: MIT */
/*
 * The memory of objects with guards.  On any thread, for its own objects; on the collecting thread
 * for all.
 */
#include "gc/api/guards.h"

#include <string.h>

#include "mark/displacements.h"
#include "platform/written/written.h"

/* No address of a program has these highest bytes, and the lowest byte of a guard is never zero: a
 * string that is one too long changes it. */
#define GUARD_FRONT ((uintptr_t)0xd1b54a32d192ed03)
#define GUARD_BACK ((uintptr_t)0xaef17502108ef2d9)
#define MARK_IN_USE 0xdba4e70du
#define MARK_FREED 0xdbf3e5edu

enum { BURIED = 0xdf };

SGC_STATE static sgc_a32_t used;        /* 0: collections have nothing to look at */

static uint32_t mark_of(const void *base, uint32_t mark)
{
    return mark ^ ((uint32_t)((uintptr_t)base >> 4) & 0xffffff);
}

static uintptr_t guard_of(const void *base, uintptr_t guard)
{
    return guard ^ ((uintptr_t)base & 0xffffffffff);
}

static char *tail_of(const struct sgc_debug_header *h)
{
    return (char *)(uintptr_t)(h + 1) + h->size;
}

static bool tail_good(const struct sgc_debug_header *h)
{
    uintptr_t guard = guard_of(h, GUARD_BACK);

    return memcmp(tail_of(h), &guard, sizeof guard) == 0;
}

static bool still_buried(const struct sgc_debug_header *h)
{
    const unsigned char *p = (const unsigned char *)(h + 1);

    for (size_t i = 0; i < h->size; i++)
        if (p[i] != BURIED)
            return false;
    return h->guard == guard_of(h, GUARD_FRONT) && tail_good(h);
}

/* Does it lie where an object begins, and say that it is a header of one that is in use? */
__attribute__((unused))
static inline bool header_ok(const struct sgc_debug_header *h)
{
    return (uintptr_t)h % SGC_GRANULE == 0 && h->mark == mark_of(h, MARK_IN_USE);
}

enum sgc_debug_state sgc_debug_state_of(const void *base, size_t bytes)
{
    const struct sgc_debug_header *h = base;

    sgc_assert((uintptr_t)base % SGC_GRANULE == 0);
    if (bytes < sizeof *h + SGC_DEBUG_TAIL || h->size > bytes - sizeof *h - SGC_DEBUG_TAIL)
        return SGC_DEBUG_NONE;
    if (h->mark == mark_of(h, MARK_FREED))
        return still_buried(h) ? SGC_DEBUG_FREED : SGC_DEBUG_FREED_WRITTEN;
    if (h->mark != mark_of(h, MARK_IN_USE))
        return SGC_DEBUG_NONE;
    if (h->guard != guard_of(h, GUARD_FRONT))
        return SGC_DEBUG_BAD_FRONT;
    return tail_good(h) ? SGC_DEBUG_GOOD : SGC_DEBUG_BAD_BACK;
}

enum sgc_debug_state sgc_debug_around(const void *object)
{
    uintptr_t address = (uintptr_t)object;
    struct sgc_object o;

    if (!sgc_debug_used() || !sgc_heap_contains(address) || !sgc_object_find(address, &o) ||
        address != o.start + sizeof(struct sgc_debug_header))
        return SGC_DEBUG_NONE;
    return sgc_debug_state_of((void *)o.start, o.bytes);
}

/* Makes the object one with guards, and returns what the client gets.  The mark comes last: a
 * collection in between sees no header. */
static void *set_up(void *base, size_t size, const char *file, int line)
{
    struct sgc_debug_header *h = base;
    uintptr_t back = guard_of(h, GUARD_BACK);

    sgc_assert((uintptr_t)base % SGC_GRANULE == 0 && size <= PTRDIFF_MAX);
    h->line = (uint32_t)line;
    h->file = file;
    sgc_written_report(&h->file);
    h->size = size;
    h->guard = guard_of(h, GUARD_FRONT);
    memcpy(tail_of(h), &back, sizeof back);
    sgc_compiler_barrier();
    *(volatile uint32_t *)&h->mark = mark_of(h, MARK_IN_USE);
    sgc_assert(header_ok(h) && tail_good(h));
    return h + 1;
}

void sgc_debug_take_down(void *base)
{
    ((struct sgc_debug_header *)base)->mark = 0;
}

void sgc_debug_bury(void *base)
{
    struct sgc_debug_header *h = base;

    sgc_assert(header_ok(h));
    memset(h + 1, BURIED, h->size);
    sgc_compiler_barrier();
    h->mark = mark_of(h, MARK_FREED);
    sgc_assert(!header_ok(h));
}

void sgc_debug_describe(const struct sgc_debug_header *h, const void *base, char text[SGC_DEBUG_TEXT])
{
    sgc_assert((uintptr_t)base % SGC_GRANULE == 0);
    sgc_format(text, SGC_DEBUG_TEXT, "%zu bytes at %p, allocated at %s:%d", h->size,
               (const void *)((const struct sgc_debug_header *)base + 1), h->file != NULL ? h->file : "unknown", (int)h->line);
}

void sgc_debug_report(const char *who, enum sgc_debug_state state, const char *text)
{
    const char *where = state == SGC_DEBUG_BAD_FRONT  ? "just before an object"
                        : state == SGC_DEBUG_BAD_BACK ? "past the end of an object" : "to an object after it was freed";

    sgc_assert(state == SGC_DEBUG_BAD_FRONT || state == SGC_DEBUG_BAD_BACK || state == SGC_DEBUG_FREED_WRITTEN);
    sgc_warn("%s: something wrote %s: %s", who, where, text);
}

bool sgc_debug_used(void)
{
    return sgc_a32_load(&used) != 0;
}

/* ---- allocate ---- */

enum { AROUND = sizeof(struct sgc_debug_header) + SGC_DEBUG_TAIL };

/* From now on collections look at guards.  The client's pointers point behind the header, in
 * programs without interior pointers, too. */
static void begin(void)
{
    if (sgc_debug_used())
        return;
    sgc_mark_displacement(sizeof(struct sgc_debug_header));
    sgc_a32_store(&used, 1);
}

void *sgc_debug_allocate(sgc_debug_allocate_fn *fn, size_t size, uint32_t kind, const char *file, int line)
{
    void *base;

    sgc_assert(kind < sgc_kind_count());
    begin();
    sgc_assert(sgc_debug_used());
    base = size <= PTRDIFF_MAX - AROUND ? fn(size + AROUND, kind) : NULL;
    return base != NULL ? set_up(base, size, file, line) : NULL;
}
