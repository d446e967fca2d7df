/* SPDX-License-Identifier: MIT */
/*
 * Storm of dlopen and dlclose: modules whose static data and thread-local variables hold the only
 * references come and go in several threads while others allocate and collect; a module's
 * constructor allocates and collects inside dlopen.
 *
 * The modules are copies, in memory, of the two that were built beside this program, so that there
 * are several distinct ones.  Each use of a module has cells of its own; nothing is shared but the
 * copies' paths, which do not change.
 */
#include "tests/stress/storm.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/stress/object.h"
#include "tests/stress/storm_module.h"

enum { GC_DLOPEN, PLAIN_DLOPEN, ZEROED, INITIALISED, TLS, CONSTRUCTOR, LEFT_BEHIND, COLLECT };
static const char *const parts[] = { "gc-dlopen", "plain-dlopen", "zeroed-data", "initialised-data", "tls",
                                     "constructor", "left-behind", "collect", NULL };

#define COPIES 6
#define USES 4                      /* modules a thread has open at once */
#define THREADS_MAX (MODULE_CELLS / USES - 1)

static char path[COPIES][40];

struct use { void *handle; const struct storm_module *module; size_t cell, thread_cell; };

/* ---- copies of the modules ---- */

static int open_in(const char *directory, const char *below, const char *name)
{
    char file[PATH_MAX + 64];
    snprintf(file, sizeof file, "%s/%s%s", directory, below, name);
    return open(file, O_RDONLY | O_CLOEXEC);
}

/* Where make put them: beside the program or, with libtool, in .libs. */
static int open_module(const char *name)
{
    char self[PATH_MAX];
    const char *set = getenv("STORM_MODULES");
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    STORM_CHECK(length > 0, "readlink of /proc/self/exe: error %d", errno);
    self[length] = 0;
    *strrchr(self, '/') = 0;
    int file = open_in(set ? set : self, "", name);
    if (file < 0)
        file = open_in(set ? set : self, ".libs/", name);
    STORM_CHECK(file >= 0, "cannot find %s beside the program in %s; name its directory in STORM_MODULES", name, self);
    return file;
}

static void copy_module(int copy)
{
    char buffer[65536];
    int from = open_module(copy % 2 ? "storm_module_big.so" : "storm_module.so");
    int to = memfd_create("storm_module", 0);
    STORM_CHECK(to >= 0, "memfd_create: error %d", errno);
    for (ssize_t got; (got = read(from, buffer, sizeof buffer)) > 0;)
        STORM_CHECK(write(to, buffer, (size_t)got) == got, "cannot copy a module: error %d", errno);
    close(from);
    snprintf(path[copy], sizeof path[copy], "/proc/%d/fd/%d", (int)getpid(), to);       /* debuggers look there */
}

/* ---- cells: atomic, since TSan sees neither the loader's locks nor that memory is mapped anew ---- */

static void store(void **cell, struct message *message)
{
    __atomic_store_n(cell, (void *)message, __ATOMIC_RELEASE);
}

static struct message *stored(void **cell)
{
    return __atomic_load_n(cell, __ATOMIC_ACQUIRE);
}

/* ---- the constructor's part ---- */

/* Runs inside dlopen, under the loader's locks. */
__attribute__((visibility("default"))) void storm_module_loaded(void **cell)
{
    if (!storm_has(CONSTRUCTOR))
        return;
    struct rng rng = rng_make(storm_ns());
    storm_step("in a module's constructor");
    store(cell, message_make(&rng, CONSTRUCTOR));
    storm_scrub_stack();
    if (rng_once_in(&rng, 2))
        GC_gcollect();
    message_check(stored(cell), "the static data of a module being loaded");
    storm_ran(CONSTRUCTOR);
}

/* ---- using a module ---- */

static void put(struct use *use, struct rng *rng)
{
    if (storm_has(ZEROED))
        store(use->module->zeroed(use->cell), message_make(rng, ZEROED));
    if (storm_has(INITIALISED))
        store(use->module->initialised(use->cell), message_make(rng, INITIALISED));
    if (storm_has(TLS))
        store(use->module->thread(use->thread_cell), message_make(rng, TLS));
}

static void check_cell(void **cell, int part, const char *what)
{
    if (!storm_has(part))
        return;
    message_check(stored(cell), what);
    storm_ran(part);
}

static void check(const struct use *use)
{
    check_cell(use->module->zeroed(use->cell), ZEROED, "a module's zeroed data");
    check_cell(use->module->initialised(use->cell), INITIALISED, "a module's initialised data");
    check_cell(use->module->thread(use->thread_cell), TLS, "a module's thread-local variable");
    if (storm_has(CONSTRUCTOR))
        message_check(stored(use->module->zeroed(MODULE_CELLS - 1)), "what a module's constructor stored");
}

static void clear(const struct use *use)
{
    store(use->module->zeroed(use->cell), NULL);
    store(use->module->initialised(use->cell), NULL);
    store(use->module->thread(use->thread_cell), NULL);
}

static void *load(const char *file, struct rng *rng)
{
    int how = rng_once_in(rng, 2) ? RTLD_NOW : RTLD_LAZY;
    bool plain = storm_has(PLAIN_DLOPEN) && (!storm_has(GC_DLOPEN) || rng_once_in(rng, 2));
    void *handle = plain ? dlopen(file, how) : GC_dlopen(file, how);
    STORM_CHECK(handle, "dlopen: %s", dlerror());
    storm_ran(plain ? PLAIN_DLOPEN : GC_DLOPEN);
    return handle;
}

static __attribute__((noinline)) void open_use(struct use *use, struct rng *rng)
{
    storm_step("loading a module");
    use->handle = load(path[rng_below(rng, COPIES)], rng);
    use->module = dlsym(use->handle, "storm_module");
    STORM_CHECK(use->module, "dlsym: %s", dlerror());
    put(use, rng);
}

static __attribute__((noinline)) void close_use(struct use *use, struct rng *rng)
{
    storm_step("unloading a module");
    check(use);
    if (!storm_may(LEFT_BEHIND, rng, 2))
        clear(use);
    STORM_CHECK(!dlclose(use->handle), "dlclose: %s", dlerror());
    use->handle = NULL;
}

static void step(struct use *use, struct rng *rng)
{
    if (!use->handle)
        open_use(use, rng);
    else if (rng_once_in(rng, 2))
        close_use(use, rng);
    else
        check(use);
    storm_scrub_stack();
    if (storm_may(COLLECT, rng, 10))
        storm_collect();
    struct ref graph = graph_make(rng, 3000);
    graph_check(&graph);
}

static void mutate(int index)
{
    struct rng rng = rng_make((uint64_t)index);
    struct use use[USES];
    for (size_t i = 0; i < USES; i++)
        use[i] = (struct use){ NULL, NULL, (size_t)index * USES + i, i };
    while (storm_running())
        step(&use[rng_below(&rng, USES)], &rng);
    for (size_t i = 0; i < USES; i++)
        if (use[i].handle)
            close_use(&use[i], &rng);
}

static void body(void)
{
    for (int i = 0; i < COPIES; i++)
        copy_module(i);
    storm_on_threads(storm.threads < THREADS_MAX ? storm.threads : THREADS_MAX, mutate);
}

const struct storm_program storm_program = { "storm_dlopen", parts, 0, 0, NULL, body, NULL };
