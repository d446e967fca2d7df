/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes what the tools read: heap snapshots, as they are or with checksums made right, and machine files.
 *
 * Such a file is refused with a message, or is a graph whose parts fit together, or a machine that can be written and read
 * again.  What is read is used then as the tools do: figures, what can be reached, a simulated mark, which must reach the same.
 *
 * The first byte of an input says which file the rest is, and what is done with it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gc/snapshot/format_rules.h"
#include "perfmodel/machine/machine_file.h"
#include "perfmodel/sim/sim.h"
#include "snapshot/tools/snapshot_stats.h"
#include "snapshot/view/compare.h"
#include "snapshot/view/export.h"
#include "snapshot/view/ways.h"
#include "tests/fuzz/fuzz.h"

enum { VIEWED = 1 << 16 };              /* objects and pointers of what is viewed */
enum { SMALL = 3000, FEW_ARENAS = 16, FEW_EDGES = 20000, CACHE_MAX = 1 << 26 };   /* of what is simulated */

static const char *const words[] = {
    "SGCsnap\n", "\x28\xb5\x2f\xfd", "\n", "#", " ", "nan", "inf", "1e308", "-1", "0", "4294967296", "18446744073709551616",
    "hypercube", "mesh", "bus", "first-touch", "round-robin", "processors ", "nodes ", "cache1_bytes ", "cache3_ways ",
    "\xff\xff\xff\xff\x7f",
    "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", NULL,
};

const struct fuzz_subject fuzz_subject = { .name = "files", .longest = 8192, .batch = 2000, .in_place = true, .words = words };

/* ---- snapshots ---- */

static int file = -1;
static char path[40];
static struct sgc_snapshot_crc_table crc_table;

