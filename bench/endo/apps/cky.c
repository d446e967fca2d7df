/* SPDX-License-Identifier: MIT */
/*
 * CKY: a parser of context-free grammars that finds all parse trees of each sentence ([Endo], 1.1).
 *
 * A sentence has one large matrix.  The entry for words i to j leads to the list of the symbols that these words can be,
 * and each symbol to a list of its derivations: pairs of symbols of neighbouring parts.  So the symbol S of the whole
 * sentence leads to all parse trees, which share what they have in common.  Threads compute entries from short parts to
 * long ones; all parts of a length may be computed at once.  When a sentence is done the threads read its forest and count
 * the trees.
 *
 * Ours, since the thesis does not say: the grammar, a small one in Chomsky's normal form with much that is ambiguous, and
 * sentences that are made from it by chance, with a seed, so that each has a parse.
 *
 * The check: trees are counted from the forest, and once more in a table of numbers without a heap; and each symbol's
 * number must be that of its derivations.  Numbers are kept modulo two to the power of 64.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/endo/apps/app.h"

enum { SENTENCES, SHORTEST, LONGEST, PARAMETERS };

static struct app_parameter parameters[PARAMETERS] = {
    [SENTENCES] = { "sentences", 1, 100000, { 24, 200, 200, 10, 200 }, 0 },
    [SHORTEST] = { "shortest", 2, 1000, { 20, 36, 36, 95, 36 }, 0 },
    [LONGEST] = { "longest", 2, 1000, { 30, 100, 100, 105, 100 }, 0 },
};

/* ---- the grammar ---- */

enum symbol { SENTENCE, NOUN, VERB, PLACE, MANNER, SYMBOLS };

struct rule {
    unsigned char whole, left, right;
};

static const struct rule rules[] = {
    { SENTENCE, NOUN, VERB },       { SENTENCE, SENTENCE, MANNER }, { SENTENCE, MANNER, SENTENCE },
    { SENTENCE, SENTENCE, PLACE },  { NOUN, NOUN, NOUN },           { NOUN, MANNER, NOUN },
    { NOUN, NOUN, PLACE },          { VERB, VERB, NOUN },           { VERB, VERB, MANNER },
    { VERB, MANNER, VERB },         { VERB, VERB, PLACE },          { PLACE, PLACE, NOUN },
    { MANNER, MANNER, MANNER },
};

enum { RULES = sizeof rules / sizeof *rules };

/* What a word can be, as bits of symbols; words are numbers. */
static const unsigned char words[] = {
    1 << NOUN,                                      /* bread */
    1 << NOUN | 1 << VERB,                          /* fish */
    1 << NOUN | 1 << VERB | 1 << MANNER,            /* fast */
    1 << VERB | 1 << MANNER,                        /* still */
    1 << NOUN | 1 << MANNER,                        /* light */
    1 << PLACE,                                     /* with */
};

enum { WORDS = sizeof words / sizeof *words };

struct sentence {
    long length;
    uint64_t trees;                 /* as its forest said */
    unsigned char word[];
};

static struct sentence **sentences;     /* outside the heap: no part of what is measured */

static int word_for(uint64_t *state, int symbol)
{
    for (;;) {
        size_t w = random_below(state, WORDS);

        if (words[w] >> symbol & 1)
            return (int)w;
    }
}

static long shortest_of(int symbol)
{
    return symbol == SENTENCE ? 2 : 1;
}

/* Words for a symbol, by rules and divisions by chance. */
static void expand(uint64_t *state, unsigned char *word, long length, int symbol)
{
    if (length == 1) {
        *word = (unsigned char)word_for(state, symbol);
        return;
    }
    for (;;) {
        const struct rule *r = &rules[random_below(state, RULES)];
        long room = length - shortest_of(r->left) - shortest_of(r->right), left;

        if (r->whole != symbol || room < 0)
            continue;
        left = shortest_of(r->left) + (long)random_below(state, (size_t)room + 1);
        expand(state, word, left, r->left);
        expand(state, word + left, length - left, r->right);
        return;
    }
}

static void make_sentences(void)
{
    long n = parameters[SENTENCES].chosen, least = parameters[SHORTEST].chosen, most = parameters[LONGEST].chosen;
    uint64_t state = 36100;

    sentences = obtained(calloc((size_t)n, sizeof *sentences));
    for (long s = 0; s < n; s++) {
        long length = least + (long)random_below(&state, (size_t)(most - least) + 1);

        sentences[s] = obtained(calloc(1, sizeof **sentences + (size_t)length));
        sentences[s]->length = length;
        expand(&state, sentences[s]->word, length, SENTENCE);
    }
}

/* ---- the matrix ---- */

struct derivation {
    struct derivation *next;
    struct item *left, *right;
};

/* A symbol that a part of the sentence can be. */
struct item {
    struct item *next;
    struct derivation *derivations;
    uint64_t trees;
    long symbol;
};

static struct item **matrix;            /* row i, column j: words i to j - 1 */
static struct sentence *now;
static long part;                       /* how many words the parts have that are being computed */
static struct app_tasks starts, rows;
static struct app_counts before_sentence;

static struct item **entry(long i, long j)
{
    return &matrix[i * (now->length + 1) + j];
}

/* The item of the symbol, at the end of the list if it is new. */
static struct item *item_for(long thread, struct item **list, int symbol)
{
    struct item *item, **last = list;

