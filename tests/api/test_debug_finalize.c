/* SPDX-License-Identifier: MIT */
/*
 * Finalizers of objects with guards get what the client has of the object.
 */
#define GC_DEBUG
#include "api.h"

enum { OBJECTS = 50 };

static int calls, good, data[2];

static void finalize(void *object, void *number)
{
    calls++;
    good += GC_base(object) == (char *)object - GC_get_debug_header_size() && *(char *)object == 'x' &&
            number == &data[0];
}

static void other(void *object, void *number) { (void)object, (void)number; }

static void *make(void *unused)
{
    for (int i = 0; i < OBJECTS; i++) {
        char *object = GC_MALLOC(100);

        *object = 'x';
        GC_REGISTER_FINALIZER_NO_ORDER(object, finalize, &data[0], NULL, NULL);
    }
    return unused;
}

static void check_old(void)
{
    char *object = GC_MALLOC(10), *plain = GC_malloc(10);
    GC_finalization_proc fn = finalize;
    void *was = object;

    GC_REGISTER_FINALIZER(object, other, &data[0], &fn, &was);
    tap_ok(fn == NULL && was == NULL, "nothing was registered before");
    GC_REGISTER_FINALIZER_IGNORE_SELF(object, finalize, &data[1], &fn, &was);
    tap_ok(fn == other && was == &data[0], "the old finalizer is what the client registered");
    GC_REGISTER_FINALIZER_UNREACHABLE(object, NULL, NULL, &fn, &was);
    tap_ok(fn == finalize && was == &data[1], "and when it is removed");
    GC_REGISTER_FINALIZER(object, NULL, NULL, &fn, &was);
    tap_ok(fn == NULL, "then there is none");
    GC_REGISTER_FINALIZER(plain, other, &data[0], NULL, NULL);
    GC_REGISTER_FINALIZER(plain, NULL, NULL, &fn, &was);
    tap_ok(fn == other && was == &data[0], "an object without guards is registered as it is");
}

int main(void)
{
    GC_INIT();
    tap_plan(0);
    api_in_thread(make, NULL);
    for (int i = 0; i < 3; i++) {
        api_collect();
        GC_invoke_finalizers();
    }
    tap_ok(calls >= OBJECTS - 5 && calls <= OBJECTS, "finalizers run once (%d of %d)", calls, OBJECTS);
    tap_ok(good == calls, "with the client's address and data");
    check_old();
    return tap_done();
}
