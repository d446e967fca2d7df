/* SPDX-License-Identifier: MIT */
/* See options.h.  Main thread. */
#include "bench/acdc/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/acdc/draw.h"
#include "bench/acdc/memory.h"
#include "bench/acdc/metrics.h"

struct row {
    const char *name;
    size_t place;
    long least, most, standard;
    const char *words;                  /* a|b|c: names of the numbers from 0 on; NULL: a number */
    const char *meaning;
};

#define FIELD(name) offsetof(struct options, name)

/* In the order of the help. */
static const struct row rows[] = {
    { "--model", FIELD(model), 0, 1, -1, "persistent|short-term", "the memory model (what the memory is for)" },
    { "--duration", FIELD(duration), 1, 10000000, 100, NULL, "how often each thread's time goes up" },
    { "--size-least", FIELD(size_least), 3, 30, 3, NULL, "the least class of sizes: 2^N bytes" },
    { "--size-most", FIELD(size_most), 3, 30, 12, NULL, "the largest class" },
    { "--threshold", FIELD(threshold), 6, 40, 18, NULL, "time goes up when 2^N bytes have been allocated" },
    { "--lifetime", FIELD(lifetime), 1, LIFETIME_MOST, 10, NULL, "the longest lifetime, in units of time" },
    { "--threads", FIELD(threads), 1, THREADS_MOST, 1, NULL, "mutators" },
    { "--shared", FIELD(shared), 0, 1, 0, "off|on", "share objects among all threads" },
    { "--share-ratio", FIELD(share_ratio), 0, 100, 10, NULL, "how many of them, %" },
    { "--multiplier", FIELD(multiplier), 1, 1000000, 1, NULL, "multiplies the objects of a batch" },
    { "--seed", FIELD(seed), 0, 2147483647, 1, NULL, "of the random numbers" },
    { "--think", FIELD(think), 0, 1000000000, 1000, NULL, "logarithms after each batch" },
    { "--drift", FIELD(drift), 0, 1000000, 0, NULL, "units that a thread may be ahead of others (0: any number)" },
    { "--access", FIELD(access), -1, 100, -1, NULL, "walk the live objects before each batch, write to N % (-1: no walk)" },
    { "--mode", FIELD(mode), 0, 3, 0, "pin|free|hybrid|verify", "of shortterm" },
    { "--collect", FIELD(collect), 0, 1, 0, "lazy|eager", "of shortterm: when expired objects are taken" },
    { "--step", FIELD(step), -1, 1000000, -1, NULL, "of shortterm, lazy: dates taken off in an operation (-1: its own)" },
    { "--extension", FIELD(extension), -1, 65535, -1, NULL, "of shortterm: the largest (-1: the longest lifetime)" },
    { "--page", FIELD(page), -1, 65536, -1, NULL, "of shortterm: bytes of a page of dates (-1: its own)" },
    { "--dated", FIELD(dated), 0, 1, 0, "off|on", "of shortterm: a date from the beginning, ACDC's references are no roots" },
    { "--early", FIELD(early), 0, 1, 0, "off|on", "a mistake that can be made: each refresh is a unit too short" },
    { "--plain", FIELD(plain), 0, 1, 0, "off|on", "of a collector: objects of the pointer-free kind" },
    { "--cost", FIELD(cost), 0, 1, 0, "off|on", "measure operations by the thread's clock" },
    { "--trace", FIELD(trace), 0, 1, 0, "off|on", "memory by time, on one thread" },
    { "--check", FIELD(check), 0, 1, 0, "off|on", "look whether objects are what was written, whenever one is needed" },
    { "--tsv", FIELD(tsv), 0, 1, 0, "off|on", "figures as TSV" },
};
enum { ROWS = sizeof rows / sizeof *rows };

void refuse(const char *what, const char *text, const char *expected)
{
    fprintf(stderr, "acdc: %s \"%s\": %s\n", what, text, expected);
    exit(2);
}

static long *field(struct options *options, const struct row *row)
{
    return (long *)((char *)options + row->place);
}

static void help(void)
{
    printf("usage: acdc [--memory malloc|gc|gc-free|shortterm|libscm|none] [--libscm PATH] [--NAME VALUE]...\n\n");
    for (int i = 0; i < ROWS; i++) {
        printf("  %-13s ", rows[i].name);
        if (rows[i].words != NULL)
            printf("%s: %s\n", rows[i].words, rows[i].meaning);
        else
            printf("%s; %ld to %ld, %ld\n", rows[i].meaning, rows[i].least, rows[i].most, rows[i].standard);
    }
    exit(0);
}

/* The number of a word in a|b|c, or -1. */
static long word_number(const char *words, const char *text)
{
    for (long i = 0;; i++) {
        size_t length = strcspn(words, "|");

        if (strlen(text) == length && strncmp(words, text, length) == 0)
            return i;
        if (words[length] == '\0')
            return -1;
        words += length + 1;
    }
}

static long value_of(const struct row *row, const char *text)
{
    char expected[96], *end;
    long value;

    if (row->words != NULL) {
        snprintf(expected, sizeof expected, "expected %s", row->words);
        value = word_number(row->words, text);
        if (value < 0)
            refuse(row->name, text, expected);
        return value;
    }
    snprintf(expected, sizeof expected, "expected a number from %ld to %ld", row->least, row->most);
    errno = 0;
    value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < row->least || value > row->most)
        refuse(row->name, text, expected);
    return value;
}

static void read_one(struct options *options, const char *name, const char *text)
{
    if (strcmp(name, "--libscm") == 0) {
        options->libscm = text;
        return;
    }
    if (strcmp(name, "--memory") == 0) {
        options->memory = memory_named(text);
        if (options->memory == NULL)
            refuse(name, text, "expected malloc, gc, gc-free, shortterm, libscm or none");
        return;
    }
    for (int i = 0; i < ROWS; i++)
        if (strcmp(name, rows[i].name) == 0) {
            *field(options, &rows[i]) = value_of(&rows[i], text);
            return;
        }
    refuse("the option", name, "there is none of that name; --help names them");
}

/* What goes together. */
static void complete(struct options *o)
{
    bool can_tick = o->memory->tick != NULL;

    if (o->model < 0)
        o->model = can_tick && o->memory != &memory_none ? SHORT_TERM : PERSISTENT;
    if (o->model == SHORT_TERM && !can_tick)
        refuse("--model", "short-term", "this memory has persistent objects only");
    if (o->memory == &memory_scm && o->libscm == NULL)
        refuse("--memory", "libscm", "expected --libscm PATH, of the library");
    if (o->size_most < o->size_least)
        refuse("--size-most", "", "expected no less than --size-least");
    if (batch_objects(o, o->size_least, 1) < 1)
        refuse("--multiplier", "", "so many threads would allocate nothing at all; expected a larger one");
    if (o->extension < 0)
        o->extension = o->lifetime;
    if (o->extension < o->lifetime)
        refuse("--extension", "", "expected no less than --lifetime");
}

struct options options_read(int argc, char **argv)
{
    struct options options = { .memory = &memory_malloc };

    for (int i = 0; i < ROWS; i++)
        *field(&options, &rows[i]) = rows[i].standard;
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i], "--help") == 0)
            help();
        if (i + 1 == argc)
            refuse("the option", argv[i], "expected a value behind it");
        read_one(&options, argv[i], argv[i + 1]);
    }
    complete(&options);
    return options;
}

void options_print(const struct options *options)
{
    say("memory", options->memory->name, "name");
    for (int i = 0; i < ROWS; i++)
        figure(rows[i].name + 2, (double)*(const long *)((const char *)options + rows[i].place), "option");
}
