/* SPDX-License-Identifier: MIT */
/*
 * malloc/give_back.c: what goes back to the system, and when, in the build that does not mark.  The test's own malloc is this
 * one, too: figures are taken between calls that print.
 */
#include <string.h>

#include "alloc/pages/pool.h"
#include "alloc/small/orphan.h"
#include "alloc/whole_heap.h"
#include "malloc/family.h"
#include "tests/lib/tap.h"
#include "tests/lib/threads.h"

enum { BLOCKS = 6000, SIZES = 40, STRIDE = 7 };

static void *block[BLOCKS];

static size_t size_of(int i)
{
    return 24 + (size_t)(i % SIZES) * 100;
}

static void *fill(void *arg)
{
    for (int i = 0; i < BLOCKS; i++)
        block[i] = memset(sgc_malloc(size_of(i)), 1, size_of(i));
    return arg;
}

/* Every STRIDE-th of them, in an order that is not that of their addresses. */
static void *drop(void *arg)
{
    for (int i = (int)(intptr_t)arg; i < BLOCKS; i += STRIDE)
        sgc_free(block[i]);
    return NULL;
}

static void drop_all(void)
{
    for (intptr_t from = 0; from < STRIDE; from++)
        drop((void *)from);
}

/* ---- what ended threads have left behind ---- */

static void test_left_behind(void)
{
    size_t before = sgc_pool_in_use_bytes(), with, after;

    pthread_join(thread_start(fill, NULL), NULL);
    with = sgc_pool_in_use_bytes();
    drop_all();
    after = sgc_pool_in_use_bytes();
    sgc_heap_check();
    tap_ok(with > before + 8 * SGC_PAGE && after <= before + SGC_PAGE,
           "pages of a thread that has ended go back with the last block that another frees there (%zu KB, then %zu KB more)",
           (with - before) >> 10, (after - before) >> 10);
}

/* Two threads that free the last blocks of a page at once may leave it to the next that takes a slow
 * path for pages; few do. */
static void test_two_free(void)
{
    size_t before = sgc_pool_in_use_bytes(), after;
    pthread_t thread[STRIDE];

    pthread_join(thread_start(fill, NULL), NULL);
    threads_start(thread, STRIDE, drop);
    threads_join(thread, STRIDE);
    after = sgc_pool_in_use_bytes();
    sgc_heap_check();
    tap_ok(after <= before + 8 * SGC_PAGE, "so they do when several threads free there at once (%zd KB more)",
           (ssize_t)(after - before) / 1024);
}

int main(void)
{
    return tap_all(test_left_behind, test_two_free);
}
