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
 * All of an allocator's instances are equal.  Memory is aligned as T asks.  An allocation that fails throws
 * std::bad_alloc, or ends the program if GC_NEW_ABORTS_ON_OOM is defined or the compiler has no exceptions.  From C++20 on
 * containers with these allocators can be used in constant expressions.
 *
 * A client that defines GC_NAMESPACE_ALLOCATOR before it includes this file has all of this in namespace boehmgc;
 * GC_DECLARE_PTRFREE then stands there, too.
 */
#ifndef GC_ALLOCATOR_H
#define GC_ALLOCATOR_H

#include "gc.h"
#include <new>
#if __cplusplus >= 201103L
#include <utility>
#endif
#if __cplusplus >= 202002L
#include <memory>
#endif

#if defined(GC_NEW_ABORTS_ON_OOM) || defined(_LIBCPP_NO_EXCEPTIONS) || !defined(__EXCEPTIONS)
#define GC_ALLOCATOR_THROW_OR_ABORT() GC_abort_on_oom()
#else
#define GC_ALLOCATOR_THROW_OR_ABORT() throw std::bad_alloc()
#endif

#if defined(GC_NAMESPACE_ALLOCATOR)
namespace boehmgc {
#endif

/* ---- which types have no pointers -------------------------------------------------------------- */

struct GC_true_type { };
struct GC_false_type { };

/* bdwgc scans these, so that programs may name them by GC_DECLARE_PTRFREE: hence not by it.  Others that hold no pointers
 * are scanned as there, since they serve as raw memory (std::byte) or hold pointers after all (enumerations, __int128). */
template <class T> struct GC_sgc_traits_ {
    typedef GC_false_type pointer_free;
};

#define GC_SGC_PTRFREE_(T) \
    template <> struct GC_sgc_traits_<T> { \
        typedef GC_true_type pointer_free; \
    }

/* Types that compilers have in C++98, too. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wlong-long"
typedef long long GC_sgc_long_long_;
typedef unsigned long long GC_sgc_unsigned_long_long_;
#pragma GCC diagnostic pop

GC_SGC_PTRFREE_(bool);
GC_SGC_PTRFREE_(GC_sgc_long_long_);
GC_SGC_PTRFREE_(GC_sgc_unsigned_long_long_);
GC_SGC_PTRFREE_(wchar_t);
#if __cplusplus >= 201103L
GC_SGC_PTRFREE_(char16_t);
GC_SGC_PTRFREE_(char32_t);
#endif
#if defined(__cpp_char8_t)
GC_SGC_PTRFREE_(char8_t);
#endif

template <class T> struct GC_type_traits {
    typename GC_sgc_traits_<T>::pointer_free GC_is_ptr_free;
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

/* Objects with more alignment than GC_malloc's, by the number of their kind.  They have no guards, in GC_DEBUG either. */
#define GC_SGC_OVER_ALIGNED_(T) (__alignof__(T) > 16)
inline int GC_sgc_kind_of_(GC_false_type) { return 1; }
inline int GC_sgc_kind_of_(GC_true_type) { return 0; }

/* ---- the allocators ---------------------------------------------------------------------------- */

/* Constant expressions have the standard's allocator: there is no collector when they are evaluated.  (The function of the
 * library answers wrongly with clang 14 in C++23.) */
#if __cplusplus >= 202002L
#define GC_SGC_CONSTANT_(statement) if (__builtin_is_constant_evaluated()) { statement; }
#else
#define GC_SGC_CONSTANT_(statement)
#endif

/* An element is made of whatever the container has for it: one that is moved is not copied. */
#if __cplusplus >= 202002L
#define GC_SGC_CONSTRUCT_ \
    template <class U, class... A> constexpr void construct(U *at, A &&...with) \
    { \
        std::construct_at(at, std::forward<A>(with)...); \
    }
#elif __cplusplus >= 201103L
#define GC_SGC_CONSTRUCT_ \
    template <class U, class... A> void construct(U *at, A &&...with) \
    { \
        ::new (static_cast<void *>(at)) U(std::forward<A>(with)...); \
    }
#else
#define GC_SGC_CONSTRUCT_ \
    void construct(pointer at, const T &value) { ::new (static_cast<void *>(at)) T(value); }
#endif

/* What they have in common.  `get` is an expression that allocates `bytes`; `kind` is the number of its kind. */
#define GC_SGC_ALLOCATOR_(name, get, kind) \
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
        GC_CONSTEXPR name() GC_NOEXCEPT { } \
        GC_CONSTEXPR name(const name &) GC_NOEXCEPT { } \
        template <class U> GC_ATTR_EXPLICIT GC_CONSTEXPR name(const name<U> &) GC_NOEXCEPT { } \
        GC_CONSTEXPR ~name() GC_NOEXCEPT { } \
        GC_CONSTEXPR name &operator=(const name &) GC_NOEXCEPT { return *this; } \
        GC_CONSTEXPR pointer address(reference of) const { return &of; } \
        GC_CONSTEXPR const_pointer address(const_reference of) const { return &of; } \
        GC_CONSTEXPR T *allocate(size_type count, const void * = 0) \
        { \
            GC_SGC_CONSTANT_(return std::allocator<T>().allocate(count)) \
            size_t bytes = count * sizeof(T); \
            if (count > max_size()) \
                GC_ALLOCATOR_THROW_OR_ABORT(); \
            return static_cast<T *>(GC_SGC_OVER_ALIGNED_(T) ? GC_sgc_got_(SGC_memalign(__alignof__(T), bytes, kind)) : get); \
        } \
        GC_CONSTEXPR void deallocate(pointer object, size_type count) GC_NOEXCEPT \
        { \
            GC_SGC_CONSTANT_(return std::allocator<T>().deallocate(object, count)) \
            if (GC_SGC_OVER_ALIGNED_(T)) \
                GC_free(object); \
            else \
                GC_FREE(object); \
            (void)count; \
        } \
        GC_CONSTEXPR size_type max_size() const GC_NOEXCEPT { return static_cast<size_t>(-1) / sizeof(T); } \
        GC_SGC_CONSTRUCT_ \
        GC_CONSTEXPR void destroy(pointer object) { object->~T(); } \
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
    template <class T, class U> \
    GC_CONSTEXPR inline bool operator==(const name<T> &, const name<U> &) GC_NOEXCEPT { return true; } \
    template <class T, class U> \
    GC_CONSTEXPR inline bool operator!=(const name<T> &, const name<U> &) GC_NOEXCEPT { return false; }

GC_SGC_ALLOCATOR_(gc_allocator, GC_selective_alloc(bytes, GC_type_traits<T>().GC_is_ptr_free, false),
                  GC_sgc_kind_of_(GC_type_traits<T>().GC_is_ptr_free))
GC_SGC_ALLOCATOR_(gc_allocator_ignore_off_page, GC_selective_alloc(bytes, GC_type_traits<T>().GC_is_ptr_free, true),
                  GC_sgc_kind_of_(GC_type_traits<T>().GC_is_ptr_free))
GC_SGC_ALLOCATOR_(traceable_allocator, GC_sgc_got_(GC_MALLOC_UNCOLLECTABLE(bytes)), 2)

#undef GC_SGC_ALLOCATOR_
#undef GC_SGC_CONSTRUCT_
#undef GC_SGC_CONSTANT_
#undef GC_SGC_OVER_ALIGNED_
#undef GC_SGC_PTRFREE_

#if defined(GC_NAMESPACE_ALLOCATOR)
}
#endif

#endif
