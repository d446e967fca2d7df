/* SPDX-License-Identifier: MIT */
/* The service thread.  See gc/collect/background.h. */
#include "gc/collect/background.h"

#include "alloc/pages/pool.h"
#include "alloc/page_supply.h"
#include "alloc/pages/marks.h"
#include "gc/collect/cycle.h"
#include "gc/events/events.h"
#include "gc/events/trace_buffer.h"
#include "gc/config/options.h"
#include "gc/pacing/heap_size.h"
#include "gc/threads/binding.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/world.h"
#include "platform/probe.h"

struct service {
    sgc_a32_t started;          /* enum started */
    sgc_aw_t job;               /* const struct sgc_service_job * */
    sgc_a32_t wanted;           /* LINGERS, and above it how many cycles have asked */
};

enum started { NOT_YET, STARTED, REFUSED };

enum { LINGERS = 1, ONE_MORE = 2 };

SGC_STATE static struct service service;

enum { ARENAS_AT_ONCE = 8, PAGES_AT_ONCE = 64 };

static const uint64_t RETRY_NS = 1000000000;

/* When asked it comes back by itself so soon, and need not be woken again. */
static const uint64_t LINGER_NS = 50000000;

/* So long other cycles may keep it from what one has left. */
static const uint64_t OVERDUE_NS = 500000000;

/* Smaller heaps could give back too little to be worth a thread. */
static const size_t WORTH_A_THREAD = (size_t)8 << 20;

/* A cycle wakes an eager service thread that lingers if more pages than this are in use. */
enum { LITTLE_PAGES = 512 };

/* It does not wait for the program to leave it time.  Under torture it meets the program's threads
 * as often as it can. */
static bool is_eager(void)
{
    return sgc_options.service == SGC_SERVICE_EAGER || sgc_options.torture > 0;
}

static uint64_t decay_age(void)
{
    return sgc_options.decay_ms < 0 ? UINT64_MAX : (uint64_t)sgc_options.decay_ms * 1000000;
}

static uint64_t give_back(uint64_t age, struct sgc_mutator *self)
{
    size_t before = sgc_aw_load(&sgc_pool.returned);
    uint64_t began = sgc_trace_begin();
    uint64_t due = sgc_pool_decay(sgc_clock_ns(), age, ARENAS_AT_ONCE, sgc_section_of(self));
    size_t returned = sgc_aw_load(&sgc_pool.returned) - before;

    sgc_assert(sgc_mutator_mine(self) && sgc_section_of(self)->guards > 0);
    if (returned != 0) {
        sgc_trace_end(SGC_TRACE_GAVE_BACK, began, returned);
        SGC_PROBE(heap__returned, returned);
        SGC_EVENT(heap_returned, returned);
    }
    if (returned == 0 && due <= sgc_clock_ns())
        return sgc_clock_ns() + RETRY_NS;       /* locked memory: due, but not to be had back */
    return due;
}

struct nap {
    uint64_t due;
    uint32_t seen;
};

