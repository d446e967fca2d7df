/* SPDX-License-Identifier: MIT */
/*
 * HERRMANN=ahead: what is left for a helper thread where the next malloc has a cache for each
 * thread.  Such a malloc has its blocks ready by itself; what it cannot have ready is memory that
 * the system has not backed yet, whose first touch is a fault for each 4 KB.  So all calls go to
 * the next malloc, and while its heap grows, the manager touches the memory behind the highest
 * block, which comes next.  Nothing is handed over: memory that reads as zero does so afterwards.
 *
 * HERRMANN=ahead-self is the same without a manager: the thread that has reached new memory touches
 * what lies behind it, by one system call instead of the faults.  It is the control that shows what
 * the helper adds.
 *
 * It is for a malloc with one heap that grows upwards, as libsgcmalloc.so has.  Elsewhere it
 * touches what lies there.  Memory that may not be touched, since the next malloc has not asked the
 * system for it yet, is left alone; so the first piece of each step in which a heap grows comes
 * late.  Blocks that realloc moves are not looked at.
 *
 *   highest   the end of the piece in which the highest block begins, so far.  Raised by any thread
 *             by compare-and-swap, read by all and by the manager, relaxed: a number for itself, no
 *             memory is read because of it
 *   ready     memory is touched up to here.  Written in a round, under the manager's lock of
 *             rounds; read by any thread, relaxed: a stale value costs a call of the manager too
 *             many
 *   managed   written at the library's start; read by any thread, after it
 */
#include <stdint.h>
#include <sys/mman.h>

#include "bench/herrmann/block.h"
#include "bench/herrmann/figures.h"
#include "bench/herrmann/manager.h"
#include "bench/herrmann/next.h"
#include "bench/herrmann/system.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23          /* headers may be older than the system */
#endif

enum { PIECE = 64 << 10, AHEAD_BYTES = 1 << 20 };

static atomic_uintptr_t highest, ready;
static bool managed;

/* ---- the manager ---- */

/* False: nothing is left to be touched, or it may not be. */
static bool touch_piece(void)
{
    uintptr_t end = atomic_load_explicit(&highest, memory_order_relaxed);
    uintptr_t at = atomic_load_explicit(&ready, memory_order_relaxed);

    if (at < end)
        at = end;
    if (at >= end + AHEAD_BYTES || madvise((void *)at, PIECE, MADV_POPULATE_WRITE) != 0)
        return false;
    atomic_store_explicit(&ready, at + PIECE, memory_order_relaxed);
    figures_add(&figures.made, 1);
    return true;
}

static void serve(unsigned asked)
{
    figures_add(&figures.refills, (asked & MANAGER_REFILL) != 0);
    while (touch_piece())
        continue;
}

/* ---- the program's threads ---- */

static void serve_here(void)
{
    manager_hold_rounds();
    serve(MANAGER_REFILL);
    manager_resume_rounds();
}

/* Once for each piece.  The manager is called while half of what it touches ahead is left. */
static __attribute__((noinline)) void raise_highest(uintptr_t block)
{
    uintptr_t before = atomic_load_explicit(&highest, memory_order_relaxed), end = (block / PIECE + 1) * PIECE;

    while (before < end &&
           !atomic_compare_exchange_weak_explicit(&highest, &before, end, memory_order_relaxed, memory_order_relaxed))
        ;
    if (end + (managed ? AHEAD_BYTES / 2 : 0) <= atomic_load_explicit(&ready, memory_order_relaxed))
        return;
    if (managed)
        manager_ask(MANAGER_REFILL);
    else
        serve_here();
}

static inline void *noted(void *block)
{
    if ((uintptr_t)block >= atomic_load_explicit(&highest, memory_order_relaxed) && block != NULL)
        raise_highest((uintptr_t)block);
    return block;
}

static void *allocate(size_t size)
{
    return noted(next_malloc(size));
}

static void *zeroed(size_t count, size_t size)
{
    return noted(next_calloc(count, size));
}

static void *aligned(size_t alignment, size_t size)
{
    return noted(next_memalign(alignment, size));
}

/* Of a block with a header, as in none.c: from before the library's start. */
static void release(void *block, unsigned bin)
{
    (void)bin;
    block_destroy(block);
}

static void start(void)
{
    managed = true;
    manager_start(serve);
}

const struct system system_ahead = {
    .word = "ahead", .allocate = allocate, .release = release, .zeroed = zeroed, .aligned = aligned,
    .start = start
};

const struct system system_ahead_self = {
    .word = "ahead-self", .allocate = allocate, .release = release, .zeroed = zeroed, .aligned = aligned
};
