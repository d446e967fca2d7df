/* SPDX-License-Identifier: MIT */
/*
 * Programs that allocate, and register finalizers for what they have allocated, in the hook of GC_set_push_other_roots, with
 * the world stopped.  On bdwgc that works as long as there is one thread, and Crystal's run-time system relies on that.
 *
 * Also: alloc/new_objects.c.
 */
#include "api.h"

#include <stdatomic.h>

#include "tests/lib/sanitized.h"

enum { EACH = 300, ROUNDS = 40, KEPT = 2000, WORKERS = 2 };

struct item {
    struct item *next;
    GC_word *hidden_before;     /* an object that nothing else points at any more */
    size_t bytes;
    unsigned char filled;
};

static struct item *kept;               /* what hooks have allocated, newest first */
static size_t kept_count;
static GC_hidden_pointer secret;        /* an object that only the hook knows */
static bool keeps;
static int wrong;
static GC_push_other_roots_proc before;

static size_t bytes_of(unsigned i)
{
    static const size_t bytes[] = { 32, 40, 48, 100, 300, 1000, 2500, 8000 };

    return bytes[i % 8];
}

static void check_new(const unsigned char *p, size_t bytes)
{
    for (size_t i = 0; p != NULL && i < bytes; i++)
        wrong += p[i] != 0;
    wrong += p == NULL || GC_base((void *)p) != p || GC_size(p) < bytes;
}

static void keep(struct item *p, size_t bytes)
{
    p->bytes = bytes;
    p->filled = (unsigned char)(kept_count % 251);
    memset(p + 1, p->filled, bytes - sizeof *p);
    p->hidden_before = GC_REVEAL_POINTER(secret);
    p->next = kept;
    kept = p;
    kept_count++;
}

static atomic_int registered;

static void register_one(void *object)
{
    GC_finalization_proc old = api_count;

    GC_register_finalizer_ignore_self(object, api_count, NULL, &old, NULL);
    wrong += old != NULL;
    atomic_fetch_add(&registered, 1);
}

/* Much more than the last time is not to be had. */
static void hook(void)
{
    static unsigned most = 10;

    most = most * 2 < EACH ? most * 2 : EACH;
    for (unsigned i = 0; i < most; i++) {
        size_t bytes = bytes_of(i);
        void *p = GC_malloc(bytes);

        check_new(p, bytes);
        if (keeps && kept_count < KEPT && i % 8 != 0)
            keep(p, bytes);
        memset(GC_malloc_atomic(bytes), 0xff, bytes);
        if (i % 50 == 7)
            register_one(p);
    }
    if (before != NULL)
        before();
}

static bool intact(void)
{
    size_t n = 0;

    for (const struct item *p = kept; p != NULL; p = p->next, n++) {
        const unsigned char *rest = (const unsigned char *)(p + 1);

        for (size_t i = 0; i < p->bytes - sizeof *p; i++)
            if (rest[i] != p->filled)
                return false;
        if (GC_base((void *)p) != p || p->hidden_before == NULL || *p->hidden_before != 0x5ec2e7)
            return false;
    }
    return n == kept_count;
}

static void make_secret(void)
{
    GC_word *word = GC_malloc(API_LARGE);

    *word = 0x5ec2e7;
    secret = GC_HIDE_POINTER(word);
}

/* Not collected before the hook has it. */
static void renew_secret(GC_push_other_roots_proc who)
{
    GC_disable();
    api_run(make_secret);
    keeps = true;
    GC_set_push_other_roots(who);
    GC_enable();
}

static void check_kept(void)
{
    renew_secret(hook);
    for (int i = 0; i < ROUNDS; i++) {
        GC_gcollect();
        for (int j = 0; j < 500; j++)
            memset(GC_malloc(bytes_of((unsigned)j)), 0xee, bytes_of((unsigned)j));
    }
    keeps = false;
    tap_ok(wrong == 0, "what the hook allocates is zeroed, an object of its own, and large enough (%d are not)", wrong);
    tap_ok(kept_count == KEPT && intact(), "it lives as long as something points at it, with what it points at (%zu)",
           kept_count);
}

