/* SPDX-License-Identifier: MIT */
/*
 * Objects that the program frees while they wait for their finalizers, or before they are queued.
 *
 * Also: gc/finalize/queue.c.
 */
#include "api.h"

enum { COUNT = 20, STRAYS = 4, TRIES = 100000 };    /* so many objects a stale word may keep */

static int old_ones, new_ones, wrong;

/* ---- two that free one another ---- */

struct thing {
    struct thing *other;
    long number;
    long rest[6];
};

static int ran[COUNT];
static size_t size;

static void free_other(void *object, TEST_UNUSED void *data)
{
    struct thing *t = object;

    if (t->number < 0 || t->number >= COUNT || ran[t->number]++ != 0) {
        wrong++;
        return;
    }
    GC_free(t->other);
    memset(GC_malloc(size), 0x5a, size);
}

static struct thing *make_thing(long number)
{
    struct thing *t = GC_malloc(size);

    t->number = number;
    GC_register_finalizer_no_order(t, free_other, NULL, NULL, NULL);
    return t;
}

static void make_couples(void)
{
    for (int i = 0; i < COUNT; i++) {
        struct thing *a = make_thing(i), *b = make_thing(i);

        a->other = b;
        b->other = a;
    }
}

static void check_couples(const char *name, size_t bytes)
{
    int count;

    size = bytes;
    memset(ran, 0, sizeof ran);
    wrong = 0;
    api_make(make_couples);
    scrub_stack();
    GC_gcollect();
    count = GC_invoke_finalizers();
    tap_ok(wrong == 0 && count >= COUNT - STRAYS && count <= COUNT && !GC_should_invoke_finalizers(),
           "%s: of two that free one another one is finalized (%d; others %d)", name, count, wrong);
}

/* ---- what lies there afterwards ---- */

static GC_hidden_pointer place[COUNT];

static void old_one(TEST_UNUSED void *object, TEST_UNUSED void *data)
{
    old_ones++;
}

static void new_one(TEST_UNUSED void *object, TEST_UNUSED void *data)
{
    new_ones++;
}

static void make_old(void)
{
    for (int i = 0; i < COUNT; i++) {
        void *p = GC_malloc(sizeof(struct thing));

        place[i] = GC_HIDE_POINTER(p);
        GC_register_finalizer(p, old_one, NULL, NULL, NULL);
    }
}

/* Others at the same addresses. */
static void replace(void)
{
    int found = 0;

    for (int i = 0; i < COUNT; i++)
        GC_free(GC_REVEAL_POINTER(place[i]));
    for (int i = 0; i < TRIES && found < COUNT; i++) {
        void *p = GC_malloc(sizeof(struct thing));

        for (int k = 0; k < COUNT; k++)
            if (GC_HIDE_POINTER(p) == place[k] && ++found)
                GC_register_finalizer(p, new_one, NULL, NULL, NULL);
    }
}

static void check_replaced(void)
{
    api_make(make_old);
    scrub_stack();
    GC_gcollect();
    api_make(replace);
    scrub_stack();
    GC_gcollect();
    GC_invoke_finalizers();
    tap_ok(old_ones == 0 && new_ones >= COUNT - STRAYS, "those that come to lie where freed ones waited are finalized (%d, %d)",
           new_ones, old_ones);
}

/* ---- when the program sees what is to be queued ---- */

static void free_shown(void *object)
{
    GC_free(object);
}

static void check_shown(void)
{
    GC_set_await_finalize_proc(free_shown);
    api_make(make_old);
    scrub_stack();
    GC_gcollect();
    GC_set_await_finalize_proc(NULL);
    GC_invoke_finalizers();
    tap_ok(old_ones == 0, "what is freed when it is shown is not finalized (%d)", old_ones);
}

int main(void)
{
    GC_INIT();
    GC_set_finalize_on_demand(1);
    check_couples("small objects", sizeof(struct thing));
    check_couples("large objects", API_LARGE);
    tap_each(check_replaced, check_shown);
    return tap_done();
}
