/* SPDX-License-Identifier: MIT */
/* See perfmodel/sim/coroutine.h.  Registers that a callee has to preserve lie on the stack that is
 * left; the compiler saves the rest. */
#include "perfmodel/sim/coroutine.h"

#include <stdint.h>
#include <string.h>

#include "platform/report.h"

#if defined(__x86_64__)

/* Six registers, the address to go on at, and the return address of `entry`, which stays unused. */
enum { KEPT = 8, ENTRY = 6 };

__asm__(
    ".text\n"
    ".globl sgc_coroutine_switch\n"
    ".hidden sgc_coroutine_switch\n"
    ".type sgc_coroutine_switch, @function\n"
    "sgc_coroutine_switch:\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n"
    "    popq %r14\n"
    "    popq %r13\n"
    "    popq %r12\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    "    ret\n"
    ".size sgc_coroutine_switch, . - sgc_coroutine_switch\n");

#elif defined(__aarch64__)

enum { KEPT = 20, ENTRY = 11 };         /* x19 to x30, of which the last says where to go on, and d8
                                           to d15 */

__asm__(
    ".text\n"
    ".globl sgc_coroutine_switch\n"
    ".hidden sgc_coroutine_switch\n"
    ".type sgc_coroutine_switch, %function\n"
    "sgc_coroutine_switch:\n"
    "    sub sp, sp, #160\n"
    "    stp x19, x20, [sp]\n"
    "    stp x21, x22, [sp, #16]\n"
    "    stp x23, x24, [sp, #32]\n"
    "    stp x25, x26, [sp, #48]\n"
    "    stp x27, x28, [sp, #64]\n"
    "    stp x29, x30, [sp, #80]\n"
    "    stp d8, d9, [sp, #96]\n"
    "    stp d10, d11, [sp, #112]\n"
    "    stp d12, d13, [sp, #128]\n"
    "    stp d14, d15, [sp, #144]\n"
    "    mov x9, sp\n"
    "    str x9, [x0]\n"
    "    mov sp, x1\n"
    "    ldp x19, x20, [sp]\n"
    "    ldp x21, x22, [sp, #16]\n"
    "    ldp x23, x24, [sp, #32]\n"
    "    ldp x25, x26, [sp, #48]\n"
    "    ldp x27, x28, [sp, #64]\n"
    "    ldp x29, x30, [sp, #80]\n"
    "    ldp d8, d9, [sp, #96]\n"
    "    ldp d10, d11, [sp, #112]\n"
    "    ldp d12, d13, [sp, #128]\n"
    "    ldp d14, d15, [sp, #144]\n"
    "    add sp, sp, #160\n"
    "    ret\n"
    ".size sgc_coroutine_switch, . - sgc_coroutine_switch\n");

#endif

sgc_coroutine sgc_coroutine_make(char *stack, size_t bytes, void (*entry)(void))
{
    uintptr_t end = ((uintptr_t)stack + bytes) & ~(uintptr_t)15;
    uintptr_t *kept = (uintptr_t *)end - KEPT;

    sgc_assert(bytes >= 4096 && entry != NULL);
    memset(kept, 0, KEPT * sizeof *kept);
    kept[ENTRY] = (uintptr_t)entry;
    return kept;
}
