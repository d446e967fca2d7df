/* SPDX-License-Identifier: MIT */
/* See perfmodel/sim/sim.h. */
#include "perfmodel/sim/sim.h"

#include <string.h>

#include "mark/mark_roots.h"
#include "perfmodel/sim/endo_marker.h"
#include "perfmodel/sim/platform.h"

enum { EDGES = 64, SPLIT = 128 << 10 };         /* as the collector has them without options */

static const size_t STACK_BYTES = (size_t)64 << 20;

/* ---- presets ---- */

static const struct sgc_sim_preset presets[] = {
    { "sgc", false, true, true, true, true, SGC_STACK_SPLIT, SGC_STEAL_HALF },
    { "sgc-no-slo", false, true, false, true, true, SGC_STACK_SPLIT, SGC_STEAL_HALF },
    { "sgc-no-nsb", false, true, true, false, true, SGC_STACK_SPLIT, SGC_STEAL_HALF },
    { "sgc-no-opt", false, true, false, false, true, SGC_STACK_LOCKED, SGC_STEAL_ONE },
    { "sgc-simple", false, false, false, false, true, SGC_STACK_SPLIT, SGC_STEAL_HALF },
    { "endo-opt", true, true, true, true, true, SGC_STACK_LOCKED, SGC_STEAL_ONE },
    { "endo-no-slo", true, true, false, true, true, SGC_STACK_LOCKED, SGC_STEAL_ONE },
    { "endo-no-bmb", true, true, true, true, false, SGC_STACK_LOCKED, SGC_STEAL_ONE },
    { "endo-no-nsb", true, true, true, false, true, SGC_STACK_LOCKED, SGC_STEAL_ONE },
    { "endo-no-opt", true, true, false, false, false, SGC_STACK_LOCKED, SGC_STEAL_ONE },
    { "endo-simple", true, false, false, true, false, SGC_STACK_LOCKED, SGC_STEAL_ONE },
};

enum { PRESETS = sizeof presets / sizeof *presets };

const char *sgc_sim_preset_name(unsigned i)
{
    return i < PRESETS ? presets[i].name : NULL;
}

const struct sgc_sim_preset *sgc_sim_preset(const char *name)
{
    for (unsigned i = 0; i < PRESETS; i++)
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
    return NULL;
}

bool sgc_sim_preset_known(const char *name)
{
    return sgc_sim_preset(name) != NULL;
}

/* ---- the library's markers ---- */

static struct {
    struct sgc_team *team;
    const struct sgc_sim_heap *heap;
} marking;

static struct sgc_team_config config_of(const struct sgc_sim_preset *preset, const struct sgc_sim_options *options)
{
    size_t split = options->split_bytes != 0 ? options->split_bytes : SPLIT;

    sgc_assert(!preset->endo && options->markers != 0);
    return (struct sgc_team_config){
        .mark = { .interior_pointers = true, .split_bytes = preset->split ? split : 0, .edges = EDGES,
                  .stack_bytes = STACK_BYTES, .stack_form = preset->form },
        .max_markers = options->markers, .balance = preset->balance, .steal = preset->steal, .markbit = SGC_MARKBIT_OR,
        .termination = preset->flags ? SGC_TERMINATION_FLAGS : SGC_TERMINATION_COUNTER,
    };
}

/* Thieves of another seed look at others first. */
static void sow(struct sgc_team *team, uint32_t seed)
{
    for (uint32_t i = 0; seed != 0 && i < team->made; i++)
        team->marker[i]->random ^= (seed * UINT32_C(2654435761) & ~UINT32_C(1)) | (team->marker[i]->random == 0);
}

static bool make_team(const struct sgc_sim_preset *preset, const struct sgc_sim_options *options)
{
    struct sgc_team_config config = config_of(preset, options);

    marking.team = sgc_mem_obtain(sizeof *marking.team);
    if (marking.team == NULL || !sgc_team_init(marking.team, &config))
        return false;
    for (uint32_t i = 1; i < options->markers; i++)
        if (sgc_team_add(marking.team) != i || !sgc_team_make(marking.team, i, SGC_NO_CORE, false))
            return false;
    sow(marking.team, options->seed);
    return true;
}

