/* SPDX-License-Identifier: MIT */
/*
 * gc/collect/fork.c: whatever the other threads were doing, the child collects, allocates, starts threads and a
 * service thread of its own, and every check of the heap passes.
 *
 * Each child has an alarm: one that hangs fails its check instead of the suite.
 */
#include <signal.h>
#include <ucontext.h>

#include "alloc/free.h"
#include "alloc/small/remote_free.h"
#include "alloc/page_supply.h"
#include "gc/collect/start.h"
#include "gc/collect/background.h"
#include "gc/gc_mark.h"
#include "tests/lib/child.h"
#include "tests/lib/trap.h"
#include "tests/lib/white.h"
#include "sgc.h"

/* ---- what a child does: 0 if all is well -------------------------------------------------------------- */

enum { CHAIN = 2000 };

struct link {
    struct link *next;
    long value;
};

static struct link *chain;          /* static data: a root */

static struct link *make_chain(void)
{
    struct link *first = NULL;

    for (long i = 0; i < CHAIN; i++) {
        struct link *l = sgc_allocate(sizeof *l + (size_t)i % 100, WHITE_KIND);
        l->next = first;
        l->value = i;
        first = l;
    }
    return first;
}

static bool chain_intact(const struct link *l)
{
    for (long i = CHAIN; i-- > 0; l = l->next)
        if (l == NULL || l->value != i)
            return false;
    return l == NULL;
}

static sgc_a32_t thread_good;

static void chain_in_thread(TEST_UNUSED void *unused)
{
    struct link *volatile own;

    own = make_chain();
    sgc_a32_store_rel(&thread_good, white_collect() == SGC_COLLECTED && chain_intact(own));
}

static bool thread_works(void)
{
    sgc_a32_store(&thread_good, 0);
    white_join(white_start(chain_in_thread, NULL));
    return sgc_a32_load_acq(&thread_good) == 1;
}

static int use_heap(void)
{
    struct link *volatile own;

    if (sgc_self == NULL)
        sgc_mutator_register(0);
    sgc_verify(SGC_check() == 0);
    own = make_chain();
    for (int i = 0; i < 3; i++)
        if (white_collect() != SGC_COLLECTED || !chain_intact(own) || !chain_intact(chain))
            return 1;
    if (!thread_works())
        return 2;
    sgc_service_do_all(sgc_mutator_self());
    sgc_verify(SGC_check() == 0);
    return chain_intact(own) && chain_intact(chain) ? 0 : 3;
}

/* Forks as a program does; the child's result, 100 if it has lost pages that other threads had in their hands. */
static int fork_and(int (*body)(void))
{
    pid_t child = fork();

    if (child == 0) {
        alarm(20);
        _exit(white_lost_pages() != 0 ? 100 : body());
    }
    return child_wait(child);
}

/* ---- simple cases ---------------------------------------------------------------------------------------- */

static int fork_again(void)
{
    int inner = fork_and(use_heap);

    return inner != 0 ? inner : use_heap();
}

static void test_simple(void)
{
    tap_ok(fork_and(use_heap) == 0, "a child allocates, collects and starts threads");
    tap_ok(fork_and(fork_again) == 0, "so does its own child");
    white_join(white_start(chain_in_thread, NULL));
    tap_ok(fork_and(use_heap) == 0, "after a thread has ended in the parent, whose record is used again");
    tap_ok(use_heap() == 0, "and the parent goes on");
}

/* ---- threads that allocate, free, take locks and collect ---------------------------------------------------------- */

enum { BUSY = 3, STORM = 60 };

static sgc_a32_t storm_over;

static void be_busy(void *collects)
{
    for (unsigned turn = 0; !sgc_a32_load_acq(&storm_over); turn++) {
        void *object = sgc_allocate(turn % 64 == 0 ? 200000 : turn % 3000, WHITE_KIND);

        if (turn % 3 == 0)
            sgc_object_free(sgc_self, object);
        if (collects != NULL && turn % 500 == 0)
            sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, NULL);
    }
}

