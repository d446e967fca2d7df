/* SPDX-License-Identifier: MIT */
/*
 * A file that is written once, from its beginning to its end, and appears under its name when it is
 * complete.  By raw system calls: with the world stopped, and where a thread must not be cancelled.
 *
 * The file is written in the same folder under a name that nobody can know ahead; an older file
 * stays until it is replaced.  Something of that name that is no file, such as a pipe, is written
 * to directly.  platform/written_file.h says to which things SGC writes, and who may read a new
 * file.
 *
 * One thread at a time.  [any]
 */
#ifndef SGC_PLATFORM_OUT_FILE_H
#define SGC_PLATFORM_OUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/written_file.h"

enum { SGC_OUT_PATH = SGC_WRITTEN_PATH };

struct sgc_out_file {
    int fd;                             /* -1: none */
    int error;                          /* the first that there was, an errno; then nothing more is written */
    bool under_other_name;              /* it is written under the other name */
    char path[SGC_OUT_PATH], other[SGC_OUT_PATH + 48];
};

static inline bool sgc_out_ok(const struct sgc_out_file *file)
{
    return file->error >= 0 && (file->fd >= 0 || file->error != 0);
}

/* False, with the error, if it cannot be created.  sgc_out_close must follow in any case. */
bool sgc_out_open(struct sgc_out_file *file, const char *path);

/* False after an error, this one or one before. */
bool sgc_out_write(struct sgc_out_file *file, const void *data, size_t bytes);

/* Gives it its name; after an error, removes it.  0, or the error. */
int sgc_out_close(struct sgc_out_file *file);

#endif
