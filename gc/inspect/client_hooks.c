/* SPDX-License-Identifier: MIT */
/* See gc/collect/client_hooks.h.  Here, since the last room of the collector knows all the
 * others. */
#include "gc/collect/client_hooks.h"

#include "gc/api/guards.h"
#include "gc/api/hooks.h"
#include "gc/inspect/inspect.h"
#include "gc/snapshot/snapshot.h"

static void start_listening(void)
{
    sgc_client_hooks_start();
    sgc_client_checks_start();
}

static void after(void)
{
    sgc_client_after();
    sgc_client_report();
}

static size_t bytes_before_client(uintptr_t start, size_t bytes)
{
    sgc_assert(sgc_heap_contains(start));
    return sgc_debug_in_use(sgc_debug_state_of((const void *)start, bytes)) ? sizeof(struct sgc_debug_header) : 0;
}

const struct sgc_client_hooks sgc_client_hooks = {
    .start_threads = sgc_client_threads_start,
    .start_listening = start_listening,
    .start_snapshots = sgc_snapshots_start,
    .before = sgc_client_before,
    .push_roots = sgc_client_push_roots,
    .mark_more = sgc_client_mark_more,
    .pushing = sgc_client_pushing,
    .after = after,
    .toggle = sgc_client_toggle,
    .guards_used = sgc_debug_used,
    .bytes_before_client = bytes_before_client,
    .violation = sgc_api_violation,
};
