/* SPDX-License-Identifier: MIT */
/*
 * sgc-machine: measures this machine, and writes a machine file for sgc-predict.
 *
 * Values that so few processors cannot show are written as bounds: see doc/studies/perfmodel.md.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "perfmodel/machine/bench.h"
#include "perfmodel/machine/machine_file.h"
#include "snapshot/tools/command_line.h"
#include "snapshot/tools/output.h"
#include "platform/nodes/topology.h"

enum { FAILED = SGC_TOOL_FAILED, MISUSED = SGC_TOOL_MISUSED, ENOUGH_PROCESSORS = 8 };

const char sgc_tool_name[] = "sgc-machine";

static const char help[] =
    "usage: sgc-machine [--quick] [--name NAME] [-o FILE]\n"
    "\n"
    "Measures this machine and writes a machine file, see sgc-predict(1).\n"
    "\n"
    "  --quick        some seconds instead of ten, and less exact\n"
    "  --name NAME    what the machine is called in it; default: this-machine\n"
    "  -o FILE        default: -, the standard output; also --output\n"
    "  --help         this\n"
    "  --version      the version\n"
    "\n"
    "Exit status: 0; 1 if it cannot be measured or written; 2 if sgc-machine was used wrongly.\n";

static struct sgc_machine machine;
static struct sgc_topology topology;
static int cpu[SGC_BENCH_CPUS], cpus;
static size_t memory = (size_t)512 << 20;
static const size_t quick_memory = (size_t)64 << 20;
static const char *cache_source = "/sys";
static struct sgc_bench_doubts doubts;

/* Each is a time or a rate, so 0 says that there was no memory for it. */
static double measured(double value)
{
    if (value <= 0)
        sgc_tool_fail(FAILED, "no memory or no thread to measure with, %zu MB are needed for each processor; %s", memory >> 20,
                      memory > quick_memory ? "try --quick" : "free memory, or raise the limits (ulimit -v, ulimit -u)");
    return value;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* ---- processors and caches ---- */

/* A processor of that node; the first one if it is of none. */
static int cpu_of_node(int node)
{
    sgc_assert(cpus > 0);
    for (int i = 0; i < cpus; i++)
        if (topology.node_of[cpu[i]] == node)
            return cpu[i];
    return cpu[0];
}

static void read_system(void)
{
    cpus = sgc_bench_cpus(cpu, SGC_BENCH_CPUS);
    if (cpus == 0)
        sgc_tool_fail(FAILED, "the system does not say which processors this process may use; there is nothing to measure");
    sgc_topology_read_allowed(&topology, "/sys", "/proc/self/status");
    machine.nodes = topology.nodes <= cpus ? topology.nodes : 1;
    machine.processors = cpus - cpus % (int)machine.nodes;
    sgc_assert(machine.nodes >= 1 && machine.processors >= machine.nodes);
    machine.placement = SGC_PLACED_FIRST_TOUCH;
    machine.network = SGC_NETWORK_FLAT;
    machine.nodes_a_router = 1;
    machine.caches = sgc_bench_caches(machine.cache, "/sys");
    if (machine.caches == 0) {
        machine.cache[0] = (struct sgc_machine_cache){ 32768, 8, 64, 0, 1 };
        machine.cache[1] = (struct sgc_machine_cache){ 1 << 20, 16, 64, 0, 1 };
        machine.caches = 2;
        cache_source = "assumed: /sys does not say";
    }
    for (int i = 0; i < machine.caches; i++)
        if (machine.cache[i].shared_by > machine.processors)
            machine.cache[i].shared_by = machine.processors;
    sgc_assert(machine.caches >= 1 && machine.caches <= SGC_MACHINE_CACHES);
}

static double chase(size_t bytes, bool rmw, int home)
{
    struct sgc_bench_chase c = { bytes, 64, true, rmw, home, cpu[0] };

    sgc_assert(bytes > 0 && cpus > 0);
    return measured(sgc_bench_chase(&c));
}

static void measure_caches(void)
{
    double before = 0;

    sgc_assert(machine.caches >= 1);
    for (int i = 0; i < machine.caches; i++) {
        before = larger(before, chase((size_t)machine.cache[i].bytes / 2, false, cpu[0]));
        machine.cache[i].hit_ns = before;
    }
}

/* ---- memory ---- */

static void measure_latencies(void)
{
    int far = machine.nodes > 1 ? cpu_of_node((topology.node_of[cpu[0]] + 1) % topology.nodes) : cpu[0];
    double *read = machine.latency_ns[SGC_MISS_READ], *rmw = machine.latency_ns[SGC_MISS_RMW];

    sgc_assert(machine.caches >= 1 && machine.nodes >= 1);
    read[SGC_NEAR] = larger(chase(memory, false, cpu[0]), machine.cache[machine.caches - 1].hit_ns);
    read[SGC_FAR] = machine.nodes > 1 ? larger(chase(memory, false, far), read[SGC_NEAR]) : read[SGC_NEAR];
    rmw[SGC_NEAR] = larger(chase(memory, true, cpu[0]), read[SGC_NEAR]);
    rmw[SGC_FAR] = larger(machine.nodes > 1 ? chase(memory, true, far) : rmw[SGC_NEAR], larger(rmw[SGC_NEAR], read[SGC_FAR]));
}

/* All processors together get a line in so many nanoseconds, so that is the longest that a node can
 * be busy with one. */
static void measure_rates(void)
{
    double alone = measured(sgc_bench_independent(memory / 2, false, cpu, 1));
    double read = measured(sgc_bench_independent(memory / 2, false, cpu, cpus)) * machine.nodes;
    double rmw = measured(sgc_bench_independent(memory / 2, true, cpu, cpus)) * machine.nodes;

    sgc_assert(alone > 0 && read > 0 && rmw > 0);
    machine.misses_in_flight = larger(1, machine.latency_ns[SGC_MISS_READ][SGC_NEAR] / alone);
    machine.occupancy_ns[SGC_MISS_READ] = read;
    machine.occupancy_ns[SGC_MISS_RMW] = larger(rmw, read);
    for (int c = 0; c < SGC_MISS_CLASSES; c++)
        if (machine.occupancy_ns[c] > machine.latency_ns[c][SGC_NEAR])
            machine.occupancy_ns[c] = machine.latency_ns[c][SGC_NEAR];
    machine.occupancy = SGC_KNOWN_BOUND;
    machine.stream_mb_s = measured(sgc_bench_stream(memory, cpu[0]));
}

static void measure_tlb(void)
{
    struct sgc_bench_chase small = { memory, 64, false, false, cpu[0], cpu[0] };

    machine.tlb.entries = sgc_bench_tlb_pages(cpu[0]);
    machine.tlb.ways = 8;
    machine.tlb.page_bytes = 4096;
    machine.tlb.walk_ns = measured(sgc_bench_chase(&small)) - machine.latency_ns[SGC_MISS_READ][SGC_NEAR];
    if (machine.tlb.walk_ns < 0)
        machine.tlb.walk_ns = 0;
}

/* Between the first processor and some others: the nearest and the farthest. */
static void measure_handover(void)
{
    double *handover = machine.handover_ns;

    sgc_assert(cpus >= 1);
    for (int i = 1; i<cpus; i += cpus> ENOUGH_PROCESSORS ? cpus / ENOUGH_PROCESSORS : 1) {
        double ns = measured(sgc_bench_handover(cpu[0], cpu[i]));

        handover[SGC_NEAR] = i == 1 || ns < handover[SGC_NEAR] ? ns : handover[SGC_NEAR];
        handover[SGC_FAR] = larger(handover[SGC_FAR], ns);
    }
}

static void measure_all(void)
{
    measure_caches();
    measure_latencies();
    measure_rates();
    measure_tlb();
    measure_handover();
    if (!sgc_bench_costs(&machine.cost, &doubts, cpu[0]))
        measured(0);
}

/* ---- the file ---- */

static const struct {
    const char *key, *source;
} sources[] = {
    { "processors", "that this process may use" },
    { "nodes", "/sys" },
    { "placement", "the system's default" },
    { "network", "assumed: /sys has no hops" },
    { "read_local_ns", "measured: loads that depend on each other, on huge pages where there are some" },
    { "read_remote_ns", "measured; with one node as read_local_ns" },
    { "rmw_local_ns", "measured: the same, read and written atomically" },
    { "rmw_remote_ns", "measured; with one node as rmw_local_ns" },
    { "read_occupancy_ns", "bound: what all processors got together; they need not have kept the nodes busy" },
    { "rmw_occupancy_ns", "bound: likewise" },
    { "misses_in_flight", "measured: a dependent load by an independent one" },
    { "stream_mb_s", "measured" },
    { "tlb_entries", "measured, to a power of two" },
    { "tlb_ways", "assumed" },
    { "tlb_page_bytes", "small pages" },
    { "tlb_walk_ns", "measured: what a load of memory takes longer on small pages than on huge ones" },
    { "handover_near_ns", "measured: the quickest pair with the first processor" },
    { "handover_far_ns", "measured: the slowest; a virtual machine's processors may move closer or apart" },
    { "object_ns", "measured: a loop that looks at an object's page" },
    { "word_ns", "measured: the marker's search for pointers" },
    { "edge_ns", "measured: a loop from a word to an object's mark" },
    { "mark_ns", "measured" },
    { "mark_rmw_ns", "measured" },
    { "push_ns", "measured: half of a push and a pop of the marker's stack" },
    { "pop_ns", "measured: the other half" },
    { "steal_ns", "measured: one piece, with stacks that nobody else has touched" },
    { "lock_ns", "measured: the lock between markers" },
    { "procedure_ns", "measured: a loop that looks at the eight words of an object, of which none is a pointer" },
    { "procedure_edge_ns", "measured: what it takes longer for each that is one" },
};

static const char *source(void *arg, const char *key)
{
    (void)arg;
    sgc_assert(key != NULL);
    if ((doubts.edge && strcmp(key, "edge_ns") == 0) || (doubts.steal && strcmp(key, "steal_ns") == 0) ||
        (doubts.procedure && strcmp(key, "procedure_edge_ns") == 0))
        return "bound: it could not be told from the noise of measuring; measure again when nothing else runs";
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        if (strcmp(sources[i].key, key) == 0)
            return sources[i].source;
    if (strstr(key, "_hit_ns") != NULL)
        return "measured: dependent loads all over half of it";
    return strncmp(key, "cache", 5) == 0 ? cache_source : "";
}

static void write_file(const char *output)
{
    static struct sgc_out_file out;
    FILE *file = sgc_output_open(&out, output);
    time_t now = time(NULL);
    char day[32];

    sgc_assert(machine.name[0] != '\0');
    if (file == NULL)
        sgc_tool_fail(FAILED, "%s: cannot be written (%s); name a file in a folder that can", output, strerror(errno));
    strftime(day, sizeof day, "%Y-%m-%d", gmtime(&now));
    fprintf(file, "# Measured by sgc-machine %s on %s.\n", SGC_MACHINE_VERSION, day);
    sgc_machine_write(&machine, file, source, NULL);
    if (sgc_output_end(&out, file, true) != 0)
        sgc_tool_fail(FAILED, "%s: cannot be written to its end; is the file system full?",
                      file != stdout ? output : "standard output");
}

/* ---- */

static void print_and_end(const char *text)
{
    fputs(text, stdout);
    exit(sgc_tool_end());
}

static bool can_be_shown(const char *name)
{
    char same[sizeof machine.name];

    sgc_assert(strlen(name) < sizeof same);
    return strcmp(sgc_make_shown(strcpy(same, name)), name) == 0;
}

static void take_name(const char *name)
{
    size_t length = strlen(name);

    if (length == 0 || length >= sizeof machine.name || strpbrk(name, " \t#\n") != NULL || !can_be_shown(name))
        sgc_tool_fail(MISUSED, "--name %s: expected a name of 1 to %zu characters, without spaces, controls and #", name,
                      sizeof machine.name - 1);
    strcpy(machine.name, name);
}

static bool is_output(const char *option)
{
    return strcmp(option, "-o") == 0 || strcmp(option, "--output") == 0;
}

static bool takes_value(const char *option)
{
    return is_output(option) || strcmp(option, "--name") == 0;
}

static const char *parse(int argc, char **argv)
{
    const char *output = "-";

    strcpy(machine.name, "this-machine");
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;

        if (strcmp(argv[i], "--help") == 0)
            print_and_end(help);
        if (strcmp(argv[i], "--version") == 0)
            print_and_end("sgc-machine (SGC) " SGC_MACHINE_VERSION "\n");
        if (strcmp(argv[i], "--quick") == 0)
            memory = quick_memory;
        else if (is_output(argv[i]) && has_value)
            output = argv[++i];
        else if (strcmp(argv[i], "--name") == 0 && has_value)
            take_name(argv[++i]);
        else if (takes_value(argv[i]))
            sgc_tool_fail(MISUSED, "%s: expected a %s behind it", argv[i], is_output(argv[i]) ? "file" : "name");
        else
            sgc_tool_fail(MISUSED, "%s: unknown; sgc-machine --help prints what there is", argv[i]);
    }
    return output;
}

int main(int argc, char **argv)
{
    const char *output;

    argv = sgc_tool_divide_words(&argc, argv, takes_value);
    output = parse(argc, argv);

    read_system();
    measure_all();
    write_file(output);
    return 0;
}
