/* SPDX-License-Identifier: MIT */
/*
 * The sharing pool ([SCM-C] 5.3.3): one thread puts objects there, and each thread that has not ended its work, that one
 * included, fetches each of them once.  All of it is under one lock.
 *
 * An object's users are counted from the moment it is put there, not as threads fetch it: a thread that has fetched it and
 * whose life of it is over would otherwise be the last user while another is still to come.
 */
#ifndef ACDC_SHARE_H
#define ACDC_SHARE_H

#include "bench/acdc/buffers.h"

/* Main thread, before there are others. */
void share_begin(long threads);

/* All references of the list, which is empty then. */
void share_put(struct list *list);

/* What thread `id` has not fetched yet goes to the end of `list`; how many that are. */
long share_fetch(long id, struct arena *arena, struct list *list);

/* The same for the last time: what comes later is none of its business. */
long share_leave(long id, struct arena *arena, struct list *list);

#endif
