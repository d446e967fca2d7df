/* SPDX-License-Identifier: MIT */
/*
 * The files that the collector reads and those that it keeps open.  [any] in the sense of
 * platform/platform.h.
 *
 * The small text files of /proc and /sys are read line by line, with raw system calls and without
 * malloc.  A reader lives on its caller's stack; nothing is shared.
 *
 * A program may close all descriptors there are, as daemons do, and open files of its own, which
 * get the same numbers.  So a descriptor that is kept open is asked which file it is before it is
 * used or closed.  (Between the question and the use another thread may do all that; it would have
 * to be that quick.)  Each belongs to the caller that opens and closes it.
 */
#ifndef SGC_PLATFORM_FILE_LINUX_H
#define SGC_PLATFORM_FILE_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/report.h"

/* ---- text files ---- */

struct sgc_reader {
    int fd;
    int pos, len;           /* the unread part of the buffer */
    bool failed;            /* the system has refused to read on: there are no more lines, and the
                               last one may be cut */
    char buffer[512];
};

/* False if the file cannot be opened; then nothing has to be closed. */
bool sgc_reader_open(struct sgc_reader *reader, const char *path);
void sgc_reader_close(struct sgc_reader *reader);

/* The next line without its newline, always terminated; what does not fit is dropped.  False at
 * the end of the file or on an error. */
bool sgc_reader_line(struct sgc_reader *reader, char *line, size_t size);

/* The first line of a file; false if there is none.  The second makes the path, a short one. */
bool sgc_read_line_of(const char *path, char *line, size_t size);
bool sgc_read_line_at(char *line, size_t size, const char *format, ...) SGC_PRINTF(3, 4);

/* Reads an unsigned number at *text in base 10 or 16 and moves *text behind it.  False (and *text
 * as before) if no digit stands there or the number needs more than 64 bits. */
bool sgc_parse_number(const char **text, unsigned base, uint64_t *number);

/* ---- files that stay open ---- */

struct sgc_own_file {
    int fd;                     /* -1: none */
    uint64_t device, inode;     /* which file it was when it was kept */
};

#define SGC_NO_FILE { .fd = -1 }

/* Moves a new descriptor above those that programs count on, and keeps it.  False, with errno and
 * the descriptor closed: the system does not say which file it is. */
bool sgc_own_file_keep(struct sgc_own_file *file, int fd);

/* Is it still that file? */
bool sgc_own_file_is(const struct sgc_own_file *file);

/* Closes it, unless it is somebody else's by now. */
void sgc_own_file_close(struct sgc_own_file *file);

#endif
