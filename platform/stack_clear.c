/* SPDX-License-Identifier: MIT */
/*
 * Zeroing the stack below a frame, and vector registers.  Owns nothing; runs on any thread.
 */
#include "platform/platform.h"
#include "platform/registers.h"
#include "platform/report.h"

enum {
    STORES = 8,                             /* at a time */
    LITTLE = 2 + 2 * SGC_ASSERTS,           /* blocks of that many stores: functions with assertions
                                               have larger frames */
    MORE = 6, DEEP = 8,
    BLOCK = STORES * 16 / sizeof(uintptr_t) /* words */
};

typedef uintptr_t pair __attribute__((vector_size(16), may_alias));

/* Volatile: nobody reads the words, and a call of memset would push what is to be forgotten.  The
 * compiler may leave out a word at the top, for alignment: a caller without variables has stored
 * nothing there. */
__attribute__((always_inline))
static inline void clear(uintptr_t *dead, size_t blocks)
{
    volatile pair *p = (volatile pair *)dead;
    const pair zero = { 0, 0 };

    for (size_t i = 0; i < blocks; i++, p += STORES) {
        p[0] = zero;
        p[1] = zero;
        p[2] = zero;
        p[3] = zero;
        p[4] = zero;
        p[5] = zero;
        p[6] = zero;
        p[7] = zero;
    }
}

/* AddressSanitizer would move `dead` off the stack. */
__attribute__((noinline, no_sanitize("address", "thread")))
void *sgc_stack_clear_little(void *result)
{
    uintptr_t dead[LITTLE * BLOCK] __attribute__((aligned(16)));

    clear(dead, LITTLE);
    sgc_arch_forget_argument();
    return result;
}

__attribute__((noinline, no_sanitize("address", "thread")))
void *sgc_stack_clear_more(void *result)
{
    uintptr_t dead[MORE * BLOCK] __attribute__((aligned(16)));

    clear(dead, MORE);
    sgc_arch_forget_argument();
    return result;
}

__attribute__((noinline, no_sanitize("address", "thread")))
void sgc_stack_clear_deep(void)
{
    uintptr_t dead[DEEP * BLOCK] __attribute__((aligned(16)));

    clear(dead, DEEP);
    sgc_forget_vectors();
}