/* Registering and unregistering all the time. */
static void *come_and_go(void *unused)
{
    while (!sgc_a32_load_acq(&storm_over)) {
        sgc_mutator_register(0);
        sgc_allocate(100, WHITE_KIND);
        sgc_mutator_unregister(sgc_mutator_self());
    }
    return unused;
}

/* ---- forking threads of every sort ------------------------------------------------------------------------ */

static int result_of_fork;

static void *fork_unregistered(void *unused)
{
    result_of_fork = fork_and(use_heap);
    return unused;
}

static void fork_registered(TEST_UNUSED void *unused)
{
    struct link *volatile own = make_chain();
    result_of_fork = fork_and(use_heap);
    if (!chain_intact(own))
        result_of_fork = 99;
}

/* The child returns into the blocked region and leaves it before it uses the heap. */
static int leave_blocked_and_use_heap(void)
{
    sgc_world_leave_blocked(sgc_mutator_self());
    return use_heap();
}

static void fork_in_blocked_region(void *result)
{
    *(int *)result = fork_and(leave_blocked_and_use_heap);
}

static void test_forking_threads(void)
{
    pthread_t thread;

    white_join(thread_start(fork_unregistered, NULL));
    tap_ok(result_of_fork == 0, "a thread that is not registered forks (%d)", result_of_fork);
    white_join(white_start(fork_registered, NULL));
    tap_ok(result_of_fork == 0, "a registered thread that is not the first (%d)", result_of_fork);
    result_of_fork = -1;
    sgc_a32_store(&storm_over, 0);
    thread = white_start(be_busy, &chain);
    white_blocked(fork_in_blocked_region, &result_of_fork);
    for (int i = 0; i < 20 && result_of_fork == 0; i++)
        white_blocked(fork_in_blocked_region, &result_of_fork);
    sgc_a32_store_rel(&storm_over, 1);
    white_join(thread);
    tap_ok(result_of_fork == 0, "a thread in a blocked region, while another collects (%d)", result_of_fork);
    tap_ok(use_heap() == 0, "which goes on after it");
}

/* ---- another thread in the middle of something -------------------------------------------------------------- */

static sgc_a32_t there, may_go_on;

static void stand_there(void)
{
    sgc_a32_store_rel(&there, 1);
    white_reached(&may_go_on, 1);
}

static void check_beside(void (*body)(void *), const char *what)
{
    pthread_t thread;
    int result;

    sgc_a32_store(&there, 0);
    sgc_a32_store(&may_go_on, 0);
    thread = white_start(body, NULL);
    white_reached(&there, 1);
    result = fork_and(use_heap);
    tap_ok(result == 0, "%s (%d)", what, result);
    sgc_a32_store_rel(&may_go_on, 1);
    white_join(thread);
}

/* As while a large object is being zeroed, a page set up, free pages given back to the system. */
static void hold_pages(TEST_UNUSED void *unused)
{
    struct sgc_section *self = sgc_section_of(sgc_mutator_self());
    struct sgc_taken one;
    uint32_t many;
    bool zero;

    sgc_guard_enter(self);
    many = sgc_pool_take(100, self, &zero);
    sgc_pool_take_singles(sgc_self->id, 1, &one, self);
    sgc_page_set_state(&sgc_heap.pages[many], SGC_PAGE_RESERVED);
    stand_there();
    sgc_page_set_state(&sgc_heap.pages[many], SGC_PAGE_FREE);
    sgc_pool_give(many, 100, self);
    sgc_pool_give_singles(&one.page, 1, sgc_self->id, self);
    sgc_guard_leave(self);
}

/* Its cache is closed, its record still in the registry. */
static void end_halfway(TEST_UNUSED void *unused)
{
    struct sgc_mutator *self = sgc_mutator_self();

    chain_intact(make_chain());
    sgc_cache_close(&self->cache, sgc_section_of(self));
    stand_there();
}

