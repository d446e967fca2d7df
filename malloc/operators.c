/* SPDX-License-Identifier: MIT */
/*
 * C++'s operators, in C and without its library: malloc/family.h.  All forms are exported: were one
 * left to another library, that could be a second malloc's, and its counterpart ours.
 *
 * As the standard says ([new.delete]), all reach what the program has put in the place of the four
 * that take bytes, or a block, with an alignment or without one; and these reach a malloc and free
 * of its own.
 */
#include <dlfcn.h>
#include <stdint.h>

#include "malloc/family.h"
#include "malloc/paths.h"
#include "platform/report.h"

/* For SGC_IS_OURS. */
SGC_INNER void *sgc_own_new(size_t bytes);
SGC_INNER void *sgc_own_new_array(size_t bytes);
SGC_INNER void *sgc_own_new_aligned(size_t bytes, size_t align);
SGC_INNER void *sgc_own_new_array_aligned(size_t bytes, size_t align);

#define CALLER __builtin_return_address(0)

/* ---- without memory: the C++ library's, which has the program's handler and throws ---- */

static bool is_here(const void *function)
{
    Dl_info there, here;

    sgc_assert(function != NULL);
    return dladdr(function, &there) != 0 && dladdr((const void *)(uintptr_t)is_here, &here) != 0 &&
           there.dli_fbase == here.dli_fbase;
}

