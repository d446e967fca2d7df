/* SPDX-License-Identifier: MIT */
/* From SGC_PAGE_POLICY and SGC_LPS_K to the heap's page rule. */
#ifndef SGC_GC_CONFIG_PAGE_RULE_H
#define SGC_GC_CONFIG_PAGE_RULE_H

#include "alloc/pages/page_rules.h"

/* Says so if the two contradict each other.  On the initialising thread, when the options are read. */
struct sgc_page_rule sgc_page_rule_from_options(void);

#endif
