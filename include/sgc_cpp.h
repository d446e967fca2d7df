/* SPDX-License-Identifier: MIT */
/*
 * SGC for C++ programs: sgc.h and, from gc/gc_cpp.h, the classes and the `new` of collected objects.  The interface of
 * T. Endo's thesis has this name for it ([Endo], appendix A).
 *
 *   SGC_init(0, NULL);
 *   class A : public gc { };             A *a = new A;     // collected, no delete
 *   class B : public gc_cleanup { };     B *b = new B;     // its destructor runs when it is collected
 *   int *counts = new (PointerFreeGC) int[1000];
 *
 * A `new` that fails throws std::bad_alloc, or ends the program if GC_NEW_ABORTS_ON_OOM is defined.  No other library than
 * libsgc is needed.  doc/cpp.md says what else C++ programs have to know.
 */
#ifndef SGC_CPP_H
#define SGC_CPP_H

#if !defined(GC_INCLUDE_NEW)
#define GC_INCLUDE_NEW
#endif

#include "sgc.h"

#include "gc/gc_cpp.h"

#endif
