/* SPDX-License-Identifier: MIT */
/*
 * The text of the timeline (gc/events/trace.h): each event is an object of JSON on a line of its
 * own, with a comma behind it.  Pure.
 */
#ifndef SGC_GC_EVENTS_TRACE_TEXT_H
#define SGC_GC_EVENTS_TRACE_TEXT_H

#include <string.h>

#include "gc/events/trace_buffer.h"
#include "platform/text_line.h"

enum { SGC_TRACE_TRACK = (1 << 22) + 1 };       /* of collections: no thread has so high a number */

/* The line of events on which the viewer shows one: a thread's, or the one of collections. */
struct sgc_trace_track {
    int pid, tid;
};

/* ---- an event begins, gets arguments, and ends ---- */

/* Microseconds, exactly. */
static inline void sgc_trace_add_time(struct sgc_line *line, const char *key, uint64_t ns)
{
    sgc_line_add(line, ",\"%s\":", key);
    sgc_line_fixed(line, ns, 1000, 3);
}

/*
 * The duration, with more digits where it needs them.  Viewers add doubles, and leave out a span
 * that ends an ulp after its neighbour begins: the doubles of begin and duration have to add up to
 * that of the end.
 */
static inline void sgc_trace_add_duration(struct sgc_line *line, uint64_t from_ns, uint64_t to_ns)
{
    double from = (double)from_ns / 1000, to = (double)to_ns / 1000, duration = (double)(to_ns - from_ns) / 1000;
    bool is_in_reach = to_ns < UINT64_C(1) << 52 && to_ns - from_ns < UINT64_C(1) << 40;

    if (from + duration == to || !is_in_reach) {
        sgc_trace_add_time(line, "dur", to_ns - from_ns);
    } else {
        sgc_line_add(line, ",\"dur\":");
        sgc_line_fixed(line, (uint64_t)((to - from) * 1e9 + 0.5), 1000000000, 9);
    }
}

static inline void sgc_trace_event(struct sgc_line *line, struct sgc_trace_track track, const char *name, char type)
{
    sgc_line_start(line);
    sgc_line_add(line, "{\"name\":\"%s\",\"ph\":\"%c\",\"pid\":%d,\"tid\":%d", name, type, track.pid, track.tid);
}

static inline void sgc_trace_add_span(struct sgc_line *line, struct sgc_trace_track track, const char *name, uint64_t from_ns,
                                      uint64_t to_ns)
{
    sgc_assert(from_ns <= to_ns);
    sgc_trace_event(line, track, name, 'X');
    sgc_trace_add_time(line, "ts", from_ns);
    sgc_trace_add_duration(line, from_ns, to_ns);
    sgc_line_add(line, ",\"args\":{");
}

static inline void sgc_trace_add_instant(struct sgc_line *line, struct sgc_trace_track track, const char *name, uint64_t ns)
{
    sgc_trace_event(line, track, name, 'i');
    sgc_trace_add_time(line, "ts", ns);
    sgc_line_add(line, ",\"s\":\"t\",\"args\":{");
}

static inline void sgc_trace_add_comma(struct sgc_line *line)
{
    sgc_assert(line->used != 0);
    if (line->text[line->used - 1] != '{')
        sgc_line_add(line, ",");
}

static inline void sgc_trace_add_number(struct sgc_line *line, const char *key, uint64_t value)
{
    sgc_trace_add_comma(line);
    sgc_line_add(line, "\"%s\":%lu", key, (unsigned long)value);
}

/* `text`: without what JSON would need an escape for. */
static inline void sgc_trace_add_word(struct sgc_line *line, const char *key, const char *text)
{
    sgc_trace_add_comma(line);
    sgc_line_add(line, "\"%s\":\"%s\"", key, text);
}

static inline void sgc_trace_add_end(struct sgc_line *line)
{
    sgc_line_add(line, "}},\n");
}

/* ---- whole events ---- */

/* The viewer shows `name` for a thread, or for the process: key says which.  The name loses what
 * JSON needs an escape for. */
