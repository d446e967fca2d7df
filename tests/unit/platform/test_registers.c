/* SPDX-License-Identifier: MIT */
/*
 * platform/registers_<arch>.c: every register that survives calls is on the stack.
 *
 * plant_and_call is written in assembly: it fills each such register with its own pattern, notes its
 * stack pointer behind the patterns, and calls sgc_with_registers.  The patterns lie in static memory,
 * so whatever is found between the reported stack pointer and the noted one came from a register.
 */
#include <signal.h>
#include <stdint.h>
#include <time.h>

#include "platform/platform.h"
#include "platform/registers.h"
#include "tests/lib/tap.h"

void plant_and_call(void (*fn)(void *arg, uintptr_t sp), void *arg, uintptr_t *patterns);

#if defined(__x86_64__)

static const char *const name[] = { "rbx", "rbp", "r12", "r13", "r14", "r15" };
__asm__(".text\n"
        ".globl plant_and_call\n"
        ".type plant_and_call, @function\n"
        "plant_and_call:\n"
        "    pushq %rbx\n"
        "    pushq %rbp\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    subq $8, %rsp\n"
        "    movq 0(%rdx), %rbx\n"
        "    movq 8(%rdx), %rbp\n"
        "    movq 16(%rdx), %r12\n"
        "    movq 24(%rdx), %r13\n"
        "    movq 32(%rdx), %r14\n"
        "    movq 40(%rdx), %r15\n"
        "    movq %rsp, 48(%rdx)\n"
        "    xorl %edx, %edx\n"
        "    call sgc_with_registers@PLT\n"
        "    addq $8, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbp\n"
        "    popq %rbx\n"
        "    ret\n"
        ".size plant_and_call, .-plant_and_call\n");

/* Puts `value` into the red zone only, and traps. */
void trap_with_red_zone(uintptr_t value);
__asm__(".globl trap_with_red_zone\n"
        ".type trap_with_red_zone, @function\n"
        "trap_with_red_zone:\n"
        "    movq %rdi, -128(%rsp)\n"
        "    xorl %edi, %edi\n"
        "    int3\n"
        "    movq $0, -128(%rsp)\n"
        "    ret\n"
        ".size trap_with_red_zone, .-trap_with_red_zone\n");

static uintptr_t lowest_word;

static void note_lowest_word(TEST_UNUSED int signal, TEST_UNUSED siginfo_t *info, void *context)
{
    lowest_word = *(uintptr_t *)sgc_context_sp(context);
}

static void test_red_zone(void)
{
    sgc_signal_install(SIGTRAP, note_lowest_word);
    trap_with_red_zone(0x12345678);
    signal(SIGTRAP, SIG_DFL);
    tap_ok(lowest_word == 0x12345678, "the red zone of an interrupted leaf function is part of its stack");
}

#else

static const char *const name[] = { "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29",
                                    "d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15" };
__asm__(".text\n"
        ".globl plant_and_call\n"
        ".type plant_and_call, %function\n"
        "plant_and_call:\n"
        "    stp x29, x30, [sp, #-160]!\n"
        "    stp x19, x20, [sp, #16]\n"
        "    stp x21, x22, [sp, #32]\n"
        "    stp x23, x24, [sp, #48]\n"
        "    stp x25, x26, [sp, #64]\n"
        "    stp x27, x28, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    ldp x19, x20, [x2, #0]\n"
        "    ldp x21, x22, [x2, #16]\n"
        "    ldp x23, x24, [x2, #32]\n"
        "    ldp x25, x26, [x2, #48]\n"
        "    ldp x27, x28, [x2, #64]\n"
        "    ldr x29, [x2, #80]\n"
        "    ldp d8, d9, [x2, #88]\n"
        "    ldp d10, d11, [x2, #104]\n"
        "    ldp d12, d13, [x2, #120]\n"
        "    ldp d14, d15, [x2, #136]\n"
        "    mov x9, sp\n"
        "    str x9, [x2, #152]\n"
        "    bl sgc_with_registers\n"
        "    ldp x19, x20, [sp, #16]\n"
        "    ldp x21, x22, [sp, #32]\n"
        "    ldp x23, x24, [sp, #48]\n"
        "    ldp x25, x26, [sp, #64]\n"
        "    ldp x27, x28, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    ldp x29, x30, [sp], #160\n"
        "    ret\n"
        ".size plant_and_call, .-plant_and_call\n");

static void test_red_zone(void)
{
    tap_skip("aarch64 has no red zone");
}

#endif

enum { REGISTERS = sizeof name / sizeof *name };

/* One more for plant_and_call's stack pointer. */
static uintptr_t pattern[REGISTERS + 1];
static bool found[REGISTERS];
static uintptr_t reported_sp, callee_sp;
static void *got_argument;

__attribute__((no_sanitize("address")))
static void look_upward(void *arg, uintptr_t sp)
{
    got_argument = arg;
    reported_sp = sp;
    callee_sp = sgc_stack_pointer();
    for (const volatile uintptr_t *at = (uintptr_t *)sp; at < (uintptr_t *)pattern[REGISTERS]; at++)
        for (int i = 0; i < REGISTERS; i++)
            if (*at == pattern[i])
                found[i] = true;
}

static void test_found(void)
{
    srand48(time(NULL));
    for (int i = 0; i < REGISTERS; i++)
        pattern[i] = (uintptr_t)mrand48() << 32 | (uint32_t)(mrand48() & ~0xff) | (uintptr_t)i;
    plant_and_call(look_upward, &found, pattern);
    for (int i = 0; i < REGISTERS; i++)
        tap_ok(found[i], "%s is on the stack", name[i]);
    tap_ok(got_argument == &found, "the argument is passed on");
    tap_ok(reported_sp < pattern[REGISTERS] && pattern[REGISTERS] - reported_sp < 4096,
           "the reported stack pointer is below the caller's (by %zu bytes)",
           (size_t)(pattern[REGISTERS] - reported_sp));
    tap_ok(callee_sp <= reported_sp, "and above the callee's");
    tap_ok(reported_sp % 8 == 0, "and aligned to words");
}

static void test_not_found(void)
{
    uintptr_t here = sgc_stack_pointer();
    for (int i = 0; i < REGISTERS; i++) {
        pattern[i] ^= (uintptr_t)0x5a5a5a << 16;
        found[i] = false;
    }
    pattern[REGISTERS] = here + 256;
    look_upward(NULL, here);
    int hits = 0;
    for (int i = 0; i < REGISTERS; i++)
        hits += found[i];
    tap_ok(hits == 0, "values that are in no register are not found (%d)", hits);
}

int main(void)
{
    return tap_all(test_found, test_not_found, test_red_zone);
}
