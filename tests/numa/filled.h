/* SPDX-License-Identifier: MIT */
/*
 * A heap that threads of all nodes fill, and where it lies then, by the tests' own questions (tests/numa/nodes.h).
 *
 * A process has one heap, and options are read once: each way to place it is tried in a child of its own, which leaves what it
 * found in shared memory.
 */
#ifndef TESTS_NUMA_FILLED_H
#define TESTS_NUMA_FILLED_H

#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <sys/wait.h>

#include "alloc/pages/homes.h"
#include "alloc/pages/pool.h"
#include "gc/gc.h"
#include "sgc.h"
#include "tests/lib/capture.h"
#include "tests/lib/proc.h"
#include "tests/numa/nodes.h"

enum { FILLED_BYTES = 4000, FILLED_THREADS = NODES_MOST };

/* What a child has found. */
struct filled {
    bool ended;                     /* it came to its end */
    int wrong;                      /* lists that are not as they were made, and what SGC_check has found */
    long heap_bytes;
    struct nodes_spread heap, bits, remote_bits;
    long heap_homes, heap_at_home;  /* OS pages of arenas that have a home, and those that are there */
    long bits_at_arena;             /* OS pages of bits that are on the home of their arena */
    long arenas, bound;             /* arenas, and those that the system has been told to put on their home; */
    long bits_bound, bits_spread;   /* those whose bits it was told to put there, or on all nodes in turn */
    int small_pages;                /* it was told to make no huge pages of bits; -1: it does not say */
    long near, objects;             /* objects in all, and those that are on the node of the thread that made them */
    char said[16384];               /* on standard error */
};

/* ---- filling -------------------------------------------------------------------------------------- */

/* Most of the heap are pointer-free loads, so that collections are short also where the processor is emulated. */
struct filled_item {
    struct filled_item *next;
    long number;
    long *load;
};

struct filled_list {
    int node;                       /* -1: the thread stays where it is put */
    long bytes, length;
    struct filled_item *first;
};

static struct filled_list filled_list[FILLED_THREADS];
static int filled_lists;            /* 0: one on each node that has processors */
static long filled_mb;              /* 0: as CHECK_NUMA_MB says, or 144 */

static bool filled_add_item(struct filled_list *list)
{
    struct filled_item *item = GC_malloc(sizeof *item);

    if (item == NULL || (item->load = GC_malloc_atomic(FILLED_BYTES)) == NULL)
        return false;
    *item->load = item->number = list->length++;
    item->next = list->first;
    list->first = item;
    return true;
}

static void *filled_fill(void *arg)
{
    struct filled_list *list = arg;

    if (list->node >= 0)
        nodes_go_to(list->node);
    for (long i = 0; i < list->bytes / FILLED_BYTES && filled_add_item(list); i++)
        if (i % 16 == 0)
            GC_malloc_atomic(FILLED_BYTES);         /* and dropped at once */
    return NULL;
}

/* The megabytes of a heap that is filled by threads of all nodes. */
static long filled_usual_mb(void)
{
    const char *told = getenv("CHECK_NUMA_MB");

    return told == NULL ? 144 : atol(told);
}

static void filled_use_nodes(void)
{
    filled_mb = filled_usual_mb();
    for (int i = 0; i < nodes.count; i++)
        if (nodes.node[i].processor >= 0)
            filled_list[filled_lists++].node = i;
}

/* Two threads that may run wherever the process may.  For prepare(). */
TEST_UNUSED static void filled_stay(long mb)
{
    filled_mb = mb;
    filled_lists = 2;
    filled_list[0].node = filled_list[1].node = -1;
}

/* Two thirds of the heap are the first thread's, so that what is even on all nodes has been made so. */
static long filled_share(int list)
{
    long all = filled_mb * NODES_MB;

    if (filled_lists == 1)
        return all;
    return list == 0 ? all / 3 * 2 : all / 3 / (filled_lists - 1);
}

/* The threads fill the heap, all at once, then it is collected twice. */
static void filled_heap(void)
{
    pthread_t thread[FILLED_THREADS];

    if (filled_lists == 0)
        filled_use_nodes();
    for (int i = 0; i < filled_lists; i++) {
        filled_list[i].bytes = filled_share(i);
        if (GC_pthread_create(&thread[i], NULL, filled_fill, &filled_list[i]) != 0)
            _exit(3);
    }
    for (int i = 0; i < filled_lists; i++)
        GC_pthread_join(thread[i], NULL);
    GC_gcollect();
    GC_gcollect();
}

static int filled_wrong_in(const struct filled_list *list)
{
    long number = list->length;
    bool whole = list->first != NULL;

    for (const struct filled_item *item = list->first; item != NULL; item = item->next)
        whole = whole && item->number == --number && *item->load == number;
    return whole && number == 0 ? 0 : 1;
}

/* ---- looking --------------------------------------------------------------------------------------- */

/* The system's number of the library's node: both leave nodes without memory out. */
static int filled_number(int index)
{
    for (int i = 0; i < nodes.count; i++)
        if (nodes.node[i].kilobytes > 0 && index-- == 0)
            return i;
    return -1;
}

