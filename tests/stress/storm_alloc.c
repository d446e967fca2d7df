/* SPDX-License-Identifier: MIT */
/*
 * Storm of allocations: threads make, change, check and drop graphs of mixed sizes and kinds, free
 * them explicitly (their own and those other threads made), reallocate, keep objects only through
 * interior pointers, the stack or single registers, and collect whenever they like.
 *
 * Each mutator owns its world; graphs pass between mutators through inboxes, each under its lock.
 */
#include "tests/stress/storm.h"

#include <sched.h>
#include <string.h>

#include "tests/stress/hold.h"
#include "tests/stress/object.h"

enum { ALLOCATE, CHECK, CHANGE, FREE, REMOTE_FREE, REALLOC, UNCOLLECTABLE, STACK, REGISTER, VECTOR, BATCH, ALIGNED,
       STRING, COLLECT };
static const char *const parts[] = { "allocate", "check", "change", "free", "remote-free", "realloc", "uncollectable",
                                     "stack", "register", "vector", "batch", "aligned", "string", "collect", NULL };

#define SLOTS 48
#define INBOX 8
#define MUTATORS_MAX 200

/* What a mutator owns.  The table is conservative memory that only this structure, on the
 * mutator's stack, points to. */
struct world {
    int index;
    struct rng rng;
    struct ref *slot;
    struct ref hidden;          /* an uncollectable object; its address is complemented */
    size_t graph_bytes;
};

struct inbox { pthread_mutex_t lock; int count; struct ref ref[INBOX]; };
static struct inbox inbox[MUTATORS_MAX];

static struct ref *some_slot(struct world *world)
{
    return &world->slot[rng_below(&world->rng, SLOTS)];
}

static void allocate(struct world *world)
{
    struct ref made = graph_make(&world->rng, 1 + rng_below(&world->rng, 2 * world->graph_bytes));
    *some_slot(world) = made;
}

static void free_graph(struct world *world)
{
    struct ref *slot = some_slot(world), graph = *slot;
    *slot = REF_NONE;
    graph_free(graph);
}

/* ---- handing over ---- */

static void give(struct world *world)
{
    struct inbox *to = &inbox[rng_below(&world->rng, (size_t)storm.threads)];
    struct ref *slot = some_slot(world);
    storm_lock(&to->lock);
    if (to->count < INBOX && slot->where) {
        to->ref[to->count++] = *slot;
        *slot = REF_NONE;
    }
    pthread_mutex_unlock(&to->lock);
}

static struct ref take(struct inbox *from)
{
    struct ref got = REF_NONE;
    storm_lock(&from->lock);
    if (from->count > 0) {
        got = from->ref[--from->count];
        from->ref[from->count] = REF_NONE;
    }
    pthread_mutex_unlock(&from->lock);
    return got;
}

static void remote(struct world *world)
{
    give(world);
    for (struct ref got; (got = take(&inbox[world->index])).where != NULL;) {
        graph_check(&got);
        if (rng_once_in(&world->rng, 3))
            *some_slot(world) = got;
        else
            graph_free(got);
    }
}

/* ---- other ways to get and keep memory ---- */

static void resize(struct world *world)
{
    enum object_kind kind = rng_once_in(&world->rng, 2) ? OBJECT_BLOB : OBJECT_NODE;
    uint32_t links = kind == OBJECT_NODE ? 2 : 0;
    struct ref ref = object_make(&world->rng, kind, object_random_size(&world->rng), links);
    if (links)
        *object_link(&ref, 0) = object_make(&world->rng, OBJECT_BLOB, 40, 0);
    for (int i = 0; i < 4; i++) {
        ref = object_resize(&world->rng, ref, object_random_size(&world->rng));
        graph_check(&ref);
    }
    *some_slot(world) = ref;
}

/* The uncollectable object stays without any reference to it, and keeps its graph alive. */
static void uncollectable(struct world *world)
{
    struct ref old = world->hidden;
    if (old.where) {
        old.where = (char *)~(uintptr_t)old.where;
        graph_check(&old);
        graph_free(old);
    }
    struct ref made = object_make(&world->rng, OBJECT_ROOT_NODE, 1 + rng_below(&world->rng, 5000), 2);
    *object_link(&made, 0) = graph_make(&world->rng, world->graph_bytes);
    *object_link(&made, 1) = object_make(&world->rng, OBJECT_ROOT_BLOB, object_random_size(&world->rng), 0);
    made.where = (char *)~(uintptr_t)made.where;
    world->hidden = made;
}

static __attribute__((noinline)) void on_stack(struct world *world, int depth)
{
    struct ref ref[4];
    for (int i = 0; i < 4; i++)
        ref[i] = object_make(&world->rng, i & 1 ? OBJECT_NODE : OBJECT_BLOB, 1 + rng_below(&world->rng, 600), 0);
    if (depth > 0)
        on_stack(world, depth - 1);
    else if (rng_once_in(&world->rng, 4))
        sched_yield();
    for (int i = 0; i < 4; i++)
        object_check(&ref[i]);
}

