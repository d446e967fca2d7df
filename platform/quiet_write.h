/* SPDX-License-Identifier: MIT */
/*
 * Writing for which no signal ends the program.  A write(2) beyond the limit on sizes of files
 * raises SIGXFSZ, one to a pipe that nobody reads SIGPIPE, both in the thread that writes; the
 * program has asked for neither, as it has not written.  Here both are errors only, EFBIG and
 * EPIPE.  The signals that the program has blocked, and those that are pending, stay so.
 *
 * By raw system calls, which leave errno alone.  [any]
 */
#ifndef SGC_PLATFORM_QUIET_WRITE_H
#define SGC_PLATFORM_QUIET_WRITE_H

#include <stddef.h>

/* How much was written, as by write(2), or a negative error number. */
long sgc_quiet_write(int fd, const void *data, size_t bytes);

/* All of it, however often a signal comes between.  0, or the error number; *written: so much was written. */
int sgc_quiet_write_all(int fd, const void *data, size_t bytes, size_t *written);

#endif
