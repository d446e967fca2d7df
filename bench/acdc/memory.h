/* SPDX-License-Identifier: MIT */
/*
 * The memory that ACDC runs on: one of these structures, chosen by --memory; each is a file memory_NAME.c.  Nothing else of
 * ACDC knows where objects come from.
 *
 * In the persistent model an object lives until ACDC releases it, or, where `release` is NULL, until a collector finds that
 * nothing leads to it.  In the short-term model ACDC refreshes what it still needs and ticks; a memory that cannot do that has
 * NULL there.
 *
 * Apart from begin, end, report and managed everything is called by the mutators, by each for itself.
 */
#ifndef ACDC_MEMORY_H
#define ACDC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct options;

struct managed {
    long long bytes, objects;           /* allocated and not reclaimed yet, as the memory knows; -1: it does not */
};

struct memory {
    const char *name;

    /* Starts it; NULL, or why it cannot be had here. */
    const char *(*begin)(const struct options *options);
    void (*thread_begin)(void);         /* before the thread's first allocation */
    void (*thread_end)(void);           /* after its last */

    void *(*allocate)(size_t bytes);
    void *(*allocate_shared)(size_t bytes);
    void (*release)(void *object);

    void (*refresh)(void *object, unsigned extension);
    void (*refresh_global)(void *object, unsigned extension);
    void (*tick)(void);
    void (*tick_global)(void);
    void (*leave_time)(void);           /* the thread is going to wait */
    void (*join_time)(void);
    void (*expire_all)(void);           /* takes off all dates of the thread that are over */
    void (*settle)(void);               /* all have done so: the time to look at figures, by one thread; may be NULL */

    /* ACDC keeps its references there; NULL: only dates or release decide. */
    void (*add_roots)(void *low, void *high);

    /* What the block really has; NULL: the bytes that were asked for. */
    size_t (*size_of)(void *object);

    /* While mutators run; NULL: what ACDC has allocated and not released. */
    struct managed (*managed)(long long allocated_bytes, long long allocated_objects);

    /* Bytes that it has from the system for objects, used or free; NULL: it does not say. */
    size_t (*heap)(void);

    size_t (*collections)(void);        /* up to now; NULL: it is no collector */

    /* All mutators have ended: how many objects are still there, which should be none; -1: it cannot say. */
    long long (*kept)(void);
    void (*report)(void);               /* figures of its own */
};

extern struct memory memory_malloc, memory_gc, memory_gc_free, memory_shortterm, memory_scm, memory_none;

/* The memory of that name, or NULL. */
struct memory *memory_named(const char *name);

#endif
