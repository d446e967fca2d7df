/* SPDX-License-Identifier: MIT */
/*
 * libscm's objects, and its finalizers: a table of functions, whose numbers objects may have.
 *
 * With SGC_SHORTTERM=free objects are uncollectable: a program that was written for malloc may have
 * pointers where the collector does not look.  In the other modes it is the collector that
 * reclaims, and they are objects like others.  SGC_set_expiry_proc registers an object's function,
 * and libsgc calls it.
 *
 *   mode     a thread that needs it first, always     everybody   relaxed: it stands for itself
 *            the same value
 *   count    a thread that registers: atomic add      everybody   acquire-release
 *   fn[n]    the thread that got the number n from    everybody   acquire; 0 until then
 *            `count`, once: release
 */
#include "shortterm/compat/compat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "platform/atomics.h"

/* Bytes: what regions give to objects, and memory to regions, are multiples of it. */
enum { STEP = 16 };

enum { MODE_UNKNOWN = 0, MODE_KNOWN = 1 };      /* added to a mode that is known */

static sgc_a32_t mode;

/* libscm's own settings, where neither the environment nor the program has others.  Runs before the
 * program's constructors, also when this library is a part of the program: the first use of
 * short-term memory settles them. */
__attribute__((constructor(101)))
static void choose(void)
{
    const struct SGC_shortterm wanted = {
        SGC_SHORTTERM_FREE, SCM_MAX_EXPIRATION_EXTENSION, SGC_SHORTTERM_LAZY, 1, SCM_DESCRIPTOR_PAGE_SIZE
    };

    SGC_shortterm_init(&wanted, sizeof wanted);
}

/* The mode, which is read when it is needed first: by then the program has chosen. */
static int current_mode(void)
{
    uint32_t known = sgc_a32_load(&mode);

    if (known == MODE_UNKNOWN) {
        known = (uint32_t)SGC_shortterm_mode() + MODE_KNOWN;
        sgc_a32_store(&mode, known);
    }
    return (int)(known - MODE_KNOWN);
}

void *scm_malloc(size_t size)
{
    void *object;

    sgc_scm_enter();
    object = current_mode() == SGC_SHORTTERM_FREE ? GC_malloc_uncollectable(size) : GC_malloc(size);
    if (object != NULL)
        sgc_scm_count_allocated();
    else
        errno = ENOMEM;
    return object;
}

/* An object with dates goes with these.  Where dates are not counted (pin) any object may have
 * some: the collector has them all.  An address that is no object's first one lies in a region,
 * which goes as a whole, or is a mistake, which GC_free reports. */
void scm_free(void *object)
{
    int dates;

    if (object == NULL)
        return;
    if (!GC_is_heap_ptr(object)) {
        free(object);
        return;
    }
    dates = SGC_dates(object);
    if (dates > 0 || current_mode() == SGC_SHORTTERM_PIN || (dates < 0 && SGC_region_of(object) != NULL))
        return;
    GC_free(object);
    if (dates == 0)
        sgc_scm_count_freed();
}

size_t sgc_scm_usable(void *object)
{
    return SGC_region_of(object) != NULL ? 0 : GC_size(object);
}

/* How many of so many bytes may be copied: of an object in a region, which does not know where its
 * objects end, those up to the end of the region's memory there. */
static size_t readable(const char *object, size_t size)
{
    const SGC_region_t *region = SGC_region_of(object);
    size_t bytes = 0;

    if (region == NULL)
        return GC_size(object) < size ? GC_size(object) : size;
    while (bytes < size && SGC_region_of(object + bytes) == region)
        bytes += STEP;
    return bytes < size ? bytes : size;
}

/* Where it is, if it fits and no more than half is lost; an object with dates keeps them there, and
 * stays as it is if it has to move. */
void *sgc_scm_resize(void *object, size_t size)
{
    size_t bytes = sgc_scm_usable(object);
    void *fresh;

    if (size <= bytes && size >= bytes / 2)
        return object;
    fresh = scm_malloc(size);
    if (fresh == NULL)
        return NULL;
    memcpy(fresh, object, readable(object, size));
    scm_free(object);
    return fresh;
}

/* ---- finalizers ---- */

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
