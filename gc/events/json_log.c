/* SPDX-License-Identifier: MIT */
/*
 * GC_LOG_FILE and SGC_LOG_JSON.  Opened on the initialising thread; written in cycle_end, that is
 * on the collecting thread with the world running and the lock of the collection held, and by the
 * summary at exit.
 *
 * Each is a file that lines are appended to, on a descriptor that the program knows nothing of.
 * Opened by raw system calls, far above the descriptors programs use; before each write it is
 * checked that the descriptor is still the file's (programs that become daemons close all they find
 * and open others).  A struct log_file is used by one thread at a time: the initialising one, then
 * the collecting one under the lock of the collection.
 */
#include "gc/events/json_log.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gc/config/options.h"
#include "platform/out_file.h"
#include "platform/platform.h"
#include "platform/report.h"
#include "platform/text_line.h"

/* ---- files of lines ---- */

struct log_file {
    const char *option;             /* for messages: "SGC_LOG_JSON" */
    const char *name;               /* as the option says; %p stands for the process id */
    bool share;                     /* a child of a fork goes on writing to its parent's file */
    bool is_open;
    int fd;
    pid_t pid;                      /* of the process that opened it */
    dev_t device;                   /* which file it is */
    ino_t inode;
};

/* Does it have a name, and a descriptor while it is open? */
static inline bool file_ok(const struct log_file *file)
{
    return file->option != NULL && file->name != NULL && (!file->is_open || (file->fd >= 0 && file->pid > 0));
}

static const struct { int number; const char *text; } known_errors[] = {
    { EACCES, "permission denied" },         { ENOENT, "no such directory" },
    { ENOTDIR, "not a directory" },          { EISDIR, "it is a directory" },
    { EROFS, "read-only file system" },      { ENOSPC, "no space left" },
    { EMFILE, "too many open files" },       { ENXIO, "nobody reads the pipe, or no such device" },
    { EPIPE, "nobody reads the pipe" },      { EFBIG, "file size limit reached" },
    { ENAMETOOLONG, "the name is too long" }, { EDQUOT, "disk quota reached" },
    { EPERM, "not permitted, or somebody else's in a folder that all may write to" },
    { EEXIST, "a link to nothing" },
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

static bool remember(struct log_file *file, int fd)
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

static void report(const struct log_file *file, const char *what, int error, const char *advice)
{
    char quoted[200];

    sgc_assert(file_ok(file) && error != 0);
    sgc_warn("%s=%s: cannot be %s (%s, errno %d), %s", file->option,
             sgc_quote(file->name, strlen(file->name), quoted, sizeof quoted), what, sgc_error_text(error), error, advice);
}

/* False, with a message, if it cannot be opened. */
static bool file_open(struct log_file *file)
{
    char path[SGC_OPTION_TEXT_BYTES + 64];
    bool fits = sgc_log_file_name(file->name, getpid(), NULL, path, sizeof path);

    sgc_assert(file->option != NULL && file->name != NULL);
    int fd = fits ? sgc_out_append(path) : -ENAMETOOLONG;

    file->is_open = false;
    if (fd >= 0 && remember(file, sgc_descriptor_above(fd)))
        return true;
    report(file, "opened", fd < 0 ? -fd : errno, "so nothing is written; name a file that can be created or appended to");
    return false;
}

static bool still_ours(const struct log_file *file)
{
    struct stat status;

    sgc_assert(file_ok(file) && file->is_open);
    return fstat(file->fd, &status) == 0 && status.st_dev == file->device && status.st_ino == file->inode;
}

/* Messages that went to the file go to stderr again. */
static void file_close(struct log_file *file)
{
    sgc_assert(file_ok(file));
    if (!file->is_open)
        return;
    if (sgc_report_fd() == file->fd)
        sgc_report_to(STDERR_FILENO);   /* before it is gone: the next message may be about that */
    if (still_ours(file))
        close(file->fd);
    file->is_open = false;
}

/* Makes the file right for this process: after a fork the child opens its own if the name says %p,
 * shares its parent's, or stops.  False when there is no file to write to (any more). */
static bool file_ready(struct log_file *file)
{
    sgc_assert(file_ok(file));
    if (!file->is_open)
        return false;
    if (file->pid != getpid()) {
        if (strstr(file->name, "%p") != NULL) {
            file_close(file);
            return file_open(file);
        }
        if (!file->share)
            file_close(file);
        file->pid = getpid();
    }
    if (file->is_open && !still_ours(file))
        file_close(file);       /* the program closed it: its descriptor now, or nobody's */
    sgc_assert(!file->is_open || file->pid == getpid());
    return file->is_open;
}

/* A line of which only the beginning found room goes again, unless there is something behind it by
 * now. */
static void take_back(const struct log_file *file, size_t written)
{
    off_t end = lseek(file->fd, 0, SEEK_CUR);
    struct stat status;

    sgc_assert(written > 0);
    if (fstat(file->fd, &status) == 0 && S_ISREG(status.st_mode) && end >= (off_t)written && status.st_size == end &&
        ftruncate(file->fd, end - (off_t)written) != 0)
        return;
}

/* Appends `length` bytes.  A failure is reported once and ends the file. */
static void file_write(struct log_file *file, const char *text, size_t length)
{
    size_t written;
    int error;

    sgc_assert(file_ok(file));
    sgc_assert(length == 0 || text[length - 1] == '\n');        /* whole lines */
    if (!file->is_open)
        return;
    error = sgc_quiet_write_all(file->fd, text, length, &written);
    if (error == 0)
        return;
    if (written > 0)
        take_back(file, written);
    file_close(file);
    report(file, "written", error, "so it ends here; make room and start the program again");
}

/* ---- the two files ---- */

static struct log_file text_file SGC_STATE = {
    .option = "GC_LOG_FILE", .name = sgc_options.log_file, .share = true
};
static struct log_file json_file SGC_STATE = { .option = "SGC_LOG_JSON", .name = sgc_options.log };

/* A collection happens inside the client's allocations: they leave errno alone, and a cancelled
 * thread must not end in the collector's write(2), with the lock of the collection held. */
struct guard {
    int error, cancel_state;
};

static void guard_begin(struct guard *guard)
{
    guard->error = errno;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancel_state);
}

