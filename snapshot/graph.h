/* SPDX-License-Identifier: MIT */
/*
 * The heap at the start of a mark, as a graph: from a snapshot (doc/snapshot-format.md), or made
 * from arrays.
 *
 * Objects are numbered by their addresses, from 0.  All objects of a page have one size and one
 * kind, so an object's entry is small, and the rest is its page's.  Edges stand in the order of the
 * words that they are in: those of object i are edge[object[i].first_edge] to
 * edge[object[i + 1].first_edge - 1].  Each word that leads to an object is an edge, also if
 * another word of the same object leads to the same one.  Edges that a procedure of the program's
 * has made stand behind them: those are in no word that is known, and maybe not in the object.
 *
 * Everything here is memory of malloc.  One thread fills a graph; when it is there it is only read,
 * by any number of threads.
 */
#ifndef SGC_SNAPSHOT_GRAPH_H
#define SGC_SNAPSHOT_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/report.h"

#define SGC_GRAPH_NONE UINT32_MAX       /* no object */
#define SGC_GRAPH_NO_WORD UINT32_MAX    /* of an edge */

#define SGC_GRAPH_NO_TYPE UINT32_MAX    /* of an object */
#define SGC_GRAPH_NO_SITE UINT32_MAX    /* likewise */

enum {
    SGC_GRAPH_KINDS = 16,               /* of objects, at most */
    SGC_GRAPH_NAME = 64,                /* bytes of a name, with its end */
    SGC_GRAPH_BUILD_ID = 32,            /* bytes of a build id, at most */
};

/* The kinds of roots.  SGC_GRAPH_BIT makes sets of them. */
enum sgc_graph_root {
    SGC_GRAPH_STATIC,                   /* static data of the program or a library */
    SGC_GRAPH_ADDED,                    /* a range that the program added */
    SGC_GRAPH_STACK,                    /* a stack, with the registers */
    SGC_GRAPH_THREAD_LOCAL,
    SGC_GRAPH_DATE,                     /* a date of short-term memory that is not over */
    SGC_GRAPH_UNCOLLECTABLE,            /* the object itself is one */
    SGC_GRAPH_FINALIZATION,             /* it waits for its finalizer, or is a finalizer's data, or
                                         * a strong toggle reference */
    SGC_GRAPH_HOOK,                     /* a hook of the program's has pushed or marked it */
    SGC_GRAPH_PROCEDURE,                /* a mark procedure has found it in memory that is no
                                         * object's */
    SGC_GRAPH_FINALIZER,                /* the object has a finalizer: a cycle keeps it, after the
                                         * mark, if nothing else does */
    SGC_GRAPH_DISCLAIM,                 /* its kind has a disclaim procedure: a cycle keeps it as
                                         * one with a finalizer */
    SGC_GRAPH_ROOTS
};

#define SGC_GRAPH_BIT(root) (UINT32_C(1) << (root))
#define SGC_GRAPH_ALL_ROOTS (SGC_GRAPH_BIT(SGC_GRAPH_ROOTS) - 1)

/* Those that the mark begins with; the others are looked at when it has ended. */
#define SGC_GRAPH_MARK_ROOTS (SGC_GRAPH_BIT(SGC_GRAPH_FINALIZER) - 1)

/* "static data", "stack" ... */
const char *sgc_graph_root_name(enum sgc_graph_root root);

/* Sizes are 1 << log bytes. */
struct sgc_graph_geometry {
    uint64_t base;                      /* address of the heap's first byte: offsets count from
                                         * there */
    uint64_t limit;                     /* bytes of the heap that were committed */
    uint32_t word;                      /* bytes */
    uint32_t granule_log, page_log, arena_log;
};

enum sgc_graph_scan { SGC_GRAPH_SCAN_NOTHING, SGC_GRAPH_SCAN_WORDS, SGC_GRAPH_SCAN_DESCRIBED };

