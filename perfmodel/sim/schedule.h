/* SPDX-License-Identifier: MIT */
/*
 * Simulated markers: coroutines with a clock each.
 *
 * The one whose clock is behind all others runs; of two with the same time, the one with the lower
 * number.  Nothing else decides, so the same simulation gives the same result.  Sleeping, waking
 * and letting others run are done here; perfmodel/sim/memory.h says what memory costs.  Times are
 * picoseconds.
 */
#ifndef SGC_PERFMODEL_SIM_SCHEDULE_H
#define SGC_PERFMODEL_SIM_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmodel/sim/access.h"
#include "perfmodel/sim/machine.h"
#include "perfmodel/sim/memory.h"

/* A function that is called for each access before that is simulated: the marker, the place
 * (memory.h), the operation. */
typedef void (*sgc_sim_watch)(void *arg, uint32_t marker, uint64_t offset, enum sgc_sim_op op);

struct sgc_sim_tasks {
    uint32_t count;
    void (*body)(uint32_t number);
    bool first_ends;            /* it is over when marker 0 is done; otherwise when all are */
    uintptr_t base;             /* of memory */
    const struct sgc_sim_machine *machine;
    sgc_sim_watch watch;        /* NULL: nobody */
    void *arg;
};

/* False if there is no memory for stacks.  Memory has begun. */
bool sgc_sim_run(const struct sgc_sim_tasks *tasks, uint64_t *picoseconds);

/* ---- of the marker that runs ---- */

uint32_t sgc_sim_self(void);
uint64_t sgc_sim_now(void);

/* It computes for so long; others may come first. */
void sgc_sim_spend(double ns);

/* So many words are looked at of lines that were accessed, of which so many lead into the heap. */
void sgc_sim_spend_scan(uint64_t words, uint64_t edges);

/* Sleeps until the word is woken, or for so long (ns, negative: no end).  False if the time is
 * over. */
bool sgc_sim_sleep(const void *word, int64_t ns);
void sgc_sim_wake(const void *word, int count);
void sgc_sim_pause(void);
void sgc_sim_yield(void);

#endif
