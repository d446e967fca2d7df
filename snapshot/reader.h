/* SPDX-License-Identifier: MIT */
/*
 * Reading a snapshot into a graph: declarations that the parts of the reader share.  By one thread.
 *
 * Pages come before words, and with them all objects get their numbers; so a word becomes an edge
 * as soon as it is read.  The pushes of a hook come before pages, and are kept until then; the
 * pushes of procedures come last, and are put among the edges at the end.  A word leads to an
 * object by the rules of a mark: reader_words.c.
 */
#ifndef SGC_SNAPSHOT_READER_H
#define SGC_SNAPSHOT_READER_H

#include "snapshot/graph.h"
#include "snapshot/input.h"

/* An array that grows. */
struct sgc_grown {
    void *of;
    size_t count, capacity, each;       /* each: bytes of an entry */
};

/* A push of the hook: its kind, and its address, or the offset of its object in the heap. */
struct sgc_reader_pushed {
    uint64_t what;                      /* enum sgc_snapshot_pushed */
    uint64_t lo, bytes;
    size_t first_word;
};

struct sgc_reader_pushed_word {
    uint64_t place, offset;
};

/* A procedure has led from an object to another. */
struct sgc_reader_noted {
    uint32_t source, target;
    uint64_t aim;
};

struct sgc_reader {
    struct sgc_input in;
    struct sgc_graph *g;
    bool aims, type_of;                 /* they are wanted */
    uint64_t flags;                     /* of the file: enum sgc_snapshot_flag */
    uint8_t *distances;                 /* a byte for each distance within a page: does it count?
                                           NULL: all do */
    struct sgc_grown objects, edges, aim, ranges, roots;
    struct sgc_grown modules, types, threads, sites, frames;
    struct sgc_grown bits;              /* of pages of small objects, 64 slots each: */
    struct sgc_grown before;            /* and how many objects of the page come before those, 16
                                           bits each */
    size_t *bits_at;                    /* by page: its first ones */
    struct sgc_grown pushed, pushed_words, noted;
    uint64_t *by_hand, *contents;       /* a bit an object: it was marked by hand, and is looked
                                           into in spite of that */
    uint32_t last;                      /* page that was read last, and the pages behind it that are
                                           its span's */
    uint64_t words, records, read_ranges, root_words, kept, noted_records, noted_words;
    uint64_t words_noted;               /* of these, those of objects */
    uint64_t typed;                     /* objects with a type, */
    uint32_t highest_type;              /* and the highest number of one, from 1 */
};

static inline bool sgc_reader_ok(const struct sgc_reader *r)
{
    return r->objects.count <= r->objects.capacity && r->edges.count <= r->edges.capacity &&
           r->bits.count == r->before.count && (!r->aims || r->aim.count == r->edges.count);
}

/* Room for one more entry, which is counted; NULL, after a problem was noted, if there is no
 * memory. */
void *sgc_reader_add(struct sgc_reader *r, struct sgc_grown *array);

/* Memory for a number of each object, if names were asked for, all of them none (all bits).  False,
 * after a problem was noted, if there is none: `what` are they? */
bool sgc_reader_begin_numbers(struct sgc_reader *r, uint32_t **by_object, const char *what);

/* ---- reader_pages.c: each reads a section ---- */

bool sgc_reader_header(struct sgc_reader *r);
bool sgc_reader_kinds(struct sgc_reader *r);
bool sgc_reader_distances(struct sgc_reader *r);
bool sgc_reader_nodes(struct sgc_reader *r);
bool sgc_reader_pages(struct sgc_reader *r);

/* ---- reader_words.c ---- */

bool sgc_reader_words(struct sgc_reader *r);
bool sgc_reader_roots(struct sgc_reader *r);

/* The object to which a word leads that holds this offset; SGC_GRAPH_NONE: to none.  `anywhere`:
 * interior pointers count wherever the word is. */
uint32_t sgc_reader_find(const struct sgc_reader *r, uint64_t offset, bool anywhere);

/* The next of a list of words: `place` is behind it, `offset` what it holds, `max` at most.  False:
 * there is none. */
bool sgc_reader_next_word(struct sgc_reader *r, uint64_t words, uint64_t *place, uint64_t *offset, uint64_t max);

/* Adds a range, a root to the last one, and one or two that a word of it leads to. */
void sgc_reader_add_range(struct sgc_reader *r, struct sgc_graph_range range);
void sgc_reader_add_root(struct sgc_reader *r, uint32_t target, uint64_t word);
void sgc_reader_add_root_word(struct sgc_reader *r, uint64_t offset, uint64_t word, bool like_heap);

/* ---- reader_names.c: each reads a section, or nothing of version 2 ---- */

bool sgc_reader_modules(struct sgc_reader *r);
bool sgc_reader_types(struct sgc_reader *r);
bool sgc_reader_threads(struct sgc_reader *r);

/* Before the section of words; and, in it, behind the words of a page's objects: their types. */
bool sgc_reader_begin_types(struct sgc_reader *r);
void sgc_reader_page_types(struct sgc_reader *r, const struct sgc_graph_page *page);

/* The next name, which fits into `size` bytes with its end. */
void sgc_reader_name(struct sgc_reader *r, char *name, size_t size);

/* ---- reader_sites.c: reads the section, if it is there ---- */

bool sgc_reader_sites(struct sgc_reader *r);

/* ---- reader_noted.c ---- */

/* The first reads the pushes of the hook; the second adds them as roots, when there are pages. */
bool sgc_reader_pushed(struct sgc_reader *r);
void sgc_reader_add_pushed(struct sgc_reader *r);

/* The first reads the pushes of procedures; the second puts them among the edges, which are
 * complete otherwise. */
bool sgc_reader_noted(struct sgc_reader *r);
bool sgc_reader_put_noted(struct sgc_reader *r);

#endif
