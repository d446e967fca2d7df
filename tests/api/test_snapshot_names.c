/* SPDX-License-Identifier: MIT */
/*
 * What a heap snapshot says of names: loaded modules, where in one the first words of objects point, names of kinds and of
 * threads, allocation sites: gc/snapshot/names_part.c, gc/snapshot/words_part.c, gc/snapshot/heap_part.c,
 * platform/module_parts_linux.c.
 */
#include "tests/api/api.h"

#include <link.h>
#include <sys/prctl.h>

#include "gc/gc_gcj.h"
#include "sgc.h"
#include "snapshot/graph.h"
#include "tests/lib/child.h"
#include "tests/lib/folder.h"
#include "tests/lib/module.h"

enum { MANY_TYPES = 10000, NUMBERED = 8191 };

/* In the program; what objects begin with. */
static GC_word first_type[2], gcj_type[2] = { 0, 2 * sizeof(void *) };
static char types[MANY_TYPES];

static void *volatile roots[16];
static int used;

static void *keep(void *object)
{
    roots[used++] = object;
    return object;
}

static bool load(struct sgc_graph *g)
{
    const char *problem;

    if (SGC_write_heap_snapshot(folder_path("names")) != 0 || !sgc_graph_load(g, folder_path("names"), SGC_GRAPH_TYPES))
        return false;
    problem = sgc_graph_check(g);
    if (problem != NULL)
        fprintf(stderr, "# %s\n", problem);
    return problem == NULL;
}

/* The address that an object has as its type; 0: none. */
static uintptr_t type_at(const struct sgc_graph *g, const void *object)
{
    uint32_t number = sgc_graph_object_at(g, (uintptr_t)object - g->geometry.base);
    uint32_t type = number != SGC_GRAPH_NONE ? g->type_of[number] : SGC_GRAPH_NO_TYPE;

    return type != SGC_GRAPH_NO_TYPE ? g->module[g->type[type].module].lo + g->type[type].offset : 0;
}

/* ---- modules ---- */

struct expected {
    const struct sgc_graph *g;
    int found, wrong;
};

static int compare_module(struct dl_phdr_info *info, TEST_UNUSED size_t size, void *raw)
{
    struct expected *e = raw;
    uint32_t segments = 0;

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uint32_t number = sgc_graph_module_at(e->g, info->dlpi_addr + h->p_vaddr);
        const struct sgc_graph_module *m = &e->g->module[number];

        if (h->p_type != PT_LOAD || h->p_memsz == 0)
            continue;
        if (number == SGC_GRAPH_NONE || segments >= m->segments || m->segment[segments].lo != info->dlpi_addr + h->p_vaddr ||
            m->segment[segments].bytes != h->p_memsz || m->lo - m->file_lo != info->dlpi_addr ||
            (info->dlpi_name[0] != '\0' && strcmp(info->dlpi_name, m->path) != 0) ||
            ((m->segment[segments].access & 2) != 0) != ((h->p_flags & PF_W) != 0))
            e->wrong++;
        segments++;
    }
    e->found++;
    return 0;
}

static bool modules_agree(void)
{
    struct expected e = { .wrong = 0 };
    struct sgc_graph g;
    bool agree = load(&g);

    e.g = &g;
    if (agree)
        dl_iterate_phdr(compare_module, &e);
    agree = agree && e.wrong == 0 && e.found == (int)g.modules;
    sgc_graph_release(&g);
    return agree;
}

static int modules(void)
{
    char own[1000] = "";
    struct sgc_graph g;
    uint32_t number;
    void *module;
    int wrong;

    GC_INIT();
    if (readlink("/proc/self/exe", own, sizeof own - 1) <= 0 || !modules_agree())
        return 1;
    module = module_load("module_small");
    wrong = !modules_agree() << 1;
    dlclose(module);
    wrong |= !modules_agree() << 2;
    if (!load(&g))
        return 8;
    number = sgc_graph_module_at(&g, (uintptr_t)types);
    wrong |= (number == SGC_GRAPH_NONE || strcmp(g.module[number].path, own) != 0) << 4;
    sgc_graph_release(&g);
    return wrong;
}

/* ---- first words ---- */

static GC_word *begins_with(GC_word *object, const void *word)
{
    object[0] = (GC_word)word;
    return keep(object);
}

static int first_words(void)
{
    static char *text = "text";
    GC_word *with, *guarded, *free_of, *large, *inner, *stack, *none, local[2];
    struct sgc_graph g;
    int wrong;

    GC_INIT();
    with = begins_with(GC_MALLOC(32), first_type);
    guarded = begins_with(GC_debug_malloc(32, "file.c", 7), first_type);
    free_of = begins_with(GC_MALLOC_ATOMIC(32), first_type);
    large = begins_with(GC_MALLOC(200000), text);
    inner = begins_with(GC_MALLOC(32), with);
    stack = begins_with(GC_MALLOC(32), local);
    none = begins_with(GC_MALLOC_UNCOLLECTABLE(32), (void *)(uintptr_t)17);
    none[1] = (GC_word)first_type;
    if (!load(&g))
        return 1;
    wrong = (type_at(&g, with) != (uintptr_t)first_type) << 1 | (type_at(&g, guarded) != (uintptr_t)first_type) << 2 |
            (type_at(&g, free_of) != 0) << 3 | (type_at(&g, large) != (uintptr_t)text) << 4 | (type_at(&g, inner) != 0) << 5 |
            (type_at(&g, stack) != 0 || type_at(&g, none) != 0) << 6;
    sgc_graph_release(&g);
    return wrong;
}

