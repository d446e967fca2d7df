/* SPDX-License-Identifier: MIT */
/*
 * The global `new` and `delete` on the collector's heap, for programs that link with libgccpp:
 * objects are not collected, but what they point at is kept.
 */
#define GC_INCLUDE_NEW
#include "gc/gc_cpp.h"

/* The hook for an allocation that fails may throw. */
static void *allocate_or_null(GC_SIZE_T size) GC_NOEXCEPT
{
    GC_SGC_OR_NULL_(GC_malloc_uncollectable(size))
}

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
    return allocate_or_null(size);
}

void *operator new[](GC_SIZE_T size, const std::nothrow_t &) GC_NOEXCEPT
{
    return allocate_or_null(size);
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

/* ---- are they the program's? ---- */

/* The first `new` under this file's own name, whatever the program takes. */
extern "C" void *sgc_cpp_own_new(GC_SIZE_T size) __attribute__((alias("_Znwm"), visibility("hidden"), malloc, alloc_size(1)));

/* Objects of another `new` are neither looked at nor kept, and nothing else says so: a sanitizer's comes first, and so does the
 * C++ library's where this library was loaded behind it, by dlopen. */
__attribute__((constructor)) static void check_that_used()
{
    void *(*volatile used)(GC_SIZE_T) = &::operator new;        /* the compiler takes the two for one */

    if (used != sgc_cpp_own_new)
        GC_get_warn_proc()(const_cast<char *>(
            "libgccpp is loaded, but the program's new is another one: what that returns is not looked at, and keeps "
            "nothing. Link the program itself with libgccpp, not a library that it loads; a sanitizer's new cannot be "
            "replaced\n"), 0);
}
