/* SPDX-License-Identifier: MIT */
/*
 * Finalizers, toggle references and disappearing links as the interface has them.  On any mutator.
 */
#include "gc/api/api.h"

#include "alloc/new_objects.h"
#include "gc/api/hooks.h"
#include "gc/config/public_vars.h"
#include "gc/collect/collect.h"
#include "gc/collect/allocate.h"
#include "gc/finalize/queue.h"
#include "gc/finalize/register.h"
#include "gc/threads/upper.h"

SGC_STATE static sgc_aw_t toggleref_func;       /* GC_toggleref_func; 0: none */
SGC_STATE static sgc_aw_t bytes_per_finalizer = SGC_ATOMIC_INIT(10000);     /* kept and answered only: relaxed */

/* ---- what registering has in common ---- */

/* Programs keep types in the lowest bits of pointers, and bdwgc, which looks at marks by granules,
 * takes such a pointer for the object's: Lisp systems register finalizers and links for their
 * conses like this. */
static inline uintptr_t untagged(const void *object)
{
    return (uintptr_t)object / SGC_GRANULE * SGC_GRANULE;
}

/* There is no memory to remember a registration.  True if the client's hook says to try again;
 * otherwise it is reported. */
static bool memory_made(const char *function, const void *what)
{
    sgc_assert(!sgc_stopped_by_self());
    if (sgc_out_of_memory(SGC_RECORD_BYTES) != NULL)
        return true;
    sgc_warn("%s(%p): no memory to remember it; nothing is changed. Free memory or raise the limit (ulimit -v), and "
             "register it again", function, what);
    return false;
}

/* Says why the address is not the first one of an object. */
static void say_no_object(const char *function, const void *object)
{
    struct sgc_object o;

    if (!sgc_heap_contains((uintptr_t)object))
        sgc_warn("%s(%p): the address is not in the collector's heap; nothing is registered. Pass what GC_malloc and "
                 "its relatives returned", function, object);
    else if (sgc_object_find((uintptr_t)object, &o) && sgc_upper_owns(&o))
        sgc_warn("%s(%p): the address lies in a region of short-term memory; nothing is registered. What is in a region goes "
                 "with it, without a word", function, object);
    else if (sgc_object_find((uintptr_t)object, &o) && o.start != (uintptr_t)object)
        sgc_warn("%s(%p): the address lies %zu bytes inside the object at %p; nothing is registered. Pass the object's "
                 "first address, GC_base() finds it", function, object, (uintptr_t)object - o.start, (void *)o.start);
    else
        sgc_warn("%s(%p): there is no object at this address of the heap; nothing is registered. An object that has "
                 "been freed is gone", function, object);
}

/* ---- finalizers ---- */

static void answer(const struct sgc_finalizer *old, GC_finalization_proc *old_fn, void **old_data)
{
    sgc_assert(old->fn == NULL || sgc_finalizer_ok(old));
    if (old_fn != NULL)
        *old_fn = old->fn;
    if (old_data != NULL)
        sgc_written_store(old_data, old->fn != NULL ? old->data : NULL);
}

static enum sgc_registered try_again(const char *function, struct sgc_mutator *self, void *object,
                                     const struct sgc_finalizer *f, struct sgc_finalizer *old)
{
    sgc_assert(sgc_finalizer_ok(f) && sgc_heap_contains((uintptr_t)object));
    return memory_made(function, object) ? sgc_finalizer_set(self, untagged(object), f, old) : SGC_REGISTERED_NOT;
}

/* Those registered in the hook that pushes roots, until the pause is over: for what the hook has
 * allocated, most likely.  They lie in the heap, and are marked with what else comes from the
 * hook. */
struct deferred {
    struct sgc_node node;
    const char *function;
    void *object;
    struct sgc_finalizer f;
};

SGC_STATE static struct sgc_node_chain deferred;        /* the collecting thread, GC lock held */

static struct deferred *next_of(const struct deferred *d)
{
    return (struct deferred *)sgc_aw_load(&d->node.next);
}

static void find_registered(const void *object, struct sgc_finalizer *old)
{
    sgc_assert(sgc_client_pushing());
    sgc_finalizer_find(untagged(object), old);
    for (const struct deferred *d = (void *)deferred.first; d != NULL; d = next_of(d))
        if (untagged(d->object) == untagged(object))
            *old = d->f;
}

