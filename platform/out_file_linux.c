/* SPDX-License-Identifier: MIT */
/* See platform/out_file.h. */
#include "platform/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/report.h"
#include "platform/syscall_linux.h"

enum { HERE = AT_FDCWD };

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

static uint64_t size_limit(void)
{
    struct rlimit limit;

    if (sgc_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

/* What is there: S_IFREG, S_IFDIR ...; 0: nothing. */
static mode_t type_of(const char *path)
{
    struct stat status;

    return sgc_syscall(SYS_newfstatat, HERE, (long)path, (long)&status, 0) == 0 ? status.st_mode & S_IFMT : 0;
}

/* Without O_NONBLOCK the opening of a pipe would wait for a reader; writing waits. */
static long open_special(const char *path)
{
    long fd = sgc_syscall(SYS_openat, HERE, (long)path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);

    if (fd >= 0)
        sgc_syscall(SYS_fcntl, fd, F_SETFL, 0, 0);
    return fd;
}

static long open_new(const char *path)
{
    return sgc_syscall(SYS_openat, HERE, (long)path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
}

bool sgc_out_open(struct sgc_out_file *file, const char *path)
{
    mode_t type;
    long fd;

    file->fd = -1;
    file->error = 0;
    file->bytes = 0;
    file->most = UINT64_MAX;
    file->beside = false;
    if (sgc_format(file->path, sizeof file->path, "%s", path) >= sizeof file->path)
        return fail(file, ENAMETOOLONG);
    type = type_of(path);
    if (type == S_IFDIR)
        return fail(file, EISDIR);
    file->beside = type == 0 || type == S_IFREG;
    sgc_format(file->other, sizeof file->other, "%s.%ld.part", path, sgc_syscall(SYS_getpid, 0, 0, 0, 0));
    fd = file->beside ? open_new(file->other) : open_special(file->path);
    if (fd < 0) {
        file->beside = false;           /* there is nothing to be removed */
        return refused(file, fd);
    }
    file->fd = (int)fd;
    if (file->beside)
        file->most = size_limit();
    sgc_assert(sgc_out_ok(file));
    return true;
}

bool sgc_out_write(struct sgc_out_file *file, const void *data, size_t bytes)
{
    const char *from = data;

    sgc_assert(sgc_out_ok(file));
    while (bytes != 0 && file->error == 0) {
        long written;

        if (bytes > file->most - file->bytes)
            return fail(file, EFBIG);
        written = sgc_syscall(SYS_write, file->fd, (long)from, (long)bytes, 0);
        if (written == -EINTR)
            continue;
        if (written <= 0)
            return refused(file, written == 0 ? -ENOSPC : written);
        sgc_assert((size_t)written <= bytes);
        from += written;
        bytes -= (size_t)written;
        file->bytes += (uint64_t)written;
    }
    return file->error == 0;
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
    if (file->beside && file->error == 0) {
        long result = sgc_syscall(SYS_renameat, HERE, (long)file->other, HERE, (long)file->path);

        if (result != 0)
            refused(file, result);
    }
    if (file->beside && file->error != 0)
        sgc_syscall(SYS_unlinkat, HERE, (long)file->other, 0, 0);
    return file->error;
}
