/* SPDX-License-Identifier: MIT */
/*
 * Finalizers, disappearing links and toggle references: their tables, and registering.
 * doc/design/finalization.md says what they mean and why it is done this way.
 *
 * Six trees (gc/finalize/address_tree.h), no roots:
 *
 *   tree         under                  value
 *   finalizers   the object's address   its record, with the order in the lowest bits
 *   links        the link's address     the target's address and generation; one tree of short, one
 *                                       of long links
 *   targets      the target's address   a flag for 64 bytes: links point at an object that begins
 *                                       there
 *   generations  the target's address   how often objects there were freed explicitly while links
 *                                       pointed at them, so that these do not pass to the next
 *                                       object there
 *   toggles      the object's address   SGC_TOGGLE_...
 *
 *   what       written by                      read by           ordering
 *   trees      gc/finalize/address_tree.h
 *   targets'   a thread that registers a       a thread that     relaxed: the thread that frees has
 *   flags      link: 1, before the link;       frees; markers    got the object from the one that
 *              markers, a unit at a time: 0                      registered; stopping the world
 *   a record   the thread that registers,      the thread that   the unit's exchange
 *              before it is stored             exchanged the
 *                                              unit; markers
 *   used,      atomic, or by the thread that   everybody         relaxed: a thread that stores has
 *   kinds      stores the first                                  set it before; markers: stopping
 *                                                                the world
 *   freed      a thread that frees a target:   same              stopping the world
 *              1, in the section that ends
 *              its generation; the
 *              collecting thread: 0
 *   await      the client's setter, with the   the collecting    release / acquire; relaxed for the
 *              GC lock                         thread; a thread  latter: the program frees what it
 *                                              that frees        has been shown
 */
#ifndef SGC_GC_FINALIZE_REGISTER_H
#define SGC_GC_FINALIZE_REGISTER_H

#include "alloc/pages/heap.h"
#include "gc/threads/mutator.h"
#include "gc/finalize/address_tree.h"
#include "mark/word_form.h"

typedef void (*sgc_finalizer_fn)(void *object, void *data);

enum sgc_finalizer_order {
    SGC_ORDERED,                /* after all that can reach it */
    SGC_IGNORE_SELF,            /* likewise, but its own pointers to itself do not count */
    SGC_NO_ORDER,               /* as soon as it is unreachable */
    SGC_UNREACHABLE,            /* likewise ordered, and not while one that waits for its finalizer
                                 * reaches it */
    SGC_ORDERS
};

enum { SGC_ORDER_MASK = 3 };    /* in a finalizer's unit */

struct sgc_record {
    sgc_aw_t next;              /* on the queue, or while it is free */
    uintptr_t object;           /* as the program has it: with its tag */
    sgc_finalizer_fn fn;
    void *data;
};

_Static_assert(sizeof(struct sgc_record) == SGC_RECORD_BYTES, "a record is a node");

/* Bits of a toggle reference's unit.  The last one comes when the program is asked about it, and
 * goes with the answer, or before if the object is freed or added again meanwhile. */
enum { SGC_TOGGLE_WEAK = 1, SGC_TOGGLE_STRONG = 2, SGC_TOGGLE_ASKED = 4 };

enum sgc_link { SGC_LINK_SHORT, SGC_LINK_LONG, SGC_LINKS };

/* Logarithms of the bytes that a unit stands for, a link's word or the memory of eight targets'
 * flags; the bytes that a flag stands for. */
enum { SGC_LINKS_LOG = 3, SGC_TARGETS_LOG = 9, SGC_FLAGGED = 1 << (SGC_TARGETS_LOG - 3) };

/* Bits of `used`. */
enum {
    SGC_USED_ORDERED = 1,       /* there are finalizers that need an order */
    SGC_USED_UNREACHABLE = 2,
    SGC_USED_DATA = 4,          /* there is client data in the heap; also of a block of the tree */
    SGC_USED_ANY = 8,           /* something is registered, or was */
    SGC_USED_ALL = 16,          /* everything was queued once, dead or not */
};

/* Does the record wait for something to be done with it?  Its lowest bits are free for the
 * order. */
static inline bool sgc_record_ok(const struct sgc_record *r)
{
    return ((uintptr_t)r & SGC_ORDER_MASK) == 0 && r->fn != NULL && sgc_heap_contains(r->object);
}

/* Of a finalizer's unit; NULL: there is none. */
static inline struct sgc_record *sgc_record_of(uintptr_t value)
{
    return (struct sgc_record *)(value & ~(uintptr_t)SGC_ORDER_MASK);
}

/* Where the client's data leads, which counts as a word of the heap does. */
static inline uintptr_t sgc_record_data(const struct sgc_record *r)
{
    sgc_assert(sgc_record_ok(r));
    return sgc_word_address((uintptr_t)r->data);
}

/* Shows the client an object before it is queued. */
typedef void (*sgc_await_fn)(void *object);

struct sgc_finalization {
    struct sgc_tree finalizers, targets, generations, toggles;
    struct sgc_tree links[SGC_LINKS];
    sgc_a32_t used;
    sgc_a32_t freed;
    sgc_aw_t await;             /* sgc_await_fn; 0: nobody wants to see them */
};
extern struct sgc_finalization sgc_finalization;

