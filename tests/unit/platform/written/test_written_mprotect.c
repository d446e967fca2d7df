/* SPDX-License-Identifier: MIT */
/*
 * platform/written/written_mprotect.c: faults that are none of its own, a client's handlers before
 * and after it, threads that store into one page at once, forks while others store, stacks that
 * must not be protected, limits, and more runs of written pages than a process may have mappings.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

#include "platform/atomics.h"
#include "tests/lib/child.h"
#include "tests/lib/hostile.h"
#include "tests/lib/refuse.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/threads.h"
#include "tests/unit/platform/written/pages.h"

/* Behind the PAGES there are as many without access. */
enum { PAGES = 256, THREADS = 4, ROUNDS = 300, MANY = 150000, FORKS = 40 };

static const struct sgc_written_source *const source = &sgc_written_mprotect;

static bool open_and_arm(void)
{
    struct sgc_written_refusal why;

    return sgc_written_open(source, page_at(0), page_at(2 * PAGES), &why) && source->arm(page_at(0), page_at(PAGES));
}

static void store(size_t n)
{
    *(volatile char *)page_at(n) = 1;
}

static size_t count_dirty(void)
{
    uint64_t bits[PAGES / 64] = { 0 };
    size_t count = 0;

    source->collect(page_at(0), page_at(PAGES), false, bits);
    for (size_t i = 0; i < PAGES / 64; i++)
        count += (size_t)__builtin_popcountll(bits[i]);
    return count;
}

/* ---- faults that are the client's ---- */

static sigjmp_buf back;
static volatile uintptr_t faulted_at;

static void note_fault(TEST_UNUSED int signal, siginfo_t *info, TEST_UNUSED void *context)
{
    faulted_at = (uintptr_t)info->si_addr;
    siglongjmp(back, 1);
}

static bool faults_at(uintptr_t address)
{
    faulted_at = 0;
    if (sigsetjmp(back, 1) == 0)
        *(volatile char *)address = 1;
    return faulted_at == address;
}

static void test_handler_before(void)
{
    struct sigaction action = { .sa_sigaction = note_fault, .sa_flags = SA_SIGINFO };

    sigaction(SIGSEGV, &action, NULL);
    tap_ok(open_and_arm(), "a source of protected pages where a client handles SIGSEGV");
    store(5);
    tap_ok(faulted_at == 0 && count_dirty() == 1, "which does not see our faults");
    tap_ok(faults_at(8), "an address outside is the client's");
    tap_ok(faults_at(page_at(PAGES + 3)), "so is memory of the range that was never armed");
    mprotect((void *)page_at(9), page_bytes, PROT_READ | PROT_WRITE);
    mprotect((void *)page_at(5), page_bytes, PROT_READ);
    tap_ok(faults_at(page_at(5)), "and a page that the client protects itself");
    mprotect((void *)page_at(5), page_bytes, PROT_READ | PROT_WRITE);
    source->close();
    tap_ok(faults_at(8) && faults_at(page_at(PAGES + 3)), "so are they all when it is closed");
    signal(SIGSEGV, SIG_DFL);
}

static void test_handler_after(void)
{
    struct sigaction action = { .sa_sigaction = note_fault, .sa_flags = SA_SIGINFO }, ours;

    open_and_arm();
    store(5);
    sigaction(SIGSEGV, &action, &ours);
    tap_ok(!source->arm(page_at(0), page_at(PAGES)), "a client that sets a handler later: nothing is armed any more");
    tap_ok(count_dirty() == PAGES, "and all is dirty");
    faulted_at = 0;
    for (size_t n = 0; n < PAGES; n++)
        store(n);
    tap_ok(faulted_at == 0, "and no store is a fault of that client's");
    sigaction(SIGSEGV, &ours, NULL);
    source->close();
}

/* ---- handlers of all sorts, each in a process of its own ---- */

static struct sigaction ours_kept;
static volatile int calls;
static volatile bool usr1_blocked, segv_blocked;

static void look_at_mask(TEST_UNUSED int signal)
{
    sigset_t now;

    calls++;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    usr1_blocked = sigismember(&now, SIGUSR1) == 1;
    segv_blocked = sigismember(&now, SIGSEGV) == 1;
    siglongjmp(back, 1);
}

static bool calls_with(int flags, bool blocks_usr1)
{
    struct sigaction action = { .sa_handler = look_at_mask, .sa_flags = flags };
    int before = calls;

    if (blocks_usr1)
        sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGSEGV, &action, NULL);
    if (!open_and_arm())
        return false;
    if (sigsetjmp(back, 1) == 0)
        *(volatile char *)page_at(PAGES + 3) = 1;
    source->close();
    return calls == before + 1 && usr1_blocked == blocks_usr1 && segv_blocked == ((flags & SA_NODEFER) == 0);
}

/* signal(2) of old: once, and then the default. */
static int once_only(void)
{
    if (!calls_with((int)SA_RESETHAND, false) || !open_and_arm())
        return 1;
    *(volatile char *)page_at(PAGES + 3) = 1;
    return 2;
}

