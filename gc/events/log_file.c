/* SPDX-License-Identifier: MIT */
/* See gc/events/log_file.h. */
#include "gc/events/log_file.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gc/config/options.h"
#include "platform/out_file.h"
#include "platform/platform.h"
#include "platform/report.h"
#include "platform/text_line.h"

/* ---- names and errors ---- */

static const struct { int number; const char *text; } known_errors[] = {
    { EACCES, "permission denied" },         { ENOENT, "no such directory" },
    { ENOTDIR, "not a directory" },          { EISDIR, "it is a directory" },
    { EROFS, "read-only file system" },      { ENOSPC, "no space left" },
    { ENOMEM, "no memory" },
    { EMFILE, "too many open files" },       { ENXIO, "nobody reads the pipe, or no such device" },
    { EPIPE, "nobody reads the pipe" },      { EFBIG, "file size limit reached" },
    { ENAMETOOLONG, "the name is too long" }, { EDQUOT, "disk quota reached" },
    { EPERM, "not permitted, or somebody else's in a folder that all may write to" },
    { EEXIST, "a link to nothing" },
    { EWOULDBLOCK, "another process, or another copy of SGC in this one, writes it" },
};

/* strerror may allocate and translate. */
const char *sgc_error_text(int number)
{
    for (size_t i = 0; i < sizeof known_errors / sizeof known_errors[0]; i++)
        if (known_errors[i].number == number)
            return known_errors[i].text;
    return "system error";
}

/* A number that the name has a sign for: %p, %n. */
static bool number_of(const char *sign, long pid, const uint64_t *cycle, long *number)
{
    if (sign[0] != '%' || !(sign[1] == 'p' || (sign[1] == 'n' && cycle != NULL)))
        return false;
    *number = sign[1] == 'p' ? pid : (long)*cycle;
    return true;
}

bool sgc_log_file_name(const char *name, long pid, const uint64_t *cycle, char *buffer, size_t size)
{
    size_t used = 0;
    long number;

    sgc_assert(size > 0 && pid > 0);
    while (*name != '\0' && used < size) {
        if (number_of(name, pid, cycle, &number)) {
            used += sgc_format(buffer + used, size - used, "%ld", number);
            name += 2;
        } else {
            buffer[used++] = *name++;
        }
    }
    if (used >= size)
        return false;
    buffer[used] = '\0';
    return true;
}

/* ---- opening ---- */

static bool remember(struct sgc_log_file *file, int fd)
{
    struct stat status;

    sgc_assert(!file->is_open);
    if (fstat(fd, &status) != 0)
        return false;
    file->fd = fd;
    file->device = status.st_dev;
    file->inode = status.st_ino;
    file->pid = getpid();
    file->is_open = true;
    return true;
}

static void report(const struct sgc_log_file *file, const char *what, int error, const char *advice)
{
    char quoted[200];

    sgc_assert(sgc_log_file_ok(file) && error != 0);
    sgc_warn("%s=%s: cannot be %s (%s, errno %d), %s", file->option,
             sgc_quote(file->name, strlen(file->name), quoted, sizeof quoted), what, sgc_error_text(error), error, advice);
}

/* The contents of an earlier run go, unless the process that writes them is there still.  0, or an
 * error number. */
static int begin_anew(int fd)
{
    struct stat status;

    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return EWOULDBLOCK;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && ftruncate(fd, 0) != 0 ? errno : 0;
}

static int open_above(const struct sgc_log_file *file, const char *path)
{
    int fd = sgc_out_append(path), error = fd >= 0 && file->anew ? begin_anew(fd) : 0;

    if (error != 0)
        close(fd);
    return error != 0 ? -error : fd >= 0 ? sgc_descriptor_above(fd) : fd;
}

bool sgc_log_file_open(struct sgc_log_file *file)
{
    char path[SGC_OPTION_TEXT_BYTES + 64];
    bool fits = sgc_log_file_name(file->name, getpid(), NULL, path, sizeof path);

    sgc_assert(file->option != NULL && file->name != NULL);
    int fd = fits ? open_above(file, path) : -ENAMETOOLONG;

    file->is_open = false;
    if (fd >= 0 && remember(file, fd))
        return true;
    report(file, "opened", fd < 0 ? -fd : errno,
           fd == -EWOULDBLOCK ? "so nothing is written; write %p, for the process id, into its name, or name another file"
                              : "so nothing is written; name a file that can be created or appended to");
    return false;
}

/* ---- as long as it is open ---- */

static bool still_ours(const struct sgc_log_file *file)
{
    struct stat status;

    sgc_assert(sgc_log_file_ok(file) && file->is_open);
    return fstat(file->fd, &status) == 0 && status.st_dev == file->device && status.st_ino == file->inode;
}

void sgc_log_file_close(struct sgc_log_file *file)
{
    sgc_assert(sgc_log_file_ok(file));
    if (!file->is_open)
        return;
    if (sgc_report_fd() == file->fd)
        sgc_report_to(STDERR_FILENO);   /* before it is gone: the next message may be about that */
    if (still_ours(file))
        close(file->fd);
    file->is_open = false;
}

void sgc_log_file_after_fork(struct sgc_log_file *file)
{
    bool own = strstr(file->name, "%p") != NULL;

    sgc_assert(sgc_log_file_ok(file));
    if (!file->is_open || (file->share && !own))
        return;
    sgc_log_file_close(file);
    file->again = own;
}

bool sgc_log_file_ready(struct sgc_log_file *file)
{
    sgc_assert(sgc_log_file_ok(file) && !(file->is_open && file->again));
    if (file->is_open && file->pid != getpid()) {
        sgc_log_file_after_fork(file);
        file->pid = getpid();
    }
    if (file->again) {
        file->again = false;
        return sgc_log_file_open(file);
    }
    if (!file->is_open)
        return false;
    if (file->is_open && !still_ours(file))
        sgc_log_file_close(file);       /* the program closed it: its descriptor now, or nobody's */
    sgc_assert(!file->is_open || file->pid == getpid());
    return file->is_open;
}

/* A line of which only the beginning found room goes again, unless there is something behind it by
 * now. */
static void take_back(const struct sgc_log_file *file, size_t written)
{
    off_t end = lseek(file->fd, 0, SEEK_CUR);
    struct stat status;

    sgc_assert(written > 0);
    if (fstat(file->fd, &status) == 0 && S_ISREG(status.st_mode) && end >= (off_t)written && status.st_size == end &&
        ftruncate(file->fd, end - (off_t)written) != 0)
        return;
}

void sgc_log_file_write(struct sgc_log_file *file, const char *text, size_t length)
{
    size_t written;
    int error;

    sgc_assert(sgc_log_file_ok(file));
    sgc_assert(length == 0 || text[length - 1] == '\n');        /* whole lines */
    if (!file->is_open)
        return;
    error = sgc_quiet_write_all(file->fd, text, length, &written);
    if (error == 0)
        return;
    if (written > 0)
        take_back(file, written);
    sgc_log_file_close(file);
    report(file, "written", error, error == EPIPE ? "so it ends here; let its reader read to the end"
                                                  : "so it ends here; make room and start the program again");
}

/* ---- around it ---- */

void sgc_log_guard_begin(struct sgc_log_guard *guard)
{
    guard->error = errno;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancel_state);
}

void sgc_log_guard_end(const struct sgc_log_guard *guard)
{
    pthread_setcancelstate(guard->cancel_state, NULL);
    errno = guard->error;
}
