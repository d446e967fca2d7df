/* SPDX-License-Identifier: MIT */
/*
 * Messages to the user.
 *
 * Everything here runs on any thread, in signal handlers and while the world is stopped: a line is
 * built on the caller's stack and written at once.
 *
 *   variable      written by                read by        ordering   why enough
 *   state.fd      sgc_report_to             each message   rel/acq    a number that stands for itself,
 *                                                                     or for the file, which was
 *                                                                     stored before it
 *   state.file    sgc_report_to_own,        each message   relaxed    a thread that sees the
 *                 before state.fd                                     descriptor sees its file
 *   state.*hook   sgc_report_hooks          each message   rel/acq    the hook's own data were set up
 *                                                                     before
 */
#include "platform/report.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/faults.h"
#include "platform/platform.h"
#include "platform/syscall_linux.h"

typedef void (*sgc_line_hook)(const char *line);

static SGC_STATE struct {
    sgc_a32_t fd;
    sgc_aw_t file;                  /* the inode of what fd is, if it is ours; 0: the program's */
    sgc_aw_t warning_hook, fatal_hook;
} state = { .fd = SGC_ATOMIC_INIT(2) };

enum { MESSAGE_MAX = 1024 };       /* a message; longer ones are cut */

/* ---- formatting ---------------------------------------------------------------------------- */

struct sink {
    char *buffer;
    size_t size, wanted;
};

static void put(struct sink *sink, char c)
{
    if (sink->wanted + 1 < sink->size)
        sink->buffer[sink->wanted] = c;
    sink->wanted++;
}

static void put_string(struct sink *sink, const char *text)
{
    for (text = text ? text : "(null)"; *text; text++)
        put(sink, *text);
}

static void put_unsigned(struct sink *sink, uint64_t value, unsigned base)
{
    char digits[20];            /* 2^64 has 20 decimal digits */
    int count = 0;
    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    while (count)
        put(sink, digits[--count]);
}

static void put_signed(struct sink *sink, int64_t value)
{
    if (value < 0)
        put(sink, '-');
    put_unsigned(sink, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10);
}

/* One directive, `at` being behind its percent sign; returns what follows it.  `wide`: an `l` or
 * `z` before the letter; long and size_t have the same width here.  An unknown one is shown as it
 * stands: what comes after it could be read wrongly, but never out of bounds. */
static const char *put_directive(struct sink *sink, const char *at, va_list *args)
{
    bool wide = *at == 'l' || *at == 'z';
    const char *letter = at + wide;
    switch (*letter) {
    case 'd':
        put_signed(sink, wide ? va_arg(*args, long) : va_arg(*args, int));
        break;
    case 'p':
        put_string(sink, "0x");
        put_unsigned(sink, (uintptr_t)va_arg(*args, const void *), 16);
        break;
    case 'u':
    case 'x':
        put_unsigned(sink, wide ? va_arg(*args, unsigned long) : va_arg(*args, unsigned), *letter == 'x' ? 16 : 10);
        break;
    case 's':
        put_string(sink, va_arg(*args, const char *));
        break;
    case 'c':
        put(sink, (char)va_arg(*args, int));
        break;
    default:
        put(sink, '%');
        return *at == '%' ? at + 1 : at;
    }
    return letter + 1;
}

size_t sgc_vformat(char *buffer, size_t size, const char *format, va_list args)
{
    struct sink sink = { buffer, size, 0 };
    va_list rest;
    va_copy(rest, args);
    while (*format) {
        if (*format == '%')
            format = put_directive(&sink, format + 1, &rest);
        else
            put(&sink, *format++);
    }
    va_end(rest);
    if (size)
        buffer[sink.wanted < size ? sink.wanted : size - 1] = '\0';
    return sink.wanted;
}

size_t sgc_format(char *buffer, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t wanted = sgc_vformat(buffer, size, format, args);
    va_end(args);
    return wanted;
}

/* ---- what a terminal may get ---------------------------------------------------------------- */

/* Bytes of the character there; 0: it is none, or a control, of which there are some also above
 * ASCII.  A longer form than a character needs is none. */
static size_t count_shown(const unsigned char *at)
{
    size_t bytes = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    unsigned char min = at[0] == 0xc2 || at[0] == 0xe0 ? 0xa0 : at[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char max = at[0] == 0xed ? 0x9f : at[0] == 0xf4 ? 0x8f : 0xbf;    /* surrogates; the last character */

    if (at[0] < 0x80)
        return at[0] >= ' ' && at[0] != 0x7f;
    if (at[0] < 0xc2 || at[0] > 0xf4 || at[1] < min || at[1] > max)
        return 0;
    for (size_t i = 1; i < bytes; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return bytes;
}

char *sgc_make_shown(char *text)
{
    for (char *at = text; *at != '\0';) {
        size_t bytes = count_shown((const unsigned char *)at);

        if (bytes == 0)
            *at = '?';
        at += bytes == 0 ? 1 : bytes;
    }
    return text;
}

/* ---- writing --------------------------------------------------------------------------------- */

#define MASK(signal) (UINT64_C(1) << ((signal) - 1))

static const uint64_t raised = MASK(SIGPIPE) | MASK(SIGXFSZ);

/* If the signal came, it did so at once, to this thread, and is pending: it is taken off. */
static void take_signals(uint64_t signals)
{
    const struct timespec no_time = { 0, 0 };

    if (signals != 0)
        sgc_syscall(SYS_rt_sigtimedwait, (long)&signals, 0, (long)&no_time, sizeof signals);
}

/* How much was written, as by write(2), or a negative error number. */
static long write_quietly(int fd, const void *data, size_t bytes)
{
    uint64_t before = 0, pending = 0;
    long written, blocked = sgc_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&raised, (long)&before, sizeof raised);

    if ((before & raised) != 0)
        sgc_syscall(SYS_rt_sigpending, (long)&pending, sizeof pending, 0, 0);
    written = sgc_syscall(SYS_write, fd, (long)data, (long)bytes, 0);
    if (blocked != 0)
        return written;
    if (written < (long)bytes)          /* a reader that leaves in the middle: the signal comes,
                                           too */
        take_signals(raised & ~pending);
    sgc_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before);
    return written;
}

