/* SPDX-License-Identifier: MIT */
/* The sharded index; index.h says who may touch what. */
#include "examples/wordindex/index.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

struct index *index_new(void)
{
    struct index *index = mem_object(sizeof *index);

    for (size_t i = 0; i < SHARDS; i++)
        pthread_mutex_init(&index->shards[i].lock, NULL);
    return index;
}

/* The top bits, because the tables use the low ones. */
static size_t shard_of(uint32_t hash)
{
    return hash >> (32 - SHARD_BITS);
}

/* Under the shard's lock. */
static void merge_word(struct table *words, uint32_t file, const struct slot *word)
{
    struct slot *slot = table_put(words, word->word, word->hash);

    if (slot->value == NULL)
        slot->value = mem_object(sizeof(struct postings));
    postings_add(slot->value, file, word->value);
}

void index_merge(struct index *index, uint32_t file, const struct table *words)
{
    for (size_t i = 0; i < words->room; i++) {
        const struct slot *word = &words->slots[i];

        if (word->word == NULL)
            continue;
        struct shard *shard = &index->shards[shard_of(word->hash)];
        pthread_mutex_lock(&shard->lock);
        merge_word(&shard->words, file, word);
        pthread_mutex_unlock(&shard->lock);
    }
}

const struct postings *index_find(const struct index *index, const char *word)
{
    uint32_t hash = word_hash(word);
    const struct slot *slot = table_find(&index->shards[shard_of(hash)].words, word, hash);

    return slot != NULL ? slot->value : NULL;
}

static void list_shard(const struct table *words, const char *prefix, struct entries *entries)
{
    size_t length = strlen(prefix);

    for (size_t i = 0; i < words->room; i++) {
        const struct slot *slot = &words->slots[i];

        if (slot->word == NULL || strncmp(slot->word, prefix, length) != 0)
            continue;
        const struct postings *postings = slot->value;
        entries->list[entries->used++] = (struct entry){slot->word, postings};
        entries->total += postings->total;
    }
}

struct entries index_list(const struct index *index, const char *prefix)
{
    struct entries entries = {0};
    size_t words = 0;

    for (size_t i = 0; i < SHARDS; i++)
        words += index->shards[i].words.used;
    entries.list = mem_object((words + 1) * sizeof *entries.list);
    for (size_t i = 0; i < SHARDS; i++)
        list_shard(&index->shards[i].words, prefix, &entries);
    return entries;
}

static int word_order(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;

    return strcmp(a->word, b->word);
}

static int count_order(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;

    if (a->postings->total != b->postings->total)
        return a->postings->total < b->postings->total ? 1 : -1;
    return strcmp(a->word, b->word);
}

/* As in postings_sorted: what qsort moves stays reachable from the index. */
void sort_by_word(struct entries *entries)
{
    qsort(entries->list, entries->used, sizeof *entries->list, word_order);
}

void sort_by_count(struct entries *entries)
{
    qsort(entries->list, entries->used, sizeof *entries->list, count_order);
}
