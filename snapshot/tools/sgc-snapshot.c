/* SPDX-License-Identifier: MIT */
/* sgc-snapshot: what a heap snapshot has, whether it is whole, and smaller or drawn.  See
 * doc/man/sgc-snapshot.1. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/graph.h"
#include "snapshot/unpack.h"
#include "snapshot/tools/draw.h"
#include "snapshot/tools/output.h"
#include "snapshot/tools/snapshot_stats.h"
#include "snapshot/tools/command_line.h"
#include "snapshot/tools/views.h"
#include "platform/text_line.h"

enum { MISUSED = 2, BAD = 1 };
enum { DRAWN = 2000 };                  /* objects at most */

const char sgc_tool_name[] = "sgc-snapshot";

static const char help[] =
    "usage: sgc-snapshot info|stats|check|dot FILE\n"
    "       sgc-snapshot pack FILE [PACKED]\n"
    "       sgc-snapshot types|retained FILE [OPTION]...\n"
    "       sgc-snapshot why FILE ADDRESS, or FILE --type NAME\n"
    "       sgc-snapshot compare OLD NEW [OPTION]...\n"
    "       sgc-snapshot export FILE --heapsnapshot|--pprof|--folded|--json -o OUT [OPTION]...\n"
    "\n"
    "Reads a heap snapshot that SGC has written (SGC_SNAPSHOT=PATTERN, SGC_write_heap_snapshot); `-' is the standard input.\n"
    "\n"
    "  info       where it is from, and how much there is\n"
    "  stats      what can be reached, sizes, roots, pages\n"
    "  check      whether it is whole, and its parts fit together\n"
    "  dot        the objects and their pointers as a graph for dot(1), if they are few\n"
    "  pack       writes it packed, to FILE.zst; what is packed can be read like any other\n"
    "\n"
    "  types      groups of objects by their bytes, with what each retains\n"
    "  retained   what keeps what: root, then group by group, what would go away with it\n"
    "  why        the shortest way from a root to an object, and how many other roots lead there\n"
    "  compare    groups that have grown between two snapshots of a process, and the roots that hold what is new\n"
    "  export     for the memory panel of Chrome's DevTools, for pprof, as lines for flame graphs, as JSON\n"
    "\n"
    "  --top N         of types and compare: groups that are shown, 30 if not said otherwise\n"
    "  --share PERCENT of retained: of what is reachable; what retains less is summed up; 1\n"
    "  --depth N       of retained, and of exports but --heapsnapshot: groups one below the other; 8, of exports 64\n"
    "  --type NAME     of why: a group, as types prints it\n"
    "  --path OLD=NEW  of all views: what the program had loaded from a path that begins with OLD is in NEW... now\n"
    "  --heapsnapshot  all objects and pointers, for DevTools (Memory, Load profile)\n"
    "  --pprof         the tree of retained as a profile: go tool pprof, speedscope\n"
    "  --folded        the same, a line for each stack\n"
    "  --json          the same, with the groups of types; of compare: what it prints, as JSON\n"
    "  -o OUT          the file to write; also --output; `-' is the standard output\n"
    "  --least BYTES   of export: objects, or groups, that retain less are summed up; 0: none\n"
    "  --help          this\n"
    "  --version       the version\n"
    "\n"
    "Exit status: 0; 1 if the file cannot be read or is not as it should be; 2 if sgc-snapshot was used wrongly.\n";

static char shown[4096];                /* the file's name, as a terminal may get it */

static int misused(const char *what)
{
    fprintf(stderr, "sgc-snapshot: %s; see sgc-snapshot --help\n", what);
    return MISUSED;
}

static int no_memory(void)
{
    fprintf(stderr, "sgc-snapshot: there is no memory for this; free some, or raise the limit (ulimit -v)\n");
    return BAD;
}

/* ---- info ---- */

static int print_info(const struct sgc_graph *g)
{
    sgc_assert(g->object != NULL && g->range != NULL);
    printf("file %s\nprocess %" PRIu64 "\ncycle %" PRIu64 "\nmarkers %u\nnodes %u\n", shown, g->process, g->cycle, g->markers,
           g->nodes);
    printf("heap %" PRIu64 " bytes from %#" PRIx64 "\npage %u bytes\n", g->geometry.limit, g->geometry.base,
           1u << g->geometry.page_log);
    printf("objects %u\nbytes %" PRIu64 "\nedges %" PRIu64 "\nroots %" PRIu64 "\nkinds %u\n", g->objects, g->bytes, g->edges,
           g->roots, g->kinds);
    printf("sites %u\nprocedure_objects %" PRIu64 "\nprocedure_edges %" PRIu64 "\nmarked_by_hand %" PRIu64 "\n", g->sites,
           g->procedure_objects, g->procedure_edges, g->by_hand);
    return 0;
}

