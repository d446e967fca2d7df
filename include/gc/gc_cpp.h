/* SPDX-License-Identifier: MIT */
/*
 * Collected objects in C++.
 *
 *   class A : public gc { };             new A is collected;  new (NoGC) A is not
 *   class B : public gc_cleanup { };     the same, and its destructor runs when the object is collected
 *   new (GC) T;                          a collected object of any type;  new (PointerFreeGC) T is not scanned
 *   new (GC, cleanup, data) T;           the same; cleanup(object, data) is called when it is collected
 *
 * `delete` frees an object of such a class at once; one of any other type only in programs that link with libgccpp, since
 * its `delete` is the global one: without that, call the destructor and GC_FREE.  The destructor of a class without
 * gc_cleanup does not run when an object is collected, and of an array whose elements have gc_cleanup only that of the
 * first.  An object with a cleanup keeps what
 * it points at, so two such objects that point at each other are never collected.
 *
 * A program that links with libgccpp also has the global `new` and `delete` from the collector's heap: objects that are
 * not collected, but scanned.
 *
 * From C++17 on objects are aligned as their types ask (alignas); before, to 16 bytes.
 *
 * A client may define, before it includes this file:
 *   GC_INCLUDE_NEW         a `new` that fails throws std::bad_alloc itself; otherwise GC_throw_bad_alloc does, which is
 *                          in libgccpp and libgctba.  From C++11 on classes then have new (std::nothrow), too
 *   GC_NEW_ABORTS_ON_OOM   it ends the program
 *   GC_NAME_CONFLICT       GC is another name already: write UseGC
 *   GC_NAMESPACE           put the types into namespace boehmgc
 *   GC_ATOMIC_UNCOLLECTABLE                     there is PointerFreeNoGC, too
 *   GC_NO_OPERATOR_NEW_ARRAY, GC_NO_OPERATOR_NEW_NOTHROW, GC_NO_OPERATOR_SIZED_DELETE
 *                          classes do without these operators; they have the last from C++14 on
 *   GC_NEW_DELETE_NEED_THROW, GC_NEW_DELETE_THROW_NOT_NEEDED
 *                          what GC_DECL_NEW_THROW is to be: for a global `new` of the client's own
 * GC_NO_INLINE_STD_NEW says what is so in any case: the global operators are in libgccpp, never inline.
 */
#ifndef GC_CPP_H
#define GC_CPP_H

#include "gc.h"

#if defined(GC_INLINE_STD_NEW) && !defined(GC_NO_INLINE_STD_NEW)
#error "C++ forbids an inline global new. Link with libgccpp, which has one, instead of defining GC_INLINE_STD_NEW."
#endif

/* ---- what the compiler and the client want ----------------------------------------------------- */

#if defined(GC_INCLUDE_NEW) || defined(__cpp_aligned_new)
#include <new>
#endif

#if defined(GC_INCLUDE_NEW) && __cplusplus >= 201103L
#define GC_SIZE_T std::size_t
#define GC_PTRDIFF_T std::ptrdiff_t
#else
#define GC_SIZE_T size_t
#define GC_PTRDIFF_T ptrdiff_t
#endif

#if defined(GC_NAMESPACE)
#define GC_NS_QUALIFY(name) boehmgc::name
#define GC_SGC_NAMESPACE_BEGIN_ namespace boehmgc {
#define GC_SGC_NAMESPACE_END_ }
#else
#define GC_NS_QUALIFY(name) name
#define GC_SGC_NAMESPACE_BEGIN_
#define GC_SGC_NAMESPACE_END_
#endif

#if !defined(GC_NO_OPERATOR_NEW_ARRAY) && !defined(GC_OPERATOR_NEW_ARRAY)
#define GC_OPERATOR_NEW_ARRAY
#endif
#if !defined(GC_PLACEMENT_DELETE)
#define GC_PLACEMENT_DELETE
#endif
#if !defined(GC_NO_OPERATOR_SIZED_DELETE) && !defined(GC_OPERATOR_SIZED_DELETE) && __cplusplus >= 201402L
#define GC_OPERATOR_SIZED_DELETE
#endif
#if !defined(GC_NO_OPERATOR_NEW_NOTHROW) && !defined(GC_OPERATOR_NEW_NOTHROW) && defined(GC_INCLUDE_NEW) && \
    __cplusplus >= 201103L
#define GC_OPERATOR_NEW_NOTHROW
#endif

