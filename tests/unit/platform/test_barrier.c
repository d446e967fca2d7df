/* SPDX-License-Identifier: MIT */
/*
 * platform/wait_linux.c: of two threads that each store and then load what the other stores, one sees the other's store,
 * though only one of them passes a barrier of its own making; also in the child of a fork.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>

#include "platform/platform.h"
#include "tests/lib/child.h"
#include "tests/lib/threads.h"

enum { ROUNDS = 20000 };

/* Of each round: one line each, so that a store waits for its line while the load goes ahead. */
static struct {
    _Alignas(128) sgc_a32_t mine, other;
    _Alignas(128) sgc_a32_t seen;
} apart[ROUNDS];

static _Alignas(128) sgc_a32_t round_open;
static _Alignas(128) sgc_a32_t round_done;
static bool works;

static void wait_for(const sgc_a32_t *counter, uint32_t value)
{
    for (uint32_t spins = 1; sgc_a32_load_acq(counter) < value; spins++)
        if (spins % 1000 == 0)
            sgc_yield();
}

/* No barrier in here: the order of the store and the load is the compiler's only. */
static void *store_and_load(TEST_UNUSED void *unused)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        wait_for(&round_open, i + 1);
        sgc_a32_store(&apart[i].other, 1);
        sgc_compiler_barrier();
        sgc_a32_store(&apart[i].seen, sgc_a32_load(&apart[i].mine));
        sgc_a32_store_rel(&round_done, i + 1);
    }
    return NULL;
}

static int both_missed(void)
{
    pthread_t thread = thread_start(store_and_load, NULL);
    int missed = 0;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t seen;

        sgc_a32_store_rel(&round_open, i + 1);
        for (uint32_t spins = i % 64; spins > 0; spins--)
            sgc_spin_hint();
        sgc_a32_store(&apart[i].mine, 1);
        sgc_compiler_barrier();
        works = works && sgc_barrier_all_threads();
        seen = sgc_a32_load(&apart[i].other);
        wait_for(&round_done, i + 1);
        missed += seen == 0 && sgc_a32_load(&apart[i].seen) == 0;
    }
    pthread_join(thread, NULL);
    return missed;
}

/* A system that says that it has it must grant it. */
static bool system_has_it(void)
{
    long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0);

    return commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
}

int main(void)
{
    int missed;

    errno = EDOM;
    works = sgc_barrier_all_threads();
    tap_ok(errno == EDOM, "errno is as before");
    if (!system_has_it()) {
        tap_skip("this system refuses it");
        return tap_done();
    }
    missed = both_missed();
    tap_ok(works, "it succeeds again and again");
    tap_ok(missed == 0, "of two threads one sees what the other stored (%d of %d times not)", missed, ROUNDS);
    child_ok_of(sgc_barrier_all_threads() ? 0 : 1, "it works in the child of a fork");
    return tap_done();
}
