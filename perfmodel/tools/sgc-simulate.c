/* SPDX-License-Identifier: MIT */
/*
 * sgc-simulate SNAPSHOT --machine FILE: how long the mark of a heap snapshot takes on a machine, by the number of markers, as
 * SGC's own marking code does it there.  See doc/man/sgc-simulate.1.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/machine/machine_file.h"
#include "perfmodel/sim/sim.h"

enum { BAD_INPUT = 1, MISUSED = 2 };

static const char help[] =
    "usage: sgc-simulate SNAPSHOT --machine FILE [OPTION]...\n"
    "\n"
    "Simulates the mark of a heap snapshot on a machine, by the number of markers; `-' is the standard input.\n"
    "\n"
    "  --machine FILE       a machine file, or the name of one that SGC has: o2k, e10k, rome2\n"
    "  --markers LIST       numbers and ranges, as in 1,2,4-8, up to 1024; default: 1,2,4,8,16,32,64\n"
    "  --preset NAME        how they work: sgc (default), endo-opt ...; --presets lists all\n"
    "  --objects WHERE      on machines with several memory nodes: threads (default), turn or one\n"
    "  --dirty FROM         a line that another marker has written comes from its home (default), or its owner\n"
    "  --no-contention      nobody waits at a memory node\n"
    "  --split BYTES        SGC's markers split larger objects; default 131072\n"
    "  --seed N             thieves look at others first than they do by themselves\n"
    "  --nodes              what each memory node had to do\n"
    "  --tsv                columns separated by tabs\n"
    "  --presets            lists the presets\n"
    "  --help               this\n"
    "  --version            the version\n"
    "\n"
    "Exit status: 0; 1 if a file cannot be read or simulated; 2 if sgc-simulate was used wrongly.\n";

struct settings {
    const char *snapshot, *machine, *list;
    uint32_t markers[SGC_SIM_MARKERS_MAX], count, most;
    bool by_owner, nodes, tsv;
    struct sgc_sim_options options;
};

static _Noreturn void fail(int status, const char *format, ...) SGC_PRINTF(2, 3);

static _Noreturn void fail(int status, const char *format, ...)
{
    va_list args;

    fflush(stdout);
    fputs("sgc-simulate: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(status);
}

/* ---- the command line ---- */

static int choose(const char *option, const char *text, const char *const *words)
{
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    fail(MISUSED, "%s %s: expected %s or %s%s%s", option, text, words[0], words[1], words[2] != NULL ? " or " : "",
         words[2] != NULL ? words[2] : "");
}

static uint32_t number(const char *option, const char *all, const char *text, uint32_t least, uint32_t most, char **end)
{
    unsigned long value;

    errno = 0;
    value = strtoul(text, end, 10);
    if (*end == text || text[0] < '0' || text[0] > '9' || errno != 0 || value < least || value > most)
        fail(MISUSED, "%s %s: expected numbers from %u to %u", option, all, least, most);
    return (uint32_t)value;
}

static void add(struct settings *s, uint32_t markers)
{
    if (s->count == SGC_SIM_MARKERS_MAX)
        fail(MISUSED, "--markers %s: expected at most %d numbers", s->list, SGC_SIM_MARKERS_MAX);
    s->markers[s->count++] = markers;
    if (markers > s->most)
        s->most = markers;
}

/* "1,2,4-8" */
static void take_list(struct settings *s, const char *list)
{
    const char *at = list;
    char *end;

    s->list = list;
    for (s->count = s->most = 0;; at = end + 1) {
        uint32_t first = number("--markers", list, at, 1, SGC_SIM_MARKERS_MAX, &end), last = first;

        if (*end == '-')
            last = number("--markers", list, end + 1, first, SGC_SIM_MARKERS_MAX, &end);
        for (; first <= last; first++)
            add(s, first);
        if (*end == '\0')
            return;
        if (*end != ',')
            fail(MISUSED, "--markers %s: expected numbers and ranges with commas between, such as 1,2,4-8", list);
    }
}

static void take_preset(struct settings *s, const char *name)
{
    if (!sgc_sim_preset_known(name))
        fail(MISUSED, "--preset %s: there is no such preset; sgc-simulate --presets lists them", name);
    s->options.preset = name;
}