static void in_register(struct world *world, enum hold_place place, unsigned long spins)
{
    struct ref ref = object_make(&world->rng, OBJECT_BLOB, 1 + rng_below(&world->rng, 300), 0);
    if (rng_once_in(&world->rng, 8))
        hold_across_collection(&ref);
    else if (hold_possible(place))
        hold_object(&ref, place, spins);
    object_check(&ref);
}

static void batch(struct world *world)
{
    size_t size = 16 * (1 + rng_below(&world->rng, 12));
    void *list = GC_malloc_many(size);
    STORM_CHECK(list, "GC_malloc_many(%zu): no memory", size);
    for (int i = 0; list && i < SLOTS / 4; i++) {
        void *next = GC_NEXT(list);
        GC_NEXT(list) = NULL;
        struct ref made = object_adopt(list, OBJECT_NODE, size, 0);
        made.where = list;          /* no end byte here: the first byte only */
        *some_slot(world) = made;
        list = next;
    }
}

static void aligned(struct world *world)
{
    size_t align = (size_t)16 << rng_below(&world->rng, 9), size = object_random_size(&world->rng);
    void *memory = NULL;
    if (rng_once_in(&world->rng, 2))
        memory = GC_memalign(align, size);
    else
        storm_must(GC_posix_memalign(&memory, align, size), "GC_posix_memalign");
    STORM_CHECK(memory && (uintptr_t)memory % align == 0, "%zu bytes aligned to %zu: got %p", size, align, memory);
    object_check_zero(memory, size, "fresh aligned memory");
    memset(memory, 0x5a, size);
    on_stack(world, 0);
    STORM_CHECK(((char *)memory)[size - 1] == 0x5a, "aligned memory at %p changed", memory);
}

static void string(struct world *world)
{
    char text[200];
    size_t length = rng_below(&world->rng, sizeof text - 1);
    memset(text, 'a' + (int)(length % 26), length);
    text[length] = 0;
    char *copy = GC_strdup(text), *part = GC_strndup(text, length / 2);
    on_stack(world, 0);
    STORM_CHECK(copy && !strcmp(copy, text), "GC_strdup of %zu characters", length);
    STORM_CHECK(part && strlen(part) == length / 2, "GC_strndup of %zu characters", length / 2);
    STORM_CHECK(GC_malloc(0) != NULL, "GC_malloc(0) gave no object");
}

static int stop_never(void)
{
    return 0;
}

/* ---- the mutator ---- */

static void step(struct world *world, int part)
{
    switch (part) {
    case ALLOCATE: allocate(world); break;
    case CHECK: graph_check(some_slot(world)); break;
    case CHANGE: graph_change(&world->rng, some_slot(world), world->graph_bytes / 4 + 1); break;
    case FREE: free_graph(world); break;
    case REMOTE_FREE: remote(world); break;
    case REALLOC: resize(world); break;
    case UNCOLLECTABLE: uncollectable(world); break;
    case STACK: on_stack(world, (int)rng_below(&world->rng, 30)); break;
    case REGISTER: in_register(world, HOLD_GENERAL, 3000); break;
    case VECTOR: in_register(world, rng_once_in(&world->rng, 2) ? HOLD_VECTOR : HOLD_WIDE, 3000); break;
    case BATCH: batch(world); break;
    case ALIGNED: aligned(world); break;
    case STRING: string(world); break;
    default:
        if (rng_once_in(&world->rng, 4))
            GC_try_to_collect(stop_never);
        else
            storm_collect();
    }
}

/* How often each part comes, of 1000 steps. */
static const int below[] = { 200, 420, 560, 640, 760, 800, 830, 890, 920, 950, 965, 980, 996, 1000 };

static void mutate(int index)
{
    struct world world = { index, rng_make((uint64_t)index), NULL, REF_NONE, 0 };
    world.slot = GC_malloc(SLOTS * sizeof *world.slot);
    world.graph_bytes = storm.live_bytes / (size_t)storm.threads / SLOTS / 3;
    while (storm_running()) {
        int part = rng_choose(&world.rng, below);
        if (!storm_has(part))
            continue;
        storm_step(parts[part]);
        step(&world, part);
        storm_ran(part);
    }
    for (int i = 0; i < SLOTS; i++)
        graph_check(&world.slot[i]);
    uncollectable(&world);
}

static void body(void)
{
    for (int i = 0; i < MUTATORS_MAX; i++)
        pthread_mutex_init(&inbox[i].lock, NULL);
    storm_on_threads(storm.threads, mutate);
    for (int i = 0; i < storm.threads; i++)
        for (struct ref left; (left = take(&inbox[i])).where != NULL;)
            graph_check(&left);
}

const struct storm_program storm_program = { "storm_alloc", parts, 0, 0, NULL, body, NULL };
