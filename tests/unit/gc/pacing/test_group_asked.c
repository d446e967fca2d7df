/* SPDX-License-Identifier: MIT */
/*
 * gc/pacing/heap_size.c: who asks the cgroup what memory is left, and a limit that is set while somebody asks.  The group is
 * made up, by the functions that would read its files.
 */
#include <sys/mman.h>
#include <ucontext.h>

#include "gc/collect/background.h"
#include "gc/pacing/heap_size.h"
#include "tests/lib/child.h"
#include "tests/lib/white.h"

enum { MB = 1 << 20, GROUP = 64 * MB, LEFT = 40 * MB, LOWER = 48 * MB, KEPT = 24, MORE = 16, STACK = 256 << 10 };

static sgc_a32_t asked;
static size_t to_set;                   /* when it is asked next; 0: nothing */

size_t __wrap_sgc_limit_cgroup_memory(void);
size_t __wrap_sgc_limit_cgroup_memory(void)
{
    return GROUP;
}

size_t __wrap_sgc_limit_cgroup_remaining(void);
size_t __wrap_sgc_limit_cgroup_remaining(void)
{
    if (to_set != 0)
        sgc_group_limit_set(to_set);
    to_set = 0;
    sgc_a32_add(&asked, 1);
    return LEFT;
}

/* ---- the heap grows ------------------------------------------------------------------------------- */

static void *volatile kept[KEPT], *volatile more[MORE];        /* never read */

static void grow(void)
{
    for (int i = 0; i < KEPT; i++)
        kept[i] = sgc_allocate(MB, WHITE_KIND);
}

static ucontext_t caller, coroutine;

static void grow_on_coroutine(void)
{
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    coroutine.uc_stack.ss_size = STACK;
    coroutine.uc_link = &caller;
    makecontext(&coroutine, grow, 0);
    swapcontext(&caller, &coroutine);
}

/* ---- what is checked -------------------------------------------------------------------------------- */

static int set_meanwhile(void)
{
    environment("SGC_BACKGROUND_THREAD=off");
    white_init();
    grow();
    to_set = LOWER;
    for (int i = 0; i < MORE && to_set != 0; i++)
        more[i] = sgc_allocate(MB, WHITE_KIND);
    if (to_set != 0)
        return 1;
    return sgc_aw_load(&sgc_pool.limit) * SGC_PAGE == LOWER ? 0 : 2;
}

static int left_to_next(void)
{
    environment("SGC_BACKGROUND_THREAD=off");
    white_init();
    grow_on_coroutine();
    if (sgc_a32_load(&asked) != 0)
        return 1;
    sgc_heap_watch(sgc_mutator_self());
    return sgc_a32_load(&asked) == 1 ? 0 : 2;
}

static int left_to_service(void)
{
    environment("SGC_BACKGROUND_THREAD=eager");
    white_init();
    grow_on_coroutine();
    if (white_collect() != SGC_COLLECTED)
        return 1;
    return white_reached(&asked, 1) ? 0 : 2;
}

int main(void)
{
    child_ok(set_meanwhile, "a limit that is set while the group is asked counts");
    child_ok(left_to_next, "a thread on a coroutine's stack leaves the question to the next that can put it");
    child_ok(left_to_service, "or to the service thread");
    return tap_done();
}
