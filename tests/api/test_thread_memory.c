/* SPDX-License-Identifier: MIT */
/*
 * What the process has to have for each registered thread, which counts against its limits: little beside the thread's stack.
 * It becomes more when kinds of objects are made, of which each thread keeps something: threads that were there before have
 * it, too, and those that come later; and if the system refuses it, there is no such kind.  With API_PEER it runs on bdwgc's
 * library.
 *
 * Also: alloc/small/cache.c, gc/threads/registry.c, gc/api/kinds.c.
 */
#include "api.h"

#include <gc/gc_mark.h>

#include <stdatomic.h>

#include "../lib/child.h"
#include "../lib/proc.h"
#include "../lib/sanitized.h"

enum { KB = 1 << 10, STACK = 64 * KB, GUARD = 4 * KB, MOST = 64 * KB, THREADS = 32, KINDS = 16 };

static atomic_int closed;               /* the gate */
static atomic_int arrived, wrong;
static int kinds;                       /* written before the gate opens */
static unsigned kind[KINDS];

/* Objects of each kind are whole and their own, and of the kind: what they lead to lives. */
static void *use_kinds(TEST_UNUSED void *unused)
{
    void **volatile object[KINDS];
    GC_hidden_pointer hidden[KINDS];

    for (int i = 0; i < kinds; i++) {
        object[i] = GC_generic_malloc(2 * sizeof(void *), (int)kind[i]);
        object[i][1] = GC_malloc(8);
        hidden[i] = GC_HIDE_POINTER(object[i][1]);
        *(int *)object[i][1] = 1000 + i;
    }
    GC_gcollect();
    for (int i = 0; i < kinds; i++)
        if (object[i][1] != GC_REVEAL_POINTER(hidden[i]) || *(int *)object[i][1] != 1000 + i)
            wrong++;
    return NULL;
}

static void *wait_at_gate(void *unused)
{
    arrived++;
    while (closed)                      /* no lock: with ThreadSanitizer a thread that waits for one takes no signal */
        poll(NULL, 0, 1);
    return use_kinds(unused);
}

static pthread_t thread[THREADS];

static bool create(int n)
{
    pthread_attr_t attributes;
    bool good = true;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    arrived = 0;
    for (int i = 0; good && i < n; i++)
        good = GC_pthread_create(&thread[i], &attributes, wait_at_gate, NULL) == 0;
    while (good && arrived < n)
        usleep(1000);
    pthread_attr_destroy(&attributes);
    return good;
}

/* After the first, with which the collector's own come. */
static int costs_little(void)
{
    size_t before, each;

    GC_INIT();
    if (!create(1))
        return 2;
    api_join_all(thread, 1);
    closed = 1;
    before = proc_address_space();
    if (!create(THREADS))
        return 3;
    each = (proc_address_space() - before) / THREADS;
    closed = 0;
    api_join_all(thread, THREADS);
    tap_diag("%zu KB for each thread", each / KB);
    return each <= STACK + GUARD + MOST ? 0 : 4;
}

static void make_kinds(int n)
{
    while (kinds < n)
        kind[kinds++] = GC_new_kind(GC_new_free_list(), 0 | GC_DS_LENGTH, 1, 1);
}

/* Kinds made before, beside and after threads; records of threads that have ended are used again. */
static int has_all_kinds(void)
{
    GC_INIT();
    make_kinds(2);
    for (int round = 1; round <= 3; round++) {
        closed = 1;
        if (!create(8))
            return 2;
        make_kinds(2 + 2 * round);
        closed = 0;
        api_join_all(thread, 8);
    }
    make_kinds(KINDS - 5);
    if (!create(4))
        return 3;
    api_join_all(thread, 4);
    use_kinds(NULL);
    return wrong == 0 && kind[kinds - 1] != 1 ? 0 : 4;
}

#ifndef API_PEER
/* The limit is what there is already. */
static unsigned kind_without_memory(void)
{
    struct rlimit had;
    unsigned made;

    getrlimit(RLIMIT_AS, &had);
    setrlimit(RLIMIT_AS, &(struct rlimit){ proc_address_space(), had.rlim_max });
    made = GC_new_kind(GC_new_free_list(), 0 | GC_DS_LENGTH, 1, 1);
    setrlimit(RLIMIT_AS, &had);
    return made;
}

static int refused(void)
{
    unsigned made;

    GC_INIT();
    closed = 1;
    if (!create(THREADS))
        return 2;
    made = kind_without_memory();
    make_kinds(1);
    closed = 0;
    api_join_all(thread, THREADS);
    return made == 1 && kind[0] > 1 && wrong == 0 ? 0 : 4;
}

static void test_refused(void)
{
    child_says(refused, 0, "GC_new_kind: the system has no memory for what each thread keeps of a kind; 1 is returned",
               "a kind that the system has no memory for is not made, and said; later it is made");
}
#else
static void test_refused(void) {}
#endif

int main(void)
{
    if (TEST_SANITIZED)
        tap_skip("what a thread costs: a sanitizer has its own");
    else
        child_ok(costs_little, "a thread costs at most %d KB beside its stack", MOST / KB);
    child_ok(has_all_kinds, "each thread has objects of each kind, whenever it was made");
    if (!TEST_SANITIZED)
        test_refused();
    return tap_done();
}
