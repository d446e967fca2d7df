/* SPDX-License-Identifier: MIT */
/*
 * The global `new` and `delete` on the collector's heap, for programs that link with libgccpp:
 * objects are not collected, but what they point at is kept.
 */
#include <new>

#include "gc/gc_cpp.h"

/* All of these are exported.  Compilers see to it where they know the operator; clang does not know
 * those with a size. */
#pragma GCC visibility push(default)

void *operator new(size_t size)
{
    void *object = GC_malloc_uncollectable(size);

    GC_OP_NEW_OOM_CHECK(object);
    return object;
}

void *operator new[](size_t size)
{
    return ::operator new(size);
}

void operator delete(void *object) GC_NOEXCEPT
{
    GC_free(object);
}

void operator delete[](void *object) GC_NOEXCEPT
{
    ::operator delete(object);
}

void operator delete(void *object, size_t) GC_NOEXCEPT
{
    ::operator delete(object);
}

void operator delete[](void *object, size_t) GC_NOEXCEPT
{
    ::operator delete(object);
}
