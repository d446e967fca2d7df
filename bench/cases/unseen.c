/* SPDX-License-Identifier: MIT */
/*
 * Heaps for bench/held-out: one that lives wholly, and explicit collections of it.  How long their marks take says the
 * collector's log (SGC_LOG_JSON): the first collection's is compared, the second knows what to expect.
 *
 *     unseen [chains|trie|rope|sparse|web [MEGABYTES [COLLECTIONS]]]
 */
#include "bench/cases/case.h"
#include "bench/cases/unseen_shapes.h"
#include "bench/measure.h"

static void *volatile root;         /* volatile: nobody reads it but the collector */

int main(int argc, char **argv)
{
    enum unseen shape = (enum unseen)choice(argc, argv, 1, UNSEEN_WORDS);
    size_t bytes = (size_t)argument(argc, argv, 2, 64, 1, 1 << 20) << 20;
    long n = argument(argc, argv, 3, 2, 1, 100000);
    struct tally tally;

    case_begin();
    GC_disable();
    root = build_unseen(shape, bytes, &tally);
    GC_enable();
    for (long i = 0; i < n; i++)
        GC_gcollect();
    figure("objects", (double)tally.objects, "objects");
    figure("edges", (double)tally.edges, "edges");
    case_end();
    return 0;
}
