/* SPDX-License-Identifier: MIT */
/*
 * See gc/events/trace.h.  All state is used by one thread at a time: the initialising one, then the
 * collecting one under the lock of the collection.
 *
 * Collections, stops and their parts are on a track of their own, as another thread may make each
 * stop of a concurrent cycle.  They are written from the cycle's record, so they agree with
 * SGC_LOG_JSON to the nanosecond.  An event comes behind the one that it lies in if both begin at
 * once.
 */
#include "gc/events/trace.h"

#include <string.h>
#include <unistd.h>

#include "gc/config/options.h"
#include "gc/events/events.h"
#include "gc/events/log_file.h"
#include "gc/events/trace_text.h"
#include "options/option_file.h"
#include "platform/text_line.h"

enum { TEXT_BYTES = 256 << 10 };        /* written when a cycle is over, or when they are full */

struct trace {
    struct sgc_log_file file;
    struct sgc_option_file option;
    char *text;
    size_t used;
    uint64_t stops;                     /* of the cycle so far */
};

SGC_STATE static struct trace trace = { .file = { .option = "SGC_TRACE", .name = trace.option.pattern, .anew = true } };

_Static_assert(sizeof trace.option.pattern >= SGC_OPTION_TEXT_BYTES, "any option fits");

/* ---- text ---- */

static void write_text(void)
{
    if (trace.used != 0)
        sgc_log_file_write(&trace.file, trace.text, trace.used);
    trace.used = 0;
    if (!trace.file.is_open)
        sgc_a32_store(&sgc_trace_on, 0);
}

static void put_text(const struct sgc_line *line)
{
    sgc_assert(line->used < sizeof line->text - 1 && line->text[line->used - 1] == '\n');   /* nothing was cut off */
    if (TEXT_BYTES - trace.used < line->used)
        write_text();
    memcpy(trace.text + trace.used, line->text, line->used);
    trace.used += line->used;
}

/* A thread's; SGC_TRACE_TRACK: that of collections. */
static struct sgc_trace_track track_of(sgc_tid_t tid)
{
    return (struct sgc_trace_track){ (int)trace.file.pid, (int)tid };
}

static struct sgc_trace_track collections(void)
{
    return track_of(SGC_TRACE_TRACK);
}

static void end(struct sgc_line *line)
{
    sgc_trace_add_end(line);
    put_text(line);
}

/* ---- what threads have put into the buffer ---- */

static void put_entry(void *unused, const struct sgc_trace_entry *entry)
{
    struct sgc_line line;

    (void)unused;
    if (!sgc_trace_entry_ok(entry))
        return;
    sgc_trace_entry_event(&line, (int)trace.file.pid, entry);
    put_text(&line);
}

static void take_entries(void)
{
    uint32_t dropped = sgc_trace_take(put_entry, NULL);
    struct sgc_line line;

    if (dropped == 0)
        return;
    sgc_trace_add_instant(&line, collections(), "events dropped", sgc_clock_ns());
    sgc_trace_add_number(&line, "count", dropped);
    end(&line);
}

/* ---- the file ---- */

static void put_head(void)
{
    struct sgc_line line;
    char name[SGC_THREAD_NAME];

    sgc_line_start(&line);
    sgc_line_add(&line, "[\n");
    put_text(&line);
    sgc_thread_name(name);
    sgc_trace_name_event(&line, collections(), "process_name", name);
    put_text(&line);
    sgc_trace_name_event(&line, collections(), sgc_trace_kind(SGC_TRACE_NAMED)->name, "collections");
    put_text(&line);
    sgc_trace_order_event(&line, collections(), "-1");
    put_text(&line);
}

/* A child of a fork begins its own file, or writes none: what its parent has not written yet is the
 * parent's.  False: there is no file (any more). */
static bool is_ready(void)
{
    pid_t before = trace.file.pid;
    bool ready = sgc_log_file_ready(&trace.file);

    if (trace.file.pid != before) {
        trace.used = 0;
        if (ready)
            put_head();
    }
    if (!ready)
        sgc_a32_store(&sgc_trace_on, 0);
    return ready;
}

