/* SPDX-License-Identifier: MIT */
/*
 * Graphs of objects (see object.h).  A graph is a tree as far as its links are followed; links
 * marked REF_BACK close its rings.  So every walk ends, and freeing meets each object once.
 * Runs on the thread that owns the graph.
 */
#include "tests/stress/object.h"

#include <stdatomic.h>

static bool have(const struct ref *ref)
{
    return ref->where != NULL;
}

static struct ref leaf(struct rng *rng, size_t most)
{
    size_t size = rng_once_in(rng, 3) ? 1 + rng_below(rng, most) : 1 + object_random_size(rng) % most;
    return object_make(rng, rng_once_in(rng, 3) ? OBJECT_NODE : OBJECT_BLOB, size, 0);
}

static struct ref tree(struct rng *rng, size_t bytes, int depth)
{
    if (depth == 0 || bytes < 256)
        return leaf(rng, bytes + 1);
    uint32_t links = 1 + (uint32_t)rng_below(rng, 4);
    struct ref root = object_make(rng, OBJECT_NODE, 1 + rng_below(rng, 256), links);
    for (uint32_t i = 0; have(&root) && i < links; i++)
        *object_link(&root, i) = tree(rng, bytes / links, depth - 1);
    return root;
}

/* Built from its end, so that only the newest object is held by the stack.  A ring's last node
 * points back to the first. */
static struct ref list(struct rng *rng, size_t bytes, bool ring)
{
    size_t length = 2 + bytes / 160 % 100;
    struct ref last = object_make(rng, OBJECT_NODE, 1 + rng_below(rng, 128), 2), first = last;
    for (size_t i = 1; have(&first) && i < length; i++) {
        struct ref node = object_make(rng, OBJECT_NODE, 1 + rng_below(rng, 128), 2);
        if (!have(&node))
            break;
        *object_link(&node, 0) = first;
        *object_link(&node, 1) = rng_once_in(rng, 2) ? leaf(rng, 200) : REF_NONE;
        first = node;
    }
    if (ring && have(&first)) {
        struct ref back = ref_elsewhere(rng, first);
        back.offset |= REF_BACK;
        *object_link(&last, 0) = back;
    }
    return first;
}

static struct ref array(struct rng *rng, size_t bytes)
{
    uint32_t links = 1 + (uint32_t)(bytes / 80);
    struct ref root = object_make(rng, OBJECT_NODE, 1, links > 3000 ? 3000 : links);
    for (uint32_t i = 0; have(&root) && i < object_links(&root); i++)
        *object_link(&root, i) = leaf(rng, 64);
    return root;
}

struct ref graph_make(struct rng *rng, size_t bytes)
{
    storm_step("making a graph");
    switch (rng_below(rng, 5)) {
    case 0:
        return list(rng, bytes, false);
    case 1:
        return list(rng, bytes, true);
    case 2:
        return array(rng, bytes);
    case 3:
        return leaf(rng, rng_once_in(rng, 20) ? 2097152 : 2 * bytes + 1);
    default:
        return tree(rng, bytes, 5);
    }
}

size_t graph_check(const struct ref *ref)
{
    if (!have(ref))
        return 0;
    object_check(ref);
    if (ref->offset & REF_BACK)
        return 0;
    size_t bytes = ref->size;
    for (uint32_t i = 0; i < object_links(ref); i++)
        bytes += graph_check(object_link(ref, i));
    return bytes;
}

void graph_free(struct ref ref)
{
    if (!have(&ref) || (ref.offset & REF_BACK))
        return;
    for (uint32_t i = 0; i < object_links(&ref); i++)
        graph_free(*object_link(&ref, i));
    object_free(ref);
}

static void change_link(struct rng *rng, struct ref *link, size_t bytes)
{
    struct ref old = *link;
    switch (rng_below(rng, 4)) {
    case 0:
        *link = REF_NONE;
        break;
    case 1:
        *link = tree(rng, bytes, 2);
        break;
    case 2:
        if (have(link))
            *link = ref_elsewhere(rng, old);
        break;
    default:
        *link = REF_NONE;
        graph_free(old);
    }
}

void graph_change(struct rng *rng, const struct ref *ref, size_t bytes)
{
    storm_step("changing a graph");
    while (have(ref) && object_links(ref) > 0) {
        struct ref *link = object_link(ref, (uint32_t)rng_below(rng, object_links(ref)));
        if (!have(link) || object_links(link) == 0 || rng_once_in(rng, 3)) {
            change_link(rng, link, bytes);
            return;
        }
        ref = link;
    }
}

/* ---- messages ---- */

static _Atomic uint64_t streams = 1000;

static uint64_t message_seal(const struct message *message)
{
    return storm_mix((uintptr_t)message ^ message->stream) | (1ull << 63);
}

struct message *message_make(struct rng *rng, int style)
{
    struct message *message = GC_malloc(sizeof *message);
    STORM_CHECK(message, "no memory for a message");
    message->style = (uint64_t)style;
    message->stream = atomic_fetch_add(&streams, 1);
    message->seal = message_seal(message);
    message->graph = graph_make(rng, 1 + rng_below(rng, 3000));
    return message;
}

void message_check(const struct message *message, const char *came_by)
{
    STORM_CHECK(message->seal == message_seal(message), "the message at %p that came by %s is not there any more: %llx",
                (const void *)message, came_by, (unsigned long long)message->seal);
    graph_check(&message->graph);
}