/* Is anything registered, or was there ever? */
static inline bool sgc_finalization_used(void)
{
    return __builtin_expect(sgc_a32_load(&sgc_finalization.used) != 0, 0);
}

/* ---- registering: any mutator, outside sections ---- */

enum sgc_registered {
    SGC_REGISTERED,             /* nothing was there before */
    SGC_REGISTERED_AGAIN,       /* something was, and is replaced */
    SGC_REGISTERED_NOT,         /* no memory: nothing has changed */
    SGC_REGISTERED_NO_OBJECT,   /* the address is not an allocated object's first */
    SGC_REGISTERED_NO_LINK,     /* move: no such link */
    SGC_REGISTERED_TAKEN,       /* move: there is a link already */
};

struct sgc_finalizer {
    sgc_finalizer_fn fn;
    void *data;
    enum sgc_finalizer_order order;
    uint32_t tag;               /* so many bytes, less than a granule, the program's pointer lies
                                 * behind the object's address */
};

static inline bool sgc_finalizer_ok(const struct sgc_finalizer *f)
{
    return (unsigned)f->order < SGC_ORDERS && f->tag < SGC_GRANULE;
}

/* Can an object begin there? */
static inline bool sgc_registrable(uintptr_t object)
{
    return object % SGC_GRANULE == 0 && sgc_heap_contains(object);
}

/* Can there be a link?  Its value would not fit into an address tree elsewhere. */
static inline bool sgc_link_ok(uintptr_t link)
{
    return link != 0 && link % sizeof link == 0 && link >> SGC_TREE_ADDRESS_BITS == 0;
}

/* Registers f for the object, or removes what is registered if f->fn is NULL; *old is what was
 * there (fn NULL: nothing). */
enum sgc_registered sgc_finalizer_set(struct sgc_mutator *self, uintptr_t object, const struct sgc_finalizer *f,
                                      struct sgc_finalizer *old);

/* Removes what is registered for the object if its function is `fn`, and returns its data;
 * otherwise NULL. */
void *sgc_finalizer_take(struct sgc_mutator *self, uintptr_t object, sgc_finalizer_fn fn);

/* Stores the finalizer that is registered for the object in *f (fn NULL: there is none).  World
 * stopped by the caller. */
void sgc_finalizer_find(uintptr_t object, struct sgc_finalizer *f);

/* *link is to be cleared when the object dies. */
enum sgc_registered sgc_link_set(struct sgc_mutator *self, enum sgc_link kind, uintptr_t link, uintptr_t object);
bool sgc_link_remove(struct sgc_mutator *self, enum sgc_link kind, uintptr_t link);
enum sgc_registered sgc_link_move(struct sgc_mutator *self, enum sgc_link kind, uintptr_t from, uintptr_t to);

/* In each collection the program is asked about the object: whether something outside the heap
 * refers to it now. */
enum sgc_registered sgc_toggle_add(struct sgc_mutator *self, uintptr_t object, bool strong);

/* Does the collector have to find out itself that the object, which begins there, is dead: has it a
 * finalizer, or a link or a toggle reference that points at it?  On a thread that has the object,
 * outside sections. */
bool sgc_finalization_knows(struct sgc_mutator *self, uintptr_t object);

/* Has the object, which begins there, a finalizer or a toggle reference, or may a link point at it?
 * World stopped, or in a section. */
bool sgc_finalization_has(uintptr_t object);

/* The object, which begins there, is about to be freed: nothing is registered for it, or in it, any
 * more. */
void sgc_finalization_forget(struct sgc_mutator *self, uintptr_t object);

/* Forgets the links in [lo, hi), memory of an object that is about to be freed.  Outside sections,
 * or (self NULL) with the world stopped by the caller. */
void sgc_links_forget(struct sgc_mutator *self, uintptr_t lo, uintptr_t hi);

/* The generation of a target at this moment; 0: none. */
static inline uintptr_t sgc_target_generation(uintptr_t object)
{
    const struct sgc_tree *generations = &sgc_finalization.generations;

    return sgc_tree_empty(generations) ? 0 : sgc_tree_value(generations, object);
}

static inline uintptr_t sgc_link_target(uintptr_t value)
{
    return (value & (((uintptr_t)1 << 44) - 1)) << 4;
}

static inline uintptr_t sgc_link_generation(uintptr_t value)
{
    return value >> 44;
}

/* ---- everything that is registered (gc/finalize/enumerate.c): world stopped ---- */

/* Moves every registered finalizer to the queue. */
void sgc_finalization_enqueue_all(void);

/* Hands each address that the tables keep alive to fn: what waits for its finalizer, data of
 * finalizers, strong toggle references.  For one visitor at a time. */
void sgc_finalization_visit(void (*fn)(void *arg, uintptr_t address), void *arg);

/* Hands each object that has a finalizer to fn, as the program has it.  For one visitor at a
 * time. */
void sgc_finalization_visit_finalizers(void (*fn)(void *arg, uintptr_t address), void *arg);

/* Writes what is registered to the log. */
void sgc_finalization_dump(void);

/* Counts registered finalizers and links.  Also for tests on one thread, whose world runs. */
struct sgc_finalization_counts {
    size_t finalizers, links[SGC_LINKS], targets, toggles, waiting;
};
void sgc_finalization_count(struct sgc_finalization_counts *counts);

#endif