static void check_dropped(void)
{
    size_t heap;

    kept = NULL;
    kept_count = 0;
    for (int i = 0; i < 5; i++)
        GC_gcollect();
    heap = GC_get_heap_size();
    for (int i = 0; i < 300; i++)
        GC_gcollect();
    GC_invoke_finalizers();
    tap_ok(api_finalized > atomic_load(&registered) / 2, "finalizers registered in the hook run (%d of %d)",
           api_finalized, atomic_load(&registered));
    tap_ok(GC_get_heap_size() <= heap + (4 << 20), "and is collected otherwise: the heap does not grow (%zu, then %zu KB)",
           heap >> 10, GC_get_heap_size() >> 10);
}

/* ---- registered more than once --------------------------------------------------------------- */

static void *twice;                     /* objects that live */
static int first_calls, last_calls;
static bool answers;

static void first(TEST_UNUSED void *object, TEST_UNUSED void *data)
{
    first_calls++;
}

static void last(TEST_UNUSED void *object, TEST_UNUSED void *data)
{
    last_calls++;
}

/* Says what was registered before. */
static bool replace(void *object, GC_finalization_proc fn, GC_finalization_proc expected)
{
    GC_finalization_proc was = api_count;
    void *data = &data;

    GC_register_finalizer(object, fn, &twice, &was, &data);
    return was == expected && data == (expected != NULL ? &twice : NULL);
}

static void register_again(void)
{
    if (twice == NULL)
        return;
    answers = replace(GC_malloc(50), first, NULL);
    answers &= replace(twice, last, first);
    GC_register_finalizer(twice, first, &twice, NULL, NULL);
    GC_register_finalizer(twice, NULL, NULL, NULL, NULL);
    answers &= replace(twice, first, NULL);
    answers &= replace((char *)twice + 3, last, first);
    twice = NULL;
}

static void make_twice(void)
{
    twice = GC_malloc(50);
    GC_register_finalizer(twice, first, &twice, NULL, NULL);
}

/* As anywhere else the last word counts, and who asks is told what was registered. */
static void check_again(void)
{
    api_run(make_twice);
    GC_set_push_other_roots(register_again);
    GC_gcollect();
    GC_set_push_other_roots(before);
    api_collect();
    GC_invoke_finalizers();
    tap_ok(last_calls == 1 && first_calls == 1, "what the hook registers last counts (%d of 1, %d of 1)", last_calls,
           first_calls);
    tap_ok(answers, "and it is told what was registered before");
}

/* ---- other threads --------------------------------------------------------------------------- */

static atomic_int over;

static void *work(void *bad)
{
    while (!atomic_load(&over)) {
        size_t bytes = bytes_of((unsigned)rand());
        unsigned char *p = GC_malloc(bytes);

        for (size_t i = 0; i < bytes; i++)
            *(int *)bad += p[i] != 0;
        memset(p, 0xdd, bytes);
        GC_reachable_here(p);
    }
    return NULL;
}

static void check_threads(void)
{
    pthread_t thread[WORKERS];
    int bad[WORKERS] = { 0 };

    for (int i = 0; i < WORKERS; i++)
        thread[i] = api_start(work, &bad[i]);
    renew_secret(hook);
    for (int i = 0; i < ROUNDS; i++)
        GC_gcollect();
    keeps = false;
    atomic_store(&over, 1);
    api_join_all(thread, WORKERS);
    tap_ok(wrong == 0 && bad[0] + bad[1] == 0 && intact(), "so it is beside other threads that allocate (%d %d %d)", wrong,
           bad[0], bad[1]);
}

/* ---- what it writes elsewhere ---------------------------------------------------------------- */

static GC_hidden_pointer known[3];      /* objects that only the hook knows */
static void *volatile in_static;
static void **in_old;

static void make_known(void)
{
    for (int i = 0; i < 3; i++)
        known[i] = GC_HIDE_POINTER(GC_malloc(API_LARGE));
}

static void give_away(void)
{
    void **fresh = GC_malloc_many(100);

    in_static = GC_REVEAL_POINTER(known[0]);
    in_old[1] = GC_REVEAL_POINTER(known[1]);
    in_old[2] = fresh;
    if (fresh != NULL)
        fresh[3] = GC_REVEAL_POINTER(known[2]);
}

