/* SPDX-License-Identifier: MIT */
/*
 * The timeline's buffer: entries that threads put, in handlers, too, while another thread takes them, come once and whole;
 * those that find no slot are counted; and the child of a fork has none of its parent's.
 */
#include <signal.h>
#include <unistd.h>

#include "gc/events/trace_buffer.h"
#include "tests/lib/child.h"
#include "tests/lib/threads.h"

enum { THREADS = 4, EACH = 30000, SLOTS = 16384 };

struct seen {
    uint32_t count[THREADS][EACH];
    uint32_t in_handlers, torn, sum;
};

static struct seen seen;
static sgc_a32_t running;
static volatile sig_atomic_t handled;

/* The fields of an entry depend on each other. */
static struct sgc_trace_entry entry_of(uint64_t thread, uint64_t i)
{
    return (struct sgc_trace_entry){
        .what = SGC_TRACE_MARKED, .tid = (sgc_tid_t)(thread + 1), .from_ns = i, .to_ns = i * 2,
        .arg = { i ^ thread, i + 1, ~i },
    };
}

static void visit(void *arg, const struct sgc_trace_entry *entry)
{
    struct sgc_trace_entry wanted = entry_of((uint64_t)entry->tid - 1, entry->from_ns);

    (void)arg;
    seen.sum++;
    if (entry->what != wanted.what || entry->to_ns != wanted.to_ns || memcmp(entry->arg, wanted.arg, sizeof wanted.arg) != 0)
        seen.torn++;
    else if (entry->tid > THREADS)
        seen.in_handlers++;
    else
        seen.count[entry->tid - 1][entry->from_ns]++;
}

static void *put_many(void *number)
{
    for (uint64_t i = 0; i < EACH; i++) {
        struct sgc_trace_entry entry = entry_of((uint64_t)(intptr_t)number, i);

        sgc_trace_put(&entry);
        if (i % 256 == 0)
            sgc_sleep_ns(20000);        /* the thread that takes them keeps up, mostly */
        if (i == EACH / 2 && number == 0)
            raise(SIGUSR1);             /* there is one handler, whenever the other thread has a processor */
    }
    sgc_a32_add(&running, (uint32_t)-1);
    return NULL;
}

/* In the middle of its thread's putting, most likely. */
static void on_signal(int signal)
{
    struct sgc_trace_entry entry = entry_of(THREADS, (uint64_t)handled);

    (void)signal;
    handled++;
    sgc_trace_put(&entry);
}

static uint32_t count_wrong(void)
{
    uint32_t lost = 0;

    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < EACH; i++) {
            lost += seen.count[t][i] == 0;
            seen.torn += seen.count[t][i] > 1;
        }
    return lost;
}

static void check_threads(void)
{
    pthread_t thread[THREADS];
    uint32_t dropped = 0, lost;

    sgc_a32_store(&running, THREADS);
    signal(SIGUSR1, on_signal);
    threads_start(thread, THREADS, put_many);
    while (sgc_a32_load_acq(&running) != 0) {
        dropped += sgc_trace_take(visit, NULL);
        pthread_kill(thread[0], SIGUSR1);
    }
    threads_join(thread, THREADS);
    dropped += sgc_trace_take(visit, NULL);
    lost = count_wrong();
    tap_ok(seen.torn == 0, "entries are whole, and come once");
    tap_ok(handled > 0 && lost + ((uint32_t)handled - seen.in_handlers) == dropped,
           "what is missing was counted: %u of %u, handlers put %d", dropped, THREADS * EACH + (uint32_t)handled, (int)handled);
    tap_ok(seen.sum + dropped == THREADS * EACH + (uint32_t)handled, "and nothing comes that was not put");
}

static void check_full(void)
{
    struct sgc_trace_entry entry = entry_of(0, 1);
    uint32_t before, dropped;

    sgc_trace_take(visit, NULL);
    before = seen.sum;
    for (int i = 0; i < SLOTS + 100; i++)
        sgc_trace_put(&entry);
    dropped = sgc_trace_take(visit, NULL);
    tap_ok(dropped == 100 && seen.sum - before == SLOTS, "a full buffer drops what comes, and says how many: %u", dropped);
    sgc_trace_put(&entry);
    tap_ok(sgc_trace_take(visit, NULL) == 0 && seen.sum - before == SLOTS + 1, "and has room again when they were taken");
}

static int is_empty(void)
{
    struct sgc_trace_entry entry = entry_of(0, 1);
    uint32_t before = seen.sum;

    if (sgc_trace_take(visit, NULL) != 0 || seen.sum != before)
        return 1;
    sgc_trace_put(&entry);
    return sgc_trace_take(visit, NULL) == 0 && seen.sum == before + 1 ? 0 : 2;
}

static void check_fork(void)
{
    struct sgc_trace_entry entry = entry_of(0, 1);
    uint32_t before;

    sgc_trace_put(&entry);
    child_ok(is_empty, "the child of a fork has none of its parent's, and can put its own");
    before = seen.sum;
    sgc_trace_take(visit, NULL);
    tap_ok(seen.sum == before + 1, "the parent has them still");
}

static void check_off(void)
{
    uint32_t before = seen.sum;

    sgc_a32_store(&sgc_trace_on, 0);
    tap_ok(sgc_trace_begin() == 0, "with no timeline nobody reads the clock");
    sgc_trace_span(SGC_TRACE_STOPPED, 1, 2, 0);
    sgc_trace_name();
    sgc_trace_take(visit, NULL);
    tap_ok(seen.sum == before, "and nothing is put");
}

int main(void)
{
    tap_plan(9);
    sgc_platform_init();
    if (!sgc_trace_buffer_open())
        tap_skip_all("the system cannot zero memory in the child of a fork");
    sgc_a32_store(&sgc_trace_on, 1);
    tap_each(check_threads, check_full, check_fork, check_off);
    return tap_done();
}
