/* SPDX-License-Identifier: MIT */
/*
 * Thread-local variables of modules loaded late are roots in each thread, whether the loader puts a thread's block
 * at a fixed distance from its thread pointer or anywhere, and whether the thread began before or after.
 */

#include "tests/lib/module.h"
#include "tests/lib/white.h"

static sgc_a32_t loaded, holding, let_go;
static void *(*tls_address)(void);

struct holder {
    const char *name;
    pthread_t thread;
    bool uses;                      /* the module */
    uintptr_t held;                 /* inverted */
};

static void await(sgc_a32_t *word)
{
    while (!sgc_a32_load_acq(word))
        sgc_sleep_ns(1000000);
}

static void **place(void)
{
    return (void **)((char *)tls_address() + 64);
}

TEST_NOINLINE static uintptr_t put(void)
{
    void *object = sgc_allocate(WHITE_BYTES, WHITE_KIND);

    *place() = object;
    return white_hidden(object);
}

static void hold(void *arg)
{
    struct holder *h = arg;

    await(&loaded);
    if (h->uses)
        h->held = put();
    scrub_stack();
    sgc_a32_add(&holding, 1);
    await(&let_go);
    if (h->uses)
        *place() = NULL;
}

static void start(struct holder *h)
{
    h->thread = white_start(hold, h);
}

static void begin(void)
{
    sgc_a32_store(&loaded, 0);
    sgc_a32_store(&holding, 0);
    sgc_a32_store(&let_go, 0);
}

static void *load(const char *name)
{
    void *module = module_load(name);

    tls_address = (void *(*)(void))(uintptr_t)module_symbol(module, "module_tls_address");
    sgc_a32_store_rel(&loaded, 1);
    return module;
}

/* What is learnt in one collection is used in the next. */
static void check(const char *module, const struct holder *h, int holders, uintptr_t mine)
{
    for (int i = 0; i < 3; i++)
        white_collect();
    for (int i = 0; i < holders; i++)
        if (h[i].uses)
            tap_ok(white_lives(h[i].held), "%s: an object of a thread %s", module, h[i].name);
    tap_ok(white_lives(mine), "%s: one of the first thread", module);
}

static void finish(struct holder *h, int holders)
{
    sgc_a32_store_rel(&let_go, 1);
    for (int i = 0; i < holders; i++)
        white_join(h[i].thread);
    *place() = NULL;
}

static void test_module(const char *name)
{
    struct holder h[] = {
        { "that began before", 0, true, 0 }, { "that began after", 0, true, 0 }, { "idle", 0, false, 0 },
    };
    void *module;

    begin();
    start(&h[0]);
    module = load(name);
    start(&h[1]);
    start(&h[2]);
    white_reached(&holding, 3);
    check(name, h, 3, white_store(place()));
    finish(h, 3);
    dlclose(module);
}

/* A module with a fixed place is unloaded, and its number given to one without: the vector of a thread that
 * began in between still leads to the former's block. */
static void test_number_used_again(void)
{
    struct holder h[] = { { "with an old vector", 0, false, 0 }, { "that uses it", 0, true, 0 } };
    void *module;

    begin();
    module = module_load("module_static");
    start(&h[0]);
    white_collect();
    dlclose(module);
    module = load("module_small");
    start(&h[1]);
    white_reached(&holding, 2);
    check("after a module with a fixed place", h, 2, white_store(place()));
    finish(h, 2);
    dlclose(module);
}

int main(void)
{
    white_init();
    test_module("module_small");
    test_module("module_large");
    test_module("module_static");
    test_number_used_again();
    return tap_done();
}
