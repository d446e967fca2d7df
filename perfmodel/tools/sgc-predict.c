/* SPDX-License-Identifier: MIT */
/*
 * sgc-predict SNAPSHOT --machine FILE: how long the mark of a heap snapshot would take on a
 * machine, by the number of processors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gc/pacing/marker_rules.h"
#include "perfmodel/machine/machine_file.h"
#include "perfmodel/model/predict.h"
#include "perfmodel/model/serial_mark.h"
#include "snapshot/tools/command_line.h"
#include "platform/text_line.h"

enum { BAD_INPUT = SGC_TOOL_FAILED, MISUSED = SGC_TOOL_MISUSED };

const char sgc_tool_name[] = "sgc-predict";

static const char help[] =
    "usage: sgc-predict SNAPSHOT --machine FILE [OPTION]...\n"
    "\n"
    "Predicts how long the mark of a heap snapshot takes on a machine, by the number of processors.\n"
    "\n"
    "  --machine FILE       a machine file, or the name of one that SGC has: o2k, e10k, rome2\n"
    "  --markers LIST       numbers and ranges, as in 1,2,4-8; default: powers of two, and all of the machine's\n"
    "  --span RULE          larger (default) or smaller of T_1/P and T_inf, the span, or their sum\n"
    "  --split BYTES        objects above are marked in halves; 0: as a whole; default 256\n"
    "  --bits WHERE         where mark bits are: balanced (default) on all nodes in turn, or home, with their objects\n"
    "  --steals N           steals with several processors, if known\n"
    "  --steals-by UNIT     else P ln T_1, with T_1 in pieces of work (default), words or ns\n"
    "  --choices            instead: of so many markers, how many SGC would use by each rule of SGC_MARKER_CHOICE\n"
    "  --tsv                columns separated by tabs\n"
    "  --help               this\n"
    "  --version            the version\n"
    "\n"
    "Exit status: 0; 1 if a file cannot be read; 2 if sgc-predict was used wrongly.\n";

struct settings {
    const char *snapshot, *machine;
    uint32_t *processors;
    size_t count;
    uint32_t split;
    bool choices, tsv;
    struct sgc_prediction_of of;
};

static void *obtained(void *memory)
{
    if (memory == NULL)
        sgc_tool_fail(BAD_INPUT, "there is no memory; the model needs up to 35 bytes an object, and 8 for each pointer between "
                      "objects: try a machine with more");
    return memory;
}

/* ---- the command line ---- */

static int choose(const char *option, const char *text, const char *a, const char *b, const char *c)
{
    const char *const words[] = { a, b, c };

    sgc_assert(option != NULL && text != NULL && a != NULL && b != NULL);
    for (int i = 0; i < 3; i++)
        if (words[i] != NULL && strcmp(text, words[i]) == 0)
            return i;
    sgc_tool_fail(MISUSED, "%s %s: expected %s%s%s%s%s", option, text, a, c != NULL ? ", " : " or ", b, c != NULL ? " or " : "",
                  c != NULL ? c : "");
}

static void add(void *settings, uint32_t processors)
{
    struct settings *s = settings;

    sgc_assert(processors >= 1 && processors <= SGC_MACHINE_PROCESSORS);
    s->processors = obtained(realloc(s->processors, (s->count + 1) * sizeof *s->processors));
    s->processors[s->count++] = processors;
}

static void take_list(struct settings *s, const char *list)
{
    sgc_assert(list != NULL);
    s->count = 0;
    sgc_tool_numbers("--markers", list, SGC_MACHINE_PROCESSORS, add, s);
}

