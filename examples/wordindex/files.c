/* SPDX-License-Identifier: MIT */
/* The list of files (walker only) and the reading of one (any worker); see files.h. */
#include "examples/wordindex/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

enum { FIRST_FILES = 256, LEAST_ROOM = 512 };

/* A place in a file is a uint32_t, and a file cannot have more words than bytes. */
#define LARGEST_FILE ((size_t)UINT32_MAX)

static void grow(struct files *files)
{
    size_t room = files->room == 0 ? FIRST_FILES : files->room * 2;
    struct file **list = mem_object(room * sizeof *list);

    if (files->used > 0)
        memcpy(list, files->list, files->used * sizeof *list);
    files->list = list;
    files->room = room;
}

struct file *files_add(struct files *files, const char *path)
{
    if (files->used == UINT32_MAX)
        die("%s: more than %lu files cannot be indexed", path, (unsigned long)UINT32_MAX);
    if (files->used == files->room)
        grow(files);
    struct file *file = mem_object(sizeof *file);
    file->path = path;
    file->id = (uint32_t)files->used;
    files->list[files->used++] = file;
    return file;
}

/* A buffer that is filled from a descriptor. */
struct buffer {
    char *bytes;
    size_t used, room;
};

/* The old bytes are dropped.  Sets errno if it fails. */
static bool make_room(struct buffer *buffer, size_t room)
{
    char *bytes = room <= LARGEST_FILE ? mem_try_bytes(room) : NULL;

    if (bytes == NULL) {
        errno = room <= LARGEST_FILE ? ENOMEM : EFBIG;
        return false;
    }
    if (buffer->used > 0)
        memcpy(bytes, buffer->bytes, buffer->used);
    buffer->bytes = bytes;
    buffer->room = room;
    return true;
}

/* Reads to the end, whatever the size was thought to be.  Sets errno if it fails. */
static bool fill(struct buffer *buffer, int fd)
{
    for (;;) {
        if (buffer->used == buffer->room && !make_room(buffer, buffer->room * 2))
            return false;
        ssize_t got = read(fd, buffer->bytes + buffer->used, buffer->room - buffer->used);
        if (got == 0)
            return true;
        if (got > 0)
            buffer->used += (size_t)got;
        else if (errno != EINTR)
            return false;
    }
}

static bool read_open_file(int fd, struct buffer *buffer)
{
    struct stat status;

    if (fstat(fd, &status) != 0)
        return false;
    if (!S_ISREG(status.st_mode)) { /* replaced since the walker saw it */
        errno = ESTALE;
        return false;
    }
    /* One byte more than the size, so that the read that finds the end needs no larger buffer. */
    size_t size = (size_t)status.st_size + 1;
    return make_room(buffer, size < LEAST_ROOM ? LEAST_ROOM : size) && fill(buffer, fd);
}

bool read_file(const char *path, char **text, size_t *length)
{
    struct buffer buffer = {0};
    /* O_NONBLOCK: not to hang if a FIFO has taken the file's place. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool done = fd >= 0 && read_open_file(fd, &buffer);

    if (!done)
        complain("%s: %s; the file is left out", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    *text = buffer.bytes;
    *length = buffer.used;
    return done;
}
