/* SPDX-License-Identifier: MIT */
/*
 * An indexer with the memory of LuIndex, the largest program of [SCM], in two threads: one walks through folders and hands on
 * the documents that it finds, the other cuts them into words and adds these to an index in memory.  When so many documents are
 * in it, the index is written away, and a new one begun.  Folders and documents are made up (bench/shortterm/corpus.h).
 *
 *     --segments N     indexes that are written away, a period each
 *     --documents N    of each
 *     --words N        of a document, on average
 *     --pairs N        so many indexers at once, each with a walker of its own; the paper has one
 *
 * As a port by hand, all frees are gone; ticks and dates are these:
 *
 *   thread    tick                objects                    date
 *   walker    a folder is left    the folder, its path       none; when it is left, 0
 *             a document is       the document, its path     global, as many ticks as the queue has places; the indexer
 *             handed on, global                              prolongs it when it takes the document
 *   indexer   a document is       text, words, its table     0
 *             done                the index                  as many ticks as documents are missing until it is written away
 *
 * The walker's date is long enough: it ticks once for each document it hands on, and cannot hand on more than the queue holds.
 *
 * The check: each index has as many places of each word as the documents are known to have.
 */
#include <stdio.h>
#include <string.h>

#include "bench/shortterm/app.h"
#include "bench/shortterm/corpus.h"
#include "bench/shortterm/table.h"

enum { SEGMENTS, DOCUMENTS, WORDS, PAIRS, PARAMETERS };
enum {
    PAIRS_MOST = 32,
    DOCUMENTS_MOST = 64,
    QUEUE = 8,
    FOLDERS = 3,                /* in each folder */
    FILES = 8,
    DEPTH = 3,
    FIRST_TEXT = 512,
    PATH_MOST = 32,             /* of a name */
};

static struct app_parameter parameters[PARAMETERS] = {
    [SEGMENTS] = { "segments", 1, 1000000, 25, 100, 0, NULL },
    [DOCUMENTS] = { "documents", 1, DOCUMENTS_MOST, 8, 32, 0, NULL },
    [WORDS] = { "words", 1, 1000000, 100, 1000, 0, NULL },
    [PAIRS] = { "pairs", 1, PAIRS_MOST, 1, 1, 0, NULL },
};

struct document {
    char *path;
    unsigned number;
};

struct folder {
    const struct folder *up;
    char *path;
};

/* Where a word stands in one document. */
struct posting {
    unsigned char *packed;
    size_t bytes;
    unsigned document;
    uint32_t count;
};

struct postings {
    struct posting *list;
    size_t used, room;
};

/* What a walker and an indexer have together.  The pairs are the program's variables, so the collector sees what is in them. */
static struct pair {
    struct {                    /* under its lock, both threads */
        pthread_mutex_t lock;
        pthread_cond_t changed;
        struct document *waiting[QUEUE];
        unsigned long put, taken;
    } queue;
    unsigned found;             /* documents; the walker's */
    struct table segment;       /* the index; the indexer's, like all that follows */
    unsigned first_document, missing;
    uint64_t digest;
} pairs[PAIRS_MOST];

static _Thread_local struct pair *my;

static unsigned all_documents(void)
{
    return (unsigned)(parameters[SEGMENTS].chosen * parameters[DOCUMENTS].chosen);
}

/* ---- walker ---- */

static void hand_on(struct document *document)
{
    pthread_mutex_lock(&my->queue.lock);
    while (my->queue.put - my->queue.taken == QUEUE)
        pthread_cond_wait(&my->queue.changed, &my->queue.lock);
    my->queue.waiting[my->queue.put++ % QUEUE] = document;
    pthread_cond_signal(&my->queue.changed);
    pthread_mutex_unlock(&my->queue.lock);
    app_tick_global();
}

static char *join(char *path, const struct folder *up, const char *name)
{
    return up == NULL ? strcpy(path, name) : strcat(strcat(strcpy(path, up->path), "/"), name);
}

static size_t joined_size(const struct folder *up, const char *name)
{
    return (up == NULL ? 0 : strlen(up->path) + 1) + strlen(name) + 1;
}

