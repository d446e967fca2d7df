/* SPDX-License-Identifier: MIT */
/*
 * sgc-topo [--json]: what SGC sees of memory nodes, processors and cores, and what it would do with them as its options are
 * set.
 *
 * It asks what the library asks, in the same way; HWLOC_SYNTHETIC and HWLOC_XMLFILE tell it of another machine.  On such a
 * one it takes all processors for allowed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gc/config/option_set.h"
#include "gc/threads/bind_plan.h"
#include "gc/threads/binding.h"
#include "platform/nodes/placement.h"
#include "platform/platform.h"
#include "platform/text_line.h"

enum { MISUSED = 2, BAD_INPUT = 1 };

static struct sgc_topology machine;
static struct sgc_number_set allowed;
static struct sgc_bind_plan plan = { SGC_BIND_OFF, &machine, &allowed };
static uint32_t markers;

static const char help[] =
    "usage: sgc-topo [--json]\n"
    "\n"
    "Prints what SGC sees of memory nodes, processors and cores, and what it would do with them as its options are set.\n"
    "\n"
    "  --json     as a JSON object\n"
    "  --help     this\n"
    "  --version  the version\n"
    "\n"
    "HWLOC_SYNTHETIC and HWLOC_XMLFILE tell it of another machine, as they do all that uses hwloc.\n"
    "Exit status: 0; 1 if the machine that is told of cannot be read; 2 if sgc-topo was used wrongly.\n";

/* ---- reading ---- */

static _Noreturn void fail(const char *variable, const char *why)
{
    const char *value = getenv(variable) != NULL ? getenv(variable) : "";
    char shown[1024];

    fprintf(stderr, "sgc-topo: %s=%s: %s\n", variable, sgc_quote(value, strlen(value), shown, sizeof shown), why);
    exit(BAD_INPUT);
}

static bool is_set(const char *variable)
{
    return getenv(variable) != NULL && getenv(variable)[0] != '\0';
}

/* What was told must have been heard. */
static void check_told(const char *variable)
{
    if (!is_set(variable))
        return;
    if (!sgc_topology_has_hwloc())
        fail(variable, "SGC was built without hwloc, which would read it");
    if (machine.ignored != NULL && strcmp(machine.ignored, variable) == 0)
        fail(variable, strcmp(variable, "HWLOC_XMLFILE") == 0 ? "hwloc finds no topology in this file"
                                                              : "hwloc does not understand this description");
    if (strcmp(machine.source, "hwloc") != 0)
        fail(variable, "hwloc, which would read it, cannot be loaded");
}

static void read_machine(void)
{
    if (is_set("HWLOC_SYNTHETIC") && is_set("HWLOC_XMLFILE"))
        fail("HWLOC_SYNTHETIC", "HWLOC_XMLFILE is set, too; leave one of the two out");
    if (sgc_binding_asks_hwloc()) {
        sgc_topology_read(&machine);
    } else {
        sgc_topology_read_allowed(&machine, "/sys", "/proc/self/status");
        sgc_topology_read_cores(&machine, "/sys");
    }
    check_told("HWLOC_SYNTHETIC");
    check_told("HWLOC_XMLFILE");
}

static void allow_all(void)
{
    for (uint64_t cpu = 0; cpu < SGC_NUMBERS; cpu++)
        if (machine.node_of[cpu] != SGC_NO_NODE)
            sgc_number_set_add(&allowed, cpu);
}

/* As the library does at its start. */
static void settle(void)
{
    int cpus = machine.synthetic ? machine.cpus : sgc_limit_cpus();

    if (machine.synthetic || !sgc_thread_processors(&allowed))
        allow_all();
    if (sgc_options.processors != 0)
        cpus = sgc_options.processors;
    markers = (uint32_t)(sgc_options.markers != 0 ? sgc_options.markers : cpus);
    plan.mode = sgc_bind_mode((enum sgc_bind)sgc_options.bind, machine.nodes);
    if (plan.mode != SGC_BIND_OFF && sgc_bind_places(&plan) == 0)
        plan.mode = SGC_BIND_OFF;
}

/* With a core for each marker there is one more: see gc/collect/helpers.c. */
static uint32_t helpers(void)
{
    bool one_more = plan.mode == SGC_BIND_CORE && markers > 1 && sgc_options.balance && markers <= sgc_bind_places(&plan);

    return one_more ? markers : markers - 1;
}

