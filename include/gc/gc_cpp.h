/* SPDX-License-Identifier: MIT */
/*
 * Collected objects in C++.
 *
 *   class A : public gc { };             new A is collected;  new (NoGC) A is not
 *   class B : public gc_cleanup { };     the same, and its destructor runs when the object is collected
 *   new (GC) T;                          a collected object of any type;  new (PointerFreeGC) T is not scanned
 *   new (GC, cleanup, data) T;           the same; cleanup(object, data) is called when it is collected
 *
 * `delete` frees all of these at once.  The destructor of a class without gc_cleanup does not run when an object is
 * collected, and of an array whose elements have gc_cleanup only that of the first.  An object with a cleanup keeps what
 * it points at, so two such objects that point at each other are never collected.
 *
 * A program that links with libgccpp also has the global `new` and `delete` from the collector's heap: objects that are
 * not collected, but scanned.
 *
 * A client may define, before it includes this file:
 *   GC_INCLUDE_NEW         a `new` that fails throws std::bad_alloc itself; otherwise GC_throw_bad_alloc does, which is
 *                          in libgccpp and libgctba
 *   GC_NEW_ABORTS_ON_OOM   it ends the program
 *   GC_NAME_CONFLICT       GC is another name already: write UseGC
 *   GC_NAMESPACE           put the types into namespace boehmgc
 *   GC_ATOMIC_UNCOLLECTABLE, GC_NO_OPERATOR_NEW_ARRAY
 */
#ifndef GC_CPP_H
#define GC_CPP_H

#include "gc.h"

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

#if defined(GC_NEW_ABORTS_ON_OOM) || defined(_LIBCPP_NO_EXCEPTIONS)
#define GC_OP_NEW_OOM_CHECK(object) do { if (!(object)) GC_abort_on_oom(); } while (0)
#elif defined(GC_INCLUDE_NEW)
#include <new>
#define GC_OP_NEW_OOM_CHECK(object) do { if (!(object)) throw std::bad_alloc(); } while (0)
#else
GC_API void GC_CALL GC_throw_bad_alloc();
#define GC_OP_NEW_OOM_CHECK(object) do { if (!(object)) GC_throw_bad_alloc(); } while (0)
#endif

#if defined(GC_ATOMIC_UNCOLLECTABLE)
#define GC_SGC_CASE_POINTER_FREE_NOGC_ \
    case GC_NS_QUALIFY(PointerFreeNoGC): \
        return GC_MALLOC_ATOMIC_UNCOLLECTABLE(size);
#else
#define GC_SGC_CASE_POINTER_FREE_NOGC_
#endif

/* The members of class gc for arrays. */
#if defined(GC_OPERATOR_NEW_ARRAY)
#define GC_SGC_CLASS_ARRAYS_ \
    inline void *operator new[](size_t size) { return gc::operator new(size); } \
    inline void *operator new[](size_t size, GCPlacement placement) { return gc::operator new(size, placement); } \
    inline void *operator new[](size_t, void *where) GC_NOEXCEPT { return where; } \
    inline void operator delete[](void *object) GC_NOEXCEPT { gc::operator delete(object); } \
    inline void operator delete[](void *object, GCPlacement) GC_NOEXCEPT { gc::operator delete(object); } \
    inline void operator delete[](void *, void *) GC_NOEXCEPT { }
#else
#define GC_SGC_CLASS_ARRAYS_
#endif

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

/* An object as the placement says, or NULL. */
inline void *GC_sgc_place_(size_t size, GC_NS_QUALIFY(GCPlacement) placement)
{
    switch (placement) {
    case GC_NS_QUALIFY(UseGC):
        return GC_MALLOC(size);
    case GC_NS_QUALIFY(PointerFreeGC):
        return GC_MALLOC_ATOMIC(size);
    GC_SGC_CASE_POINTER_FREE_NOGC_
    default:
        return GC_MALLOC_UNCOLLECTABLE(size);
    }
}

GC_SGC_NAMESPACE_BEGIN_

class gc {
public:
    inline void *operator new(size_t size)
    {
        void *object = GC_MALLOC(size);

        GC_OP_NEW_OOM_CHECK(object);
        return object;
    }

    inline void *operator new(size_t size, GCPlacement placement)
    {
        void *object = GC_sgc_place_(size, placement);

        GC_OP_NEW_OOM_CHECK(object);
        return object;
    }

    /* The others would hide the ordinary placement. */
    inline void *operator new(size_t, void *where) GC_NOEXCEPT { return where; }
    inline void operator delete(void *object) GC_NOEXCEPT { GC_FREE(object); }
    inline void operator delete(void *object, GCPlacement) GC_NOEXCEPT { GC_FREE(object); }
    inline void operator delete(void *, void *) GC_NOEXCEPT { }

    GC_SGC_CLASS_ARRAYS_
};

/* Cleanups are finalizers: where gc.h has none, there is no gc_cleanup, and a cleanup cannot be passed. */
#if defined(GC_REGISTER_FINALIZER_IGNORE_SELF)
class gc_cleanup : virtual public gc {
public:
    /* An object that is part of a larger one with a cleanup leaves that alone; outside the heap nothing happens. */
    inline gc_cleanup()
    {
        void *self = static_cast<void *>(this), *base = GC_base(self), *old_data = NULL;
        GC_finalization_proc old = 0;

        if (base == NULL)
            return;
        GC_register_finalizer_ignore_self(base, (GC_finalization_proc)cleanup,
                                          (void *)(static_cast<char *>(self) - static_cast<char *>(base)), &old,
                                          &old_data);
        if (old != 0)
            GC_register_finalizer_ignore_self(base, old, old_data, 0, 0);
    }

    inline virtual ~gc_cleanup()
    {
        void *base = GC_base(this);

        if (base != NULL)
            GC_register_finalizer_ignore_self(base, 0, 0, 0, 0);
    }

private:
    inline static void GC_CALLBACK cleanup(void *base, void *distance)
    {
        reinterpret_cast<gc_cleanup *>(static_cast<char *>(base) + (ptrdiff_t)distance)->~gc_cleanup();
    }
};
#endif

GC_SGC_NAMESPACE_END_

#if defined(GC_REGISTER_FINALIZER_IGNORE_SELF)
inline void *operator new(size_t size, GC_NS_QUALIFY(GCPlacement) placement,
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

#if defined(GC_OPERATOR_NEW_ARRAY)
inline void *operator new[](size_t size, GC_NS_QUALIFY(GCPlacement) placement,
                            GC_NS_QUALIFY(GCCleanUpFunc) cleanup = 0, void *data = 0)
{
    return ::operator new(size, placement, cleanup, data);
}
#endif

#else
inline void *operator new(size_t size, GC_NS_QUALIFY(GCPlacement) placement)
{
    void *object = GC_sgc_place_(size, placement);

    GC_OP_NEW_OOM_CHECK(object);
    return object;
}

inline void operator delete(void *object, GC_NS_QUALIFY(GCPlacement)) GC_NOEXCEPT
{
    GC_FREE(object);
}

#if defined(GC_OPERATOR_NEW_ARRAY)
inline void *operator new[](size_t size, GC_NS_QUALIFY(GCPlacement) placement)
{
    return ::operator new(size, placement);
}
#endif
#endif

#endif
