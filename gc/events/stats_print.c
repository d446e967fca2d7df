/* SPDX-License-Identifier: MIT */
/*
 * Printing for GC_PRINT_STATS: a line per collection, on the collecting thread once the world runs
 * again, and a summary at exit.
 */
#include "gc/events/stats.h"

#include "platform/text_line.h"
#include "gc/events/json_log.h"
#include "gc/config/options.h"
#include "platform/nodes/placement.h"
#include "platform/report.h"

/* ---- a line per collection --------------------------------------------------------------------------- */

static void add_parts(struct sgc_line *line, const uint64_t phase_ns[SGC_PHASES])
{
    for (int i = 0; i < SGC_PHASES; i++) {
        if (i == SGC_PHASE_SNAPSHOT && phase_ns[i] == 0)
            continue;
        sgc_line_add(line, "%s%s ", i == 0 ? " = " : " + ", sgc_phase_name((enum sgc_phase)i));
        sgc_line_ms(line, phase_ns[i]);
    }
}

static void add_mib(struct sgc_line *line, const char *before, uint64_t bytes, const char *after)
{
    sgc_assert(sgc_log_line_ok(line));
    sgc_line_add(line, "%s", before);
    sgc_line_mib(line, bytes);
    sgc_line_add(line, "%s", after);
}

static void add_waits(struct sgc_line *line, const struct sgc_waits waits[SGC_WAITS])
{
    static const char *const names[SGC_WAITS] = { [SGC_ASSIST] = "assists", [SGC_STALL] = "stalls" };

    for (int i = 0; i < SGC_WAITS; i++) {
        if (waits[i].times == 0)
            continue;
        sgc_line_add(line, "; %lu %s, ", (unsigned long)waits[i].times, names[i]);
        sgc_line_ms(line, waits[i].ns);
        sgc_line_add(line, " ms in all (worth ");
        sgc_line_ms(line, waits[i].worth_ns);
        sgc_line_add(line, "), at most ");
        sgc_line_ms(line, waits[i].longest_ns);
        sgc_line_add(line, " ms, none more than ");
        sgc_line_ms(line, waits[i].over_ns);
        sgc_line_add(line, " ms longer than worth");
    }
}

/* The waits are printed behind what ran beside the program, if anything did. */
static void print_cycle(const struct sgc_cycle_record *r)
{
    uint64_t mark_ns = sgc_stats_mark_ns(r->times.phase_ns) + r->concurrent.marking_ns;
    struct sgc_line line;

    sgc_assert(sgc_cycle_check(r));
    sgc_line_start(&line);
    sgc_line_add(&line, "cycle %lu (%s): pause ", (unsigned long)r->cycle, sgc_reason_name(r->reason));
    sgc_line_ms(&line, sgc_cycle_pause_ns(r));
    sgc_line_add(&line, " ms");
    add_parts(&line, r->times.phase_ns);
    add_mib(&line, "; marked ", r->marked.bytes, " MiB");
    sgc_line_add(&line, " in %lu objects", (unsigned long)r->marked.objects);
    add_mib(&line, " at ", sgc_stats_rate(r->marked.bytes, mark_ns), " MiB/s");
    add_mib(&line, "; live ", r->heap.live_bytes_before, " -> ");
    add_mib(&line, "", r->heap.live_bytes_after, " MiB");
    add_mib(&line, ", heap ", r->heap.bytes, " MiB");
    sgc_line_add(&line, "; %lu threads stopped", (unsigned long)r->threads.stopped);
    if (r->stopped_for > SGC_FOR_MODE)
        sgc_line_add(&line, "; stopped for: %s", sgc_stopped_for_name(r->stopped_for));
    if (r->concurrent.earlier_stops == 0)
        add_waits(&line, r->concurrent.waits);
    sgc_log_text(&line);
}

/* Prints what a concurrent cycle had besides its last stop: earlier stops, marking beside the
 * program, and waits. */
