/* SPDX-License-Identifier: MIT */
/*
 * libscm's figures.  Objects are counted by each thread for itself; what it counted stays when it
 * ends, and the next thread goes on counting there.
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
#include "shortterm/compat/compat.h"

#include <pthread.h>
#include <string.h>

#include "platform/atomics.h"

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

void sgc_scm_count_allocated(void)
{
    count(true);
}

void sgc_scm_count_freed(void)
{
    count(false);
}

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