static int sent_to_nobody(void)
{
    open_and_arm();
    raise(SIGSEGV);
    return 1;
}

static int sent_and_ignored(void)
{
    signal(SIGSEGV, SIG_IGN);
    if (!open_and_arm())
        return 1;
    raise(SIGSEGV);
    store(3);
    return count_dirty() == 1 ? 0 : 2;
}

/* A client that gives what it does not know to the handler before it. */
static void chain(int signal, siginfo_t *info, void *context)
{
    if (++calls > 3)
        _exit(9);
    ours_kept.sa_sigaction(signal, info, context);
}

static bool install_chain(void)
{
    struct sigaction action = { .sa_sigaction = chain, .sa_flags = SA_SIGINFO | SA_NODEFER };

    return open_and_arm() && sigaction(SIGSEGV, &action, &ours_kept) == 0;
}

static int chained_store(void)
{
    if (!install_chain())
        return 1;
    store(3);
    return calls == 1 && count_dirty() == PAGES ? 0 : 2;
}

/* Opened again it must not stand above what calls it. */
static int chained_wild(void)
{
    struct sgc_written_refusal why = { "nothing", 1 };

    if (!install_chain())
        return 1;
    source->close();
    if (sgc_written_open(source, page_at(0), page_at(2 * PAGES), &why) || strstr(why.step, "handler") == NULL)
        return 2;
    *(volatile char *)page_at(PAGES + 3) = 1;
    return 3;
}

static void test_handlers(void)
{
    child_ok_of(calls_with(0, false) ? 0 : 1, "a client's handler runs with the signals blocked that it would have");
    child_ok_of(calls_with(SA_NODEFER, false) ? 0 : 1, "with SA_NODEFER, too");
    child_ok_of(calls_with(SA_ONSTACK, true) ? 0 : 1, "and with a mask of its own");
    tap_ok(run_in_child(once_only) == 128 + SIGSEGV, "one with SA_RESETHAND is called once");
    tap_ok(run_in_child(sent_to_nobody) == 128 + SIGSEGV, "SIGSEGV that was sent ends the process where nobody handles it");
    child_ok(sent_and_ignored, "ignored it is ignored, and faults are still ours");
    child_ok(chained_store, "a later handler that calls ours: the store is made");
    tap_ok(run_in_child(chained_wild) == 128 + SIGSEGV, "and a wild one does not go round in circles");
}

/* ---- stacks, and what comes between cycles ---- */

/* The kernel ends a process that meets such a fault with the signal blocked, as it does where it cannot write the frame. */
static bool store_blocked(size_t n)
{
    sigset_t all, before;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    store(n);
    return sigprocmask(SIG_SETMASK, &before, NULL) == 0;
}

static int keep_open(void)
{
    if (!open_and_arm())
        return 9;
    source->keep_open(page_at(8) + 100, page_at(11) + 1);
    if (!store_blocked(8) || !store_blocked(11) || count_dirty() != 4)
        return 1;
    if (!source->collect(page_at(0), page_at(PAGES), true, (uint64_t[PAGES / 64]){ 0 }) || !store_blocked(9) ||
        !source->arm(page_at(0), page_at(PAGES)) || count_dirty() != 4 || !store_blocked(10))
        return 2;
    source->rest();
    return source->arm(page_at(0), page_at(PAGES)) && count_dirty() == 0 ? 0 : 3;
}

static int not_kept(void)
{
    open_and_arm();
    source->keep_open(page_at(8), page_at(12));
    store_blocked(12);
    return 0;
}

static int rest(void)
{
    open_and_arm();
    source->rest();
    for (size_t n = 0; n < PAGES; n++)
        store_blocked(n);
    return count_dirty() == PAGES ? 0 : 1;
}

static int die_by_own_fault(void)
{
    volatile uintptr_t wild = 8;

    open_and_arm();
    *(volatile char *)wild = 1;
    return 0;
}

/* ---- threads on one page ---- */

static pthread_barrier_t barrier;

