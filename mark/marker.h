/* SPDX-License-Identifier: MIT */
/*
 * A marker: finds the objects that roots and marked objects point at, and marks them.
 *
 * Work goes in batches.  Some objects are popped and prefetched; those of the batch before are
 * scanned meanwhile.  Each word of theirs that may be a pointer is collected as an edge; the edges'
 * mark words are prefetched ([Cher]); then their bits are tested, the objects marked and, unless
 * pointer-free, pushed.
 *
 * If the mark stack cannot grow, the object's page is flagged and its marked objects are scanned
 * again later: nothing is lost, and the rescans can be shared like any other work.
 *
 * A marker works alone, or in a team whose members touch nothing of each other but their deques.
 * It asks its team by the functions of struct sgc_team_answers, each of them seldom, and knows no
 * more of teams.  Mark bits and rescan flags are read by all, with no order needed: what a marker
 * learns from a mark bit is only that somebody marked.  A marker that is known to be alone sets
 * mark bits by plain stores, one of several by atomic operations.
 *
 * The world is stopped, or markers go on while it runs (enum sgc_mark_when).  Then the program
 * writes the words that are scanned, and allocates: each word of its memory is loaded once
 * (sgc_read_once), and what a marker uses of a page's descriptor it reads behind an acquire of the
 * state or of an allocation word that says that it is there.
 */
#ifndef SGC_MARK_MARKER_H
#define SGC_MARK_MARKER_H

#include "alloc/pages/heap.h"
#include "alloc/pages/page.h"
#include "mark/work/deque.h"
#include "mark/markbit.h"
#include "mark/mark_procs.h"
#include "platform/find_pointers.h"
#include "platform/nodes/topology.h"

#define SGC_INLINE __attribute__((always_inline)) static inline

enum {
    SGC_EDGES_MAX = 64,
    SGC_COLLECT_WORDS = 32,             /* of an object that waits in a batch */
    SGC_PAUSE_EVERY = 256,              /* pieces of work between two questions to the team */
    SGC_BATCH = 64,                     /* objects on their way from the stack */
    SGC_BATCH_BYTES = SGC_COLLECT_WORDS * sizeof(uintptr_t),    /* that one of them may have */
};

struct sgc_idle;
struct sgc_marker;
struct sgc_team;

/* The functions by which a marker asks the team that it is in, while it takes part in a mark. */
struct sgc_team_answers {
    /* Does it take part?  For assertions. */
    bool (*has)(const struct sgc_marker *marker);

    /* Asked every now and then by a marker that works: false if the mark is to be given up, or
     * interrupted; or its time is over. */
    bool (*pause)(struct sgc_marker *marker);

    /* Are so many bytes of roots to be passed on, instead of scanned on the spot? */
    bool (*wants_roots)(const struct sgc_marker *marker, size_t bytes);

    /* Gives a piece of the roots to the marker itself, or without stealing to the marker whose turn
     * it is.  False if there is no room: the caller scans it. */
    bool (*give_roots)(struct sgc_marker *marker, uintptr_t start, size_t bytes);
};

/* The state of the program while a marker works. */
enum sgc_mark_when {
    SGC_MARK_STOPPED,           /* it stands still until the mark is complete, or given up */
    SGC_MARK_PAUSED,            /* it stands still, but may go on before the mark is complete */
    SGC_MARK_CONCURRENT,        /* it runs */
};

/* Objects that have been popped and prefetched. */
struct sgc_batch {
    struct sgc_words object[SGC_BATCH];
    size_t count;
};

/* How a mark goes on.  Each marker that takes part has the same, so that it need not ask others. */
struct sgc_mark_mode {
    uint8_t program;            /* enum sgc_mark_when */
    bool since_run;             /* the program may have run since the mark began: objects that wait
                                 * may have been freed */
};

/* When a marker came into a mark, and how much it had done before. */
struct sgc_stay {
    uint64_t began_ns;          /* 0: nobody asks */
    size_t objects, bytes, steals;
};

struct sgc_mark_config {
    bool interior_pointers;     /* in heap words and static data; on stacks they always count */
    bool end_word;              /* a root word just past an object keeps it, too */
    size_t split_bytes;         /* larger objects are scanned in pieces; 0: never split */
    uint32_t edges;             /* that are marked together, about; 0: one by one, and nothing is
                                 * prefetched */
    size_t stack_bytes;         /* address space for the stack, 0: automatic */
    enum sgc_stack_form stack_form;
};