static bool take_option(struct settings *s, const char *name, const char *value)
{
    sgc_assert(name != NULL && value != NULL);
    if (strcmp(name, "--machine") == 0)
        s->machine = value;
    else if (strcmp(name, "--markers") == 0)
        take_list(s, value);
    else if (strcmp(name, "--span") == 0)
        s->of.depth = (enum sgc_depth_rule)choose(name, value, "larger", "smaller", "sum");
    else if (strcmp(name, "--split") == 0)
        s->split = (uint32_t)sgc_tool_number(name, value, 0, 1 << 30);
    else if (strcmp(name, "--bits") == 0)
        s->of.balanced = choose(name, value, "balanced", "home", NULL) == 0;
    else if (strcmp(name, "--steals") == 0)
        s->of.steals = (double)sgc_tool_number(name, value, 0, UINT64_C(1) << 50);
    else if (strcmp(name, "--steals-by") == 0)
        s->of.unit = (enum sgc_steal_unit)choose(name, value, "pieces", "words", "ns");
    else
        return false;
    return true;
}

static void print_and_end(const char *text, const char *more)
{
    printf("%s%s", text, more);
    exit(sgc_tool_end());
}

static bool takes_value(const char *name)
{
    static const char *const with[] = {
        "--machine", "--markers", "--span", "--split", "--bits", "--steals", "--steals-by"
    };

    for (size_t i = 0; i < sizeof with / sizeof with[0]; i++)
        if (strcmp(name, with[i]) == 0)
            return true;
    return false;
}

static void parse(struct settings *s, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            print_and_end(help, "");
        if (strcmp(argv[i], "--version") == 0)
            print_and_end("sgc-predict (SGC) " SGC_PREDICT_VERSION, "\n");
        if (strcmp(argv[i], "--tsv") == 0)
            s->tsv = true;
        else if (strcmp(argv[i], "--choices") == 0)
            s->choices = true;
        else if (takes_value(argv[i]) && i + 1 == argc)
            sgc_tool_fail(MISUSED, "%s: expected a value behind it; sgc-predict --help prints which", argv[i]);
        else if (takes_value(argv[i]))
            i += take_option(s, argv[i], argv[i + 1]);
        else if (argv[i][0] == '-' && argv[i][1] != '\0')
            sgc_tool_fail(MISUSED, "%s: unknown; sgc-predict --help prints what there is", argv[i]);
        else if (s->snapshot != NULL)
            sgc_tool_fail(MISUSED, "%s: a second snapshot beside %s; give one", argv[i], s->snapshot);
        else
            s->snapshot = argv[i];
    }
    if (s->snapshot == NULL || s->machine == NULL)
        sgc_tool_fail(MISUSED, "expected %s; sgc-predict --help prints how it is used",
                      s->snapshot == NULL ? "a snapshot" : "--machine with a machine file, or o2k, e10k or rome2");
}

/* Powers of two and all of the machine's. */
static void default_list(struct settings *s, const struct sgc_machine *m)
{
    uint32_t all = (uint32_t)m->processors;

    sgc_assert(s->count == 0 && all >= 1);
    for (uint32_t p = 1; p < all; p *= 2)
        add(s, p);
    add(s, all);
}

/* ---- the table ---- */

struct column {
    const char *name;
    int digits;
    double value;
};

enum { COLUMNS = 14 };

static void fill_columns(const struct sgc_prediction *p, const struct sgc_prediction *one, struct column *c)
{
    const struct column all[COLUMNS] = {
        { "processors", 0, p->processors },
        { "computing_ms", 3, p->computing_ns / 1e6 },
        { "steals", 0, p->steals },
        { "misses", 0, p->misses },
        { "miss_ns", 1, p->miss_ns },
        { "busiest", 3, p->busiest },
        { "time_ms", 3, p->time_ns / 1e6 },
        { "speedup", 2, one->time_ns / p->time_ns },
        { "no_contention", 2, one->time_ns / p->no_contention_ns },
        { "no_extra", 2, one->time_ns / p->no_extra_ns },
        { "fast_ms", 3, p->fast_ns / 1e6 },
        { "fast_speedup", 2, one->fast_ns / p->fast_ns },
        { "overlap_ms", 3, p->overlap_ns / 1e6 },
        { "overlap_speedup", 2, one->overlap_ns / p->overlap_ns },
    };

    memcpy(c, all, sizeof all);
    sgc_assert(c[0].value >= 1 && one->processors == 1);
}