static bool defer(const char *function, struct sgc_mutator *self, void *object, const struct sgc_finalizer *f)
{
    struct deferred *d = sgc_stopped_claim(&self->cache, SGC_KIND_CONSERVATIVE, sgc_class_for(sgc_request_granules(sizeof *d)));

    sgc_assert(sgc_mutator_mine(self) && sgc_client_pushing());
    if (d == NULL) {
        sgc_warn("%s(%p): too much was asked for in the hook of GC_set_push_other_roots; nothing is registered. Register it "
                 "outside", function, object);
        return false;
    }
    *d = (struct deferred){ .function = function, .object = object, .f = *f };
    sgc_written_report_range((uintptr_t)d, sizeof *d);
    sgc_chain_add(&deferred, d);
    return true;
}

/* The finalizer registered before is looked for only if somebody asks. */
static void register_later(const char *function, struct sgc_mutator *self, void *object, const struct sgc_finalizer *f,
                           GC_finalization_proc *old_fn, void **old_data)
{
    struct sgc_finalizer old = { .fn = NULL };

    sgc_assert(sgc_client_pushing() && sgc_finalizer_ok(f));
    if ((old_fn != NULL || old_data != NULL) && sgc_heap_contains((uintptr_t)object))
        find_registered(object, &old);
    if (defer(function, self, object, f))
        answer(&old, old_fn, old_data);
}

static void register_finalizer(const char *function, void *object, const struct sgc_finalizer *f,
                               GC_finalization_proc *old_fn, void **old_data)
{
    struct sgc_mutator *self = sgc_api_self();
    struct sgc_finalizer old = { .fn = NULL };
    enum sgc_registered result = SGC_REGISTERED;

    sgc_assert(sgc_finalizer_ok(f));
    if (self != NULL && sgc_called_by_hook(self)) {
        register_later(function, self, object, f, old_fn, old_data);
        return;
    }
    if (sgc_heap_contains((uintptr_t)object) && !sgc_finding_leaks()) {
        if (self == NULL)
            return;
        result = sgc_finalizer_set(self, untagged(object), f, &old);
    }
    if (__builtin_expect(result > SGC_REGISTERED_AGAIN, 0)) {
        if (result == SGC_REGISTERED_NOT)
            result = try_again(function, self, object, f, &old);
        if (result == SGC_REGISTERED_NO_OBJECT)
            say_no_object(function, object);
    }
    if (result != SGC_REGISTERED_NOT)
        answer(&old, old_fn, old_data);
}

void sgc_client_after(void)
{
    struct deferred *d = (void *)deferred.first;

    sgc_assert(sgc_gc_lock_held() && !sgc_stopped_by_self());
    deferred.first = NULL;
    for (; d != NULL; d = next_of(d))
        register_finalizer(d->function, d->object, &d->f, NULL, NULL);
}

#define REGISTER(name, order) \
    void name(void *object, GC_finalization_proc fn, void *data, GC_finalization_proc *old_fn, void **old_data) \
    { \
        struct sgc_finalizer f = { fn, data, order, (uintptr_t)object % SGC_GRANULE }; \
        register_finalizer(#name, object, &f, old_fn, old_data); \
    }

REGISTER(GC_register_finalizer, SGC_ORDERED)
REGISTER(GC_register_finalizer_ignore_self, SGC_IGNORE_SELF)
REGISTER(GC_register_finalizer_no_order, SGC_NO_ORDER)
REGISTER(GC_register_finalizer_unreachable, SGC_UNREACHABLE)

/* ---- running them ---- */

static bool may_run(const char *function, uintptr_t entry)
{
    sgc_assert(entry != 0);
    if (!sgc_gc_lock_recover(sgc_mutator_self(), entry))
        return true;
    sgc_warn("%s: called by a callback of a collection, or by a thread that holds the allocation lock; no finalizer is "
             "run. Call it afterwards", function);
    return false;
}

int GC_should_invoke_finalizers(void)
{
    return sgc_finalizers_waiting();
}

int GC_invoke_finalizers(void)
{
    struct sgc_mutator *self;

    if (!sgc_finalizers_waiting() || !may_run("GC_invoke_finalizers", sgc_callers_stack_pointer()))
        return 0;
    self = sgc_api_self();
    return self != NULL ? sgc_finalizers_run(self) : 0;
}

/* Do any wait then?  Also those that a collection has found, and puts into the queue while it holds
 * the GC lock. */
static bool enqueue_all(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self) && !sgc_gc_lock_held());
    if (!sgc_finalization_used() || !sgc_external_stop(self))
        return false;
    sgc_finalization_enqueue_all();
    sgc_external_resume(self);
    return sgc_finalizers_waiting();
}

