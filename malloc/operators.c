/* SPDX-License-Identifier: MIT */
/*
 * C++'s operators, in C and without its library: malloc/family.h.  They are exported since a call
 * through the C++ library's would be one more, and so that what they allocate is seen to be the
 * program's.
 */
#include <dlfcn.h>

#include "malloc/family.h"
#include "malloc/paths.h"
#include "platform/report.h"

/* ---- without memory: the next definition, which has the program's handler and throws ---- */

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
static void *next_new(const char *operator, size_t bytes)
{
    return ((void *(*)(size_t))next(operator))(bytes);
}

__attribute__((cold, noinline))
static void *next_quiet(const char *operator, size_t bytes, const void *nothrow)
{
    return ((void *(*)(size_t, const void *))next(operator))(bytes, nothrow);
}

__attribute__((cold, noinline))
static void *next_aligned(const char *operator, size_t bytes, size_t align)
{
    return ((void *(*)(size_t, size_t))next(operator))(bytes, align);
}

__attribute__((cold, noinline))
static void *next_aligned_quiet(const char *operator, size_t bytes, size_t align, const void *nothrow)
{
    return ((void *(*)(size_t, size_t, const void *))next(operator))(bytes, align, nothrow);
}

/* ---- new ---- */

void *sgc_new(size_t bytes)
{
    void *block = sgc_block_new(bytes);

    return block != NULL ? block : next_new("_Znwm", bytes);
}

void *sgc_new_array(size_t bytes)
{
    void *block = sgc_block_new(bytes);

    return block != NULL ? block : next_new("_Znam", bytes);
}

void *sgc_new_quiet(size_t bytes, const void *nothrow)
{
    void *block = sgc_block_new(bytes);

    return block != NULL ? block : next_quiet("_ZnwmRKSt9nothrow_t", bytes, nothrow);
}

void *sgc_new_array_quiet(size_t bytes, const void *nothrow)
{
    void *block = sgc_block_new(bytes);

    return block != NULL ? block : next_quiet("_ZnamRKSt9nothrow_t", bytes, nothrow);
}

void *sgc_new_aligned(size_t bytes, size_t align)
{
    void *block = sgc_block_new_aligned(bytes, align);

    return block != NULL ? block : next_aligned("_ZnwmSt11align_val_t", bytes, align);
}

void *sgc_new_array_aligned(size_t bytes, size_t align)
{
    void *block = sgc_block_new_aligned(bytes, align);

    return block != NULL ? block : next_aligned("_ZnamSt11align_val_t", bytes, align);
}

void *sgc_new_aligned_quiet(size_t bytes, size_t align, const void *nothrow)
{
    void *block = sgc_block_new_aligned(bytes, align);

    return block != NULL ? block : next_aligned_quiet("_ZnwmSt11align_val_tRKSt9nothrow_t", bytes, align, nothrow);
}

void *sgc_new_array_aligned_quiet(size_t bytes, size_t align, const void *nothrow)
{
    void *block = sgc_block_new_aligned(bytes, align);

    return block != NULL ? block : next_aligned_quiet("_ZnamSt11align_val_tRKSt9nothrow_t", bytes, align, nothrow);
}

/* ---- delete ---- */

static const char DELETE[] = "operator delete";
static const char DELETE_ARRAY[] = "operator delete[]";

void sgc_delete(void *block)
{
    sgc_block_free(block, DELETE);
}

void sgc_delete_array(void *block)
{
    sgc_block_free(block, DELETE_ARRAY);
}

void sgc_delete_sized(void *block, size_t bytes)
{
    sgc_block_free_sized(block, bytes, DELETE);
}

void sgc_delete_array_sized(void *block, size_t bytes)
{
    sgc_block_free_sized(block, bytes, DELETE_ARRAY);
}

void sgc_delete_quiet(void *block, const void *nothrow)
{
    (void)nothrow;
    sgc_block_free(block, DELETE);
}

void sgc_delete_array_quiet(void *block, const void *nothrow)
{
    (void)nothrow;
    sgc_block_free(block, DELETE_ARRAY);
}

void sgc_delete_aligned(void *block, size_t align)
{
    (void)align;
    sgc_block_free(block, DELETE);
}

void sgc_delete_array_aligned(void *block, size_t align)
{
    (void)align;
    sgc_block_free(block, DELETE_ARRAY);
}

void sgc_delete_sized_aligned(void *block, size_t bytes, size_t align)
{
    (void)align;
    sgc_block_free_sized(block, bytes, DELETE);
}

void sgc_delete_array_sized_aligned(void *block, size_t bytes, size_t align)
{
    (void)align;
    sgc_block_free_sized(block, bytes, DELETE_ARRAY);
}

void sgc_delete_aligned_quiet(void *block, size_t align, const void *nothrow)
{
    (void)align, (void)nothrow;
    sgc_block_free(block, DELETE);
}

void sgc_delete_array_aligned_quiet(void *block, size_t align, const void *nothrow)
{
    (void)align, (void)nothrow;
    sgc_block_free(block, DELETE_ARRAY);
}