/* Scans a short object, and goes on with what it leads to as far as it likes. */
typedef void sgc_chain_form(struct sgc_marker *marker, struct sgc_words object);

struct sgc_marker {
    struct sgc_deque stack;
    struct sgc_batch batch[2];  /* what is scanned next, and what comes after it */
    uintptr_t edge[2 * SGC_BATCH * SGC_COLLECT_WORDS + SGC_WORDS_BEYOND];   /* two a word; empty
                                                                             * between the functions
                                                                             * of mark/edge.h's
                                                                             * users */
    size_t edges_wait;          /* so many are marked together */
    sgc_words_form *collect;    /* how they are collected, */
    sgc_chain_form *chain;      /* and single objects followed */
    bool plain;                 /* words are addresses: mark/word_form.h */
    const sgc_a8_t *distances;  /* words of the heap and of static data that point that far behind an object's first byte
                                 * count, byte by byte; NULL: all that point into it */
    uint32_t near;              /* the first of these, in bits: those of a granule, twice */
    bool end_word;
    size_t split_bytes;
    uintptr_t base, limit;      /* copies of the heap's */
    uint32_t alloc_role;
    sgc_aw_t *allocated, *marks;    /* the first words of the two bitmaps; between two of one there
                                     * is one of the other */
    size_t objects, bytes;      /* marked so far in this cycle */
    size_t pointer_free;        /* of the bytes, those of objects that have no words to scan */
    size_t root_bytes;
    size_t rescans;             /* pages scanned again */
    bool overflowed;            /* a page was flagged because there was no room */
    bool interrupted;           /* the team said stop while a page was scanned again */
    struct sgc_mark_mode mode;
    enum sgc_markbit how;
    bool drops_marked;                 /* many of the last edges led to what was marked */
    bool drops_marked_spans;           /* many of them led to no small object: mostly into spans */
    int until_pause;            /* pieces of work until the team is asked whether to go on */
    struct sgc_team *team;      /* NULL: alone */
    const struct sgc_team_answers *ask;     /* of the team */
    struct sgc_idle *idle;      /* the team's markers without work, who are to learn of public
                                 * pieces */
    bool again;                 /* in this mark objects may be scanned that have been already */
    uint32_t index;             /* in the team */
    uint32_t random;            /* state of a generator: where to steal first */
    uint32_t breaks;            /* of marker 0 in this mark */
    bool inside;                /* a helper or an assistant takes part now */
    uint64_t until_ns;          /* an assistant's time; 0: it stays to the end */
    struct sgc_stay stay;       /* its present one: mark/team/team_state.h */
    bool dealt;                 /* it has got its part of the roots, and is busy from the start */
    size_t steals, stolen;      /* thefts, pieces stolen */
    size_t steals_far;          /* of the thefts, those from a marker on another memory node */
    uint32_t core;              /* that its thread is bound to; SGC_NO_CORE: none */
    bool beyond;                /* a helper with a lower number has that core, too */
    sgc_a32_t node;             /* where its thread ran when it came in, even if that has gone */
    struct sgc_client_entry
        client[SGC_CLIENT_ENTRIES]; /* what clients' procedures push; empty between calls:
                                     * mark/descriptor.c */
};

/* Was it made by sgc_marker_init, and is it as that and its own functions leave it? */
static inline bool sgc_marker_ok(const struct sgc_marker *marker)
{
    return sgc_deque_ok(&marker->stack) && marker->edges_wait >= 1 && marker->edges_wait <= SGC_EDGES_MAX &&
           marker->collect != NULL && marker->how <= SGC_MARKBIT_PLAIN && marker->batch[0].count <= SGC_BATCH &&
           marker->batch[1].count <= SGC_BATCH && (marker->team != NULL ? marker->ask != NULL : marker->index == 0) &&
           (marker->mode.program == SGC_MARK_STOPPED ||
            (marker->mode.program <= SGC_MARK_CONCURRENT && marker->mode.since_run &&
             (marker->how == SGC_MARKBIT_PLAIN || marker->mode.program == SGC_MARK_CONCURRENT)));
}