struct sgc_graph_kind {
    uint8_t scan;                       /* enum sgc_graph_scan */
    bool uncollectable;
    bool disclaims;                     /* a procedure is asked about dead objects: they are kept
                                         * for it, */
    bool keeps_contents;                /* with what they lead to */
    bool type_first;                    /* the first word of each points at a description of its
                                           type */
    char name[SGC_GRAPH_NAME];          /* that the program has given it, as it is; "": none */
};

enum sgc_graph_page_is { SGC_GRAPH_PAGE_NONE, SGC_GRAPH_PAGE_SMALL, SGC_GRAPH_PAGE_SPAN, SGC_GRAPH_PAGE_TAIL };

struct sgc_graph_page {
    uint64_t object_bytes;              /* of each of its objects; of a span: of its one */
    uint64_t reach;                     /* of a span: words that point behind these first bytes do
                                         * not keep it */
    uint32_t first_object;              /* number of its first; of a page without: that of the next
                                         * object */
    uint32_t objects;
    uint32_t pages;                     /* of a span; of a tail: pages back to the first */
    uint16_t owner;                     /* number of the thread that has it; 0: nobody; in a graph
                                         * without pages 0 */
    uint16_t home;                      /* of the thread that was the first to use it since it has
                                         * contents */
    uint8_t is;                         /* enum sgc_graph_page_is */
    uint8_t kind;
    uint8_t cls;                        /* size class */
};

struct sgc_graph_object {
    uint64_t offset;                    /* of its first byte in the heap */
    uint64_t first_edge;
};

struct sgc_graph_edge {
    uint32_t target;                    /* number of an object */
    uint32_t word;                      /* where the word is in its object, in words from the first;
                                         * or SGC_GRAPH_NO_WORD */
};

/* Root words that lie together: a range of memory, or what has no memory that the program knows (lo
 * is 0 then). */
struct sgc_graph_range {
    uint64_t lo;                        /* address; of memory that was copied to be read: of the
                                         * copy */
    uint64_t bytes;                     /* that a mark scans */
    uint64_t first_root;                /* its roots are those up to the next range's first */
    uint32_t thread;                    /* kernel's number of the thread whose it is; 0: nobody's */
    uint32_t root;                      /* enum sgc_graph_root */
    uint32_t module;                    /* whose thread-local variables they are, from 1; 0: it is
                                         * not known */
};

struct sgc_graph_root_word {
    uint64_t word;                      /* where in the range, in words; of ranges without memory:
                                         * the how many-th */
    uint32_t target;                    /* number of an object */
    uint32_t range;
};

/* ---- names: none in a graph from arrays, or from a snapshot of version 2.  Texts are as the
 * program has them, and may not be fit for a terminal ---- */

struct sgc_graph_segment {
    uint64_t lo, bytes;                 /* lo: address */
    uint32_t access;                    /* 4: it may be read, 2: written, 1: run */
};

/* A module that was loaded: the program, or a library. */
struct sgc_graph_module {
    uint64_t lo, bytes;                 /* from its lowest address to the end of its highest
                                           segment */
    uint64_t file_lo;                   /* the lowest address that its file says */
    char *path;                         /* "": unknown */
    uint32_t segments, build_id_bytes;  /* 0 bytes: it has no build id */
    struct sgc_graph_segment *segment;
    unsigned char build_id[SGC_GRAPH_BUILD_ID];
};

/* Where the first words of some objects point: into a module, from its lowest address. */
struct sgc_graph_type {
    uint64_t offset;
    uint32_t module;
};

/* Where objects were allocated: `frames` program counters, the innermost first. */
struct sgc_graph_site {
    uint64_t first_frame;               /* in the graph's list of frames */
    uint32_t frames;
};

struct sgc_graph_thread {
    uint32_t number;                    /* the kernel's */
    char name[SGC_GRAPH_NAME];          /* "": unknown */
};

struct sgc_graph {
    struct sgc_graph_geometry geometry;

