/* SPDX-License-Identifier: MIT */
/*
 * The timeline: SGC_TRACE=PATTERN, a file of events that Perfetto and chrome://tracing show
 * (doc/tracing.md).
 *
 * The array form of the trace event format, an event a line.  The closing bracket comes when the
 * program ends; the format lets it be missing, so the file of a program that was killed opens, too.
 * Written on the thread that collects, with the world running and the lock of the collection held,
 * by one write(2) a cycle.  Threads put what they do into gc/events/trace_buffer.h.
 */
#ifndef SGC_GC_EVENTS_TRACE_H
#define SGC_GC_EVENTS_TRACE_H

#include <stdbool.h>

/* Opens the file that the option names and begins to listen; false: no timeline is written, with a
 * message if one was asked for.  Once, after sgc_options_read. */
bool sgc_trace_start(void);

/* In the child of a fork, which does not keep its parent's file. */
void sgc_trace_after_fork(void);

/* Writes what there is still, and the closing bracket.  With the GC lock. */
void sgc_trace_stop(void);

#endif
