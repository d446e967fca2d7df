/* SPDX-License-Identifier: MIT */
/*
 * SGC_write_heap_snapshot.  On any mutator: the collection that it asks for writes the snapshot, if no other is sooner.
 */
#include "gc/api/internal.h"

#include <errno.h>

#include "gc/collect/cycle.h"
#include "gc/finalize/finalize.h"
#include "gc/snapshot/snapshot.h"

struct wish {
    struct sgc_snapshot_request request;
    uintptr_t entry;
    int error;                          /* if it was not written */
};

static int error_of(enum sgc_collect_result result)
{
    sgc_assert((unsigned)result <= SGC_COLLECT_NESTED);
    return result == SGC_COLLECT_DISABLED ? EPERM : result == SGC_COLLECT_NESTED ? EDEADLK : EAGAIN;
}

/* The client's frames are above `sp`, with its registers. */
static void collect_from(void *arg, uintptr_t sp)
{
    struct wish *w = arg;
    struct sgc_mutator *self = sgc_api_self();

    sgc_assert(sp != 0 && w->entry != 0);
    if (self == NULL)
        return;
    sgc_gc_lock_recover(self, w->entry);
    w->error = EBUSY;
    if (sgc_snapshot_ask(&w->request)) {
        w->error = error_of(sgc_collect_from(self, SGC_REASON_EXPLICIT, NULL, sp));
        sgc_snapshot_forget(self, &w->request);
    }
    sgc_stack_clear_deep();
    sgc_finalizers_poll(self, w->entry);
}

int SGC_write_heap_snapshot(const char *path)
{
    struct wish wish = { .request = { .path = path }, .entry = sgc_callers_stack_pointer(), .error = ENOMEM };

    if (path == NULL || path[0] == '\0')
        return EINVAL;
    sgc_with_registers(collect_from, &wish);
    sgc_assert(wish.request.error == 0 || wish.request.done);
    return wish.request.done ? wish.request.error : wish.error;
}