/* As a cycle does it: gc/collect/cycle.c. */
static void lead(void)
{
    struct sgc_marker *first = sgc_team_first(marking.team);

    sgc_assert(marking.team->made == marking.team->config.max_markers);
    sgc_team_begin(marking.team, marking.team->made);
    for (uint32_t i = 0; i < marking.heap->ranges; i++)
        sgc_mark_roots(first, (const void *)marking.heap->range[i].lo, (const void *)marking.heap->range[i].hi);
    if (!sgc_team_mark(marking.team, NULL) || !sgc_team_rescan(marking.team, NULL))
        sgc_fatal("a simulated mark gave up though nobody asked it to");
}

static void team_body(uint32_t i)
{
    if (i == 0)
        lead();
    else
        sgc_team_serve(marking.team, i);
}

static void end_team(struct sgc_sim_work *work)
{
    struct sgc_team_totals totals;

    sgc_assert(sgc_termination_complete(&marking.team->termination));
    sgc_team_check(marking.team);
    sgc_team_totals(marking.team, &totals);
    *work = (struct sgc_sim_work){ totals.objects, totals.bytes, totals.steals, totals.stolen };
}

/* ---- a run ---- */

static void add_up(const struct sgc_sim_options *options, const struct sgc_sim_work *work, struct sgc_sim_result *result)
{
    sgc_assert(result->nodes <= SGC_SIM_NODES_MAX && result->markers == options->markers);
    result->objects = work->objects;
    result->bytes = work->bytes;
    result->steals = work->steals;
    result->stolen = work->stolen;
    for (uint32_t i = 0; i < options->markers; i++) {
        const struct sgc_sim_marker_figures *figures = sgc_sim_figures_of(i);

        result->computing += figures->computing;
        result->missing += figures->missing;
        result->waited += figures->waited;
        result->accesses += figures->accesses;
        result->asked += figures->asked;
        for (int r = 0; r < SGC_SIM_REQUESTS; r++)
            result->misses[r] += figures->misses[r];
    }
    for (uint32_t i = 0; i < result->nodes; i++)
        result->server[i] = *sgc_sim_server_of(i);
}

static bool begin(const struct sgc_sim_heap *heap, const struct sgc_sim_options *options, const struct sgc_sim_preset *preset)
{
    struct sgc_sim_placement placement = { options->homes, heap->home, preset->balance_bits };

    sgc_assert(options->homes <= SGC_SIM_BY_PAGE && heap->layout.bytes == sgc_sim_platform_bytes());
    sgc_sim_platform_reset(heap->used);
    sgc_sim_unmark();
    marking.heap = heap;
    return (preset->endo ? sgc_endo_begin(preset, options->markers, options->seed, heap) : make_team(preset, options)) &&
           sgc_sim_memory_begin(options->machine, &heap->layout, &placement, options->markers, !options->no_contention);
}

bool sgc_simulate(const struct sgc_sim_heap *heap, const struct sgc_sim_options *options, struct sgc_sim_result *result)
{
    const struct sgc_sim_preset *preset = sgc_sim_preset(options->preset);
    struct sgc_sim_tasks tasks = {
        .count = options->markers, .body = preset->endo ? sgc_endo_mark : team_body, .first_ends = !preset->endo,
        .base = sgc_sim_platform_base(), .machine = options->machine, .watch = options->watch, .arg = options->arg,
    };
    struct sgc_sim_work work;
    bool done;

    sgc_assert(preset != NULL && options->markers != 0 && options->markers <= SGC_SIM_MARKERS_MAX);
    sgc_assert(sgc_sim_machine_check(options->machine) == NULL);
    *result = (struct sgc_sim_result){ .markers = options->markers, .nodes = options->machine->nodes };
    done = begin(heap, options, preset) && sgc_sim_run(&tasks, &result->ps);
    if (done) {
        (preset->endo ? sgc_endo_end : end_team)(&work);
        add_up(options, &work, result);
    }
    sgc_sim_memory_end();
    return done;
}