/* What a global `new` that throws is declared with.  A specification of exceptions is wanted before C++11 and, in another
 * form, by clang. */
#if !defined(GC_NEW_DELETE_THROW_NOT_NEEDED) && !defined(GC_NEW_DELETE_NEED_THROW) && \
    (__cplusplus < 201103L || defined(__clang__))
#define GC_NEW_DELETE_NEED_THROW
#endif
#if defined(GC_NEW_DELETE_NEED_THROW) && __cplusplus >= 201703L
#define GC_DECL_NEW_THROW noexcept(false)
#elif defined(GC_NEW_DELETE_NEED_THROW) && defined(GC_INCLUDE_NEW)
#define GC_DECL_NEW_THROW throw(std::bad_alloc)
#else
#define GC_DECL_NEW_THROW
#endif
#define GC_OPERATOR_NEW_ATTR(size)
#define GC_OPERATOR_NOTHROW_NEW_ATTR(size)

#if defined(GC_NEW_ABORTS_ON_OOM) || defined(_LIBCPP_NO_EXCEPTIONS) || (defined(GC_INCLUDE_NEW) && !defined(__EXCEPTIONS))
#define GC_OP_NEW_OOM_CHECK(object) do { if (!(object)) GC_abort_on_oom(); } while (0)
#elif defined(GC_INCLUDE_NEW)
#define GC_OP_NEW_OOM_CHECK(object) do { if (!(object)) throw std::bad_alloc(); } while (0)
#else
/* Throws std::bad_alloc. */
GC_API void GC_CALL GC_throw_bad_alloc();
#define GC_OP_NEW_OOM_CHECK(object) do { if (!(object)) GC_throw_bad_alloc(); } while (0)
#endif

/* The hook for an allocation that fails may throw; a `new` that must not throw is NULL then. */
#if defined(__EXCEPTIONS)
#define GC_SGC_OR_NULL_(allocated) try { return allocated; } catch (...) { return NULL; }
#else
#define GC_SGC_OR_NULL_(allocated) return allocated;
#endif

/* ---- placements -------------------------------------------------------------------------------- */

GC_SGC_NAMESPACE_BEGIN_

enum GCPlacement {
    UseGC,
#if !defined(GC_NAME_CONFLICT)
    GC = UseGC,
#endif
    NoGC,
    PointerFreeGC
#if defined(GC_ATOMIC_UNCOLLECTABLE)
    , PointerFreeNoGC
#endif
};

extern "C" {
typedef void (GC_CALLBACK *GCCleanUpFunc)(void *object, void *data);
}

GC_SGC_NAMESPACE_END_

#if defined(GC_ATOMIC_UNCOLLECTABLE)
#define GC_SGC_CASE_POINTER_FREE_NOGC_(result) \
    case GC_NS_QUALIFY(PointerFreeNoGC): \
        return result;
#else
#define GC_SGC_CASE_POINTER_FREE_NOGC_(result)
#endif

/* An object as the placement says, or NULL. */
inline void *GC_sgc_place_(GC_SIZE_T size, GC_NS_QUALIFY(GCPlacement) placement)
{
    switch (placement) {
    case GC_NS_QUALIFY(UseGC):
        return GC_MALLOC(size);
    case GC_NS_QUALIFY(PointerFreeGC):
        return GC_MALLOC_ATOMIC(size);
    GC_SGC_CASE_POINTER_FREE_NOGC_(GC_MALLOC_ATOMIC_UNCOLLECTABLE(size))
    default:
        return GC_MALLOC_UNCOLLECTABLE(size);
    }
}

#if defined(__cpp_aligned_new)
/* Its kind by number. */
inline int GC_sgc_kind_(GC_NS_QUALIFY(GCPlacement) placement)
{
    switch (placement) {
    case GC_NS_QUALIFY(UseGC):
        return 1;
    case GC_NS_QUALIFY(PointerFreeGC):
        return 0;
    GC_SGC_CASE_POINTER_FREE_NOGC_(3)
    default:
        return 2;
    }
}

/* The same for a type that asks for more alignment than 16 bytes.  Objects for debugging are no better aligned: this is
 * none. */
inline void *GC_sgc_place_(GC_SIZE_T size, std::align_val_t alignment, GC_NS_QUALIFY(GCPlacement) placement)
{
    return SGC_memalign(static_cast<GC_SIZE_T>(alignment), size, GC_sgc_kind_(placement));
}
#endif