static void prepare(void)
{
    if (file >= 0)
        return;
    file = memfd_create("input", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    sgc_snapshot_crc_prepare(&crc_table);
    if (file < 0 || freopen("/dev/null", "w", stdout) == NULL)
        fuzz_found("no file for the input");
}

/* Gives each block its checksum, and the last one the length that it has. */
static void seal(uint8_t *data, size_t size)
{
    for (size_t at = sizeof(struct sgc_snapshot_start); size >= at && size - at >= sizeof(struct sgc_snapshot_head);) {
        struct sgc_snapshot_head head;

        memcpy(&head, data + at, sizeof head);
        if (head.bytes > size - at - sizeof head)
            head.bytes = (uint32_t)(size - at - sizeof head);
        head.crc = sgc_snapshot_crc(&crc_table, 0, &head, offsetof(struct sgc_snapshot_head, crc));
        head.crc = sgc_snapshot_crc(&crc_table, head.crc, data + at + sizeof head, head.bytes);
        memcpy(data + at, &head, sizeof head);
        at += sizeof head + head.bytes;
    }
}

/* Memory takes no time. */
static const struct sgc_sim_machine ideal = {
    .nodes = 2, .per_node = 2, .line_bytes = 64, .os_page_bytes = 4096, .cache_bytes = 1 << 16, .ways = 4, .in_flight = 2,
    .near = 1,
    .costs = { .word = 2, .edge = 10, .test = 1, .mark = 1, .mark_shared = 8, .read = 1, .write = 1, .update = 15, .ask = 1,
               .pause = 20, .yield = 200 },
};

static void check_marks(const struct sgc_graph *g, const struct sgc_sim_result *result)
{
    struct sgc_graph_reach reach = { .seen = NULL };

    fuzz_expect(sgc_graph_reach(g, SGC_GRAPH_MARK_ROOTS, &reach), "no memory");
    for (uint32_t i = 0; i < g->objects; i++)
        fuzz_expect(sgc_sim_is_marked(g, i) == sgc_graph_seen(&reach, i), "object %u: a simulated mark %s", i,
                    sgc_graph_seen(&reach, i) ? "misses it" : "reaches it, and nothing leads there");
    fuzz_expect(result->objects == reach.objects && result->bytes == reach.bytes, "a simulated mark counts other objects");
    sgc_graph_reach_release(&reach);
}

static void simulate(const struct sgc_graph *g, unsigned how, const struct sgc_sim_machine *machine)
{
    struct sgc_sim_options options = { .machine = machine, .markers = 1 + how % 3, .homes = (enum sgc_sim_homes)(how / 3 % 3) };
    struct sgc_sim_heap heap;
    struct sgc_sim_result result;
    unsigned presets = 0;
    const char *problem;

    while (sgc_sim_preset_name(presets) != NULL)
        presets++;
    options.preset = sgc_sim_preset_name(how % presets);
    problem = sgc_sim_restore(g, options.markers, &heap);
    fuzz_expect(problem == NULL || problem[0] != '\0', "an empty message");
    if (problem == NULL && sgc_simulate(&heap, &options, &result))
        check_marks(g, &result);
    sgc_sim_release(&heap);
}

/* What the roots and what several of them retain is what is reached; every object that is has a way. */
static void check_view(const struct sgc_view *v, const struct sgc_graph_reach *reach, unsigned how)
{
    uint32_t object = v->g->objects != 0 ? how % v->g->objects : 0, top = sgc_dominators_top(&v->d);
    struct sgc_comparison c;
    struct sgc_merged m;
    struct sgc_way way;

    fuzz_expect(v->d.count[top] == reach->objects && v->d.retained[top] == reach->bytes, "not all that is reached is retained");
    for (uint32_t i = 0; i < v->g->objects; i++)
        fuzz_expect(sgc_dominators_reached(&v->d, i) == sgc_graph_seen(reach, i), "object %u: only reached, or dominated", i);
    fuzz_expect(sgc_compare(&c, v, v, 5) && (c.count == 0 || c.growth[0].fresh.objects == 0), "it has grown beyond itself");
    sgc_comparison_release(&c);
    fuzz_expect(sgc_merged_make(&m, v, how, how % SGC_MERGED_DEPTH), "no memory");
    fuzz_expect(sgc_export_heapsnapshot(stdout, v, how) && sgc_export_pprof(stdout, &m) && sgc_export_folded(stdout, &m) &&
                sgc_export_json(stdout, &m), "no memory");
    sgc_merged_release(&m);
    if (v->g->objects == 0)
        return;
    uint64_t *wanted = calloc(v->g->objects / 64 + 1, sizeof *wanted);

    wanted[object / 64] |= UINT64_C(1) << object % 64;
    fuzz_expect(sgc_way_find(&way, v->g, wanted) && (way.count != 0) == sgc_graph_seen(reach, object), "object %u: no way",
                object);
    sgc_way_release(&way);
    free(wanted);
}

static void view(const struct sgc_graph *g, const struct sgc_graph_reach *reach, unsigned how)
{
    struct sgc_view v;

    fuzz_expect(sgc_view_make(&v, g, NULL), "no memory");
    check_view(&v, reach, how);
    sgc_view_release(&v);
}

static void use_graph(const struct sgc_graph *g, unsigned how)
{
    struct sgc_graph_reach reach = { .seen = NULL };
    const char *wrong = sgc_graph_check(g);

    fuzz_expect(wrong == NULL, "a snapshot is read, and its parts do not fit: %s", wrong);
    fuzz_expect(sgc_graph_reach(g, SGC_GRAPH_ALL_ROOTS, &reach), "no memory");
    fuzz_expect(reach.objects <= g->objects && reach.bytes <= g->bytes && reach.edges <= g->edges,
                "more is reached than there is");
    if (g->objects <= VIEWED && g->edges <= VIEWED)
        view(g, &reach, how);
    sgc_graph_reach_release(&reach);
    sgc_snapshot_print_stats(g);
    if (g->objects <= SMALL && g->arenas <= FEW_ARENAS && g->edges <= FEW_EDGES && g->root_bytes < 1 << 22)
        simulate(g, how, &ideal);
}

static void read_snapshot(const uint8_t *data, size_t size, unsigned how)
{
    char problem[SGC_GRAPH_PROBLEM];
    struct sgc_graph g;

    if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
        fuzz_found("the input cannot be written");
    if (sgc_graph_load_or(&g, path, how % 2 != 0 ? SGC_GRAPH_AIMS | SGC_GRAPH_TYPES : 0, problem))
        use_graph(&g, how);
    else
        fuzz_expect(strlen(problem) > 10 && strlen(problem) < sizeof problem, "a snapshot is refused without a message");
    sgc_graph_release(&g);
}

/* ---- machines ---- */

static bool read_machine(struct sgc_machine *m, const void *text, size_t size)
{
    char message[SGC_MACHINE_MESSAGE] = "";
    FILE *stream = fmemopen((void *)(uintptr_t)text, size, "r");
    bool read;

    if (stream == NULL)
        return false;
    read = sgc_machine_read_text(m, stream, "m", message);
    fclose(stream);
    fuzz_expect(read || (strlen(message) > 10 && strlen(message) < sizeof message), "a machine is refused without a message");
    return read;
}

/* What was read is written, and read again. */
static void write_machine(const struct sgc_machine *m)
{
    static struct sgc_machine again;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    sgc_machine_write(m, stream, NULL, NULL);
    fclose(stream);
    fuzz_expect(read_machine(&again, text, size), "a machine is written so that it cannot be read: %.600s", text);
    fuzz_expect(again.processors == m->processors && again.nodes == m->nodes && again.caches == m->caches,
                "a machine is another one when it was written and read");
    free(text);
}

static void use_machine(const struct sgc_machine *m, unsigned how)
{
    static const uint32_t bytes[] = { 32, 64, 64, 16 }, from[] = { 0, 0, 1 }, to[] = { 1, 2, 3 }, root[] = { 0 };
    static const struct sgc_graph_arrays arrays = { 4, bytes, 3, from, to, 1, root };
    static struct sgc_sim_machine machine;
    struct sgc_graph g;

    sgc_sim_machine_of(m, how % 2 != 0, &machine);
    if (sgc_sim_machine_check(&machine) != NULL || machine.cache_bytes > CACHE_MAX || !sgc_graph_make(&g, &arrays))
        return;
    simulate(&g, how, &machine);
    sgc_graph_release(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sgc_machine machine;
    unsigned how = size > 0 ? data[0] / 4 : 0, which = size > 0 ? data[0] % 4 : 0;
    uint8_t *rest = malloc(size + 1);

    prepare();
    size -= size > 0;
    memcpy(rest, data + 1, size);
    if (which == 1 || which == 2)
        seal(rest, size);
    if (which != 3)
        read_snapshot(rest, size, how);
    else if (size > 0 && read_machine(&machine, rest, size)) {
        write_machine(&machine);
        use_machine(&machine, how);
    }
    free(rest);
    return 0;
}
