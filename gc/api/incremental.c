/* SPDX-License-Identifier: MIT */
/*
 * The incremental mode, which does not exist here: its settings are checked, kept and answered, as by a build
 * of bdwgc without it.  Any thread, no locks.
 */
#include "gc/api/internal.h"

#include "gc/config/public_vars.h"

/* Each is one word that stands for itself: relaxed. */
struct incremental {
    sgc_a32_t manual_vdb, rate, max_prior_attempts;
    sgc_aw_t time_limit_ns;             /* besides the milliseconds of GC_time_limit */
};

SGC_STATE static struct incremental incremental = {
    .rate = SGC_ATOMIC_INIT(10), .max_prior_attempts = SGC_ATOMIC_INIT(1),
};

void GC_enable_incremental(void)
{
    GC_init();
}

int GC_is_incremental_mode(void)
{
    return 0;
}

void GC_start_incremental_collection(void)
{
}

int GC_incremental_protection_needs(void)
{
    return GC_PROTECTS_NONE;
}

void GC_set_manual_vdb_allowed(int on)
{
    sgc_a32_store(&incremental.manual_vdb, on != 0);
}

int GC_get_manual_vdb_allowed(void)
{
    return (int)sgc_a32_load(&incremental.manual_vdb);
}

/* Keeps the value if it is at least `least`. */
static void keep(const char *function, sgc_a32_t *setting, int value, int least)
{
    sgc_assert(least >= 0);
    if (value < least)
        sgc_warn("%s(%d): expected at least %d; nothing is changed", function, value, least);
    else
        sgc_a32_store(setting, (uint32_t)value);
}

void GC_set_full_freq(int partial)
{
    keep("GC_set_full_freq", &sgc_client_full_freq, partial, 0);
}

int GC_get_full_freq(void)
{
    return (int)sgc_a32_load(&sgc_client_full_freq);
}

void GC_set_rate(int pages)
{
    keep("GC_set_rate", &incremental.rate, pages, 1);
}

int GC_get_rate(void)
{
    return (int)sgc_a32_load(&incremental.rate);
}

void GC_set_max_prior_attempts(int count)
{
    keep("GC_set_max_prior_attempts", &incremental.max_prior_attempts, count, 0);
}

int GC_get_max_prior_attempts(void)
{
    return (int)sgc_a32_load(&incremental.max_prior_attempts);
}

void GC_set_time_limit(unsigned long ms)
{
    sgc_aw_store(&sgc_client_time_limit, ms);
}

unsigned long GC_get_time_limit(void)
{
    return sgc_aw_load(&sgc_client_time_limit);
}

void GC_set_time_limit_tv(struct GC_timeval_s limit)
{
    if (limit.tv_ms == GC_TIME_UNLIMITED)
        limit.tv_nsec = 0;
    if (limit.tv_nsec >= 1000000) {
        sgc_warn("GC_set_time_limit_tv: tv_nsec is %lu; expected less than 1000000, a millisecond; nothing is "
                 "changed", limit.tv_nsec);
        return;
    }
    sgc_aw_store(&sgc_client_time_limit, limit.tv_ms);
    sgc_aw_store(&incremental.time_limit_ns, limit.tv_nsec);
}

struct GC_timeval_s GC_get_time_limit_tv(void)
{
    sgc_assert(sgc_aw_load(&incremental.time_limit_ns) < 1000000);
    return (struct GC_timeval_s){ .tv_ms = sgc_aw_load(&sgc_client_time_limit),
                                  .tv_nsec = sgc_aw_load(&incremental.time_limit_ns) };
}
