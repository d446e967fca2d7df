/* SPDX-License-Identifier: MIT */
/*
 * The only atomics of SGC.  Two implementations stand behind this header, chosen at configure time:
 * C11's and libatomic_ops'.
 *
 * Types: sgc_aw_t (a machine word), sgc_a32_t, sgc_a8_t.  For each type T in {aw, a32, a8}:
 *
 *   sgc_T_load(p)            relaxed        sgc_T_store(p, v)        relaxed
 *   sgc_T_load_acq(p)        acquire        sgc_T_store_rel(p, v)    release
 *   sgc_T_load_sc(p)         seq. consist.  sgc_T_store_sc(p, v)     seq. consistent
 *
 * and these read-modify-write operations, which return the OLD value and are acquire and release:
 *
 *   sgc_T_swap(p, v)  sgc_T_add(p, v)  sgc_T_or(p, v)  sgc_T_and(p, v)
 *   bool sgc_T_cas(p, expected, desired)          strong; true when exchanged, an acquire when not
 *
 * For words also the relaxed forms sgc_aw_or_relaxed, sgc_aw_and_relaxed, sgc_aw_add_relaxed;
 * sequentially consistent are sgc_aw_cas_sc, sgc_aw_or_sc and sgc_a8_swap_sc.
 * sgc_compiler_barrier() orders only the compiler against a signal handler of the same thread.
 * Pointers are kept as words.
 *
 * The types are structures, so that nothing reads or writes one by accident: static ones begin at
 * zero or with SGC_ATOMIC_INIT(v).  SGC_ATOMICS_NAME says which implementation this is.
 */
#ifndef SGC_PLATFORM_ATOMICS_H
#define SGC_PLATFORM_ATOMICS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef SGC_USE_LIBATOMIC_OPS
#include "platform/atomics_ao.h"
#else
#include "platform/atomics_c11.h"
#endif

_Static_assert(sizeof(sgc_aw_t) == sizeof(void *) && sizeof(void *) == 8, "SGC needs 64-bit words");

#endif
