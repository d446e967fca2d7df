/* SPDX-License-Identifier: MIT */
/*
 * Heap snapshots: when one is written, and under which name.
 *
 * A snapshot is written by a cycle in one pause: it is begun when the caches are given up and
 * nothing is marked, has the heap as the program's hook leaves it, and is complete when the mark
 * is, since only the mark knows what procedures push.  SGC_SNAPSHOT asks for one in each n-th
 * collection; these are made in one pause also where collections are concurrent.  A thread asks for
 * one in the next such collection.
 *
 *   what         written by                                        read by                 ordering
 *   wanted       who asks: its request, by CAS from 0; who has     the collecting thread   release / acquire
 *                the GC lock: 0
 *   a request    who asks, before that; then who has the GC lock   who asks, with the GC   the GC lock
 *                                                                  lock
 *   process      who asks: its own, by CAS                         same, the collecting    acquire-release; then the request is
 *                                                                  thread                  none that was copied by a fork
 *   each         the thread that starts the collector; then the    any thread              relaxed
 *                collecting thread
 *   the rest     the thread that starts the collector; then the    same                    the GC lock
 *                collecting thread
 */
#ifndef SGC_GC_SNAPSHOT_SNAPSHOT_H
#define SGC_GC_SNAPSHOT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gc/snapshot/format_rules.h"

struct sgc_mutator;

/* Begins to write heap snapshots, if SGC_SNAPSHOT asks for them.  Once, at start. */
void sgc_snapshots_start(void);

/* ---- on request ---- */

struct sgc_snapshot_request {
    const char *path;
    int error;                          /* an errno, when it is done */
    bool done;
};

/* The next collection in one pause writes it.  False if another thread has asked already.  Any
 * thread, outside sections; the request's memory stays until sgc_snapshot_forget.  Begins to listen
 * to the collector's events; false, too, if there are too many listeners. */
bool sgc_snapshot_ask(struct sgc_snapshot_request *request);

/* From here on nobody looks at the request.  Takes the GC lock, if it is not the caller's. */
void sgc_snapshot_forget(struct sgc_mutator *self, struct sgc_snapshot_request *request);

/* ---- while the hook runs; nothing, if no snapshot is being written ---- */

/* It has pushed [lo, hi). */
void sgc_snapshot_put_pushed(uintptr_t lo, uintptr_t hi, bool like_data);

/* It has allocated the object. */
void sgc_snapshot_put_allocated(uintptr_t object);

/* ---- the sections that are read off the heap (gc/snapshot/heap_part.c): the caches retired, the
 * program's hook called and no marker at work ---- */

/* By enum sgc_snapshot_count. */
struct sgc_snapshot_counts {
    uint64_t of[SGC_TRAILER_COUNTS];
};

/* Puts the pages, the words and the types of their objects, allocation sites, the roots, and what
 * finalization keeps, each a section, and counts what it has put. */
void sgc_snapshot_put_contents(struct sgc_snapshot_counts *counts);

/* Puts the words of objects with their types, and what the types are, each a section
 * (gc/snapshot/words_part.c). */
void sgc_snapshot_put_words(struct sgc_snapshot_counts *counts);

/* Puts the words of [lo, hi), which are whole ones, as roots, with the address and the bytes before
 * them and 0 behind.  Returns their number. */
uint64_t sgc_snapshot_put_root_words(uintptr_t lo, uintptr_t hi);

/* ---- names (gc/snapshot/names_part.c) ---- */

/* Puts the kinds of objects, the loaded modules, and the threads, each a section. */
void sgc_snapshot_put_names(struct sgc_snapshot_counts *counts);

/* The number of the module with a segment that has the address; -1: none has. */
int sgc_snapshot_module_at(uintptr_t address);

/* Objects of the kind are called so, up to SGC_SNAPSHOT_NAME - 1 bytes of the name, which is
 * copied.  Any thread, outside sections. */
void sgc_snapshot_name_kind(uint32_t kind, const char *name);

#endif
