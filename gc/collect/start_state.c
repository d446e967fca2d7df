/* SPDX-License-Identifier: MIT */
/*
 * How far the start has come.  `state` is the only shared variable: IDLE, then BUSY by a
 * compare-and-swap of the starting thread, then DONE or FAILED by its release.  Before that it may
 * be FORKING for a time, by a compare-and-swap of a thread that forks, so that no child finds a
 * start that nobody goes on with.  `doer`, who has made it BUSY or FORKING, is compared only with
 * the thread that reads it.
 */
#include "gc/collect/start_state.h"

#include <limits.h>

#include "platform/platform.h"
#include "platform/report.h"

enum { IDLE, FORKING, BUSY, DONE, FAILED };

SGC_STATE static sgc_a32_t state;
SGC_STATE static sgc_a32_t doer;
SGC_STATE static sgc_a32_t ended;

bool sgc_init_done(void)
{
    return sgc_a32_load_acq(&state) == DONE;
}

bool sgc_init_begun(void)
{
    return sgc_a32_load_acq(&state) >= BUSY;
}

void sgc_init_end(void)
{
    sgc_assert(sgc_init_done());
    sgc_a32_store_rel(&ended, 1);
}

bool sgc_init_ended(void)
{
    return sgc_a32_load_acq(&ended) != 0;
}

bool sgc_init_mine(void)
{
    uint32_t now = sgc_a32_load_acq(&state);

    return (now == BUSY || now == FORKING) && sgc_a32_load(&doer) == (uint32_t)sgc_thread_id();
}

/* From IDLE, if nobody has started it, waiting for who is at it. */
static bool claim(uint32_t wanted)
{
    uint32_t now;

    sgc_assert(wanted == FORKING || wanted == BUSY);
    while (!sgc_a32_cas(&state, IDLE, wanted)) {
        now = sgc_a32_load_acq(&state);
        if (now == DONE || now == FAILED)
            return false;
        sgc_wait(&state, now, -1);
    }
    sgc_a32_store(&doer, (uint32_t)sgc_thread_id());
    return true;
}

static void finish(uint32_t result)
{
    sgc_assert(sgc_a32_load(&state) == FORKING || sgc_a32_load(&state) == BUSY);
    sgc_a32_store_rel(&state, result);
    sgc_wake(&state, INT_MAX);
}

bool sgc_init_claim(void)
{
    return claim(BUSY);
}

void sgc_init_finish(bool started)
{
    sgc_assert(sgc_init_mine() && sgc_a32_load(&state) == BUSY);
    finish(started ? DONE : FAILED);
}

/* ---- fork ---- */

void sgc_init_hold(void)
{
    if (!sgc_init_mine())
        claim(FORKING);
    sgc_assert(sgc_a32_load_acq(&state) != IDLE);
}

void sgc_init_release(void)
{
    if (sgc_a32_load_acq(&state) == FORKING && sgc_init_mine())
        finish(IDLE);
}

void sgc_init_after_fork(void)
{
    if (sgc_a32_load_acq(&state) == FORKING)
        finish(IDLE);
    sgc_a32_store(&doer, (uint32_t)sgc_thread_id());
}