/* ---- classes ----------------------------------------------------------------------------------- */

/* The operators of class gc: for new_ and delete_, which are those of objects or those of arrays. */
#define GC_SGC_OPERATORS_(new_, delete_) \
    inline void *operator new_(GC_SIZE_T size) \
    { \
        void *object = GC_MALLOC(size); \
        GC_OP_NEW_OOM_CHECK(object); \
        return object; \
    } \
    inline void *operator new_(GC_SIZE_T size, GCPlacement placement) \
    { \
        void *object = GC_sgc_place_(size, placement); \
        GC_OP_NEW_OOM_CHECK(object); \
        return object; \
    } \
    inline void *operator new_(GC_SIZE_T, void *where) GC_NOEXCEPT { return where; } \
    inline void operator delete_(void *object) GC_NOEXCEPT { GC_FREE(object); } \
    inline void operator delete_(void *object, GCPlacement) GC_NOEXCEPT { GC_FREE(object); } \
    inline void operator delete_(void *, void *) GC_NOEXCEPT { }

#if defined(GC_OPERATOR_SIZED_DELETE)
#define GC_SGC_SIZED_(delete_) \
    inline void operator delete_(void *object, GC_SIZE_T) GC_NOEXCEPT { GC_FREE(object); }
#else
#define GC_SGC_SIZED_(delete_)
#endif

#if defined(GC_OPERATOR_NEW_NOTHROW)
#define GC_SGC_NOTHROW_(new_, delete_) \
    inline void *operator new_(GC_SIZE_T size, const std::nothrow_t &) GC_NOEXCEPT { GC_SGC_OR_NULL_(GC_MALLOC(size)) } \
    inline void operator delete_(void *object, const std::nothrow_t &) GC_NOEXCEPT { GC_FREE(object); }
#else
#define GC_SGC_NOTHROW_(new_, delete_)
#endif

/* Without one of these the compiler takes the operator above of the other parameters, and the object is not aligned. */
#if defined(__cpp_aligned_new)
#define GC_SGC_ALIGNED_(new_, delete_) \
    inline void *operator new_(GC_SIZE_T size, std::align_val_t alignment) \
    { \
        void *object = GC_sgc_place_(size, alignment, UseGC); \
        GC_OP_NEW_OOM_CHECK(object); \
        return object; \
    } \
    inline void *operator new_(GC_SIZE_T size, std::align_val_t alignment, GCPlacement placement) \
    { \
        void *object = GC_sgc_place_(size, alignment, placement); \
        GC_OP_NEW_OOM_CHECK(object); \
        return object; \
    } \
    inline void *operator new_(GC_SIZE_T size, std::align_val_t alignment, const std::nothrow_t &) GC_NOEXCEPT \
    { \
        GC_SGC_OR_NULL_(GC_sgc_place_(size, alignment, UseGC)) \
    } \
    inline void operator delete_(void *object, std::align_val_t) GC_NOEXCEPT { GC_free(object); } \
    inline void operator delete_(void *object, std::align_val_t, GCPlacement) GC_NOEXCEPT { GC_free(object); } \
    inline void operator delete_(void *object, std::align_val_t, const std::nothrow_t &) GC_NOEXCEPT { GC_free(object); }
#else
#define GC_SGC_ALIGNED_(new_, delete_)
#endif

GC_SGC_NAMESPACE_BEGIN_

class gc {
public:
    GC_SGC_OPERATORS_(new, delete)
    GC_SGC_SIZED_(delete)
    GC_SGC_NOTHROW_(new, delete)
    GC_SGC_ALIGNED_(new, delete)
#if defined(GC_OPERATOR_NEW_ARRAY)
    GC_SGC_OPERATORS_(new[], delete[])
    GC_SGC_SIZED_(delete[])
    GC_SGC_NOTHROW_(new[], delete[])
    GC_SGC_ALIGNED_(new[], delete[])
#endif
};

#undef GC_SGC_OPERATORS_
#undef GC_SGC_SIZED_
#undef GC_SGC_NOTHROW_
#undef GC_SGC_ALIGNED_

class gc_cleanup : virtual public gc {
public:
    /* An object that is part of a larger one with a cleanup leaves that alone; outside the heap nothing happens. */
    inline gc_cleanup() { enlist(); }
    inline gc_cleanup(const gc_cleanup &other) : gc(other) { enlist(); }
    inline gc_cleanup &operator=(const gc_cleanup &) { return *this; }

