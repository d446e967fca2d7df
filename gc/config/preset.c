/* SPDX-License-Identifier: MIT */
/* Settings that several options make together: gc/config/option_set.h.  On the initialising
 * thread. */
#include "gc/config/option_set.h"

#include "platform/nodes/placement.h"
#include "platform/report.h"

struct setting {
    enum sgc_option_id option;
    int64_t value[SGC_PRESET_SIMPLE + 1];       /* by preset */
};

static const int64_t PIECES = INT64_C(128) << 10;

/*                                   opt     no-slo  no-nsb  no-opt  simple
 * SLO is the splitting of large objects, NSB the termination that does not serialise. */
static const struct setting settings[] = {
    { SGC_OPT_SGC_STEALING, { 1, 1, 1, 1, 0 } },
    { SGC_OPT_SGC_SPLIT_BYTES, { PIECES, 0, PIECES, 0, 0 } },
    { SGC_OPT_SGC_TERMINATION,
      { SGC_TERMINATION_FLAGS, SGC_TERMINATION_FLAGS, SGC_TERMINATION_COUNTER, SGC_TERMINATION_COUNTER,
        SGC_TERMINATION_COUNTER } },
    { SGC_OPT_SGC_MARK_STACK_FORM, { SGC_STACK_SPLIT, SGC_STACK_SPLIT, SGC_STACK_SPLIT, SGC_STACK_LOCKED, SGC_STACK_LOCKED } },
    { SGC_OPT_SGC_STEAL, { SGC_STEAL_HALF, SGC_STEAL_HALF, SGC_STEAL_HALF, SGC_STEAL_ONE, SGC_STEAL_ONE } },
};

static void contradiction(const struct sgc_option_row *row, int64_t wanted)
{
    const struct sgc_option_row *preset = &sgc_option_table[SGC_OPT_SGC_PRESET];
    char own[SGC_OPTION_WORDS], name[SGC_OPTION_WORDS], value[SGC_OPTION_WORDS];

    sgc_assert(sgc_option_row_ok(row));
    sgc_assert(sgc_option_number(row) != wanted);
    sgc_warn("%s=%s contradicts SGC_PRESET=%s, which means %s; %s is used. Leave one of the two out", row->name,
             sgc_option_current(row, own, sizeof own), sgc_option_current(preset, name, sizeof name),
             sgc_option_show(row, wanted, value, sizeof value), own);
}

static void apply(const struct setting *s)
{
    const struct sgc_option_row *row = &sgc_option_table[s->option];
    sgc_assert(0 <= sgc_options.preset && sgc_options.preset <= SGC_PRESET_SIMPLE);
    int64_t wanted = s->value[sgc_options.preset];

    sgc_assert(sgc_option_row_ok(row) && sgc_option_accepts(row, wanted));
    if (sgc_option_origin(s->option) == SGC_ORIGIN_DEFAULT)
        sgc_option_store(row, wanted);
    else if (sgc_option_number(row) != wanted && sgc_option_origin(SGC_OPT_SGC_PRESET) != SGC_ORIGIN_DEFAULT)
        contradiction(row, wanted);
}

static void warn_useless(enum sgc_option_id option, const char *why)
{
    if (sgc_option_origin(option) != SGC_ORIGIN_DEFAULT)
        sgc_warn("%s has no effect: %s", sgc_option_table[option].name, why);
}

void sgc_preset_apply(void)
{
    sgc_assert(sgc_options.markers > 0);                /* the number of processors has been asked
                                                         * for */
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        apply(&settings[i]);
    if (!sgc_options.balance) {
        warn_useless(SGC_OPT_SGC_STEAL, "nothing is stolen with SGC_STEALING=off; leave it out");
        warn_useless(SGC_OPT_SGC_MARK_STACK_FORM, "no stack is shared with SGC_STEALING=off; leave it out");
    }
    if (sgc_options.markers == 1)
        warn_useless(SGC_OPT_SGC_MARKBIT,
                     "with GC_MARKERS=1 nobody sets mark bits at the same time; leave it out or use more markers");
}

/* ---- the page rule ---- */

struct sgc_page_rule sgc_page_rule_from_options(void)
{
    struct sgc_page_rule rule = { .policy = (enum sgc_page_policy)sgc_options.page_policy };

    _Static_assert((int)SGC_K_ONE == (int)SGC_RATIO_ONE, "the option's parts are the rule's");
    sgc_assert((unsigned)sgc_options.page_policy <= SGC_POLICY_LPS);
    if (rule.policy == SGC_POLICY_LPS)
        rule.k = sgc_options.lps_k != 0 ? (uint32_t)sgc_options.lps_k : sgc_lps_auto_k((uint32_t)sgc_nodes());
    else if (sgc_options.lps_k != 0)
        sgc_option_clamp(SGC_OPT_SGC_LPS_K, 0, "SGC_PAGE_POLICY chooses a policy without k; leave one of the two out");
    sgc_assert((rule.policy == SGC_POLICY_LPS) == (rule.k != 0));
    return rule;
}