static void guard_end(const struct guard *guard)
{
    pthread_setcancelstate(guard->cancel_state, NULL);
    errno = guard->error;
}

/* ---- GC_LOG_FILE
 * ------------------------------------------------------------------------------------- */

static void aim_messages(void)
{
    sgc_assert(file_ok(&text_file) && text_file.is_open);
    if (!sgc_options.only_log_to_file)
        sgc_report_to_own(text_file.fd);
}

static void write_text(const struct sgc_line *line)
{
    struct sgc_line whole;

    sgc_line_start(&whole);
    sgc_line_add(&whole, "SGC: %s", line->text);
    if (whole.used == sizeof whole.text - 1)
        whole.used--;                   /* cut off already: the newline matters more */
    whole.text[whole.used++] = '\n';
    sgc_assert(whole.used <= sizeof whole.text);
    file_write(&text_file, whole.text, whole.used);
}

void sgc_log_text(const struct sgc_line *line)
{
    struct guard guard;
    pid_t before = text_file.pid;

    sgc_assert(sgc_log_line_ok(line));
    guard_begin(&guard);
    if (file_ready(&text_file)) {
        if (text_file.pid != before)
            aim_messages();             /* they follow the file of a child of a fork */
        write_text(line);
    }
    if (!text_file.is_open)
        sgc_print("%s", line->text);
    guard_end(&guard);
}

/* ---- SGC_LOG_JSON
 * ----------------------------------------------------------------------------------------- */

