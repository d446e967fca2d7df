/* SPDX-License-Identifier: MIT */
/*
 * Memory that grows in place: a stretch of addresses of which a lower part is usable.
 *
 * Addresses that nothing lies at cost nothing, but what is reserved counts against RLIMIT_AS, and
 * then nothing is left for the program.  So a stretch is only planned: its addresses are chosen far
 * from where the system puts mappings by itself, and each part is mapped when it is needed.
 * Somebody may have put something there meanwhile; it is let alone, and the growth fails.  Where
 * addresses cannot be chosen (sanitizers, some emulators, before Linux 4.17) the stretch is
 * reserved.
 *
 * A stretch belongs to its caller, which sees to it that one thread at a time grows it.  Growing is
 * one system call, and may happen anywhere: [any] in the sense of platform/platform.h, and so may
 * the rest.
 */
#ifndef SGC_PLATFORM_STRETCH_H
#define SGC_PLATFORM_STRETCH_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/report.h"

struct sgc_stretch {
    char *start;                /* NULL: there is none */
    size_t bytes;               /* of addresses */
    size_t have;                /* of these, from the start on, are usable */
    bool reserved;              /* what lies beyond is mapped without access */
    const char *name;           /* of its mappings, for sgc_mem_name; NULL: none.  The caller's */
    bool taken;                 /* the last growth has failed because something else lies there */
};

/* Bounds are rounded to OS pages, the start to `align` (a power of two).  False: there are not so
 * many addresses, and the caller may ask for fewer. */
bool sgc_stretch_open(struct sgc_stretch *stretch, size_t bytes, size_t align);

/* Makes at least the first `have` bytes usable; what comes new reads as zero.  False: nothing has
 * changed. */
bool sgc_stretch_grow(struct sgc_stretch *stretch, size_t have);

/* Passes over the addresses below `have`: somebody else has them, or a part of them.  Such a
 * stretch is never closed. */
static inline void sgc_stretch_pass(struct sgc_stretch *stretch, size_t have)
{
    sgc_assert(stretch->have <= have && have <= stretch->bytes);
    stretch->have = have;
}

/* The part [from, from + bytes) of a stretch that was not grown, as one of its own. */
static inline struct sgc_stretch sgc_stretch_part(const struct sgc_stretch *stretch, size_t from, size_t bytes)
{
    sgc_assert(stretch->have == 0 && from <= stretch->bytes && bytes <= stretch->bytes - from);
    return (struct sgc_stretch){ .start = stretch->start + from, .bytes = bytes, .reserved = stretch->reserved };
}

/* Gives everything back. */
void sgc_stretch_close(struct sgc_stretch *stretch);

#endif
