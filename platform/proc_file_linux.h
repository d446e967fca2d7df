/* SPDX-License-Identifier: MIT */
/*
 * Reads the small text files of /proc and /sys line by line, with raw system calls and without
 * malloc.  A reader lives on its caller's stack; nothing is shared.  [any] in the sense of
 * platform/platform.h.
 */
#ifndef SGC_PLATFORM_PROC_FILE_LINUX_H
#define SGC_PLATFORM_PROC_FILE_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/report.h"

struct sgc_reader {
    int fd;
    int pos, len;           /* the unread part of the buffer */
    bool failed;            /* the system has refused to read on: there are no more lines, and the last one may be cut */
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

#endif
