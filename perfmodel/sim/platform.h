/* SPDX-License-Identifier: MIT */
/*
 * The operating system of the simulated collector: memory out of one range that the simulator has
 * reserved, and waiting that takes the time of simulated markers.  The functions are those of
 * platform/platform.h, as far as marking calls them.
 */
#ifndef SGC_PERFMODEL_SIM_PLATFORM_H
#define SGC_PERFMODEL_SIM_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reserves `bytes` for all that follows, instead of what there was before.  False if the system
 * refuses. */
bool sgc_sim_platform_begin(size_t bytes);
void sgc_sim_platform_end(void);

/* Its first byte. */
uintptr_t sgc_sim_platform_base(void);
size_t sgc_sim_platform_bytes(void);

/* How much of it has been handed out; and giving back what was after that. */
size_t sgc_sim_platform_used(void);
void sgc_sim_platform_reset(size_t used);

#endif