/* ---- cycles ---- */

/* The cycle under way ends at that time; `given_up`: as if it had not been. */
static void put_cycle(const struct sgc_cycle_record *record, uint64_t now, bool given_up)
{
    struct sgc_line line;

    if (record->reason == SGC_REASON_LIMIT) {
        sgc_trace_add_instant(&line, collections(), "heap limit reached", record->times.request_ns);
        end(&line);
    }
    sgc_trace_add_span(&line, collections(), "collection", record->times.request_ns, now);
    sgc_trace_add_number(&line, "cycle", record->cycle);
    sgc_trace_add_word(&line, "reason", sgc_reason_name(record->reason));
    if (given_up) {
        sgc_line_add(&line, ",\"given_up\":true");
    } else {
        sgc_trace_add_word(&line, "stopped_for", sgc_stopped_for_name(record->stopped_for));
        sgc_trace_add_number(&line, "live_bytes", record->heap.live_bytes_after);
        sgc_trace_add_number(&line, "heap_bytes", record->heap.bytes);
        sgc_trace_add_number(&line, "allocated_bytes", record->heap.allocated_bytes);
    }
    end(&line);
}

static void put_counter(const char *name, uint64_t ns, uint64_t bytes)
{
    struct sgc_line line;

    sgc_trace_counter_event(&line, collections(), name, ns, bytes);
    put_text(&line);
}

static void put_counters(const struct sgc_cycle_record *record)
{
    put_counter("live", record->times.stop_begin_ns, record->heap.live_bytes_before);
    put_counter("allocated since", record->times.stop_begin_ns, record->heap.allocated_bytes);
    put_counter("live", record->times.resumed_ns, record->heap.live_bytes_after);
    put_counter("allocated since", record->times.resumed_ns, 0);
    put_counter("heap", record->times.resumed_ns, record->heap.bytes);
}

static void put_parts(void)
{
    const struct sgc_trace_parts *parts = &sgc_trace_parts;
    bool snapshot = false;
    struct sgc_line line;

    for (uint32_t i = 0; i < parts->count; i++) {
        const struct sgc_trace_part *part = &parts->of[i];

        sgc_trace_add_span(&line, collections(), sgc_phase_name((enum sgc_phase)part->phase), part->from_ns, part->to_ns);
        end(&line);
        if (part->phase == SGC_PHASE_SNAPSHOT && !snapshot) {
            snapshot = true;
            sgc_trace_add_instant(&line, collections(), "snapshot", part->from_ns);
            end(&line);
        }
    }
}

/* The stop on both tracks, and its parts. */
static void put_stop(const struct sgc_cycle_record *record)
{
    uint64_t from_ns = record->times.stop_begin_ns, to_ns = record->times.resumed_ns;
    sgc_tid_t self = sgc_thread_id();
    struct sgc_line line;

    sgc_trace_add_span(&line, track_of(self), "collects", from_ns, to_ns);
    sgc_trace_add_number(&line, "cycle", record->cycle);
    end(&line);
    sgc_trace_add_span(&line, collections(), "pause", from_ns, to_ns);
    sgc_trace_add_number(&line, "cycle", record->cycle);
    sgc_trace_add_number(&line, "stop", ++trace.stops);
    sgc_trace_add_number(&line, "thread", self > 0 ? (uint64_t)self : 0);
    sgc_trace_add_number(&line, "threads_stopped", record->threads.stopped);
    sgc_trace_add_number(&line, "threads_blocked", record->threads.blocked);
    end(&line);
    put_parts();
}

/* ---- the listener ---- */

static void on_cycle_start(void *context, const struct sgc_cycle_record *record)
{
    struct sgc_log_guard guard;

    (void)context, (void)record;
    sgc_log_guard_begin(&guard);
    if (is_ready())
        trace.stops = 0;
    sgc_log_guard_end(&guard);
}

