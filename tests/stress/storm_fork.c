/* SPDX-License-Identifier: MIT */
/*
 * Storm of forks: mutators allocate, collect, and fork in the middle of it.  A child checks what it
 * inherited, allocates, collects, makes threads of its own, may fork once more, and ends with a
 * status its parent knows.  Other mutators start programs (posix_spawn) meanwhile.
 *
 * With the part "by-hand" the program calls GC_atfork_prepare, _parent and _child itself, as gc.h
 * describes for GC_set_handle_fork(-1); otherwise the collector does it.
 */
#include "tests/stress/storm.h"

#include <errno.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/stress/object.h"

enum { FORK, CHILD_ALLOCATES, CHILD_COLLECTS, CHILD_THREADS, GRANDCHILD, CHILD_EXITS, SPAWN, COLLECT, BY_HAND };
static const char *const parts[] = { "fork", "child-allocates", "child-collects", "child-threads", "grandchild",
                                     "child-exits", "spawn", "collect", "by-hand", NULL };

#define CHILDREN_MAX 4
#define SLOTS 24
#define DEPTH_MAX 2

extern char **environ;

static _Atomic int children;

/* Inherited by every child and never changed after the start. */
static struct ref heirloom[SLOTS];

struct world { struct rng rng; struct ref *slot; int depth; };

static void fork_body(struct world *world);

static size_t graph_bytes(void)
{
    return storm.live_bytes / ((size_t)storm.threads + 1) / SLOTS / 2;
}

static void allocate(struct world *world)
{
    struct ref *slot = &world->slot[rng_below(&world->rng, SLOTS)], old = *slot;
    graph_check(slot);
    *slot = graph_make(&world->rng, 1 + rng_below(&world->rng, graph_bytes()));
    if (rng_once_in(&world->rng, 4))
        graph_free(old);
}

static void check_all(const struct ref *slot)
{
    for (int i = 0; i < SLOTS; i++)
        graph_check(&slot[i]);
}

/* ---- in the child ---- */

static void *child_thread(void *argument)
{
    storm_enter();
    struct message *message = argument;
    message_check(message, "pthread_create in a forked child");
    struct rng rng = rng_make(message->stream);
    for (int i = 0; i < 20; i++) {
        struct ref graph = graph_make(&rng, 2000);
        if (rng_once_in(&rng, 10))
            storm_collect();
        graph_check(&graph);
    }
    storm_leave();
    return message_make(&rng, 0);
}

static void child_threads(struct world *world)
{
    pthread_t thread[3];
    for (int i = 0; i < 3; i++)
        storm_must(GC_pthread_create(&thread[i], NULL, child_thread, message_make(&world->rng, 0)),
                   "GC_pthread_create in a forked child");
    for (int i = 0; i < 3; i++) {
        void *result;
        storm_must(GC_pthread_join(thread[i], &result), "GC_pthread_join in a forked child");
        message_check(result, "the result of a thread of a forked child");
    }
}

static void child_work(struct world *world)
{
    check_all(world->slot);
    check_all(heirloom);
    for (int i = 0; i < 100; i++)
        allocate(world);
    storm_ran(CHILD_ALLOCATES);
    if (storm_may(CHILD_COLLECTS, &world->rng, 2))
        storm_collect();
    if (storm_may(CHILD_THREADS, &world->rng, 2))
        child_threads(world);
    if (world->depth < DEPTH_MAX && storm_may(GRANDCHILD, &world->rng, 3))
        fork_body(world);
    check_all(world->slot);
    check_all(heirloom);
}

static int expected_status(uint64_t stream)
{
    return 10 + (int)(stream % 100);
}

static _Noreturn void child(struct world *world, uint64_t stream)
{
    storm_forked();
    world->rng = rng_make(stream);
    world->depth++;
    child_work(world);
    if (storm_may(CHILD_EXITS, &world->rng, 4))
        exit(expected_status(stream));
    _exit(expected_status(stream));
}

/* ---- in the parent ---- */

static pid_t fork_by_hand(void)
{
    GC_atfork_prepare();
    pid_t pid = fork();
    if (pid == 0)
        GC_atfork_child();
    else
        GC_atfork_parent();
    return pid;
}

static int wait_for(pid_t pid, const char *what)
{
    int status;
    storm_step(what);
    while (waitpid(pid, &status, 0) != pid)
        STORM_CHECK(errno == EINTR, "waitpid for %s: error %d", what, errno);
    STORM_CHECK(WIFEXITED(status), "%s %d ended by signal %d", what, (int)pid, WTERMSIG(status));
    return WEXITSTATUS(status);
}

static void fork_body(struct world *world)
{
    uint64_t stream = rng_next(&world->rng);
    pid_t pid = storm_has(BY_HAND) ? fork_by_hand() : fork();
    STORM_CHECK(pid >= 0, "fork: error %d", errno);
    if (pid == 0)
        child(world, stream);
    check_all(world->slot);
    int status = wait_for(pid, "a forked child");
    STORM_CHECK(status == expected_status(stream), "a forked child ended with status %d, not %d", status,
                expected_status(stream));
    storm_ran(FORK);
    if (storm_has(BY_HAND))
        storm_ran(BY_HAND);
}

static void spawn(void)
{
    pid_t pid;
    char *argv[] = { "true", NULL };
    storm_must(posix_spawnp(&pid, "true", NULL, NULL, argv, environ), "posix_spawnp");
    int status = wait_for(pid, "a spawned program");
    STORM_CHECK(status == 0, "a spawned program ended with status %d", status);
    storm_ran(SPAWN);
}

static bool may_have_child(void)
{
    if (atomic_fetch_add(&children, 1) < CHILDREN_MAX)
        return true;
    atomic_fetch_sub(&children, 1);
    return false;
}

static void mutate(int index)
{
    struct world world = { rng_make((uint64_t)index), GC_malloc(SLOTS * sizeof(struct ref)), 0 };
    while (storm_running()) {
        storm_step("allocating");
        allocate(&world);
        if (storm_may(COLLECT, &world.rng, 200))
            storm_collect();
        if (!rng_once_in(&world.rng, 50) || !may_have_child())
            continue;
        if (storm_has(SPAWN) && rng_once_in(&world.rng, 4))
            spawn();
        else if (storm_has(FORK))
            fork_body(&world);
        atomic_fetch_sub(&children, 1);
    }
    check_all(world.slot);
}

static void before_init(void)
{
    GC_set_handle_fork(storm_has(BY_HAND) ? -1 : 1);
}

static void body(void)
{
    struct rng rng = rng_make(77);
    for (int i = 0; i < SLOTS; i++)
        heirloom[i] = graph_make(&rng, graph_bytes());
    storm_on_threads(storm.threads, mutate);
    check_all(heirloom);
}

const struct storm_program storm_program = {
    "storm_fork", parts, 1ul << BY_HAND, 0, before_init, body, "AddressSanitizer does not survive a fork beside other threads",
};
