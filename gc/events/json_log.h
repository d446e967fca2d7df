/* SPDX-License-Identifier: MIT */
/*
 * The two files the collector writes: GC_LOG_FILE (messages and statistics as text) and
 * SGC_LOG_JSON (a JSON object per collection, see doc/log-format.md).
 *
 * Opened at start; written on the collecting thread after the world runs again, a line a write(2),
 * from fixed buffers.
 */
#ifndef SGC_GC_EVENTS_JSON_LOG_H
#define SGC_GC_EVENTS_JSON_LOG_H

#include "gc/events/events.h"
#include "gc/events/log_file.h"
#include "platform/text_line.h"

#define SGC_LOG_VERSION 1           /* of the format; see doc/log-format.md */

/* Is it a text that ends where the line says? */
static inline bool sgc_log_line_ok(const struct sgc_line *line)
{
    return line->used < sizeof line->text && line->text[line->used] == '\0';
}

/* Opens what the options name and begins to listen.  A file that cannot be opened is reported, and
 * the program goes on without it.  Once, after sgc_options_read. */
void sgc_log_start(void);

/* Writes a line of statistics, "SGC: " before it, to GC_LOG_FILE or where messages go. */
void sgc_log_text(const struct sgc_line *line);

/* The JSON object of a record, without the newline. */
void sgc_log_json(const struct sgc_cycle_record *record, long pid, struct sgc_line *line);

/* Closes both files and stops listening.  For tests. */
void sgc_log_stop(void);

#endif
