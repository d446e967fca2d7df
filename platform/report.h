/* SPDX-License-Identifier: MIT */
/*
 * Messages to the user, written with one write(2) and no malloc, stdio or locale, so that they can
 * be given from anywhere: inside a section, in a signal handler, while the world is stopped; and
 * assertions, which end in such a message.
 *
 * Every message says what happened with the value, what was expected and how to go on.  Formats
 * know %s %c %d %u %ld %lu %zu %x %lx %zx %p %% and widths are not supported.
 */
#ifndef SGC_PLATFORM_REPORT_H
#define SGC_PLATFORM_REPORT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "platform/compiler.h"

/* Formats into buffer, always terminated; returns the length that was wanted. */
size_t sgc_format(char *buffer, size_t size, const char *format, ...) SGC_PRINTF(3, 4);
size_t sgc_vformat(char *buffer, size_t size, const char *format, va_list args);

/* Makes "?" of each byte that could disturb a terminal: controls, and what is no UTF-8.  Returns
 * `text`. */
char *sgc_make_shown(char *text);

/* "SGC: warning: ..." and "SGC: error: ..." lines.  Warnings go through the hook if one is set.
 * Each line passes sgc_make_shown, as it may quote text of others. */
void sgc_warn(const char *format, ...) SGC_PRINTF(1, 2);
void sgc_error(const char *format, ...) SGC_PRINTF(1, 2);

/* A plain line "SGC: ..." (statistics, option listings). */
void sgc_print(const char *format, ...) SGC_PRINTF(1, 2);

/* Reports and ends the process: an invariant of ours is broken, or the client asked for it. */
_Noreturn void sgc_fatal(const char *format, ...) SGC_PRINTF(1, 2);

/* Where messages go: a file descriptor (default 2) and hooks (NULL: none).  A hook gets the whole
 * line without the newline. */
void sgc_report_to(int fd);

/* Sends messages to a descriptor that the program knows nothing of.  When the program has closed
 * it, and perhaps opened a file of its own that got the same number, messages go to 2. */
void sgc_report_to_own(int fd);
int sgc_report_fd(void);
void sgc_report_hooks(void (*warning)(const char *line), void (*fatal)(const char *line));

/* Writes all of it, however often a signal comes between.  0, or the error number; *written: so
 * much was written.  No signal ends the program: a write(2) beyond the limit on sizes of files
 * raises SIGXFSZ, one to a pipe that nobody reads SIGPIPE, both in the thread that writes; the
 * program has asked for neither, as it has not written.  Here both are errors only, EFBIG and
 * EPIPE.  The signals that the program has blocked, and those that are pending, stay so.  By raw
 * system calls, which leave errno alone.  [any] */
int sgc_quiet_write_all(int fd, const void *data, size_t bytes, size_t *written);

/* Assertions: on with --enable-assertions, otherwise not evaluated. */
_Noreturn void sgc_assert_failed(const char *expression, const char *file, int line);
#ifdef SGC_ASSERTIONS
#define sgc_assert(e) ((e) ? (void)0 : sgc_assert_failed(#e, __FILE__, __LINE__))
enum { SGC_ASSERTS = 1 };
#else
#define sgc_assert(e) ((void)sizeof(e))
enum { SGC_ASSERTS = 0 };
#endif

/* Checks that somebody asks for at run time (torture, SGC_check): evaluated in every build. */
#define sgc_verify(e) ((e) ? (void)0 : sgc_assert_failed(#e, __FILE__, __LINE__))

#endif
