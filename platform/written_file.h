/* SPDX-License-Identifier: MIT */
/*
 * How every file is made and opened that the library and its tools write.
 *
 * In a folder that everybody may write to, such as /tmp, others know which names a program will use, and can have put
 * something there.  So a new file is made by O_EXCL, which follows no link, and only its owner may read it, as what is
 * written holds addresses.  What is there already is used in such a folder if it belongs to this user, to the folder's owner
 * or to root, whom one trusts anyway, and is no second name of a file elsewhere; in other folders it is for their
 * permissions to say who puts what there.  The kernel has settings for some of this (protected_symlinks ...), which may be
 * off.
 *
 * By raw system calls: no cancellation points, errno stays.  [any]
 */
#ifndef SGC_PLATFORM_WRITTEN_FILE_H
#define SGC_PLATFORM_WRITTEN_FILE_H

enum { SGC_WRITTEN_PATH = 4096 };       /* bytes of a path, its end included */

/* A new file, to be written.  A descriptor, or a negative error number: -EEXIST if there is something of that name. */
int sgc_written_new(const char *path, int flags);

/* What is there: a file, pipe or device.  -EPERM if somebody else has put it there. */
int sgc_written_there(const char *path, int flags);

/* What is there, or a new file, of which writing goes on behind the end. */
int sgc_written_append(const char *path);

#endif
