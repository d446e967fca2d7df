/* SPDX-License-Identifier: MIT */
/*
 * libsgcpauses, which sgc-pauses preloads: it looks at the pauses of the process that it is in, whichever collector that uses.
 *
 * It stands before a few of the collector's functions.  When the program starts the collector, by GC_INIT or by its first
 * allocation, that thread then starts the probe (tools/pauses/watch.h) and has the collector tell of its stops.  In a process
 * that starts no collector nothing happens.  A child of a fork has no probe; a program that it executes has one of its own.
 * What a collector calls of itself may come through these functions, too.
 *
 *   begun          the first thread in GC_init or an allocation, once    each of these functions, relaxed: who comes second
 *                                                                        does not wait, as it does not need the probe
 *   file           that thread, before the hook is set                   the hook, under the collector's lock
 *   stop_begin_ns  the hook, under the collector's lock                  the hook
 *   client_hook    any thread, release                                   the hook, acquire
 *   collector      that thread, before the hook is set                   any thread, once there is a file
 *   real.*         any thread, each time the same value, relaxed         any thread, relaxed: one word each
 *
 * SGC_PAUSES says what to do: "PERIOD LEAST FLAGS FOLDER", times in nanoseconds; for each process that collects there will be
 * a file in the folder.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include "gc/gc.h"
#include "gc/gc_hooks.h"
#include "gc/gc_typed.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tools/pauses/watch.h"

#define EXPORT __attribute__((visibility("default")))

static struct {
    sgc_aw_t GC_init, GC_enable_incremental, GC_malloc, GC_malloc_atomic, GC_malloc_uncollectable, GC_malloc_ignore_off_page,
        GC_memalign, GC_realloc, GC_malloc_explicitly_typed, GC_set_on_collection_event, GC_get_on_collection_event,
        GC_pthread_create, GC_get_version;
} real;

static sgc_a32_t begun;
static sgc_aw_t client_hook;            /* GC_on_collection_event_proc */
static struct sgc_pauses_file *file;
static uint64_t stop_begin_ns;
static struct { uintptr_t begin, end; } collector;          /* its library's addresses */

static struct {
    uint64_t period_ns, least_ns, flags;
    const char *folder;                 /* NULL: do nothing */
} wanted;

/* ---- the collector's functions ---- */

/* A collector that came with a plugin is not among the libraries behind this one. */
static uintptr_t find(const char *name)
{
    static const char *const libraries[] = { "libgc.so.1", "libsgc.so.0" };
    void *symbol = dlsym(RTLD_NEXT, name);

    for (size_t i = 0; symbol == NULL && i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

        if (library != NULL)
            symbol = dlsym(library, name);
    }
    return (uintptr_t)symbol;
}

static uintptr_t look_up(sgc_aw_t *slot, const char *name)
{
    if (sgc_aw_load(slot) == 0)
        sgc_aw_store(slot, find(name));
    return sgc_aw_load(slot);
}

static uintptr_t need(sgc_aw_t *slot, const char *name)
{
    uintptr_t found = look_up(slot, name);

    if (found == 0) {
        fprintf(stderr, "libsgcpauses: the program calls %s, and no collector that is loaded has it; run it without "
                "sgc-pauses\n", name);
        abort();
    }
    return found;
}

#define REAL(name) ((__typeof__(&name))need(&real.name, #name))
#define REAL_OR_NULL(name) ((__typeof__(&name))look_up(&real.name, #name))

/* ---- what the collector says of its stops ---- */

/* A stop that fails is none.  The child of a fork has its parent's file before it, and leaves it alone. */
static void note_stop(GC_EventType event)
{
    if ((uint64_t)getpid() != file->pid)
        return;
    if (event == GC_EVENT_PRE_STOP_WORLD && stop_begin_ns == 0) {
        stop_begin_ns = sgc_pauses_now();
    } else if (event == GC_EVENT_POST_START_WORLD && stop_begin_ns != 0) {
        sgc_pauses_add(file, SGC_PAUSES_STOPS, stop_begin_ns, sgc_pauses_now());
        stop_begin_ns = 0;
    } else if (event == GC_EVENT_END) {
        stop_begin_ns = 0;
    }
}