/* Roots and objects are looked at as it leaves them. */
static void check_written(void)
{
    in_old = GC_malloc(API_LARGE);
    GC_disable();
    api_run(make_known);
    GC_set_push_other_roots(give_away);
    GC_enable();
    GC_gcollect();
    GC_set_push_other_roots(before);
    api_collect();
    tap_ok(api_alive(known, 3) == 3, "what it writes into static data, old and new objects counts (%d of 3)",
           api_alive(known, 3));
    in_old = in_static = NULL;
    api_collect();
    tap_ok(api_alive(known, 3) == 0, "as long as it is there (%d of 3)", api_alive(known, 3));
}

/* ---- other markers --------------------------------------------------------------------------- */

enum { LISTS = TEST_SANITIZED ? 500 : 2000, LONG = 200, TRIALS = 5, WAIT_MS = 60 };

struct node {
    struct node *next;
    void *more;
    GC_word rest[6];
};

/* The lists are data of finalizers, which all markers look for from the beginning. */
struct lists {
    void *object[LISTS];
    struct node *last[LISTS];
};

static struct lists *lists;
static int lost;

static void make_list(int i)
{
    struct node *node = lists->last[i] = GC_malloc(sizeof *node);

    for (int j = 0; j < LONG; j++) {
        struct node *before_it = GC_malloc(sizeof *node);

        before_it->next = node;
        node = before_it;
    }
    lists->object[i] = GC_malloc(64);
    GC_register_finalizer_no_order(lists->object[i], api_count, node, NULL, NULL);
}

/* Linked first, and filled when others have had time to find it. */
static void link_and_fill(void)
{
    struct node *node = GC_malloc(sizeof *node);

    for (int i = 0; i < LISTS; i++)
        lists->last[i]->more = node;
    for (int i = 0; i < WAIT_MS && !GC_is_marked(node); i++)
        poll(NULL, 0, 1);
    node->more = GC_REVEAL_POINTER(secret);
}

static void check_markers(void)
{
    lists = GC_malloc(sizeof *lists);
    for (int i = 0; i < LISTS; i++)
        make_list(i);
    GC_gcollect();
    for (int i = 0; i < TRIALS; i++) {
        renew_secret(link_and_fill);
        GC_gcollect();
        GC_set_push_other_roots(before);
        api_collect();
        lost += GC_base(GC_REVEAL_POINTER(secret)) != GC_REVEAL_POINTER(secret);
    }
    lists = NULL;
    tap_ok(lost == 0, "no marker looks at an object before the hook has filled it (%d of %d)", lost, TRIALS);
}

/* ---- what was taken for the hook ------------------------------------------------------------- */

enum { MANY = 400 };

static int got_none;

static void allocate_much(void)
{
    for (int i = 0; i < MANY; i++)
        got_none += GC_malloc(20000) == NULL;
}

static size_t heap_now(void)
{
    for (int i = 0; i < 3; i++)
        GC_gcollect_and_unmap();
    return GC_get_heap_size();
}

static void check_given_back(void)
{
    size_t heap = heap_now(), left;

    GC_set_push_other_roots(allocate_much);
    for (int i = 0; i < 10; i++) {
        got_none = 0;
        GC_gcollect();
    }
    tap_ok(got_none == 0, "it gets more as it asks for more (%d times nothing)", got_none);
    GC_set_push_other_roots(before);
    left = heap_now();
    tap_ok(left <= heap + (1 << 20), "and what is too many goes back when it asks for less (%zu, then %zu KB)", heap >> 10,
           left >> 10);
}

/* The last moment at which it can be set for a collection. */
static void set_late(GC_EventType event)
{
    if (event == GC_EVENT_PRE_STOP_WORLD)
        GC_set_push_other_roots(allocate_much);
}

static void check_set_late(void)
{
    got_none = 0;
    GC_set_on_collection_event(set_late);
    GC_gcollect();
    GC_set_on_collection_event(NULL);
    GC_set_push_other_roots(before);
    tap_ok(got_none < MANY, "a hook that is set when the collection has begun can allocate in it");
}

int main(void)
{
    GC_set_markers_count(2);
    GC_INIT();
    before = GC_get_push_other_roots();
    return tap_all(check_kept, check_dropped, check_threads, check_again, check_written, check_markers,
                   check_given_back, check_set_late);
}
