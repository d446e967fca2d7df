/* SPDX-License-Identifier: MIT */
/*
 * Statistics: percentiles against sorting, sums against the records they were made of, reading
 * beside writing, and what is printed.
 */

#include "gc/events/histogram.h"
#include "gc/config/option_set.h"
#include "gc/events/stats.h"
#include "tests/lib/child.h"
#include "tests/lib/random.h"
#include "tests/lib/threads.h"

/* ---- the histogram ------------------------------------------------------------------------------------ */

static uint64_t seed = 88172645463325252u;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double relative_error(uint64_t value, uint64_t exact)
{
    double difference = value > exact ? (double)(value - exact) : (double)(exact - value);
    return exact == 0 ? difference : difference / (double)exact;
}

/* Every power of two and its neighbours, and random values of all lengths. */
static void check_buckets(void)
{
    bool near = true, ascending = true;
    double worst = 0;

    for (int i = 0; i < 300000; i++) {
        uint64_t value = i < 126 ? (UINT64_C(1) << (i / 3)) + (uint64_t)(i % 3) - 1
                                 : random_word(&seed) >> (64 - SGC_HISTOGRAM_TOP + (int)(random_word(&seed) % 40));
        unsigned index = sgc_histogram_index(value);
        worst = larger(worst, relative_error(sgc_histogram_middle(index), value));
        ascending &= sgc_histogram_index(value + 1) - index <= 1 && index < SGC_HISTOGRAM_BUCKETS;
    }
    for (unsigned i = 0; i < SGC_HISTOGRAM_BUCKETS; i++)
        near &= sgc_histogram_index(sgc_histogram_middle(i)) == i;
    tap_ok(worst <= 1.0 / 64 && worst > 0.01, "the middle of a bucket is at most 1/64 off (worst: %.4f)", worst);
    tap_ok(ascending && near, "buckets ascend without gaps, and a middle lies in its bucket");
    tap_ok(sgc_histogram_index(UINT64_MAX) == SGC_HISTOGRAM_BUCKETS - 1 &&
           sgc_histogram_index((UINT64_C(1) << SGC_HISTOGRAM_TOP) - 1) == SGC_HISTOGRAM_BUCKETS - 1,
           "what is too long falls into the last one");
}

enum { VALUES = 20000 };

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t draw(int distribution)
{
    double u = (double)(random_word(&seed) >> 11) / 9007199254740992.0;     /* 0 to 1 */

    switch (distribution) {
    case 0: return 1000 + random_word(&seed) % 1000000;                      /* even */
    case 1: return (uint64_t)(20000 / (1.0001 - u));                    /* a long tail */
    case 2: return random_word(&seed) >> (24 + random_word(&seed) % 39);      /* over all powers */
    case 3: return random_word(&seed) % 50 == 0 ? 30000000 : 40000;          /* two peaks */
    case 4: return random_word(&seed) % 40;                                  /* tiny */
    default: return 123456;                                             /* always the same */
    }
}

/* The largest relative error of some percentiles of `count` values against nearest ranks. */
static double worst_percentile(int distribution, int count)
{
    static uint64_t values[VALUES];
    static struct sgc_histogram histogram;
    static const unsigned permilles[] = { 1, 10, 250, 500, 900, 990, 999, 1000 };
    double worst = 0;

    memset(&histogram, 0, sizeof histogram);
    for (int i = 0; i < count; i++) {
        values[i] = draw(distribution);
        sgc_histogram_add(&histogram, values[i]);
    }
    qsort(values, (size_t)count, sizeof values[0], compare);
    for (size_t i = 0; i < sizeof permilles / sizeof permilles[0]; i++) {
        int rank = (int)(((uint64_t)count * permilles[i] + 999) / 1000);
        uint64_t exact = values[rank > 0 ? rank - 1 : 0];
        worst = larger(worst, relative_error(sgc_histogram_permille(&histogram, permilles[i]), exact));
    }
    if (sgc_aw_load(&histogram.max) != values[count - 1] || sgc_histogram_count(&histogram) != (uint64_t)count)
        return 1;
    return worst;
}

