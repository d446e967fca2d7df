/* SPDX-License-Identifier: MIT */
/*
 * The machine itself, without the library: that it is what tests/numa/run was told to make, and that its kernel puts memory
 * where the other tests rely on.
 */
#include "tests/numa/nodes.h"

/* ---- the shape that was asked for --------------------------------------------------------------- */

/* The kernel keeps some memory of a node to itself. */
static bool as_asked(const struct nodes_one *node, int processors, long megabytes)
{
    return node->processors == processors && node->kilobytes <= megabytes * 1024 &&
           (megabytes == 0 || node->kilobytes > megabytes * 1024 / 4);
}

static void test_nodes(const char *asked)
{
    int number = 0, processors, length;
    long megabytes;

    for (; sscanf(asked, "%d:%ld%n", &processors, &megabytes, &length) == 2; number++) {
        tap_ok(as_asked(&nodes.node[number], processors, megabytes), "node %d: %d of %d processors, %ld KB of %ld MB", number,
               nodes.node[number].processors, processors, nodes.node[number].kilobytes, megabytes);
        asked += length;
        asked += *asked == ',';
    }
    tap_ok(nodes.count == number, "%d of %d nodes", nodes.count, number);
}

static void test_distances(const char *asked)
{
    int from, to, value, length;

    for (; sscanf(asked, "%d-%d=%d%n", &from, &to, &value, &length) == 3; asked += *asked == ',') {
        asked += length;
        tap_ok(nodes_distance(from, to) == value && nodes_distance(to, from) == value, "nodes %d and %d: distance %d", from, to,
               value);
    }
}

/* ---- where memory comes ---------------------------------------------------------------------------- */

enum { BYTES = 4 * NODES_MB };

static void touch(void *memory)
{
    for (size_t i = 0; i < BYTES; i += NODES_PAGE)
        ((volatile char *)memory)[i] = 1;
}

static void test_first_touch(void)
{
    for (int i = 0; i < nodes.count; i++) {
        char *memory = nodes_memory(BYTES);
        struct nodes_spread spread;

        if (nodes.node[i].processor < 0)
            continue;
        nodes_run_on(i, touch, memory);
        spread = nodes_of_range(memory, BYTES);
        nodes_show(&spread, "first touch");
        if (nodes.node[i].kilobytes == 0)
            tap_ok(spread.on[i] == 0 && spread.there == BYTES / NODES_PAGE, "node %d has none: memory is of others", i);
        else if (nodes_roomy(i))
            tap_ok(spread.on[i] == BYTES / NODES_PAGE, "node %d: memory is where it was touched first", i);
    }
}

static unsigned long with_memory(void)
{
    unsigned long mask = 0;

    for (int i = 0; i < nodes.count; i++)
        mask |= (unsigned long)(nodes.node[i].kilobytes > 0) << i;
    return mask;
}

static void test_policies(void)
{
    char *memory = nodes_memory(BYTES);
    unsigned long all = with_memory();
    struct nodes_spread spread;

    for (int i = 0; i < nodes.count; i++) {
        unsigned long one = 1ul << i;
        char *preferred = nodes_memory(BYTES);

        if (!nodes_roomy(i))
            continue;
        tap_ok(syscall(SYS_mbind, preferred, (size_t)BYTES, MPOL_PREFERRED, &one, 64ul, 0) == 0,
               "node %d can be preferred", i);
        touch(preferred);
        spread = nodes_of_range(preferred, BYTES);
        tap_ok(spread.on[i] == spread.there && spread.there == BYTES / NODES_PAGE, "and memory is of it");
    }
    madvise(memory, BYTES, MADV_NOHUGEPAGE);
    tap_ok(syscall(SYS_mbind, memory, (size_t)BYTES, MPOL_INTERLEAVE, &all, 64ul, 0) == 0,
           "memory can be of all nodes in turn");
    touch(memory);
    spread = nodes_of_range(memory, BYTES);
    nodes_show(&spread, "in turn");
    if (nodes_all_roomy())
        tap_ok(nodes_even(&spread, 10), "and is");
    else
        tap_ok(spread.there == BYTES / NODES_PAGE, "and is there, though one of them is nearly full");
}

/* They are what makes first touch coarse: one byte decides for 2 MB. */
static void touch_once(void *memory)
{
    *(volatile char *)memory = 1;
}

static void test_huge_pages(void)
{
    char *memory = nodes_memory(BYTES);
    struct nodes_spread spread;

    nodes_run_on(0, touch_once, memory);
    spread = nodes_of_range(memory, 2 * NODES_MB);
    tap_ok(spread.there == 2 * NODES_MB / NODES_PAGE, "one byte brings a huge page (%ld OS pages)", spread.there);
}

int main(void)
{
    const char *asked = getenv("CHECK_NUMA_MACHINE");

    nodes_need_several();
    if (asked != NULL) {
        test_nodes(asked);
        test_distances(asked + strcspn(asked, "/") + (strchr(asked, '/') != NULL));
        test_huge_pages();
    }
    return tap_all(test_first_touch, test_policies);
}
