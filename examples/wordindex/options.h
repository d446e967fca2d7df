/* SPDX-License-Identifier: MIT */
/* The command line.  Main thread only, before any other starts; read-only afterwards. */
#ifndef WORDINDEX_OPTIONS_H
#define WORDINDEX_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct question {
    bool is_prefix;
    const char *text;
};

struct options {
    const char *const *paths;
    size_t path_count;
    const struct question *questions;
    size_t question_count;
    const char *counts, *files; /* NULL: not wanted */
    int threads, repeat;
    size_t top;
    bool statistics;
};

/* Ends the program after --help and, with a message and EXIT_USAGE, after a mistake. */
struct options read_options(int argc, char **argv);

#endif