void GC_finalize_all(void)
{
    struct sgc_mutator *self = sgc_api_self();

    if (self == NULL || !may_run("GC_finalize_all", sgc_callers_stack_pointer()))
        return;
    sgc_a32_store(&sgc_finalizers_at_once, 0);
    do
        sgc_finalizers_run(self);
    while (enqueue_all(self));
}

void GC_dump_finalization(void)
{
    struct sgc_mutator *self = sgc_api_self();

    if (self == NULL || !sgc_external_stop(self))
        return;
    sgc_finalization_dump();
    sgc_external_resume(self);
}

/* ---- settings ---- */

SGC_API_SWITCH(finalize_on_demand, sgc_client_finalize_on_demand)
SGC_API_SWITCH(java_finalization, sgc_client_java_finalization)
SGC_API_NUMBER(allocd_bytes_per_finalizer, GC_word, bytes_per_finalizer)

void GC_set_interrupt_finalizers(unsigned count)
{
    sgc_a32_store(&sgc_finalizers_at_once, count);
}

unsigned GC_get_interrupt_finalizers(void)
{
    return sgc_a32_load(&sgc_finalizers_at_once);
}

void GC_set_finalizer_notifier(GC_finalizer_notifier_proc notifier)
{
    sgc_aw_store_rel(&sgc_client_finalizer_notifier, (uintptr_t)notifier);
}

GC_finalizer_notifier_proc GC_get_finalizer_notifier(void)
{
    return (GC_finalizer_notifier_proc)sgc_aw_load_acq(&sgc_client_finalizer_notifier);
}

/* ---- hooks ---- */

SGC_API_HOOK(await_finalize_proc, GC_await_finalize_proc, sgc_finalization.await)
SGC_API_HOOK(toggleref_func, GC_toggleref_func, toggleref_func)

uintptr_t sgc_client_toggle(void *object, uintptr_t now)
{
    GC_toggleref_func hook = GC_get_toggleref_func();

    sgc_assert(sgc_registrable((uintptr_t)object) && sgc_gc_lock_held());
    if (hook == NULL)
        return now;
    switch (hook(object)) {
    case GC_TOGGLE_REF_STRONG:
        return SGC_TOGGLE_STRONG;
    case GC_TOGGLE_REF_WEAK:
        return SGC_TOGGLE_WEAK;
    case GC_TOGGLE_REF_DROP:
        return 0;
    }
    sgc_warn("the function of GC_set_toggleref_func gave no GC_TOGGLE_REF_... for %p; the object is forgotten", object);
    return 0;
}

int GC_toggleref_add(void *object, int is_strong)
{
    struct sgc_mutator *self = sgc_api_self();
    enum sgc_registered result;

    if (self == NULL)
        return GC_NO_MEMORY;
    if (GC_get_toggleref_func() == NULL)
        return GC_SUCCESS;
    result = sgc_toggle_add(self, (uintptr_t)object, is_strong != 0);
    if (result == SGC_REGISTERED_NOT && memory_made("GC_toggleref_add", object))
        result = sgc_toggle_add(self, (uintptr_t)object, is_strong != 0);
    if (result == SGC_REGISTERED_NO_OBJECT)
        say_no_object("GC_toggleref_add", object);
    return result == SGC_REGISTERED_NO_OBJECT ? GC_NOT_FOUND : result == SGC_REGISTERED_NOT ? GC_NO_MEMORY : GC_SUCCESS;
}

/* ---- disappearing links ---- */

static const int codes[] = {
    [SGC_REGISTERED] = GC_SUCCESS, [SGC_REGISTERED_AGAIN] = GC_DUPLICATE, [SGC_REGISTERED_NOT] = GC_NO_MEMORY,
    [SGC_REGISTERED_NO_OBJECT] = GC_NOT_FOUND, [SGC_REGISTERED_NO_LINK] = GC_NOT_FOUND,
    [SGC_REGISTERED_TAKEN] = GC_DUPLICATE,
};

