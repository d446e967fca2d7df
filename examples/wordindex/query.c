/* SPDX-License-Identifier: MIT */
/* Lookups, AND and phrase queries, prefixes; see query.h. */
#include "examples/wordindex/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/wordindex/tokens.h"
#include "memory.h"

enum { SHOWN = 5 };

/* The postings of one word of a query, and how far they have been read. */
struct cursor {
    const struct posting *next, *end;
};

/* A file that answers a query. */
struct hit {
    const char *path;
    uint64_t times;
};

struct hits {
    struct hit *list;
    size_t used;
    uint64_t total;
};

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static int hit_order(const void *left, const void *right)
{
    const struct hit *a = left, *b = right;

    if (a->times != b->times)
        return a->times < b->times ? 1 : -1;
    return strcmp(a->path, b->path);
}

/* The paths stay reachable from the library while qsort moves them. */
static void print_hits(struct hits *hits)
{
    qsort(hits->list, hits->used, sizeof *hits->list, hit_order);
    for (size_t i = 0; i < hits->used && i < SHOWN; i++)
        printf("%10" PRIu64 "  %s\n", hits->list[i].times, hits->list[i].path);
}

static void add_hit(struct hits *hits, const struct file *file, uint64_t times)
{
    hits->list[hits->used++] = (struct hit){file->path, times};
    hits->total += times;
}

/* Keeps of `places` those where the next word follows `distance` words on.  Both ascend. */
static uint32_t keep_followed(uint32_t *places, uint32_t count, const struct posting *posting,
                              uint32_t distance)
{
    const uint32_t *at = posting_places(posting);
    uint32_t kept = 0, j = 0;

    for (uint32_t i = 0; i < count; i++) {
        while (j < posting->count && at[j] < places[i] + distance)
            j++;
        if (j < posting->count && at[j] == places[i] + distance)
            places[kept++] = places[i];
    }
    return kept;
}

/* How often the words stand in this order in the file at which all cursors are. */
static uint32_t count_phrase(const struct cursor *cursors, size_t words)
{
    uint32_t *places = posting_places(cursors[0].next);
    uint32_t count = cursors[0].next->count;

    for (size_t i = 1; i < words && count > 0; i++)
        count = keep_followed(places, count, cursors[i].next, (uint32_t)i);
    return count;
}

/* Moves all cursors to the next file that all have; false when there is none. */
static bool agree(struct cursor *cursors, size_t words)
{
    size_t same = 0;
    uint32_t file = 0;

    for (size_t i = 0; same < words; i = (i + 1) % words) {
        while (cursors[i].next < cursors[i].end && cursors[i].next->file < file)
            cursors[i].next++;
        if (cursors[i].next == cursors[i].end)
            return false;
        same = cursors[i].next->file == file ? same + 1 : 1;
        file = cursors[i].next->file;
    }
    return true;
}

/* Returns the number of files that have all words; those with the phrase are added to phrases. */
static size_t intersect(const struct library *library, struct cursor *cursors, size_t words,
                        struct hits *phrases)
{
    size_t files = 0;

    for (; agree(cursors, words); cursors[0].next++) {
        uint32_t times = count_phrase(cursors, words);

        files++;
        if (times > 0)
            add_hit(phrases, library->files.list[cursors[0].next->file], times);
    }
    return files;
}

static void answer_word(const struct library *library, const char *text, const char *word)
{
    const struct postings *postings = index_find(library->index, word);
    size_t files = postings != NULL ? postings->used : 0;
    struct hits hits = {.list = mem_object((files + 1) * sizeof *hits.list)};

    for (size_t i = 0; i < files; i++)
        add_hit(&hits, library->files.list[postings->list[i].file], postings->list[i].count);
    printf("\"%s\": %" PRIu64 " time%s in %zu file%s\n", text, hits.total, plural(hits.total),
           files, plural(files));
    print_hits(&hits);
}

/* The postings of a word in the order of files; empty if it has none. */
static struct cursor open_cursor(const struct index *index, const char *word)
{
    static const struct posting none;
    const struct postings *postings = index_find(index, word);

    if (postings == NULL)
        return (struct cursor){&none, &none};
    const struct posting *sorted = postings_sorted(postings);
    return (struct cursor){sorted, sorted + postings->used};
}

static void answer_phrase(const struct library *library, const char *text, size_t words)
{
    struct tokens tokens = {.next = text, .end = text + strlen(text)};
    struct cursor *cursors = mem_object(words * sizeof *cursors);

    for (size_t i = 0; i < words; i++)
        cursors[i] = open_cursor(library->index, next_word(&tokens));

    size_t room = (size_t)(cursors[0].end - cursors[0].next) + 1;
    struct hits phrases = {.list = mem_object(room * sizeof *phrases.list)};
    size_t files = intersect(library, cursors, words, &phrases);

    printf("\"%s\": all %zu words in %zu file%s; the phrase %" PRIu64 " time%s in %zu file%s\n",
           text, words, files, plural(files), phrases.total, plural(phrases.total), phrases.used,
           plural(phrases.used));
    print_hits(&phrases);
}

void answer_query(const struct library *library, const char *text)
{
    struct tokens tokens = {.next = text, .end = text + strlen(text)};
    const char *first = next_word(&tokens);
    size_t words = 1;

    while (next_word(&tokens) != NULL)
        words++;
    if (words == 1)
        answer_word(library, text, first);
    else
        answer_phrase(library, text, words);
}

static void print_entries(struct entries *entries, size_t count)
{
    sort_by_count(entries);
    for (size_t i = 0; i < entries->used && i < count; i++)
        printf("%10" PRIu64 "  %s\n", entries->list[i].postings->total, entries->list[i].word);
}

void answer_prefix(const struct library *library, const char *prefix)
{
    struct tokens tokens = {.next = prefix, .end = prefix + strlen(prefix)};
    struct entries entries = index_list(library->index, next_word(&tokens));

    printf("\"%s...\": %zu word%s, %" PRIu64 " time%s\n", prefix, entries.used,
           plural(entries.used), entries.total, plural(entries.total));
    print_entries(&entries, SHOWN);
}

void print_top(const struct library *library, size_t count)
{
    struct entries entries = index_list(library->index, "");

    printf("the most frequent of %zu words:\n", entries.used);
    print_entries(&entries, count);
}
