/* SPDX-License-Identifier: MIT */
/*
 * How threads wait for a collection to end.
 *
 * A thread that sleeps leaves its processor idle, and to wake an idle processor takes longer than a
 * collection that finds little alive (figures: doc/journal/threads-and-roots.md).  So they spin
 * first, for a bounded time, as long as there is a processor for each thread that is stopped and
 * each marker; and so does the stopper until they stand still.
 *
 *   what         written by                    read by           ordering
 *   busy         the stopper: markers, and     waiting threads   relaxed: a stale value costs some
 *                threads stopped so far                          spinning, or a sleep
 *   processors   the starting thread           any               thread creation
 */
#include "gc/threads/world_internal.h"

#include "platform/report.h"

struct patience {
    _Alignas(128) sgc_a32_t busy;       /* on lines of their own */
    uint32_t processors;
};

SGC_STATE static struct patience patience;

enum { READS = 200 };           /* at the word, between two looks at the clock: a few
                                 * microseconds */

static const uint64_t SPIN_NS = 50000;

void sgc_spin_wait_init(int processors)
{
    sgc_assert(processors > 0);
    patience.processors = (uint32_t)processors;
}

void sgc_spin_wait_begin(uint32_t markers)
{
    sgc_assert(markers > 0);
    sgc_a32_store(&patience.busy, markers);
}

void sgc_spin_wait_add_thread(void)
{
    sgc_assert(sgc_a32_load(&patience.busy) > 0);           /* a stop has begun */
    sgc_a32_store(&patience.busy, sgc_a32_load(&patience.busy) + 1);
}

/* ---- waiting ---- */

/* A thread that waits in vain must not take the processor of those that it waits for. */
static bool enough_processors(uint32_t extra)
{
    uint32_t busy = sgc_a32_load(&patience.busy);

    sgc_assert(patience.processors > 0);
    return busy <= patience.processors && extra <= patience.processors - busy;
}

/* Waited for: that the word has the value (`becomes`), or has it no more. */
static bool happens_soon(const sgc_a32_t *word, uint32_t value, bool becomes)
{
    for (int i = 0; i < READS; i++) {
        if ((sgc_a32_load_acq(word) == value) == becomes)
            return true;
        sgc_spin_hint();
    }
    return false;
}

static bool spin(const sgc_a32_t *word, uint32_t value, bool becomes, uint32_t extra)
{
    uint64_t began = sgc_clock_ns();

    while (enough_processors(extra)) {
        if (happens_soon(word, value, becomes))
            return true;
        if (sgc_clock_ns() - began >= SPIN_NS)
            break;
    }
    return false;
}

bool sgc_spin_wait(const sgc_a32_t *word, uint32_t value, uint32_t extra)
{
    return spin(word, value, false, extra);
}

bool sgc_spin_wait_zero(const sgc_a32_t *word)
{
    return spin(word, 0, true, 0);
}
