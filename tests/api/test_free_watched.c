/* SPDX-License-Identifier: MIT */
/*
 * A thread frees an object, and while it does, another one registers something about a neighbour of the object, so that from
 * then on freeing in that page asks whether something is registered: it goes on to ask.
 *
 * On x86-64 the other thread comes at every instruction of the common path.  Also: alloc/small/small.c, gc/api/free.c.
 */
#define GC_THREADS 1
#define GC_NO_THREAD_REDIRECTS 1
#include <gc/gc.h>

#include <signal.h>
#include <ucontext.h>

#include "alloc/page_supply.h"
#include "gc/finalize/register.h"
#include "tests/lib/child.h"
#include "tests/lib/trap.h"
#include "tests/lib/white.h"

#if defined(__x86_64__)

enum { SIZES = 3, STEPS = 100 };     /* each size has a page of its own */

struct neighbours {
    void *freed, *watched;
};

static struct neighbours of_size[SIZES];
static void *volatile neighbour;
static volatile int step, come_at;

static void GC_CALLBACK finalize(TEST_UNUSED void *object, TEST_UNUSED void *unused)
{
}

static void watch(void *object)
{
    GC_register_finalizer_no_order(object, finalize, NULL, NULL, NULL);
}

static void on_trap(TEST_UNUSED int signal, TEST_UNUSED siginfo_t *info, void *interrupted)
{
    if (step++ != come_at)
        return;
    white_join(white_start(watch, neighbour));
    trap_end(interrupted);
}

/* All pages are swept, and no bin has been used since the collection. */
static void settle(void)
{
    white_collect();
    while (sgc_sweep_ahead(64, sgc_section_self()))
        continue;
}

static void free_beside(const struct neighbours *n)
{
    step = 0;
    neighbour = n->watched;
    trap_on();
    GC_free(n->freed);
    trap_off();
}

/* What is registered for an object is forgotten when it is freed. */
static int watched_is_asked_about(void)
{
    struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
    int wrong = 0;

    white_init();
    sigaction(SIGTRAP, &action, NULL);
    for (int i = 0; i < SIZES; i++)
        of_size[i] = (struct neighbours){ GC_MALLOC(16u << i), GC_MALLOC(16u << i) };
    settle();
    for (int i = 0; i < SIZES; i++)
        free_beside(&of_size[i]);
    settle();
    for (int i = 0; i < SIZES; i++) {
        GC_free(of_size[i].watched);
        wrong += sgc_finalization_has((uintptr_t)of_size[i].watched);
    }
    return wrong;
}

static void test_all(void)
{
    int wrong = 0;

    for (come_at = 0; come_at < STEPS; come_at++)
        wrong += run_in_child(watched_is_asked_about) != 0;
    tap_ok(wrong == 0, "what is registered about an object is asked for, whenever its page begins to be watched (%d were not)",
           wrong);
}

#else

static void (*const test_all)(void) = NULL;

#endif

int main(void)
{
    return trap_main(test_all);
}
