/* SPDX-License-Identifier: MIT */
/*
 * mark/team/team.c on a machine that is made up: threads say themselves what node and core they are
 * on.  Thefts from another node
 * are counted, there are none where all are on one; and a helper that is on the collecting thread's core, or on another
 * helper's, stays out when it is told to.
 */

#include "platform/nodes/placement.h"
#include "tests/lib/child.h"
#include "tests/lib/heap.h"

enum { HELPERS = 3, BIG = 200000, MARKS = 200 };

static struct sgc_team team;
static __thread unsigned my_node;       /* the system's number */
static unsigned nodes_wanted;           /* of helpers: by number, modulo this */

static long say_node(unsigned *processor, unsigned *node)
{
    if (processor != NULL)
        *processor = my_node;
    if (node != NULL)
        *node = my_node;
    return 0;
}

static sgc_aw_t marked_by[HELPERS + 1];         /* how often a helper came in: read while it is out */

static void *serve(void *number)
{
    uint32_t i = (uint32_t)(uintptr_t)number;

    my_node = i % nodes_wanted;
    sgc_team_serve(&team, i);
    return NULL;
}

static void make_team(uint32_t stay_out)
{
    struct sgc_team_config config = {
        .mark = HEAP_MARK, .max_markers = HELPERS + 1, .balance = true, .markbit = SGC_MARKBIT_OR, .stay_out = stay_out,
    };

    if (!sgc_team_init(&team, &config))
        tap_bail("no team");
}

/* Helper i is bound to core i; the last one to that of the first, too, if it is to be beyond. */
static void start_helpers(bool beyond)
{
    for (int i = 0; i < HELPERS; i++) {
        uint32_t number = sgc_team_add(&team);
        bool last = beyond && number == HELPERS;

        if (!sgc_team_make(&team, number, last ? 1 : number, last))
            tap_bail("no helper");
        thread_start(serve, (void *)(uintptr_t)number);
    }
}

static size_t thefts, far, objects;

/* Marks it, and adds up; also which markers have marked. */
static void mark(uintptr_t *top, uint32_t want)
{
    struct sgc_team_totals totals;

    heap_mark_by(&team, want, &top, 1);
    sgc_team_totals(&team, &totals);
    thefts += totals.steals;
    far += totals.steals_far;
    objects = totals.objects;
    for (uint32_t i = 1; i <= HELPERS; i++)
        if (team.marker[i]->objects + team.marker[i]->stolen != 0)
            sgc_aw_add_relaxed(&marked_by[i], 1);
    heap_unmark();
}

static uintptr_t *begin(unsigned nodes, uint32_t stay_out, bool beyond)
{
    static const struct sgc_topology two = { .nodes = 2, .cpus = 2, .source = "test", .os_index = { 0, 1 } };
    uintptr_t *top;

    heap_start((size_t)1 << 30, 0, false);
    top = heap_fan(BIG);
    heap_retire();
    nodes_wanted = nodes;
    sgc_placement_use(&two);
    sgc_placement_hooks.getcpu = say_node;
    make_team(stay_out);
    start_helpers(beyond);
    return top;
}

/* Of two nodes helpers with odd numbers are on the other one: until there is a theft from there, or any. */
static int steal_on(unsigned nodes)
{
    uintptr_t *top = begin(nodes, 0, false);

    for (int i = 0; i < MARKS && (nodes == 2 ? far : thefts) == 0; i++)
        mark(top, HELPERS + 1);
    return objects == BIG + 1 && thefts > 0 && far <= thefts && (far > 0) == (nodes == 2) ? 0 : 1;
}

static bool came(uint32_t helper)
{
    return sgc_aw_load(&marked_by[helper]) != 0;
}

static bool others_came(uint32_t than)
{
    bool all = true;

    for (uint32_t i = 1; i <= HELPERS; i++)
        all = all && (i == than || came(i));
    return all;
}

/* Helpers are to keep off that core: one stays out while the others come, and comes when it may, with so many markers. */
static int one_stays_out(uint32_t core, uint32_t helper, uint32_t markers)
{
    uintptr_t *top = begin(1, core != 0, core == 0);

    sgc_team_keep_off(&team, core);
    for (int i = 0; i < MARKS && (i < 20 || !others_came(helper)); i++)
        mark(top, HELPERS);
    if (!others_came(helper) || came(helper))
        return 1;
    sgc_team_keep_off(&team, SGC_NO_CORE);
    for (int i = 0; i < MARKS && !came(helper); i++)
        mark(top, markers);
    return came(helper) && objects == BIG + 1 ? 0 : 2;
}

int main(void)
{
    child_ok_of(steal_on(2), "two nodes: thefts from the other one are counted");
    child_ok_of(steal_on(1), "all on one node: none is from another");
    /* The collecting thread is on the core of helper 2, then on that of nobody; then the third has
     * the first one's core. */
    child_ok_of(one_stays_out(2, 2, HELPERS), "a helper stays off the collecting thread's core, and comes when it may");
    child_ok_of(one_stays_out(0, HELPERS, HELPERS + 1),
                "a helper stays out that has another one's core, and comes when it may");
    return tap_done();
}
