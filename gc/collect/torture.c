/* SPDX-License-Identifier: MIT */
/*
 * Torture mode.  Each function says in its header where it runs.
 */
#include "gc/collect/torture.h"

#include "alloc/whole_heap.h"
#include "gc/config/options.h"
#include "gc/threads/gc_lock.h"

/* xorshift64: a sequence of its own for each thread, from SGC_TORTURE_SEED. */
static uint64_t next_random(struct sgc_mutator *m)
{
    uint64_t x = m->random | 1;

    sgc_assert(m == sgc_mutator_self());
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    sgc_assert(x != 0);
    m->random = x;
    return x;
}

bool sgc_torture_due(struct sgc_mutator *m)
{
    sgc_assert(sgc_mutator_mine(m));
    if (sgc_options.torture <= 0 || ++m->allocations < (uint32_t)sgc_options.torture)
        return false;
    m->allocations = 0;
    return true;
}

bool sgc_torture_chance(struct sgc_mutator *m, uint32_t n)
{
    sgc_assert(n != 0);
    return sgc_options.torture > 0 && m != NULL && (next_random(m) >> 20) % n == 0;
}

/* A deadline at random: at once, after some microseconds, or milliseconds.  The given one comes as
 * well, so that an attempt without a deadline does come. */
uint64_t sgc_torture_deadline(struct sgc_mutator *m, uint64_t given_ns)
{
    uint64_t r;

    if (sgc_options.torture <= 0)
        return given_ns;
    r = next_random(m) >> 20;
    switch (r % 4) {
    case 0: return given_ns;
    case 1: return r / 4 % 100000;
    case 2: return r / 4 % 10000000;
    default: return 0;
    }
}

void sgc_torture_delay(struct sgc_mutator *m)
{
    uint64_t r;

    if (sgc_options.torture <= 0)
        return;
    r = next_random(m) >> 20;
    if (r % 4 == 0)
        sgc_yield();
    for (uint64_t spins = r % 7 == 0 ? r / 7 % 4096 : 0; spins > 0; spins--)
        sgc_spin_hint();
}

static void seam(void)
{
    struct sgc_mutator *m = sgc_mutator_self();

    if (m != NULL)
        sgc_torture_delay(m);
}

void sgc_torture_init(void)
{
    if (sgc_options.torture > 0)
        sgc_section_hooks.seam = seam;
}

void sgc_torture_check(void)
{
    sgc_assert(sgc_stopped_by_self());
    if (sgc_options.torture <= 0)
        return;
    sgc_heap_check();
    sgc_registry_check();
}
