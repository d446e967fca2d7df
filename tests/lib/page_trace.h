/* SPDX-License-Identifier: MIT */
/*
 * Page demands: who takes pages and whose pages become empty, in order, whatever policy serves them.
 *
 * As text, a line each:
 *
 *     # anything
 *     t OWNER COUNT    the thread takes so many pages, one after the other
 *     g OWNER COUNT    so many of its pages become empty and go back
 *     l PAGES          from here on l, the most pages found live at the end of a mark, is known to be this
 *
 * tests/traces/ has a text that was recorded on the heap; tests/lib/page_replay.h serves it.
 */
#ifndef TESTS_LIB_PAGE_TRACE_H
#define TESTS_LIB_PAGE_TRACE_H

#include <stdint.h>
#include <string.h>

#include "tests/lib/tap.h"

enum { TRACE_OWNERS = 16 };         /* owners are numbered from 1 */

struct trace_event {
    char what;                      /* 't', 'g' or 'l' */
    uint32_t owner;
    uint32_t count;
};

struct trace {
    struct trace_event *event;
    size_t events, room;
};

TEST_UNUSED static void trace_add(struct trace *trace, char what, uint32_t owner, uint32_t count)
{
    if (trace->events == trace->room) {
        trace->room = trace->room * 2 + 256;
        trace->event = realloc(trace->event, trace->room * sizeof *trace->event);
        if (trace->event == NULL)
            abort();
    }
    trace->event[trace->events++] = (struct trace_event){ what, owner, count };
}

TEST_UNUSED static void trace_free(struct trace *trace)
{
    free(trace->event);
    *trace = (struct trace){ NULL, 0, 0 };
}

static bool trace_line(const char *line, struct trace *trace)
{
    unsigned a, b;

    if (line[0] == '#' || line[0] == '\n')
        return true;
    if (sscanf(line, "l %u", &a) == 1)
        trace_add(trace, 'l', 0, a);
    else if ((line[0] == 't' || line[0] == 'g') && sscanf(line + 1, " %u %u", &a, &b) == 2 &&
             a >= 1 && a < TRACE_OWNERS && b >= 1)
        trace_add(trace, line[0], a, b);
    else
        return false;
    return true;
}

/* Nobody gives what it has not taken, and l is no more than was in use. */
static bool trace_consistent(const struct trace *trace)
{
    uint32_t held[TRACE_OWNERS] = { 0 }, all = 0, most = 0;

    for (size_t i = 0; i < trace->events; i++) {
        const struct trace_event *e = &trace->event[i];

        if (e->what == 't') {
            held[e->owner] += e->count;
            all += e->count;
        } else if (e->what == 'g') {
            if (held[e->owner] < e->count)
                return false;
            held[e->owner] -= e->count;
            all -= e->count;
        } else if (e->count > most) {
            return false;
        }
        most = all > most ? all : most;
    }
    return true;
}

/* False, and what was wrong in `wrong`, if this is no trace. */
TEST_UNUSED static bool trace_read(FILE *file, struct trace *trace, char *wrong, size_t room)
{
    char line[256];
    int number = 0;

    *trace = (struct trace){ NULL, 0, 0 };
    while (fgets(line, sizeof line, file) != NULL) {
        number++;
        if (!trace_line(line, trace)) {
            snprintf(wrong, room, "line %d: %.60s", number, line);
            return false;
        }
    }
    if (trace->events == 0) {
        snprintf(wrong, room, "has no event");
        return false;
    }
    snprintf(wrong, room, "gives pages it has not taken, or knows of live ones it never had");
    return trace_consistent(trace);
}

#endif
