/* SPDX-License-Identifier: MIT */
/*
 * libscm's objects, how many there are, and its finalizers: a table of functions, whose numbers
 * objects may have.
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
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "platform/atomics.h"

/* ---- figures ----
 *
 * Objects are counted by each thread for itself; what it counted stays when it ends, and the next
 * thread goes on counting there.
 *
 *   all           a thread that makes a record: CAS;       everybody       acquire-release
 *                 nothing is taken away
 *   next, taken   `next` before the record is in the       everybody       acquire-release: hands
 *                 list; `taken` CAS by the thread that                     the counts over
 *                 takes it, a store by the one that has
 *                 it
 *   the counts    the thread that has taken the record     everybody       relaxed: each stands for
 *                                                                          itself
 *   own           the thread                               the thread      none
 *   key           once                                     threads that    pthread_once
 *                                                          count
 */

struct counts {
    struct counts *next;
    sgc_a32_t taken;
    sgc_aw_t allocated, freed;
};

static sgc_aw_t all;
static _Thread_local struct counts *own;
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool key_made;

static void leave(void *raw)
{
    struct counts *counts = raw;

    own = NULL;
    sgc_a32_store_rel(&counts->taken, 0);
}

static void make_key(void)
{
    key_made = pthread_key_create(&key, leave) == 0;
}

static struct counts *take_left(void)
{
    struct counts *counts = (struct counts *)sgc_aw_load_acq(&all);

    while (counts != NULL && !sgc_a32_cas(&counts->taken, 0, 1))
        counts = counts->next;
    return counts;
}

/* In the heap, so that nobody has to know whether malloc is wrapped. */
static struct counts *make(void)
{
    struct counts *counts = GC_malloc_atomic_uncollectable(sizeof *counts);

    if (counts == NULL)
        return NULL;
    memset(counts, 0, sizeof *counts);
    sgc_a32_store(&counts->taken, 1);
    do
        counts->next = (struct counts *)sgc_aw_load_acq(&all);
    while (!sgc_aw_cas(&all, (uintptr_t)counts->next, (uintptr_t)counts));
    return counts;
}

/* NULL: there is no memory, and this is not counted. */
__attribute__((noinline))
static struct counts *begin(void)
{
    own = take_left();
    if (own == NULL)
        own = make();
    pthread_once(&key_once, make_key);
    if (own != NULL && key_made)
        pthread_setspecific(key, own);
    return own;
}

static void count(bool allocated)
{
    struct counts *counts = own != NULL ? own : begin();
    sgc_aw_t *number;

    if (counts == NULL)
        return;
    number = allocated ? &counts->allocated : &counts->freed;
    sgc_aw_store(number, sgc_aw_load(number) + 1);
}

/* ---- objects ---- */

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
        count(true);
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
        count(false);
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

/* ---- figures for the program ---- */

void scm_get_mem_info(struct scm_mem_info *info)
{
    struct SGC_stats heap;
    struct SGC_shortterm_stats dates;

    SGC_get_stats(&heap, sizeof heap);
    SGC_get_shortterm_stats(&dates, sizeof dates);
    *info = (struct scm_mem_info){
        .allocated = heap.allocated_bytes, .freed = heap.freed_bytes, .overhead = dates.date_bytes, .num_freed = dates.freed
    };
    for (const struct counts *c = (struct counts *)sgc_aw_load_acq(&all); c != NULL; c = c->next) {
        info->num_alloc += sgc_aw_load(&c->allocated);
        info->num_freed += sgc_aw_load(&c->freed);
    }
}
