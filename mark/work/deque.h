/* SPDX-License-Identifier: MIT */
/*
 * The mark deque: a marker's stack of work, from whose lower end other markers may steal.
 *
 *      0 ......... bottom ......... watermark ......... top
 *        stolen           public              private
 *
 * The owner pushes and pops above the watermark without synchronisation.  Thieves take from the
 * bottom.  The owner moves the watermark up when the public part has run dry (share), and down when
 * the private part has (reclaim).  Two forms ([Endo] 3.3 and [Lace]) differ in how the public part
 * changes: the split form by one compare-and-swap, the locked form under a lock.
 *
 * `word` holds the public part: bottom, length and a tag.  Public pieces are never written.  The
 * owner changes the tag whenever a place below the watermark becomes writable again: when it takes
 * pieces back, and when it begins anew further down because all is stolen.  [Lace] needs no such
 * thing, since there a task stays where it is until it is joined.  A new beginning goes into the
 * word only with the next share: until then its length is 0, and nobody but the owner changes a
 * word whose length is 0.
 *
 *   what                written by                      read by       ordering
 *   memory, top,        its owner; whoever makes        same          none: one thread at a time; others see nothing
 *   watermark, deepest, sure that there is no thief                   of it.  The owner may be another thread from now
 *   tag                                                               on, if that acquires what the last one released
 *   a piece             its owner, in a place at or     its owner     own order: it alone writes
 *                       above the watermark             thieves       relaxed, between an acquire load of the word and
 *                                                                     their compare-and-swap of it: steps 1 to 3 below
 *   word, split form    owner, length 0: store          owner,        store-release by the owner: pieces that become
 *                       owner, thieves, length > 0:     thieves       public are seen by whoever sees that they are.
 *                       compare-and-swap                              Acquire-release for thieves: whoever sees that
 *                                                                     they took them, has them behind it that they read
 *   word, locked form   whoever holds the lock          holders,      the lock; where the owner looks without it,
 *                                                     lookers       before it uses places again, release and acquire
 *   entries, form       at the start                    anybody       the markers' start
 *
 * Why each piece goes to exactly one marker (split form).
 *  1. No two values of the word are equal while one of them can still be expected by a thief.  With
 *     one tag, the owner only adds to an empty public part, so bottom never falls, and while it
 *     stays the length rises once, from 0: each (bottom, length) comes up once.  A tag comes back
 *     after 2^24 changes; a thief would have to sleep through that many between two instructions
 *     and find bottom and length as they were.
 *  2. A thief that succeeds read its pieces in the time their places were public.  Not before: its
 *     acquire load of the word reads from the owner's store-release or from compare-and-swaps
 *     behind it, which continue that release, and the pieces were written before.  Not after: a
 *     place is written again only when the owner has read a word in which the place is not public
 *     (by an acquire load, or by a compare-and-swap that succeeded).  By (1) the thief's
 *     compare-and-swap comes earlier in the order of the word, all between are compare-and-swaps,
 *     which continue its release, so its reads happen before that write.
 *  3. Of two that expect the same value one fails; it has kept nothing: a thief copies into places
 *     above its own top.
 * Every access to these variables stands under its name in tests/unit/mark/work/test_deque_order.c,
 * with what happens when it is weaker.
 */
#ifndef SGC_MARK_WORK_DEQUE_H
#define SGC_MARK_WORK_DEQUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mark/work/futex_lock.h"
#include "mark/work/steal_rules.h"
#include "mark/work/deque_memory.h"
#include "platform/atomics.h"
#include "platform/report.h"

enum sgc_stack_form { SGC_STACK_SPLIT, SGC_STACK_LOCKED };

/* A piece of work where thieves can read it. */
struct sgc_deque_entry {
    sgc_aw_t start, bytes;
};

_Static_assert(sizeof(struct sgc_deque_entry) == sizeof(struct sgc_work), "a stack's memory counts in pieces");

