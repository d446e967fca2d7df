/* SPDX-License-Identifier: MIT */
/*
 * An allocation profile as a message of profile.proto, which pprof and its relatives read: four
 * values of each site (objects and bytes, allocated and in use), its stack, and labels with the
 * objects' size and kind.  Modules are named with their build ids, functions by nobody: the reader
 * finds their names.
 */
#ifndef SGC_GC_PROFILE_ENCODE_H
#define SGC_GC_PROFILE_ENCODE_H

#include "gc/profile/sites.h"
#include "platform/platform.h"
#include "platform/pprof.h"

struct sgc_profile_facts {
    uint64_t time_ns;                   /* since 1970 */
    uint64_t duration_ns;               /* since samples were first taken */
    uint64_t rate;                      /* now */
    const char *comment;
};

/* Adds the message to what is in the buffer.  While the loader's list is locked. */
void sgc_profile_encode(struct sgc_pprof_buffer *out, const struct sgc_sites_copy *copy, const struct sgc_modules *modules,
                        const struct sgc_profile_facts *facts);

#endif
