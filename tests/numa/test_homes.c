/* SPDX-License-Identifier: MIT */
/*
 * alloc/pages/homes.h on real nodes, with 144 MB of heap (or CHECK_NUMA_MB) and huge pages everywhere: where the heap, its
 * bitmaps and the objects of threads are with each value of SGC_NUMA, and what the system has been told of it.
 */
#include "tests/numa/filled.h"

static bool set(const char *name, const char *value)
{
    return setenv(name, value, 1) == 0;
}

static bool by_default(void) { return unsetenv("SGC_NUMA") == 0; }
static bool balanced(void) { return set("SGC_NUMA", "balanced") && set("SGC_NUMA_REPORT", "1"); }
static bool local(void) { return set("SGC_NUMA", "local") && set("SGC_NUMA_REPORT", "1"); }
static bool interleaved(void) { return set("SGC_NUMA", "interleave-heap") && set("SGC_NUMA_REPORT", "1"); }
static bool off(void) { return set("SGC_NUMA", "off"); }

/* Is `part` at least so many percent of `all`? */
static bool at_least(int percent, long part, long all)
{
    return all > 0 && part * 100 >= all * percent;
}

static double percent(long part, long all)
{
    return all == 0 ? 0 : 100. * (double)part / (double)all;
}

/* What holds wherever memory is: nothing is lost, and nothing is said. */
static void check_right(const struct filled *found, const char *how)
{
    tap_ok(found->ended && found->wrong == 0 && found->heap_bytes >= filled_usual_mb() * NODES_MB / 10 * 9,
           "%s: a heap of %ld MB, and nothing is lost (%d wrong)", how, found->heap_bytes / NODES_MB, found->wrong);
    if (!tap_ok(filled_complaints(found) == 0, "and nothing is complained of"))
        tap_diag("%.600s", found->said);
    nodes_show(&found->heap, "heap");
    nodes_show(&found->bits, "bitmaps");
    nodes_show(&found->remote_bits, "remote bits");
}

/* A node that is nearly full lets memory go elsewhere: then that is all. */
static void check_homes(const struct filled *found)
{
    tap_ok(found->bound == found->arenas && found->arenas > 0, "all %ld arenas are bound to their homes (%ld)", found->arenas,
           found->bound);
    if (!nodes_all_roomy())
        return;
    tap_ok(found->heap_homes == found->heap.there && at_least(98, found->heap_at_home, found->heap_homes),
           "every arena has a home, and its pages are there (%.1f %%)", percent(found->heap_at_home, found->heap_homes));
    tap_ok(at_least(90, found->near, found->objects), "objects are on the node of the thread that made them (%.1f %%)",
           percent(found->near, found->objects));
}

/* Within a hundredth, or a megabyte: the report is printed a little later. */
static bool agrees(const struct filled *found, const char *part, const struct nodes_spread *own)
{
    bool agrees = true;

    for (int i = 0; i < nodes.count; i++) {
        long said = filled_reported(found, part, i), mine = own->on[i] * (NODES_PAGE / 1024), off;

        if (nodes.node[i].kilobytes == 0)
            continue;
        off = said > mine ? said - mine : mine - said;
        agrees = agrees && said >= 0 && (off <= 1024 || off <= mine / 100);
    }
    return agrees;
}

static void check_report(const struct filled *found)
{
    struct nodes_spread bitmaps = found->bits;

    filled_add(&bitmaps, &found->remote_bits);
    if (!tap_ok(agrees(found, "heap", &found->heap) && agrees(found, "bitmaps", &bitmaps), "SGC_NUMA_REPORT=1 says so, too"))
        tap_diag("%.2000s", found->said);
}

static void test_balanced(bool (*way)(void), const char *how)
{
    const struct filled *found = filled_in_child(way);

    check_right(found, how);
    check_homes(found);
    tap_ok(found->bits_spread == found->arenas && found->small_pages == 1,
           "bitmaps are to be on all nodes in turn, by small pages");
    if (nodes_all_roomy())
        tap_ok(nodes_even(&found->bits, 10), "and are");
    if (way == balanced)
        check_report(found);
}

static void test_local(void)
{
    const struct filled *found = filled_in_child(local);

    check_right(found, "local");
    check_homes(found);
    tap_ok(found->bits_bound == found->arenas && found->small_pages == 1,
           "bitmaps are to be where their arenas are, by small pages");
    if (nodes_all_roomy())
        tap_ok(at_least(95, found->bits_at_arena, found->bits.there), "and are (%.1f %%)",
               percent(found->bits_at_arena, found->bits.there));
    check_report(found);
}

static void test_interleaved(void)
{
    const struct filled *found = filled_in_child(interleaved);

    check_right(found, "interleave-heap");
    tap_ok(found->heap_homes == 0, "no arena has a home");
    if (nodes_all_roomy()) {
        tap_ok(nodes_even(&found->heap, 10), "the heap is evenly on all nodes");
        tap_ok(nodes_even(&found->bits, 10), "and so are its bitmaps");
    }
    check_report(found);
}

static void test_off(void)
{
    const struct filled *found = filled_in_child(off);

    check_right(found, "off");
    tap_ok(found->heap_homes == 0 && found->bits_spread == 0, "no arena has a home, and nothing is spread");
}

int main(void)
{
    nodes_need_several();
    test_balanced(by_default, "by default");
    test_balanced(balanced, "balanced");
    return tap_all(test_local, test_interleaved, test_off);
}