static void check_percentiles(void)
{
    static const char *const names[] = { "even", "long tail", "all powers", "two peaks", "tiny", "constant" };
    static struct sgc_histogram empty;

    for (int distribution = 0; distribution < 6; distribution++) {
        double worst = 0;
        for (int count = 1; count <= VALUES; count = count * 3 + 1)
            worst = larger(worst, worst_percentile(distribution, count));
        worst = larger(worst, worst_percentile(distribution, VALUES));
        tap_ok(worst < 0.03, "percentiles against sorting, %s: %.4f off at most", names[distribution], worst);
    }
    tap_ok(sgc_histogram_permille(&empty, 500) == 0 && sgc_histogram_count(&empty) == 0, "no values, no percentile");
}

/* ---- sums --------------------------------------------------------------------------------------------- */

static struct sgc_cycle_record make_record(uint64_t n)
{
    struct sgc_cycle_record record = {
        .cycle = n, .reason = (enum sgc_reason)(n % SGC_REASONS),
        .times.request_ns = 1000 * n, .times.stop_begin_ns = 1000 * n + 5,
        .times.clear_ns = 2 * n, .threads.stopped = n % 7, .threads.blocked = n % 3,
        .marked.root_bytes = 11 * n, .marked.objects = 13 * n, .marked.bytes = 17 * n, .heap.live_bytes_before = 23 * n,
        .heap.live_bytes_after = 19 * n, .heap.bytes = 100 * n, .heap.free_bytes = 29 * n, .heap.returned_bytes = 31 * n,
        .heap.allocated_bytes = 37 * n, .marked.rescans = n % 5, .marked.stack_depth = n,
    };
    uint64_t sum = 0;

    for (int i = 0; i < SGC_PHASES; i++)
        sum += record.times.phase_ns[i] = n * (uint64_t)(i + 1);
    record.times.stopped_ns = record.times.stop_begin_ns + record.times.phase_ns[SGC_PHASE_STOP];
    record.times.resumed_ns = record.times.stop_begin_ns + sum;
    return record;
}

static void check_sums(void)
{
    struct sgc_totals totals;
    uint64_t parts = 0;

    sgc_stats_get(&totals);
    tap_ok(totals.cycle.cycles == 0 && totals.pause.max == 0 && totals.threads == 0, "nothing at the start");
    for (uint64_t n = 1; n <= 100; n++) {
        struct sgc_cycle_record record = make_record(n);
        SGC_EVENT(cycle_end, &record);
    }
    sgc_stats_get(&totals);
    for (int i = 0; i < SGC_PHASES; i++)
        parts += totals.cycle.phase_ns[i];
    tap_ok(totals.cycle.cycles == 100 && totals.cycle.by_reason[0] == 25 && totals.cycle.by_reason[3] == 25,
           "cycles, by reason");
    tap_ok(totals.pause.total == 5050 * 45 && parts == totals.pause.total && totals.pause.max == 4500 &&
           totals.stop.total == 5050 && totals.mark.total == 5050 * (4 + 5 + 6), "the parts sum up to the pauses");
    tap_ok(relative_error(totals.pause.p50, 50 * 45) < 0.03 && relative_error(totals.pause.p99, 99 * 45) < 0.03 &&
           relative_error(totals.stop.p99, 99) < 0.03 && relative_error(totals.mark.p50, 750) < 0.03, "percentiles");
    tap_ok(totals.cycle.marked_objects == 5050 * 13 && totals.cycle.marked_bytes == 5050 * 17 &&
           totals.cycle.allocated_bytes == 5050 * 37 && totals.cycle.clear_ns == 5050 * 2 &&
           totals.cycle.rescans == 200 && totals.cycle.mark_stack_depth == 100 &&
           totals.cycle.heap_bytes_max == 10000, "sums and maxima");
    tap_ok(totals.cycle.live_bytes == 1900 && totals.cycle.heap_bytes == 10000 && totals.cycle.free_bytes == 2900 &&
           totals.cycle.root_bytes == 1100 && totals.cycle.last_pause_ns == 4500 && totals.cycle.last_stop_ns == 100 &&
           totals.cycle.threads_stopped == 2 && totals.cycle.threads_blocked == 1, "what is of the last cycle");
    tap_ok(sgc_stats_rate(1000, 1000000000) == 1000 && sgc_stats_rate(UINT64_C(1) << 40, 500000000) == UINT64_C(1) << 41 &&
           sgc_stats_rate(5, 0) == 0, "rates");
}

/* A stop that another one follows, or after which the mark is given up, is a pause as the last one of a cycle is, but no
 * cycle. */
