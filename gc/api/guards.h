/* SPDX-License-Identifier: MIT */
/*
 * Objects with guards: how they lie in memory.  Collections check them: gc/inspect/guards_check.c.
 *
 *     header | what the client has | guard
 *
 * The header's last word is a guard, too.  Guards depend on the address, so that a copied one is
 * not valid.
 *
 *   header, guards   the thread that allocates the object, `mark` last; whoever frees it; of dead ones
 *                    the collecting thread, world stopped
 *   used             any thread: set once, relaxed: a collection that does not see it yet has nothing to look at
 */
#ifndef SGC_GC_API_GUARDS_H
#define SGC_GC_API_GUARDS_H

#include "alloc/object.h"

struct sgc_debug_header {
    uint32_t line;
    uint32_t mark;              /* says that this is a header, whose object is in use or has been
                                   freed */
    const char *file;
    size_t size;                /* of what the client has */
    uintptr_t guard;
};
_Static_assert(sizeof(struct sgc_debug_header) == 32, "the client's part is aligned as the object");

enum { SGC_DEBUG_TAIL = sizeof(uintptr_t) };    /* the guard behind the object */

enum sgc_debug_state {
    SGC_DEBUG_NONE,             /* no header, or nothing of it is left */
    SGC_DEBUG_GOOD,
    SGC_DEBUG_BAD_FRONT,        /* written to before its beginning, */
    SGC_DEBUG_BAD_BACK,         /* or behind its end */
    SGC_DEBUG_FREED,            /* freed, and waiting for a collection */
    SGC_DEBUG_FREED_WRITTEN,    /* freed, and written to since */
};

/* It has guards, and has not been freed. */
static inline bool sgc_debug_in_use(enum sgc_debug_state state)
{
    return state == SGC_DEBUG_GOOD || state == SGC_DEBUG_BAD_FRONT || state == SGC_DEBUG_BAD_BACK;
}

/* The state of the guards around an allocated object of so many bytes, if it has any. */
enum sgc_debug_state sgc_debug_state_of(const void *base, size_t bytes);

/* The state of the guards around the object whose client has that address; SGC_DEBUG_NONE for any
 * other address. */
enum sgc_debug_state sgc_debug_around(const void *object);

typedef void *sgc_debug_allocate_fn(size_t size, uint32_t kind);

/* An object with guards, whose memory comes from fn; NULL when that has none. */
void *sgc_debug_allocate(sgc_debug_allocate_fn *fn, size_t size, uint32_t kind, const char *file, int line);

/* Its header is no header any more. */
void sgc_debug_take_down(void *base);

/* Fills what the client had; a collection will see whether it was written to. */
void sgc_debug_bury(void *base);

enum { SGC_DEBUG_TEXT = 400 };

/* "40 bytes at 0x..., allocated at file.c:12" of an object with guards whose header that is, or
 * was. */
void sgc_debug_describe(const struct sgc_debug_header *h, const void *base, char text[SGC_DEBUG_TEXT]);

/* Says where something wrote, of a state that says so: who has noticed it, and what that text
 * describes. */
void sgc_debug_report(const char *who, enum sgc_debug_state state, const char *text);

/* Has there been an object with guards?  Until then collections look at none. */
bool sgc_debug_used(void);

static inline struct sgc_debug_header *sgc_debug_header_of(void *object)
{
    return (struct sgc_debug_header *)object - 1;
}

#endif
