/* SPDX-License-Identifier: MIT */
/*
 * Accesses of the simulated collector to memory, one call for each: the only way in which the
 * library, compiled against perfmodel/sim/atomics.h, meets the simulator.
 *
 * The call comes before the access: when it returns, the running marker's clock stands where the
 * access is done, and no other marker has a clock that is behind.  Outside a simulated marker, and
 * within assertions, it does nothing.
 */
#ifndef SGC_PERFMODEL_SIM_ACCESS_H
#define SGC_PERFMODEL_SIM_ACCESS_H

#include <stdint.h>

enum sgc_sim_op {
    SGC_SIM_READ,               /* of what markers share: bits, descriptors, deques, flags */
    SGC_SIM_WRITE,
    SGC_SIM_UPDATE,             /* read, modify and write at once */
    SGC_SIM_WORD,               /* of an object, or of the roots */
    SGC_SIM_ASK,                /* a prefetch: nobody waits for it */
    SGC_SIM_ASK_TO_WRITE,
    SGC_SIM_OPS
};

void sgc_sim_access(const volatile void *address, enum sgc_sim_op op);

/* Not 0: within an assertion, whose accesses are no part of marking. */
extern int sgc_sim_hidden;

#endif