struct sgc_deque {
    /* its owner's */
    _Alignas(64) struct sgc_stack_memory memory;
    size_t top;
    size_t watermark;
    size_t deepest;             /* the highest top that was popped from, since the owner last
                                 * cleared it */
    uintptr_t tag;              /* of the next word */
    /* shared */
    _Alignas(64) sgc_aw_t word;
    struct sgc_futex_lock lock; /* locked form */
    enum sgc_stack_form form;
    struct sgc_deque_entry *entries;  /* memory.base again: thieves touch only this line */
};

_Static_assert(sizeof(struct sgc_deque) == 128, "two lines");

/* Do the fields that only the owner writes agree?  On the owner, or while there is no thief. */
static inline bool sgc_deque_ok(const struct sgc_deque *d)
{
    return sgc_stack_memory_ok(&d->memory) && d->entries == d->memory.base && d->watermark <= d->top &&
           d->top <= d->memory.committed;
}

/* ---- the word ---- */

enum {
    SGC_BOTTOM_BITS = 28,
    SGC_LENGTH_BITS = 12,
    SGC_TAG_BITS = 24,
};

static const size_t SGC_DEQUE_MAX = ((size_t)1 << SGC_BOTTOM_BITS) - 1;    /* pieces: just under 4 GB */

_Static_assert(SGC_BOTTOM_BITS + SGC_LENGTH_BITS + SGC_TAG_BITS == 64, "one word");
_Static_assert(SGC_PUBLIC_MAX < 1 << SGC_LENGTH_BITS, "a public part fits in its length");

static inline uintptr_t sgc_public(size_t bottom, size_t length, uintptr_t tag)
{
    sgc_assert(bottom >> SGC_BOTTOM_BITS == 0 && length >> SGC_LENGTH_BITS == 0 && tag >> SGC_TAG_BITS == 0);
    return bottom | (uintptr_t)length << SGC_BOTTOM_BITS | tag << (SGC_BOTTOM_BITS + SGC_LENGTH_BITS);
}

static inline size_t sgc_public_bottom(uintptr_t word)
{
    return word & (((uintptr_t)1 << SGC_BOTTOM_BITS) - 1);
}

static inline size_t sgc_public_length(uintptr_t word)
{
    return word >> SGC_BOTTOM_BITS & (((uintptr_t)1 << SGC_LENGTH_BITS) - 1);
}

static inline uintptr_t sgc_public_tag(uintptr_t word)
{
    return word >> (SGC_BOTTOM_BITS + SGC_LENGTH_BITS);
}

/* ---- places ---- */

static inline void sgc_deque_entry_set(struct sgc_deque_entry *place, uintptr_t start, size_t bytes)
{
    sgc_aw_store(&place->start, start);
    sgc_aw_store(&place->bytes, bytes);
}

static inline void sgc_deque_entry_get(const struct sgc_deque_entry *place, struct sgc_work *work)
{
    work->start = sgc_aw_load(&place->start);
    work->bytes = sgc_aw_load(&place->bytes);
}

static inline void sgc_deque_entry_copy(struct sgc_deque_entry *to, const struct sgc_deque_entry *from)
{
    struct sgc_work work;

    sgc_deque_entry_get(from, &work);
    sgc_deque_entry_set(to, work.start, work.bytes);
}

/* ---- the owner ---- */

/* bytes: memory it may use, as for sgc_stack_memory_init.  False if there is none.  Outside
 * sections. */
bool sgc_deque_init(struct sgc_deque *d, size_t bytes, enum sgc_stack_form form);
void sgc_deque_release(struct sgc_deque *d);

/* The slow ways of pushing, popping and sharing, which call them.  room: the pieces, at
 * most `wanted`, that there is room for. */
size_t sgc_deque_room(struct sgc_deque *d, size_t wanted);
bool sgc_deque_reclaim(struct sgc_deque *d);
bool sgc_deque_publish(struct sgc_deque *d);

