/* SPDX-License-Identifier: MIT */
/*
 * SGC_write_heap_snapshot.  On any mutator: the collection that it asks for writes the snapshot, if no other is sooner.
 */
#include "gc/api/internal.h"

#include <errno.h>

#include "gc/snapshot/snapshot.h"

static int error_of(enum sgc_collect_result result)
{
    sgc_assert((unsigned)result <= SGC_COLLECT_NESTED);
    return result == SGC_COLLECT_DISABLED ? EPERM : result == SGC_COLLECT_NESTED ? EDEADLK : EAGAIN;
}

int SGC_write_heap_snapshot(const char *path)
{
    struct sgc_snapshot_request request = { .path = path, .done = false };
    enum sgc_collect_result result;
    int error;

    if (path == NULL || path[0] == '\0')
        return EINVAL;
    error = sgc_api_collect_for(&request, sgc_callers_stack_pointer(), &result);
    sgc_assert(request.error == 0 || request.done);
    if (request.done)
        return request.error;
    return error != 0 ? error : error_of(result);
}