static void nap(void *arg)
{
    const struct nap *n = arg;
    uint64_t now = sgc_clock_ns();

    sgc_assert(n->due != 0);
    if (n->due == UINT64_MAX)
        sgc_wait(&service.wanted, n->seen, -1);
    else if (n->due > now)
        sgc_wait(&service.wanted, n->seen, (int64_t)(n->due - now));
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Sleeps until somebody wants us or memory is due.  Whether it comes back by itself is said in the
 * word that is slept on: who changes that word after us wakes us or relies on it, and before us it
 * does not let us sleep. */
static void sleep_until(uint64_t due, uint32_t seen, bool lingers, struct sgc_mutator *self)
{
    uint32_t word = lingers ? seen | LINGERS : seen & ~(uint32_t)LINGERS;
    struct nap n = { lingers ? sooner(due, sgc_clock_ns() + LINGER_NS) : due, word };

    sgc_assert(sgc_mutator_mine(self) && self->service);
    if (sgc_a32_cas(&service.wanted, seen, word))
        sgc_world_sleep(self, nap, &n);
}

/* Sweeps and clears everything, and gives back what is due.  Returns when more will be. */
static uint64_t work(struct sgc_mutator *self)
{
    uint64_t began = sgc_trace_begin();
    bool any = false;

    sgc_assert(self->service && sgc_section_of(self)->held == 0);
    while (sgc_clear_some(ARENAS_AT_ONCE))
        any = true;
    while (sgc_sweep_ahead(PAGES_AT_ONCE, sgc_section_of(self)))
        any = true;
    if (any)
        sgc_trace_end(SGC_TRACE_SWEPT, began, 0);
    return give_back(decay_age(), self);
}

void sgc_service_set_job(const struct sgc_service_job *job)
{
    sgc_assert(job->wanted != NULL && job->run != NULL && job->refused != NULL);
    sgc_aw_store_rel(&service.job, (uintptr_t)job);
}

static const struct sgc_service_job *job(void)
{
    return (const struct sgc_service_job *)sgc_aw_load_acq(&service.job);
}

static bool is_job_wanted(void)
{
    return job() != NULL && job()->wanted();
}

static void do_job(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self) && self->service);
    if (is_job_wanted())
        job()->run(self);
}

/* Does the program leave us time?  Not if a cycle has just asked, unless cycles have kept us from
 * it for long.  `since`: the first that asked after our last work; 0: none. */
static bool is_time(bool asked, uint64_t *since)
{
    uint64_t now = sgc_clock_ns();

    sgc_assert(*since <= now);
    if (asked && *since == 0)
        *since = now;
    if (asked && !is_eager() && now - *since < OVERDUE_NS)
        return false;
    *since = 0;
    return true;
}

/* ---- the program's threads have ended ---- */

static bool is_programs(const struct sgc_mutator *m, const void *unused)
{
    (void)unused;
    return !m->service;
}

/* Is none of the program's threads registered?  One may register at any time. */
static bool is_deserted(void)
{
    return !sgc_registry_any(is_programs, NULL);
}

/* A process whose main thread has ended by pthread_exit ends with its last thread, so those of the
 * collector must not outlive the program's.  They start anew when they are needed. */
static bool leave(struct sgc_mutator *self)
{
    bool leaves;

    sgc_gc_lock_acquire(self);
    leaves = is_deserted() && !is_job_wanted();
    if (leaves) {
        sgc_team_dismiss(&sgc_cycle.team);
        sgc_a32_store(&service.started, NOT_YET);
    }
    sgc_gc_lock_release();
    return leaves;
}

/* On the thread that has ended, when it is registered no more. */
static void on_thread_gone(void *context, sgc_tid_t tid)
{
    (void)context;
    (void)tid;
    if (sgc_mutator_self() == NULL && sgc_a32_load(&service.started) == STARTED && is_deserted())
        sgc_service_wake(true);
}

static const struct sgc_listener listener = { .thread_gone = on_thread_gone };

/* A thread that unregisters after `wanted` was read keeps us from sleeping. */
static void serve(struct sgc_mutator *self)
{
    uint64_t since = 0;
    uint32_t done = 0;

    sgc_assert(sgc_mutator_mine(self) && sgc_section_of(self)->guards > 0);
    for (;;) {
        uint32_t seen = sgc_a32_load_acq(&service.wanted);
        bool asked = seen / ONE_MORE != done;

        done = seen / ONE_MORE;
        do_job(self);
        sgc_heap_watch(self);
        if (is_deserted() && leave(self))
            return;
        sleep_until(is_time(asked, &since) ? work(self) : UINT64_MAX, seen, asked, self);
    }
}

static void say_refused(void)
{
    sgc_warn("the system refuses a service thread; sweeping is left to the program's threads and memory "
             "goes back only when the program asks (GC_gcollect_and_unmap). "
             "SGC_BACKGROUND_THREAD=off silences this");
}

