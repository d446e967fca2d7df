/* SPDX-License-Identifier: MIT */
/*
 * Where an object's descriptor is, if not in its kind, and what follows from that alone: see
 * mark/descriptor.h.  Words of the program's are loaded once each.  On any marker.
 */
#include "mark/descriptor.h"

#include "mark/edge.h"
#include "mark/layouts.h"

/* Where a descriptor that lies in the object does; 1: nowhere. */
static uintptr_t place_inside(uintptr_t start, size_t bytes, uintptr_t distance)
{
    sgc_assert(start % sizeof distance == 0);
    return distance % sizeof distance == 0 && bytes >= sizeof distance && distance <= bytes - sizeof distance
               ? start + distance : 1;
}

SGC_BLIND uintptr_t sgc_descriptor_outside(uintptr_t start, uintptr_t descriptor)
{
    uintptr_t place = sgc_read_once(start);

    sgc_assert((descriptor & SGC_DS_TAGS) == SGC_DS_PER_OBJECT && (intptr_t)descriptor < 0);
    if (place == 0)
        return 0;
    place -= (descriptor & ~(uintptr_t)SGC_DS_TAGS) + SGC_DS_BIAS;
    return place % sizeof place == 0 && place >= SGC_NO_ADDRESS ? place : 1;
}

SGC_BLIND enum sgc_descriptor_is sgc_descriptor_find(uintptr_t start, size_t bytes, bool inside, uintptr_t *descriptor)
{
    sgc_assert(start % sizeof(uintptr_t) == 0);
    for (int hops = 0; (*descriptor & SGC_DS_TAGS) == SGC_DS_PER_OBJECT; hops++) {
        uintptr_t distance = *descriptor & ~(uintptr_t)SGC_DS_TAGS, place;
        bool leads_out = (intptr_t)*descriptor < 0;

        if (leads_out && inside)
            return SGC_DESCRIPTOR_OUTSIDE;
        place = leads_out ? sgc_descriptor_outside(start, *descriptor) : place_inside(start, bytes, distance);
        if (hops == SGC_DESCRIPTOR_HOPS || place == 1)
            return SGC_DESCRIPTOR_NOWHERE;
        if (place == 0)
            return SGC_DESCRIPTOR_NOT_YET;
        *descriptor = sgc_read_once(place);
    }
    return SGC_DESCRIPTOR_HERE;
}

SGC_BLIND bool sgc_array_end_of(uintptr_t start, size_t bytes, struct sgc_array_end *end)
{
    uintptr_t at = start + bytes - sizeof *end;

    if (bytes == SIZE_MAX || bytes < sizeof *end)
        return false;
    *end = (struct sgc_array_end){
        .element_bytes = sgc_read_once(at + offsetof(struct sgc_array_end, element_bytes)),
        .element_descriptor = sgc_read_once(at + offsetof(struct sgc_array_end, element_descriptor)),
        .descriptor = sgc_read_once(at + offsetof(struct sgc_array_end, descriptor)),
    };
    return end->descriptor == sgc_ds_proc(SGC_PROC_ARRAY, 0) && end->element_bytes % sizeof(uintptr_t) == 0 &&
           end->element_bytes != 0 && end->element_bytes <= bytes - sizeof *end;
}

bool sgc_described_words(const struct sgc_marker *marker, struct sgc_work *work)
{
    uintptr_t start = work->start - SGC_WORK_OBJECT, descriptor;
    const struct sgc_kind *kind;

    sgc_assert(sgc_work_ok(work));
    if ((work->start & SGC_WORK_KINDS) != SGC_WORK_OBJECT)
        return false;
    kind = sgc_kind_at(start);
    descriptor = sgc_descriptor_of(kind, work->bytes);
    if (kind->scan != SGC_SCAN_DESCRIBED ||
        sgc_descriptor_find(start, work->bytes, marker->mode.since_run, &descriptor) != SGC_DESCRIPTOR_HERE ||
        (descriptor & SGC_DS_TAGS) != SGC_DS_LENGTH || descriptor > work->bytes || descriptor > SGC_BATCH_BYTES ||
        descriptor < sizeof(uintptr_t))
        return false;
    *work = (struct sgc_work){ start, sgc_round_down(descriptor, sizeof(uintptr_t)) };
    return true;
}
