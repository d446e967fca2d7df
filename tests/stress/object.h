/* SPDX-License-Identifier: MIT */
/*
 * Objects that know what they must contain, and graphs of them.
 *
 * Every byte of an object follows from its address, its stamp (a number used once) and its size, so
 * an object that was reclaimed too early, handed out twice, moved or overwritten fails its check;
 * fresh conservative memory must be zero.  What an object must be is not written in the object but
 * in the references to it, so a lost object is also noticed when its memory is intact by chance.
 *
 * A reference points anywhere from the first byte to one past the last.  An object belongs to one
 * thread at a time; handing it over needs a lock of the storm's.
 */
#ifndef TESTS_STRESS_OBJECT_H
#define TESTS_STRESS_OBJECT_H

#include "tests/stress/storm.h"

enum object_kind {
    OBJECT_BLOB,                /* pointer-free */
    OBJECT_NODE,                /* conservative, with links */
    OBJECT_ROOT_BLOB,           /* pointer-free, uncollectable */
    OBJECT_ROOT_NODE            /* conservative, uncollectable */
};

struct ref {
    char *where;                /* NULL: no object */
    uint32_t offset;            /* of where from the first byte; REF_BACK: the target is not ours */
    uint32_t size;
    uint64_t stamp;             /* the kind in its low bits */
};

#define REF_BACK 0x80000000u    /* a link that leads back into its own graph: checked, not followed */
#define REF_NONE ((struct ref){ NULL, 0, 0, 0 })

/* The first byte, and the kind. */
char *ref_base(const struct ref *ref);
enum object_kind ref_kind(const struct ref *ref);

/* The same object, pointed to at another place. */
struct ref ref_elsewhere(struct rng *rng, struct ref ref);

/* Makes an object of the kind; a node has `links` links, empty at first, and room for them.  No
 * memory: fails, or gives REF_NONE when object_may_fail is set. */
struct ref object_make(struct rng *rng, enum object_kind kind, size_t size, uint32_t links);
extern bool object_may_fail;

/* Turns memory got otherwise into an object: the caller vouches for size and kind. */
struct ref object_adopt(void *memory, enum object_kind kind, size_t size, uint32_t links);

/* Links of a node. */
uint32_t object_links(const struct ref *ref);
struct ref *object_link(const struct ref *ref, uint32_t i);

/* Fails the storm if the object is not what the reference says. */
void object_check(const struct ref *ref);

/* Fails the storm if [start, start+bytes) is not zero; large ranges are sampled. */
void object_check_zero(const char *start, size_t bytes, const char *what);

/* Checks, then frees explicitly; or reallocates to another size of the same kind. */
void object_free(struct ref ref);
struct ref object_resize(struct rng *rng, struct ref ref, size_t size);

/* A size from 1 byte to 2 MB, most of them small. */
size_t object_random_size(struct rng *rng);

/* A graph of its own, of about `bytes`: a tree, a list, a ring, or an array of references. */
struct ref graph_make(struct rng *rng, size_t bytes);

/* Checks every object; returns their bytes. */
size_t graph_check(const struct ref *ref);

/* Frees every object explicitly. */
void graph_free(struct ref ref);

/* Replaces, drops or frees some link on the way down from `ref`. */
void graph_change(struct rng *rng, const struct ref *ref, size_t bytes);

/* A message: one collectable object with a graph behind it, passed by its address alone, so that the way it passes holds the
 * only reference.  It belongs to one thread at a time. */
struct message {
    uint64_t seal;
    uint64_t style;             /* the storm's own use */
    uint64_t stream;            /* of random numbers, for the receiver */
    struct ref graph;
};

struct message *message_make(struct rng *rng, int style);

/* Fails the storm if the message, which came by the way named, is not what was made. */
void message_check(const struct message *message, const char *came_by);

#endif
