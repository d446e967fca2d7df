/* SPDX-License-Identifier: MIT */
/*
 * References that only a mark learns of: entries that clients' procedures push, objects that the
 * client marks by hand, and others that cannot be read off the heap.  A mark tells them to the
 * noter, if there is one: gc/snapshot/snapshot.c.
 *
 *   what        written by                             read by       ordering
 *   sgc_noter   who has stopped the world, before      markers       release / acquire
 *               markers begin and when they have ended
 *   the lock    a marker, for one note or as long as   same          acquire / release
 *               a procedure of the client's runs
 */
#ifndef SGC_MARK_NOTED_H
#define SGC_MARK_NOTED_H

#include <stdbool.h>
#include <stdint.h>

#include "mark/work/futex_lock.h"
#include "platform/atomics.h"
#include "platform/compiler.h"

enum sgc_noted {
    SGC_NOTED_OBJECT,           /* the object that the address is in leads to the words that follow,
                                   up to the end, */
    SGC_NOTED_ENTRY,            /* or memory that a procedure has pushed for another to look at */
    SGC_NOTED_WORD,             /* counts as a word of the heap does */
    SGC_NOTED_END,
    SGC_NOTED_BY_HAND,          /* the object there has been marked, and its contents are not looked
                                   at ... */
    SGC_NOTED_CONTENTS,         /* ... unless this comes, too: those of the object there are */
};

/* On any marker, the lock held. */
typedef void (*sgc_noter_t)(enum sgc_noted what, uintptr_t word);

SGC_INNER sgc_aw_t sgc_noter;           /* 0: there is none */
SGC_INNER struct sgc_futex_lock sgc_noted_lock;

static inline bool sgc_noting(void)
{
    return __builtin_expect(sgc_aw_load_acq(&sgc_noter) != 0, 0);
}

/* Sets the noter; NULL: there is none from now on.  World stopped, no marker at work; the caller
 * has seen all notes by then. */
void sgc_noter_set(sgc_noter_t noter);

/* Tells the noter; the caller holds the lock. */
void sgc_note(enum sgc_noted what, uintptr_t word);

/* Takes the lock, and tells the noter. */
void sgc_note_alone(enum sgc_noted what, uintptr_t word);

#endif