/* A hook of the program's before the stop is not part of it, and one behind it is not either. */
static void GC_CALLBACK on_event(GC_EventType event)
{
    GC_on_collection_event_proc hook = (GC_on_collection_event_proc)sgc_aw_load_acq(&client_hook);

    if (event == GC_EVENT_POST_START_WORLD)
        note_stop(event);
    if (hook != NULL)
        hook(event);
    if (event != GC_EVENT_POST_START_WORLD)
        note_stop(event);
}

/* Notes the addresses of the object that holds the function. */
static int note_collector(struct dl_phdr_info *info, size_t size, void *function)
{
    uintptr_t lowest = UINTPTR_MAX, end = 0;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + part->p_vaddr;

        if (part->p_type != PT_LOAD)
            continue;
        lowest = at < lowest ? at : lowest;
        end = at + part->p_memsz > end ? at + part->p_memsz : end;
    }
    if ((uintptr_t)function < lowest || (uintptr_t)function >= end)
        return 0;
    collector.begin = lowest;
    collector.end = end;
    return 1;
}

static void listen_to_stops(void)
{
    __typeof__(&GC_get_on_collection_event) get = REAL_OR_NULL(GC_get_on_collection_event);
    __typeof__(&GC_set_on_collection_event) set = REAL_OR_NULL(GC_set_on_collection_event);

    if (get == NULL || set == NULL)
        return;
    dl_iterate_phdr(note_collector, (void *)(uintptr_t)set);
    sgc_aw_store_rel(&client_hook, (uintptr_t)get());
    set(on_event);
}

/* ---- start ---- */

