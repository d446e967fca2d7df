/* SPDX-License-Identifier: MIT */
/*
 * The four of C++'s operators that all others call, in C and without its library: malloc/family.h.
 * They are exported since a call through the C++ library's would be one more, and so that what they
 * allocate is seen to be the program's.
 *
 * The other sixteen forms are left to the C++ library, which calls these by name, as the standard
 * says ([new.delete]): so they reach what a program has put in the place of one of the four.
 */
#include <dlfcn.h>

#include "malloc/family.h"
#include "malloc/paths.h"
#include "platform/report.h"

/* Without memory: the next definition, which has the program's handler and throws. */
static void *next(const char *operator)
{
    void *found = dlsym(RTLD_NEXT, operator);

    sgc_assert(operator[0] == '_' && operator[1] == 'Z');
    if (found == NULL)
        sgc_fatal("%s: there is no memory, and no C++ library to say so to the program; free memory or raise the limit",
                  operator);
    return found;
}

__attribute__((cold, noinline))
static void *next_new(size_t bytes)
{
    return ((void *(*)(size_t))next("_Znwm"))(bytes);
}

__attribute__((cold, noinline))
static void *next_aligned(size_t bytes, size_t align)
{
    return ((void *(*)(size_t, size_t))next("_ZnwmSt11align_val_t"))(bytes, align);
}

void *sgc_new(size_t bytes)
{
    void *block = sgc_block_new(bytes);

    return block != NULL ? block : next_new(bytes);
}

void *sgc_new_aligned(size_t bytes, size_t align)
{
    void *block = sgc_block_new_aligned(bytes, align);

    return block != NULL ? block : next_aligned(bytes, align);
}

void sgc_delete(void *block)
{
    sgc_block_free(block, "operator delete");
}

void sgc_delete_aligned(void *block, size_t align)
{
    (void)align;
    sgc_block_free(block, "operator delete");
}
