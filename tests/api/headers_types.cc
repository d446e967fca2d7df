/* SPDX-License-Identifier: MIT */
/* The same as C++: linkage, conversions and attributes differ there. */
#include "headers_types.c"

#if __cplusplus >= 201103L
void *headers_cplusplus(void *p) GC_NOEXCEPT;
void *headers_cplusplus(void *p) noexcept { return p; }
struct headers_explicit { GC_ATTR_EXPLICIT headers_explicit(int); };
#endif
