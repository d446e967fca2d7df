/* SPDX-License-Identifier: MIT */
/* See snapshot/tools/views.h: the command line of views, and what they load. */
#include "snapshot/tools/views.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/text_line.h"
#include "snapshot/names.h"
#include "snapshot/tools/command_line.h"
#include "snapshot/tools/output.h"
#include "snapshot/tools/views_print.h"
#include "snapshot/view/compare.h"

enum { FILES = 2, OPTIONS = 8 };

enum option_letter { OUTPUT = 'o', TOP = 256, DEPTH, SHARE, TYPE, SMALLEST, MOVED, HEAPSNAPSHOT, PPROF, FOLDED, JSON };

static const struct option long_options[] = {
    { "top", required_argument, NULL, TOP }, { "depth", required_argument, NULL, DEPTH },
    { "share", required_argument, NULL, SHARE }, { "type", required_argument, NULL, TYPE },
    { "path", required_argument, NULL, MOVED }, { "least", required_argument, NULL, SMALLEST },
    { "output", required_argument, NULL, OUTPUT },
    { "heapsnapshot", no_argument, NULL, HEAPSNAPSHOT }, { "pprof", no_argument, NULL, PPROF },
    { "folded", no_argument, NULL, FOLDED }, { "json", no_argument, NULL, JSON }, { NULL, 0, NULL, 0 },
};

struct command {
    const char *name, *arguments;
    int files, last_option;             /* last_option: of those in `options` */
    enum option_letter options[OPTIONS];
    int (*run)(const struct sgc_views_settings *s, char **files);
};

_Noreturn static void no_memory(void)
{
    sgc_tool_fail(SGC_TOOL_FAILED, "there is no memory for this view, or there are more than 4294967294 objects and "
                  "pointers; it needs up to 50 bytes an object and 12 for each pointer between objects: free some, raise the "
                  "limit (ulimit -v), or use a machine with more");
}

/* ---- loading ---- */

struct loaded {
    struct sgc_graph g;
    struct sgc_namer *namer;
    struct sgc_view v;
};

static bool make_view(struct loaded *l)
{
    struct sgc_names names = { .group_of = sgc_namer_group_of, .group_name = sgc_namer_group_name,
        .root_of = sgc_namer_root_of, .root_name = sgc_namer_root_name,
    };

    l->namer = sgc_namer_open(&l->g);
    if (l->namer == NULL)
        return false;
    names.context = l->namer;
    names.groups = sgc_namer_groups(l->namer);
    names.roots = sgc_namer_roots(l->namer);
    sgc_namer_print_problems(l->namer);
    return sgc_view_make(&l->v, &l->g, &names);
}

/* `moved`: "OLD=NEW"; what the program had loaded from OLD... is in NEW... now. */
static void move_modules(struct sgc_graph *g, const char *moved)
{
    size_t old = (size_t)(strchr(moved, '=') - moved);

    sgc_assert(moved[old] == '=');
    for (uint32_t i = 0; i < g->modules; i++) {
        char *path = g->module[i].path;

        if (strncmp(path, moved, old) != 0)
            continue;
        if (asprintf(&g->module[i].path, "%s%s", moved + old + 1, path + old) < 0)
            no_memory();
        free(path);
    }
}

static void load(struct loaded *l, const char *path, const struct sgc_views_settings *s)
{
    if (!sgc_graph_load(&l->g, path, SGC_GRAPH_TYPES))
        exit(SGC_TOOL_FAILED);
    sgc_assert(l->g.object != NULL);
    if (s->moved != NULL)
        move_modules(&l->g, s->moved);
    if (!make_view(l))
        no_memory();
}

static void release(struct loaded *l)
{
    sgc_assert(l->v.g == &l->g);
    sgc_view_release(&l->v);
    sgc_namer_close(l->namer);
    sgc_graph_release(&l->g);
}

/* ---- commands ---- */

static int run_types(const struct sgc_views_settings *s, char **files)
{
    struct loaded l;
    bool printed;

    load(&l, files[0], s);
    printed = sgc_views_print_types(&l.v, s);
    release(&l);
    return printed ? sgc_tool_end() : (no_memory(), 0);
}

static int run_retained(const struct sgc_views_settings *s, char **files)
{
    struct loaded l;
    bool printed;

    load(&l, files[0], s);
    printed = sgc_views_print_retained(&l.v, s);
    release(&l);
    return printed ? sgc_tool_end() : (no_memory(), 0);
}

