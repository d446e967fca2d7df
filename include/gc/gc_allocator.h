/* SPDX-License-Identifier: MIT */
/*
 * Allocators for containers of the C++ library.
 *
 *   gc_allocator<T>                    collected memory; pointer-free for the arithmetic types and those that
 *                                      GC_DECLARE_PTRFREE names
 *   gc_allocator_ignore_off_page<T>    the same for large containers that are always reached by their beginning
 *   traceable_allocator<T>             memory that is not collected, but scanned: for containers outside the heap
 *                                      whose elements point into it
 *
 * All of an allocator's instances are equal.  An allocation that fails throws std::bad_alloc, or ends the program if
 * GC_NEW_ABORTS_ON_OOM is defined.
 */
#ifndef GC_ALLOCATOR_H
#define GC_ALLOCATOR_H

#include "gc.h"
#include <new>

#if defined(GC_NEW_ABORTS_ON_OOM) || defined(_LIBCPP_NO_EXCEPTIONS)
#define GC_ALLOCATOR_THROW_OR_ABORT() GC_abort_on_oom()
#else
#define GC_ALLOCATOR_THROW_OR_ABORT() throw std::bad_alloc()
#endif

/* ---- which types have no pointers -------------------------------------------------------------- */

struct GC_true_type { };
struct GC_false_type { };

template <class T> struct GC_type_traits {
    GC_false_type GC_is_ptr_free;
};

#define GC_DECLARE_PTRFREE(T) \
    template <> struct GC_type_traits<T> { \
        GC_true_type GC_is_ptr_free; \
    }

GC_DECLARE_PTRFREE(char);
GC_DECLARE_PTRFREE(signed char);
GC_DECLARE_PTRFREE(unsigned char);
GC_DECLARE_PTRFREE(signed short);
GC_DECLARE_PTRFREE(unsigned short);
GC_DECLARE_PTRFREE(signed int);
GC_DECLARE_PTRFREE(unsigned int);
GC_DECLARE_PTRFREE(signed long);
GC_DECLARE_PTRFREE(unsigned long);
GC_DECLARE_PTRFREE(float);
GC_DECLARE_PTRFREE(double);
GC_DECLARE_PTRFREE(long double);

/* ---- memory ------------------------------------------------------------------------------------ */

inline void *GC_sgc_got_(void *object)
{
    if (object == 0)
        GC_ALLOCATOR_THROW_OR_ABORT();
    return object;
}

template <class PointerFree> inline void *GC_selective_alloc(size_t size, PointerFree, bool ignore_off_page)
{
    return GC_sgc_got_(ignore_off_page ? GC_MALLOC_IGNORE_OFF_PAGE(size) : GC_MALLOC(size));
}

template <> inline void *GC_selective_alloc<GC_true_type>(size_t size, GC_true_type, bool ignore_off_page)
{
    return GC_sgc_got_(ignore_off_page ? GC_MALLOC_ATOMIC_IGNORE_OFF_PAGE(size) : GC_MALLOC_ATOMIC(size));
}

/* ---- the allocators ---------------------------------------------------------------------------- */

/* What they have in common.  `get` is an expression that allocates `bytes`. */
#define GC_SGC_ALLOCATOR_(name, get) \
    template <class T> class name { \
    public: \
        typedef size_t size_type; \
        typedef ptrdiff_t difference_type; \
        typedef T *pointer; \
        typedef const T *const_pointer; \
        typedef T &reference; \
        typedef const T &const_reference; \
        typedef T value_type; \
        template <class U> struct rebind { \
            typedef name<U> other; \
        }; \
        name() GC_NOEXCEPT { } \
        name(const name &) GC_NOEXCEPT { } \
        template <class U> GC_ATTR_EXPLICIT name(const name<U> &) GC_NOEXCEPT { } \
        ~name() GC_NOEXCEPT { } \
        pointer address(reference of) const { return &of; } \
        const_pointer address(const_reference of) const { return &of; } \
        T *allocate(size_type count, const void * = 0) \
        { \
            size_t bytes = count * sizeof(T); \
            if (count > max_size()) \
                GC_ALLOCATOR_THROW_OR_ABORT(); \
            return static_cast<T *>(get); \
        } \
        void deallocate(pointer object, size_type) GC_NOEXCEPT { GC_FREE(object); } \
        size_type max_size() const GC_NOEXCEPT { return static_cast<size_t>(-1) / sizeof(T); } \
        void construct(pointer object, const T &value) { new (object) T(value); } \
        void destroy(pointer object) { object->~T(); } \
    }; \
    template <> class name<void> { \
    public: \
        typedef size_t size_type; \
        typedef ptrdiff_t difference_type; \
        typedef void *pointer; \
        typedef const void *const_pointer; \
        typedef void value_type; \
        template <class U> struct rebind { \
            typedef name<U> other; \
        }; \
    }; \
    template <class T, class U> inline bool operator==(const name<T> &, const name<U> &) GC_NOEXCEPT { return true; } \
    template <class T, class U> inline bool operator!=(const name<T> &, const name<U> &) GC_NOEXCEPT { return false; }

GC_SGC_ALLOCATOR_(gc_allocator, GC_selective_alloc(bytes, GC_type_traits<T>().GC_is_ptr_free, false))
GC_SGC_ALLOCATOR_(gc_allocator_ignore_off_page, GC_selective_alloc(bytes, GC_type_traits<T>().GC_is_ptr_free, true))
GC_SGC_ALLOCATOR_(traceable_allocator, GC_sgc_got_(GC_MALLOC_UNCOLLECTABLE(bytes)))

#undef GC_SGC_ALLOCATOR_

#endif
