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

#include "platform/quiet_write.h"
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

/* The type of the file at `path`: S_IFREG, S_IFDIR ...; 0: none is found. */
static mode_t type_of(const char *path)
{
    struct stat status;

    return sgc_syscall(SYS_newfstatat, HERE, (long)path, (long)&status, 0) == 0 ? status.st_mode & S_IFMT : 0;
}

/* By a number of the system's, or where it gives none, as early after its start, by what the clock and the stack say. */
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
    fd = file->under_other_name ? sgc_written_new(file->other, 0) : sgc_written_there(file->path, 0);
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
