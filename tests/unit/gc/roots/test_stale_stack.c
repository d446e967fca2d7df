/* SPDX-License-Identifier: MIT */
/*
 * Words of calls that are over: a collection looks at none below the frame of the client that called us, and the slow
 * ways of allocating leave no address of an object there, where the client's next frames may cover them.
 */
#include <gc.h>
#include "platform/registers.h"
#include "tests/lib/white.h"

enum { LOOKED_AT = 1024 / sizeof(uintptr_t), ALLOCATED = 20000, OBJECTS = 512, SMALL = 64, LARGE = 5000 };

/* ---- what allocating leaves --------------------------------------------------------------------------------- */

static size_t left;

/* Counts the addresses of objects right below the caller's frame.  Calls nothing, which would overwrite them.  The heap's own
 * address is none: there is no object in page 0. */
__attribute__((noinline, no_sanitize("address", "thread")))
static void look_below(void)
{
    const volatile uintptr_t *top = (const volatile uintptr_t *)sgc_stack_pointer();

    for (int i = 1; i <= LOOKED_AT; i++)
        left += top[-i] - sgc_heap.base < sgc_aw_load(&sgc_heap.limit) && top[-i] - sgc_heap.base >= SGC_PAGE;
}

struct five {
    void *a, *b, *c, *d, *e;
};

/* With objects in the registers that calls have to preserve, which ours store in their frames. */
TEST_NOINLINE static void allocate_and_look(struct five *five, size_t bytes)
{
    char *a = five->a, *b = five->b, *c = five->c, *d = five->d, *e = five->e;

    for (int i = 0; i < ALLOCATED; i++) {
        void *object = GC_malloc(bytes);

        look_below();
        if (object == NULL)
            a++, b++, c++, d++, e++;
    }
    *five = (struct five){ a, b, c, d, e };
}

static void test_left(size_t bytes, const char *what)
{
    struct five five = { GC_malloc(SMALL), GC_malloc(SMALL), GC_malloc(SMALL), GC_malloc(SMALL), GC_malloc(SMALL) };

    scrub_stack();
    left = 0;
    allocate_and_look(&five, bytes);
    white_exact_ok(left == 0, "%d %s objects: %zu addresses are left below the caller", ALLOCATED, what, left);
}

/* ---- what a collection looks at ------------------------------------------------------------------------------ */

static uintptr_t hidden[OBJECTS];

TEST_NOINLINE static void make_objects(void)
{
    for (int i = 0; i < OBJECTS; i++)
        hidden[i] = white_hidden(GC_malloc(SMALL));
}

/* Leaves the address of each object in one word below the caller's frame. */
TEST_NOINLINE static void leave_addresses(void)
{
    uintptr_t dead[OBJECTS];

    for (int i = 0; i < OBJECTS; i++)
        ((volatile uintptr_t *)dead)[i] = ~hidden[i];
}

static int survivors(void)
{
    int count = 0;

    for (int i = 0; i < OBJECTS; i++)
        count += white_alive(hidden[i]);
    return count;
}

static void ask(void)
{
    leave_addresses();
    GC_gcollect();
}

static int never(void)
{
    return 0;
}

static void ask_with_stop(void)
{
    leave_addresses();
    GC_try_to_collect(never);
}

static void allocate_until_collected(size_t bytes)
{
    uint64_t before = sgc_cycles_finished();

    while (sgc_cycles_finished() == before) {
        leave_addresses();
        GC_malloc(bytes);
    }
}

static void allocate_small(void)
{
    allocate_until_collected(SMALL);
}

static void allocate_large(void)
{
    allocate_until_collected(LARGE);
}

static void batches(void)
{
    uint64_t before = sgc_cycles_finished();

    while (sgc_cycles_finished() == before) {
        leave_addresses();
        GC_malloc_many(SMALL);
    }
}

enum { TOLERATED = 2 };     /* what the last iteration left in registers; in one of some tries */

static void test_looked_at(void (*collect)(void), const char *what)
{
    int count = OBJECTS;

    for (int i = 0; i < 5 && count > TOLERATED; i++) {
        make_objects();
        collect();
        count = survivors();
    }
    white_exact_ok(count <= TOLERATED, "%s: %d of %d objects kept by words of calls that were over", what, count, OBJECTS);
}

int main(void)
{
    tap_plan(8);
    setenv("SGC_MODE", "stop", 1);      /* signals of another thread's stops leave registers there */
    white_init();
    test_left(SMALL, "small");
    test_left(LARGE, "medium");
    test_left(100000, "large");
    test_looked_at(ask, "GC_gcollect");
    test_looked_at(ask_with_stop, "GC_try_to_collect");
    test_looked_at(allocate_small, "small objects");
    test_looked_at(allocate_large, "larger objects");
    test_looked_at(batches, "batches");
    return tap_done();
}
