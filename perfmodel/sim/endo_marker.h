/* SPDX-License-Identifier: MIT */
/*
 * The marker of [Endo] chapter 3, over the library's deque, termination and mark bits.
 *
 * It takes one object after the other, sets each bit by test and compare-and-swap, halves pieces of
 * more than 256 bytes, and steals one piece under the victim's lock.  All markers begin at once,
 * each with its share of the roots.  Two rules are not in the thesis: thieves look at all markers
 * in turn, beginning with any, and the program's static data is the first marker's.
 */
#ifndef SGC_PERFMODEL_SIM_ENDO_MARKER_H
#define SGC_PERFMODEL_SIM_ENDO_MARKER_H

#include "perfmodel/sim/preset.h"

/* Before a run: makes the markers and deals the roots out.  seed: of the random numbers by which
 * thieves choose the first marker to look at.  False if there is no memory. */
bool sgc_endo_begin(const struct sgc_sim_preset *preset, uint32_t markers, uint32_t seed, const struct sgc_sim_heap *heap);

/* The work of marker i: it marks from its roots, and, if the preset balances, steals until all is
 * marked. */
void sgc_endo_mark(uint32_t i);

void sgc_endo_end(struct sgc_sim_work *work);

#endif
