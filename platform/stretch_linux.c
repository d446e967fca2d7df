/* SPDX-License-Identifier: MIT */
/*
 * See platform/stretch.h.  Owns where the next stretch is looked for: any thread, by atomic
 * addition.
 */
#include "platform/stretch.h"

#include <errno.h>
#include <sys/mman.h>

#include "platform/atomics.h"
#include "platform/compiler.h"
#include "platform/platform.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000    /* headers may be older than the system */
#endif

/* ---- choosing addresses ---------------------------------------------------------------------- */

enum { TRIES = 4 };

static const uintptr_t LOWEST = (uintptr_t)1 << 37;     /* 32-bit integers never look like it, and
                                                           with 39 bits it exists */

static SGC_STATE sgc_aw_t next;         /* 0: not known yet */
static SGC_STATE sgc_aw_t highest;      /* an address that the system itself has chosen; written
                                           before `next` */

/* An error is negative, as an address is not. */
static long map_there(uintptr_t start, size_t bytes, int access)
{
    return sgc_syscall6(SYS_mmap, (long)start, (long)bytes, access,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

/* The system looks whether the addresses are free before it looks at limits: these may be what
 * refuses so large a mapping.  Kernels that do not know the flag put it elsewhere. */
static bool is_free(uintptr_t start, size_t bytes)
{
    long got = map_there(start, bytes, PROT_NONE);

    sgc_assert(start % sgc_os_page_size() == 0 && bytes != 0);
    if (got < 0)
        return got == -ENOMEM || got == -EAGAIN;
    sgc_syscall(SYS_munmap, got, (long)bytes, 0, 0);
    return (uintptr_t)got == start;
}

/* Mappings grow down from the top of the address space, programs begin at two thirds of it or at
 * its bottom: around the middle there is nothing.  Where it lies differs from process to process,
 * as the top does. */
static bool find_middle(void)
{
    size_t page = sgc_os_page_size();
    void *top = sgc_mem_reserve(page, page);

    if (top == NULL)
        return false;
    sgc_mem_release(top, page);
    sgc_aw_store(&highest, (uintptr_t)top);
    sgc_aw_cas(&next, 0, (uintptr_t)top / 2 > LOWEST ? (uintptr_t)top / 2 : LOWEST);
    return true;
}

/* Sanitizers have plans of their own for the address space. */
static char *plan(size_t bytes, size_t align)
{
    sgc_assert(bytes % sgc_os_page_size() == 0 && align >= sgc_os_page_size());
    if (SGC_SANITIZED || (sgc_aw_load_acq(&next) == 0 && !find_middle()))
        return NULL;
    for (int i = 0; i < TRIES; i++) {
        uintptr_t room = bytes + 2 * align, end = sgc_aw_add(&next, room) + room, start;

        if (room < bytes || end < room || end > sgc_aw_load(&highest)) {
            sgc_aw_add(&next, -room);
            return NULL;
        }
        start = sgc_round_up(end - room, align);
        if (is_free(start, bytes))
            return (char *)start;
    }
    return NULL;
}

/* ---- stretches ------------------------------------------------------------------------------- */

static void check_stretch(const struct sgc_stretch *stretch)
{
    sgc_assert(stretch->have <= stretch->bytes);
    sgc_assert(stretch->start != NULL || (stretch->bytes == 0 && !stretch->reserved));
}

bool sgc_stretch_open(struct sgc_stretch *stretch, size_t bytes, size_t align)
{
    size_t page = sgc_os_page_size();
    char *start;

    sgc_assert(bytes != 0 && bytes <= SIZE_MAX / 4 && (align & (align - 1)) == 0);
    bytes = sgc_round_up(bytes, page);
    align = align > page ? align : page;
    *stretch = (struct sgc_stretch){ .start = NULL };
    if ((start = plan(bytes, align)) == NULL) {
        start = sgc_mem_reserve(bytes, align);
        stretch->reserved = start != NULL;
    }
    stretch->start = start;
    stretch->bytes = start != NULL ? bytes : 0;
    sgc_assert((uintptr_t)start % align == 0);
    check_stretch(stretch);
    return start != NULL;
}

/* An old kernel says by another address that these are not free. */
static bool map_more(struct sgc_stretch *stretch, char *start, size_t bytes)
{
    long got = map_there((uintptr_t)start, bytes, PROT_READ | PROT_WRITE);

    sgc_assert(!stretch->reserved && bytes != 0);
    stretch->taken = got == -EEXIST || (got > 0 && (uintptr_t)got != (uintptr_t)start);
    if (got > 0 && stretch->taken)
        sgc_syscall(SYS_munmap, got, (long)bytes, 0, 0);
    return got > 0 && !stretch->taken;
}

bool sgc_stretch_grow(struct sgc_stretch *stretch, size_t have)
{
    char *start = stretch->start + stretch->have;
    size_t bytes;

    check_stretch(stretch);
    sgc_assert(stretch->start != NULL);
    have = sgc_round_up(have, sgc_os_page_size());
    if (have <= stretch->have)
        return true;
    if (have > stretch->bytes)
        return false;
    bytes = have - stretch->have;
    if (stretch->reserved ? !sgc_mem_commit(start, bytes) : !map_more(stretch, start, bytes))
        return false;
    if (stretch->name != NULL)
        sgc_mem_name(start, bytes, stretch->name);
    stretch->have = have;
    check_stretch(stretch);
    return true;
}

void sgc_stretch_close(struct sgc_stretch *stretch)
{
    size_t bytes = stretch->reserved ? stretch->bytes : stretch->have;

    check_stretch(stretch);
    if (bytes != 0)
        sgc_mem_release(stretch->start, bytes);
    *stretch = (struct sgc_stretch){ .start = NULL };
}
