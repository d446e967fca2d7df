/* SPDX-License-Identifier: MIT */
/*
 * What a `new` of gc_cpp.h calls when there is no memory: libgctba, and part of libgccpp.
 */
#include <new>

#include "gc/gc_cpp.h"

void GC_throw_bad_alloc()
{
    throw std::bad_alloc();
}
