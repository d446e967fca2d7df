/* SPDX-License-Identifier: MIT */
/* SGC_PRESET: combinations of the switches of parallel marking that [Endo] ch. 3 compares. */
#ifndef SGC_GC_CONFIG_PRESET_H
#define SGC_GC_CONFIG_PRESET_H

/* Gives each switch that nobody set the preset's value, and names switches that contradict the preset or each
 * other.  At the start, when all options have been read. */
void sgc_preset_apply(void);

#endif