/* Columns that are separated by tabs need no width. */
static int width(const struct settings *s, const struct column *c)
{
    int length = (int)strlen(c->name);

    sgc_assert(length > 0 && c->digits >= 0);
    return s->tsv ? 0 : length > 9 ? length : 9;
}

static const char *separator(const struct settings *s, int i)
{
    sgc_assert(i >= 0 && i < COLUMNS);
    if (i == 0)
        return "";
    return s->tsv ? "\t" : " ";
}

static void print_head(const struct settings *s, const struct column *c, int columns)
{
    sgc_assert(columns > 0 && columns <= COLUMNS);
    for (int i = 0; i < columns; i++)
        printf("%s%*s", separator(s, i), width(s, &c[i]), c[i].name);
    printf("\n");
}

static void print_row(const struct settings *s, const struct column *c, int columns)
{
    sgc_assert(columns > 0 && columns <= COLUMNS);
    for (int i = 0; i < columns; i++)
        printf("%s%*.*f", separator(s, i), width(s, &c[i]), c[i].digits, c[i].value);
    printf("\n");
}

static void print_table(const struct settings *s)
{
    struct sgc_prediction one, p;
    struct column c[COLUMNS];

    sgc_assert(s->count != 0);
    if (!sgc_predict(&s->of, 1, &one))
        obtained(NULL);
    for (size_t i = 0; i < s->count; i++) {
        if (!sgc_predict(&s->of, s->processors[i], &p))
            obtained(NULL);
        fill_columns(&p, &one, c);
        if (i == 0)
            print_head(s, c, COLUMNS);
        print_row(s, c, COLUMNS);
    }
}

/* ---- what the collector would use of so many markers ---- */

/* The mark as the collector would know it, if a node served what it does on the machine. */
static struct sgc_marking marking(const struct settings *s, uint32_t *share)
{
    const struct sgc_machine *m = s->of.machine;
    double bytes = (double)s->of.work->bytes, rate = sgc_machine_last(m)->line_bytes * 1000 / m->occupancy_ns[SGC_MISS_READ];
    struct sgc_prediction one;

    sgc_assert(s->of.node_bytes != NULL && bytes > 0);
    if (m->nodes > SGC_MARK_NODES)
        sgc_tool_fail(MISUSED, "--choices: SGC counts %d memory nodes at most, and %s has %.0f", (int)SGC_MARK_NODES, m->name,
                      m->nodes);
    if (!sgc_predict(&s->of, 1, &one))
        obtained(NULL);
    for (int j = 0; j < (int)m->nodes; j++)
        share[j] = (uint32_t)(s->of.node_bytes[j] / bytes * 1e6 + 0.5);
    return (struct sgc_marking){ .ns = (uint64_t)one.time_ns,
                                 .bytes = (size_t)s->of.work->bytes,
                                 .share = share,
                                 .nodes = (uint32_t)m->nodes,
                                 .node_mb_s = rate > 1 ? (uint64_t)rate : 1 };
}

static void print_choices(const struct settings *s)
{
    uint32_t share[SGC_MARK_NODES], enough;
    struct sgc_marking known = marking(s, share);

    sgc_assert(s->count != 0 && known.nodes >= 1);
    for (size_t i = 0; i < s->count; i++) {
        uint32_t max = s->processors[i];

        if (!sgc_predict_enough(&s->of, max, SGC_MARK_WITHIN, &enough))
            obtained(NULL);
        const struct column c[] = {
            { "markers", 0, max },
            { "cost", 0, sgc_markers_by_cost(known.ns, max) },
            { "model", 0, sgc_markers_by_model(&known, max) },
            { "fast", 0, enough },
        };
        if (i == 0)
            print_head(s, c, 4);
        print_row(s, c, 4);
    }
}

