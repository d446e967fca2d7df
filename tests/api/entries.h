/* SPDX-License-Identifier: MIT */
/* Mark procedures of tests push entries of the mark stack by themselves, in this form. */
#ifndef TESTS_API_ENTRIES_H
#define TESTS_API_ENTRIES_H

#include <gc/gc_mark.h>
#include <unistd.h>

#include "../lib/tap.h"

typedef struct GC_ms_entry *stack;

struct entry {
    void *start;
    GC_word descriptor;
};

TEST_UNUSED static stack push(stack top, stack limit, void *start, GC_word descriptor)
{
    struct entry *next = (struct entry *)top + 1;

    if ((char *)next >= (char *)limit)
        _exit(9);
    *next = (struct entry){ start, descriptor };
    return (stack)next;
}

#endif