/* The operator as the object finds it that the caller lies in; NULL: it finds none but ours. */
static void *next_of_object(const char *operator, const void *caller)
{
    Dl_info file;
    void *object = dladdr(caller, &file) != 0 ? dlopen(file.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL, *found;

    sgc_assert(caller != NULL);
    if (object == NULL)
        return NULL;
    found = dlsym(object, operator);
    dlclose(object);
    return found == NULL || is_here(found) ? NULL : found;
}

/* The next definition; if there is none, that of an object that has its C++ library for itself, as
 * one loaded with RTLD_LOCAL.  NULL: there is none. */
__attribute__((cold, noinline))
static void *next(const char *operator, const void *caller)
{
    void *found = dlsym(RTLD_NEXT, operator);

    sgc_assert(operator[0] == '_' && operator[1] == 'Z');
    return found != NULL ? found : next_of_object(operator, caller);
}

static void *next_to_throw(const char *operator, const void *caller)
{
    void *found = next(operator, caller);

    if (found == NULL)
        sgc_fatal("%s: there is no memory, and no C++ library to say so to the program; free memory or raise the limit",
                  operator);
    return found;
}

__attribute__((cold, noinline))
static void *next_new(size_t bytes, const void *caller)
{
    return ((void *(*)(size_t))next_to_throw("_Znwm", caller))(bytes);
}

__attribute__((cold, noinline))
static void *next_aligned(size_t bytes, size_t align, const void *caller)
{
    return ((void *(*)(size_t, size_t))next_to_throw("_ZnwmSt11align_val_t", caller))(bytes, align);
}

__attribute__((cold, noinline))
static void *next_nothrow(size_t bytes, const void *tag, const char *operator, const void *caller)
{
    void *found = next(operator, caller);

    return found != NULL ? ((void *(*)(size_t, const void *))found)(bytes, tag) : NULL;
}

__attribute__((cold, noinline))
static void *next_aligned_nothrow(size_t bytes, size_t align, const void *tag, const char *operator, const void *caller)
{
    void *found = next(operator, caller);

    return found != NULL ? ((void *(*)(size_t, size_t, const void *))found)(bytes, align, tag) : NULL;
}

/* ---- new ---- */

__attribute__((always_inline))
static inline void *allocate(size_t bytes)
{
    return SGC_IS_OURS(free) ? sgc_block_new(bytes) : sgc_malloc(bytes);
}

static void *allocate_aligned(size_t bytes, size_t align)
{
    sgc_assert(align != 0 && (align & (align - 1)) == 0);
    return SGC_IS_OURS(free) ? sgc_block_new_aligned(bytes, align) : sgc_aligned_alloc(align, bytes);
}

void *sgc_new(size_t bytes)
{
    void *block = allocate(bytes);

    return __builtin_expect(block != NULL, 1) ? block : next_new(bytes, CALLER);
}
SGC_OWN(new, _Znwm);

void *sgc_new_aligned(size_t bytes, size_t align)
{
    void *block = allocate_aligned(bytes, align);

    return block != NULL ? block : next_aligned(bytes, align, CALLER);
}
SGC_OWN(new_aligned, _ZnwmSt11align_val_t);

/* Not by name if it is ours, since the caller would be this library. */
void *sgc_new_array(size_t bytes)
{
    void *block;

    if (!SGC_IS_OURS(new))
        return sgc_new(bytes);
    block = allocate(bytes);
    return __builtin_expect(block != NULL, 1) ? block : next_new(bytes, CALLER);
}
SGC_OWN(new_array, _Znam);

void *sgc_new_array_aligned(size_t bytes, size_t align)
{
    void *block;

    if (!SGC_IS_OURS(new_aligned))
        return sgc_new_aligned(bytes, align);
    block = allocate_aligned(bytes, align);
    return block != NULL ? block : next_aligned(bytes, align, CALLER);
}
SGC_OWN(new_array_aligned, _ZnamSt11align_val_t);

/* ---- new that does not throw ----
 *
 * What has replaced the form that throws may do so, as may the program's handler: the C++ library's
 * form catches that. */

void *sgc_new_nothrow(size_t bytes, const void *tag)
{
    void *block = SGC_IS_OURS(new) ? allocate(bytes) : NULL;

    return block != NULL ? block : next_nothrow(bytes, tag, "_ZnwmRKSt9nothrow_t", CALLER);
}

void *sgc_new_array_nothrow(size_t bytes, const void *tag)
{
    void *block = SGC_IS_OURS(new_array) && SGC_IS_OURS(new) ? allocate(bytes) : NULL;

    return block != NULL ? block : next_nothrow(bytes, tag, "_ZnamRKSt9nothrow_t", CALLER);
}

void *sgc_new_aligned_nothrow(size_t bytes, size_t align, const void *tag)
{
    void *block = SGC_IS_OURS(new_aligned) ? allocate_aligned(bytes, align) : NULL;

    return block != NULL ? block : next_aligned_nothrow(bytes, align, tag, "_ZnwmSt11align_val_tRKSt9nothrow_t", CALLER);
}

void *sgc_new_array_aligned_nothrow(size_t bytes, size_t align, const void *tag)
{
    bool ours = SGC_IS_OURS(new_array_aligned) && SGC_IS_OURS(new_aligned);
    void *block = ours ? allocate_aligned(bytes, align) : NULL;

    return block != NULL ? block : next_aligned_nothrow(bytes, align, tag, "_ZnamSt11align_val_tRKSt9nothrow_t", CALLER);
}

/* ---- delete ---- */

__attribute__((always_inline))
static inline void give(void *block)
{
    if (SGC_IS_OURS(free))
        sgc_block_free(block, "operator delete");
    else
        sgc_free(block);
}

void sgc_delete(void *block)
{
    give(block);
}

void sgc_delete_aligned(void *block, size_t align)
{
    sgc_assert(align != 0 && (align & (align - 1)) == 0);
    give(block);
}

void sgc_delete_array(void *block)
{
    sgc_delete(block);
}

void sgc_delete_sized(void *block, size_t bytes)
{
    (void)bytes;
    sgc_delete(block);
}

void sgc_delete_array_sized(void *block, size_t bytes)
{
    (void)bytes;
    sgc_delete_array(block);
}

void sgc_delete_nothrow(void *block, const void *tag)
{
    (void)tag;
    sgc_delete(block);
}

void sgc_delete_array_nothrow(void *block, const void *tag)
{
    (void)tag;
    sgc_delete_array(block);
}

void sgc_delete_array_aligned(void *block, size_t align)
{
    sgc_delete_aligned(block, align);
}

void sgc_delete_aligned_sized(void *block, size_t bytes, size_t align)
{
    (void)bytes;
    sgc_delete_aligned(block, align);
}

void sgc_delete_array_aligned_sized(void *block, size_t bytes, size_t align)
{
    (void)bytes;
    sgc_delete_array_aligned(block, align);
}

void sgc_delete_aligned_nothrow(void *block, size_t align, const void *tag)
{
    (void)tag;
    sgc_delete_aligned(block, align);
}

void sgc_delete_array_aligned_nothrow(void *block, size_t align, const void *tag)
{
    (void)tag;
    sgc_delete_array_aligned(block, align);
}
