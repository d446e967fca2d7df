/* SPDX-License-Identifier: MIT */
/* platform/sanitizer.c, with a LeakSanitizer of our own, which notes what it is told; tests/check/check_lsan has the real
 * one. */
#include "alloc/pages/heap.h"
#include "sgc.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/tap.h"

void __lsan_register_root_region(const void *start, size_t bytes);

static struct sgc_range told;
static int times;

void __lsan_register_root_region(const void *start, size_t bytes)
{
    told = (struct sgc_range){ (uintptr_t)start, (uintptr_t)start + bytes };
    times++;
}

int main(void)
{
    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer has its own function of that name");
    GC_INIT();
    tap_ok(times == 1 && told.lo == sgc_heap.base && told.hi == sgc_heap.base + sgc_heap.reserved,
           "all addresses of the heap are named, once");
    return tap_done();
}
