/* SPDX-License-Identifier: MIT */
/* Whether the values of a machine go together. */
#include "perfmodel/machine/machine_check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

struct finding {
    const char *key;
    char *text;
    size_t size;
};

static bool blame(struct finding *f, const char *key, const char *format, ...) SGC_PRINTF(3, 4);

static bool blame(struct finding *f, const char *key, const char *format, ...)
{
    va_list args;

    sgc_assert(key != NULL && f->size > 0);
    f->key = key;
    va_start(args, format);
    vsnprintf(f->text, f->size, format, args);
    va_end(args);
    return false;
}

static bool is_power_of_two(double value)
{
    uint64_t n = (uint64_t)value;

    sgc_assert(value >= 0);

    return n != 0 && (n & (n - 1)) == 0;
}

/* ---- processors, nodes and memory ---- */

static bool nodes_are_right(const struct sgc_machine *m, struct finding *f)
{
    sgc_assert(m->processors >= 1 && m->nodes >= 1);
    if (fmod(m->processors, m->nodes) != 0)
        return blame(f, "processors",
                     "processors %g: expected a multiple of nodes %g, since all nodes have equally many; "
                     "count those without memory nowhere",
                     m->processors, m->nodes);
    if (m->network == SGC_NETWORK_HYPERCUBE && fmod(m->nodes, m->nodes_a_router) != 0)
        return blame(f, "nodes_a_router",
                     "nodes_a_router %g: expected a divisor of nodes %g, all corners being alike; "
                     "or take network flat",
                     m->nodes_a_router, m->nodes);
    return true;
}

struct memory_keys {
    const char *local, *remote, *occupancy;
};
static const struct memory_keys memory_keys[SGC_MISS_CLASSES] = {
    [SGC_MISS_READ] = { "read_local_ns", "read_remote_ns", "read_occupancy_ns" },
    [SGC_MISS_RMW] = { "rmw_local_ns", "rmw_remote_ns", "rmw_occupancy_ns" },
};

static bool latencies_are_right(const struct sgc_machine *m, enum sgc_miss_class class, struct finding *f)
{
    const struct memory_keys *k = &memory_keys[class];
    const double *latency = m->latency_ns[class];

    sgc_assert(class < SGC_MISS_CLASSES && k->local != NULL);
    if (latency[SGC_FAR] < latency[SGC_NEAR])
        return blame(f, k->remote,
                     "%s %g: expected at least %s %g, what is remote being farther; on a machine with one kind "
                     "of memory give both the same",
                     k->remote, latency[SGC_FAR], k->local, latency[SGC_NEAR]);
    if (m->occupancy_ns[class] > latency[SGC_NEAR])
        return blame(f, k->occupancy,
                     "%s %g: expected at most %s %g, since a request keeps its node busy for a part of its "
                     "own time; measure both without contention",
                     k->occupancy, m->occupancy_ns[class], k->local, latency[SGC_NEAR]);
    return true;
}

/* A read-modify-write reads first. */
static bool classes_are_right(const struct sgc_machine *m, struct finding *f)
{
    static const char *const advice = "a read-modify-write reads first; if you know only reads, give both the same";

    for (int far = SGC_NEAR; far <= SGC_FAR; far++)
        if (m->latency_ns[SGC_MISS_RMW][far] < m->latency_ns[SGC_MISS_READ][far])
            return blame(f, far ? "rmw_remote_ns" : "rmw_local_ns", "%s %g: expected at least that of reads, %g; %s",
                         far ? "rmw_remote_ns" : "rmw_local_ns", m->latency_ns[SGC_MISS_RMW][far],
                         m->latency_ns[SGC_MISS_READ][far], advice);
    if (m->occupancy_ns[SGC_MISS_RMW] < m->occupancy_ns[SGC_MISS_READ])
        return blame(f, "rmw_occupancy_ns", "rmw_occupancy_ns %g: expected at least that of reads, %g; %s",
                     m->occupancy_ns[SGC_MISS_RMW], m->occupancy_ns[SGC_MISS_READ], advice);
    return true;
}

/* ---- caches ---- */

