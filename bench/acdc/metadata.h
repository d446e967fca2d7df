/* SPDX-License-Identifier: MIT */
/*
 * Where ACDC keeps what it knows of objects: memory of its own from the system, so that it is in no allocator's heap, and
 * a collector sees it only if the memory asks for it (add_roots).
 *
 * Each object has a reference, each place of a reference in a list a node; both are given out from chunks and used again.  A
 * reference whose object's life has ended is cleared, so that it keeps nothing.
 *
 *   what              written by                                        read by                  ordering
 *   an arena          its thread                                        same                     -
 *   reference         the thread that made it, until it is shared       threads that share it    the pool's lock
 *   ... sharers       who has the pool's lock                           same                     the pool's lock
 *   ... users         each sharer takes itself off                      same                     acquire and release: the last
 *                                                                                                one clears the reference
 *   mapped            any thread, atomic adds                           main thread              relaxed; the join
 */
#ifndef ACDC_METADATA_H
#define ACDC_METADATA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct reference {
    void *object;
    uint64_t number;                    /* of the object, and in its first word */
    uint64_t sharers;                   /* a bit for each thread that has fetched it from the pool */
    size_t bytes;                       /* asked for, or what the block has if the memory tells */
    _Atomic unsigned users;             /* threads whose life of the object has not ended */
};

struct node {
    struct node *next;
    struct reference *reference;
};

/* What a reference's number says: the object's size as it was asked for, in its low bits; the rest is the number proper. */
enum { NUMBER_SHIFT = 31 };

static inline uint64_t reference_bytes(uint64_t number)
{
    return number & ((UINT64_C(1) << NUMBER_SHIFT) - 1);
}

/* One thread's. */
struct arena {
    struct reference *references;       /* unused ones, linked by `object` */
    struct node *nodes;
    void (*add_roots)(void *low, void *high);   /* for references; NULL: they are none */
};

/* Memory of zeros, never given back; ends the program if there is none. */
void *metadata_map(size_t bytes);

/* All that was mapped. */
size_t metadata_bytes(void);

struct reference *reference_new(struct arena *arena);
void reference_end(struct arena *arena, struct reference *reference);

struct node *node_new(struct arena *arena, struct reference *reference);
void node_end(struct arena *arena, struct node *node);

#endif