/* The owner's way to a place; it touches only the owner's line. */
static inline struct sgc_deque_entry *sgc_deque_own(const struct sgc_deque *d, size_t i)
{
    return (struct sgc_deque_entry *)d->memory.base + i;
}

/* False when there is no memory: the caller flags the page instead. */
static inline bool sgc_deque_push(struct sgc_deque *d, uintptr_t start, size_t bytes)
{
    if (__builtin_expect(d->top == d->memory.committed, 0) && sgc_deque_room(d, 1) == 0)
        return false;
    sgc_deque_entry_set(sgc_deque_own(d, d->top++), start, bytes);
    return true;
}

/* For pushing up to `count` pieces at once: the places for them, NULL when there is no memory for
 * so many; and how many were written.  Nothing is pushed or popped in between. */
static inline struct sgc_deque_entry *sgc_deque_entries(struct sgc_deque *d, size_t count)
{
    if (__builtin_expect(d->memory.committed - d->top < count, 0) && sgc_deque_room(d, count) < count)
        return NULL;
    return sgc_deque_own(d, d->top);
}

static inline void sgc_deque_pushed(struct sgc_deque *d, size_t count)
{
    sgc_assert(count <= d->memory.committed - d->top);
    d->top += count;
}

/* Pieces that can be popped without taking back what is public; and for popping several of these at
 * once: the one that is popped first is just below the end. */
static inline size_t sgc_deque_private(const struct sgc_deque *d)
{
    return d->top - d->watermark;
}

static inline const struct sgc_deque_entry *sgc_deque_end(const struct sgc_deque *d)
{
    return sgc_deque_own(d, d->top);
}

static inline void sgc_deque_popped(struct sgc_deque *d, size_t count)
{
    sgc_assert(count <= d->top - d->watermark);
    if (d->top > d->deepest)
        d->deepest = d->top;
    d->top -= count;
}

/* The piece pushed last, of those not stolen. */
static inline bool sgc_deque_pop(struct sgc_deque *d, struct sgc_work *work)
{
    if (__builtin_expect(d->top == d->watermark, 0) && !sgc_deque_reclaim(d))
        return false;
    if (d->top > d->deepest)
        d->deepest = d->top;
    sgc_deque_entry_get(sgc_deque_own(d, --d->top), work);
    return true;
}

/* Anybody's look at the public part; it may be out of date at once. */
static inline bool sgc_deque_seems_empty(const struct sgc_deque *d)
{
    return sgc_public_length(sgc_aw_load(&d->word)) == 0;
}

/* Between pieces of work, when other markers run: makes pieces public if none are.  True if it
 * did. */
static inline bool sgc_deque_share(struct sgc_deque *d)
{
    return d->top - d->watermark >= SGC_SHARE_MIN && sgc_deque_seems_empty(d) && sgc_deque_publish(d);
}

/* Nothing private, nothing public. */
static inline bool sgc_deque_empty(const struct sgc_deque *d)
{
    return d->top == d->watermark && sgc_deque_seems_empty(d);
}

/* Makes all public pieces that are not stolen private again.  There may be thieves. */
void sgc_deque_take_back(struct sgc_deque *d);

/* Forgets all work that is not stolen.  There may be thieves. */
void sgc_deque_reset(struct sgc_deque *d);

/* Of an empty deque: gives back what a deep mark committed, keeping a little.  Outside pauses. */
void sgc_deque_trim(struct sgc_deque *d);

/* Bytes of it that are in memory. */
size_t sgc_deque_resident(const struct sgc_deque *d);

/* Is it as it must be between the owner's operations?  There may be thieves. */
bool sgc_deque_sound(const struct sgc_deque *d);

/* ---- thieves ---- */

/* Moves some of the victim's public pieces, at most SGC_BATCH_MAX, to the private part of the
 * calling marker's deque.  0 if it got none: nothing was public, somebody else was faster, or there
 * is no memory to keep them. */
size_t sgc_deque_steal(struct sgc_deque *victim, struct sgc_deque *thief, enum sgc_steal how);

#endif
