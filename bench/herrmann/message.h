/* SPDX-License-Identifier: MIT */
/* Messages of the library: a line each on standard error, without stdio's buffers. */
#ifndef BENCH_HERRMANN_MESSAGE_H
#define BENCH_HERRMANN_MESSAGE_H

enum { MESSAGE_STATUS = 2 };    /* the exit status of a process that was refused */

#define MESSAGE_FORMAT __attribute__((format(printf, 1, 2)))

/* One line, which begins with the library's name; the process goes on. */
void message_warn(const char *format, ...) MESSAGE_FORMAT;

/* One line, and the process ends at once: functions of atexit do not run. */
_Noreturn void message_refuse(const char *format, ...) MESSAGE_FORMAT;

#endif
