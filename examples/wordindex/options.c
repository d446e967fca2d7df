/* SPDX-License-Identifier: MIT */
/* Reads the command line; see options.h. */
#include "examples/wordindex/options.h"

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/wordindex/tokens.h"
#include "memory.h"

enum { MOST_THREADS = 1024, MOST_ROUNDS = 1000000, MOST_TOP = 1000000000, DEFAULT_TOP = 10 };

/* The build says where the project's own sources are. */
#ifndef WORDINDEX_PROJECT
#define WORDINDEX_PROJECT "."
#endif

static const char *const default_paths[] = {
    "/usr/share/common-licenses",
    "/usr/include",
    WORDINDEX_PROJECT,
};

static const char help[] =
    "Usage: wordindex [OPTION]... [PATH]...\n"
    "Indexes the words of all text files at and below the PATHs and answers queries.\n"
    "Default paths: /usr/share/common-licenses /usr/include " WORDINDEX_PROJECT "\n"
    "\n"
    "  --threads N       threads that read and index, 1 to 1024 (default: the CPUs it may use)\n"
    "  --top N           print the N most frequent words (default 10, or 0 if anything is asked)\n"
    "  --query 'WORD'    say where the word stands\n"
    "  --query 'W1 W2'   say which files have all the words, and which have the phrase\n"
    "  --prefix LETTERS  say which words begin so\n"
    "  --counts FILE     write every word, a line 'COUNT WORD' each, sorted by word\n"
    "  --files FILE      write the paths of the files indexed, a NUL byte after each\n"
    "  --stats           print counts, times and memory, a line 'NAME VALUE' each\n"
    "  --repeat N        build the index N times and drop all but the last (default 1)\n"
    "  --help            print this\n"
    "\n"
    "A word is a maximal run of A-Z and a-z, in lower case.  A text file is a regular file without\n"
    "a NUL byte.  Symbolic links are not followed, except a PATH; special files are skipped.  A\n"
    "file that is found twice is indexed twice.  --query and --prefix can be given several times.\n"
    "\n"
    "Exit code: 0 if all went well; 1 if something could not be read or written: a message says\n"
    "what, and the rest is done; 2 if the command line is wrong.\n";

static _Noreturn void refuse(void)
{
    complain("nothing done; wordindex --help lists the options");
    exit(EXIT_USAGE);
}

static long number(const char *option, const char *text, long least, long most)
{
    char *end;

    errno = 0;
    long value = strtol(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && value >= least && value <= most)
        return value;
    complain("--%s '%s': a number from %ld to %ld was expected", option, text, least, most);
    refuse();
}

static int available_cpus(void)
{
    cpu_set_t cpus;

    if (sched_getaffinity(0, sizeof cpus, &cpus) != 0)
        return 1;
    return CPU_COUNT(&cpus) < MOST_THREADS ? CPU_COUNT(&cpus) : MOST_THREADS;
}

static struct question query(const char *text)
{
    struct tokens tokens = {.next = text, .end = text + strlen(text)};

    if (next_word(&tokens) == NULL) {
        complain("--query '%s': no word in it; a word is made of letters A-Z and a-z", text);
        refuse();
    }
    return (struct question){.text = text};
}

static struct question prefix(const char *text)
{
    struct tokens tokens = {.next = text, .end = text + strlen(text)};
    const char *word = next_word(&tokens);

    if (word == NULL || strlen(word) != strlen(text)) {
        complain("--prefix '%s': one or more letters A-Z and a-z were expected", text);
        refuse();
    }
    return (struct question){.is_prefix = true, .text = text};
}

enum { THREADS, TOP, QUERY, PREFIX, COUNTS, FILES, STATS, REPEAT, HELP };

static const struct option table[] = {
    {"threads", required_argument, NULL, THREADS}, {"top", required_argument, NULL, TOP},
    {"query", required_argument, NULL, QUERY},     {"prefix", required_argument, NULL, PREFIX},
    {"counts", required_argument, NULL, COUNTS},   {"files", required_argument, NULL, FILES},
    {"stats", no_argument, NULL, STATS},           {"repeat", required_argument, NULL, REPEAT},
    {"help", no_argument, NULL, HELP},             {NULL, 0, NULL, 0},
};

static void set(struct options *options, struct question *questions, int option)
{
    switch (option) {
    case THREADS:
        options->threads = (int)number("threads", optarg, 1, MOST_THREADS);
        break;
    case TOP:
        options->top = (size_t)number("top", optarg, 0, MOST_TOP);
        break;
    case QUERY:
        questions[options->question_count++] = query(optarg);
        break;
    case PREFIX:
        questions[options->question_count++] = prefix(optarg);
        break;
    case COUNTS:
        options->counts = optarg;
        break;
    case FILES:
        options->files = optarg;
        break;
    case STATS:
        options->statistics = true;
        break;
    case REPEAT:
        options->repeat = (int)number("repeat", optarg, 1, MOST_ROUNDS);
        break;
    case HELP:
        fputs(help, stdout);
        exit(fflush(stdout) == 0 ? EXIT_FINE : EXIT_PARTLY);
    default: /* getopt_long has said what is wrong */
        refuse();
    }
}

struct options read_options(int argc, char **argv)
{
    struct options options = {.repeat = 1, .top = SIZE_MAX};
    struct question *questions = mem_object((size_t)argc * sizeof *questions);

    for (int option; (option = getopt_long(argc, argv, "", table, NULL)) != -1;)
        set(&options, questions, option);
    options.questions = questions;
    if (options.threads == 0)
        options.threads = available_cpus();
    if (options.top == SIZE_MAX)
        options.top = options.question_count > 0 ? 0 : DEFAULT_TOP;
    options.paths = (const char *const *)(argv + optind);
    options.path_count = (size_t)(argc - optind);
    if (options.path_count == 0) {
        options.paths = default_paths;
        options.path_count = sizeof default_paths / sizeof *default_paths;
    }
    return options;
}
