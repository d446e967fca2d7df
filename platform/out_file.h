/* SPDX-License-Identifier: MIT */
/*
 * The files that the library and its tools write.  By raw system calls: with the world stopped, and
 * where a thread must not be cancelled; errno stays.  [any]
 *
 * In a folder that everybody may write to, such as /tmp, others know which names a program will
 * use, and can have put something there.  So a new file is made by O_EXCL, which follows no link,
 * and only its owner may read it, as it holds addresses.  An existing file in such a folder is used
 * if it belongs to this user, to the folder's owner or to root, whom one trusts anyway, and is no
 * second name of a file elsewhere; in other folders their permissions decide who puts something
 * there.  The kernel has settings for some of this (protected_symlinks ...), which may be off.
 */
#ifndef SGC_PLATFORM_OUT_FILE_H
#define SGC_PLATFORM_OUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SGC_OUT_PATH = 4096 };           /* bytes of a path, its end included */

/* A new file, to be written.  A descriptor, or a negative error number: -EEXIST if there is
 * something of that name. */
int sgc_out_new(const char *path, int flags);

/* Opens an existing file, or makes a new one, to write behind its end.  A descriptor, or a negative
 * error number: -EPERM if somebody has put it there who is not trusted. */
int sgc_out_append(const char *path);

/*
 * A file that is written once, from its beginning to its end, and appears under its name when it is
 * complete.  It is written in the same folder under a name that nobody can know ahead; an older
 * file stays until it is replaced.  Something of that name that is no file, such as a pipe, is
 * written to directly.  One thread at a time.
 */
struct sgc_out_file {
    int fd;                             /* -1: none */
    int error;                          /* the first that there was, an errno; then nothing more is
                                           written */
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