static void print_concurrent(const struct sgc_cycle_record *r)
{
    const struct sgc_cycle_concurrent *c = &r->concurrent;
    struct sgc_line line;

    sgc_assert(c->earlier_stops != 0);
    sgc_line_start(&line);
    sgc_line_add(&line, "cycle %lu: %lu stops before, ", (unsigned long)r->cycle, (unsigned long)c->earlier_stops);
    sgc_line_ms(&line, c->earlier_stops_ns);
    sgc_line_add(&line, " ms in all; the longest of all stops ");
    sgc_line_ms(&line, c->longest_stop_ns);
    sgc_line_add(&line, " ms; ");
    sgc_line_ms(&line, c->marking_ns);
    sgc_line_add(&line, " ms beside the program, %lu rounds; %lu written pages in the last stop", (unsigned long)c->rounds,
                 (unsigned long)c->written_pages);
    add_waits(&line, c->waits);
    sgc_log_text(&line);
}

static void add_pages(struct sgc_line *line, uint64_t consumed, uint64_t taken, uint64_t fresh, uint64_t foreign, uint64_t far)
{
    sgc_assert(sgc_log_line_ok(line));
    sgc_line_add(line, "pages: at most %lu consumed, %lu taken, %lu of them fresh, %lu foreign, %lu far",
                 (unsigned long)consumed, (unsigned long)taken, (unsigned long)fresh, (unsigned long)foreign,
                 (unsigned long)far);
}

static void print_details(const struct sgc_cycle_record *r)
{
    struct sgc_line line;

    sgc_assert(r->times.request_ns <= r->times.stop_begin_ns);
    sgc_line_start(&line);
    sgc_line_add(&line, "cycle %lu: stop began ", (unsigned long)r->cycle);
    sgc_line_ms(&line, r->times.stop_begin_ns - r->times.request_ns);
    sgc_line_add(&line, " ms after the request, bitmap cleared in ");
    sgc_line_ms(&line, r->times.clear_ns);
    sgc_line_add(&line, " ms before it; %lu threads blocked", (unsigned long)r->threads.blocked);
    add_mib(&line, "; roots ", r->marked.root_bytes, " MiB");
    add_mib(&line, "; since the last cycle ", r->heap.allocated_bytes, " MiB allocated");
    add_mib(&line, ", ", r->heap.returned_bytes, " MiB given back");
    add_mib(&line, "; free ", r->heap.free_bytes, " MiB");
    sgc_line_add(&line, "; %lu pages rescanned; mark stack %lu deep", (unsigned long)r->marked.rescans,
                 (unsigned long)r->marked.stack_depth);
    sgc_line_add(&line, "; %lu markers, %lu pieces stolen in %lu thefts", (unsigned long)r->marked.markers,
                 (unsigned long)r->marked.stolen, (unsigned long)r->marked.steals);
    if (sgc_nodes() > 1)
        sgc_line_add(&line, ", %lu of them from another node", (unsigned long)r->marked.steals_far);
    sgc_line_add(&line, "; ");
    add_pages(&line, r->pages.consumed_max, r->pages.taken, r->pages.fresh, r->pages.foreign, r->pages.far);
    sgc_log_text(&line);
}

static bool wanted(void)
{
    return sgc_options.print_stats || sgc_options.print_verbose_stats;
}

static void on_cycle_end(void *context, const struct sgc_cycle_record *record)
{
    sgc_assert(wanted());
    (void)context;
    print_cycle(record);
    if (record->concurrent.earlier_stops != 0)
        print_concurrent(record);
    if (sgc_options.print_verbose_stats)
        print_details(record);
}

static const struct sgc_listener listener = { .cycle_end = on_cycle_end };

void sgc_stats_print_start(void)
{
    if (wanted() && !sgc_listener_add(&listener))
        sgc_warn("GC_PRINT_STATS=1: %d listeners are registered already, so only the summary is printed",
                 SGC_LISTENERS_MAX);
}

/* ---- the summary ------------------------------------------------------------------------------------- */

static void print_collections(const struct sgc_totals *t)
{
    struct sgc_line line;
    const char *before = " (";

    sgc_line_start(&line);
    sgc_line_add(&line, "%lu collections", (unsigned long)t->cycle.cycles);
    for (int i = 0; i < SGC_REASONS; i++) {
        if (t->cycle.by_reason[i] == 0)
            continue;
        sgc_line_add(&line, "%s%lu %s", before, (unsigned long)t->cycle.by_reason[i],
                     sgc_reason_name((enum sgc_reason)i));
        before = ", ";
    }
    sgc_line_add(&line, "%s", t->cycle.cycles > 0 ? ")" : "");
    add_mib(&line, "; ", t->cycle.allocated_bytes, " MiB allocated until the last");
    sgc_line_add(&line, "; threads: %lu registered, at most %lu at once", (unsigned long)t->threads_registered,
                 (unsigned long)t->threads_max);
    sgc_log_text(&line);
}

