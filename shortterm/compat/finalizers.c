/* SPDX-License-Identifier: MIT */
/*
 * libscm's finalizers: a table of functions, whose numbers objects may have.  SGC_set_expiry_proc
 * registers an object's function, and libsgc calls it.
 *
 *   count    a thread that registers: atomic add                            everybody   acquire-release
 *   fn[n]    the thread that got the number n from `count`, once: release   everybody   acquire; 0 until then
 */
#include "shortterm/compat/compat.h"

#include "platform/atomics.h"

static struct {
    sgc_a32_t count;
    sgc_aw_t fn[SCM_FINALIZER_TABLE_SIZE];
} table;

/* The count may go beyond the table's end, and only there is it not what it says. */
int scm_register_finalizer(int (*finalizer)(void *))
{
    uint32_t number;

    if (finalizer == NULL || sgc_a32_load_acq(&table.count) >= SCM_FINALIZER_TABLE_SIZE)
        return -1;
    number = sgc_a32_add(&table.count, 1);
    if (number >= SCM_FINALIZER_TABLE_SIZE)
        return -1;
    sgc_aw_store_rel(&table.fn[number], (uintptr_t)finalizer);
    return (int)number;
}

void scm_set_finalizer(void *object, int number)
{
    uintptr_t fn = number >= 0 && number < SCM_FINALIZER_TABLE_SIZE ? sgc_aw_load_acq(&table.fn[number]) : 0;

    if (fn != 0 || number == -1)
        SGC_set_expiry_proc(object, (SGC_expiry_proc)fn);
}