static uint32_t one_number(const char *option, const char *text, uint32_t least, uint32_t most)
{
    char *end;
    uint32_t value = number(option, text, text, least, most, &end);

    if (*end != '\0')
        fail(MISUSED, "%s %s: expected one number, with nothing behind it", option, text);
    return value;
}

/* Those with a value. */
static bool take_value(struct settings *s, const char *option, const char *value)
{
    static const char *const homes[] = { "turn", "one", "threads", NULL }, *const owners[] = { "home", "owner", NULL };

    if (strcmp(option, "--machine") == 0)
        s->machine = value;
    else if (strcmp(option, "--markers") == 0)
        take_list(s, value);
    else if (strcmp(option, "--preset") == 0)
        take_preset(s, value);
    else if (strcmp(option, "--objects") == 0)
        s->options.homes = (enum sgc_sim_homes)choose(option, value, homes);
    else if (strcmp(option, "--dirty") == 0)
        s->by_owner = choose(option, value, owners) == 1;
    else if (strcmp(option, "--seed") == 0)
        s->options.seed = one_number(option, value, 0, UINT32_MAX);
    else if (strcmp(option, "--split") == 0)
        s->options.split_bytes = one_number(option, value, 512, 1 << 30);
    else
        return false;
    return true;
}

static bool has_value(const char *option)
{
    static const char *const options[] = { "--machine", "--markers", "--preset", "--objects", "--dirty", "--seed", "--split" };

    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(option, options[i]) == 0)
            return true;
    return false;
}

static void print_and_end(const char *option)
{
    if (strcmp(option, "--help") == 0)
        fputs(help, stdout);
    else if (strcmp(option, "--version") == 0)
        puts("sgc-simulate " SGC_SIMULATE_VERSION);
    else
        for (unsigned i = 0; sgc_sim_preset_name(i) != NULL; i++)
            puts(sgc_sim_preset_name(i));
    exit(fflush(stdout) == 0 ? 0 : BAD_INPUT);
}

static void take_flag(struct settings *s, const char *option)
{
    if (strcmp(option, "--no-contention") == 0)
        s->options.no_contention = true;
    else if (strcmp(option, "--nodes") == 0)
        s->nodes = true;
    else if (strcmp(option, "--tsv") == 0)
        s->tsv = true;
    else if (strcmp(option, "--help") == 0 || strcmp(option, "--version") == 0 || strcmp(option, "--presets") == 0)
        print_and_end(option);
    else
        fail(MISUSED, "%s: there is no such option; see sgc-simulate --help", option);
}

static void take_arguments(struct settings *s, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' || argv[i][1] == '\0') {
            if (s->snapshot != NULL)
                fail(MISUSED, "%s: expected one snapshot", argv[i]);
            s->snapshot = argv[i];
        } else if (has_value(argv[i])) {
            if (i + 1 == argc)
                fail(MISUSED, "%s: expected a value behind it", argv[i]);
            take_value(s, argv[i], argv[i + 1]);
            i++;
        } else {
            take_flag(s, argv[i]);
        }
    }
    if (s->snapshot == NULL || s->machine == NULL)
        fail(MISUSED, "expected a snapshot and --machine FILE; see sgc-simulate --help");
}

/* ---- reading ---- */

static void read_machine(const struct settings *s, struct sgc_machine *file, struct sgc_sim_machine *machine)
{
    char path[4096], message[SGC_MACHINE_MESSAGE];
    const char *problem;

    if (!sgc_machine_find(s->machine, SGC_MACHINES, path, sizeof path, message) || !sgc_machine_read(file, path, message))
        fail(BAD_INPUT, "%s", message);
    sgc_sim_machine_of(file, s->by_owner, machine);
    problem = sgc_sim_machine_check(machine);
    if (problem != NULL)
        fail(BAD_INPUT, "%s: this machine cannot be simulated: %s", path, problem);
}

static void read_snapshot(const struct settings *s, struct sgc_graph *graph, struct sgc_sim_heap *heap)
{
    const char *problem;

    if (!sgc_graph_load(graph, s->snapshot, SGC_GRAPH_AIMS))
        exit(BAD_INPUT);
    problem = sgc_graph_check(graph);
    if (problem == NULL)
        problem = sgc_sim_restore(graph, s->most, heap);
    if (problem != NULL)
        fail(BAD_INPUT, "%s: this snapshot cannot be simulated: %s", s->snapshot, problem);
}