static uint64_t address_of(const char *text)
{
    char *end;
    uint64_t address;

    sgc_assert(text != NULL);
    errno = 0;
    address = strtoull(text, &end, 0);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0)
        sgc_tool_fail(SGC_TOOL_MISUSED, "why %s: expected an address, such as 0x7f0012340040", text);
    return address;
}

static void say_why_not(enum sgc_views_result result, const struct sgc_graph *g, const char *asked)
{
    if (result == SGC_VIEWS_NOT_HEAP)
        sgc_tool_fail(SGC_TOOL_FAILED, "%s is not in the collector's heap; expected an address from %#" PRIx64 " to %#" PRIx64,
                      asked, g->geometry.base, g->geometry.base + g->geometry.limit);
    if (result == SGC_VIEWS_NO_OBJECT)
        sgc_tool_fail(SGC_TOOL_FAILED, "there is no object at %s: it has been freed or reclaimed, or there never was one; "
                      "expected the address of an object at the time of the snapshot", asked);
    if (result == SGC_VIEWS_NO_GROUP)
        sgc_tool_fail(SGC_TOOL_FAILED, "--type %s: there is no group of that name; expected one that `types' prints", asked);
    if (result == SGC_VIEWS_NOT_REACHED)
        sgc_tool_fail(SGC_TOOL_FAILED, "--type %s: nothing leads to any object of it; the collection reclaims them", asked);
    sgc_assert(result == SGC_VIEWS_DONE || result == SGC_VIEWS_NO_MEMORY);
    if (result == SGC_VIEWS_NO_MEMORY)
        no_memory();
}

static int run_why(const struct sgc_views_settings *s, char **files)
{
    uint64_t address = s->type == NULL ? address_of(files[1]) : 0;
    enum sgc_views_result result;
    struct loaded l;

    load(&l, files[0], s);
    result = s->type == NULL ? sgc_views_print_why(&l.v, l.namer, files[1], address)
                             : sgc_views_print_why_type(&l.v, l.namer, s->type);
    say_why_not(result, &l.g, s->type == NULL ? files[1] : s->type);
    release(&l);
    return sgc_tool_end();
}

static void check_same_process(const struct sgc_graph *older, const struct sgc_graph *newer, char **files)
{
    char first[1000], second[1000];

    sgc_quote(files[0], strlen(files[0]), first, sizeof first);
    sgc_quote(files[1], strlen(files[1]), second, sizeof second);
    if (!sgc_compare_one_process(older, newer))
        fprintf(stderr, "%s: %s is of process %" PRIu64 ", whose heap is at %#" PRIx64 ", and %s of process %" PRIu64
                ", at %#" PRIx64 ": no object is taken to be the same, only sums are compared\n", sgc_tool_name, first,
                older->process, older->geometry.base, second, newer->process, newer->geometry.base);
    else if (older->cycle > newer->cycle)
        fprintf(stderr, "%s: %s is of collection %" PRIu64 ", which comes after %s's, %" PRIu64 "; expected the older snapshot "
                "first\n", sgc_tool_name, first, older->cycle, second, newer->cycle);
}

static int run_compare(const struct sgc_views_settings *s, char **files)
{
    struct loaded older, newer;
    bool printed;

    load(&older, files[0], s);
    load(&newer, files[1], s);
    check_same_process(&older.g, &newer.g, files);
    printed = s->format == SGC_VIEWS_JSON ? sgc_views_write_compare(&older.v, &newer.v, s)
                                          : sgc_views_print_compare(&older.v, &newer.v, s);
    release(&older);
    release(&newer);
    return printed ? sgc_tool_end() : (no_memory(), 0);
}

/* DevTools offers no other files. */
static void check_ending(const char *output)
{
    static const char ending[] = ".heapsnapshot";
    size_t length = strlen(output), needed = sizeof ending - 1;
    char name[1000];

    if (strcmp(output, "-") != 0 && (length < needed || strcmp(output + length - needed, ending) != 0))
        fprintf(stderr, "%s: -o %s: DevTools opens only files whose names end with %s; rename it before\n", sgc_tool_name,
                sgc_quote(output, length, name, sizeof name), ending);
}