/* The folder's name is the environment's: nothing of it may disturb a terminal. */
static void complain(const char *what, char *path, int error)
{
    for (char *at = path; *at != '\0'; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    fprintf(stderr, "libsgcpauses: %s %s: %s; this process (%d) is not looked at.  Free memory there, or set TMPDIR to another "
            "folder\n", what, path, strerror(error), (int)getpid());
}

/* The file has all its memory, since the system ends a process that writes where it has none left. */
static struct sgc_pauses_file *make_file(void)
{
    char path[4096];
    void *at = MAP_FAILED;
    struct rlimit limit;
    int error, fd;

    snprintf(path, sizeof path, "%s/%d-%llu.pauses", wanted.folder, (int)getpid(), (unsigned long long)sgc_pauses_now());
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    error = fd < 0 ? errno : 0;
    if (error == 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < sgc_pauses_bytes())
        error = EFBIG;                  /* the system would end the program by a signal */
    if (error == 0)
        error = posix_fallocate(fd, 0, (off_t)sgc_pauses_bytes());
    if (error == 0)
        at = mmap(NULL, sgc_pauses_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (error == 0 && at == MAP_FAILED)
        error = errno;
    if (fd >= 0)
        close(fd);
    if (error != 0) {
        unlink(path);
        complain("cannot write", path, error);
        return NULL;
    }
    return at;
}

static void fill_head(void)
{
    const char *(*version)(void) = (const char *(*)(void))find("SGC_version");
    __typeof__(&GC_get_version) packed = REAL_OR_NULL(GC_get_version);
    unsigned number = packed != NULL ? packed() : 0;

    sgc_pauses_prepare(file, wanted.least_ns);
    file->pid = (uint64_t)getpid();
    file->period_ns = wanted.period_ns;
    file->flags = wanted.flags;
    if (version != NULL)
        snprintf(file->collector, sizeof file->collector, "SGC %s", version());
    else
        snprintf(file->collector, sizeof file->collector, "bdwgc %u.%u.%u", number >> 16, number >> 8 & 255, number & 255);
}

static int signal_of(const char *name, int otherwise)
{
    int (*ask)(void) = (int (*)(void))find(name);

    return ask != NULL ? ask() : otherwise;
}

/* The collector runs, and this thread is one of its. */
static void observe(void)
{
    sgc_pauses_create_t plain = (sgc_pauses_create_t)(uintptr_t)dlsym(RTLD_NEXT, "pthread_create");
    sgc_pauses_create_t collected = (sgc_pauses_create_t)REAL_OR_NULL(GC_pthread_create);
    int needed[3] = { signal_of("GC_get_suspend_signal", SIGPWR), signal_of("GC_get_thr_restart_signal", SIGXCPU), 0 };

    file = make_file();
    if (file == NULL)
        return;
    fill_head();
    listen_to_stops();
    if (collected == NULL || plain == NULL)
        file->error = ENOSYS;
    else
        file->error = (uint64_t)sgc_pauses_watch(file, needed, collected, plain);
}

/* Names are looked up before anything calls: later a look-up may itself allocate.  A library that is initialised before this
 * one may allocate by then, as the runtime of Objective-C does. */
__attribute__((constructor)) static void read_wishes(void)
{
    const char *text = secure_getenv("SGC_PAUSES");
    char *rest;

    if (wanted.folder != NULL || text == NULL || REAL_OR_NULL(GC_init) == NULL)
        return;
    wanted.period_ns = strtoull(text, &rest, 10);
    wanted.least_ns = strtoull(rest, &rest, 10);
    wanted.flags = strtoull(rest, &rest, 10);
    wanted.folder = *rest == ' ' ? rest + 1 : NULL;
    (void)REAL_OR_NULL(GC_enable_incremental);
    (void)REAL_OR_NULL(GC_malloc);
    (void)REAL_OR_NULL(GC_malloc_atomic);
    (void)REAL_OR_NULL(GC_malloc_uncollectable);
    (void)REAL_OR_NULL(GC_malloc_ignore_off_page);
    (void)REAL_OR_NULL(GC_memalign);
    (void)REAL_OR_NULL(GC_realloc);
    (void)REAL_OR_NULL(GC_malloc_explicitly_typed);
}

static void begin_once(void)
{
    int before = errno;

    if (sgc_a32_swap(&begun, 1) != 0)
        return;
    read_wishes();
    REAL(GC_init)();
    if (wanted.folder != NULL)
        observe();
    errno = before;
}

static inline void begin(void)
{
    if (__builtin_expect(sgc_a32_load(&begun) == 0, 0))
        begin_once();
}

/* ---- in place of the collector's ---- */

EXPORT void GC_init(void)
{
    begin();
    REAL(GC_init)();
}

EXPORT void GC_enable_incremental(void)
{
    begin();
    REAL(GC_enable_incremental)();
}

EXPORT void *GC_malloc(size_t bytes)
{
    begin();
    return REAL(GC_malloc)(bytes);
}

EXPORT void *GC_malloc_atomic(size_t bytes)
{
    begin();
    return REAL(GC_malloc_atomic)(bytes);
}

EXPORT void *GC_malloc_uncollectable(size_t bytes)
{
    begin();
    return REAL(GC_malloc_uncollectable)(bytes);
}

EXPORT void *GC_malloc_ignore_off_page(size_t bytes)
{
    begin();
    return REAL(GC_malloc_ignore_off_page)(bytes);
}

EXPORT void *GC_memalign(size_t alignment, size_t bytes)
{
    begin();
    return REAL(GC_memalign)(alignment, bytes);
}

EXPORT void *GC_realloc(void *object, size_t bytes)
{
    begin();
    return REAL(GC_realloc)(object, bytes);
}

/* Objective-C's collected runtime allocates its objects by no other. */
EXPORT void *GC_malloc_explicitly_typed(size_t bytes, GC_descr descriptor)
{
    begin();
    return REAL(GC_malloc_explicitly_typed)(bytes, descriptor);
}

/* The program's hook is called by ours.  Who asks for it is the program, or the collector itself that wants to call it. */
EXPORT void GC_set_on_collection_event(GC_on_collection_event_proc hook)
{
    if (file != NULL)
        sgc_aw_store_rel(&client_hook, (uintptr_t)hook);
    else
        REAL(GC_set_on_collection_event)(hook);
}

EXPORT GC_on_collection_event_proc GC_get_on_collection_event(void)
{
    uintptr_t caller = (uintptr_t)__builtin_return_address(0);

    if (file == NULL || (caller >= collector.begin && caller < collector.end))
        return REAL(GC_get_on_collection_event)();
    return (GC_on_collection_event_proc)sgc_aw_load_acq(&client_hook);
}