/* ---- results ---- */

static double milliseconds(uint64_t ps)
{
    return (double)ps / 1e9;
}

static void print_header(const struct settings *s)
{
    if (s->tsv)
        puts("preset\tmarkers\ttime_ms\tspeedup\tobjects\tread_misses\trmw_misses\tsteals\tstolen\tcomputing_ms\tmissing_ms\t"
             "waited_ms\tbusiest");
    else
        printf("%7s %12s %8s %12s %10s %8s %12s %12s %12s %8s\n", "markers", "ms", "speed-up", "misses", "rmw", "steals",
               "computing", "missing", "waited", "busiest");
}

static double busiest(const struct sgc_sim_result *r)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < r->nodes; i++)
        if (r->server[i].busy > most)
            most = r->server[i].busy;
    return r->ps != 0 ? (double)most / (double)r->ps : 0;
}

static void print_nodes(const struct settings *s, const struct sgc_sim_result *r)
{
    for (uint32_t i = 0; i < r->nodes && s->nodes; i++) {
        const struct sgc_sim_server *n = &r->server[i];

        printf(s->tsv ? "node\t%u\t%u\t%" PRIu64 "\t%" PRIu64 "\t%.6f\t%.6f\t%.6f\n"
                      : "%7u node %4u: %" PRIu64 " reads, %" PRIu64 " updates, busy %.3f ms, waited for %.3f, at most %.6f\n",
               r->markers, i, n->requests[SGC_SIM_REQUEST_READ], n->requests[SGC_SIM_REQUEST_UPDATE], milliseconds(n->busy),
               milliseconds(n->waited), milliseconds(n->longest_wait));
    }
}

static void print_result(const struct settings *s, const struct sgc_sim_result *r, double alone)
{
    double ms = milliseconds(r->ps), gain = ms > 0 ? alone / ms : 1;

    if (s->tsv)
        printf("%s\t%u\t%.6f\t%.4f\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.6f\t%.6f\t%.6f\t%.4f\n",
               s->options.preset, r->markers, ms, gain, r->objects, r->misses[SGC_SIM_REQUEST_READ],
               r->misses[SGC_SIM_REQUEST_UPDATE], r->steals, r->stolen, milliseconds(r->computing), milliseconds(r->missing),
               milliseconds(r->waited), busiest(r));
    else
        printf("%7u %12.3f %8.2f %12" PRIu64 " %10" PRIu64 " %8" PRIu64 " %12.3f %12.3f %12.3f %7.1f%%\n", r->markers, ms, gain,
               r->misses[SGC_SIM_REQUEST_READ], r->misses[SGC_SIM_REQUEST_UPDATE], r->steals, milliseconds(r->computing),
               milliseconds(r->missing), milliseconds(r->waited), 100 * busiest(r));
    print_nodes(s, r);
    fflush(stdout);
}

static void simulate(const struct settings *s, const struct sgc_sim_heap *heap, uint32_t markers, struct sgc_sim_result *result)
{
    struct sgc_sim_options options = s->options;

    options.markers = markers;
    if (!sgc_simulate(heap, &options, result))
        fail(BAD_INPUT, "there is no memory to simulate %u markers; ask for fewer", markers);
}

int main(int argc, char **argv)
{
    static struct settings s = { .options = { .preset = "sgc", .homes = SGC_SIM_BY_PAGE } };
    static struct sgc_sim_machine machine;
    static struct sgc_sim_result alone, result;
    struct sgc_machine file;
    struct sgc_graph graph;
    struct sgc_sim_heap heap;

    take_list(&s, "1,2,4,8,16,32,64");
    take_arguments(&s, argc, argv);
    read_machine(&s, &file, &machine);
    read_snapshot(&s, &graph, &heap);
    s.options.machine = &machine;
    simulate(&s, &heap, 1, &alone);
    print_header(&s);
    for (uint32_t i = 0; i < s.count; i++) {
        simulate(&s, &heap, s.markers[i], &result);
        print_result(&s, &result, milliseconds(alone.ps));
    }
    sgc_sim_release(&heap);
    sgc_graph_release(&graph);
    return ferror(stdout) || fflush(stdout) != 0 ? BAD_INPUT : 0;
}
