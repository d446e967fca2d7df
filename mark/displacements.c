/* SPDX-License-Identifier: MIT */
/* Registering displacements, on any thread. */
#include "mark/displacements.h"

#include "platform/platform.h"
#include "platform/report.h"

/* One byte a distance, in memory of its own: made when a client registers the first, or for the
 * first marker if it needs it, published by a release and read with acquire; bytes only ever become
 * 1. */
SGC_STATE static sgc_aw_t displacements;

SGC_STATE sgc_aw_t sgc_mark_inside;

static sgc_a8_t *displacement_table(void)
{
    return (sgc_a8_t *)sgc_aw_load_acq(&displacements);
}

/* NULL: there is no memory for it. */
static sgc_a8_t *made_table(void)
{
    sgc_a8_t *table = displacement_table();

    if (table != NULL || (table = sgc_mem_obtain(SGC_PAGE)) == NULL)
        return table;
    sgc_a8_store(&table[0], 1);
    if (!sgc_aw_cas(&displacements, 0, (uintptr_t)table))
        sgc_mem_release(table, SGC_PAGE);
    return displacement_table();
}

void sgc_mark_displacement(size_t distance)
{
    sgc_a8_t *table;

    if (distance == 0 || distance >= SGC_PAGE)
        return;
    table = made_table();
    if (table == NULL)
        sgc_warn("no memory to register the displacement %zu; pointers that far inside an object do "
                 "not keep it. Free memory and register it again", distance);
    else
        sgc_a8_store(&table[distance], 1);
}

const sgc_a8_t *sgc_mark_displacements(void)
{
    return made_table();
}

bool sgc_mark_displacement_valid(size_t distance)
{
    const sgc_a8_t *table = displacement_table();

    return distance == 0 ||
           (table != NULL && distance < SGC_PAGE && sgc_a8_load(&table[distance]) != 0);
}

bool sgc_mark_distance_valid(uintptr_t start, size_t distance)
{
    return sgc_mark_displacement_valid(distance) || sgc_inside_counts(start, distance);
}
