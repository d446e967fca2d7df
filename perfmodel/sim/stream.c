/* SPDX-License-Identifier: MIT */
/* See perfmodel/sim/stream.h. */
#include "perfmodel/sim/stream.h"

struct stream {
    sgc_access_fn *access;
    void *arg;
};

static void watch(void *arg, uint32_t marker, uint64_t offset, enum sgc_sim_op op)
{
    const struct stream *stream = arg;
    struct sgc_access access = {
        .address = offset, .node = sgc_sim_home_of(marker, offset),
        .class = op == SGC_SIM_UPDATE ? SGC_MISS_RMW : SGC_MISS_READ,
    };

    sgc_assert(marker == 0);
    if (op != SGC_SIM_ASK && op != SGC_SIM_ASK_TO_WRITE)
        stream->access(stream->arg, &access);
}

bool sgc_sim_stream(const struct sgc_sim_heap *heap, const struct sgc_sim_options *options, sgc_access_fn *access, void *arg,
                    struct sgc_sim_result *result)
{
    struct stream stream = { access, arg };
    struct sgc_sim_options alone = *options;

    alone.markers = 1;
    alone.watch = watch;
    alone.arg = &stream;
    return sgc_simulate(heap, &alone, result);
}
