/* SPDX-License-Identifier: MIT */
/* See platform/own_file_linux.h. */
#include "platform/own_file_linux.h"

#include <errno.h>
#include <sys/stat.h>

#include "platform/platform.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"

/* 0, or a negative error number. */
static long ask(int fd, struct stat *status)
{
    return sgc_syscall(SYS_fstat, fd, (long)status, 0, 0);
}

bool sgc_own_file_keep(struct sgc_own_file *file, int fd)
{
    struct stat status;
    long result;

    sgc_assert(file->fd < 0 && fd >= 0);
    fd = sgc_descriptor_above(fd);
    result = ask(fd, &status);
    if (result != 0) {
        sgc_syscall(SYS_close, fd, 0, 0, 0);
        errno = (int)-result;
        return false;
    }
    *file = (struct sgc_own_file){ fd, status.st_dev, status.st_ino };
    return true;
}

bool sgc_own_file_is(const struct sgc_own_file *file)
{
    struct stat status;

    return file->fd >= 0 && ask(file->fd, &status) == 0 && status.st_dev == file->device && status.st_ino == file->inode;
}

void sgc_own_file_close(struct sgc_own_file *file)
{
    if (sgc_own_file_is(file))
        sgc_syscall(SYS_close, file->fd, 0, 0, 0);
    file->fd = -1;
    sgc_assert(!sgc_own_file_is(file));
}
