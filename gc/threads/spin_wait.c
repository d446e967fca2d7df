/* SPDX-License-Identifier: MIT */
/* How threads wait for a collection to end.  Who writes what: gc/threads/spin_wait.h. */
#include "gc/threads/spin_wait.h"

#include "platform/report.h"

struct patience {
    _Alignas(128) sgc_a32_t busy;       /* on lines of their own */
    uint32_t processors;
    sgc_aw_t let_go;
    sgc_aw_t late;              /* ns, of all threads together */
    sgc_aw_t count;             /* of these threads */
    uintptr_t taken_late, taken_count;
};

SGC_STATE static struct patience patience;

enum { LOOKS = 200 };           /* at the word, between two looks at the clock: a few microseconds */

static const uint64_t SPIN_NS = 50000;

void sgc_patience_init(int processors)
{
    sgc_assert(processors > 0);
    patience.processors = (uint32_t)processors;
}

void sgc_patience_begin(uint32_t markers)
{
    sgc_assert(markers > 0);
    sgc_a32_store(&patience.busy, markers);
}

void sgc_patience_one_more(void)
{
    sgc_assert(sgc_a32_load(&patience.busy) > 0);           /* a stop has begun */
    sgc_a32_store(&patience.busy, sgc_a32_load(&patience.busy) + 1);
}

/* ---- waiting ---- */

/* A thread that waits in vain must not take the processor of those that it waits for. */
static bool enough_processors(uint32_t beside)
{
    uint32_t busy = sgc_a32_load(&patience.busy);

    sgc_assert(patience.processors > 0);
    return busy <= patience.processors && beside <= patience.processors - busy;
}

/* Waited for: that the word has the value (`becomes`), or has it no more. */
static bool happens_soon(const sgc_a32_t *word, uint32_t value, bool becomes)
{
    for (int i = 0; i < LOOKS; i++) {
        if ((sgc_a32_load_acq(word) == value) == becomes)
            return true;
        sgc_spin_hint();
    }
    return false;
}

static bool spin(const sgc_a32_t *word, uint32_t value, bool becomes, uint32_t beside)
{
    uint64_t began = sgc_clock_ns();

    while (enough_processors(beside)) {
        if (happens_soon(word, value, becomes))
            return true;
        if (sgc_clock_ns() - began >= SPIN_NS)
            break;
    }
    return false;
}

bool sgc_patience_spin(const sgc_a32_t *word, uint32_t value, uint32_t beside)
{
    return spin(word, value, false, beside);
}

bool sgc_patience_spin_to_zero(const sgc_a32_t *word)
{
    return spin(word, 0, true, 0);
}

/* ---- how late they go on ---- */

void sgc_patience_let_go(void)
{
    sgc_aw_store(&patience.let_go, sgc_clock_ns());
}

/* Where there are more threads than processors, another one runs meanwhile.  A thread that waited for something else than
 * the end of a stop has not been resumed since it began to wait. */
void sgc_patience_over(uint64_t since_ns)
{
    uint64_t let_go = sgc_aw_load(&patience.let_go);
    uint64_t now = sgc_clock_ns();

    sgc_assert(since_ns <= now);
    if (let_go < since_ns || now < let_go || !enough_processors(0))
        return;
    sgc_aw_add_relaxed(&patience.late, now - let_go);
    sgc_aw_add_relaxed(&patience.count, 1);
}

/* The one that collected was not late. */
uint64_t sgc_patience_late_ns(void)
{
    uintptr_t late = sgc_aw_load(&patience.late), count = sgc_aw_load(&patience.count);
    uint64_t mean = (late - patience.taken_late) / (count - patience.taken_count + 1);

    sgc_assert(patience.taken_late <= late && patience.taken_count <= count);
    patience.taken_late = late;
    patience.taken_count = count;
    return mean;
}