/* The plain members, in the order in which they are written. */
static const struct member { const char *name; size_t offset; } times[] = {
    { "request_ns", offsetof(struct sgc_cycle_record, times.request_ns) },
    { "stop_begin_ns", offsetof(struct sgc_cycle_record, times.stop_begin_ns) },
    { "stopped_ns", offsetof(struct sgc_cycle_record, times.stopped_ns) },
    { "resumed_ns", offsetof(struct sgc_cycle_record, times.resumed_ns) },
    { "clear_ns", offsetof(struct sgc_cycle_record, times.clear_ns) },
}, amounts[] = {
    { "threads_stopped", offsetof(struct sgc_cycle_record, threads.stopped) },
    { "threads_blocked", offsetof(struct sgc_cycle_record, threads.blocked) },
    { "root_bytes", offsetof(struct sgc_cycle_record, marked.root_bytes) },
    { "marked_objects", offsetof(struct sgc_cycle_record, marked.objects) },
    { "marked_bytes", offsetof(struct sgc_cycle_record, marked.bytes) },
    { "pointer_free_bytes", offsetof(struct sgc_cycle_record, marked.pointer_free_bytes) },
    { "live_bytes_before", offsetof(struct sgc_cycle_record, heap.live_bytes_before) },
    { "live_bytes_after", offsetof(struct sgc_cycle_record, heap.live_bytes_after) },
    { "heap_bytes", offsetof(struct sgc_cycle_record, heap.bytes) },
    { "free_bytes", offsetof(struct sgc_cycle_record, heap.free_bytes) },
    { "returned_bytes", offsetof(struct sgc_cycle_record, heap.returned_bytes) },
    { "allocated_bytes", offsetof(struct sgc_cycle_record, heap.allocated_bytes) },
    { "rescans", offsetof(struct sgc_cycle_record, marked.rescans) },
    { "mark_stack_depth", offsetof(struct sgc_cycle_record, marked.stack_depth) },
    { "markers", offsetof(struct sgc_cycle_record, marked.markers) },
    { "steals", offsetof(struct sgc_cycle_record, marked.steals) },
    { "stolen", offsetof(struct sgc_cycle_record, marked.stolen) },
    { "steals_far", offsetof(struct sgc_cycle_record, marked.steals_far) },
    { "pages_consumed_most", offsetof(struct sgc_cycle_record, pages.consumed_max) },
    { "pages_taken", offsetof(struct sgc_cycle_record, pages.taken) },
    { "pages_fresh", offsetof(struct sgc_cycle_record, pages.fresh) },
    { "pages_remote", offsetof(struct sgc_cycle_record, pages.remote) },
    { "pages_foreign", offsetof(struct sgc_cycle_record, pages.foreign) },
    { "pages_far", offsetof(struct sgc_cycle_record, pages.far) },
    { "pages_live_most", offsetof(struct sgc_cycle_record, pages.live_max) },
    { "earlier_stops", offsetof(struct sgc_cycle_record, concurrent.earlier_stops) },
    { "earlier_stops_ns", offsetof(struct sgc_cycle_record, concurrent.earlier_stops_ns) },
    { "longest_stop_ns", offsetof(struct sgc_cycle_record, concurrent.longest_stop_ns) },
    { "concurrent_ns", offsetof(struct sgc_cycle_record, concurrent.marking_ns) },
    { "rounds", offsetof(struct sgc_cycle_record, concurrent.rounds) },
    { "written_pages", offsetof(struct sgc_cycle_record, concurrent.written_pages) },
    { "assists", offsetof(struct sgc_cycle_record, concurrent.waits[SGC_ASSIST].times) },
    { "assists_ns", offsetof(struct sgc_cycle_record, concurrent.waits[SGC_ASSIST].ns) },
    { "assists_worth_ns", offsetof(struct sgc_cycle_record, concurrent.waits[SGC_ASSIST].worth_ns) },
    { "longest_assist_ns", offsetof(struct sgc_cycle_record, concurrent.waits[SGC_ASSIST].longest_ns) },
    { "assist_over_ns", offsetof(struct sgc_cycle_record, concurrent.waits[SGC_ASSIST].over_ns) },
    { "stalls", offsetof(struct sgc_cycle_record, concurrent.waits[SGC_STALL].times) },
    { "stalls_ns", offsetof(struct sgc_cycle_record, concurrent.waits[SGC_STALL].ns) },
    { "stalls_worth_ns", offsetof(struct sgc_cycle_record, concurrent.waits[SGC_STALL].worth_ns) },
    { "longest_stall_ns", offsetof(struct sgc_cycle_record, concurrent.waits[SGC_STALL].longest_ns) },
    { "stall_over_ns", offsetof(struct sgc_cycle_record, concurrent.waits[SGC_STALL].over_ns) },
};

