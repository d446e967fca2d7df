/* SPDX-License-Identifier: MIT */
/*
 * The allocation profile: SGC_PROFILE, and what the program asks for.  Which objects are samples is
 * decided in alloc/small/sampling.h; here the stack of a sample is taken, and profiles are written.
 *
 *   what             written by                              read by             ordering
 *   asked            the signal's handler, any thread        any mutator         a CAS takes it
 *   the settings     at start; later with the GC lock        with the GC lock    the GC lock
 *   copy             the collecting thread                   the same            world stopped, then the GC lock
 */
#ifndef SGC_GC_PROFILE_PROFILE_H
#define SGC_GC_PROFILE_PROFILE_H

#include "gc/threads/mutator.h"

/* SGC_PROFILE: before the first thread is registered. */
void sgc_profile_start(void);

/* An object that the calling thread has just allocated, and nobody else knows, is a sample: notes
 * where.  `entry`: where the client's frames begin.  Outside sections. */
void sgc_profile_take(struct sgc_mutator *self, void *object, uintptr_t entry);

/* Writes a profile into the file.  0, or an errno: ENODATA: no samples are taken, nor were any.
 * With the GC lock, world running. */
int sgc_profile_write(struct sgc_mutator *self, const char *path);

/* A sample in so many bytes from now on; 0: none.  False: there is no memory for them.  World
 * stopped by the caller. */
bool sgc_profile_set_rate(size_t bytes);

/* The last one, when the program ends.  With the GC lock, world running. */
void sgc_profile_at_exit(struct sgc_mutator *self);

extern sgc_a32_t sgc_profile_asked;

/* The signal has come. */
void sgc_profile_write_asked(struct sgc_mutator *self);

/* On a mutator that may take the GC lock, outside sections. */
static inline void sgc_profile_poll(struct sgc_mutator *self)
{
    if (__builtin_expect(sgc_a32_load(&sgc_profile_asked) != 0, 0))
        sgc_profile_write_asked(self);
}

#endif
