/* SPDX-License-Identifier: MIT */
/*
 * Descriptors, and the procedures of clients that mark what their objects point at.
 *
 * Descriptors, procedures and the entries that these push are part of the ABI: the public header
 * has them, too, and gc/api/kinds.c asserts that both agree.
 *
 *   what            written by                            read by      ordering
 *   count           who adds a procedure: atomic add      same         none: it only gives out numbers
 *   of[n]           who has got the number n: once        markers      release / acquire
 *   complaint.what  markers: compare-and-swap from        who tells    release / acquire; then the rest of it is there
 *                   nothing, then what it is; who tells
 *                   the client: back to nothing
 */
#ifndef SGC_MARK_MARK_PROCS_H
#define SGC_MARK_MARK_PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/atomics.h"
#include "platform/compiler.h"

/* The lowest bits of a descriptor say what the others are. */
enum {
    SGC_DS_LENGTH = 0,          /* all of it: the bytes of words to scan, from the start */
    SGC_DS_BITMAP = 1,          /* which words, the highest bit being the first one's */
    SGC_DS_PROC = 2,            /* a procedure's number, and above it a number for the procedure */
    SGC_DS_PER_OBJECT = 3,      /* where the descriptor is: at that distance in the object; or, if it is negative, from
                                 * where the object's first word points */
    SGC_DS_TAGS = 3,
    SGC_DS_TAG_BITS = 2,
    SGC_DS_PROC_BITS = 6,
    SGC_DS_BIAS = 16,           /* a distance of 0 from there is -16, so that all are negative */
    SGC_MARK_PROCS = 1 << SGC_DS_PROC_BITS,
    SGC_MARK_PROCS_RESERVED = 8,
    SGC_MARK_PROCS_OWN = SGC_MARK_PROCS - 2,    /* from here on: mark/layouts.h */
};

/* An entry that a procedure pushes.  The client's struct, of the other name, does not show its
 * contents. */
struct GC_ms_entry;
struct sgc_client_entry {
    uintptr_t start;
    uintptr_t descriptor;
};

/* Of the buffer that a procedure gets.  Entry 0 is below its stack. */
enum { SGC_CLIENT_ENTRIES = 256 };

typedef struct GC_ms_entry *(*sgc_mark_proc_t)(unsigned long *object, struct GC_ms_entry *top, struct GC_ms_entry *limit,
                                               unsigned long environment);

/* A new procedure's number; SGC_MARK_PROCS if there can be no more.  Any thread, any time. */
uint32_t sgc_mark_proc_add(sgc_mark_proc_t proc);

/* The procedure of that number from now on.  False if it is neither reserved nor given out. */
bool sgc_mark_proc_set(uint32_t number, sgc_mark_proc_t proc);

/* NULL if there is none. */
sgc_mark_proc_t sgc_mark_proc_at(uint32_t number);

/* ---- what went wrong ---- */

enum sgc_mark_fault {
    SGC_FINE,
    SGC_NO_PROCEDURE,
    SGC_BAD_LENGTH,
    SGC_BAD_PLACE,              /* of a descriptor */
    SGC_BAD_STACK,              /* a procedure returned it */
    SGC_BAD_ENTRY,              /* a procedure pushed it */
    SGC_UNEVEN_ENTRY,           /* a procedure pushed it, from between two words */
    SGC_NO_LAYOUT,
    SGC_NO_ROOM,                /* for what a procedure pushed */
    SGC_MARK_FAULTS,
};

/* On a marker: notes that something is wrong, to be told when the world runs. */
void sgc_record_fault(enum sgc_mark_fault what, uintptr_t start, uintptr_t descriptor);

/* World running, on the collecting thread: tells what was noted, each complaint once. */
void sgc_report_faults(void);

#endif