static void check_stops(void)
{
    struct sgc_cycle_record record = make_record(10);
    struct sgc_totals before, totals;
    uint64_t parts = 0;

    sgc_stats_get(&before);
    record.concurrent.another_stop = true;
    SGC_EVENT(resumed, &record);
    record.concurrent.another_stop = false;
    SGC_EVENT(resumed, &record);
    record.complete = true;
    SGC_EVENT(resumed, &record);
    sgc_stats_get(&totals);
    for (int i = 0; i < SGC_PHASES; i++)
        parts += totals.cycle.phase_ns[i];
    tap_ok(totals.pause.total == before.pause.total + 2 * 450 && parts == totals.pause.total &&
           totals.cycle.phase_ns[SGC_PHASE_STOP] == totals.stop.total &&
           sgc_stats_mark_ns(totals.cycle.phase_ns) == totals.mark.total, "each stop is a pause, with its parts");
    tap_ok(totals.cycle.cycles == before.cycle.cycles && totals.cycle.marked_bytes == before.cycle.marked_bytes &&
           totals.cycle.last_pause_ns == before.cycle.last_pause_ns, "and only the last one ends a cycle");
}

/* ---- reading and counting beside writing ------------------------------------------------------------------ */

enum { READS = 50000, MOST_CYCLES = 3000000, COUNTS = 20000 };

static sgc_a32_t writing, reads;
static uint64_t written;

/* Ends cycles until the reader has read often enough beside it. */
static void *write_cycles(TEST_UNUSED void *unused)
{
    for (; written < MOST_CYCLES && sgc_a32_load(&reads) < READS; written++) {
        struct sgc_cycle_record record = make_record(1);
        record.reason = SGC_REASON_EXPLICIT;
        SGC_EVENT(cycle_end, &record);
    }
    sgc_a32_store_rel(&writing, 0);
    return NULL;
}

static void *count_memory(TEST_UNUSED void *unused)
{
    for (int i = 0; i < COUNTS; i++) {
        SGC_EVENT(heap_grown, (size_t)3);
        SGC_EVENT(heap_returned, (size_t)2);
        SGC_EVENT(thread_registered, 1);
        if (i % 2)
            SGC_EVENT(thread_gone, 1);
    }
    return NULL;
}

/* Sums that grow together by each cycle must be of the same cycle. */
static bool consistent(const struct sgc_cycle_totals *now, const struct sgc_cycle_totals *before)
{
    uint64_t n = now->cycles - before->cycles;
    return now->marked_bytes - before->marked_bytes == 17 * n && now->allocated_bytes - before->allocated_bytes == 37 * n &&
           now->clear_ns - before->clear_ns == 2 * n && now->by_reason[0] - before->by_reason[0] == n &&
           now->phase_ns[SGC_PHASE_RESUME] - before->phase_ns[SGC_PHASE_RESUME] == 9 * n;
}

static void check_threads(void)
{
    struct sgc_totals before, totals;
    pthread_t threads[3];
    bool right = true;

    sgc_stats_get(&before);
    sgc_a32_store(&writing, 1);
    for (int i = 0; i < 3; i++)
        threads[i] = thread_start(i == 0 ? write_cycles : count_memory, NULL);
    while (sgc_a32_load_acq(&writing)) {
        sgc_stats_get(&totals);
        right &= consistent(&totals.cycle, &before.cycle);
        sgc_a32_add(&reads, 1);
    }
    threads_join(threads, 3);
    sgc_stats_get(&totals);
    tap_ok(right && sgc_a32_load(&reads) > 0 && totals.cycle.cycles == before.cycle.cycles + written,
           "a reader sees sums of one cycle (%u reads beside %lu cycles)", sgc_a32_load(&reads), (unsigned long)written);
    tap_ok(totals.grown_bytes == 2 * COUNTS * 3 && totals.grown_times == 2 * COUNTS &&
           totals.returned_bytes == 2 * COUNTS * 2 && totals.returned_times == 2 * COUNTS, "no count is lost");
    tap_ok(totals.threads == COUNTS && totals.threads_registered == 2 * COUNTS && totals.threads_max >= COUNTS &&
           totals.threads_max <= COUNTS + 2, "threads, and the most at once (%lu)", (unsigned long)totals.threads_max);
}

/* ---- printing ----------------------------------------------------------------------------------------- */

