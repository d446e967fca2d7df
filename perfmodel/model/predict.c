/* SPDX-License-Identifier: MIT */
/* How long the mark of a graph takes on so many processors of a machine. */
#include "perfmodel/model/predict.h"

#include <math.h>
#include <stdlib.h>

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* T_P, 4.3.5. */
static double computing(const struct sgc_prediction_of *of, double work_ns, uint32_t processors)
{
    double share = work_ns / processors, depth = of->work->depth_ns;

    if (of->depth == SGC_DEPTH_SUM)
        return share + depth;
    return (of->depth == SGC_DEPTH_LARGER) == (share > depth) ? share : depth;
}

/* N_S, 4.3.4.  A single processor has nobody to steal from. */
static double count_steals(const struct sgc_prediction_of *of, uint32_t processors)
{
    double units = of->unit == SGC_STEALS_BY_PIECES  ? (double)of->work->pieces
                   : of->unit == SGC_STEALS_BY_WORDS ? (double)of->work->words
                                                     : of->work->work_ns;

    sgc_assert(units >= 0);
    if (processors == 1)
        return 0;
    return of->steals >= 0 ? of->steals : processors * log(larger(units, 1));
}

static double all_misses(const struct sgc_misses *m)
{
    return (double)(m->misses[SGC_MISS_READ] + m->misses[SGC_MISS_RMW]);
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* The misses that steals add to Q_1, where processors have so many last caches: N_S L in the
 * thesis, but not more than there is to miss.  Such a miss is an access that a cache answered in
 * the serial mark, of those to the first cache one for each of its lines and steal; and no last
 * cache misses more than the one of a processor that marks all. */
static double count_extra(const struct sgc_prediction_of *of, double caches, double steals)
{
    const struct sgc_machine_cache *first = &of->machine->cache[0];
    double answered = steals * first->bytes / first->line_bytes;

    sgc_assert(caches >= 1 && steals >= 0 && first->line_bytes > 0);
    for (int i = 1; i < of->machine->caches; i++)
        answered += (double)of->misses->answered[i];
    return smaller(steals * of->misses->live_lines, smaller(answered, (caches - 1) * all_misses(of->misses)));
}

/* The misses that steals add to Q_1, where some processors share a last cache, and fill one such
 * cache after the other: work stolen from a processor of the same cache is in it, and adds none. */
static double count_extra_apart(const struct sgc_prediction_of *of, uint32_t processors, double steals)
{
    double share = sgc_machine_last(of->machine)->shared_by, together = smaller(processors, share);

    sgc_assert(share >= 1 && (steals == 0 || processors > 1));
    return steals > 0 ? count_extra(of, ceil(processors / share), steals * (processors - together) / (processors - 1)) : 0;
}

/* ---- loads of the nodes ---- */

/* A prediction under way: what it is of, and the loads of the nodes, which each form fills anew. */
struct predicting {
    const struct sgc_prediction_of *of;
    struct sgc_node_load *node;
    struct sgc_memory_load load;
};

static bool begin(struct predicting *g, const struct sgc_prediction_of *of)
{
    *g = (struct predicting){ .of = of, .load = { .nodes = (uint32_t)of->machine->nodes } };
    g->node = calloc(g->load.nodes, sizeof *g->node);
    g->load.node = g->node;
    for (int c = 0; c < SGC_MISS_CLASSES; c++)
        g->load.occupancy_ns[c] = of->machine->occupancy_ns[c];
    return g->node != NULL;
}

static void fill_latencies(struct predicting *g, uint32_t processors)
{
    for (uint32_t j = 0; j < g->load.nodes; j++)
        for (int c = 0; c < SGC_MISS_CLASSES; c++)
            g->node[j].latency_ns[c] = sgc_machine_mean_latency(g->of->machine, (enum sgc_miss_class)c, processors, j);
}

/* The misses of the serial mark times `factor`: those that steals add have the same shares by node
 * and class. */
static void fill_requests(struct predicting *g, double factor)
{
    sgc_assert(factor >= 0);
    for (uint32_t j = 0; j < g->load.nodes; j++)
        for (int c = 0; c < SGC_MISS_CLASSES; c++)
            g->node[j].requests[c] = (double)g->of->misses->node[j].misses[c] * factor;
}

/* ---- [Endo]'s form, 4.3: a processor has one miss under way ---- */

static void predict_thesis(struct predicting *g, struct sgc_prediction *p)
{
    double once = all_misses(g->of->misses);

    sgc_assert(p->processors >= 1 && p->computing_ns >= 0 && p->steals >= 0);
    g->load.abreast = p->processors;
    fill_requests(g, 1);
    p->no_extra_ns = sgc_memory_time_ns(&g->load, p->computing_ns);
    p->misses = once + count_extra(g->of, p->processors, p->steals);
    fill_requests(g, once > 0 ? p->misses / once : 0);
    p->no_contention_ns = sgc_memory_free_ns(&g->load, p->computing_ns);
    p->time_ns = sgc_memory_time_ns(&g->load, p->computing_ns);
    sgc_assert(p->time_ns >= p->computing_ns && p->misses >= once);
    p->miss_ns = sgc_memory_miss_ns(&g->load, p->time_ns);
    p->busiest = p->time_ns > 0 ? sgc_memory_min_ns(&g->load) / p->time_ns : 0;
}

/* ---- the fast form, 4.4.2: all that lives is read once, and each line of mark bits written once ---- */

enum { BITS_FOR = 16 * 8 }; /* bytes of the heap, a bit a granule, have a byte of mark bits */

static double predict_fast(struct predicting *g, uint32_t processors)
{
    const struct sgc_machine_costs *c = &g->of->machine->cost;
    double line = sgc_machine_last(g->of->machine)->line_bytes, bytes = (double)g->of->work->bytes;
    double marks = bytes / BITS_FOR / line;
    double work_ns = (double)g->of->work->objects * (c->object_ns + c->mark_rmw_ns + c->push_ns + c->pop_ns + c->edge_ns) +
                     bytes / sizeof(uint64_t) * c->word_ns;

    for (uint32_t j = 0; j < g->load.nodes; j++) {
        double share = bytes > 0 ? g->of->node_bytes[j] / bytes : 0;

        sgc_assert(share >= 0 && share <= 1 + 1e-9);
        g->node[j].requests[SGC_MISS_READ] = g->of->node_bytes[j] / line;
        g->node[j].requests[SGC_MISS_RMW] = g->of->balanced ? marks / g->load.nodes : marks * share;
    }
    fill_latencies(g, processors);
    return sgc_memory_shared_ns(&g->load, work_ns, processors);
}

/* ---- the form for today ---- */

/* Lines in sequence come as fast as they stream, or as misses if that is quicker. */
static void fill_streams(struct predicting *g)
{
    const struct sgc_machine *m = g->of->machine;
    double streamed = sgc_machine_last(m)->line_bytes * 1000 / m->stream_mb_s * m->misses_in_flight;

    for (uint32_t j = 0; j < g->load.nodes; j++)
        for (int c = 0; c < SGC_MISS_CLASSES; c++) {
            const struct sgc_node_misses *n = &g->of->misses->node[j];
            double share = n->misses[c] > 0 ? (double)n->in_sequence[c] / (double)n->misses[c] : 0;

            sgc_assert(share >= 0 && share <= 1);
            if (streamed < g->node[j].latency_ns[c])
                g->node[j].latency_ns[c] -= share * (g->node[j].latency_ns[c] - streamed);
        }
}

/* A processor that is alone does all there is, and marks by plain writes. */
static double compute_today(const struct sgc_prediction_of *of, uint32_t processors)
{
    const struct sgc_machine_costs *c = &of->machine->cost;

    if (processors == 1)
        return larger(of->work->work_ns - (double)of->work->objects * (c->mark_rmw_ns - c->mark_ns), 0);
    return computing(of, of->work->work_ns, processors);
}

/* The waits for caches behind the first and for walks. */
static double count_waits(const struct sgc_prediction_of *of)
{
    double waits = (double)of->misses->walks * of->machine->tlb.walk_ns;

    for (int i = 1; i < of->machine->caches; i++)
        waits += (double)of->misses->answered[i] * of->machine->cache[i].hit_ns;
    return waits;
}

/* Up to misses_in_flight misses of a processor overlap, and so do its other waits; and it computes
 * meanwhile, but for one of so many.  Nodes serve requests one by one all the same. */
static double predict_overlap(struct predicting *g, const struct sgc_prediction *p)
{
    const struct sgc_machine *m = g->of->machine;
    double work = compute_today(g->of, p->processors), once = all_misses(g->of->misses), memory, hidden;

    sgc_assert(m->misses_in_flight >= 1);
    g->load.abreast = p->processors * m->misses_in_flight;
    fill_requests(g, once > 0 ? 1 + count_extra_apart(g->of, p->processors, p->steals) / once : 0);
    if (m->stream_mb_s > 0)
        fill_streams(g);
    memory = sgc_memory_time_ns(&g->load, work + count_waits(g->of) / g->load.abreast) - work;
    hidden = (work < memory ? work : memory) * (1 - 1 / m->misses_in_flight);
    return larger(work + memory - hidden, sgc_memory_min_ns(&g->load));
}

/* ---- all ---- */

bool sgc_predict(const struct sgc_prediction_of *of, uint32_t processors, struct sgc_prediction *p)
{
    struct predicting g;

    sgc_assert(processors >= 1 && processors <= SGC_MACHINE_PROCESSORS && of->misses->nodes == of->machine->nodes);
    if (!begin(&g, of))
        return false;
    *p = (struct sgc_prediction){ .processors = processors,
                                  .computing_ns = computing(of, of->work->work_ns, processors),
                                  .steals = count_steals(of, processors) };
    fill_latencies(&g, processors);
    predict_thesis(&g, p);
    p->overlap_ns = predict_overlap(&g, p);
    p->fast_ns = predict_fast(&g, processors);
    free(g.node);
    return true;
}

bool sgc_predict_enough(const struct sgc_prediction_of *of, uint32_t max, double percent, uint32_t *enough)
{
    double best = INFINITY, *time = calloc((size_t)max + 1, sizeof *time);
    struct predicting g = { .node = NULL };
    bool made = time != NULL && begin(&g, of);

    sgc_assert(max >= 1 && max <= SGC_MACHINE_PROCESSORS && percent >= 0);
    for (uint32_t p = 1; made && p <= max; p++) {
        time[p] = predict_fast(&g, p);
        sgc_assert(time[p] >= 0);
        best = fmin(best, time[p]);
    }
    for (*enough = 1; made && time[*enough] > best * (1 + percent / 100);)
        ++*enough;
    free(g.node);
    free(time);
    return made;
}
