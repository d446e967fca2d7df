/* SPDX-License-Identifier: MIT */
/*
 * Areas of intervals (tools/pauses/file.h).  An area that is full doubles its threshold, until at most half of its intervals
 * are left: so a long run loses short intervals only, and how many it lost is counted.
 */
#include <string.h>

#include "tools/pauses/file.h"

enum { BRIEF_NS = 1000 };               /* an allocation or a store that takes less has met nothing */

static const uint64_t capacities[SGC_PAUSES_AREAS] = {
    1 << 17, 1 << 17, 1 << 16, 1 << 16, 1 << 16,
};

size_t sgc_pauses_bytes(void)
{
    size_t intervals = 0;

    for (int i = 0; i < SGC_PAUSES_AREAS; i++)
        intervals += capacities[i];
    return SGC_PAUSES_HEAD_BYTES + intervals * sizeof(struct sgc_pauses_interval);
}

void sgc_pauses_prepare(struct sgc_pauses_file *file, uint64_t least_ns)
{
    const uint64_t least[SGC_PAUSES_AREAS] = { least_ns, least_ns, 0, BRIEF_NS, BRIEF_NS };
    uint64_t offset = SGC_PAUSES_HEAD_BYTES;

    memcpy(file->magic, "sgcpause", sizeof file->magic);
    file->version = SGC_PAUSES_VERSION;
    for (int i = 0; i < SGC_PAUSES_AREAS; i++) {
        struct sgc_pauses_area *area = &file->area[i];

        area->offset = offset;
        area->capacity = capacities[i];
        area->least_ns = area->threshold_ns = least[i];
        offset += capacities[i] * sizeof(struct sgc_pauses_interval);
    }
}

bool sgc_pauses_ok(const struct sgc_pauses_file *file)
{
    bool ok = memcmp(file->magic, "sgcpause", sizeof file->magic) == 0 && file->version == SGC_PAUSES_VERSION;

    for (int i = 0; i < SGC_PAUSES_AREAS; i++) {
        const struct sgc_pauses_area *area = &file->area[i];

        ok = ok && area->capacity == capacities[i] && sgc_aw_load(&area->count) <= area->capacity &&
             area->offset >= SGC_PAUSES_HEAD_BYTES &&
             area->offset + area->capacity * sizeof(struct sgc_pauses_interval) <= sgc_pauses_bytes();
    }
    return ok;
}

static uint64_t length_of(const struct sgc_pauses_interval *interval)
{
    return interval->end_ns - interval->begin_ns;
}

static void drop(struct sgc_pauses_area *area, uint64_t length)
{
    area->dropped++;
    area->dropped_ns += length;
}

/* Keeps those that are as long as the threshold, in their order. */
static void thin_out(struct sgc_pauses_area *area, struct sgc_pauses_interval *kept)
{
    uintptr_t count = sgc_aw_load(&area->count), left = 0;

    for (uintptr_t i = 0; i < count; i++) {
        if (length_of(&kept[i]) < area->threshold_ns)
            drop(area, length_of(&kept[i]));
        else
            kept[left++] = kept[i];
    }
    sgc_aw_store_rel(&area->count, left);
}

static void make_room(struct sgc_pauses_area *area, struct sgc_pauses_interval *kept)
{
    while (sgc_aw_load(&area->count) > area->capacity / 2) {
        area->threshold_ns = area->threshold_ns == 0 ? BRIEF_NS : 2 * area->threshold_ns;
        thin_out(area, kept);
    }
}

static void add(struct sgc_pauses_area *area, struct sgc_pauses_interval *kept, struct sgc_pauses_interval it)
{
    uintptr_t count;

    if (sgc_aw_load(&area->count) == area->capacity)
        make_room(area, kept);
    count = sgc_aw_load(&area->count);
    if (length_of(&it) < area->threshold_ns) {
        drop(area, length_of(&it));
    } else {
        kept[count] = it;
        sgc_aw_store_rel(&area->count, count + 1);
    }
}

void sgc_pauses_add(struct sgc_pauses_file *file, enum sgc_pauses_kind kind, uint64_t begin_ns, uint64_t end_ns)
{
    struct sgc_pauses_area *area = &file->area[kind];
    struct sgc_pauses_interval it = { begin_ns, end_ns };

    if (length_of(&it) < area->least_ns)
        return;
    if (length_of(&it) > length_of(&area->longest))
        area->longest = it;
    add(area, (struct sgc_pauses_interval *)((char *)file + area->offset), it);
}