static int run_export(const struct sgc_views_settings *s, char **files)
{
    struct loaded l;
    bool written;

    if (s->format == SGC_VIEWS_NO_FORMAT || s->output == NULL)
        sgc_tool_fail(SGC_TOOL_MISUSED, "export: expected --heapsnapshot, --pprof, --folded or --json, and -o with a file");
    if (s->depth != 0 && s->format == SGC_VIEWS_HEAPSNAPSHOT)
        sgc_tool_fail(SGC_TOOL_MISUSED, "--depth %" PRIu32 ": a .heapsnapshot has all objects; expected --least BYTES",
                      s->depth);
    if (sgc_output_is_input(s->output, files[0]))
        sgc_tool_fail(SGC_TOOL_MISUSED, "-o %s: it is the snapshot that is read; expected another file", s->output);
    if (s->format == SGC_VIEWS_HEAPSNAPSHOT)
        check_ending(s->output);
    load(&l, files[0], s);
    written = sgc_views_export(&l.v, s);
    release(&l);
    return written ? sgc_tool_end() : (no_memory(), 0);
}

static const struct command commands[] = {
    { "types", "FILE", 1, 2, { TOP, MOVED }, run_types },
    { "retained", "FILE", 1, 3, { DEPTH, SHARE, MOVED }, run_retained },
    { "why", "FILE ADDRESS, or FILE --type NAME", 2, 2, { TYPE, MOVED }, run_why },
    { "compare", "OLD NEW", 2, 3, { TOP, JSON, MOVED }, run_compare },
    { "export", "FILE, with -o OUT and the format", 1, 8, { HEAPSNAPSHOT, PPROF, FOLDED, JSON, OUTPUT, SMALLEST, DEPTH, MOVED },
      run_export },
};

/* ---- the command line ---- */

static const struct command *command_of(const char *name)
{
    sgc_assert(name != NULL);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

bool sgc_views_have(const char *name)
{
    return command_of(name) != NULL;
}

static void take_option(const struct command *command, struct sgc_views_settings *s, int letter)
{
    const struct option *of = long_options;
    char option[40];
    bool has = false;

    while (of->val != letter)
        of++;
    snprintf(option, sizeof option, letter == OUTPUT ? "-%.1s" : "--%s", of->name);
    sgc_assert(command->last_option <= OPTIONS);
    for (int i = 0; i < command->last_option; i++)
        has |= (int)command->options[i] == letter;
    if (!has)
        sgc_tool_fail(SGC_TOOL_MISUSED, "%s: `%s' has no such option; see sgc-snapshot --help", option, command->name);
    if (letter == TOP)
        s->top = (uint32_t)sgc_tool_number(option, optarg, 1, 1000000);
    else if (letter == DEPTH)
        s->depth = (uint32_t)sgc_tool_number(option, optarg, 1, SGC_MERGED_DEPTH);
    else if (letter == SHARE)
        s->share = (uint32_t)sgc_tool_number(option, optarg, 0, 100);
    else if (letter == TYPE)
        s->type = optarg;
    else if (letter == OUTPUT)
        s->output = optarg;
    else if (letter == MOVED && optarg[0] != '=' && strchr(optarg, '=') != NULL)
        s->moved = optarg;
    else if (letter == MOVED)
        sgc_tool_fail(SGC_TOOL_MISUSED, "--path %s: expected OLD=NEW, beginnings of paths", optarg);
    else if (letter == SMALLEST)
        s->smallest = sgc_tool_number(option, optarg, 0, UINT64_MAX - 1);
    else if (s->format != SGC_VIEWS_NO_FORMAT)
        sgc_tool_fail(SGC_TOOL_MISUSED, "%s: a second format; expected one", option);
    else
        s->format = (enum sgc_views_format)(SGC_VIEWS_HEAPSNAPSHOT + (letter - HEAPSNAPSHOT));
}

int sgc_views_run(int argc, char **argv)
{
    const struct command *command = command_of(argv[0]);
    struct sgc_views_settings s = { .top = 30, .share = 1, .smallest = UINT64_MAX };
    char **files = argv;
    int letter;

    sgc_assert(command != NULL && command->files <= FILES);
    opterr = 0;
    while ((letter = getopt_long(argc, argv, ":o:", long_options, NULL)) != -1) {
        if (letter == '?')
            sgc_tool_fail(SGC_TOOL_MISUSED, "%s: unknown, or it takes no value; see sgc-snapshot --help", argv[optind - 1]);
        if (letter == ':')
            sgc_tool_fail(SGC_TOOL_MISUSED, "%s: expected a value behind it", argv[optind - 1]);
        take_option(command, &s, letter);
    }
    files = argv + optind;
    if (argc - optind != command->files - (s.type != NULL))
        sgc_tool_fail(SGC_TOOL_MISUSED, "%s: %d arguments; expected %s", command->name, argc - optind, command->arguments);
    return command->run(&s, files);
}
