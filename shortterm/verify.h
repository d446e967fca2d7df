/* SPDX-License-Identifier: MIT */
/*
 * SGC_SHORTTERM=verify: an object that has expired is kept until a collection has looked whether
 * the program can still reach it, and would break with free.
 *
 * Dates that are over wait with their threads, and are no roots.  When a collection has marked all
 * that is reachable without any date, they are taken off, but for those whose objects the program
 * wants to do something with (SGC_set_expiry_proc): these are left to their threads.
 *
 * An object whose last date that was goes to a list of those that have expired and are still there:
 * each collection looks for ways to it, until it is reclaimed, freed by hand, or has a date again.
 * The numbers of its dates note it, too (SGC_COUNT_EXPIRED), so that the thread that frees the
 * object can forget it.
 *
 *   the list   the collecting thread, world stopped            same   the GC lock
 *   the note   the collecting thread, world stopped; the       same   stopping the world
 *              thread that frees the object
 */
#ifndef SGC_SHORTTERM_VERIFY_H
#define SGC_SHORTTERM_VERIFY_H

#include "mark/team/team.h"
#include "shortterm/dates.h"

/* Marks what has dates, and says what was reachable without.  World stopped: gc/threads/upper.h. */
void sgc_verify_mark(struct sgc_team *team);

/* Of the last collection: bytes that nothing but dates has kept. */
size_t sgc_verify_kept_bytes(void);

/* ---- threads (shortterm/check.c) ---- */

/* The program is asked what it wants to do with objects whose last dates a collection has left to
 * the thread.  On it, outside sections. */
void sgc_verify_due(struct sgc_dates *d);

/* A clock of the thread has gone on: tells what was found, and checks if it is time
 * (SGC_SHORTTERM_CHECK).  On the thread, outside sections. */
void sgc_verify_tick(struct sgc_dates *d);

#endif