int sgc_quiet_write_all(int fd, const void *data, size_t bytes, size_t *written)
{
    for (*written = 0; *written < bytes;) {
        long more = write_quietly(fd, (const char *)data + *written, bytes - *written);

        if (more > 0)
            *written += (size_t)more;
        else if (more != -EINTR)
            return more == 0 ? ENOSPC : (int)-more;
    }
    return 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* 0: the descriptor is nobody's. */
static uintptr_t file_of(int fd)
{
    struct stat status;

    return sgc_syscall(SYS_fstat, fd, (long)&status, 0, 0) == 0 ? (uintptr_t)status.st_ino : 0;
}

/* Nobody listens, or there is no room: a message is no reason to stop a program. */
static void write_line(const char *text, size_t length)
{
    int fd = (int)sgc_a32_load_acq(&state.fd);
    uintptr_t file = sgc_aw_load(&state.file);
    size_t written;

    sgc_quiet_write_all(file == 0 || file_of(fd) == file ? fd : STDERR_FILENO, text, length, &written);
}

/* Builds "SGC: <severity>message" without newline, cut with "..." if it is too long. */
static size_t build_line(char line[MESSAGE_MAX], const char *severity, const char *format, va_list args)
{
    size_t head = sgc_format(line, MESSAGE_MAX, "SGC: %s", severity);
    size_t length = head + sgc_vformat(line + head, MESSAGE_MAX - 1 - head, format, args);
    if (length <= MESSAGE_MAX - 2)
        return length;
    for (int i = 0; i < 3; i++)
        line[MESSAGE_MAX - 5 + i] = '.';
    return MESSAGE_MAX - 2;
}

static void emit(const char *severity, const char *format, va_list args, sgc_line_hook hook)
{
    char line[MESSAGE_MAX];
    size_t length = build_line(line, severity, format, args);
    line[length] = '\0';
    sgc_make_shown(line);
    if (hook) {
        hook(line);
        return;
    }
    line[length] = '\n';
    write_line(line, length + 1);
}

void sgc_warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    emit("warning: ", format, args, (sgc_line_hook)sgc_aw_load_acq(&state.warning_hook));
    va_end(args);
}

void sgc_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    emit("error: ", format, args, NULL);
    va_end(args);
}

void sgc_print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    emit("", format, args, NULL);
    va_end(args);
}

enum { LAST_WORDS_MAX = 10 };

/* How often has the thread told its last words? */
static _Thread_local uint32_t endings __attribute__((tls_model("initial-exec")));

static bool is_blocked(int number)
{
    uint64_t mask = 0;

    sgc_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, sizeof mask);
    return (mask >> (number - 1) & 1) != 0;
}

/* A handler of SIGABRT may be what brings this thread here again, and would for ever: none runs any
 * more.  One that has left by a jump does not block the signal any more, and one that never does
 * (SA_NODEFER) may come a few times. */
_Noreturn static void end(void)
{
    const uint64_t by_default[4] = { (uintptr_t)SIG_DFL, 0, 0, 0 };      /* no flags, no mask */

    endings++;
    if (endings >= LAST_WORDS_MAX || (endings > 1 && is_blocked(SIGABRT)))
        sgc_syscall(SYS_rt_sigaction, SIGABRT, (long)by_default, 0, sizeof(uint64_t));
    abort();
}

void sgc_fatal(const char *format, ...)
{
    sgc_line_hook hook = (sgc_line_hook)sgc_aw_load_acq(&state.fatal_hook);
    va_list args;
    if (hook) {
        va_start(args, format);
        emit("fatal: ", format, args, hook);
        va_end(args);
    }
    va_start(args, format);     /* a hook may swallow the line; the last words are always said */
    emit("fatal: ", format, args, NULL);
    va_end(args);
    end();
}

void sgc_assert_failed(const char *expression, const char *file, int line)
{
    sgc_fatal("assertion \"%s\" failed at %s:%d; expected it to hold always, so this is a defect of SGC "
              "or overwritten memory: run again with SGC_TORTURE=1000 and report this line",
              expression, file, line);
}

#ifdef SGC_ASSERTIONS
SGC_STATE sgc_a32_t sgc_fault_planted, sgc_fault_turns;
#endif

void sgc_report_to(int fd)
{
    sgc_aw_store(&state.file, 0);
    sgc_a32_store_rel(&state.fd, (uint32_t)fd);
}

void sgc_report_to_own(int fd)
{
    sgc_aw_store(&state.file, file_of(fd));
    sgc_a32_store_rel(&state.fd, (uint32_t)fd);
}

int sgc_report_fd(void)
{
    return (int)sgc_a32_load(&state.fd);
}

void sgc_report_hooks(void (*warning)(const char *line), void (*fatal)(const char *line))
{
    sgc_aw_store_rel(&state.warning_hook, (uintptr_t)warning);
    sgc_aw_store_rel(&state.fatal_hook, (uintptr_t)fatal);
}
