/* SPDX-License-Identifier: MIT */
/*
 * The collector's heap for the containers of std::pmr, from C++17 on:
 *
 *   std::pmr::vector<node *> nodes(sgc::resource());                     collected memory
 *   std::pmr::vector<double> samples(sgc::pointer_free_resource());      the same, not scanned: it keeps nothing alive
 *
 * The memory lives while a pointer to it is found, so the container has to be on a stack, in static data or in an object of
 * the collector's, not in memory of malloc's.  What the container deallocates is freed at once.
 *
 * A resource equals itself, the copies of it in shared libraries included, and no other.  When there is no memory, the hook of
 * GC_set_oom_fn is asked first; if it has none, std::bad_alloc is thrown (GC_NEW_ABORTS_ON_OOM, or a compiler without
 * exceptions: GC_abort_on_oom is called).  Any thread that may allocate may use them, until the program's very end.
 */
#ifndef SGC_PMR_H
#define SGC_PMR_H

#if __cplusplus < 201703L
#error "sgc_pmr.h needs C++17: compile with -std=c++17 or a later standard."
#elif !__has_include(<memory_resource>)
#error "sgc_pmr.h needs <memory_resource>, which this C++ library lacks: libstdc++ has it since GCC 9, libc++ since LLVM 16."
#else

#include <cstddef>
#include <memory_resource>
#include <new>

#include "gc/gc.h"

#if defined(__cpp_exceptions) && !defined(GC_NEW_ABORTS_ON_OOM)
#define GC_SGC_NO_MEMORY_() throw std::bad_alloc()
#else
#define GC_SGC_NO_MEMORY_() GC_abort_on_oom()
#endif

/* Without type information each copy of a resource is another resource. */
#if defined(__cpp_rtti)
#define GC_SGC_IS_A_(type, other) (dynamic_cast<const type *>(&(other)) != nullptr)
#else
#define GC_SGC_IS_A_(type, other) (this == &(other))
#endif

namespace sgc {

/* Objects of the kind of that number: 0 is pointer-free, 1 is not. */
/* Not final: compilers may then take the copies in two libraries for two types. */
template <int Kind> class resource_of_kind : public std::pmr::memory_resource {
    void *do_allocate(std::size_t bytes, std::size_t alignment) override
    {
        void *object = alignment > 16 ? SGC_memalign(alignment, bytes, Kind) :
                       Kind == 0 ? GC_malloc_atomic(bytes) : GC_malloc(bytes);

        if (object == nullptr)
            GC_SGC_NO_MEMORY_();
        return object;
    }

    void do_deallocate(void *object, std::size_t, std::size_t) override { GC_free(object); }

    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override
    {
        return GC_SGC_IS_A_(resource_of_kind, other);
    }
};

/* Never destroyed, since containers in static data may be so later. */
template <int Kind> std::pmr::memory_resource *the_resource_of_kind() noexcept
{
    alignas(resource_of_kind<Kind>) static unsigned char place[sizeof(resource_of_kind<Kind>)];
    static std::pmr::memory_resource *const resource = ::new (static_cast<void *>(place)) resource_of_kind<Kind>;

    return resource;
}

inline std::pmr::memory_resource *resource() noexcept { return the_resource_of_kind<1>(); }
inline std::pmr::memory_resource *pointer_free_resource() noexcept { return the_resource_of_kind<0>(); }

}

#undef GC_SGC_NO_MEMORY_
#undef GC_SGC_IS_A_

#endif

#endif