static void find_document(const struct folder *folder)
{
    struct document *document = app_new_dated(sizeof *document, QUEUE, SGC_SHORTTERM_GLOBAL);
    char name[PATH_MOST];

    snprintf(name, sizeof name, "document%u", my->found);
    document->path = app_new_dated(joined_size(folder, name), QUEUE, SGC_SHORTTERM_GLOBAL | SGC_SHORTTERM_ATOMIC);
    join(document->path, folder, name);
    document->number = my->found++;
    hand_on(document);
}

static void walk(const struct folder *up, const char *name, int depth)
{
    struct folder *folder = app_new(sizeof *folder);
    char below[PATH_MOST];

    folder->up = up;
    folder->path = join(app_new_plain(joined_size(up, name)), up, name);
    for (int i = 0; i < FILES && my->found < all_documents(); i++)
        find_document(folder);
    for (int i = 0; i < FOLDERS && depth > 0 && my->found < all_documents(); i++) {
        snprintf(below, sizeof below, "folder%d", i);
        walk(folder, below, depth - 1);
    }
    app_drop(folder->path);
    app_drop(folder);
    app_tick();
}

/* ---- indexer: a document ---- */

static struct document *take(void)
{
    struct document *document;

    pthread_mutex_lock(&my->queue.lock);
    while (my->queue.put == my->queue.taken)
        pthread_cond_wait(&my->queue.changed, &my->queue.lock);
    document = my->queue.waiting[my->queue.taken % QUEUE];
    app_refresh_global(document->path, 0);
    app_refresh_global(document, 0);
    my->queue.waiting[my->queue.taken++ % QUEUE] = NULL;
    pthread_cond_signal(&my->queue.changed);
    pthread_mutex_unlock(&my->queue.lock);
    return document;
}

/* Between half as many words as on average, and one and a half times as many. */
static long words_in(struct corpus *corpus)
{
    long average = parameters[WORDS].chosen;

    return average / 2 + 1 + (long)random_below(&corpus->random, (size_t)average);
}

/* As a file is read that may grow meanwhile. */
static char *read_text(unsigned number)
{
    struct corpus corpus = corpus_open(number);
    size_t used = 0, room = FIRST_TEXT;
    char *text = app_new_dated(room, 0, SGC_SHORTTERM_ATOMIC);

    for (long left = words_in(&corpus); left > 0; left--) {
        if (used + CORPUS_LETTERS + 1 > room) {
            char *longer = app_new_dated(2 * room, 0, SGC_SHORTTERM_ATOMIC);

            memcpy(longer, text, used);
            app_free(text);
            text = longer;
            room *= 2;
        }
        used += corpus_spell(corpus_next(&corpus), text + used);
        text[used++] = ' ';
    }
    text[used] = '\0';
    return text;
}

static char *copy(const char *word, size_t length, unsigned extension)
{
    char *new = app_new_dated(length + 1, extension, SGC_SHORTTERM_ATOMIC);

    memcpy(new, word, length);
    new[length] = '\0';
    return new;
}

static struct table cut(const char *text)
{
    struct table words = { NULL, 0, 0 };
    uint32_t place = 0;

    for (const char *end; (end = strchr(text, ' ')) != NULL; text = end + 1) {
        char *word = copy(text, (size_t)(end - text), 0);
        struct slot *slot = table_put(&words, word, 0);

        if (slot->word == NULL)
            *slot = (struct slot){ word, app_new_dated(sizeof(struct places), 0, 0) };
        else
            app_free(word);
        places_add(slot->value, place++, 0);
    }
    return words;
}

static void free_words(struct table *words)
{
    for (size_t i = 0; i < words->room && app_frees(); i++) {
        struct places *places = words->slots[i].value;

        if (words->slots[i].word == NULL)
            continue;
        app_free(places->at);
        app_free(places);
        app_free(words->slots[i].word);
    }
    table_free(words);
}

/* ---- indexer: the index ---- */

static void add_posting(struct postings *postings, const struct places *places, unsigned document)
{
    struct posting *posting;

    if (postings->used == postings->room) {
        size_t room = postings->room == 0 ? 2 : 2 * postings->room;
        struct posting *list = app_new_dated(room * sizeof *list, my->missing, 0);

        if (postings->used > 0)
            memcpy(list, postings->list, postings->used * sizeof *list);
        app_free(postings->list);
        postings->list = list;
        postings->room = room;
    }
    posting = &postings->list[postings->used++];
    posting->packed = places_pack(places, &posting->bytes, my->missing);
    posting->document = document;
    posting->count = places->used;
}

