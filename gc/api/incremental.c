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

SGC_API_SWITCH(manual_vdb_allowed, incremental.manual_vdb)
SGC_API_AT_LEAST(full_freq, 0, sgc_client_full_freq)
SGC_API_AT_LEAST(rate, 1, incremental.rate)
SGC_API_AT_LEAST(max_prior_attempts, 0, incremental.max_prior_attempts)
SGC_API_NUMBER(time_limit, unsigned long, sgc_client_time_limit)

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
