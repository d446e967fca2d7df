/* SPDX-License-Identifier: MIT */
/* The start of a plain malloc: malloc/start.h. */
#include "malloc/start.h"

#include <errno.h>
#include <limits.h>

#include "alloc/whole_heap.h"
#include "malloc/checked.h"
#include "malloc/harden.h"
#include "malloc/threads.h"
#include "platform/platform.h"

enum { SPARE_PAGES = 16 };      /* a thread keeps up to 1 MB in spans that it has freed */

enum { IDLE, BUSY, WATCHING, DONE, FAILED };

SGC_STATE static sgc_a32_t state;
static _Thread_local bool starting __attribute__((tls_model("initial-exec")));     /* the calling thread is at it */

static bool start_heap(void)
{
    const struct sgc_heap_config config = {
        .spare_pages = SPARE_PAGES,
        .huge_pages = (enum sgc_huge_pages)sgc_malloc_options.huge_pages,
        .reserve = sgc_malloc_options.reserve,
        .page_rule = { .policy = SGC_POLICY_LPS, .k = SGC_K_ONE },
        .numa = SGC_NUMA_OFF,
    };

    sgc_assert(sgc_a32_load(&state) == BUSY);
    if (!sgc_heap_init(&config))
        return false;
    if (sgc_checks())
        sgc_checked_start();
    return sgc_threads_start();
}

/* From IDLE to BUSY, waiting for the thread that is at it.  False: there is nothing left to do, or
 * the calling thread is at it. */
static bool claim(void)
{
    while (!sgc_a32_cas(&state, IDLE, BUSY)) {
        uint32_t now = sgc_a32_load_acq(&state);

        if (now == DONE || now == FAILED || starting)
            return false;
        sgc_wait(&state, now, -1);
    }
    starting = true;
    return true;
}

/* May the calling thread use the heap?  The C library calls back while it is told what to watch. */
static bool has_heap(void)
{
    uint32_t now = sgc_a32_load_acq(&state);

    return now == DONE || (now == WATCHING && starting);
}

static void pass_to(uint32_t next)
{
    sgc_a32_store_rel(&state, next);
    sgc_wake(&state, INT_MAX);
}

/* Is there a heap?  The others wait until ends of threads and forks are seen. */
static bool start(void)
{
    int saved = errno;
    bool started;

    if (has_heap())
        return true;
    if (!claim())
        return has_heap();
    sgc_malloc_options_read();
    started = start_heap();
    sgc_assert(!started || sgc_threads.common != NULL);
    if (started) {
        pass_to(WATCHING);
        sgc_threads_watch();
    }
    pass_to(started ? DONE : FAILED);
    errno = saved;
    return started;
}

struct sgc_turn sgc_turn_begin(void)
{
    struct sgc_turn turn = { sgc_self, false };

    sgc_threads_settle();
    if (turn.cache == NULL && start())
        turn.cache = sgc_thread_cache(&turn.common);
    sgc_assert(turn.common || turn.cache == sgc_self);
    return turn;
}

void sgc_turn_end(const struct sgc_turn *turn)
{
    sgc_assert(turn->common == (turn->cache != NULL && turn->cache == &sgc_threads.common->cache));
    sgc_assert(turn->cache == NULL || !sgc_section_inside(&turn->cache->section));
    if (turn->common)
        sgc_thread_leave_common();
}

/* The library's constructor is the first of all (-z initfirst), so the fork handlers are registered
 * before anybody else's, although nobody may have allocated yet. */
__attribute__((constructor))
static void reach(void)
{
    struct sgc_turn turn = sgc_turn_begin();

    sgc_turn_end(&turn);
    sgc_a32_store(&sgc_constructors_run, 1);
}