/* The keys of a level are there all or not at all. */
static bool cache_is_whole(const struct sgc_machine_cache *c, int level, struct finding *f)
{
    static const char *const names[] = { "cache1_bytes", "cache2_bytes", "cache3_bytes" };

    sgc_assert(level >= 0 && level < SGC_MACHINE_CACHES);
    if (c->bytes == 0 && (c->ways != 0 || c->line_bytes != 0 || c->hit_ns != 0 || c->shared_by != 0))
        return blame(f, names[level], "cache%d: expected %s beside its other keys; add it, or leave them all out", level + 1,
                     names[level]);
    if (c->bytes != 0 && (c->ways == 0 || c->line_bytes == 0 || c->shared_by == 0))
        return blame(f, names[level],
                     "%s %g: expected cache%d_ways, cache%d_line_bytes, cache%d_hit_ns and cache%d_shared_by "
                     "beside it; add what is missing",
                     names[level], c->bytes, level + 1, level + 1, level + 1, level + 1);
    return true;
}

static bool cache_is_right(const struct sgc_machine *m, int level, struct finding *f)
{
    static const char *const bytes[] = { "cache1_bytes", "cache2_bytes", "cache3_bytes" };
    static const char *const lines[] = { "cache1_line_bytes", "cache2_line_bytes", "cache3_line_bytes" };
    static const char *const hits[] = { "cache1_hit_ns", "cache2_hit_ns", "cache3_hit_ns" };
    static const char *const shared[] = { "cache1_shared_by", "cache2_shared_by", "cache3_shared_by" };
    const struct sgc_machine_cache *c = &m->cache[level], *before = &m->cache[level > 0 ? level - 1 : 0];

    sgc_assert(level >= 0 && level < SGC_MACHINE_CACHES && c->bytes > 0 && c->ways > 0);
    if (!is_power_of_two(c->line_bytes))
        return blame(f, lines[level], "%s %g: expected a power of two; look it up again", lines[level], c->line_bytes);
    if (fmod(c->bytes, c->ways * c->line_bytes) != 0)
        return blame(f, bytes[level], "%s %.15g: expected a multiple of a set, %g ways of %g bytes; correct one of the three",
                     bytes[level], c->bytes, c->ways, c->line_bytes);
    if (c->shared_by > m->processors)
        return blame(f, shared[level], "%s %g: expected at most the %g processors that there are; correct one of the two",
                     shared[level], c->shared_by, m->processors);
    if (level > 0 && c->bytes < before->bytes)
        return blame(f, bytes[level],
                     "%s %.15g: expected at least the %.15g bytes of the cache before it; number them from the "
                     "processor on",
                     bytes[level], c->bytes, before->bytes);
    if (c->hit_ns < before->hit_ns || c->hit_ns > m->latency_ns[SGC_MISS_READ][SGC_NEAR])
        return blame(f, hits[level],
                     "%s %g: expected from that of the cache before it to read_local_ns %g; correct one of them", hits[level],
                     c->hit_ns, m->latency_ns[SGC_MISS_READ][SGC_NEAR]);
    return true;
}

static bool caches_are_right(struct sgc_machine *m, struct finding *f)
{
    m->caches = 0;
    for (int level = 0; level < SGC_MACHINE_CACHES; level++) {
        if (!cache_is_whole(&m->cache[level], level, f))
            return false;
        if (m->cache[level].bytes == 0)
            continue;
        if (level > m->caches)
            return blame(f, "cache3_bytes",
                         "cache3_bytes %.15g: expected a second cache, too; number them from the processor on",
                         m->cache[level].bytes);
        if (!cache_is_right(m, level, f))
            return false;
        m->caches++;
    }
    return true;
}

static bool tlb_is_right(const struct sgc_machine *m, struct finding *f)
{
    if (!is_power_of_two(m->tlb.page_bytes))
        return blame(f, "tlb_page_bytes", "tlb_page_bytes %g: expected a power of two; look it up again", m->tlb.page_bytes);
    if (fmod(m->tlb.entries, m->tlb.ways) != 0)
        return blame(f, "tlb_entries", "tlb_entries %g: expected a multiple of tlb_ways %g; correct one of the two",
                     m->tlb.entries, m->tlb.ways);
    return true;
}

const char *sgc_machine_wrong(struct sgc_machine *m, char *text, size_t size)
{
    struct finding f = { NULL, text, size };

    sgc_assert(m->nodes >= 1 && m->nodes_a_router >= 1 && m->tlb.ways >= 1);

    if (nodes_are_right(m, &f) && latencies_are_right(m, SGC_MISS_READ, &f) && latencies_are_right(m, SGC_MISS_RMW, &f) &&
        classes_are_right(m, &f) && caches_are_right(m, &f))
        tlb_is_right(m, &f);
    return f.key;
}