/* There is a thread, but it cannot be one of the collector's. */
static void cannot_register(void)
{
    say_refused();
    sgc_a32_store(&service.started, REFUSED);
    if (job() != NULL)
        job()->refused();
}

/* If the system refuses it runs anywhere, and helpers will say so. */
static void body(void *argument)
{
    struct sgc_mutator *self;

    (void)argument;
    (void)sgc_binding_apply(0);
    self = sgc_mutator_register_service();
    if (self == NULL) {
        cannot_register();
        return;
    }
    sgc_assert(sgc_mutator_mine(self) && self->service);
    sgc_trace_name();
    sgc_guard_enter(sgc_section_of(self));      /* so none of its locks has to block signals */
    serve(self);
    sgc_guard_leave(sgc_section_of(self));
    sgc_mutator_unregister(self);
}

static bool start(void)
{
    static SGC_STATE bool listens;

    sgc_binding_prepare((uint32_t)sgc_options.markers);
    listens = listens || sgc_listener_add(&listener);
    if (sgc_thread_start_service(body, NULL, "sgc-service"))
        return true;
    say_refused();
    return false;
}

/* The thread may say that it is not registered before we go on. */
bool sgc_service_start(void)
{
    sgc_assert(sgc_gc_lock_held());
    if (sgc_options.service == SGC_SERVICE_OFF)
        return false;
    if (sgc_a32_load(&service.started) == NOT_YET) {
        sgc_a32_store(&service.started, STARTED);
        if (!start())
            sgc_a32_store(&service.started, REFUSED);
    }
    return sgc_a32_load(&service.started) == STARTED;
}

/* Helpers' threads end with it. */
void sgc_service_start_if_worth_it(void)
{
    sgc_assert(sgc_gc_lock_held());
    if (is_eager() || sgc_pool_heap_bytes() >= WORTH_A_THREAD || sgc_cycle.team.made > 1)
        sgc_service_start();
}

void sgc_service_wake(bool at_once)
{
    bool lingers;

    sgc_assert(!sgc_gc_lock_held());
    if (!at_once && sgc_a32_load(&service.started) != STARTED)
        return;
    lingers = (sgc_a32_add(&service.wanted, ONE_MORE) & LINGERS) != 0;
    if (at_once || !lingers || (is_eager() && sgc_pool_in_use_bytes() > (size_t)LITTLE_PAGES * SGC_PAGE))
        sgc_wake(&service.wanted, 1);
}

/* Between being swept and being the pool's, and while its contents are discarded, a page is in our
 * hands only: a client's handler must not jump out meanwhile.  A guard a step, so that signals do
 * not wait for all of it. */
static bool sweep_some(struct sgc_mutator *self)
{
    bool more;

    sgc_assert(sgc_section_of(self)->held == 0);
    sgc_guard_enter(sgc_section_of(self));
    more = sgc_sweep_ahead(PAGES_AT_ONCE, sgc_section_of(self));
    sgc_guard_leave(sgc_section_of(self));
    return more;
}

/* Locked memory cannot be given back, so the rounds are bounded by what is there at the start. */
void sgc_service_do_all(struct sgc_mutator *self)
{
    size_t rounds = sgc_pool_used_bytes() / SGC_PAGE + 1;
    uint64_t began = sgc_trace_begin();

    sgc_assert(sgc_mutator_mine(self) && !self->service);
    while (sweep_some(self))
        continue;
    sgc_trace_end(SGC_TRACE_SWEPT, began, 0);
    rounds += sgc_pool_used_bytes() / SGC_PAGE;
    for (; rounds > 0 && sgc_pool_used_bytes() != 0; rounds--) {
        sgc_guard_enter(sgc_section_of(self));
        give_back(0, self);
        sgc_guard_leave(sgc_section_of(self));
    }
}

void sgc_service_after_fork(void)
{
    sgc_a32_store(&service.started, NOT_YET);
    sgc_a32_store(&service.wanted, 0);
}
