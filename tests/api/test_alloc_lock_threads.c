/* SPDX-License-Identifier: MIT */
/*
 * The allocation lock and threads that come, go, or stand in GC_do_blocking while they have it or wait for it.  Not with
 * API_PEER: bdwgc hangs in most of it.
 */
#include "alloc_lock.h"

/* ---- a thread that ends with the lock, or unregisters ----------------------------------------- */

/* Afterwards there are collections as ever. */
static void in_thread(void *(*fn)(void *))
{
    GC_INIT();
    api_in_thread(fn, NULL);
    collect();
}

static void *end_thread(void *unused)
{
    pthread_exit(unused);
    return unused;
}

static void *end_inside(void *arg)
{
    return GC_call_with_alloc_lock(end_thread, arg);
}

static void *unregister_and_end(void *unused)
{
    API_CHILD(GC_unregister_my_thread() != GC_SUCCESS && GC_thread_is_registered());
    return end_thread(unused);
}

static void *unregister_inside(void *arg)
{
    return GC_call_with_alloc_lock(unregister_and_end, arg);
}

static void *unregister_after_jump(void *arg)
{
    jump_out_of_callback();
    API_CHILD(GC_unregister_my_thread() == GC_SUCCESS);
    return arg;
}

static void unregister_with_lock(void)
{
    GC_alloc_lock();
    API_CHILD(GC_unregister_my_thread() != GC_SUCCESS && GC_thread_is_registered());
    GC_alloc_unlock();
    collect();
}

/* ---- a thread that registers with the lock --------------------------------------------------- */

static bool signals_are_blocked(void)
{
    sigset_t now;

    pthread_sigmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, SIGUSR1) == 1;
}

static void *register_me(void *arg)
{
    struct GC_stack_base base;

    API_CHILD(GC_get_stack_base(&base) == GC_SUCCESS && GC_register_my_thread(&base) == GC_SUCCESS);
    return arg;
}

/* The lock that it takes next is one as ever. */
static void lock_and_unregister(void)
{
    API_CHILD(!signals_are_blocked());
    GC_alloc_lock();
    API_CHILD(signals_are_blocked());
    GC_alloc_unlock();
    API_CHILD(!signals_are_blocked() && GC_unregister_my_thread() == GC_SUCCESS);
}

static void *register_in_call(void *arg)
{
    GC_call_with_alloc_lock(register_me, arg);
    lock_and_unregister();
    return arg;
}

static void *register_by_hand(void *arg)
{
    GC_alloc_lock();
    register_me(arg);
    GC_alloc_unlock();
    lock_and_unregister();
    return arg;
}

static void registers_with_lock(void *(*fn)(void *))
{
    GC_INIT();
    GC_allow_register_threads();
    api_in_plain_thread(fn, NULL);
    collect();
}

/* ---- in GC_do_blocking ----------------------------------------------------------------------- */

static atomic_int has_it;

static void *keep_a_little(void *arg)
{
    has_it = 1;
    usleep(50 * 1000);
    has_it = 2;
    return arg;
}

static void *keep_it(void *arg)
{
    return GC_call_with_alloc_lock(keep_a_little, arg);
}

static void *is_over(void *arg)
{
    return has_it == 2 ? arg : NULL;
}

static void *wait_by_call(void *arg)
{
    return GC_call_with_alloc_lock(is_over, arg);
}

static void *wait_by_hand(void *arg)
{
    void *result;

    GC_alloc_lock();
    result = is_over(arg);
    GC_alloc_unlock();
    return result;
}

/* Stopped it is neither before nor afterwards. */
static void wait_blocked(GC_fn_type wait)
{
    pthread_t thread;

    GC_INIT();
    GC_pthread_create(&thread, NULL, keep_it, NULL);
    while (has_it == 0)
        usleep(100);
    API_CHILD(GC_do_blocking(wait, &thread) == &thread);
    API_CHILD(GC_pthread_join(thread, NULL) == 0);
    collect();
}

static void *end_in_region(void *arg)
{
    return GC_do_blocking(end_inside, arg);
}

static void *end_with_lock(void *arg)
{
    GC_alloc_lock();
    return arg;
}

int main(void)
{
    api_check_child_of(in_thread(end_inside), released, "a thread that ends in the callback does not keep the lock");
    api_check_child_of(in_thread(unregister_inside), released, "nor does one that tries to unregister there, and ends");
    api_check_child_of(in_thread(unregister_after_jump), released, "after a jump out of the callback a thread may unregister");
    api_check_started(unregister_with_lock, "GC_unregister_my_thread: called by", "but not with the lock held by hand");
    api_check_child_of(registers_with_lock(register_in_call), NULL,
                       "a thread may register in the callback, and locks afterwards as ever");
    api_check_child_of(registers_with_lock(register_by_hand), NULL, "or with the lock taken by hand");
    api_check_child_of(wait_blocked(wait_by_call), NULL, "in GC_do_blocking a call waits for the lock, too");
    api_check_child_of(wait_blocked(wait_by_hand), NULL, "or GC_alloc_lock");
    api_check_child_of(in_thread(end_in_region), released, "and a thread that ends in it does not keep the lock");
    api_check_child_of(in_thread(end_with_lock), released, "nor does one that took it by hand");
    return tap_done();
}