    uint32_t objects;
    uint64_t edges;
    uint64_t bytes;                     /* of all objects */
    uint64_t words;                     /* of objects, that lie in the heap's range: edges, and what
                                         * leads to no object */
    uint64_t procedure_objects;         /* there are whose words, or some of them, procedures decide
                                         * of: they have no edges but what these have led to, and
                                         * none if they were not reached */
    uint64_t procedure_edges;           /* without a word */
    uint64_t by_hand;                   /* objects that the program has marked itself: nobody looks
                                         * into them, so they have no edges */
    struct sgc_graph_object *object;    /* objects + 1: the last one's first edge is the number of
                                         * edges */
    struct sgc_graph_edge *edge;
    uint64_t *aim;                      /* by edge: the heap's byte that the word points at; NULL
                                         * unless it was asked for */

    uint32_t ranges;
    uint64_t roots;
    uint64_t root_bytes;                /* that a mark scans, in all ranges */
    struct sgc_graph_range *range;      /* ranges + 1: the last one's first root is the number of
                                         * roots */
    struct sgc_graph_root_word *root;   /* in the order in which the cycle comes to them */

    uint32_t pages;                     /* entries: from page 0 up to the last that is committed */
    struct sgc_graph_page *page;        /* by number: offset >> page_log */
    uint32_t kinds;
    struct sgc_graph_kind kind[SGC_GRAPH_KINDS];

    uint32_t nodes;                     /* memory nodes of the machine that the snapshot is of */
    uint32_t arenas;
    int16_t *node;                      /* by arena: where it has its home, -1: nowhere in
                                         * particular; NULL: all of them */

    uint32_t modules, types, threads;
    struct sgc_graph_module *module;    /* by ascending addresses */
    struct sgc_graph_type *type;        /* no two are one */
    uint32_t *type_of;                  /* by object: number of its type, SGC_GRAPH_NO_TYPE: its
                                           first word points into no module, or is not known, as
                                           that of pointer-free ones; NULL unless it was asked
                                           for */
    uint32_t sites;                     /* 0: the program took no samples */
    uint64_t frames;
    struct sgc_graph_site *site;
    uint64_t *frame;
    uint32_t *site_of;                  /* by object: number of its site, SGC_GRAPH_NO_SITE: it is
                                           no sample; NULL unless types were asked for and there
                                           are sites */
    struct sgc_graph_thread *thread;    /* those whose stacks were scanned, and maybe more */

    uint64_t cycle;                     /* number of the collection; 0: made from arrays */
    uint64_t process;
    uint32_t markers;                   /* that the program would have used at most; 0: unknown */
};

/* ---- making and releasing ---- */

enum {
    SGC_GRAPH_AIMS = 1,                 /* fill `aim`: 8 bytes an edge */
    SGC_GRAPH_TYPES = 2,                /* fill `type_of` and `site_of`: 4 bytes an object each */
};

/* Reads a snapshot; "-" is the standard input.  False, with a line to stderr that names the error,
 * its place, the expected contents and a way to go on; *g is to be released in any case. */
bool sgc_graph_load(struct sgc_graph *g, const char *path, unsigned flags);

/* Reads a snapshot as sgc_graph_load does, but leaves the line in `problem`. */
enum { SGC_GRAPH_PROBLEM = 400 };
bool sgc_graph_load_or(struct sgc_graph *g, const char *path, unsigned flags, char problem[SGC_GRAPH_PROBLEM]);

/*
 * Makes a graph from arrays, for tests and for shapes that no program has.  bytes[i]: of object i,
 * a multiple of 16; edge[e] leads from object from[e], in ascending order of from, to to[e]; the
 * words that edges are in are the first ones of their object, so bytes[i] must have room for them.
 * root[r] are numbers of objects, in one range of static data.  Objects lie one behind the other in
 * pages of one size each, in the order of their numbers.  False if there is no memory.
 */
struct sgc_graph_arrays {
    uint32_t objects;
    const uint32_t *bytes;
    uint64_t edges;
    const uint32_t *from, *to;
    uint32_t roots;
    const uint32_t *root;
};
bool sgc_graph_make(struct sgc_graph *g, const struct sgc_graph_arrays *arrays);

