/* SPDX-License-Identifier: MIT */
/*
 * The functions that a program calls, by the linker's --wrap, instead of malloc and its relatives.
 * An object file of its own: a program that is linked with the static library and without --wrap
 * has no __real_ functions, and needs none.
 *
 * Memory that is not SGC's came from the C library by another way (strdup, getline,
 * posix_memalign), and goes back there.
 */
#include "shortterm/compat/compat.h"

#include <errno.h>

void __real_free(void *object);
void *__real_realloc(void *object, size_t size);
size_t __real_malloc_usable_size(void *object);

#pragma GCC visibility push(default)
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *object, size_t size);
void __wrap_free(void *object);
size_t __wrap_malloc_usable_size(void *object);
#pragma GCC visibility pop

static bool is_foreign(const void *object)
{
    return object != NULL && !GC_is_heap_ptr(object);
}

void *__wrap_malloc(size_t size)
{
    return scm_malloc(size);
}

/* New objects of these kinds are zero. */
void *__wrap_calloc(size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return scm_malloc(bytes);
}

/* Size 0 makes a small object, as libscm does. */
void *__wrap_realloc(void *object, size_t size)
{
    if (object == NULL)
        return scm_malloc(size);
    if (is_foreign(object))
        return __real_realloc(object, size);
    return sgc_scm_resize(object, size != 0 ? size : 1);
}

void __wrap_free(void *object)
{
    if (is_foreign(object))
        __real_free(object);
    else
        scm_free(object);
}

size_t __wrap_malloc_usable_size(void *object)
{
    if (object == NULL)
        return 0;
    return is_foreign(object) ? __real_malloc_usable_size(object) : sgc_scm_usable(object);
}