static void filled_add(struct nodes_spread *all, const struct nodes_spread *one)
{
    for (int i = 0; i < nodes.count; i++)
        all->on[i] += one->on[i];
    all->there += one->there;
    all->absent += one->absent;
}

/* What the system has been told about an address: is memory to be of that node, or of all in turn (node -1)? */
static bool filled_told(const void *address, int node)
{
    unsigned long mask[NODES_MOST / 64 + 1] = { 0 };
    int mode = -1;

    if (syscall(SYS_get_mempolicy, &mode, mask, NODES_MOST + 1ul, address, MPOL_F_ADDR) != 0)
        return false;
    return node < 0 ? mode == MPOL_INTERLEAVE : mode == MPOL_PREFERRED && mask[0] == 1ul << node;
}

static void filled_look_at_arena(struct filled *found, uint32_t arena)
{
    size_t bits = SGC_ARENA_PAGES * SGC_PAGE_WORDS;     /* words of one bitmap */
    struct nodes_spread heap = nodes_of_range((char *)sgc_heap.base + (size_t)arena * SGC_ARENA, SGC_ARENA);
    struct nodes_spread both = nodes_of_range(&sgc_heap.bits[2 * bits * arena], 2 * bits * sizeof(sgc_aw_t));
    int home = sgc_arena_node(arena) < 0 ? -1 : filled_number(sgc_arena_node(arena));

    filled_add(&found->heap, &heap);
    filled_add(&found->bits, &both);
    nodes_add_range(&found->remote_bits, &sgc_heap.remote_bits[bits * arena], bits * sizeof(sgc_aw_t));
    found->arenas++;
    found->bits_spread += filled_told(&sgc_heap.bits[2 * bits * arena], -1);
    if (home < 0)
        return;
    found->bound += filled_told((char *)sgc_heap.base + (size_t)arena * SGC_ARENA, home);
    found->bits_bound += filled_told(&sgc_heap.bits[2 * bits * arena], home);
    found->heap_homes += heap.there;
    found->heap_at_home += heap.on[home];
    found->bits_at_arena += both.on[home];
}

static void filled_look_at_objects(struct filled *found, const struct filled_list *list)
{
    for (const struct filled_item *item = list->first; item != NULL; item = item->next) {
        struct nodes_spread one = { { 0 }, 0, 0 };

        if (item->number % 16 != 0)
            continue;
        nodes_add_range(&one, (const void *)((uintptr_t)item->load & ~(uintptr_t)(NODES_PAGE - 1)), 1);
        found->objects++;
        found->near += one.on[nodes_nearest(list->node)];
    }
}

static void filled_look(struct filled *found)
{
    for (uint32_t arena = 0; arena < sgc_pool.committed; arena++)
        filled_look_at_arena(found, arena);
    for (int i = 0; i < filled_lists; i++) {
        if (filled_list[i].node >= 0)
            filled_look_at_objects(found, &filled_list[i]);
        found->wrong += filled_wrong_in(&filled_list[i]);
    }
    found->small_pages = proc_flag((const void *)sgc_heap.bits, " nh");
    found->wrong += SGC_check();
    found->heap_bytes = (long)GC_get_heap_size();
}

/* ---- what was said ------------------------------------------------------------------------------------ */

TEST_UNUSED static int filled_complaints(const struct filled *found)
{
    return capture_count(found->said, "SGC: warning: ") + capture_count(found->said, "SGC: error: ") +
           capture_count(found->said, "SGC: fatal: ");
}

/* What the report says was found of that part on that node, in KB; -1: nothing. */
TEST_UNUSED static long filled_reported(const struct filled *found, const char *part, int node)
{
    char wanted[64];
    const char *at, *end;

    snprintf(wanted, sizeof wanted, "SGC: %s: ", part);
    at = strstr(found->said, wanted);
    snprintf(wanted, sizeof wanted, "SGC:   node %d: ", node);
    for (; at != NULL && (end = strchr(at, '\n')) != NULL && strncmp(end + 1, "SGC:   node ", 12) == 0; at = end + 1)
        if (strncmp(end + 1, wanted, strlen(wanted)) == 0)
            return atol(end + 1 + strlen(wanted));
    return -1;
}

/* ---- in a child -------------------------------------------------------------------------------------- */

static void filled_run(struct filled *found, bool (*prepare)(void))
{
    if (!prepare())
        _exit(77);
    setenv("SGC_DECAY_MS", "-1", 1);    /* what is looked at stays there */
    GC_init();
    filled_heap();
    filled_look(found);
    found->ended = true;
}

/* A child whose heap is filled after prepare(), which sets options or takes something away; NULL: that cannot be done here.
 * What it says at its end counts. */
TEST_UNUSED static const struct filled *filled_in_child(bool (*prepare)(void))
{
    struct filled *found = mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = -1;
    pid_t child;
    const char *said;

    if (found == MAP_FAILED)
        tap_bail("no memory");
    fflush(NULL);
    capture_begin();
    child = fork();
    if (child == 0) {
        filled_run(found, prepare);
        exit(0);
    }
    waitpid(child, &status, 0);
    said = capture_end();
    snprintf(found->said, sizeof found->said, "%.16000s", said);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        return NULL;
    found->ended = found->ended && status == 0;
    return found;
}

#endif