/* ---- of nodes and places ---- */

static void node_processors(int node, struct sgc_number_set *set)
{
    sgc_number_set_clear(set);
    for (uint64_t cpu = 0; cpu < SGC_NUMBERS; cpu++)
        if (machine.node_of[cpu] == node)
            sgc_number_set_add(set, cpu);
}

static int count_cores(const struct sgc_number_set *set)
{
    int cores = 0;

    for (int cpu = 0; (cpu = sgc_number_set_next(set, cpu)) >= 0; cpu++)
        cores += machine.core_of[cpu] == cpu;
    return cores;
}

/* The processors of a helper; false: any. */
static bool helper_processors(uint32_t helper, struct sgc_bind_place *place, struct sgc_number_set *set)
{
    if (plan.mode == SGC_BIND_OFF)
        return false;
    *place = sgc_bind_place(&plan, helper);
    sgc_bind_processors(&plan, place, set);
    return true;
}

/* Where the heap and its tables would be: see alloc/pages/homes.h. */
static enum sgc_numa numa(void)
{
    if (machine.nodes == 1)
        return SGC_NUMA_OFF;
    return sgc_options.numa == SGC_NUMA_AUTO ? SGC_NUMA_BALANCED : (enum sgc_numa)sgc_options.numa;
}

/* ---- as text ---- */

/* "0-3,8" */
static void print_set(const struct sgc_number_set *set)
{
    const char *comma = "";
    int last;

    for (int cpu = 0; (cpu = sgc_number_set_next(set, cpu)) >= 0; cpu = last + 1, comma = ",") {
        for (last = cpu; sgc_number_set_has(set, (uint64_t)last + 1);)
            last++;
        printf(last > cpu ? "%s%d-%d" : "%s%d", comma, cpu, last);
    }
    if (sgc_number_set_count(set) == 0)
        printf("none");
}

static void print_node(int node)
{
    struct sgc_number_set set;

    node_processors(node, &set);
    printf("node %d: ", machine.os_index[node]);
    if (machine.bytes[node] != 0)
        printf("%.1f GiB, ", (double)machine.bytes[node] / (1 << 30));
    printf("processors ");
    print_set(&set);
    printf(", %d cores", count_cores(&set));
    if (machine.nodes > 1 && machine.distance[node][(node + 1) % machine.nodes] != 0) {
        printf(", distances");
        for (int to = 0; to < machine.nodes; to++)
            printf(" %d", machine.distance[node][to]);
    }
    printf("\n");
}

static void print_other(const struct sgc_other_node *other)
{
    printf("node %d: %s; its processors count as of node %d\n", other->os_index,
           other->has_memory ? "memory that this process may not use" : "no memory", machine.os_index[other->nearest]);
}

static void print_helper(const char *what, uint32_t helper)
{
    struct sgc_bind_place place;
    struct sgc_number_set set;

    printf("%s: ", what);
    if (!helper_processors(helper, &place, &set)) {
        printf("any processor\n");
        return;
    }
    printf("node %d, processors ", machine.os_index[place.node]);
    print_set(&set);
    printf(place.beyond ? ", shared with another helper\n" : "\n");
}

static void print_heap(void)
{
    static const char *const where[] = {
        [SGC_NUMA_OFF] = "where the thread runs that touches it first",
        [SGC_NUMA_LOCAL] = "each arena on a node, with its bits; the other tables on all nodes in turn",
        [SGC_NUMA_BALANCED] = "each arena on a node; all tables on all nodes in turn",
        [SGC_NUMA_INTERLEAVE_HEAP] = "on all nodes in turn, with all tables",
    };

    printf("heap: %s\n", where[numa()]);
}

static void print_text(void)
{
    char name[32];

    printf("from %s%s: nodes with memory %d, processors %d, cores %d\n", machine.source,
           machine.synthetic ? ", which was told of another machine" : "", machine.nodes, machine.cpus, machine.cores);
    for (int node = 0; node < machine.nodes; node++)
        print_node(node);
    for (int i = 0; i < machine.others; i++)
        print_other(&machine.other[i]);
    printf("this process may use processors ");
    print_set(&allowed);
    printf("\n\nwith the options as they are set: markers %u\n", markers);
    printf("the collecting thread: any processor\n");
    for (uint32_t i = 1; i <= helpers(); i++) {
        snprintf(name, sizeof name, "helper %u", i);
        print_helper(name, i);
    }
    if (sgc_options.service != SGC_SERVICE_OFF)
        print_helper("service thread", 0);
    if (plan.mode == SGC_BIND_CORE && helpers() == markers && markers > 1)
        printf("one helper stays out of each mark: the one on the collecting thread's core\n");
    print_heap();
}

