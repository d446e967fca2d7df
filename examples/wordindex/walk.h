/* SPDX-License-Identifier: MIT */
/*
 * Finds the regular files at and below the paths given and queues them, as `find -H PATHS -type f`
 * would list them: symbolic links are followed only where they are given as a path, special files
 * are skipped.  One thread.
 */
#ifndef WORDINDEX_WALK_H
#define WORDINDEX_WALK_H

#include "examples/wordindex/files.h"
#include "examples/wordindex/queue.h"

/* Returns the number of paths and folders that could not be read; a message said why. */
size_t walk(const char *const *paths, size_t count, struct files *files, struct queue *queue);

#endif
