/* SPDX-License-Identifier: MIT */
/*
 * The model beside which tests/fuzz/fuzz_sequences.c makes its calls: which objects there are, what they hold, what leads to
 * them, and what is to happen when they die.
 *
 * Addresses are kept inverted, so the model itself keeps nothing alive.  Threads take turns: one at a time works with the
 * model, and so do the finalizers and hooks that the collector calls meanwhile on that thread.
 */
#ifndef TESTS_FUZZ_MODEL_H
#define TESTS_FUZZ_MODEL_H

#define GC_THREADS 1
#define GC_NO_THREAD_REDIRECTS 1
#include "sgc.h"
#include "gc/gc_disclaim.h"
#include "gc/gc_gcj.h"
#include "gc/gc_inline.h"
#include "gc/gc_mark.h"
#include "gc/gc_typed.h"
#include "gc/javaxfc.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/tap.h"

enum { HANDLES = 256, EDGES = 4, LINKS = 32, HELPERS = 2, NONE = -1, STALE = -2 };

/* How an object was made. */
enum how {
    PLAIN, ATOMIC, UNCOLLECTABLE, ATOMIC_UNCOLLECTABLE, OFF_PAGE, ATOMIC_OFF_PAGE, ALIGNED, STRING, MANY, TYPED, TYPED_ARRAY,
    GCJ, PROCEDURE, KIND, DISCLAIMED, FINALIZED, DEBUG_PLAIN, DEBUG_ATOMIC, DEBUG_UNCOLLECTABLE, HOWS
};

/* Where a root to it is: bits of handle.places. */
enum place { IN_STATIC = 1, IN_ADDED = 2, PUSHED = 4, ON_STACK = 8 };

enum order { UNREGISTERED, ORDERED, IGNORE_SELF, NO_ORDER, UNREACHABLE };

struct handle {
    uintptr_t hidden;                   /* the address, inverted; 0: no object */
    size_t size;                        /* that was asked for */
    size_t offset;                      /* of what the program has in the collector's object */
    uint64_t seal;                      /* what the contents are made of */
    enum how how;
    int edge[EDGES];                    /* the handle that the word leads to; NONE; STALE: to what is gone, as only words may
                                           that no mark follows */
    unsigned places;
    enum order order;                   /* of its finalizer */
    int data;                           /* the handle that is its finalizer's data */
    bool revives;                       /* the finalizer makes it reachable */
    bool queued;                        /* perhaps: another finalizer has made it reachable meanwhile */
    bool toggled, strong;
    bool resized;                       /* more words than its type says may be followed */
    int link;                           /* that lies in the object, NONE */
    bool stays_once;                    /* the disclaim procedure says so, the first time */
    bool blamed;                        /* a word of a stack keeps it, though the model says that nothing does */
};

struct link {
    int target;                         /* NONE: it was freed */
    bool registered, is_long;
    int in;                             /* the handle in whose object the word lies; NONE: in static data */
    uintptr_t hidden;                   /* what its word holds until it is cleared */
};

extern struct handle handle[HANDLES];
extern struct link links[LINKS];
extern bool reached[HANDLES];           /* by roots, as model_reach has found */
extern bool kept[HANDLES];              /* or by what waits for its finalizer, or is blamed */
extern bool limited;                    /* there may be no memory */
extern int disabled;                    /* so many GC_disable */

static inline uintptr_t *address_of(int h)
{
    return (uintptr_t *)~handle[h].hidden;
}

/* As the collector has it. */
static inline void *base_of(int h)
{
    return (char *)address_of(h) - handle[h].offset;
}

/* ---- model.c ---- */

bool is_scanned(enum how how);
int first_word(enum how how);           /* of the edges */
bool has_edges(int h);                  /* is there room for them? */
bool is_uncollectable(enum how how);
bool is_debug(enum how how);
bool is_disclaimed(enum how how);       /* a procedure is called when it is dead */
bool follows(int h, int edge);          /* does a mark follow that edge? */

