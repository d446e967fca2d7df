/* SPDX-License-Identifier: MIT */
/*
 * Storm of large objects: spans of 64 KB to 64 MB, kept by interior pointers only, freed explicitly
 * or by dropping them, beside small objects, under a heap limit that is too low for what the
 * threads want: GC_malloc returns NULL, the thread gives up something and goes on.
 *
 * Each thread owns its table; the limit is set before the threads start.
 */
#include "tests/stress/storm.h"

#include <string.h>

#include "tests/stress/object.h"

enum { ALLOCATE, CHECK, FREE, DROP, REALLOC, ARRAY, OFF_PAGE, NO_MEMORY, HOOK, COLLECT, AFTERWARDS };
static const char *const parts[] = { "allocate", "check", "free", "drop", "realloc", "array", "off-page", "no-memory",
                                     "hook", "collect", "afterwards", NULL };

#define SLOTS 12
#define SMALLEST 65536u
#define LARGEST (64u << 20)

struct world { struct rng rng; struct ref *slot; };

static size_t some_size(struct rng *rng)
{
    size_t most = SMALLEST << rng_below(rng, 11);
    return SMALLEST + rng_below(rng, most);
}

static struct ref *some_slot(struct world *world)
{
    return &world->slot[rng_below(&world->rng, SLOTS)];
}

/* An uncollectable object does not go by being dropped. */
static bool must_be_freed(const struct ref *ref)
{
    return ref->where && (ref_kind(ref) == OBJECT_ROOT_BLOB || ref_kind(ref) == OBJECT_ROOT_NODE);
}

static void empty(struct ref *slot, bool explicitly)
{
    struct ref old = *slot;
    *slot = REF_NONE;
    if (explicitly || must_be_freed(&old))
        graph_free(old);
}

/* Half of what the thread has; small objects must then be possible again. */
static void give_up_something(struct world *world)
{
    storm_step("giving up memory");
    for (int i = 0; i < SLOTS; i += 2)
        empty(&world->slot[i], i % 4);
    storm_ran(NO_MEMORY);
}

static void allocate(struct world *world)
{
    static const enum object_kind kinds[] = { OBJECT_BLOB, OBJECT_NODE, OBJECT_BLOB, OBJECT_ROOT_BLOB };
    enum object_kind kind = kinds[rng_below(&world->rng, 4)];
    struct ref *slot = some_slot(world), made;
    empty(slot, false);
    made = object_make(&world->rng, kind, some_size(&world->rng), kind == OBJECT_NODE ? 3 : 0);
    *slot = made;
    if (!made.where)
        give_up_something(world);
}

/* A large array of references to small objects, some at its far end. */
static void array(struct world *world)
{
    uint32_t links = (uint32_t)(some_size(&world->rng) / sizeof(struct ref) % 100000 + 3000);
    struct ref made = object_make(&world->rng, OBJECT_NODE, 1, links);
    if (!made.where) {
        give_up_something(world);
        return;
    }
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t at = i < 5 ? links - 1 - i : (uint32_t)rng_below(&world->rng, links);
        *object_link(&made, at) = object_make(&world->rng, OBJECT_BLOB, 1 + rng_below(&world->rng, 500), 0);
    }
    struct ref *slot = some_slot(world);
    empty(slot, false);
    *slot = made;
}

static void drop(struct world *world)
{
    struct ref *slot = some_slot(world);
    graph_check(slot);
    empty(slot, false);
}

static void resize(struct world *world)
{
    struct ref *slot = some_slot(world);
    if (slot->where)
        *slot = object_resize(&world->rng, *slot, some_size(&world->rng));
}

/* The client promises to keep a pointer near the beginning, and here it does. */
static void off_page(struct world *world)
{
    size_t size = some_size(&world->rng);
    bool plain = rng_once_in(&world->rng, 2);
    char *volatile start = plain ? GC_malloc_atomic_ignore_off_page(size) : GC_malloc_ignore_off_page(size);
    if (!start) {
        give_up_something(world);
        return;
    }
    struct ref made = object_adopt(start, plain ? OBJECT_BLOB : OBJECT_NODE, size, 0);
    if (rng_once_in(&world->rng, 4))
        GC_gcollect();
    object_check(&made);
    if (rng_once_in(&world->rng, 2))
        object_free(made);
}

static void step(struct world *world, int part)
{
    switch (part) {
    case ALLOCATE: allocate(world); break;
    case CHECK: graph_check(some_slot(world)); break;
    case FREE: empty(some_slot(world), true); break;
    case DROP: drop(world); break;
    case REALLOC: resize(world); break;
    case ARRAY: array(world); break;
    case OFF_PAGE: off_page(world); break;
    default: storm_collect(); break;
    }
}

/* How often each part comes, of 1000 steps; NO_MEMORY and HOOK come by themselves. */
static const int below[] = { 350, 600, 700, 800, 860, 920, 960, 960, 960, 1000 };

static void mutate(int index)
{
    struct world world = { rng_make((uint64_t)index), NULL };
    while (!(world.slot = GC_malloc_uncollectable(SLOTS * sizeof *world.slot)) && storm_running())
        storm_step("waiting for its table");
    while (world.slot && storm_running()) {
        int part = rng_choose(&world.rng, below);
        if (!storm_has(part))
            continue;
        storm_step(parts[part]);
        step(&world, part);
        storm_ran(part);
    }
    for (int i = 0; world.slot && i < SLOTS; i++)
        empty(&world.slot[i], i % 2);
    GC_free(world.slot);
}

static void *GC_CALLBACK out_of_memory(size_t bytes)
{
    STORM_CHECK(bytes > 0, "the hook is told of 0 bytes");
    storm_ran(HOOK);
    return NULL;
}

/* Everything is garbage now: a quarter of the limit must be there in one piece. */
static void afterwards(size_t limit)
{
    struct rng rng = rng_make(7);
    object_may_fail = false;
    storm_collect();
    struct ref big = object_make(&rng, OBJECT_NODE, limit / 4, 0);
    object_check(&big);
    storm_ran(AFTERWARDS);
}

static void GC_CALLBACK say_nothing(char *message, GC_word argument)
{
    (void)message;
    (void)argument;
}

/* About half of what the threads would have alive without it. */
static size_t heap_limit(void)
{
    size_t limit = (64u << 20) + (size_t)storm.threads * (32u << 20);
    return limit < (512u << 20) ? limit : 512u << 20;
}

static void body(void)
{
    size_t limit = heap_limit();
    object_may_fail = true;
    GC_set_warn_proc(say_nothing);
    GC_set_oom_fn(out_of_memory);
    GC_set_max_heap_size(limit);
    storm_on_threads(storm.threads, mutate);
    STORM_CHECK(GC_get_heap_size() <= limit, "a heap of %zu bytes with a limit of %zu", GC_get_heap_size(), limit);
    if (storm_has(AFTERWARDS))
        afterwards(limit);
}

const struct storm_program storm_program = { "storm_large", parts, 0, 1ul << AFTERWARDS, NULL, body, NULL };