/* ---- pages in reserve for what a hook allocates -------------------------------------------------------------------- */

enum { CHAINS = 24 };

static void push_nothing(void)
{
}

/* The child's first pages are the parent's reserve; its next collection gives its own reserve back. */
static int use_reserve(void)
{
    static struct link *made[2 * CHAINS];

    for (int i = 0; i < CHAINS; i++)
        made[i] = make_chain();
    if (white_collect() != SGC_COLLECTED)
        return 1;
    GC_set_push_other_roots(NULL);
    if (white_collect() != SGC_COLLECTED)
        return 2;
    for (int i = CHAINS; i < 2 * CHAINS; i++)
        made[i] = make_chain();
    for (int i = 0; i < 2 * CHAINS; i++)
        if (!chain_intact(made[i]))
            return 3;
    return use_heap();
}

static void test_reserve(void)
{
    int result;

    GC_set_push_other_roots(push_nothing);
    white_collect();
    result = fork_and(use_reserve);
    tap_ok(result == 0, "the last pause has left pages in reserve (%d)", result);
    result = use_reserve();
    tap_ok(result == 0, "the parent uses them, and gives them back (%d)", result);
}

/* ---- the service thread at work --------------------------------------------------------------------------------- */

enum { BULK = 64 << 20, FORKS = 40 };

static void **bulk;

/* Every fork follows a collection at once: the service thread is just clearing and sweeping. */
static void test_service_at_work(void)
{
    int good = 0, result = 0;

    bulk = sgc_allocate(BULK / 1024 * sizeof *bulk, WHITE_KIND);
    for (int i = 0; i < BULK / 1024; i++)
        bulk[i] = sgc_allocate(1000, WHITE_KIND);
    for (int i = 0; i < FORKS; i++) {
        white_collect();
        for (int spin = 0; spin < i * 500; spin++)
            sgc_spin_hint();
        result = fork_and(use_heap);
        good += result == 0;
        if (result != 0)
            break;
    }
    tap_ok(good == FORKS, "while the service thread clears and sweeps (%d of %d, %d)", good, FORKS, result);
    bulk = NULL;
}

/* ---- all at once ------------------------------------------------------------------------------------------ */

static void test_storm(void)
{
    pthread_t thread[BUSY + 1];
    int good = 0, result = 0;

    sgc_a32_store(&storm_over, 0);
    for (int i = 0; i < BUSY; i++)
        thread[i] = white_start(be_busy, i == 0 ? &chain : NULL);
    thread[BUSY] = thread_start(come_and_go, NULL);
    for (int i = 0; i < STORM && result == 0; i++) {
        result = fork_and(i % 8 == 0 ? fork_again : use_heap);
        good += result == 0;
    }
    sgc_a32_store_rel(&storm_over, 1);
    for (int i = 0; i <= BUSY; i++)
        white_join(thread[i]);
    tap_ok(good == STORM, "beside threads that allocate, free, collect, come and go (%d of %d, %d)", good, STORM, result);
    tap_ok(use_heap() == 0, "and the parent's heap is right");
}

#if defined(__x86_64__)

/* ---- another thread at every instruction of a section ----------------------------------------------------------------- */

static sgc_a32_t halted, go_on;
static volatile long step, halt_at;

/* Halts at the n-th instruction inside a section without a lock. */
static void on_trap(TEST_UNUSED int signal, TEST_UNUSED siginfo_t *info, void *context)
{
    const ucontext_t *interrupted = context;

    if (!sgc_section_inside(&sgc_self->section) || sigismember(&interrupted->uc_sigmask, SIGUSR1) || ++step != halt_at)
        return;
    sgc_a32_store_rel(&halted, 1);
    while (!sgc_a32_load_acq(&go_on))
        sgc_sleep_ns(100000);
}