void model_reach(void);
bool waits_for_others(int h);           /* one that is finalized in an order, or held_by_dead */
bool held_by_dead(int h);               /* by one whose procedure is asked first, which may be the same */
int handle_at(const void *address);     /* NONE: no object begins there for the program */
int handle_of_base(const void *base);
int used_handle(unsigned from);         /* the next one that roots reach, NONE: there is none */
int free_handle(unsigned from);
void forget(int h);                     /* its object is gone */
void forget_before(const void *base);   /* there is another object now */
size_t used_bytes(void);

/* ---- contents.c ---- */

void fill(int h, uint64_t seal);
void check_contents(int h);
void check_prefix(int h, size_t size);
bool is_itself(int h);                  /* of one that may be gone */
void set_edge(int h, int edge, int target);
void check_reached(void);

/* ---- objects.c: each is a call, or a few ---- */

void prepare_kinds(void);
void op_allocate(struct fuzz_input *in);
void op_free(struct fuzz_input *in);
void op_free_wrongly(struct fuzz_input *in);
void op_resize(struct fuzz_input *in);
void op_edge(struct fuzz_input *in);
void op_fill(struct fuzz_input *in);
void op_query(struct fuzz_input *in);
void check_address(int h, size_t at);
void op_garbage(struct fuzz_input *in);
bool is_data(int h);                    /* of a finalizer */
void release_object(int h);             /* GC_free */
void clear_edges_to(int h);             /* of objects that are looked at */
size_t size_of(struct fuzz_input *in);

/* ---- roots.c ---- */

void prepare_roots(void);
void set_place(int h, enum place place, size_t offset);
void clear_place(int h, enum place place);
void clear_places(int h);
void op_root(struct fuzz_input *in);
void op_unroot(struct fuzz_input *in);
void op_added(struct fuzz_input *in);
void op_hook(struct fuzz_input *in);
void set_hook(bool allocates);
void after_fork(void);

/* ---- dying.c ---- */

void prepare_dying(void);
void op_finalizer(struct fuzz_input *in);
void op_toggle(struct fuzz_input *in);
void op_settings(struct fuzz_input *in);
int GC_CALLBACK disclaim(void *object);
void GC_CALLBACK finalize_dead(void *object, void *data);
void op_finalize_all(struct fuzz_input *in);
void lose_registrations(int h);         /* it was freed */
void forget_data(int h);                /* of its finalizer */
void leave_alone(int h);                /* the model knows it no more, and it has no finalizer */
unsigned finalizers_called(void);

/* ---- links.c ---- */

void prepare_links(void);
void op_link(struct fuzz_input *in);
void op_unlink(struct fuzz_input *in);
void check_links(void);                 /* after enough collections */
void unlink_all(void);
void unlink_in(int h);                  /* the link in the object */
void links_lose_holder(int h);          /* its object, with the link in it, is gone */
void links_lose_target(int h);
void note_cleared_links(void);           /* to objects that may come back now */

/* ---- collecting.c ---- */

void op_collect(struct fuzz_input *in);
void op_check(struct fuzz_input *in);
void op_disable(struct fuzz_input *in);
void op_limit(struct fuzz_input *in);
void op_fork(struct fuzz_input *in);
void op_snapshot(struct fuzz_input *in);
void check_all(void);
void end_input(void);                   /* lets go of everything; what is live is what was at the beginning */
void note_beginning(void);
bool has_strays(void);                  /* objects may live of which the model knows no more */

/* ---- turns.c: threads ---- */

/* Calls fn(in) on a helper thread, or, with number 0, on this one; the stack that it used is cleared. */
void prepare_turns(void);
void on_thread(unsigned number, void (*fn)(struct fuzz_input *in), struct fuzz_input *in);
void **helper_roots(void);              /* HANDLES words on the stack of a helper */
void no_helpers_here(void);             /* in the child of a fork */
void op_block(struct fuzz_input *in);
void op_thread(struct fuzz_input *in);
void op_lock(struct fuzz_input *in);

/* fuzz_sequences.c: the next call of the input, on the thread that it names, or on this one. */
void one_call(struct fuzz_input *in);
void call_here(struct fuzz_input *in);

#endif
