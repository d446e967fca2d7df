/* SPDX-License-Identifier: MIT */
/*
 * Binds helper threads to processors: markers, and the service thread.  Threads of the program run
 * where they please, and so does the thread that collects.
 *
 *   what              written by                                 read by             ordering
 *   the plan          sgc_binding_prepare, once, with the GC     helpers             they are created afterwards
 *                     lock
 *   the mode          at start; then with the GC lock            helpers, the        relaxed: who binds itself although another
 *                                                                collecting thread   was refused is refused, too
 */
#ifndef SGC_GC_THREADS_BINDING_H
#define SGC_GC_THREADS_BINDING_H

#include "gc/threads/bind_plan.h"

/* Where a helper runs. */
struct sgc_bound {
    uint32_t core;              /* SGC_NO_CORE: anywhere */
    bool beyond;                /* as in struct sgc_bind_place */
    int error;                  /* the system has refused: then it runs anywhere */
};

/* When options have been read and the nodes are known: keeps the processors of the process if
 * helpers are to be bound. */
void sgc_binding_start(void);

/* Is hwloc to say what the machine is like, if SGC is built with it?  Otherwise /sys does. */
bool sgc_binding_asks_hwloc(void);

/* Before a helper thread is created, where pthread_create may be called, with the GC lock: reads
 * what is missing of the topology, once.  hwloc calls malloc and the loader.  `markers`: that there
 * may be. */
void sgc_binding_prepare(uint32_t markers);

/* On a new helper thread: binds it. */
struct sgc_bound sgc_binding_apply(uint32_t helper);

/* Its creator has learnt that the system refused: helpers are bound no more.  With the GC lock. */
void sgc_binding_refused(int error);

/* Cores that helpers are bound to one by one; 0: they are not. */
uint32_t sgc_binding_cores(void);

/* At start: 1 if there is to be one helper more than marks at a time, since one may have to stay
 * off the collecting thread's core; else 0. */
uint32_t sgc_binding_one_more(void);

/* With cores: the one that the calling thread runs on; SGC_NO_CORE if that is not known. */
uint32_t sgc_binding_core_here(void);

#endif
