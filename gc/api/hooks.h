/* SPDX-License-Identifier: MIT */
/*
 * The client's view of collections: its hooks, for gc/collect/client_hooks.h, which says what each
 * function does and when it is called; and figures that only the public interface shows.
 */
#ifndef SGC_GC_API_HOOKS_H
#define SGC_GC_API_HOOKS_H

#include "gc/collect/client_hooks.h"

void sgc_client_threads_start(void);
void sgc_client_hooks_start(void);
void sgc_client_before(struct sgc_mutator *self);
void sgc_client_push_roots(struct sgc_marker *marker);
void sgc_client_mark_more(struct sgc_team *team);
void sgc_client_report(void);
bool sgc_client_pushing(void);
void sgc_client_after(void);
uintptr_t sgc_client_toggle(void *object, uintptr_t now);

/* Puts the client's hooks, and SGC_check's, where messages are made. */
void sgc_api_install_reports(void);

/* ---- figures ---- */

/* Bytes of the heap that no object has. */
size_t sgc_api_free_bytes(void);

/* Counters.  Each stands for itself: written and read relaxed.
 *
 *   measuring   the thread that begins to measure    any thread
 *   the rest    the collecting thread, at the end    any thread
 *               of a cycle
 */
struct sgc_api_counters {
    sgc_aw_t live_objects;              /* as the last cycle found them */
    sgc_aw_t reclaimed_last;            /* bytes of dead objects the last cycle found */
    sgc_aw_t reclaimed_before;          /* and those before it */
    sgc_a32_t measuring;
    sgc_aw_t measured_ns;               /* in collections, since measuring */
    sgc_aw_t stopped_ns;                /* of these, in stops, */
    sgc_aw_t stops;                     /* and their number */
};
extern struct sgc_api_counters sgc_api_counters;

#endif
