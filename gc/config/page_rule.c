/* SPDX-License-Identifier: MIT */
/* The page rule.  On the initialising thread; owns nothing. */
#include "gc/config/page_rule.h"

#include "gc/config/option_set.h"
#include "gc/config/options.h"
#include "platform/platform.h"

/* From /sys, since hwloc would call malloc, and the first allocation may be what starts us. */
static uint32_t memory_nodes(void)
{
    struct sgc_topology topology;

    sgc_topology_read_sysfs(&topology, "/sys");
    sgc_assert(topology.nodes > 0);
    return (uint32_t)topology.nodes;
}

struct sgc_page_rule sgc_page_rule_from_options(void)
{
    struct sgc_page_rule rule = { .policy = (enum sgc_page_policy)sgc_options.page_policy };

    sgc_assert((unsigned)sgc_options.page_policy <= SGC_POLICY_LPS);
    if (rule.policy == SGC_POLICY_LPS)
        rule.k = sgc_options.lps_k != 0 ? (uint32_t)sgc_options.lps_k : sgc_lps_auto_k(memory_nodes());
    else if (sgc_options.lps_k != 0)
        sgc_option_clamp(SGC_OPT_SGC_LPS_K, 0, "SGC_PAGE_POLICY chooses a policy without k; leave one of the two out");
    sgc_assert((rule.policy == SGC_POLICY_LPS) == (rule.k != 0));
    return rule;
}
