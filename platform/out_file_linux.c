/* SPDX-License-Identifier: MIT */
/* See platform/out_file.h. */
#include "platform/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/report.h"
#include "platform/syscall_linux.h"

enum { HERE = AT_FDCWD };

/* ---- making and opening files ---- */

enum { ALWAYS = O_WRONLY | O_CLOEXEC | O_NOCTTY };

int sgc_out_new(const char *path, int flags)
{
    sgc_assert(path != NULL && (flags & ~O_APPEND) == 0);
    return (int)sgc_syscall(SYS_openat, HERE, (long)path, ALWAYS | O_CREAT | O_EXCL | O_NOFOLLOW | flags, 0600);
}

/* ---- whose it is ---- */

/* 0, or a negative error number. */
static int ask_folder_of(const char *path, struct stat *status)
{
    char folder[SGC_OUT_PATH];
    const char *slash = strrchr(path, '/');
    size_t length = slash != NULL ? (size_t)(slash - path) : 0;

    if (length >= sizeof folder)
        return -ENAMETOOLONG;
    memcpy(folder, path, length);
    folder[length] = '\0';
    if (length == 0)
        strcpy(folder, slash == NULL ? "." : "/");
    return (int)sgc_syscall(SYS_newfstatat, HERE, (long)folder, (long)status, 0);
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

/* A link that is trusted leads where its owner wants.  Without O_NONBLOCK the opening of a pipe
 * would wait for a reader; writing waits. */
static int open_existing(const char *path, int flags)
{
    struct stat seen, folder;
    int fd, result = (int)sgc_syscall(SYS_newfstatat, HERE, (long)path, (long)&seen, AT_SYMLINK_NOFOLLOW);

    sgc_assert((flags & ~O_APPEND) == 0);
    if (result == 0)
        result = ask_folder_of(path, &folder);
    if (result != 0)
        return result;
    if (!is_trusted(&seen, &folder))
        return -EPERM;
    fd = (int)sgc_syscall(SYS_openat, HERE, (long)path,
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
int sgc_out_append(const char *path)
{
    int fd = -ENOENT;

    sgc_assert(path != NULL);
    for (int tries = 0; tries < 3 && fd == -ENOENT; tries++) {
        fd = open_existing(path, O_APPEND);
        if (fd == -ENOENT)
            fd = sgc_out_new(path, O_APPEND);
        if (fd == -EEXIST)
            fd = tries < 2 ? -ENOENT : -EEXIST;
    }
    return fd;
}

/* ---- a file that appears when it is complete ---- */

/* The first error stays. */
static bool fail(struct sgc_out_file *file, long error)
{
    sgc_assert(error > 0);
    if (file->error == 0)
        file->error = (int)error;
    return false;
}

/* Of a negative result of a system call. */
static bool refused(struct sgc_out_file *file, long result)
{
    sgc_assert(result < 0);
    return fail(file, -result);
}

/* The type of the file at `path`: S_IFREG, S_IFDIR ...; 0: none is found. */
static mode_t type_of(const char *path)
{
    struct stat status;

    return sgc_syscall(SYS_newfstatat, HERE, (long)path, (long)&status, 0) == 0 ? status.st_mode & S_IFMT : 0;
}

/* By a number of the system's, or where it gives none, as early after its start, by what the clock
 * and the stack say. */
static void name_other(struct sgc_out_file *file)
{
    struct timespec now = { 0, 0 };
    uint64_t number = 0;

    if (sgc_syscall(SYS_getrandom, (long)&number, sizeof number, GRND_NONBLOCK, 0) != sizeof number) {
        sgc_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0);
        number = ((uint64_t)now.tv_nsec ^ (uintptr_t)&now) * UINT64_C(0x9e3779b97f4a7c15);
    }
    sgc_format(file->other, sizeof file->other, "%s.%ld.%lx.part", file->path, sgc_syscall(SYS_getpid, 0, 0, 0, 0),
               (unsigned long)(number >> 32));
}

bool sgc_out_open(struct sgc_out_file *file, const char *path)
{
    mode_t type;
    int fd;

    sgc_assert(path != NULL);
    file->fd = -1;
    file->error = 0;
    file->under_other_name = false;
    if (sgc_format(file->path, sizeof file->path, "%s", path) >= sizeof file->path)
        return fail(file, ENAMETOOLONG);
    type = type_of(path);
    if (type == S_IFDIR)
        return fail(file, EISDIR);
    file->under_other_name = type == 0 || type == S_IFREG;
    name_other(file);
    fd = file->under_other_name ? sgc_out_new(file->other, 0) : open_existing(file->path, 0);
    if (fd < 0) {
        file->under_other_name = false; /* there is nothing to be removed */
        return refused(file, fd);
    }
    file->fd = fd;
    sgc_assert(sgc_out_ok(file));
    return true;
}

bool sgc_out_write(struct sgc_out_file *file, const void *data, size_t bytes)
{
    size_t written;
    int error;

    sgc_assert(sgc_out_ok(file));
    if (file->error != 0)
        return false;
    error = sgc_quiet_write_all(file->fd, data, bytes, &written);
    sgc_assert(written <= bytes && (error != 0 || written == bytes));
    return error == 0 || fail(file, error);
}

/* Some file systems say only now that there was no room. */
static void close_it(struct sgc_out_file *file)
{
    long result = file->fd >= 0 ? sgc_syscall(SYS_close, file->fd, 0, 0, 0) : 0;

    file->fd = -1;
    if (result != 0 && result != -EINTR)
        refused(file, result);
}

int sgc_out_close(struct sgc_out_file *file)
{
    sgc_assert(sgc_out_ok(file));
    close_it(file);
    if (file->under_other_name && file->error == 0) {
        long result = sgc_syscall(SYS_renameat, HERE, (long)file->other, HERE, (long)file->path);

        if (result != 0)
            refused(file, result);
    }
    if (file->under_other_name && file->error != 0)
        sgc_syscall(SYS_unlinkat, HERE, (long)file->other, 0, 0);
    return file->error;
}