/* ---- as JSON ---- */

static void json_set(const char *name, const struct sgc_number_set *set)
{
    const char *comma = "";

    printf("\"%s\": [", name);
    for (int cpu = 0; (cpu = sgc_number_set_next(set, cpu)) >= 0; cpu++, comma = ", ")
        printf("%s%d", comma, cpu);
    printf("]");
}

static void json_node(int node)
{
    struct sgc_number_set set;

    node_processors(node, &set);
    printf("%s\n    {\"number\": %d, \"bytes\": %llu, ", node == 0 ? "" : ",", machine.os_index[node],
           (unsigned long long)machine.bytes[node]);
    json_set("processors", &set);
    printf(", \"cores\": %d, \"distances\": [", count_cores(&set));
    for (int to = 0; to < machine.nodes; to++)
        printf("%s%d", to == 0 ? "" : ", ", machine.distance[node][to]);
    printf("]}");
}

static void json_other(const struct sgc_other_node *other, const char *comma)
{
    printf("%s\n    {\"number\": %d, \"has_memory\": %s, \"nearest\": %d}", comma, other->os_index,
           other->has_memory ? "true" : "false", machine.os_index[other->nearest]);
}

static void json_helper(uint32_t helper, const char *comma)
{
    struct sgc_bind_place place;
    struct sgc_number_set set;

    printf("%s\n    {\"helper\": %u, ", comma, helper);
    if (!helper_processors(helper, &place, &set)) {
        printf("\"node\": null, \"core\": null, \"processors\": null}");
        return;
    }
    printf("\"node\": %d, ", machine.os_index[place.node]);
    printf(place.core != SGC_NO_CORE ? "\"core\": %u, " : "\"core\": null, ", place.core);
    json_set("processors", &set);
    printf("}");
}

static void print_json(void)
{
    static const char *const modes[] = { "off", "node", "core" };
    static const char *const numas[] = { "off", "local", "balanced", "interleave-heap" };

    printf("{\n  \"source\": \"%s\", \"this_machine\": %s, \"processors\": %d, \"cores\": %d,\n  \"nodes\": [", machine.source,
           machine.synthetic ? "false" : "true", machine.cpus, machine.cores);
    for (int node = 0; node < machine.nodes; node++)
        json_node(node);
    printf("\n  ],\n  \"other_nodes\": [");
    for (int i = 0; i < machine.others; i++)
        json_other(&machine.other[i], i == 0 ? "" : ",");
    printf("%s],\n  ", machine.others != 0 ? "\n  " : "");
    json_set("allowed", &allowed);
    printf(",\n  \"markers\": %u, \"bind\": \"%s\", \"numa\": \"%s\",\n  \"helpers\": [", markers,
           modes[plan.mode], numas[numa()]);
    for (uint32_t i = 1; i <= helpers(); i++)
        json_helper(i, i == 1 ? "" : ",");
    printf("%s]\n}\n", helpers() != 0 ? "\n  " : "");
}

/* ---- */

static bool parse(int argc, char **argv)
{
    bool json = false;
    char shown[1024];

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--help") == 0) {
            fputs(help, stdout);
            exit(0);
        } else if (strcmp(argv[i], "--version") == 0) {
            printf("sgc-topo (SGC) %s\n", SGC_TOPO_VERSION);
            exit(0);
        } else {
            fprintf(stderr, "sgc-topo: %s: unknown; sgc-topo --help prints what there is\n",
                    sgc_quote(argv[i], strlen(argv[i]), shown, sizeof shown));
            exit(MISUSED);
        }
    }
    return json;
}

int main(int argc, char **argv)
{
    bool json = parse(argc, argv);

    sgc_platform_init();
    sgc_options_read();
    read_machine();
    settle();
    if (json)
        print_json();
    else
        print_text();
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : BAD_INPUT;
}
