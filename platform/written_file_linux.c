/* SPDX-License-Identifier: MIT */
/* See platform/written_file.h. */
#include "platform/written_file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/report.h"
#include "platform/syscall_linux.h"

enum { ALWAYS = O_WRONLY | O_CLOEXEC | O_NOCTTY };

int sgc_written_new(const char *path, int flags)
{
    return (int)sgc_syscall(SYS_openat, AT_FDCWD, (long)path, ALWAYS | O_CREAT | O_EXCL | O_NOFOLLOW | flags, 0600);
}

/* ---- whose it is ---- */

/* 0, or a negative error number. */
static int ask_folder_of(const char *path, struct stat *status)
{
    char folder[SGC_WRITTEN_PATH];
    const char *slash = strrchr(path, '/');
    size_t length = slash != NULL ? (size_t)(slash - path) : 0;

    if (length >= sizeof folder)
        return -ENAMETOOLONG;
    memcpy(folder, path, length);
    folder[length] = '\0';
    if (length == 0)
        strcpy(folder, slash == NULL ? "." : "/");
    return (int)sgc_syscall(SYS_newfstatat, AT_FDCWD, (long)folder, (long)status, 0);
}

static bool is_trusted(const struct stat *status, const struct stat *folder)
{
    uid_t self = (uid_t)sgc_syscall(SYS_geteuid, 0, 0, 0, 0);

    if ((folder->st_mode & S_IWOTH) == 0)
        return true;
    return (status->st_uid == self || status->st_uid == 0 || status->st_uid == folder->st_uid) &&
           (!S_ISREG(status->st_mode) || status->st_nlink == 1);
}

/* Not another file, which somebody has put there since. */
static bool is_the_same(int fd, const struct stat *seen)
{
    struct stat opened;

    return S_ISLNK(seen->st_mode) || (sgc_syscall(SYS_fstat, fd, (long)&opened, 0, 0) == 0 && opened.st_dev == seen->st_dev &&
                                      opened.st_ino == seen->st_ino);
}

/* A link that is trusted leads where its owner wants.  Without O_NONBLOCK the opening of a pipe would wait for a reader;
 * writing waits. */
int sgc_written_there(const char *path, int flags)
{
    struct stat seen, folder;
    int fd, result = (int)sgc_syscall(SYS_newfstatat, AT_FDCWD, (long)path, (long)&seen, AT_SYMLINK_NOFOLLOW);

    sgc_assert((flags & ~O_APPEND) == 0);
    if (result == 0)
        result = ask_folder_of(path, &folder);
    if (result != 0)
        return result;
    if (!is_trusted(&seen, &folder))
        return -EPERM;
    fd = (int)sgc_syscall(SYS_openat, AT_FDCWD, (long)path,
                          ALWAYS | O_NONBLOCK | (S_ISLNK(seen.st_mode) ? 0 : O_NOFOLLOW) | flags, 0);
    if (fd < 0)
        return fd;
    if (!is_the_same(fd, &seen)) {
        sgc_syscall(SYS_close, fd, 0, 0, 0);
        return -EPERM;
    }
    sgc_syscall(SYS_fcntl, fd, F_SETFL, flags, 0);
    return fd;
}

/* Others may make or remove it meanwhile, as processes do that begin at the same time. */
int sgc_written_append(const char *path)
{
    int fd = -ENOENT;

    for (int tries = 0; tries < 3 && fd == -ENOENT; tries++) {
        fd = sgc_written_there(path, O_APPEND);
        if (fd == -ENOENT)
            fd = sgc_written_new(path, O_APPEND);
        if (fd == -EEXIST)
            fd = tries < 2 ? -ENOENT : -EEXIST;
    }
    return fd;
}
