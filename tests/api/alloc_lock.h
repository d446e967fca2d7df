/* SPDX-License-Identifier: MIT */
/* Tests of the allocation lock leave callbacks of GC_call_with_alloc_lock by a jump. */
#ifndef TESTS_API_ALLOC_LOCK_H
#define TESTS_API_ALLOC_LOCK_H

#include "api.h"

#include <setjmp.h>
#include <stdatomic.h>

static const char released[] = "the allocation lock is released";

static jmp_buf way_out;

static void *leave(void *unused)
{
    longjmp(way_out, 1);
    return unused;
}

TEST_NOINLINE static void jump_out_of_callback(void)
{
    if (setjmp(way_out) == 0)
        GC_call_with_alloc_lock(leave, NULL);
}

static void collect(void)
{
    GC_word before = GC_get_gc_no();

    GC_gcollect();
    API_CHILD(GC_get_gc_no() > before);
}

#endif
