/* SPDX-License-Identifier: MIT */
/*
 * platform/dirty_mprotect.c: faults that are none of its own, a client's handlers before and after it, threads that store
 * into one page at once, and more runs of written pages than a process may have mappings.
 */
#include "platform/dirty.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "platform/platform.h"
#include "tests/lib/child.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/tap.h"

enum { PAGES = 256, THREADS = 4, ROUNDS = 300, MANY = 150000 };

static const struct sgc_dirty_source *const source = &sgc_dirty_mprotect;
static size_t page_bytes;
static char *memory;                    /* PAGES, and behind them as many without access */

static uintptr_t page_at(size_t n)
{
    return (uintptr_t)memory + n * page_bytes;
}

static bool open_and_arm(void)
{
    struct sgc_dirty_refusal why;

    return sgc_dirty_open(source, page_at(0), page_at(2 * PAGES), &why) && source->arm(page_at(0), page_at(PAGES));
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

static void note_fault(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
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
    struct sigaction action = { .sa_sigaction = note_fault, .sa_flags = SA_SIGINFO }, now;

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
    sigaction(SIGSEGV, NULL, &now);
    tap_ok(now.sa_sigaction == note_fault, "closing puts the client's handler back");
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
    sigaction(SIGSEGV, &ours, NULL);
    source->close();
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
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, store_at_once, (void *)i);
    for (size_t round = 0; round < ROUNDS; round++) {
        uint64_t bits[PAGES / 64] = { 0 };

        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        good = source->collect(page_at(0), page_at(PAGES), true, bits) && good;
        for (size_t i = 0; i < 8; i++)
            good = good && (bits[(round * 8 + i) % PAGES / 64] >> (round * 8 + i) % 64 & 1) != 0;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    tap_ok(good, "%d threads store into the same clean pages at once, %d rounds", THREADS, ROUNDS);
    source->close();
}

/* ---- near the number of mappings ---- */

static int write_more_than_maps(void)
{
    static uint64_t bits[2 * MANY / 64 + 1];
    struct sgc_dirty_refusal why;
    char *many = sgc_mem_obtain(2 * MANY * page_bytes);
    uintptr_t low = (uintptr_t)many, high = low + 2 * MANY * page_bytes;

    if (many == NULL || !sgc_dirty_open(source, low, high, &why))
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
            if ((bits[2 * n / 64] >> 2 * n % 64 & 1) == 0)
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
    tap_plan(0);
    test_handler_before();
    test_handler_after();
    tap_ok(run_in_child(die_by_own_fault) == 128 + SIGSEGV, "without a client's handler a wild store ends the process");
    test_one_page();
    status = run_in_child(write_more_than_maps);
    if (status == 77)
        tap_skip("no memory for %d pages", 2 * MANY);
    else
        tap_ok(status == 0, "%d runs of written pages, more than there may be mappings: none is lost (%d)", MANY, status);
    return tap_done();
}
