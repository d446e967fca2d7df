/* SPDX-License-Identifier: MIT */
/*
 * GC_LOG_FILE and SGC_LOG_JSON.  Opened on the initialising thread; written in cycle_end, that is on the
 * collecting thread with the world running and the lock of the collection held, and by the summary at exit.
 */
#include "gc/events/json_log.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "gc/events/log_file.h"
#include "gc/config/options.h"

static struct sgc_log_file text_file SGC_STATE = {
    .option = "GC_LOG_FILE", .name = sgc_options.log_file, .share = true
};
static struct sgc_log_file json_file SGC_STATE = { .option = "SGC_LOG_JSON", .name = sgc_options.log };

/* A collection happens inside the client's allocations: they leave errno alone, and a cancelled
 * thread must not end in our write(2), with the lock of the collection held. */
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

/* ---- GC_LOG_FILE ------------------------------------------------------------------------------------- */

static void aim_messages(void)
{
    sgc_assert(sgc_log_file_ok(&text_file) && text_file.is_open);
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
    sgc_log_file_write(&text_file, whole.text, whole.used);
}

void sgc_log_text(const struct sgc_line *line)
{
    struct guard guard;
    pid_t before = text_file.pid;

    sgc_assert(sgc_log_line_ok(line));
    guard_begin(&guard);
    if (sgc_log_file_ready(&text_file)) {
        if (text_file.pid != before)
            aim_messages();             /* they follow the file of a child of a fork */
        write_text(line);
    }
    if (!text_file.is_open)
        sgc_print("%s", line->text);
    guard_end(&guard);
}

/* ---- SGC_LOG_JSON ----------------------------------------------------------------------------------------- */

/* The plain members, in the order in which they are written. */
static const struct member { const char *name; size_t offset; } times[] = {
    { "request_ns", offsetof(struct sgc_cycle_record, request_ns) },
    { "stop_begin_ns", offsetof(struct sgc_cycle_record, stop_begin_ns) },
    { "stopped_ns", offsetof(struct sgc_cycle_record, stopped_ns) },
    { "resumed_ns", offsetof(struct sgc_cycle_record, resumed_ns) },
    { "clear_ns", offsetof(struct sgc_cycle_record, clear_ns) },
}, amounts[] = {
    { "threads_stopped", offsetof(struct sgc_cycle_record, threads_stopped) },
    { "threads_blocked", offsetof(struct sgc_cycle_record, threads_blocked) },
    { "root_bytes", offsetof(struct sgc_cycle_record, root_bytes) },
    { "marked_objects", offsetof(struct sgc_cycle_record, marked_objects) },
    { "marked_bytes", offsetof(struct sgc_cycle_record, marked_bytes) },
    { "pointer_free_bytes", offsetof(struct sgc_cycle_record, pointer_free_bytes) },
    { "live_bytes_before", offsetof(struct sgc_cycle_record, live_bytes_before) },
    { "live_bytes_after", offsetof(struct sgc_cycle_record, live_bytes_after) },
    { "heap_bytes", offsetof(struct sgc_cycle_record, heap_bytes) },
    { "free_bytes", offsetof(struct sgc_cycle_record, free_bytes) },
    { "returned_bytes", offsetof(struct sgc_cycle_record, returned_bytes) },
    { "allocated_bytes", offsetof(struct sgc_cycle_record, allocated_bytes) },
    { "rescans", offsetof(struct sgc_cycle_record, rescans) },
    { "mark_stack_depth", offsetof(struct sgc_cycle_record, mark_stack_depth) },
    { "markers", offsetof(struct sgc_cycle_record, markers) },
    { "steals", offsetof(struct sgc_cycle_record, steals) },
    { "stolen", offsetof(struct sgc_cycle_record, stolen) },
    { "steals_far", offsetof(struct sgc_cycle_record, steals_far) },
    { "pages_consumed_most", offsetof(struct sgc_cycle_record, pages_consumed_max) },
    { "pages_taken", offsetof(struct sgc_cycle_record, pages_taken) },
    { "pages_fresh", offsetof(struct sgc_cycle_record, pages_fresh) },
    { "pages_remote", offsetof(struct sgc_cycle_record, pages_remote) },
    { "pages_foreign", offsetof(struct sgc_cycle_record, pages_foreign) },
    { "pages_far", offsetof(struct sgc_cycle_record, pages_far) },
    { "pages_live_most", offsetof(struct sgc_cycle_record, pages_live_max) },
    { "earlier_stops", offsetof(struct sgc_cycle_record, earlier_stops) },
    { "earlier_stops_ns", offsetof(struct sgc_cycle_record, earlier_stops_ns) },
    { "longest_stop_ns", offsetof(struct sgc_cycle_record, longest_stop_ns) },
    { "concurrent_ns", offsetof(struct sgc_cycle_record, concurrent_ns) },
    { "rounds", offsetof(struct sgc_cycle_record, rounds) },
    { "written_pages", offsetof(struct sgc_cycle_record, written_pages) },
    { "assists", offsetof(struct sgc_cycle_record, assists) },
    { "assists_ns", offsetof(struct sgc_cycle_record, assists_ns) },
    { "longest_assist_ns", offsetof(struct sgc_cycle_record, longest_assist_ns) },
    { "stalls", offsetof(struct sgc_cycle_record, stalls) },
    { "stalls_ns", offsetof(struct sgc_cycle_record, stalls_ns) },
    { "longest_stall_ns", offsetof(struct sgc_cycle_record, longest_stall_ns) },
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
    sgc_line_add(line, "{\"version\":%d,\"pid\":%ld,\"cycle\":%lu,\"reason\":\"%s\"", SGC_LOG_VERSION, pid,
                 (unsigned long)record->cycle, sgc_reason_name(record->reason));
    add_members(line, record, times, sizeof times / sizeof times[0]);
    sgc_line_add(line, ",\"pause_ns\":%lu,\"parts_ns\":{", (unsigned long)sgc_cycle_pause_ns(record));
    for (int i = 0; i < SGC_PHASES; i++)
        sgc_line_add(line, "%s\"%s\":%lu", i > 0 ? "," : "", sgc_phase_name((enum sgc_phase)i),
                     (unsigned long)record->phase_ns[i]);
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
    if (sgc_log_file_ready(&json_file)) {
        sgc_log_json(record, getpid(), &line);
        sgc_line_add(&line, "\n");
        sgc_assert(sgc_log_line_ok(&line) && line.text[line.used - 1] == '\n');     /* no number was too long for it */
        sgc_log_file_write(&json_file, line.text, line.used);
    }
    guard_end(&guard);
}

static const struct sgc_listener listener = { .cycle_end = on_cycle_end };

/* ---- start and stop ---------------------------------------------------------------------------------- */

void sgc_log_start(void)
{
    sgc_assert(!text_file.is_open && !json_file.is_open);
    if (sgc_options.log_file[0] != '\0' && sgc_log_file_open(&text_file))
        aim_messages();
    if (sgc_options.log[0] != '\0' && sgc_log_file_open(&json_file) && !sgc_listener_add(&listener)) {
        sgc_log_file_close(&json_file);
        sgc_warn("SGC_LOG_JSON=%s: %d listeners are registered already, so it is not written", sgc_options.log,
                 SGC_LISTENERS_MAX);
    }
}

void sgc_log_stop(void)
{
    sgc_listener_remove(&listener);
    sgc_log_file_close(&json_file);
    sgc_log_file_close(&text_file);
    sgc_assert(!text_file.is_open && !json_file.is_open);
}
