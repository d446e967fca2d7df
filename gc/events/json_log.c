/* SPDX-License-Identifier: MIT */
/*
 * GC_LOG_FILE and SGC_LOG_JSON.  Opened on the initialising thread; written in cycle_end, that is
 * on the collecting thread with the world running and the lock of the collection held, and by the
 * summary at exit.
 */
#include "gc/events/json_log.h"

#include <string.h>
#include <unistd.h>

#include "gc/config/options.h"
#include "platform/platform.h"
#include "platform/report.h"
#include "platform/text_line.h"

/* ---- the two files ---- */

static struct sgc_log_file text_file SGC_STATE = {
    .option = "GC_LOG_FILE", .name = sgc_options.log_file, .share = true
};
static struct sgc_log_file json_file SGC_STATE = { .option = "SGC_LOG_JSON", .name = sgc_options.log };

/* ---- GC_LOG_FILE
 * ------------------------------------------------------------------------------------- */

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
    struct sgc_log_guard guard;
    pid_t before = text_file.pid;

    sgc_assert(sgc_log_line_ok(line));
    sgc_log_guard_begin(&guard);
    if (sgc_log_file_ready(&text_file)) {
        if (text_file.pid != before)
            aim_messages();             /* they follow the file of a child of a fork */
        write_text(line);
    }
    if (!text_file.is_open)
        sgc_print("%s", line->text);
    sgc_log_guard_end(&guard);
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
    struct sgc_log_guard guard;
    struct sgc_line line;

    sgc_assert(sgc_cycle_check(record));
    (void)context;
    sgc_log_guard_begin(&guard);
    if (sgc_log_file_ready(&json_file)) {
        sgc_log_json(record, getpid(), &line);
        sgc_line_add(&line, "\n");
        sgc_assert(sgc_log_line_ok(&line) && line.text[line.used - 1] == '\n');     /* no number was too long for it */
        sgc_log_file_write(&json_file, line.text, line.used);
    }
    sgc_log_guard_end(&guard);
}

static const struct sgc_listener listener = { .cycle_end = on_cycle_end };

/* ---- start and stop
 * ---------------------------------------------------------------------------------- */

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