    for (; *last != NULL; last = &(*last)->next)
        if ((*last)->symbol == symbol)
            return *last;
    item = app_new(thread, sizeof *item);
    item->symbol = symbol;
    STORE(last, item);
    return item;
}

static void derive(long thread, struct item **list, int symbol, struct item *left, struct item *right)
{
    struct item *item = item_for(thread, list, symbol);
    struct derivation *d = app_new(thread, sizeof *d);

    STORE(&d->left, left);
    STORE(&d->right, right);
    STORE(&d->next, item->derivations);
    STORE(&item->derivations, d);
    item->trees += left->trees * right->trees;
}

static void combine(long thread, struct item **list, struct item *left, struct item *right)
{
    for (int r = 0; r < RULES; r++)
        if (rules[r].left == left->symbol && rules[r].right == right->symbol)
            derive(thread, list, rules[r].whole, left, right);
}

/* All symbols of words i to j - 1, by all divisions in two. */
static void fill(long thread, long i, long j)
{
    for (long k = i + 1; k < j; k++)
        for (struct item *left = *entry(i, k); left != NULL; left = left->next)
            for (struct item *right = *entry(k, j); right != NULL; right = right->next)
                combine(thread, entry(i, j), left, right);
}

static void fill_word(long thread, long i)
{
    for (int symbol = 0; symbol < SYMBOLS; symbol++)
        if (words[now->word[i]] >> symbol & 1)
            item_for(thread, entry(i, i + 1), symbol)->trees = 1;
}

/* ---- reading the forest ---- */

static uint64_t trees_of(const struct item *item)
{
    uint64_t trees = 0;

    for (const struct derivation *d = item->derivations; d != NULL; d = d->next)
        trees += d->left->trees * d->right->trees;
    return trees;
}

static void read_row(long i)
{
    for (long j = i + 2; j <= now->length; j++)
        for (const struct item *item = *entry(i, j); item != NULL; item = item->next)
            result_check(trees_of(item) == item->trees, "an item does not have as many trees as its derivations");
}

static uint64_t trees_of_sentence(void)
{
    for (const struct item *item = *entry(0, now->length); item != NULL; item = item->next)
        if (item->symbol == SENTENCE)
            return item->trees;
    return 0;
}

/* ---- phases ---- */

static void begin_sentence(long s)
{
    now = sentences[s];
    matrix = NULL;
    before_sentence = app_allocated();
    matrix = app_new(0, (size_t)(now->length * (now->length + 1)) * sizeof *matrix);
    for (long i = 0; i < now->length; i++)
        fill_word(0, i);
    part = 2;
    app_reset(&starts);
    app_reset(&rows);
}

static void end_sentence(void)
{
    app_live_since(before_sentence);
    if (app_spoil() && *entry(0, now->length) != NULL)
        (*entry(0, now->length))->trees++;
}

static void parse(long thread)
{
    while (part <= now->length) {
        for (long i; (i = app_take(&starts, 1)) + part <= now->length;)
            fill(thread, i, i + part);
        if (app_barrier()) {
            part++;
            app_reset(&starts);
        }
        app_barrier();
    }
}

static void body(long thread)
{
    for (long s = 0; s < parameters[SENTENCES].chosen; s++) {
        if (app_barrier())
            begin_sentence(s);
        app_barrier();
        parse(thread);
        if (app_barrier())
            end_sentence();
        app_barrier();
        for (long i; (i = app_take(&rows, 1)) < now->length;)
            read_row(i);
        if (app_barrier())
            now->trees = trees_of_sentence();
        app_barrier();
    }
}

/* ---- the check: a table of numbers ---- */

static void add_numbers(uint64_t (*table)[SYMBOLS], long width, long i, long j)
{
    for (long k = i + 1; k < j; k++)
        for (int r = 0; r < RULES; r++)
            table[i * width + j][rules[r].whole] +=
                table[i * width + k][rules[r].left] * table[k * width + j][rules[r].right];
}

static uint64_t count_trees(const struct sentence *s)
{
    long width = s->length + 1;
    uint64_t(*table)[SYMBOLS] = obtained(calloc((size_t)(width * width), sizeof *table)), trees;

    for (long i = 0; i < s->length; i++)
        for (int symbol = 0; symbol < SYMBOLS; symbol++)
            table[i * width + i + 1][symbol] = words[s->word[i]] >> symbol & 1;
    for (long length = 2; length <= s->length; length++)
        for (long i = 0; i + length <= s->length; i++)
            add_numbers(table, width, i, i + length);
    trees = table[s->length][SENTENCE];
    free(table);
    return trees;
}

static uint64_t check(void)
{
    uint64_t digest = 0;

    for (long s = 0; s < parameters[SENTENCES].chosen; s++) {
        result_check(sentences[s]->trees == count_trees(sentences[s]), "a sentence has another number of parse trees");
        digest = result_digest(digest, &sentences[s]->trees, sizeof sentences[s]->trees);
        free(sentences[s]);
    }
    free(sentences);
    return digest;
}

int main(int argc, char **argv)
{
    app_begin(argc, argv, "cky", parameters, PARAMETERS);
    if (parameters[SHORTEST].chosen > parameters[LONGEST].chosen)
        app_refuse("--longest", "that", "expected no less than --shortest");
    make_sentences();
    app_run(body);
    return app_end(check());
}
