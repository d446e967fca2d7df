/* SPDX-License-Identifier: MIT */
/*
 * Around a fork.  Nothing is under way in a system whose child goes on: no round of the manager,
 * and no lock is held but by the thread that forks.  The child has no manager until a call asks for
 * it.
 *
 * Handlers of pthread_atfork that were registered before this library has started run while the
 * locks are held, and must not allocate.
 */
#include <pthread.h>

#include "bench/herrmann/manager.h"
#include "bench/herrmann/system.h"

/* Written at the library's start, before there are other threads. */
static const struct system *forked;

static void before_fork(void)
{
    manager_hold_rounds();
    if (forked->before_fork != NULL)
        forked->before_fork();
}

static void after_fork(void)
{
    if (forked->after_fork != NULL)
        forked->after_fork();
    manager_resume_rounds();
}

static void after_fork_in_child(void)
{
    if (forked->after_fork_in_child != NULL)
        forked->after_fork_in_child();
    manager_begin_in_child();
}

void fork_start(const struct system *system)
{
    forked = system;
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}
