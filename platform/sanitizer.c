/* SPDX-License-Identifier: MIT */
/* Sanitizers of the program are told of memory that is not from malloc, and asked where they have
 * put its local variables. */
#include "platform/platform.h"

#include "platform/report.h"

/* LeakSanitizer's, if the program has it. */
extern void __lsan_register_root_region(const void *start, size_t bytes) __attribute__((weak));

void sgc_sanitizer_root(const void *start, size_t bytes)
{
    sgc_assert(start != NULL && bytes != 0);
    if (__lsan_register_root_region != NULL)
        __lsan_register_root_region(start, bytes);
}

/* AddressSanitizer's, if the program has it.  It makes the stack of a thread if there is none. */
extern void *__asan_get_current_fake_stack(void) __attribute__((weak));
extern void *__asan_addr_is_in_fake_stack(void *fake_stack, void *address, void **from, void **to) __attribute__((weak));

void *sgc_fake_stack_self(void)
{
    return __asan_get_current_fake_stack != NULL && __asan_addr_is_in_fake_stack != NULL ? __asan_get_current_fake_stack()
                                                                                         : NULL;
}

uintptr_t sgc_fake_frame(void *fake_stack, uintptr_t address, struct sgc_range *frame)
{
    void *from, *to, *real;

    sgc_assert(fake_stack != NULL);
    real = __asan_addr_is_in_fake_stack(fake_stack, (void *)address, &from, &to);
    if (real != NULL)
        *frame = (struct sgc_range){ (uintptr_t)from, (uintptr_t)to };
    return (uintptr_t)real;
}