static bool is_word(void *const *link)
{
    return link != NULL && (uintptr_t)link % sizeof *link == 0 &&
           (uintptr_t)link >> SGC_TREE_ADDRESS_BITS == 0;
}

static bool check_word(const char *function, void *const *link)
{
    if (is_word(link))
        return true;
    sgc_warn("%s(%p): expected the address of a word, a multiple of %zu; nothing is registered. Pass the address of a "
             "pointer variable", function, (const void *)link, sizeof *link);
    return false;
}

static int register_slowly(const char *function, enum sgc_link kind, void **link, const void *object)
{
    struct sgc_mutator *self = sgc_api_self();
    enum sgc_registered result;

    if (!check_word(function, link))
        return GC_NOT_FOUND;
    if (sgc_finding_leaks())
        return GC_UNIMPLEMENTED;
    if (self == NULL)
        return GC_NO_MEMORY;
    result = sgc_link_set(self, kind, (uintptr_t)link, untagged(object));
    if (result == SGC_REGISTERED_NOT && memory_made(function, link))
        result = sgc_link_set(self, kind, (uintptr_t)link, untagged(object));
    if (result == SGC_REGISTERED_NO_OBJECT)
        say_no_object(function, object);
    sgc_assert((unsigned)result < sizeof codes / sizeof codes[0] && result != SGC_REGISTERED_NO_LINK);
    return codes[result];
}

static inline int register_link(const char *function, enum sgc_link kind, void **link, const void *object)
{
    struct sgc_mutator *self = sgc_mutator_self();
    enum sgc_registered result;

    if (__builtin_expect(self != NULL && is_word(link) && !sgc_finding_leaks(), 1)) {
        result = sgc_link_set(self, kind, (uintptr_t)link, (uintptr_t)object);
        if (__builtin_expect(result <= SGC_REGISTERED_AGAIN, 1))
            return result == SGC_REGISTERED ? GC_SUCCESS : GC_DUPLICATE;
    }
    return register_slowly(function, kind, link, object);
}

static int move_link(const char *function, enum sgc_link kind, void **from, void **to)
{
    struct sgc_mutator *self = sgc_api_self();
    enum sgc_registered result;

    if (!is_word(from) || !check_word(function, to))
        return GC_NOT_FOUND;
    if (self == NULL)
        return GC_NO_MEMORY;
    result = sgc_link_move(self, kind, (uintptr_t)from, (uintptr_t)to);
    if (result == SGC_REGISTERED_NOT && memory_made(function, to))
        result = sgc_link_move(self, kind, (uintptr_t)from, (uintptr_t)to);
    sgc_assert((unsigned)result < sizeof codes / sizeof codes[0] && result != SGC_REGISTERED_NO_OBJECT);
    return codes[result];
}

static int unregister_link(enum sgc_link kind, void **link)
{
    struct sgc_mutator *self = sgc_api_self();

    return self != NULL && is_word(link) && sgc_link_remove(self, kind, (uintptr_t)link);
}

#define LINKS(kind, to_object, move, unregister) \
    int to_object(void **link, const void *object) { return register_link(#to_object, kind, link, object); } \
    int move(void **from, void **to) { return move_link(#move, kind, from, to); } \
    int unregister(void **link) { return unregister_link(kind, link); }

LINKS(SGC_LINK_SHORT, GC_general_register_disappearing_link, GC_move_disappearing_link, GC_unregister_disappearing_link)
LINKS(SGC_LINK_LONG, GC_register_long_link, GC_move_long_link, GC_unregister_long_link)

int GC_register_disappearing_link(void **link)
{
    struct sgc_object o;

    if (sgc_heap_contains((uintptr_t)link) && sgc_object_find((uintptr_t)link, &o))
        return register_link("GC_register_disappearing_link", SGC_LINK_SHORT, link, (const void *)o.start);
    sgc_warn("GC_register_disappearing_link(%p): the link does not lie in an object of the heap; nothing is "
             "registered. GC_general_register_disappearing_link takes links anywhere", (void *)link);
    return GC_NOT_FOUND;
}
