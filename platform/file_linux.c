/* SPDX-License-Identifier: MIT */
/* See platform/file_linux.h.  Owns nothing; each reader belongs to the thread that opened it. */
#include "platform/file_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/platform.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"

/* ---- text files ---- */

static void check_reader(const struct sgc_reader *reader)
{
    sgc_assert(reader->fd >= 0);
    sgc_assert(reader->pos >= 0 && reader->pos <= reader->len);
    sgc_assert(reader->len <= (int)sizeof reader->buffer);
}

bool sgc_reader_open(struct sgc_reader *reader, const char *path)
{
    sgc_assert(path != NULL);
    reader->pos = reader->len = 0;
    reader->failed = false;
    reader->fd = (int)sgc_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
    return reader->fd >= 0;
}

void sgc_reader_close(struct sgc_reader *reader)
{
    check_reader(reader);
    sgc_syscall(SYS_close, reader->fd, 0, 0, 0);
}

static bool refill(struct sgc_reader *reader)
{
    long got;

    sgc_assert(reader->pos == reader->len);
    if (reader->failed)
        return false;
    do
        got = sgc_syscall(SYS_read, reader->fd, (long)reader->buffer, sizeof reader->buffer, 0);
    while (got == -EINTR);
    sgc_assert(got <= (long)sizeof reader->buffer);
    reader->pos = 0;
    reader->len = got > 0 ? (int)got : 0;
    reader->failed = got < 0;
    return got > 0;
}

/* A buffer's rest at a time: the list of mappings, which is read at each start, has many long
 * lines. */
bool sgc_reader_line(struct sgc_reader *reader, char *line, size_t size)
{
    size_t length = 0;
    bool any = false, ended = false;

    check_reader(reader);
    sgc_assert(size > 0);
    while (!ended && (reader->pos < reader->len || refill(reader))) {
        const char *from = reader->buffer + reader->pos;
        size_t left = (size_t)(reader->len - reader->pos), room = size - 1 - length;
        const char *end = memchr(from, '\n', left);
        size_t bytes = end ? (size_t)(end - from) : left;
        size_t kept = bytes < room ? bytes : room;
        memcpy(line + length, from, kept);
        length += kept;
        reader->pos += (int)bytes + (end != NULL);
        any = true;
        ended = end != NULL;
    }
    sgc_assert(length < size && reader->pos <= reader->len);
    line[length] = '\0';
    return any;
}

bool sgc_read_line_of(const char *path, char *line, size_t size)
{
    struct sgc_reader reader;
    if (!sgc_reader_open(&reader, path))
        return false;
    bool any = sgc_reader_line(&reader, line, size);
    sgc_reader_close(&reader);
    return any;
}

bool sgc_read_line_at(char *line, size_t size, const char *format, ...)
{
    char path[256];
    va_list args;
    va_start(args, format);
    size_t length = sgc_vformat(path, sizeof path, format, args);
    va_end(args);
    return length < sizeof path && sgc_read_line_of(path, line, size);
}

static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return 99;
}

bool sgc_parse_number(const char **text, unsigned base, uint64_t *number)
{
    const char *at = *text;
    uint64_t value = 0;

    sgc_assert(base == 10 || base == 16);
    for (; digit_value(*at) < base; at++)
        if (__builtin_mul_overflow(value, base, &value)
            || __builtin_add_overflow(value, digit_value(*at), &value))
            return false;
    if (at == *text)
        return false;
    *text = at;
    *number = value;
    return true;
}

/* ---- files that stay open ---- */

enum { HIGH_DESCRIPTOR = 200 };         /* above what programs count on getting from open */

int sgc_descriptor_above(int fd)
{
    long high = sgc_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR, 0);

    sgc_assert(fd >= 0);
    if (high < 0)
        return fd;
    sgc_assert(high >= HIGH_DESCRIPTOR && high != fd);
    sgc_syscall(SYS_close, fd, 0, 0, 0);
    return (int)high;
}

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
