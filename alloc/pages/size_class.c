/* SPDX-License-Identifier: MIT */
/*
 * Building the size class tables.  Runs once, on the initialising thread.
 */
#include "alloc/pages/size_class.h"

#include "platform/platform.h"
#include "platform/report.h"

SGC_STATE struct sgc_size_classes sgc_size_classes;

enum { LINEAR_GRANULES = 16 };      /* one class per granule up to here */

/* The largest size, in granules, of which as many fit into a page as of `granules`.  */
static uint32_t widened(uint32_t granules)
{
    sgc_assert(granules != 0 && granules <= SGC_PAGE_GRANULES);
    return SGC_PAGE_GRANULES / (SGC_PAGE_GRANULES / granules);
}

static uint32_t reciprocal_of(uint32_t granules)
{
    sgc_assert(granules != 0);
    return ((UINT32_C(1) << 31) + granules - 1) / granules;
}

static uint64_t starts_of(uint32_t granules)
{
    uint64_t starts = 0;

    sgc_assert(granules != 0);
    for (uint32_t bit = 0; bit < 64; bit += granules)
        starts |= UINT64_C(1) << bit;
    return starts;
}

static void add_class(uint32_t granules)
{
    sgc_assert(sgc_size_classes.count < SGC_CLASSES_MAX && granules <= SGC_SMALL_MAX / SGC_GRANULE);
    sgc_size_classes.of[sgc_size_classes.count++] = (struct sgc_size_class){
        .granules = granules,
        .reciprocal = reciprocal_of(granules),
        .per_page = SGC_PAGE_GRANULES / granules,
        .starts = starts_of(granules),
    };
}

/* Eight steps to a doubling: an eighth of the power of two below. */
static uint32_t next_geometric(uint32_t granules)
{
    uint32_t power = 31u - (uint32_t)__builtin_clz(granules);

    sgc_assert(granules != 0);
    return granules + ((1u << power) + 7) / 8;
}

/* Requests crowd at powers of two and get the end byte.  Where the class that serves them is more
 * than an eighth larger, since few fit into a page, there is one of just their size, too: no fewer
 * fit, and less has to be zeroed, scanned and held in caches. */
static void add_crowded(uint32_t granules)
{
    uint32_t below = sgc_size_classes.of[sgc_size_classes.count - 1].granules;

    sgc_assert(granules > below);
    if ((below & (below - 1)) == 0 && granules > below + below / 8)
        add_class(below + 1);
}

static void add_all(void)
{
    uint32_t last = SGC_SMALL_MAX / SGC_GRANULE;
    uint32_t g;

    for (g = 1; g <= LINEAR_GRANULES; g++)
        add_class(g);
    for (g = SGC_TRACES ? g : next_geometric(LINEAR_GRANULES); g < last; g = next_geometric(g)) {
        if (SGC_TRACES) {
            g = widened(g);
            add_crowded(g);
        }
        add_class(g);
    }
    if (sgc_size_classes.of[sgc_size_classes.count - 1].granules < last)
        add_class(last);
}

void sgc_size_classes_init(void)
{
    uint32_t cls = 0;

    if (sgc_size_classes.count != 0)
        return;
    add_all();
    for (uint32_t g = 0; g <= SGC_SMALL_MAX / SGC_GRANULE; g++) {
        if (g > sgc_size_classes.of[cls].granules)
            cls++;
        sgc_size_classes.by_granules[g] = (uint8_t)cls;
    }
}
