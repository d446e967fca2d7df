/* SPDX-License-Identifier: MIT */
/*
 * From the options to the heap: SGC_PAGE_POLICY and SGC_LPS_K, and what is said when they contradict each other.
 */
#include "alloc/page_supply.h"
#include "platform/nodes/topology.h"
#include "tests/lib/child.h"
#include "tests/lib/white.h"

static const char *wanted_policy, *wanted_k;
static struct sgc_page_rule expected;

static int start(void)
{
    const struct sgc_page_rule *rule = &sgc_heap.config.page_rule;

    unsetenv("SGC_PAGE_POLICY");
    unsetenv("SGC_LPS_K");
    if (wanted_policy != NULL)
        setenv("SGC_PAGE_POLICY", wanted_policy, 1);
    if (wanted_k != NULL)
        setenv("SGC_LPS_K", wanted_k, 1);
    if (!sgc_init_now())
        return 1;
    return rule->policy == expected.policy && rule->k == expected.k ? 0 : 2;
}

/* `said`: once, in what is said; NULL: nothing is. */
static void check(const char *policy, const char *k, struct sgc_page_rule rule, const char *said)
{
    wanted_policy = policy;
    wanted_k = k;
    expected = rule;
    child_says(start, 0, said, "SGC_PAGE_POLICY=%s SGC_LPS_K=%s", policy != NULL ? policy : "", k != NULL ? k : "");
}

int main(void)
{
    static struct sgc_topology topology;
    sgc_topology_read_allowed(&topology, "/sys", "/proc/self/status");
    const uint32_t k = sgc_lps_auto_k((uint32_t)topology.nodes);
    static const char contradiction[] =
        "SGC_LPS_K=3: auto is used: SGC_PAGE_POLICY chooses a policy without k; leave one of the two out";

    check(NULL, NULL, (struct sgc_page_rule){ SGC_POLICY_LPS, k }, NULL);
    check("ps", NULL, (struct sgc_page_rule){ SGC_POLICY_PS, 0 }, NULL);
    check("al", NULL, (struct sgc_page_rule){ SGC_POLICY_AL, 0 }, NULL);
    check("lps", "3", (struct sgc_page_rule){ SGC_POLICY_LPS, 3 * SGC_K_ONE }, NULL);
    check("lps", "1.5", (struct sgc_page_rule){ SGC_POLICY_LPS, SGC_K_ONE * 3 / 2 }, NULL);
    check("lps", "auto", (struct sgc_page_rule){ SGC_POLICY_LPS, k }, NULL);
    check(NULL, "65536", (struct sgc_page_rule){ SGC_POLICY_LPS, 65536 * SGC_K_ONE }, NULL);
    check("ps", "3", (struct sgc_page_rule){ SGC_POLICY_PS, 0 }, contradiction);
    check("al", "3", (struct sgc_page_rule){ SGC_POLICY_AL, 0 }, contradiction);
    check("lps", "-1", (struct sgc_page_rule){ SGC_POLICY_LPS, k },
          "SGC_LPS_K=-1: out of range; accepted: 1 to 65536, or auto; ");
    check("lps", "0", (struct sgc_page_rule){ SGC_POLICY_LPS, k }, "SGC_LPS_K=0: out of range; ");
    check("as", NULL, (struct sgc_page_rule){ SGC_POLICY_LPS, k }, "SGC_PAGE_POLICY=as: AS of the thesis ");
    check("lsp", "3", (struct sgc_page_rule){ SGC_POLICY_LPS, 3 * SGC_K_ONE }, "SGC_PAGE_POLICY=lsp: ");
    return tap_done();
}
