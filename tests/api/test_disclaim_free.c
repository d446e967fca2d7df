/* SPDX-License-Identifier: MIT */
/*
 * An object that its disclaim procedure has freed is not freed again when that returns, though something else may lie there by
 * now.
 */
#include "api.h"

#include <gc/gc_disclaim.h>

enum {
    OBJECTS = 100,
    READY = 4711,
};

struct thing {
    long ready;
    long number;
    char rest[48];
};

static int kind;
static void *volatile successor[OBJECTS];
static size_t successor_bytes;
static volatile int replaced;

static int frees_itself(void *object)
{
    struct thing *t = object;
    long number = t->ready == READY ? t->number : -1;

    if (number < 0)
        return 0;
    t->ready = 0;
    GC_free(object);
    successor[number] = GC_generic_malloc(successor_bytes, kind);
    replaced += successor[number] == object;
    return 0;
}

static void *make_some(void *arg)
{
    for (int i = 0; i < OBJECTS; i++) {
        struct thing *t = GC_generic_malloc(successor_bytes, kind);

        t->number = i;
        t->ready = READY;
    }
    return arg;
}

static void replace(size_t bytes)
{
    successor_bytes = bytes;
    GC_INIT();
    kind = (int)GC_new_kind(GC_new_free_list(), 0, 1, 1);
    GC_register_disclaim_proc(kind, frees_itself, 0);
    make_some(NULL);
    api_collect();
    for (int i = 0; i < OBJECTS; i++)
        API_CHILD(successor[i] == NULL || GC_base(successor[i]) == successor[i]);
}

static void freed_itself(void) { replace(100000); API_CHILD(replaced > 0); }
static void freed_itself_small(void) { replace(sizeof(struct thing)); API_CHILD(replaced > 0); }

int main(void)
{
    api_check_child(freed_itself, NULL, "a large object");
    api_check_child(freed_itself_small, NULL, "a small one");
    return tap_done();
}