static const struct sgc_cycle_record example = {
    .cycle = 12, .reason = SGC_REASON_ALLOCATION,
    .times.request_ns = 1000000, .times.stop_begin_ns = 1500000, .times.stopped_ns = 1512000,
    .times.resumed_ns = 1500000 + 1234567, .times.phase_ns = { 12000, 1000, 0, 50000, 1100000, 0, 3000, 1567, 67000 },
    .times.clear_ns = 300000, .threads.stopped = 4, .threads.blocked = 1,
    .marked.root_bytes = 3 << 20, .marked.objects = 5000, .marked.bytes = 23 << 20,
    .heap.live_bytes_before = 80 << 20, .heap.live_bytes_after = 23 << 20, .heap.bytes = 128 << 20,
    .heap.free_bytes = 105 << 20, .heap.returned_bytes = 1 << 19, .heap.allocated_bytes = 60 << 20,
    .marked.rescans = 2, .marked.stack_depth = 99, .marked.markers = 2, .marked.steals = 7, .marked.stolen = 31,
    .pages.consumed_max = 2048, .pages.taken = 9000, .pages.fresh = 2100, .pages.foreign = 333, .pages.far = 21,
};

static const char first_line[] =
    "SGC: cycle 12 (allocation): pause 1.235 ms = stop 0.012 + retire 0.001 + roots 0.050 + mark 1.100 + rescan 0.000"
    " + finalize 0.003 + flip 0.002 + resume 0.067; marked 23.0 MiB in 5000 objects at 20000.0 MiB/s; live 80.0 ->"
    " 23.0 MiB, heap 128.0 MiB; 4 threads stopped\n";
static const char second_line[] =
    "SGC: cycle 12: stop began 0.500 ms after the request, bitmap cleared in 0.300 ms before it; 1 threads blocked;"
    " roots 3.0 MiB; since the last cycle 60.0 MiB allocated, 0.5 MiB given back; free 105.0 MiB; 2 pages rescanned;"
    " mark stack 99 deep; 2 markers, 31 pieces stolen in 7 thefts; pages: at most 2048 consumed, 9000 taken,"
    " 2100 of them fresh, 333 foreign, 21 far\n";

static const char *printed(const struct sgc_cycle_record *record, bool stats, bool verbose)
{
    sgc_options_reset();
    sgc_options.print_stats = stats;
    sgc_options.print_verbose_stats = verbose;
    capture_begin();
    SGC_EVENT(cycle_end, record);
    return capture_end();
}

static const char beside_line[] =
    "; 4 threads stopped; stopped for: attempts\n"
    "SGC: cycle 12: 3 stops before, 0.900 ms in all; the longest of all stops 1.235 ms; 58.000 ms beside the program, 2 rounds;"
    " 96 written pages in the last stop; 39 assists, 8.120 ms in all (worth 9.400), at most 0.260 ms, none more than 0.060 ms"
    " longer than worth; 1 stalls, 2.000 ms in all (worth 2.000), at most 2.000 ms, none more than 0.000 ms longer"
    " than worth\n";

/* The same cycle, if it had run beside the program. */
static struct sgc_cycle_record beside(void)
{
    struct sgc_cycle_record record = example;

    record.stopped_for = SGC_FOR_ATTEMPTS;
    record.concurrent = (struct sgc_cycle_concurrent){
        .earlier_stops = 3, .earlier_stops_ns = 900000, .longest_stop_ns = 1234567, .marking_ns = 58000000, .rounds = 2,
        .written_pages = 96, .waits[SGC_ASSIST] = { 39, 8120000, 9400000, 260000, 60000 },
        .waits[SGC_STALL] = { 1, 2000000, 2000000, 2000000, 0 },
    };
    return record;
}

static const char *printed_beside(void)
{
    struct sgc_cycle_record record = beside();

    return printed(&record, true, false);
}

static const char waits_line[] =
    "; 4 threads stopped; stopped for: late; 1 stalls, 2.000 ms in all (worth 3.000), at most 2.000 ms, none more than 0.000 ms"
    " longer than worth\n";

/* Threads may have waited for a cycle that came to be one stop. */
static struct sgc_cycle_record one_stop_with_waits(void)
{
    struct sgc_cycle_record record = example;

    record.stopped_for = SGC_FOR_LATE;
    record.concurrent.waits[SGC_STALL] = (struct sgc_waits){ 1, 2000000, 3000000, 2000000, 0 };
    return record;
}