static void *store_at_once(void *arg)
{
    for (size_t round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&barrier);
        for (size_t i = 0; i < 8; i++)
            *((volatile char *)page_at((round * 8 + i) % PAGES) + (uintptr_t)arg) = 1;
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void test_one_page(void)
{
    pthread_t thread[THREADS];
    bool good = true;

    open_and_arm();
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    threads_start(thread, THREADS, store_at_once);
    for (size_t round = 0; round < ROUNDS; round++) {
        uint64_t bits[PAGES / 64] = { 0 };

        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        good = source->collect(page_at(0), page_at(PAGES), true, bits) && good;
        for (size_t i = 0; i < 8; i++)
            good = good && is_set(bits, (round * 8 + i) % PAGES);
    }
    threads_join(thread, THREADS);
    tap_ok(good, "%d threads store into the same clean pages at once, %d rounds", THREADS, ROUNDS);
    source->close();
}

/* ---- forks ---- */

static sgc_a32_t ending;

static void *store_on(void *arg)
{
    for (uintptr_t n = (uintptr_t)arg; sgc_a32_load_acq(&ending) == 0; n += 7)
        store(n % PAGES);
    return NULL;
}

static void *arm_on(void *arg)
{
    while (sgc_a32_load_acq(&ending) == 0)
        source->collect(page_at(0), page_at(PAGES), true, (uint64_t[PAGES / 64]){ 0 });
    return arg;
}

/* Whatever the others were in the middle of: the child stores, and opens a source of its own. */
static int child_of_fork(void)
{
    for (size_t n = 0; n < PAGES; n++)
        store(n);
    source->close();
    if (!open_and_arm())
        return 1;
    store(5);
    return count_dirty() == 1 ? 0 : 2;
}

/* A child that hangs does so with its signals blocked. */
static int fork_once(void)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0)
        _exit(child_of_fork());
    for (int ms = 0; ms < 10000; ms++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        sgc_sleep_ns(1000000);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return status;
}

static void test_forks(void)
{
    pthread_t thread[3];
    int status = 0, forks = 0;

    open_and_arm();
    sgc_a32_store(&ending, 0);
    threads_start(thread, 2, store_on);
    pthread_create(&thread[2], NULL, arm_on, NULL);
    for (; forks < FORKS && status == 0; forks++)
        status = fork_once();
    sgc_a32_store_rel(&ending, 1);
    threads_join(thread, 3);
    tap_ok(status == 0, "%d forks while others store and arm: the children store, too (%d)", forks, status);
    source->close();
}

/* ---- limits ---- */

static int limited_data(void)
{
    struct sgc_written_refusal why;

    if (!open_and_arm() || !limit_to(RLIMIT_DATA, 1 << 30))
        return CHILD_SKIPS;
    if (source->arm(page_at(0), page_at(PAGES)) || count_dirty() != PAGES || !store_blocked(7))
        return 1;
    source->close();
    return sgc_written_open(source, page_at(0), page_at(PAGES), &why) || strstr(why.step, "ulimit -d") == NULL ? 2 : 0;
}

/* ---- near the number of mappings ---- */

/* The program has all mappings: pages that cannot be opened are opened with their neighbours, those that cannot be armed are
 * dirty. */
static int program_has_mappings(void)
{
    if (!open_and_arm())
        return 1;
    if (!use_up_mappings())
        return CHILD_SKIPS;
    for (size_t n = 1; n < PAGES; n += 2)
        store(n);
    if (count_dirty() < PAGES / 2)
        return 2;
    for (size_t n = 0; n < PAGES; n += 16)
        source->arm(page_at(n), page_at(n + 8));
    for (size_t n = 0; n < PAGES; n++)
        store(n);
    if (count_dirty() != PAGES)
        return 3;
    source->close();
    return store_blocked(7) ? 0 : 4;
}

static int write_more_than_maps(void)
{
    static uint64_t bits[2 * MANY / 64 + 1];
    struct sgc_written_refusal why;
    char *many = sgc_mem_obtain(2 * MANY * page_bytes);
    uintptr_t low = (uintptr_t)many, high = low + 2 * MANY * page_bytes;

    if (many == NULL || !sgc_written_open(source, low, high, &why))
        return 77;
    for (int round = 0; round < 2; round++) {
        memset(bits, 0, sizeof bits);
        if (!source->arm(low, high))
            return 1;
        for (size_t n = 0; n < MANY; n++)
            *(volatile char *)(many + 2 * n * page_bytes) = 1;
        if (!source->collect(low, high, false, bits))
            return 2;
        for (size_t n = 0; n < MANY; n++)
            if (!is_set(bits, 2 * n))
                return 3;
    }
    source->close();
    return 0;
}

int main(void)
{
    int status;

    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer has its own handler of SIGSEGV");
    page_bytes = sgc_os_page_size();
    memory = sgc_mem_reserve(2 * PAGES * page_bytes, page_bytes);
    if (memory == NULL || !sgc_mem_commit(memory, PAGES * page_bytes))
        tap_bail("no memory");
    tap_each(test_handlers, test_handler_before, test_handler_after);
    tap_ok(run_in_child(die_by_own_fault) == 128 + SIGSEGV, "without a client's handler a wild store ends the process");
    child_ok(keep_open, "what is kept open is never protected, and dirty, until the cycle is over");
    tap_ok(run_in_child(not_kept) == 128 + SIGSEGV, "and its neighbours are");
    child_ok(rest, "between cycles nothing is protected");
    test_one_page();
    test_forks();
    child_ok(limited_data, "where data is limited nothing is armed: there might be no room to write again");
    child_ok(program_has_mappings, "a program with as many mappings as there may be");
    status = run_in_child(write_more_than_maps);
    if (status == 77)
        tap_skip("no memory for %d pages", 2 * MANY);
    else
        tap_ok(status == 0, "%d runs of written pages, more than there may be mappings: none is lost (%d)", MANY, status);
    return tap_done();
}
