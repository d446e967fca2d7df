/* SPDX-License-Identifier: MIT */
/*
 * The line reader behind limits, thread states and mappings, and where descriptors of our own are.  Owns nothing; each reader
 * belongs to the thread that opened it.
 */
#include "platform/proc_file_linux.h"

#include <fcntl.h>
#include <string.h>

#include "platform/platform.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"

enum { HIGH_DESCRIPTOR = 200 };         /* above what programs count on getting from open */

bool sgc_reader_open(struct sgc_reader *reader, const char *path)
{
    reader->pos = reader->len = 0;
    reader->failed = false;
    reader->fd = (int)sgc_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
    return reader->fd >= 0;
}

void sgc_reader_close(struct sgc_reader *reader)
{
    sgc_syscall(SYS_close, reader->fd, 0, 0, 0);
}

static bool refill(struct sgc_reader *reader)
{
    long got;
    if (reader->failed)
        return false;
    do
        got = sgc_syscall(SYS_read, reader->fd, (long)reader->buffer, sizeof reader->buffer, 0);
    while (got == -EINTR);
    reader->pos = 0;
    reader->len = got > 0 ? (int)got : 0;
    reader->failed = got < 0;
    return got > 0;
}

/* A buffer's rest at a time: the list of mappings, which is read at each start, has many long lines. */
bool sgc_reader_line(struct sgc_reader *reader, char *line, size_t size)
{
    size_t length = 0;
    bool any = false, ended = false;
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

int sgc_descriptor_above(int fd)
{
    long high = sgc_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR, 0);

    sgc_assert(fd >= 0);
    if (high < 0)
        return fd;
    sgc_syscall(SYS_close, fd, 0, 0, 0);
    return (int)high;
}