static void print_distribution(const char *what, const struct sgc_distribution *d)
{
    struct sgc_line line;

    sgc_line_start(&line);
    sgc_line_add(&line, "%s: p50 ", what);
    sgc_line_ms(&line, d->p50);
    sgc_line_add(&line, " ms, p99 ");
    sgc_line_ms(&line, d->p99);
    sgc_line_add(&line, " ms, max ");
    sgc_line_ms(&line, d->max);
    sgc_line_add(&line, " ms, total ");
    sgc_line_ms(&line, d->total);
    sgc_line_add(&line, " ms");
    sgc_log_text(&line);
}

static void print_concurrent_cycles(const struct sgc_cycle_totals *c)
{
    struct sgc_line line;

    sgc_line_start(&line);
    sgc_line_add(&line, "%lu collections ran beside the program, marking for ", (unsigned long)c->concurrent);
    sgc_line_ms(&line, c->concurrent_ns);
    sgc_line_add(&line, " ms");
    add_waits(&line, c->waits);
    sgc_log_text(&line);
}

static void print_marking(const struct sgc_cycle_totals *c, uint64_t mark_ns)
{
    struct sgc_line line;

    sgc_line_start(&line);
    sgc_line_add(&line, "marked: %lu objects, ", (unsigned long)c->marked_objects);
    add_mib(&line, "", c->marked_bytes, " MiB");
    add_mib(&line, " at ", sgc_stats_rate(c->marked_bytes, mark_ns), " MiB/s, ");
    sgc_line_fixed(&line, sgc_stats_rate(c->marked_objects, mark_ns), 1000000, 1);
    sgc_line_add(&line, " million objects/s; %lu pages rescanned", (unsigned long)c->rescans);
    sgc_log_text(&line);
}

static void print_heap(const struct sgc_totals *t)
{
    struct sgc_line line;

    sgc_line_start(&line);
    add_mib(&line, "heap: ", t->cycle.heap_bytes, " MiB");
    add_mib(&line, " (at most ", t->cycle.heap_bytes_max, ")");
    add_mib(&line, ", live ", t->cycle.live_bytes, " MiB after the last collection");
    add_mib(&line, "; grown by ", t->grown_bytes, " MiB");
    sgc_line_add(&line, " in %lu steps", (unsigned long)t->grown_times);
    add_mib(&line, ", given back ", t->returned_bytes, " MiB");
    sgc_line_add(&line, " in %lu steps", (unsigned long)t->returned_times);
    sgc_log_text(&line);
}

static void print_pages(const struct sgc_cycle_totals *c)
{
    struct sgc_line line;

    sgc_line_start(&line);
    add_pages(&line, c->pages_consumed_max, c->pages_taken, c->pages_fresh, c->pages_foreign, c->pages_far);
    sgc_line_add(&line, " until the last collection");
    sgc_log_text(&line);
}

/* Threads wait for cycles that end in one stop, too. */
static bool any_waits(const struct sgc_waits waits[SGC_WAITS])
{
    return waits[SGC_ASSIST].times + waits[SGC_STALL].times != 0;
}

void sgc_stats_at_exit(void)
{
    static bool done SGC_STATE;
    struct sgc_totals totals;

    if (!wanted() || done)
        return;
    done = true;
    sgc_stats_get(&totals);
    print_collections(&totals);
    if (totals.cycle.cycles > 0) {
        print_distribution("pause", &totals.pause);
        print_distribution("time to stop", &totals.stop);
        print_distribution("marking", &totals.mark);
        print_marking(&totals.cycle, totals.mark.total + totals.cycle.concurrent_ns);
        if (totals.cycle.concurrent > 0 || any_waits(totals.cycle.waits))
            print_concurrent_cycles(&totals.cycle);
        print_pages(&totals.cycle);
    }
    print_heap(&totals);
}
