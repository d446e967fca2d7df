/* SPDX-License-Identifier: MIT */
/*
 * Programs that keep the type of an object in the lowest bits of its pointers hand such pointers to the functions that
 * register finalizers and links, as they are: ECL does with its conses.
 */
#include "api.h"

enum { TAGS = 16, COUNT = 20 * TAGS };

#define FINALIZER_ARGUMENTS void *object, void *data
typedef void register_fn(void *, GC_finalization_proc, void *, GC_finalization_proc *, void **);

static GC_hidden_pointer registered[COUNT];
static bool given_back[COUNT];
static int calls;
static void *outside[COUNT];            /* links; what they hold is hidden */

static void note(FINALIZER_ARGUMENTS)
{
    size_t i = (GC_hidden_pointer *)data - registered;

    calls++;
    given_back[i] = !given_back[i] && registered[i] == GC_HIDE_POINTER(object);
}

static char *tagged(size_t i)
{
    return (char *)GC_malloc(16 + i % 50) + i % TAGS;
}

static register_fn *way;

static void make(void)
{
    for (size_t i = 0; i < COUNT; i++) {
        char *object = tagged(i);

        given_back[i] = false;
        registered[i] = GC_HIDE_POINTER(object);
        way(object, note, &registered[i], NULL, NULL);
    }
}

static int right(void)
{
    int n = 0;

    for (size_t i = 0; i < COUNT; i++)
        n += given_back[i];
    return n;
}

static void check_finalizers(register_fn *fn, const char *name)
{
    way = fn;
    calls = 0;
    api_run(make);
    scrub_stack();
    GC_gcollect();
    api_in_thread(api_invoke_finalizers, NULL);
    tap_ok(calls == COUNT && right() == COUNT, "%s: the finalizer gets the pointer as it was registered (%d of %d calls)", name,
           right(), calls);
}

/* With the tag or without, it is the same object. */
static void check_replaced(void)
{
    char *object = GC_malloc(32);
    GC_finalization_proc old = NULL;
    void *data = NULL;

    GC_register_finalizer(object + 3, note, &registered[1], NULL, NULL);
    GC_register_finalizer(object, NULL, NULL, &old, &data);
    tap_ok(old == note && data == &registered[1], "what was registered by a tagged pointer is the object's");
    GC_register_finalizer(object + 3, NULL, NULL, &old, &data);
    tap_ok(old == NULL && data == NULL, "and can be removed");
    GC_reachable_here(object);
}

typedef int link_fn(void **link, const void *object);

static link_fn *linked;
static void *living[2];

static void link_all(void)
{
    for (size_t i = 0; i < COUNT; i++) {
        char *object = tagged(i);

        outside[i] = (void *)GC_HIDE_POINTER(object);
        if (linked(&outside[i], object) != GC_SUCCESS)
            outside[i] = &outside;
    }
}

static int cleared(void)
{
    int n = 0;

    for (size_t i = 0; i < COUNT; i++)
        n += outside[i] == NULL;
    return n;
}

static void check_links(link_fn *fn, const char *name)
{
    char *object = GC_malloc(32);
    void **word = &living[fn == GC_register_long_link];

    linked = fn;
    api_run(link_all);
    scrub_stack();
    *word = (void *)GC_HIDE_POINTER(object);
    fn(word, object + 7);
    GC_gcollect();
    tap_ok(cleared() == COUNT && *word != NULL,
           "%s: links are cleared when the object dies that a tagged pointer led to (%d of %d)", name, cleared(), COUNT);
    GC_reachable_here(object);
}

int main(void)
{
    GC_set_finalize_on_demand(1);
    GC_INIT();
    check_finalizers(GC_register_finalizer, "GC_register_finalizer");
    check_finalizers(GC_register_finalizer_ignore_self, "GC_register_finalizer_ignore_self");
    check_finalizers(GC_register_finalizer_no_order, "GC_register_finalizer_no_order");
    check_finalizers(GC_register_finalizer_unreachable, "GC_register_finalizer_unreachable");
    if (api_on_sgc)                     /* bdwgc takes them for two */
        check_replaced();
    check_links(GC_general_register_disappearing_link, "GC_general_register_disappearing_link");
    check_links(GC_register_long_link, "GC_register_long_link");
    return tap_done();
}
