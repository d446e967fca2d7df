/* SPDX-License-Identifier: MIT */
/* Messages (see message.h).  A message belongs to one thread at a time. */
#include "tests/stress/message.h"

#include <stdatomic.h>

static _Atomic uint64_t streams = 1000;

static uint64_t seal(const struct message *message)
{
    return storm_mix((uintptr_t)message ^ message->stream) | (1ull << 63);
}

struct message *message_make(struct rng *rng, int style)
{
    struct message *message = GC_malloc(sizeof *message);
    STORM_CHECK(message, "no memory for a message");
    message->style = (uint64_t)style;
    message->stream = atomic_fetch_add(&streams, 1);
    message->seal = seal(message);
    message->graph = graph_make(rng, 1 + rng_below(rng, 3000));
    return message;
}

void message_check(const struct message *message, const char *came_by)
{
    STORM_CHECK(message->seal == seal(message), "the message at %p that came by %s is not there any more: %llx",
                (const void *)message, came_by, (unsigned long long)message->seal);
    graph_check(&message->graph);
}