/* And has it begun the mark that is under way? */
static inline bool sgc_marker_marks(const struct sgc_marker *marker)
{
    return sgc_marker_ok(marker) && marker->alloc_role == sgc_heap.alloc_role && marker->base == sgc_heap.base &&
           marker->marks == &sgc_heap.bits[marker->alloc_role ^ 1];
}

/* Could its scans have collected that edge? */
static inline bool sgc_edge_ok(const struct sgc_marker *marker, uintptr_t edge)
{
    return edge < marker->limit;
}

/* Arenas whose objects it marks. */
static inline uint32_t sgc_marker_arenas(const struct sgc_marker *marker)
{
    return (uint32_t)(marker->limit >> SGC_ARENA_LOG);
}

/* So many objects of that size have just been marked. */
static inline void sgc_count_marked(struct sgc_marker *marker, size_t count, size_t bytes, bool pointer_free)
{
    marker->objects += count;
    marker->bytes += count * bytes;
    marker->pointer_free += pointer_free ? count * bytes : 0;
}

bool sgc_marker_init(struct sgc_marker *marker, const struct sgc_mark_config *config);

/* It has no work. */
bool sgc_marker_idle(const struct sgc_marker *marker);

/* How a marker follows single objects: with words that are addresses, with those that a mask makes
 * addresses of, and with others (mark/edge.c, mark/scan.c). */
sgc_chain_form sgc_chain_follow, sgc_chain_follow_masked, sgc_chain_scan;

/* Collects both addresses of each word (mark/scan.c). */
sgc_words_form sgc_collect_both;

/* World stopped, before anything is marked. */
void sgc_marker_begin(struct sgc_marker *marker);

/* It joins a mark that `first` has begun and that the program runs beside, with the same limit, and
 * sets bits as that does. */
void sgc_marker_join(struct sgc_marker *marker, const struct sgc_marker *first);

/* Takes the heap's limit anew: arenas that were committed since have objects, too. */
static inline void sgc_marker_renew(struct sgc_marker *marker)
{
    uintptr_t limit = sgc_aw_load_acq(&sgc_heap.limit);

    sgc_assert(limit >= marker->limit && limit % SGC_ARENA == 0);
    marker->limit = limit;
}

/* ---- its loop, and objects found page by page: mark/drain.c.  On any marker ---- */

/* Scans all that this marker has to scan.  False if the team said stop meanwhile: the rest is on
 * the stack, or its page is flagged, unless the mark is given up. */
bool sgc_mark_drain(struct sgc_marker *marker);

/* All that another marker of the same mark has to do, and what it has counted, becomes this one's.
 * The calling thread owns both; thieves may be at their public parts.  Where there is no room the
 * page is flagged. */
void sgc_marker_take_over(struct sgc_marker *marker, struct sgc_marker *from);

/* Marks uncollectable objects, which are roots. */
void sgc_mark_uncollectable(struct sgc_marker *marker);

/* Scans the marked objects of the arena's flagged pages again, the world being stopped for good.
 * False if no page was flagged. */
bool sgc_pages_rescan(struct sgc_marker *marker, uint32_t arena);

/* Scans the marked objects of the arena's flagged pages again, on the only marker, in a stop after
 * which the program may go on; flags those anew that have objects which only a stop lets scan.
 * False if the team said stop meanwhile: the pages that are left keep their flags. */
bool sgc_pages_rescan_paused(struct sgc_marker *marker, uint32_t arena);

/* Is any page flagged?  While nobody marks. */
bool sgc_pages_flagged(void);

/* Has the object that the edge (mark/edge_bits.h) leads to been freed by a thread that does not own
 * its page?  Only of pages of which some may have been.  Away from the loops that call it, so that
 * they have the registers. */
bool sgc_edge_remote_bit(uintptr_t edge);

/* Sets an object's mark, which is that bit of the word, and nothing else.  False if it was set.
 * sgc_marked_by_hand says from then on that marks need not lead to marks; relaxed, written with the
 * world stopped. */
SGC_INNER sgc_a32_t sgc_marked_by_hand;
bool sgc_mark_by_hand(struct sgc_marker *marker, sgc_aw_t *word, uintptr_t bit);

#endif