static void check_printed_waits(void)
{
    struct sgc_cycle_record record = one_stop_with_waits();
    const char *text = printed(&record, true, false);

    tap_ok(strstr(text, waits_line) != NULL && capture_count(text, "\n") == 1, "and of any other: %.*s",
           (int)strcspn(text, "\n"), text);
}

/* The summary of that cycle alone: in a child. */
static const char *summary_of(struct sgc_cycle_record record)
{
    sgc_options_reset();
    sgc_options.print_stats = true;
    sgc_stats_start();
    SGC_EVENT(cycle_end, &record);
    return capture_said(sgc_stats_at_exit());
}

static int sum_up_beside(void)
{
    return strstr(summary_of(beside()), "\nSGC: marked: 5000 objects, 23.0 MiB at 388.8 MiB/s, ") == NULL;
}

static int sum_up_waits(void)
{
    const char *text = summary_of(one_stop_with_waits());

    return strstr(text, "\nSGC: 0 collections ran beside the program, marking for 0.000 ms; 1 stalls, 2.000 ms ") == NULL;
}

static void check_printing(void)
{
    sgc_options_reset();
    sgc_stats_print_start();
    tap_ok(printed(&example, false, false)[0] == '\0', "nothing is printed unless asked for");
    sgc_options.print_stats = true;
    sgc_stats_print_start();
    const char *text = printed(&example, true, false);
    tap_ok(strcmp(text, first_line) == 0, "a line a collection: %.*s", (int)strcspn(text, "\n"), text);
    text = printed(&example, false, true);
    tap_ok(strstr(text, second_line) != NULL && capture_count(text, "\n") == 2, "and a second one with details");
    text = printed_beside();
    tap_ok(strstr(text, beside_line) != NULL, "of a concurrent cycle what it was stopped for, and what threads waited: %.*s",
           (int)strcspn(text, "\n"), text);
    check_printed_waits();
}

static const char *summary(void)
{
    return capture_said(sgc_stats_at_exit());
}

static void check_summary(void)
{
    sgc_options_reset();
    tap_ok(summary()[0] == '\0', "no summary unless asked for");
    sgc_options.print_stats = true;
    const char *text = summary();
    char first[160];                    /* 100 of check_sums, those of check_threads, 5 of check_printing */
    snprintf(first, sizeof first,
             "SGC: %lu collections (%lu explicit, 30 allocation, 25 limit, 25 torture); ",
             (unsigned long)written + 105, (unsigned long)written + 25);
    tap_ok(strncmp(text, first, strlen(first)) == 0, "the summary counts the collections");
    tap_ok(strstr(text, "\nSGC: pause: p50 0.000 ms, p99 0.00") != NULL && strstr(text, " ms, max 1.235 ms, total ") &&
           strstr(text, "\nSGC: time to stop: p50 ") && strstr(text, "max 0.012 ms") && strstr(text, "\nSGC: marking: p50 "),
           "gives pauses, times to stop and marking");
    snprintf(first, sizeof first, " million objects/s; %lu pages rescanned\nSGC: 1 collections ran",
             (unsigned long)written + 210);
    tap_ok(strstr(text, "\nSGC: marked: ") != NULL && strstr(text, first) != NULL &&
           strstr(text, "\nSGC: pages: at most 2048 consumed, 9000 taken, 2100 of them fresh, 333 foreign, 21 far until the "
                        "last collection\n") &&
           strstr(text, "\nSGC: heap: 128.0 MiB (at most 128.0), live 23.0 MiB after the last collection; grown by 0.1 MiB "
                        "in 40000 steps, given back 0.1 MiB in 40000 steps\n") != NULL &&
           capture_count(text, "\n") == 8, "the rate, the pages, and the heap");
    tap_ok(strstr(text, "\nSGC: 1 collections ran beside the program, marking for 58.000 ms; 39 assists, 8.120 ms ") != NULL,
           "and what ran beside the program");
    tap_ok(summary()[0] == '\0', "and is printed once");
}

int main(void)
{
    check_buckets();
    check_percentiles();
    child_ok(sum_up_beside, "the summary's rate is that of marking beside the program, too");
    child_ok(sum_up_waits, "the summary has what threads waited, whatever they waited for");
    sgc_stats_start();
    return tap_all(check_sums, check_stops, check_threads, check_printing, check_summary);
}