    inline virtual ~gc_cleanup()
    {
        void *base = GC_base(this), *old_data = NULL;
        GC_finalization_proc old = 0;

        if (base == NULL)
            return;
        GC_register_finalizer_ignore_self(base, 0, 0, &old, &old_data);
        if (old != 0 && old_data != distance_from(base))
            GC_register_finalizer_ignore_self(base, old, old_data, 0, 0);
    }

private:
    /* Where it lies in the object of the heap that it is a part of: the data of its cleanup. */
    inline void *distance_from(void *base)
    {
        return (void *)(reinterpret_cast<char *>(this) - static_cast<char *>(base));
    }

    inline void enlist()
    {
        void *base = GC_base(this), *old_data = NULL;
        GC_finalization_proc old = 0;

        if (base == NULL)
            return;
        GC_register_finalizer_ignore_self(base, (GC_finalization_proc)cleanup, distance_from(base), &old, &old_data);
        if (old != 0)
            GC_register_finalizer_ignore_self(base, old, old_data, 0, 0);
    }

    inline static void GC_CALLBACK cleanup(void *base, void *distance)
    {
        reinterpret_cast<gc_cleanup *>(static_cast<char *>(base) + (ptrdiff_t)distance)->~gc_cleanup();
    }
};

GC_SGC_NAMESPACE_END_

/* ---- new (GC) of any type ---------------------------------------------------------------------- */

inline void *operator new(GC_SIZE_T size, GC_NS_QUALIFY(GCPlacement) placement,
                          GC_NS_QUALIFY(GCCleanUpFunc) cleanup = 0, void *data = 0)
{
    void *object = GC_sgc_place_(size, placement);

    GC_OP_NEW_OOM_CHECK(object);
    if (cleanup != 0 && placement == GC_NS_QUALIFY(UseGC))
        GC_REGISTER_FINALIZER_IGNORE_SELF(object, cleanup, data, 0, 0);
    return object;
}

inline void operator delete(void *object, GC_NS_QUALIFY(GCPlacement), GC_NS_QUALIFY(GCCleanUpFunc), void *) GC_NOEXCEPT
{
    GC_FREE(object);
}

#if defined(__cpp_aligned_new)
inline void *operator new(GC_SIZE_T size, std::align_val_t alignment, GC_NS_QUALIFY(GCPlacement) placement,
                          GC_NS_QUALIFY(GCCleanUpFunc) cleanup = 0, void *data = 0)
{
    void *object = GC_sgc_place_(size, alignment, placement);

    GC_OP_NEW_OOM_CHECK(object);
    if (cleanup != 0 && placement == GC_NS_QUALIFY(UseGC))
        GC_register_finalizer_ignore_self(object, cleanup, data, 0, 0);
    return object;
}

inline void operator delete(void *object, std::align_val_t, GC_NS_QUALIFY(GCPlacement), GC_NS_QUALIFY(GCCleanUpFunc),
                            void *) GC_NOEXCEPT
{
    GC_free(object);
}
#endif

#if defined(GC_OPERATOR_NEW_ARRAY)
inline void *operator new[](GC_SIZE_T size, GC_NS_QUALIFY(GCPlacement) placement,
                            GC_NS_QUALIFY(GCCleanUpFunc) cleanup = 0, void *data = 0)
{
    return ::operator new(size, placement, cleanup, data);
}

inline void operator delete[](void *object, GC_NS_QUALIFY(GCPlacement), GC_NS_QUALIFY(GCCleanUpFunc), void *) GC_NOEXCEPT
{
    GC_FREE(object);
}
#endif

#if defined(GC_OPERATOR_NEW_ARRAY) && defined(__cpp_aligned_new)
inline void *operator new[](GC_SIZE_T size, std::align_val_t alignment, GC_NS_QUALIFY(GCPlacement) placement,
                            GC_NS_QUALIFY(GCCleanUpFunc) cleanup = 0, void *data = 0)
{
    return ::operator new(size, alignment, placement, cleanup, data);
}

inline void operator delete[](void *object, std::align_val_t, GC_NS_QUALIFY(GCPlacement), GC_NS_QUALIFY(GCCleanUpFunc),
                              void *) GC_NOEXCEPT
{
    GC_free(object);
}
#endif

#endif
