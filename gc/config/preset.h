/* SPDX-License-Identifier: MIT */
/* Settings that several options make together.  At the start, on the initialising thread, when all
 * options have been read. */
#ifndef SGC_GC_CONFIG_PRESET_H
#define SGC_GC_CONFIG_PRESET_H

#include "alloc/pages/page_rules.h"

/* SGC_PRESET, a combination of the switches of parallel marking that [Endo] ch. 3 compares: gives each switch that nobody set
 * the preset's value, and names switches that contradict the preset or each other. */
void sgc_preset_apply(void);

/* The heap's page rule, from SGC_PAGE_POLICY and SGC_LPS_K.  Says so if the two contradict each other. */
struct sgc_page_rule sgc_page_rule_from_options(void);

#endif
