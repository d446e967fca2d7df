/* SPDX-License-Identifier: MIT */
/*
 * Reading a snapshot into a graph: what the parts of the reader share.  By one thread.
 *
 * Pages come first, and with them all objects get their numbers; so a word becomes an edge as soon as it is read.  A word leads
 * to an object by the rules of a mark: reader_words.c.
 */
#ifndef SGC_PERFMODEL_SNAPSHOT_READER_H
#define SGC_PERFMODEL_SNAPSHOT_READER_H

#include "perfmodel/snapshot/graph.h"
#include "perfmodel/snapshot/input.h"

/* An array that grows. */
struct sgc_grown {
    void *of;
    size_t count, capacity, each;       /* each: bytes of an entry */
};

struct sgc_reader {
    struct sgc_input in;
    struct sgc_graph *g;
    bool aims;                          /* they are wanted */
    uint64_t flags;                     /* of the file: enum sgc_snapshot_flag */
    uint8_t *distances;                 /* a byte for each distance within a page: does it count?  NULL: all do */
    struct sgc_grown objects, edges, aim, ranges, roots;
    struct sgc_grown bits;              /* of pages of small objects, 64 slots each: */
    struct sgc_grown before;            /* and how many objects of the page come before those, 16 bits each */
    size_t *bits_at;                    /* by page: its first ones */
    uint32_t last;                      /* page that was read last, and the pages behind it that are its span's */
    uint64_t words, records, read_ranges, root_words, kept;
};

static inline bool sgc_reader_ok(const struct sgc_reader *r)
{
    return r->objects.count <= r->objects.capacity && r->edges.count <= r->edges.capacity &&
           r->bits.count == r->before.count && (!r->aims || r->aim.count == r->edges.count);
}

/* Room for one more entry, which is counted; NULL, after a problem was noted, if there is no memory. */
void *sgc_reader_add(struct sgc_reader *r, struct sgc_grown *array);

/* ---- reader_pages.c: each reads a section ---- */

bool sgc_reader_header(struct sgc_reader *r);
bool sgc_reader_kinds(struct sgc_reader *r);
bool sgc_reader_distances(struct sgc_reader *r);
bool sgc_reader_nodes(struct sgc_reader *r);
bool sgc_reader_pages(struct sgc_reader *r);

/* ---- reader_words.c ---- */

bool sgc_reader_words(struct sgc_reader *r);
bool sgc_reader_roots(struct sgc_reader *r);

#endif