/* The module is gone when the snapshot is written. */
static int unloaded(void)
{
    void *module = module_load("module_small");
    struct sgc_graph g;
    GC_word *object;
    int wrong;

    GC_INIT();
    object = begins_with(GC_MALLOC(32), module_symbol(module, "module_data"));
    if (!load(&g))
        return 1;
    wrong = (type_at(&g, object) != object[0]) << 1;
    sgc_graph_release(&g);
    dlclose(module);
    if (!load(&g))
        return 1;
    wrong |= (type_at(&g, object) != 0) << 2;
    sgc_graph_release(&g);
    return wrong;
}

/* More than there are numbers for, each twice, with other objects between: the first ones are known. */
static int many_types(void)
{
    GC_word **all = keep(GC_MALLOC(3 * MANY_TYPES * sizeof *all));
    int wrong = 0, unknown = 0;
    struct sgc_graph g;

    GC_INIT();
    for (int i = 0; i < 3 * MANY_TYPES; i++) {
        all[i] = GC_MALLOC(16);
        all[i][0] = (i / MANY_TYPES + i) % 3 == 0 ? 0 : (GC_word)&types[i * 7 % MANY_TYPES];
    }
    if (!load(&g))
        return 1;
    for (int i = 0; i < 3 * MANY_TYPES; i++) {
        uintptr_t type = type_at(&g, all[i]);

        unknown += all[i][0] != 0 && type == 0;
        wrong += type != all[i][0] && type != 0;
    }
    wrong |= g.types != NUMBERED || unknown > 2 * (MANY_TYPES - NUMBERED + 100) || unknown < 2 * (MANY_TYPES - NUMBERED);
    sgc_graph_release(&g);
    return wrong != 0 ? 2 : 0;
}

/* ---- kinds ---- */

static int kinds(void)
{
    static const char longer[] = "0123456789012345678901234567890123456789012345678901234567890123456789";
    char named[8] = "queue", changed[] = "other";
    int queue, other, wrong;
    struct sgc_graph g;

    GC_INIT();
    GC_init_gcj_malloc(GC_GCJ_RESERVED_MARK_PROC_INDEX, NULL);
    keep(GC_GCJ_MALLOC(4 * sizeof(void *), gcj_type));
    queue = (int)GC_new_kind(GC_new_free_list(), GC_DS_LENGTH, 1, 1);
    other = (int)GC_new_kind(GC_new_free_list(), GC_DS_LENGTH, 1, 1);
    wrong = (SGC_name_kind(queue, named) != 0 || SGC_name_kind(other, longer) != 0) << 0;
    memcpy(named, changed, sizeof changed);
    wrong |= (SGC_name_kind(1, "mine") != 0 || SGC_name_kind(0, "once") != 0 || SGC_name_kind(0, NULL) != 0) << 1;
    if (!load(&g))
        return 4;
    wrong |= (strcmp(g.kind[queue].name, "queue") != 0) << 3;
    wrong |= (strncmp(g.kind[other].name, longer, SGC_GRAPH_NAME - 1) != 0) << 4;
    wrong |= (strlen(g.kind[other].name) != SGC_GRAPH_NAME - 1) << 7;
    wrong |= (strcmp(g.kind[1].name, "mine") != 0 || g.kind[0].name[0] != '\0') << 5;
    wrong |= (g.kind[queue].type_first || !g.kind[GC_get_kind_and_size(roots[0], NULL)].type_first) << 6;
    sgc_graph_release(&g);
    return wrong;
}

static int no_kind(void)
{
    GC_INIT();
    return SGC_name_kind(-1, "x") == EINVAL && SGC_name_kind(1000, "x") == EINVAL ? 0 : 1;
}

/* ---- threads ---- */

static volatile long number_of_other;

static void *named_thread(TEST_UNUSED void *arg)
{
    prctl(PR_SET_NAME, "a \"name\"");
    number_of_other = gettid();
    api_stay();
    return NULL;
}

static int threads(void)
{
    const struct sgc_graph_thread *other;
    struct sgc_graph g;
    pthread_t thread;
    bool found = false;
    int wrong;

    GC_INIT();
    thread = api_start(named_thread, NULL);
    api_wait(&api_there);
    if (!load(&g))
        return 1;
    other = sgc_graph_thread(&g, (uint32_t)number_of_other);
    wrong = (other == NULL || strcmp(other->name, "a \"name\"") != 0) << 1;
    wrong |= (sgc_graph_thread(&g, (uint32_t)getpid()) == NULL || sgc_graph_thread(&g, 1u << 30) != NULL) << 2;
    for (uint32_t i = 0; i < g.ranges; i++)
        found |= g.range[i].root == SGC_GRAPH_STACK && g.range[i].thread == (uint32_t)number_of_other;
    wrong |= !found << 3;
    sgc_graph_release(&g);
    sem_post(&api_may_go);
    api_join_all(&thread, 1);
    return wrong;
}

