/* SPDX-License-Identifier: MIT */
/* The program's part in the allocation profile (gc/profile/profile.h): sgc.h. */
#include "gc/api/api.h"

#include <errno.h>

#include "gc/collect/external_stop.h"
#include "gc/profile/profile.h"
#include "gc/threads/gc_lock.h"

/* The calling thread, if it may take the GC lock; otherwise why not. */
static struct sgc_mutator *self_or(uintptr_t entry, int *error)
{
    struct sgc_mutator *self = sgc_api_self();

    *error = self == NULL ? ENOMEM : sgc_stopped_by_self() || sgc_gc_lock_recover(self, entry) ? EDEADLK : 0;
    return *error == 0 ? self : NULL;
}

int SGC_write_profile(const char *path)
{
    int error;
    struct sgc_mutator *self;
    bool closed;

    if (path == NULL || path[0] == '\0')
        return EINVAL;
    self = self_or(sgc_callers_stack_pointer(), &error);
    if (self == NULL)
        return error;
    closed = sgc_gc_lock_enter(self);
    error = sgc_profile_write(self, path);
    sgc_gc_lock_leave(closed);
    return error;
}

int SGC_set_profile_rate(size_t bytes)
{
    int error;
    struct sgc_mutator *self = self_or(sgc_callers_stack_pointer(), &error);

    if (bytes > PTRDIFF_MAX)
        return EINVAL;
    if (self == NULL)
        return error;
    if (!sgc_external_stop(self))
        return EAGAIN;
    error = sgc_profile_set_rate(bytes) ? 0 : ENOMEM;
    sgc_external_resume(self);
    return error;
}
