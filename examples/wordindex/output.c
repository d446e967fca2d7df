/* SPDX-License-Identifier: MIT */
/* Lists and statistics; see output.h. */
#include "examples/wordindex/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "memory.h"

static FILE *open_output(const char *path)
{
    FILE *out = fopen(path, "w");

    if (out == NULL)
        complain("%s: %s; it is not written", path, strerror(errno));
    return out;
}

static bool close_output(FILE *out, const char *path)
{
    bool good = !ferror(out);

    good = fclose(out) == 0 && good;
    if (!good)
        complain("%s: writing failed: %s; what is in it is not complete", path, strerror(errno));
    return good;
}

bool write_counts(const struct library *library, const char *path)
{
    FILE *out = open_output(path);

    if (out == NULL)
        return false;
    struct entries entries = index_list(library->index, "");
    sort_by_word(&entries);
    for (size_t i = 0; i < entries.used; i++)
        fprintf(out, "%" PRIu64 " %s\n", entries.list[i].postings->total, entries.list[i].word);
    return close_output(out, path);
}

bool write_files(const struct library *library, const char *path)
{
    FILE *out = open_output(path);

    if (out == NULL)
        return false;
    for (size_t i = 0; i < library->files.used; i++) {
        const struct file *file = library->files.list[i];

        if (file->state == FILE_TEXT)
            fwrite(file->path, 1, strlen(file->path) + 1, out);
    }
    return close_output(out, path);
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

void print_statistics(const struct library *library, int threads, int rounds, double seconds)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    printf("texts %zu\n", library->texts);
    printf("binaries %zu\n", library->binaries);
    printf("problems %zu\n", library->problems);
    printf("bytes %" PRIu64 "\n", library->bytes);
    printf("words %" PRIu64 "\n", library->words);
    printf("distinct_words %zu\n", index_list(library->index, "").used);
    printf("threads %d\n", threads);
    printf("rounds %d\n", rounds);
    printf("index_seconds %.3f\n", seconds);
    printf("user_seconds %.3f\n", seconds_of(usage.ru_utime));
    printf("system_seconds %.3f\n", seconds_of(usage.ru_stime));
    printf("peak_rss_kb %ld\n", usage.ru_maxrss);
    mem_statistics(stdout);
}
