/* SPDX-License-Identifier: MIT */
/*
 * A libscm that the user names ([SCM-C], chapter 4): any library with its functions.  Those that not every one has are used
 * where they are there.
 *
 * When an object goes is not seen from outside.  So with --trace or --check each gets a finalizer that counts, if the library
 * has finalizers; the bytes that were asked for are in the object's first word.
 *
 *   freed_objects, freed_bytes    any mutator, atomic adds    any    relaxed: a trace may be behind; the join
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>

#include "bench/acdc/memory.h"
#include "bench/acdc/metadata.h"
#include "bench/acdc/metrics.h"
#include "bench/acdc/options.h"

static struct {
    void *(*malloc)(size_t bytes);
    void (*register_thread)(void), (*unregister_thread)(void);  /* these may be NULL */
    void (*block_thread)(void), (*resume_thread)(void);
    void (*collect)(void);
    int (*register_finalizer)(int (*finalizer)(void *object));
    void (*set_finalizer)(void *object, int number);
} scm;
static int counting = -1;               /* the finalizer's number; -1: none */
static _Atomic long long allocated, freed_objects, freed_bytes;

static int count_freed(void *object)
{
    atomic_fetch_add_explicit(&freed_objects, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&freed_bytes, (long long)reference_bytes(*(uint64_t *)object), memory_order_relaxed);
    return 0;
}

static void *allocate_counted(size_t bytes)
{
    void *object = scm.malloc(bytes);

    if (object != NULL)
        scm.set_finalizer(object, counting);
    atomic_fetch_add_explicit(&allocated, 1, memory_order_relaxed);
    return object;
}

/* ---- figures ---- */

static struct managed managed(long long allocated_bytes, long long allocated_objects)
{
    if (counting < 0)
        return (struct managed){ -1, -1 };
    return (struct managed){ allocated_bytes - atomic_load_explicit(&freed_bytes, memory_order_relaxed),
                             allocated_objects - atomic_load_explicit(&freed_objects, memory_order_relaxed) };
}

static long long kept(void)
{
    return counting < 0 ? -1 : atomic_load(&allocated) - atomic_load(&freed_objects);
}

/* ---- start ---- */

#define MAY_HAVE(place, name) (*(void **)&(place) = dlsym(library, name))
#define LOOK_UP(place, name) (MAY_HAVE(place, name) != NULL)

static void look_up_optional(void *library)
{
    MAY_HAVE(scm.register_thread, "scm_register_thread");
    MAY_HAVE(scm.unregister_thread, "scm_unregister_thread");
    MAY_HAVE(scm.block_thread, "scm_block_thread");
    MAY_HAVE(scm.resume_thread, "scm_resume_thread");
    MAY_HAVE(scm.collect, "scm_collect");
}

static void begin_counting(void *library, const struct options *options)
{
    if ((options->trace || options->check) && LOOK_UP(scm.register_finalizer, "scm_register_finalizer") &&
        LOOK_UP(scm.set_finalizer, "scm_set_finalizer"))
        counting = scm.register_finalizer(count_freed);
    if (counting >= 0)
        memory_scm.allocate = memory_scm.allocate_shared = allocate_counted;
}

static const char *begin(const struct options *options)
{
    void *library = dlopen(options->libscm, RTLD_NOW | RTLD_GLOBAL);

    if (library == NULL)
        return dlerror();
    if (!LOOK_UP(scm.malloc, "scm_malloc") || !LOOK_UP(memory_scm.release, "scm_free") ||
        !LOOK_UP(memory_scm.refresh, "scm_refresh") || !LOOK_UP(memory_scm.refresh_global, "scm_global_refresh") ||
        !LOOK_UP(memory_scm.tick, "scm_tick") || !LOOK_UP(memory_scm.tick_global, "scm_global_tick"))
        return "the library that --libscm names is no libscm: it lacks one of scm_malloc, scm_free, scm_refresh, "
               "scm_global_refresh, scm_tick, scm_global_tick";
    look_up_optional(library);
    memory_scm.allocate = memory_scm.allocate_shared = scm.malloc;
    if (options->model == SHORT_TERM) {
        memory_scm.managed = managed;
        memory_scm.kept = kept;
        begin_counting(library, options);
    }
    return NULL;
}

/* ---- threads and time ---- */

static void call(void (*function)(void))
{
    if (function != NULL)
        function();
}

/* A thread takes part in global time from its first call of the library, or from the registration where there is one. */
static void thread_begin(void)
{
    call(scm.register_thread != NULL ? scm.register_thread : memory_scm.tick);
}

static void thread_end(void)
{
    call(scm.unregister_thread);
}

static void leave_time(void)
{
    call(scm.block_thread);
}

static void join_time(void)
{
    call(scm.resume_thread);
}

static void expire_all(void)
{
    call(scm.collect);
}

static void nothing(void)
{
}

/* begin fills in the library's functions. */
struct memory memory_scm = {
    .name = "libscm",
    .begin = begin,
    .thread_begin = thread_begin,
    .thread_end = thread_end,
    .tick = nothing,
    .leave_time = leave_time,
    .join_time = join_time,
    .expire_all = expire_all,
};
