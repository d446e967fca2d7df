/* SPDX-License-Identifier: MIT */
/*
 * The index: word -> postings, in shards so that workers seldom meet.
 *
 * | what | who writes | who reads | ordering |
 * | --- | --- | --- | --- |
 * | shard.words and the postings in it | workers, under shard.lock | the same; then the main thread | the lock; pthread_join |
 */
#ifndef WORDINDEX_INDEX_H
#define WORDINDEX_INDEX_H

#include <pthread.h>

#include "examples/wordindex/postings.h"
#include "examples/wordindex/table.h"

enum { SHARD_BITS = 6, SHARDS = 1 << SHARD_BITS };

struct shard {
    pthread_mutex_t lock;
    struct table words; /* the values are struct postings */
};

struct index {
    struct shard shards[SHARDS];
};

/* A word with its postings, for listing. */
struct entry {
    const char *word;
    const struct postings *postings;
};

struct entries {
    struct entry *list;
    size_t used;
    uint64_t total; /* sum of the words' totals */
};

struct index *index_new(void);

/* Any worker: takes over the words of one file, a table whose values are struct places. */
void index_merge(struct index *index, uint32_t file, const struct table *words);

/* The rest only after the workers are joined. */

/* NULL if no file has the word. */
const struct postings *index_find(const struct index *index, const char *word);

/* All words that begin with prefix ("" for all), in no order. */
struct entries index_list(const struct index *index, const char *prefix);

/* Sorts by word, or by count (highest first) and word. */
void sort_by_word(struct entries *entries);
void sort_by_count(struct entries *entries);

#endif
