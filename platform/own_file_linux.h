/* SPDX-License-Identifier: MIT */
/*
 * Files that the collector keeps open.  A program may close all descriptors there are, as daemons
 * do, and open files of its own, which get the same numbers.  So a descriptor is asked which file
 * it is before it is used or closed.  (Between the question and the use another thread may do all
 * that; it would have to be that quick.)
 *
 * Each belongs to the caller that opens and closes it.  [any]
 */
#ifndef SGC_PLATFORM_OWN_FILE_LINUX_H
#define SGC_PLATFORM_OWN_FILE_LINUX_H

#include <stdbool.h>
#include <stdint.h>

struct sgc_own_file {
    int fd;                     /* -1: none */
    uint64_t device, inode;     /* which file it was when it was kept */
};

#define SGC_NO_FILE { .fd = -1 }

/* Moves a new descriptor above those that programs count on, and keeps it.  False, with errno and the descriptor closed:
 * the system does not say which file it is. */
bool sgc_own_file_keep(struct sgc_own_file *file, int fd);

/* Is it still that file? */
bool sgc_own_file_is(const struct sgc_own_file *file);

/* Closes it, unless it is somebody else's by now. */
void sgc_own_file_close(struct sgc_own_file *file);

#endif
