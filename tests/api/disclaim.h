/* SPDX-License-Identifier: MIT */
/* What the tests of disclaim procedures share: a kind that has one, its objects, and a jump out of a procedure. */
#ifndef TESTS_API_DISCLAIM_H
#define TESTS_API_DISCLAIM_H

#include "api.h"
#include "../lib/sanitized.h"

#include <gc/gc_disclaim.h>
#include <setjmp.h>

enum { READY = 4711, STRAYS = 8 };      /* so many objects a stale word may keep */

struct thing {
    long ready;                         /* READY when it is set up */
    long number;
    struct thing *other;
    char rest[40];
};

static int kind;
static volatile int leaves;             /* a procedure that looks at it is to jump to: */
static jmp_buf back;

TEST_UNUSED static struct thing *make_thing(long number, size_t bytes)
{
    struct thing *t = GC_generic_malloc(bytes, kind);

    API_CHILD(t != NULL && t->ready == 0 && t->other == NULL);
    t->number = number;
    t->ready = READY;
    return t;
}

TEST_UNUSED static void start(GC_disclaim_proc proc, int from_all)
{
    GC_INIT();
    kind = (int)GC_new_kind(GC_new_free_list(), 0, 1, 1);
    GC_register_disclaim_proc(kind, proc, from_all);
}

/* A jump out of the first call leaves the others in the queue. */
TEST_NOINLINE static void collect_and_leave(void)
{
    leaves = 1;
    if (setjmp(back) == 0)
        api_collect_below();
    leaves = 0;
}

#endif
