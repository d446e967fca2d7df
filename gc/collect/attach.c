/* SPDX-License-Identifier: MIT */
/* Threads that come without being registered.  Each function runs on the thread it is about.  See gc/collect/attach.h. */
#include "gc/collect/attach.h"

#include "gc/collect/start.h"
#include "gc/collect/start_state.h"
#include "platform/report.h"

bool sgc_mutator_unborn(void)
{
    return sgc_mutator_registering() || sgc_init_mine();
}

struct sgc_mutator *sgc_mutator_admit(void)
{
    sgc_assert(sgc_self == NULL);
    return sgc_init_done() || sgc_init_now() ? sgc_mutator_register(0) : NULL;
}

struct sgc_mutator *sgc_mutator_adopt(void)
{
    static SGC_STATE sgc_a32_t said;

    if (sgc_mutator_registering() || (!sgc_init_done() && !sgc_init_now()))
        return NULL;
    if (sgc_self == NULL && sgc_a32_swap(&said, 1) == 0)
        sgc_warn("thread %d allocates without being registered; it is registered from now on. Create "
                 "threads with GC_pthread_create (define GC_THREADS before including gc.h), call "
                 "GC_register_my_thread first, or start the program with sgc-run",
                 sgc_thread_id());
    sgc_assert(sgc_init_done());
    return sgc_mutator_register(0);
}
