/* SPDX-License-Identifier: MIT */
/* The heap, object by object, and the stack that is not used.  On any mutator. */
#include "gc/api/api.h"

#include "alloc/whole_heap.h"
#include "gc/api/objects.h"
#include "gc/collect/collect.h"
#include "gc/collect/external_stop.h"

/* ---- all objects ---- */

struct list {
    struct sgc_range *of;               /* NULL: only count */
    size_t count;
    bool complete;
};

static void add(const struct sgc_object *o, void *arg)
{
    struct list *list = arg;

    sgc_assert(sgc_api_object_ok(o));
    if (list->of != NULL)
        list->of[list->count] = (struct sgc_range){ o->start, o->start + o->bytes };
    list->count++;
}

/* The objects are written down with the world stopped, so that the client's function can run with
 * the world running. */
static void list_objects(void *arg)
{
    struct list *list = arg;
    size_t bytes;

    sgc_assert(sgc_stopped_by_self() && list->of == NULL && list->count == 0);
    sgc_walk_objects(add, list);
    bytes = list->count * sizeof *list->of;
    list->of = sgc_mem_obtain(sgc_round_up(bytes + 1, sgc_os_page_size()));
    list->count = 0;
    if (list->of == NULL)
        return;
    sgc_walk_objects(add, list);
    sgc_assert(list->count * sizeof *list->of == bytes);        /* nothing has changed meanwhile */
    list->complete = true;
}

static void visit_list(struct list *list, GC_reachable_object_proc visit, void *data)
{
    size_t bytes = list->count * sizeof *list->of;

    sgc_assert(list->of != NULL);
    for (size_t i = 0; i < list->count; i++)
        visit((void *)list->of[i].lo, list->of[i].hi - list->of[i].lo, data);
    sgc_mem_release(list->of, sgc_round_up(bytes + 1, sgc_os_page_size()));
}

void GC_enumerate_reachable_objects_inner(GC_reachable_object_proc visit, void *data)
{
    struct sgc_mutator *self = sgc_api_self();
    struct list list = { NULL, 0, false };

    if (self == NULL)
        return;
    if (!sgc_gc_lock_recover(self, sgc_callers_stack_pointer())) {
        sgc_warn("GC_enumerate_reachable_objects_inner: this thread does not have the allocation lock; nothing is "
                 "visited. Call it by GC_call_with_alloc_lock");
        return;
    }
    if (!sgc_with_world_stopped(self, list_objects, &list))
        return;
    if (list.complete)
        visit_list(&list, visit, data);
    else
        sgc_warn("GC_enumerate_reachable_objects_inner: no memory for the list of objects; nothing is visited");
}

/* ---- the rest ---- */

enum { UNUSED_STACK = 4096 };

__attribute__((noinline))
void *GC_clear_stack(void *result)
{
    volatile char unused[UNUSED_STACK];

    for (size_t i = 0; i < sizeof unused; i++)
        unused[i] = 0;
    return result;
}

int GC_is_tmp_root(void *address)
{
    (void)address;
    return 0;
}