static void allocate_stepwise(TEST_UNUSED void *unused)
{
    struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
    void *victim;

    sigaction(SIGTRAP, &action, NULL);
    victim = sgc_allocate(100, WHITE_KIND);
    step = 0;
    trap_on();
    sgc_allocate(40, WHITE_KIND);
    sgc_object_free(sgc_self, victim);
    trap_off();
    sgc_a32_store_rel(&halted, 2);
}

static int fork_beside_halted(long at, bool *end)
{
    pthread_t thread;
    int result;

    halt_at = at;
    sgc_a32_store(&halted, 0);
    sgc_a32_store(&go_on, 0);
    thread = white_start(allocate_stepwise, NULL);
    white_reached(&halted, 1);
    result = fork_and(use_heap);
    sgc_a32_store_rel(&go_on, 1);
    *end = sgc_a32_load_acq(&halted) == 2;
    white_join(thread);
    return result;
}

/* Not each one, as a fork costs milliseconds: a stride that meets different places of a loop. */
static void test_every_instruction(void)
{
    bool end = false;
    int result = 0;
    long at = 1, tried = 0;

    if (TEST_SANITIZED) {
        tap_skip("single steps go through the sanitizer's own code");
        return;
    }
    for (; !end && result == 0 && at < 1500; at += at < 40 ? 1 : 11, tried++)
        result = fork_beside_halted(at, &end);
    tap_ok(result == 0 && tried > 40, "while another thread stands in a section, at instruction 1 to %ld (%ld forks, %d)", at,
           tried, result);
}

#else

static void test_every_instruction(void)
{
    tap_skip("single steps are for x86-64");
}

#endif

/* ---- what cannot work ------------------------------------------------------------------------------------------------- */

static void fork_in_callback(TEST_UNUSED void *unused, TEST_UNUSED const struct sgc_cycle_record *record)
{
    if (record->cycle > 0) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
}

static int fork_within_collection(void)
{
    static const struct sgc_listener listener = { .cycle_start = fork_in_callback };

    alarm(20);
    sgc_listener_add(&listener);
    if (white_collect() != SGC_COLLECTED)
        return 1;
    sgc_listener_remove(&listener);
    return use_heap();
}

/* ---- a thread that registers while another is about to fork -------------------------------------------- */

static void *fork_once(void *status)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    *(int *)status = child_wait(pid);
    return NULL;
}

/* The registry is held until the forking thread sleeps for it; when it gets it there is one more cache. */
static void test_registering_meanwhile(void)
{
    static struct sgc_cache extra;
    struct sgc_section *self = &sgc_self->section;
    pthread_t thread;
    int status = -1;
    bool opened;

    sgc_lock(&sgc_registry.lock, self);
    pthread_create(&thread, NULL, fork_once, &status);
    for (int i = 0; i < 10000 && sgc_a32_load(&sgc_registry.lock.word) < 2; i++)
        sgc_sleep_ns(1000000);
    opened = sgc_cache_open(&extra, false);
    sgc_unlock(&sgc_registry.lock, self);
    pthread_join(thread, NULL);
    tap_ok(opened && status == 0, "a thread registers while another is about to fork");
}

int main(void)
{
    setenv("SGC_BACKGROUND_THREAD", "eager", 1);
    white_init();
    chain = make_chain();
    if (chain == NULL)
        tap_bail("no memory");
    test_simple();
    test_forking_threads();
    check_beside(hold_pages, "another thread has pages in its hands, which the child gets back");
    check_beside(end_halfway, "a thread is half way through its end");
    test_reserve();
    test_service_at_work();
    if (TEST_SANITIZED)
        tap_skip("a sanitizer's own locks do not survive a fork beside threads that allocate");
    else
        test_storm();
    test_every_instruction();
    test_registering_meanwhile();
    child_says(fork_within_collection, 0, "fork from within a collection",
               "forking from a callback of a collection is reported, and the parent goes on");
    return tap_done();
}