/* Prints the figures that the predictions rest on, as lines that begin with "#". */
static void print_notes(const struct settings *s)
{
    static const char *const known[] = { "measured", "a bound, as are predictions with more than one processor", "assumed" };
    const struct sgc_work *w = s->of.work;
    const struct sgc_misses *m = s->of.misses;
    uint32_t enough, max = (uint32_t)s->of.machine->processors;
    char snapshot[4096];

    sgc_assert(s->of.machine->occupancy >= SGC_KNOWN_MEASURED && s->of.machine->occupancy <= SGC_KNOWN_ASSUMED);
    sgc_quote(s->snapshot, strlen(s->snapshot), snapshot, sizeof snapshot);
    printf("# %s on %s: S_O is %s\n", snapshot, s->of.machine->name, known[(int)s->of.machine->occupancy]);
    printf("# objects %llu, bytes %llu, words %llu, edges %llu, pieces %llu, largest %llu\n", (unsigned long long)w->objects,
           (unsigned long long)w->bytes, (unsigned long long)w->words, (unsigned long long)w->edges,
           (unsigned long long)w->pieces, (unsigned long long)w->largest);
    printf("# T_1 %.3f ms, T_inf %.6f ms\n", w->work_ns / 1e6, w->depth_ns / 1e6);
    printf("# Q_1 %llu reads (%llu in sequence) and %llu read-modify-writes, L %.1f lines, TLB walks %llu\n",
           (unsigned long long)m->misses[SGC_MISS_READ], (unsigned long long)m->in_sequence[SGC_MISS_READ],
           (unsigned long long)m->misses[SGC_MISS_RMW], m->live_lines, (unsigned long long)m->walks);
    if (!sgc_predict_enough(&s->of, max, 5, &enough))
        obtained(NULL);
    printf("# by the fast form %u of %u processors are within 5 percent of the best\n", enough, max);
}

/* ---- */

static void read_machine(const struct settings *s, struct sgc_machine *m)
{
    char path[4096], message[SGC_MACHINE_MESSAGE];

    sgc_assert(s->machine != NULL);
    if (!sgc_machine_find(s->machine, SGC_MACHINES, path, sizeof path, message) || !sgc_machine_read(m, path, message))
        sgc_tool_fail(BAD_INPUT, "%s", message);
}

/* Until the program ends; so nothing of it is released. */
static void inspect(struct settings *s, const struct sgc_graph *g, const struct sgc_machine *m)
{
    static struct sgc_work work;
    static struct sgc_cache_model cache;
    struct sgc_homes homes = { g, m, s->of.balanced };
    double *node_bytes = obtained(calloc((size_t)m->nodes, sizeof *node_bytes));

    sgc_assert(m->nodes >= 1 && s->of.machine == NULL);
    if (!sgc_work_measure(&work, &homes, s->split, node_bytes) || !sgc_cache_model_make(&cache, m) ||
        !sgc_serial_mark(&homes, s->split, sgc_cache_model_access, &cache))
        obtained(NULL);
    if (work.objects == 0)
        sgc_tool_fail(BAD_INPUT, "%s: no object is reached from its roots, so there is nothing to mark; take it later",
                      s->snapshot);
    s->of.machine = m;
    s->of.work = &work;
    s->of.misses = sgc_cache_model_end(&cache);
    s->of.node_bytes = node_bytes;
}

int main(int argc, char **argv)
{
    static struct settings s = { .split = 256, .of = { .balanced = true, .steals = -1 } };
    static struct sgc_machine machine;
    static struct sgc_graph graph;

    argv = sgc_tool_divide_words(&argc, argv, takes_value);
    parse(&s, argc, argv);
    read_machine(&s, &machine);
    if (!sgc_graph_load(&graph, s.snapshot, 0))
        return BAD_INPUT;
    if (s.count == 0)
        default_list(&s, &machine);
    inspect(&s, &graph, &machine);
    print_notes(&s);
    if (s.choices)
        print_choices(&s);
    else
        print_table(&s);
    return sgc_tool_end();
}
