/* SPDX-License-Identifier: MIT */
/*
 * gc/threads/bind_plan.c: where helpers are to run, on made-up machines: nodes and cores in turn, unlike nodes, processors
 * that the process may not use, more helpers than there are places.
 */
#include "gc/threads/bind_plan.h"

#include <string.h>

#include "tests/lib/tap.h"

static struct sgc_topology machine;
static struct sgc_number_set allowed;
static struct sgc_bind_plan plan = { SGC_BIND_NODE, &machine, &allowed };

/* Of each node its processors: "0-3 4-7"; each core has so many, which follow each other.  The mask; NULL: all. */
static void make_machine(const char *const *nodes, int cpus_a_core, const char *mask)
{
    struct sgc_number_set cpus;

    sgc_topology_begin(&machine, "test");
    sgc_number_set_clear(&allowed);
    for (int node = 0; nodes[node] != NULL; node++) {
        sgc_topology_add_node(&machine, node, true, true);
        sgc_number_set_parse(&cpus, nodes[node]);
        for (int cpu = 0; (cpu = sgc_number_set_next(&cpus, cpu)) >= 0; cpu++) {
            sgc_topology_add_cpu(&machine, cpu, node);
            sgc_topology_add_to_core(&machine, cpu, cpu / cpus_a_core * cpus_a_core);
            sgc_number_set_add(&allowed, (uint64_t)cpu);
        }
    }
    sgc_topology_end(&machine);
    if (mask != NULL)
        sgc_number_set_parse(&allowed, mask);
}

/* Nodes, or cores, of helpers 0, 1, ...: "1 0 1"; a core that another has with a plus sign. */
static void check(enum sgc_bind mode, uint32_t places, const char *wanted, const char *what)
{
    char text[256] = "";
    uint32_t helper = 0;
    bool right = true;

    plan.mode = mode;
    for (const char *at = wanted; at != NULL; at = strchr(at + 1, ' '), helper++) {
        struct sgc_bind_place place = sgc_bind_place(&plan, helper);
        struct sgc_number_set set;

        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d%s", helper == 0 ? "" : " ",
                 mode == SGC_BIND_CORE ? (int)place.core : place.node, place.beyond ? "+" : "");
        sgc_bind_processors(&plan, &place, &set);
        right = right && sgc_number_set_count(&set) > 0;
        for (int cpu = 0; (cpu = sgc_number_set_next(&set, cpu)) >= 0; cpu++)
            right = right && sgc_number_set_has(&allowed, (uint64_t)cpu) && machine.node_of[cpu] == place.node;
    }
    tap_ok(sgc_bind_places(&plan) == places && strcmp(text, wanted) == 0 && right, "%s: %u places, helpers at %s", what,
           sgc_bind_places(&plan), text);
}

static void test_processors(void)
{
    struct sgc_number_set set;

    make_machine((const char *const[]){ "0-3", "4-7", NULL }, 2, "1-2,6-7,100");
    plan.mode = SGC_BIND_NODE;
    sgc_bind_processors(&plan, &(struct sgc_bind_place){ 0, SGC_NO_CORE, false }, &set);
    tap_ok(sgc_number_set_count(&set) == 2 && sgc_number_set_has(&set, 1) && sgc_number_set_has(&set, 2),
           "a node: those of its processors that the process may use");
    plan.mode = SGC_BIND_CORE;
    sgc_bind_processors(&plan, &(struct sgc_bind_place){ 1, 6, false }, &set);
    tap_ok(sgc_number_set_count(&set) == 2 && sgc_number_set_has(&set, 6) && sgc_number_set_has(&set, 7), "a core: both of it");
    sgc_bind_processors(&plan, &(struct sgc_bind_place){ 0, 2, false }, &set);
    tap_ok(sgc_number_set_count(&set) == 1 && sgc_number_set_has(&set, 2), "a core, of which half may be used");
    tap_ok(sgc_bind_core_of(&plan, 7) == 6 && sgc_bind_core_of(&plan, 5) == 4 && sgc_bind_core_of(&plan, -1) == SGC_NO_CORE,
           "the core of a processor");
}

int main(void)
{
    tap_ok(sgc_bind_mode(SGC_BIND_AUTO, 1) == SGC_BIND_OFF && sgc_bind_mode(SGC_BIND_AUTO, 2) == SGC_BIND_NODE &&
           sgc_bind_mode(SGC_BIND_CORE, 1) == SGC_BIND_CORE && sgc_bind_mode(SGC_BIND_OFF, 4) == SGC_BIND_OFF, "auto");
    make_machine((const char *const[]){ "0-3", "4-7", NULL }, 2, NULL);
    check(SGC_BIND_NODE, 8, "0 1 0 1 0 1 0 1 0 1", "two nodes");
    check(SGC_BIND_CORE, 4, "0 4 2 6 0 4+ 2+", "two nodes of two cores");
    make_machine((const char *const[]){ "0", "1-5", NULL }, 1, NULL);
    check(SGC_BIND_NODE, 6, "0 1 1 1 1 1 0 1", "nodes of one and five processors");
    make_machine((const char *const[]){ "0-3", "", "4-7", "8-11", NULL }, 1, NULL);
    check(SGC_BIND_NODE, 12, "0 2 3 0 2 3 0", "a node without processors");
    make_machine((const char *const[]){ "0-3", "4-7", NULL }, 2, "0-1,6");
    check(SGC_BIND_NODE, 3, "0 1 0 0 1", "processors that may not be used");
    check(SGC_BIND_CORE, 2, "0 6 0 6+ 0+", "cores, of which half may be used, or none");
    make_machine((const char *const[]){ "0-3", "4-7", NULL }, 2, "5");
    check(SGC_BIND_NODE, 1, "1 1 1", "one processor");
    check(SGC_BIND_CORE, 1, "4 4 4+", "one core");
    make_machine((const char *const[]){ "0-3", NULL }, 1, NULL);
    check(SGC_BIND_CORE, 4, "0 1 2 3 0 1+", "one node");
    make_machine((const char *const[]){ "0-3", NULL }, 1, "100,5000");
    tap_ok(sgc_bind_places(&plan) == 0, "processors that the topology does not know are no places");
    test_processors();
    return tap_done();
}
