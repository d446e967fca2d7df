/* SPDX-License-Identifier: MIT */
/*
 * The parts that differ between processors.  Each registers_<arch>.h gives
 *
 *   sgc_stack_pointer()           the stack pointer within the caller's frame; always inlined
 *   struct sgc_registers          room for every callee-saved register
 *   sgc_registers_store(r)        stores them there, and returns the stack pointer; always inlined
 *   sgc_registers_keep(r)         is the last thing that such a function does; always inlined
 *   sgc_arch_thread_pointer()     the register that thread-local variables are found by
 *   sgc_arch_dtv(tp)              where glibc keeps the dynamic thread vector's address
 *   sgc_arch_pause()              tells the processor that we spin
 *   sgc_arch_forget_argument()    overwrites the register of a first argument, unless results have
 *                                 the same
 *   SGC_RED_ZONE                  bytes below its stack pointer that a leaf function may use
 *
 * Each registers_<arch>.c has sgc_forget_vectors and sgc_with_registers.
 *
 * In a function that stores its registers in a variable of its own, a caller's value is either
 * still in its register, and then in that variable, or the compiler has spilled it into this
 * frame to use the register itself.  Both lie above the stack pointer read there.  Such a
 * function is not inlined, ends with sgc_registers_keep, and does without AddressSanitizer, which
 * would move the variable off the stack.  No setjmp: glibc stores frame and stack pointers
 * scrambled.
 */
#ifndef SGC_PLATFORM_REGISTERS_H
#define SGC_PLATFORM_REGISTERS_H

#if defined(__x86_64__) && defined(__LP64__)
#include "platform/registers_x86_64.h"
#elif defined(__aarch64__) && defined(__LP64__)
#include "platform/registers_aarch64.h"
#else
#error "SGC runs on x86-64 and aarch64; a new architecture needs platform/registers_<arch>.h and .c"
#endif

/* The lower end of the frame of the calling function's caller: equal for two calls from one place,
 * however deep they go. */
#define sgc_callers_stack_pointer() ((uintptr_t)__builtin_dwarf_cfa())

#endif