/* ---- allocation sites ---- */

__attribute__((noinline)) static void *make_here(size_t bytes)
{
    void *volatile object = GC_MALLOC(bytes);

    return object;
}

__attribute__((noinline)) static void *make_there(size_t bytes)
{
    void *volatile object = GC_MALLOC_ATOMIC(bytes);

    return object;
}

typedef void *make_function(size_t bytes);

static uint32_t site_at(const struct sgc_graph *g, const void *object)
{
    uint32_t number = sgc_graph_object_at(g, (uintptr_t)object - g->geometry.base);

    return number != SGC_GRAPH_NONE ? sgc_graph_site_of(g, number) : SGC_GRAPH_NO_SITE;
}

enum { FUNCTION = 1000 };               /* bytes that each has at most */

/* Was the object allocated by that one of the two?  GC_malloc may stand on top, and the caller stands below. */
static bool is_by(const struct sgc_graph *g, const void *object, make_function *function)
{
    make_function *other = function == make_here ? make_there : make_here;
    uint32_t site = site_at(g, object), frames = site != SGC_GRAPH_NO_SITE ? g->site[site].frames : 0;

    for (uint32_t i = 0; i < frames; i++) {
        uint64_t call = g->frame[g->site[site].first_frame + i];

        if (call - (uintptr_t)function < FUNCTION || call - (uintptr_t)other < FUNCTION)
            return call - (uintptr_t)function < call - (uintptr_t)other;
    }
    return false;
}

static uint32_t all_with_sites(const struct sgc_graph *g)
{
    uint32_t with = 0;

    for (uint32_t i = 0; i < g->objects; i++)
        with += sgc_graph_site_of(g, i) != SGC_GRAPH_NO_SITE;
    return with;
}

static int sites(void)
{
    void *before, *here[2], *there, *large, *freed;
    struct sgc_graph g;
    int wrong = 0;

    GC_INIT();
    before = keep(make_here(48));
    if (!load(&g))
        return 1;
    wrong |= (g.sites != 0 || g.site_of != NULL) << 1;
    sgc_graph_release(&g);
    if (SGC_set_profile_rate(1) != 0)
        return 1;
    for (volatile int i = 0; i < 2; i++)
        here[i] = keep(make_here(48));
    there = keep(make_there(48));
    large = keep(make_there(300000));
    freed = make_here(48);
    GC_FREE(freed);
    for (int i = 0; i < 1000; i++)
        make_there(16);
    if (!load(&g))
        return 1;
    wrong |= (site_at(&g, before) != SGC_GRAPH_NO_SITE || site_at(&g, freed) != SGC_GRAPH_NO_SITE) << 2;
    wrong |= !is_by(&g, here[0], make_here) << 3;
    wrong |= (site_at(&g, here[0]) != site_at(&g, here[1])) << 4;
    wrong |= !is_by(&g, there, make_there) << 5;
    wrong |= !is_by(&g, large, make_there) << 6;
    wrong |= (all_with_sites(&g) < 4 || all_with_sites(&g) > g.objects - 1) << 7;
    sgc_graph_release(&g);
    return wrong;
}

static int sites_concurrently(void)
{
    environment("SGC_MODE=concurrent", "GC_PAUSE_TIME_TARGET=0");
    return sites();
}

static int sites_without_types(void)
{
    struct sgc_graph g;
    int wrong = 1;

    GC_INIT();
    if (SGC_set_profile_rate(1) == 0 && keep(make_here(48)) != NULL && SGC_write_heap_snapshot(folder_path("names")) == 0 &&
        sgc_graph_load(&g, folder_path("names"), 0))
        wrong = (g.sites == 0 || g.site_of != NULL || sgc_graph_check(&g) != NULL) << 1;
    sgc_graph_release(&g);
    return wrong;
}

int main(void)
{
    folder_make();
    child_ok(modules, "modules are those that the loader has, with their segments; also when one comes and goes");
    child_ok(first_words, "first words that point into a module are noted, behind guards, too; others and those of "
             "pointer-free objects are not");
    child_ok(unloaded, "nor those that point where a module was");
    child_ok(many_types, "of %d types %d are known", MANY_TYPES, NUMBERED);
    child_ok(kinds, "kinds have the names that the program gives them");
    child_says(no_kind, 0, "there is no kind -1", "no other kind can be named");
    child_ok(threads, "threads have their names and numbers");
    child_ok(sites, "an object that is a sample has the stack that allocated it; others have none, and without samples there "
             "are no sites");
    child_ok(sites_concurrently, "also where collections are concurrent");
    child_ok(sites_without_types, "a reader that asks for no types has no sites of objects");
    folder_remove();
    return tap_done();
}