static void merge(const struct table *words, unsigned document)
{
    for (size_t i = 0; i < words->room; i++) {
        const char *word = words->slots[i].word;
        struct slot *slot;

        if (word == NULL)
            continue;
        slot = table_put(&my->segment, word, my->missing);
        if (slot->word == NULL) {
            slot->value = app_new_dated(sizeof(struct postings), my->missing, 0);
            slot->word = copy(word, strlen(word), my->missing);
        }
        add_posting(slot->value, words->slots[i].value, document);
    }
}

static void free_postings(struct slot *slot)
{
    struct postings *postings = slot->value;

    for (size_t i = 0; i < postings->used; i++)
        app_free(postings->list[i].packed);
    app_free(postings->list);
    app_free(postings);
    app_free(slot->word);
}

/* How often each word stands in the documents of the index. */
static void count_again(uint32_t *count)
{
    for (unsigned n = my->first_document; n < my->first_document + (unsigned)parameters[DOCUMENTS].chosen; n++) {
        struct corpus corpus = corpus_open(n);

        for (long left = words_in(&corpus); left > 0; left--)
            count[corpus_next(&corpus)]++;
    }
}

static void write_word(const struct slot *slot, uint32_t *count)
{
    const struct postings *postings = slot->value;
    unsigned word = corpus_word(slot->word);

    result_check(word < CORPUS_WORDS, "the index has a word that does not exist");
    for (size_t i = 0; i < postings->used; i++) {
        const struct posting *posting = &postings->list[i];

        count[word] -= posting->count;
        my->digest = result_digest(my->digest, &posting->document, sizeof posting->document);
        my->digest = result_digest(my->digest, posting->packed, posting->bytes);
    }
}

static void write_segment(void)
{
    uint32_t count[CORPUS_WORDS] = { 0 };

    count_again(count);
    count[0] += app_spoil();
    for (size_t i = 0; i < my->segment.room; i++)
        if (my->segment.slots[i].word != NULL)
            write_word(&my->segment.slots[i], count);
    for (unsigned word = 0; word < CORPUS_WORDS; word++)
        result_check(count[word] == 0, "the index has not all places of a word");
    for (size_t i = 0; i < my->segment.room && app_frees(); i++)
        if (my->segment.slots[i].word != NULL)
            free_postings(&my->segment.slots[i]);
    table_free(&my->segment);
    my->first_document += (unsigned)parameters[DOCUMENTS].chosen;
}

static void index_document(struct document *document)
{
    char *text = read_text(document->number);
    struct table words = cut(text);

    result_check(strstr(document->path, "document") != NULL, "the path of a document is lost");
    merge(&words, document->number);
    free_words(&words);
    app_free(text);
    app_free(document->path);
    app_free(document);
}

/* Periods are those of the first pair. */
static void build_segment(void)
{
    bool first = my == pairs;

    if (first)
        app_period_begin();
    for (my->missing = (unsigned)parameters[DOCUMENTS].chosen; my->missing-- > 0;) {
        index_document(take());
        if (my->missing == 0)
            write_segment();
        app_tick();
        app_tick_global();
    }
    if (first)
        app_period_end();
}

/* ---- both ---- */

static void part(void *arg, long i)
{
    (void)arg;
    my = &pairs[i / 2];
    if (i % 2 == 0)
        while (my->found < all_documents())
            walk(NULL, "root", DEPTH);
    else
        for (long n = 0; n < parameters[SEGMENTS].chosen; n++)
            build_segment();
}

int main(int argc, char **argv)
{
    app_need_extension(DOCUMENTS_MOST);
    app_begin(argc, argv, "indexer", parameters, PARAMETERS);
    for (long i = 0; i < parameters[PAIRS].chosen; i++) {
        pthread_mutex_init(&pairs[i].queue.lock, NULL);
        pthread_cond_init(&pairs[i].queue.changed, NULL);
    }
    together_ns(NULL, part, NULL, 2 * parameters[PAIRS].chosen);
    for (long i = 1; i < parameters[PAIRS].chosen; i++)
        result_check(pairs[i].digest == pairs[0].digest, "two pairs do not find the same");
    return app_end(pairs[0].digest);
}