static void add_members(struct sgc_line *line, const struct sgc_cycle_record *record, const struct member *members,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value;
        sgc_assert(members[i].offset % sizeof value == 0 && members[i].offset + sizeof value <= sizeof *record);
        memcpy(&value, (const char *)record + members[i].offset, sizeof value);
        sgc_line_add(line, ",\"%s\":%lu", members[i].name, (unsigned long)value);
    }
}

void sgc_log_json(const struct sgc_cycle_record *record, long pid, struct sgc_line *line)
{
    sgc_assert(sgc_cycle_ok(record) && pid > 0);
    sgc_line_start(line);
    sgc_line_add(line, "{\"version\":%d,\"pid\":%ld,\"cycle\":%lu,\"reason\":\"%s\",\"stopped_for\":\"%s\"",
                 SGC_LOG_VERSION, pid, (unsigned long)record->cycle, sgc_reason_name(record->reason),
                 sgc_stopped_for_name(record->stopped_for));
    add_members(line, record, times, sizeof times / sizeof times[0]);
    sgc_line_add(line, ",\"pause_ns\":%lu,\"parts_ns\":{", (unsigned long)sgc_cycle_pause_ns(record));
    for (int i = 0; i < SGC_PHASES; i++)
        sgc_line_add(line, "%s\"%s\":%lu", i > 0 ? "," : "", sgc_phase_name((enum sgc_phase)i),
                     (unsigned long)record->times.phase_ns[i]);
    sgc_line_add(line, "}");
    sgc_assert(sgc_log_line_ok(line));
    add_members(line, record, amounts, sizeof amounts / sizeof amounts[0]);
    sgc_line_add(line, "}");
}

static void on_cycle_end(void *context, const struct sgc_cycle_record *record)
{
    struct guard guard;
    struct sgc_line line;

    sgc_assert(sgc_cycle_check(record));
    (void)context;
    guard_begin(&guard);
    if (file_ready(&json_file)) {
        sgc_log_json(record, getpid(), &line);
        sgc_line_add(&line, "\n");
        sgc_assert(sgc_log_line_ok(&line) && line.text[line.used - 1] == '\n');     /* no number was too long for it */
        file_write(&json_file, line.text, line.used);
    }
    guard_end(&guard);
}

static const struct sgc_listener listener = { .cycle_end = on_cycle_end };

/* ---- start and stop
 * ---------------------------------------------------------------------------------- */

void sgc_log_start(void)
{
    sgc_assert(!text_file.is_open && !json_file.is_open);
    if (sgc_options.log_file[0] != '\0' && file_open(&text_file))
        aim_messages();
    if (sgc_options.log[0] != '\0' && file_open(&json_file) && !sgc_listener_add(&listener)) {
        file_close(&json_file);
        sgc_warn("SGC_LOG_JSON=%s: %d listeners are registered already, so it is not written", sgc_options.log,
                 SGC_LISTENERS_MAX);
    }
}

void sgc_log_stop(void)
{
    sgc_listener_remove(&listener);
    file_close(&json_file);
    file_close(&text_file);
    sgc_assert(!text_file.is_open && !json_file.is_open);
}
