/* SPDX-License-Identifier: MIT */
/*
 * wordindex: indexes the words of text files and answers queries, with no memory management but
 * the collector's.  The files of the program, from the bottom:
 *
 *   on_gc/memory.h, on_malloc/memory.h  where memory comes from; the build chooses one
 *   complain   messages                 tokens    text -> words
 *   table      word -> value            postings  where a word stands
 *   files      the files, reading one   queue     walker -> workers
 *   walk       finds the files          index     word -> postings, in shards
 *   build      the threads              query     answers
 *   output     lists and statistics     options   the command line
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "examples/wordindex/build.h"
#include "examples/wordindex/options.h"
#include "examples/wordindex/output.h"
#include "examples/wordindex/query.h"
#include "memory.h"

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Every round builds the index anew; the one before becomes garbage. */
static struct library *build_rounds(const struct options *options)
{
    struct library *library = NULL;
    uint64_t words = 0;

    for (int round = 1; round <= options->repeat; round++) {
        if (library != NULL)
            forget_library(library);
        library = build_library(options->paths, options->path_count, options->threads);
        if (round > 1 && library->words != words) {
            complain("round %d found %" PRIu64 " words, the one before %" PRIu64
                     ": the files changed meanwhile; the last round counts",
                     round, library->words, words);
            library->problems++;
        }
        words = library->words;
    }
    return library;
}

static void answer(const struct library *library, const struct options *options)
{
    if (options->top > 0)
        print_top(library, options->top);
    for (size_t i = 0; i < options->question_count; i++) {
        const struct question *question = &options->questions[i];

        if (question->is_prefix)
            answer_prefix(library, question->text);
        else
            answer_query(library, question->text);
    }
}

int main(int argc, char **argv)
{
    mem_start();
    struct options options = read_options(argc, argv);

    double start = now();
    struct library *library = build_rounds(&options);
    double seconds = now() - start;

    bool good = library->problems == 0;
    answer(library, &options);
    if (options.counts != NULL)
        good = write_counts(library, options.counts) && good;
    if (options.files != NULL)
        good = write_files(library, options.files) && good;
    if (options.statistics)
        print_statistics(library, options.threads, options.repeat, seconds);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        complain("standard output: writing failed: %s", strerror(errno));
        good = false;
    }
    return good ? EXIT_FINE : EXIT_PARTLY;
}
