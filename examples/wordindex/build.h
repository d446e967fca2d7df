/* SPDX-License-Identifier: MIT */
/*
 * Builds an index: the calling thread walks, workers read, cut and merge.  When build_library
 * returns, the workers are gone and the library has one owner again.
 */
#ifndef WORDINDEX_BUILD_H
#define WORDINDEX_BUILD_H

#include "examples/wordindex/files.h"
#include "examples/wordindex/index.h"

struct library {
    struct index *index;
    struct files files;
    size_t texts, binaries, problems;
    uint64_t bytes, words; /* of the texts */
};

struct library *build_library(const char *const *paths, size_t count, int threads);

/* Lets go of what the library holds.  Setting the last pointer to NULL is not enough: the compiler
 * may keep the old value in a register or a stack slot until it has another use for it. */
void forget_library(struct library *library);

#endif
