/* SPDX-License-Identifier: MIT */
/*
 * Threads that GC_pthread_create has made, and that unregister before they end: what is kept for them otherwise belongs to
 * nobody then, or to whoever joins them.
 */
#include "api.h"

#include <gc/gc_disclaim.h>
#include <gc/javaxfc.h>

#include <stdatomic.h>
#include <sys/syscall.h>

enum { OBJECTS = 64, SIZES = 6, LARGEST = 16 * SIZES };

static atomic_int state;
static atomic_int tid;

static void reach(int value)
{
    atomic_store(&state, value);
}

static void wait_for(int value)
{
    while (atomic_load(&state) != value)
        poll(NULL, 0, 1);
}

static pthread_t begin(void *(*body)(void *))
{
    reach(0);
    atomic_store(&tid, 0);
    return api_start(body, NULL);
}

/* The last that can be seen of a thread that nobody joins. */
static bool gone(void)
{
    for (int i = 0; i < 5000; i++, poll(NULL, 0, 1))
        if (atomic_load(&tid) != 0 && syscall(SYS_tgkill, getpid(), atomic_load(&tid), 0) != 0)
            return true;
    return false;
}

static void come_back(void)
{
    GC_register_my_thread(&(struct GC_stack_base){ .mem_base = __builtin_frame_address(0) });
}

/* ---- suspended ------------------------------------------------------------------------------- */

static void *leaves_twice(void *unused)
{
    GC_unregister_my_thread();
    reach(1);
    wait_for(2);
    come_back();
    reach(3);
    wait_for(4);
    GC_unregister_my_thread();
    reach(5);
    wait_for(6);
    return unused;
}

/* It counts as ended for that time; what it was suspended for is over when it is back. */
static void check_suspended(void)
{
    pthread_t thread = begin(leaves_twice);
    bool was, is, again;

    wait_for(1);
    GC_suspend_thread(thread);
    was = GC_is_thread_suspended(thread);
    reach(2);
    wait_for(3);
    is = GC_is_thread_suspended(thread);
    reach(4);
    wait_for(5);
    again = GC_is_thread_suspended(thread);
    reach(6);
    tap_ok(GC_pthread_join(thread, NULL) == 0 && was && !is,
           "a thread that has unregistered can be suspended, until it registers again (%d%d)", was, is);
    tap_ok(!again, "and is not suspended when it unregisters once more");
}

enum { ROUNDS = 2000 };

static atomic_int enough;

static void *comes_and_goes(void *unused)
{
    while (!atomic_load(&enough)) {
        GC_unregister_my_thread();
        poll(NULL, 0, 0);
        come_back();
        poll(NULL, 0, 0);
    }
    return unused;
}

/* Whatever it does just then, it is somebody. */
static void check_bouncing(void)
{
    GC_warn_proc usual = GC_get_warn_proc();
    pthread_t thread = begin(comes_and_goes);
    int left = 0;

    GC_set_warn_proc(api_count_warning);
    for (int i = 0; i < ROUNDS; i++) {
        GC_suspend_thread(thread);
        GC_resume_thread(thread);
        left += GC_is_thread_suspended(thread);
    }
    atomic_store(&enough, 1);
    GC_set_warn_proc(usual);
    tap_ok(GC_pthread_join(thread, NULL) == 0 && left == 0, "one that comes and goes is suspended and resumed (%d are not)",
           left);
    tap_ok(api_warnings == 0, "and known all the time (%d times not)", api_warnings);
}

/* ---- results --------------------------------------------------------------------------------- */

static void *leaves(TEST_UNUSED void *unused)
{
    atomic_store(&tid, (int)syscall(SYS_gettid));
    GC_unregister_my_thread();
    reach(1);
    wait_for(2);
    return (void *)0x1dea;
}

static unsigned char *made[SIZES][OBJECTS];

static void make_all(void)
{
    for (int i = 0; i < SIZES; i++)
        for (int j = 0; j < OBJECTS; j++) {
            made[i][j] = GC_malloc_uncollectable(16 * (size_t)(i + 1));
            memset(made[i][j], 0x5a, 16 * (size_t)(i + 1));
        }
}

static int changed(void)
{
    unsigned char right[LARGEST];
    int n = 0;

    memset(right, 0x5a, sizeof right);
    for (int i = 0; i < SIZES; i++)
        for (int j = 0; j < OBJECTS; j++)
            n += memcmp(made[i][j], right, 16 * (size_t)(i + 1)) != 0;
    return n;
}

/* What was kept for it may be somebody else's when it returns. */
static void check_detached(void)
{
    pthread_t thread = begin(leaves);

    wait_for(1);
    GC_pthread_detach(thread);
    make_all();
    reach(2);
    tap_ok(gone() && changed() == 0, "a thread that has unregistered and is detached then writes nowhere when it returns");
}

static GC_hidden_pointer result;

static void *exits(TEST_UNUSED void *unused)
{
    GC_word *object;

    atomic_store(&tid, (int)syscall(SYS_gettid));
    GC_unregister_my_thread();
    come_back();
    object = GC_malloc(API_LARGE);
    *object = 0x1dea;
    result = GC_HIDE_POINTER(object);
    GC_pthread_exit(object);
    return NULL;
}

static void check_result(void)
{
    pthread_t thread = begin(exits);
    bool over = gone();
    void *joined = NULL;

    api_collect();
    tap_ok(over && api_alive(&result, 1) == 1, "what a thread leaves to who joins it lives, if it was away for a while, too");
    tap_ok(GC_pthread_join(thread, &joined) == 0 && joined == GC_REVEAL_POINTER(result), "and is handed over");
}

/* ---- called back ------------------------------------------------------------------------------ */

static int finalized;

static void unregister(TEST_UNUSED void *object, TEST_UNUSED void *unused)
{
    finalized++;
    API_CHILD(GC_unregister_my_thread() == GC_UNIMPLEMENTED && GC_thread_is_registered());
}

/* Old words on the stack may lead to some. */
static void unregisters_in_finalizers(void)
{
    for (int i = 0; i < 2 * OBJECTS; i++)
        GC_register_finalizer_no_order(GC_malloc(16), unregister, NULL, NULL, NULL);
    GC_gcollect();
    GC_invoke_finalizers();
    API_CHILD(finalized >= OBJECTS && GC_unregister_my_thread() == GC_SUCCESS);
}

static int asked;

static int unregister_when_asked(TEST_UNUSED void *object)
{
    asked++;
    API_CHILD(GC_unregister_my_thread() == GC_UNIMPLEMENTED && GC_thread_is_registered());
    return 0;
}

static void unregisters_in_procedures(void)
{
    int kind = (int)GC_new_kind(GC_new_free_list(), 0, 1, 1);

    GC_register_disclaim_proc(kind, unregister_when_asked, 0);
    for (int i = 0; i < 2 * OBJECTS; i++)
        GC_generic_malloc(16, kind);
    GC_gcollect();
    API_CHILD(asked >= OBJECTS && GC_unregister_my_thread() == GC_SUCCESS);
}

int main(void)
{
    GC_INIT();
    GC_allow_register_threads();
    tap_each(check_suspended, check_bouncing, check_detached, check_result);
    api_check_started(unregisters_in_finalizers, "called by a finalizer or an expiry procedure",
                      "a finalizer keeps its thread registered");
    api_check_started(unregisters_in_procedures, "called by a disclaim procedure", "so does a disclaim procedure");
    return tap_done();
}
