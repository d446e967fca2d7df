/* SPDX-License-Identifier: MIT */
/*
 * The global `new` and `delete` on the collector's heap, for programs that link with libgccpp:
 * objects are not collected, but what they point at is kept.
 */
#define GC_INCLUDE_NEW
#include "gc/gc_cpp.h"

/* All of these are exported.  Compilers see to it where they know the operator; clang does not know
 * those with a size. */
#pragma GCC visibility push(default)

void *operator new(GC_SIZE_T size) GC_DECL_NEW_THROW
{
    void *object = GC_malloc_uncollectable(size);

    GC_OP_NEW_OOM_CHECK(object);
    return object;
}

void *operator new[](GC_SIZE_T size) GC_DECL_NEW_THROW
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

/* ---- those that do not throw ---- */

void *operator new(GC_SIZE_T size, const std::nothrow_t &) GC_NOEXCEPT
{
    return GC_malloc_uncollectable(size);
}

void *operator new[](GC_SIZE_T size, const std::nothrow_t &) GC_NOEXCEPT
{
    return GC_malloc_uncollectable(size);
}

void operator delete(void *object, const std::nothrow_t &) GC_NOEXCEPT
{
    ::operator delete(object);
}

void operator delete[](void *object, const std::nothrow_t &) GC_NOEXCEPT
{
    ::operator delete(object);
}

/* ---- those that are told the size ---- */

void operator delete(void *object, GC_SIZE_T) GC_NOEXCEPT
{
    ::operator delete(object);
}

void operator delete[](void *object, GC_SIZE_T) GC_NOEXCEPT
{
    ::operator delete(object);
}

/* ---- those with an alignment: the C++ library's others of that sort call these two ---- */

#if defined(__cpp_aligned_new)
void *operator new(GC_SIZE_T size, std::align_val_t alignment) GC_DECL_NEW_THROW
{
    void *object = SGC_memalign(static_cast<GC_SIZE_T>(alignment), size, GC_sgc_kind_(NoGC));

    GC_OP_NEW_OOM_CHECK(object);
    return object;
}

void operator delete(void *object, std::align_val_t) GC_NOEXCEPT
{
    ::operator delete(object);
}
#endif