/* ---- stats, check ---- */

static int print_stats(const struct sgc_graph *g)
{
    return sgc_snapshot_print_stats(g) ? 0 : no_memory();
}

static int check(const struct sgc_graph *g)
{
    const char *problem = sgc_graph_check(g);

    if (problem != NULL) {
        fprintf(stderr, "%s: %s: %s; write another snapshot\n", sgc_tool_name, shown, problem);
        return BAD;
    }
    printf("%s: whole, with %u objects and %" PRIu64 " pointers between them\n", shown, g->objects, g->edges);
    return 0;
}

/* ---- dot ---- */

static int draw(const struct sgc_graph *g)
{
    if (g->objects > DRAWN) {
        fprintf(stderr, "%s: %s: it has %u objects, of which no picture can be made; expected %d at most: write a snapshot "
                "with less in it, such as an earlier one\n", sgc_tool_name, shown, g->objects, DRAWN);
        return BAD;
    }
    return sgc_snapshot_draw(g) ? 0 : no_memory();
}

/* ---- pack ---- */

static int say_pack(const char *problem)
{
    if (problem == NULL)
        return 0;
    fprintf(stderr, "%s: %s: it cannot be packed: %s. %s\n", sgc_tool_name, shown, problem,
            sgc_unpack_can() ? "Name a file that can be read, and where a new one can be written" : "Use zstd(1)");
    return BAD;
}

static int say_not_written(const char *packed, int error)
{
    char name[sizeof shown];

    fprintf(stderr, "%s: %s: it cannot be packed: %s: %s. Name a new file where one can be written\n", sgc_tool_name, shown,
            sgc_quote(packed, strlen(packed), name, sizeof name), strerror(error));
    return BAD;
}

static int pack_into(FILE *from, const char *packed)
{
    static struct sgc_out_file file;
    FILE *to = sgc_unpack_can() ? sgc_output_open(&file, packed) : NULL;
    const char *problem;
    int error;

    sgc_assert(from != NULL && packed != NULL);
    if (to == NULL)
        return sgc_unpack_can() ? say_not_written(packed, errno) : say_pack("this build has no libzstd");
    problem = sgc_pack(from, to);
    error = sgc_output_end(&file, to, problem == NULL);
    return error != 0 && error != ECANCELED ? say_not_written(packed, error) : say_pack(problem);
}

static int pack(const char *path, const char *packed)
{
    char name[SGC_OUT_PATH];
    FILE *from = fopen(path, "rb");
    int status;

    sgc_assert(path != NULL);
    if (from == NULL)
        return say_pack(strerror(errno));
    if (packed == NULL) {
        snprintf(name, sizeof name, "%s.zst", path);
        packed = name;
    }
    if (sgc_output_is_input(packed, path))
        return fclose(from), say_pack("it would replace itself");
    status = pack_into(from, packed);
    fclose(from);
    return status;
}

/* ---- */

static const struct command {
    const char *name;
    int (*run)(const struct sgc_graph *g);
} commands[] = { { "info", print_info }, { "stats", print_stats }, { "check", check }, { "dot", draw } };

static int run(const struct command *command, const char *path)
{
    struct sgc_graph g;
    int status = BAD;

    sgc_assert(command->run != NULL);
    if (sgc_graph_load(&g, path, SGC_GRAPH_TYPES))
        status = command->run(&g);
    sgc_graph_release(&g);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "sgc-snapshot: the standard output cannot be written to (%s)\n", strerror(errno));
        return BAD;
    }
    return status;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    if (strcmp(name, "--help") == 0)
        return fputs(help, stdout) < 0;
    if (strcmp(name, "--version") == 0)
        return puts("sgc-snapshot (SGC) " SGC_SNAPSHOT_TOOL_VERSION) < 0;
    if (name[0] == '-')
        sgc_tool_fail(MISUSED, "%s: unknown here; expected what to do, then options; see sgc-snapshot --help", name);
    if (argc < 3)
        return misused("expected what to do, and a file");
    if (sgc_views_have(name))
        return sgc_views_run(argc - 1, argv + 1);
    sgc_quote(argv[2], strlen(argv[2]), shown, sizeof shown);
    if (strcmp(name, "pack") == 0)
        return argc > 4 ? misused("too many arguments") : pack(argv[2], argv[3]);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(name, commands[i].name) == 0)
            return argc > 3 ? misused("too many arguments") : run(&commands[i], argv[2]);
    return misused("expected info, stats, check, dot, pack, types, retained, why, compare or export");
}