static inline void sgc_trace_name_event(struct sgc_line *line, struct sgc_trace_track track, const char *key, const char *given)
{
    char name[2 * SGC_THREAD_NAME];

    sgc_format(name, sizeof name, "%s", given);
    sgc_make_shown(name);
    for (char *at = name; *at != '\0'; at++)
        if (*at == '"' || *at == '\\')
            *at = '\'';
    sgc_trace_event(line, track, key, 'M');
    sgc_line_add(line, ",\"args\":{");
    sgc_trace_add_word(line, "name", name);
    sgc_trace_add_end(line);
}

static inline void sgc_trace_order_event(struct sgc_line *line, struct sgc_trace_track track, const char *order)
{
    sgc_trace_event(line, track, "thread_sort_index", 'M');
    sgc_line_add(line, ",\"args\":{\"sort_index\":%s", order);
    sgc_trace_add_end(line);
}

static inline void sgc_trace_counter_event(struct sgc_line *line, struct sgc_trace_track track, const char *name, uint64_t ns,
                                           uint64_t bytes)
{
    sgc_trace_event(line, track, name, 'C');
    sgc_trace_add_time(line, "ts", ns);
    sgc_line_add(line, ",\"args\":{");
    sgc_trace_add_number(line, "bytes", bytes);
    sgc_trace_add_end(line);
}

/* ---- what threads have put into the buffer ---- */

struct sgc_trace_kind {
    const char *name;
    const char *arg[SGC_TRACE_ARGS];
};

static inline const struct sgc_trace_kind *sgc_trace_kind(uint32_t what)
{
    static const struct sgc_trace_kind kinds[SGC_TRACE_WHATS] = {
        [SGC_TRACE_STOPPED] = { "stopped", { NULL } },
        [SGC_TRACE_MARKED] = { "mark", { "objects", "bytes", "steals" } },
        [SGC_TRACE_ASSISTED] = { "assist", { NULL } },
        [SGC_TRACE_STALLED] = { "stall", { NULL } },
        [SGC_TRACE_FINALIZED] = { "finalizers", { "count" } },
        [SGC_TRACE_SWEPT] = { "sweep", { NULL } },
        [SGC_TRACE_GAVE_BACK] = { "give back", { "bytes" } },
        [SGC_TRACE_CONCURRENT] = { "concurrent marking", { NULL } },
        [SGC_TRACE_ROUND] = { "round", { NULL } },
        [SGC_TRACE_GREW] = { "heap grown", { "bytes" } },
        [SGC_TRACE_NAMED] = { "thread_name", { NULL } },
    };

    sgc_assert(what < SGC_TRACE_WHATS);
    return &kinds[what];
}

/* The lead works for its cycle: that goes on the track of collections. */
static inline void sgc_trace_entry_event(struct sgc_line *line, int pid, const struct sgc_trace_entry *entry)
{
    bool of_cycle = entry->what == SGC_TRACE_CONCURRENT || entry->what == SGC_TRACE_ROUND;
    const struct sgc_trace_kind *kind = sgc_trace_kind(entry->what);
    struct sgc_trace_track track = { pid, of_cycle ? (int)SGC_TRACE_TRACK : (int)entry->tid };
    char name[sizeof entry->arg];

    if (entry->what == SGC_TRACE_NAMED) {
        memcpy(name, entry->arg, sizeof name);
        name[sizeof name - 1] = '\0';
        sgc_trace_name_event(line, track, kind->name, name);
        return;
    }
    if (entry->what == SGC_TRACE_GREW)
        sgc_trace_add_instant(line, track, kind->name, entry->to_ns);
    else
        sgc_trace_add_span(line, track, kind->name, entry->from_ns, entry->to_ns);
    for (int i = 0; i < SGC_TRACE_ARGS && kind->arg[i] != NULL; i++)
        sgc_trace_add_number(line, kind->arg[i], entry->arg[i]);
    sgc_trace_add_end(line);
}

#endif
