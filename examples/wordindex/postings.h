/* SPDX-License-Identifier: MIT */
/*
 * Where words stand: the places of a word in one file while the file is read, and packed, file by
 * file, in the index.  A place is the number of the word in its file, from 0.
 *
 * No locks: places belong to one worker; postings are guarded by the shard they are in.
 */
#ifndef WORDINDEX_POSTINGS_H
#define WORDINDEX_POSTINGS_H

#include <stddef.h>
#include <stdint.h>

/* The places of one word in one file, ascending. */
struct places {
    uint32_t *at;
    uint32_t used, room;
};

void places_add(struct places *places, uint32_t place);

/* One file in which a word stands. */
struct posting {
    const unsigned char *packed; /* differences of the places, 7 bits a byte, low bits first */
    uint32_t file, count;
};

/* All files in which a word stands, in the order in which they were indexed. */
struct postings {
    struct posting *list;
    size_t used, room;
    uint64_t total; /* sum of the counts */
};

void postings_add(struct postings *postings, uint32_t file, const struct places *places);

/* The places of a posting, unpacked into a new array of posting->count. */
uint32_t *posting_places(const struct posting *posting);

/* A copy of the list, ascending in file. */
struct posting *postings_sorted(const struct postings *postings);

#endif
