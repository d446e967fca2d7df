/* SPDX-License-Identifier: MIT */
/*
 * Making and opening the files that the library and its tools write.
 *
 * In a folder that everybody may write to, such as /tmp, others know which names a program will
 * use, and can have put something there.  So a new file is made by O_EXCL, which follows no link,
 * and only its owner may read it, as it holds addresses.  An existing file in such a folder is used
 * if it belongs to this user, to the folder's owner or to root, whom one trusts anyway, and is no
 * second name of a file elsewhere; in other folders their permissions decide who puts something
 * there.  The kernel has settings for some of this (protected_symlinks ...), which may be off.
 *
 * By raw system calls: no cancellation points, errno stays.  [any]
 */
#ifndef SGC_PLATFORM_WRITTEN_FILE_H
#define SGC_PLATFORM_WRITTEN_FILE_H

enum { SGC_WRITTEN_PATH = 4096 };       /* bytes of a path, its end included */

/* A new file, to be written.  A descriptor, or a negative error number: -EEXIST if there is something of that name. */
int sgc_written_new(const char *path, int flags);

/* Opens an existing file, pipe or device.  A descriptor, or a negative error number: -EPERM if
 * somebody has put it there who is not trusted. */
int sgc_written_there(const char *path, int flags);

/* Opens an existing file, or makes a new one, to write behind its end.  A descriptor, or a negative
 * error number. */
int sgc_written_append(const char *path);

#endif
