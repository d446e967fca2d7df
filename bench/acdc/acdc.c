/* SPDX-License-Identifier: MIT */
/*
 * ACDC ([SCM-C], chapters 5 and 6): a program that does nothing but allocate objects of few sizes, many small and short-lived
 * and few large and long-lived ones, use them, and part with them, on the memory that --memory names.  README.md beside this
 * file says how it is used, and where it differs from the thesis'.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/acdc/memory.h"
#include "bench/acdc/metrics.h"
#include "bench/acdc/mutator.h"

static void report_kept(const struct options *options, struct metrics *const *metrics)
{
    long long kept = 0;

    for (long i = 0; i < options->threads; i++)
        kept += metrics[i]->allocated_objects - metrics[i]->ended_objects;
    figure("unended_objects", (double)kept, "objects");
    if (options->memory->kept != NULL)
        kept = options->memory->kept();
    if (kept >= 0)
        figure("kept_objects", (double)kept, "objects");
}

int main(int argc, char **argv)
{
    struct options options = options_read(argc, argv);
    const char *why = options.memory->begin(&options);
    struct metrics **metrics;

    if (why != NULL)
        refuse("--memory", options.memory->name, why);
    if (options.tsv)
        say_as_tsv();
    options_print(&options);
    metrics = mutators_run(&options);
    metrics_report(metrics, &options);
    report_kept(&options, metrics);
    if (options.memory->report != NULL)
        options.memory->report();
    if (fflush(stdout) != 0) {
        perror("acdc: the figures cannot be written");
        return 1;
    }
    return 0;
}
