/* SPDX-License-Identifier: MIT */
/* Memory of which a test asks a source of written pages, by the numbers of its pages. */
#ifndef TESTS_UNIT_PLATFORM_WRITTEN_PAGES_H
#define TESTS_UNIT_PLATFORM_WRITTEN_PAGES_H

#include "platform/platform.h"
#include "platform/written/written.h"
#include "tests/lib/tap.h"

static size_t page_bytes;
static char *memory;

static uintptr_t page_at(size_t n)
{
    return (uintptr_t)memory + n * page_bytes;
}

TEST_UNUSED static bool is_set(const uint64_t *bits, size_t n)
{
    return (bits[n / 64] >> n % 64 & 1) != 0;
}

/* So many pages. */
TEST_UNUSED static void pages_make(size_t pages)
{
    page_bytes = sgc_os_page_size();
    memory = sgc_mem_obtain(pages * page_bytes);
    if (memory == NULL)
        tap_bail("no memory");
}

#endif
