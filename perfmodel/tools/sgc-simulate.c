/* SPDX-License-Identifier: MIT */
/*
 * sgc-simulate SNAPSHOT --machine FILE: how long the mark of a heap snapshot takes on a machine, by
 * the number of markers, as SGC's own marking code does it there.  See doc/man/sgc-simulate.1.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/machine/machine_file.h"
#include "perfmodel/sim/sim.h"
#include "snapshot/tools/command_line.h"

enum { BAD_INPUT = SGC_TOOL_FAILED, MISUSED = SGC_TOOL_MISUSED };

const char sgc_tool_name[] = "sgc-simulate";

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
    uint32_t markers[SGC_SIM_MARKERS_MAX], count, max_markers;
    bool by_owner, nodes, tsv;
    struct sgc_sim_options options;
};

/* ---- the command line ---- */

static int choose(const char *option, const char *text, const char *const *words)
{
    sgc_assert(words[0] != NULL && words[1] != NULL);
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    sgc_tool_fail(MISUSED, "%s %s: expected %s or %s%s%s", option, text, words[0], words[1], words[2] != NULL ? " or " : "",
                  words[2] != NULL ? words[2] : "");
}

static void add(void *settings, uint32_t markers)
{
    struct settings *s = settings;

    sgc_assert(markers >= 1 && markers <= SGC_SIM_MARKERS_MAX && s->count <= SGC_SIM_MARKERS_MAX);
    if (s->count == SGC_SIM_MARKERS_MAX)
        sgc_tool_fail(MISUSED, "--markers %s: expected at most %d numbers", s->list, SGC_SIM_MARKERS_MAX);
    s->markers[s->count++] = markers;
    if (markers > s->max_markers)
        s->max_markers = markers;
}

static void take_list(struct settings *s, const char *list)
{
    sgc_assert(list != NULL);
    s->list = list;
    s->count = s->max_markers = 0;
    sgc_tool_numbers("--markers", list, SGC_SIM_MARKERS_MAX, add, s);
}

static void take_preset(struct settings *s, const char *name)
{
    if (!sgc_sim_preset_known(name))
        sgc_tool_fail(MISUSED, "--preset %s: there is no such preset; sgc-simulate --presets lists them", name);
    s->options.preset = name;
}

/* Those with a value. */
static bool take_value(struct settings *s, const char *option, const char *value)
{
    static const char *const homes[] = { "turn", "one", "threads", NULL }, *const owners[] = { "home", "owner", NULL };

    sgc_assert(option != NULL && value != NULL);
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
        s->options.seed = (uint32_t)sgc_tool_number(option, value, 0, UINT32_MAX);
    else if (strcmp(option, "--split") == 0)
        s->options.split_bytes = (uint32_t)sgc_tool_number(option, value, 512, 1 << 30);
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
    sgc_assert(option != NULL);
    if (strcmp(option, "--help") == 0)
        fputs(help, stdout);
    else if (strcmp(option, "--version") == 0)
        puts("sgc-simulate (SGC) " SGC_SIMULATE_VERSION);
    else
        for (unsigned i = 0; sgc_sim_preset_name(i) != NULL; i++)
            puts(sgc_sim_preset_name(i));
    exit(sgc_tool_end());
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
        sgc_tool_fail(MISUSED, "%s: there is no such option; see sgc-simulate --help", option);
}

static void take_arguments(struct settings *s, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' || argv[i][1] == '\0') {
            if (s->snapshot != NULL)
                sgc_tool_fail(MISUSED, "%s: expected one snapshot", argv[i]);
            s->snapshot = argv[i];
        } else if (has_value(argv[i])) {
            if (i + 1 == argc)
                sgc_tool_fail(MISUSED, "%s: expected a value behind it", argv[i]);
            take_value(s, argv[i], argv[i + 1]);
            i++;
        } else {
            take_flag(s, argv[i]);
        }
    }
    if (s->snapshot == NULL || s->machine == NULL)
        sgc_tool_fail(MISUSED, "expected a snapshot and --machine FILE; see sgc-simulate --help");
}

/* ---- reading ---- */

static void read_machine(const struct settings *s, struct sgc_machine *file, struct sgc_sim_machine *machine)
{
    char path[4096], message[SGC_MACHINE_MESSAGE];
    const char *problem;

    sgc_assert(s->machine != NULL);
    if (!sgc_machine_find(s->machine, SGC_MACHINES, path, sizeof path, message) || !sgc_machine_read(file, path, message))
        sgc_tool_fail(BAD_INPUT, "%s", message);
    sgc_sim_machine_of(file, s->by_owner, machine);
    problem = sgc_sim_machine_check(machine);
    if (problem != NULL)
        sgc_tool_fail(BAD_INPUT, "%s: this machine cannot be simulated: %s", path, problem);
}

static void read_snapshot(const struct settings *s, struct sgc_graph *graph, struct sgc_sim_heap *heap)
{
    const char *problem;

    sgc_assert(s->snapshot != NULL && s->max_markers != 0);
    if (!sgc_graph_load(graph, s->snapshot, SGC_GRAPH_AIMS))
        exit(BAD_INPUT);
    problem = sgc_graph_check(graph);
    if (problem == NULL)
        problem = sgc_sim_restore(graph, s->max_markers, heap);
    if (problem != NULL)
        sgc_tool_fail(BAD_INPUT, "%s: this snapshot cannot be simulated: %s", s->snapshot, problem);
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
    uint64_t max = 0;

    sgc_assert(r->nodes >= 1 && r->nodes <= SGC_SIM_NODES_MAX);
    for (uint32_t i = 0; i < r->nodes; i++)
        if (r->server[i].busy > max)
            max = r->server[i].busy;
    return r->ps != 0 ? (double)max / (double)r->ps : 0;
}

static void print_nodes(const struct settings *s, const struct sgc_sim_result *r)
{
    sgc_assert(r->nodes >= 1 && r->nodes <= SGC_SIM_NODES_MAX);
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

    sgc_assert(r->markers >= 1 && alone >= 0);
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

    sgc_assert(markers >= 1 && markers <= SGC_SIM_MARKERS_MAX && options.machine != NULL);
    options.markers = markers;
    if (!sgc_simulate(heap, &options, result))
        sgc_tool_fail(BAD_INPUT, "there is no memory to simulate %u markers; ask for fewer", markers);
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
    argv = sgc_tool_divide_words(&argc, argv, has_value);
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
    return sgc_tool_end();
}
