/* SPDX-License-Identifier: MIT */
/*
 * gc/collect/closure.c, of threads whose stacks are objects of the heap that nobody was told of: what is read of them is read
 * through a buffer, up to the first hole, which is far beyond the stack; and some of it is the stack of the very thread that
 * collects, which has new words in dead frames when the check reads it again.  The check finds nothing missing.
 */
#define GC_THREADS 1
#include <gc/gc.h>

#include <ucontext.h>

#include "tests/lib/child.h"
#include "tests/lib/white.h"
#include "gc/collect/torture.h"
#include "gc/events/events.h"

enum { THREADS = 4, KEPT = 40, ROUNDS = 60 };

struct fiber {
    ucontext_t home, away;
    size_t bytes;
    void *stack;
};

static struct fiber fibers[THREADS];
static uintptr_t hidden;                /* ~ the address of an object that nothing leads to */
static pthread_t last;

/* Leaves words in dead frames, new ones each time. */
TEST_NOINLINE static uintptr_t dig(int depth)
{
    volatile uintptr_t words[32];

    for (size_t i = 0; i < 32; i++)
        words[i] = (uintptr_t)GC_malloc(16 + 16 * (size_t)(depth % 8));
    return depth == 0 ? words[0] : dig(depth - 1) ^ words[1];
}

/* After the mark, before the check. */
static void at_marked(TEST_UNUSED void *unused, TEST_UNUSED const struct sgc_cycle_record *record)
{
    volatile uintptr_t words[1024];

    for (size_t i = 0; i < 1024; i++)
        words[i] = hidden != 0 && pthread_equal(pthread_self(), last) ? ~hidden : 0;
    (void)words[0];
}

static const struct sgc_listener listener = { .marked = at_marked };

TEST_NOINLINE static void hide_one(void)
{
    hidden = ~(uintptr_t)GC_malloc(5000);
}

static void collect(void)
{
    if (pthread_equal(pthread_self(), last))
        hide_one();
    GC_gcollect();
}

static void live(void)
{
    void *volatile kept[KEPT];

    for (int i = 0; i < KEPT; i++)
        kept[i] = GC_malloc(100);
    for (int round = 0; round < ROUNDS; round++) {
        dig(5);
        kept[round % KEPT] = GC_malloc(100);
        if (round % 8 == 0)
            collect();
    }
    for (int i = 0; i < KEPT; i++)
        if (GC_base(kept[i]) != kept[i])
            _exit(7);
}

static void *stand_away(void *number)
{
    struct fiber *f = &fibers[(intptr_t)number];

    getcontext(&f->away);
    f->away.uc_stack.ss_sp = f->stack;
    f->away.uc_stack.ss_size = f->bytes;
    f->away.uc_link = &f->home;
    makecontext(&f->away, live, 0);
    swapcontext(&f->home, &f->away);
    return NULL;
}

static int stand_on(size_t bytes)
{
    pthread_t thread[THREADS];

    setenv("SGC_VERIFY", "marks", 1);
    GC_INIT();
    for (int i = 0; i < THREADS; i++)
        fibers[i] = (struct fiber){ .bytes = bytes, .stack = GC_malloc(bytes) };
    last = pthread_self();
    sgc_listener_add(&listener);
    threads_start(thread, THREADS - 1, stand_away);
    stand_away((void *)(THREADS - 1));
    threads_join(thread, THREADS - 1);
    return 0;
}

static int on_spans(void) { return stand_on(64 << 10); }

static int on_spans_concurrently(void)
{
    environment("SGC_MODE=concurrent", "GC_PAUSE_TIME_TARGET=0");
    return on_spans();
}

int main(void)
{
    tap_plan(3);
    child_ok(on_spans, "threads on stacks of 64 KB in the heap, told to nobody: no false alarm");
    child_ok_of(stand_on(20000), "or in pages beside each other");
    child_ok(on_spans_concurrently, "or with cycles beside the program");
    return tap_done();
}