void sgc_graph_release(struct sgc_graph *g);

/* ---- asking ---- */

static inline uint32_t sgc_graph_page_of(const struct sgc_graph *g, uint32_t object)
{
    sgc_assert(object < g->objects);
    return (uint32_t)(g->object[object].offset >> g->geometry.page_log);
}

static inline uint64_t sgc_graph_bytes(const struct sgc_graph *g, uint32_t object)
{
    sgc_assert(sgc_graph_page_of(g, object) < g->pages);
    return g->page[sgc_graph_page_of(g, object)].object_bytes;
}

static inline uint32_t sgc_graph_kind_of(const struct sgc_graph *g, uint32_t object)
{
    sgc_assert(sgc_graph_page_of(g, object) < g->pages);
    return g->page[sgc_graph_page_of(g, object)].kind;
}

/* Has it words that a mark scans? */
static inline bool sgc_graph_has_words(const struct sgc_graph *g, uint32_t object)
{
    sgc_assert(sgc_graph_kind_of(g, object) < g->kinds);
    return g->kind[sgc_graph_kind_of(g, object)].scan != SGC_GRAPH_SCAN_NOTHING;
}

static inline uint64_t sgc_graph_address(const struct sgc_graph *g, uint32_t object)
{
    sgc_assert(object < g->objects);
    return g->geometry.base + g->object[object].offset;
}

static inline uint64_t sgc_graph_edges_of(const struct sgc_graph *g, uint32_t object)
{
    sgc_assert(object < g->objects && g->object[object].first_edge <= g->object[object + 1].first_edge);
    return g->object[object + 1].first_edge - g->object[object].first_edge;
}

static inline uint32_t sgc_graph_site_of(const struct sgc_graph *g, uint32_t object)
{
    sgc_assert(object < g->objects);
    return g->site_of != NULL ? g->site_of[object] : SGC_GRAPH_NO_SITE;
}

/* The number of the module that has the address, SGC_GRAPH_NONE: none; the thread of that number,
 * NULL: none. */
uint32_t sgc_graph_module_at(const struct sgc_graph *g, uint64_t address);
const struct sgc_graph_thread *sgc_graph_thread(const struct sgc_graph *g, uint32_t number);

/* A dead object that is only asked about, and lets go of what it leads to, is kept by itself. */
static inline bool sgc_graph_keeps_itself_only(const struct sgc_graph *g, uint32_t root, uint32_t object)
{
    sgc_assert(root < SGC_GRAPH_ROOTS);
    return root == SGC_GRAPH_DISCLAIM && !g->kind[sgc_graph_kind_of(g, object)].keeps_contents;
}

/* The object in which that byte of the heap lies; SGC_GRAPH_NONE: in none. */
uint32_t sgc_graph_object_at(const struct sgc_graph *g, uint64_t offset);

/* The objects that can be reached. */
struct sgc_graph_reach {
    uint64_t *seen;                     /* a bit an object */
    uint64_t objects, bytes;
    uint64_t pointer_free;              /* of the bytes, in objects without words to scan */
    uint64_t edges;                     /* in the objects that were reached */
};

static inline bool sgc_graph_seen(const struct sgc_graph_reach *reach, uint32_t object)
{
    sgc_assert(reach->seen != NULL);
    return (reach->seen[object / 64] >> object % 64 & 1) != 0;
}

/* Finds the objects that roots of these kinds reach.  With SGC_GRAPH_ALL_ROOTS the whole cycle
 * keeps them, with SGC_GRAPH_MARK_ROOTS they are marked before finalization.  False if there is no
 * memory; *reach is to be released in any case. */
bool sgc_graph_reach(const struct sgc_graph *g, uint32_t roots, struct sgc_graph_reach *reach);
void sgc_graph_reach_release(struct sgc_graph_reach *reach);

/* Do the parts of the graph fit together: numbers in range, order, sums?  NULL, or a text that says
 * which do not. */
const char *sgc_graph_check(const struct sgc_graph *g);

#endif