static void on_resumed(void *context, const struct sgc_cycle_record *record)
{
    struct sgc_log_guard guard;

    (void)context;
    sgc_log_guard_begin(&guard);
    if (is_ready()) {
        put_stop(record);
        take_entries();
        if (!record->complete && !record->concurrent.another_stop) {
            put_cycle(record, sgc_clock_ns(), true);
            write_text();
        }
    }
    sgc_log_guard_end(&guard);
}

static void end_cycle(const struct sgc_cycle_record *record, bool given_up)
{
    struct sgc_log_guard guard;

    sgc_log_guard_begin(&guard);
    if (is_ready()) {
        if (!given_up)
            put_counters(record);
        take_entries();
        put_cycle(record, sgc_clock_ns(), given_up);
        write_text();
    }
    sgc_log_guard_end(&guard);
}

static void on_cycle_end(void *context, const struct sgc_cycle_record *record)
{
    (void)context;
    end_cycle(record, false);
}

static void on_given_up(void *context, const struct sgc_cycle_record *record)
{
    (void)context;
    end_cycle(record, true);
}

/* On the thread itself, or, if it has ended without a word, on another. */
static void on_thread(void *context, sgc_tid_t tid)
{
    (void)context;
    if (tid == sgc_thread_id())
        sgc_trace_name();
}

static void on_heap_grown(void *context, size_t bytes)
{
    uint64_t now = sgc_trace_begin();

    (void)context;
    sgc_trace_span(SGC_TRACE_GREW, now, now, bytes);
}

/* A thread may have got its name since it was registered. */
static const struct sgc_listener listener = {
    .cycle_start = on_cycle_start,
    .resumed = on_resumed,
    .cycle_end = on_cycle_end,
    .given_up = on_given_up,
    .heap_grown = on_heap_grown,
    .thread_registered = on_thread,
    .thread_gone = on_thread,
};

/* ---- start and stop ---- */

static bool refuse(const char *why)
{
    char quoted[200];

    sgc_warn("SGC_TRACE=%s: %s; no timeline is written",
             sgc_quote(sgc_options.trace, strlen(sgc_options.trace), quoted, sizeof quoted), why);
    return false;
}

static bool has_memory(void)
{
    if (trace.text == NULL)
        trace.text = sgc_mem_obtain(TEXT_BYTES);
    return trace.text != NULL && sgc_trace_buffer_open();
}

bool sgc_trace_start(void)
{
    sgc_assert(!trace.file.is_open && !sgc_trace_wanted());
    if (sgc_options.trace[0] == '\0')
        return false;
    if (!sgc_option_file_parse(sgc_options.trace, NULL, 0, &trace.option))
        return refuse(trace.option.wrong);
    if (!has_memory())
        return refuse("the system refuses memory for events. Raise the limit (ulimit -v), or use Linux 4.14 or later");
    if (!sgc_log_file_open(&trace.file))
        return false;
    if (!sgc_listener_add(&listener)) {
        sgc_log_file_close(&trace.file);
        return refuse("as many listeners as there may be are registered already");
    }
    sgc_a32_store(&sgc_trace_on, 1);
    put_head();
    write_text();
    return sgc_trace_wanted();
}

void sgc_trace_after_fork(void)
{
    sgc_log_file_after_fork(&trace.file);
    if (!trace.file.again)
        sgc_a32_store(&sgc_trace_on, 0);
}

void sgc_trace_stop(void)
{
    struct sgc_log_guard guard;
    struct sgc_line line;

    sgc_listener_remove(&listener);
    sgc_log_guard_begin(&guard);
    if (is_ready()) {
        take_entries();
        sgc_trace_add_instant(&line, collections(), "the end", sgc_clock_ns());
        sgc_line_add(&line, "}}\n]\n");
        put_text(&line);
        write_text();
        sgc_log_file_close(&trace.file);
    }
    sgc_a32_store(&sgc_trace_on, 0);
    sgc_log_guard_end(&guard);
}
