/* SPDX-License-Identifier: MIT */
/*
 * Checked blocks (SGC_HARDEN=2): malloc/checked.c, malloc/quarantine.h, malloc/empty.h.  The program calls itself
 * with the level in its environment, and with SGC_HARDEN_ACTION=report, so that it can go on after
 * what it tries, and see what was told.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <unistd.h>

#include "alloc/whole_heap.h"
#include "malloc/checked.h"
#include "malloc/empty.h"
#include "malloc/family.h"
#include "malloc/quarantine.h"
#include "tests/lib/bytes.h"
#include "tests/lib/child.h"
#include "tests/lib/random.h"
#include "tests/lib/threads.h"

enum { LARGE = 300000, MANY = 2000 };

static void *volatile kept;             /* the compiler does not know what is done with it */

static char *block(size_t bytes)
{
    kept = sgc_malloc(bytes);
    return kept;
}

/* ---- blocks ---- */

static void test_blocks(void)
{
    int wrong = 0, unaligned = 0;

    for (size_t bytes = 1; bytes < 50000; bytes += bytes < 600 ? 1 : bytes / 9) {
        char *p = block(bytes);

        wrong += sgc_malloc_usable_size(p) != bytes || !all_zero(p, bytes);
        memset(p, 'A', bytes);
        sgc_free(p);
    }
    tap_ok(wrong == 0, "a block is zero, and has as many bytes as were asked for");
    for (size_t align = 16; align <= 1 << 20; align *= 2)
        for (size_t bytes = 1; bytes < 100000; bytes = 3 * bytes + 1) {
            char *p = sgc_aligned_alloc(align, bytes);

            unaligned += (uintptr_t)p % align != 0 || sgc_malloc_usable_size(p) != bytes;
            memset(p, 'A', bytes);
            sgc_free(p);
        }
    tap_ok(unaligned == 0, "also at alignments");
}

static void test_realloc(void)
{
    char *p = block(100), *q;

    memset(p, 'A', 100);
    q = sgc_realloc(p, 104);
    tap_ok(q != p && q[0] == 'A' && q[99] == 'A' && all_zero(q + 100, 4) && sgc_malloc_usable_size(q) == 104,
           "a block that grows is another one");
    sgc_free(q);
}

/* ---- the secret ---- */

/* A seal without what is known of it has the secret's lower bytes; the C library has its canary from
 * these of AT_RANDOM, and what it seals pointers with from the next eight. */
static void test_secret(void)
{
    uintptr_t random[2];
    char *p = block(24);
    uintptr_t seal = *(uintptr_t *)(p + 24), found = seal >> 8 ^ (uintptr_t)p ^ 24, lower = UINTPTR_MAX >> 8;

    memcpy(random, (const void *)getauxval(AT_RANDOM), sizeof random);
    tap_ok(found != 0 && ((found ^ random[0]) & lower & ~(uintptr_t)0xff) != 0 && ((found ^ random[1]) & lower) != 0,
           "a seal says nothing of AT_RANDOM");
    sgc_free(p);
}

/* ---- beyond the end ---- */

/* How many of these writes behind the block are told when it is freed. */
static int count_overruns(size_t bytes, char value)
{
    char *p = block(bytes);
    const char *said;

    capture_begin();
    p[bytes] = value;
    sgc_free(p);
    said = capture_end();
    return capture_count(said, "free(0x") == 1 && capture_count(said, "written behind the block") == 1;
}

static void test_overruns(void)
{
    int tried = 0, zeros = 0, others = 0;

    for (size_t bytes = 1; bytes < 2 * LARGE; bytes += bytes < 600 ? 1 : bytes / 7, tried++) {
        zeros += count_overruns(bytes, 0);
        others += count_overruns(bytes, 'A');
    }
    tap_ok(zeros == tried && others == tried, "one byte behind a block is told, for %d sizes (%d zeros, %d others)",
           tried, zeros, others);
}

/* ---- after the free ---- */

static const char *pairs(size_t bytes, int count)
{
    capture_begin();
    for (int i = 0; i < count; i++)
        sgc_free(block(bytes));
    return capture_end();
}

static void test_late_writes(void)
{
    static const size_t sizes[] = { 1, 8, 24, 64, 1000, 4096, 20000 };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *p = block(sizes[i]);

        sgc_free(p);
        tap_ok(all_zero(p, sizes[i]), "%zu bytes read as zero after their free", sizes[i]);
        capture_begin();
        sgc_free(p = block(sizes[i]));
        *(volatile char *)p = 'A';
        sgc_free(block(33));
        tap_ok(capture_count(capture_end(), "after its free") == 1, "a write to its first word is told at the next allocation");
        *(volatile char *)(p + sizes[i] - 1) = 'A';
        tap_ok(capture_count(pairs(sizes[i], MANY), "after its free") == 1, "one to its last byte when its slot is used again");
    }
    tap_ok(*pairs(100, MANY) == '\0', "nothing more is told");
}

/* A system call does not write where the program may not. */
static bool is_closed(void *p)
{
    int ends[2];
    bool closed;

    if (pipe(ends) != 0)
        tap_bail("no pipe");
    closed = write(ends[1], p, 1) < 0 && errno == EFAULT;
    close(ends[0]);
    close(ends[1]);
    return closed;
}

static void test_spans(void)
{
    char *p = block(LARGE);
    int wrong = 0, again = 0;

    memset(p, 'A', LARGE);
    sgc_free(p);
    tap_ok(is_closed(p) && is_closed(p + LARGE / 2), "a large block that is freed can be neither read nor written");
    for (int i = 0; i < 4 * SGC_QUARANTINE_SPANS; i++) {
        char *q = block(LARGE);

        wrong += is_closed(q) || is_closed(q + LARGE / 2) || !all_zero(q, LARGE);
        again += q < p + LARGE && p < q + LARGE;
        memset(q, 'A', LARGE);
        sgc_free(q);
    }
    tap_ok(wrong == 0 && again != 0, "its memory is used again in time, and is open and zero then (%d times)", again);
    p = block((size_t)20 << 20);
    memset(p, 'A', (size_t)20 << 20);
    sgc_free(p);
    p = block((size_t)20 << 20);
    tap_ok(all_zero(p, (size_t)20 << 20), "a very large one is zero, too");
    sgc_free(p);
}

/* ---- blocks without bytes ---- */

static void test_empty(void)
{
    char *p = block(0), *q = block(0);
    uintptr_t next;
    int others;

    tap_ok(p != q && (uintptr_t)p % 16 == 0 && (uintptr_t)q % 16 == 0, "each block without bytes has an address of its own");
    tap_ok(is_closed(p) && sgc_malloc_usable_size(p) == 0, "which can be neither read nor written");
    q = sgc_realloc(q, 10);
    tap_ok(all_zero(q, 10), "it can become larger");
    sgc_free(q);
    sgc_free_sized(p, 0);
    capture_begin();
    sgc_free(p);
    sgc_free(p + 1);
    kept = sgc_realloc(p, 5);
    tap_ok(capture_count(capture_end(), "there is no block") == 3 && kept == NULL, "a second free of it is told");
    for (others = 0; others < 10000 && (q = block(0)) != p; others++)
        sgc_free(q);
    tap_ok(others > 4000 && others < 5000, "its address comes again after %d others", others);
    sgc_free(q);
    capture_begin();
    sgc_free_sized(block(0), 1);
    tap_ok(capture_count(capture_end(), "the size 1 is passed, but the program has asked for 0") == 1,
           "so is a wrong size");
    for (others = 0; others < 10000 && is_closed(q = block(0)); p = q)
        others++;
    tap_ok(others >= 4090 && sgc_malloc_usable_size(q) == 1, "beyond %d of them one has a byte", others);
    next = sgc_aw_load(&sgc_empty.next);
    sgc_free(block(0));
    tap_ok(sgc_aw_load(&sgc_empty.next) == next, "and no address is sought in vain");
    sgc_free(p);
    next = sgc_aw_load(&sgc_empty.next);
    q = block(0);
    tap_ok(q == p && sgc_aw_load(&sgc_empty.next) - next <= SGC_EMPTY_BLOCKS, "the only one left is found, in one round");
}

/* ---- wrong frees ---- */

static void *free_it(void *p)
{
    sgc_free(p);
    return NULL;
}

static void free_elsewhere(void *p)
{
    thread_result(free_it, p);
}

static int count_frees(size_t bytes, bool first_elsewhere, int between, bool then_elsewhere)
{
    char *p = block(bytes);

    (first_elsewhere ? free_elsewhere : sgc_free)(p);
    if (*pairs(bytes, between) != '\0')
        return -1;
    capture_begin();
    (then_elsewhere ? free_elsewhere : sgc_free)(p);
    return capture_count(capture_end(), "freed already");
}

static void test_second_frees(void)
{
    static const size_t sizes[] = { 8, 500, 4096, LARGE };

    for (size_t i = 0; i < 4; i++) {
        int told = count_frees(sizes[i], false, 0, false) + count_frees(sizes[i], false, 1, true) +
                   count_frees(sizes[i], true, 1, false) + count_frees(sizes[i], true, 0, true);

        tap_ok(told == 4, "a second free of %zu bytes is told, by whichever thread (%d of 4)", sizes[i], told);
    }
    tap_ok(count_frees(48, true, 10, false) == 1, "also when the first was another thread's");
}

static void test_sizes(void)
{
    capture_begin();
    sgc_free_sized(block(24), 24);
    sgc_free_sized(block(1), 1);
    sgc_free_sized(block(0), 0);
    sgc_free_sized(NULL, 5);
    tap_ok(*capture_end() == '\0', "right sizes are passed over");
    capture_begin();
    sgc_free_sized(block(24), 25);
    sgc_free_aligned_sized(block(1), 16, 72);
    tap_ok(capture_count(capture_end(), "the size ") == 2, "wrong ones are told");
}

/* ---- quarantine ---- */

static void test_quarantine(void)
{
    char *p = block(40);
    int after;

    sgc_free(p);
    for (after = 0; after < 4 * SGC_QUARANTINE_SLOTS; after++) {
        char *q = block(40);

        sgc_free(q);
        if (q == p)
            break;
    }
    tap_ok(after >= SGC_QUARANTINE_SLOTS - 1 && after < 4 * SGC_QUARANTINE_SLOTS,
           "a block is handed out again after %d others of its size", after);
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 20000, SHARED = 512 };

static sgc_aw_t shared[SHARED];

static void *exchange(void *arg)
{
    uint64_t x = (uintptr_t)arg;

    for (int i = 0; i < ROUNDS; i++) {
        size_t bytes = random_below(&x, 64) == 0 ? 30000 : 1 + random_below(&x, 700);
        char *p = sgc_malloc(bytes), *old;

        memset(p, 'A', bytes);
        old = (char *)sgc_aw_swap(&shared[random_below(&x, SHARED)], (uintptr_t)p);
        if (old != NULL && old[0] != 'A')
            abort();
        sgc_free(old);
    }
    return NULL;
}

static void test_threads(void)
{
    pthread_t thread[THREADS];

    capture_begin();
    for (uintptr_t i = 0; i < THREADS; i++)
        thread[i] = thread_start(exchange, (void *)(i + 1));
    threads_join(thread, THREADS);
    for (int i = 0; i < SHARED; i++)
        sgc_free((void *)sgc_aw_load(&shared[i]));
    tap_ok(*capture_end() == '\0', "threads that free each other's blocks are told nothing");
    sgc_heap_check();
    tap_ok(true, "and the heap is right");
}

/* ---- signal handlers ---- */

enum { ALLOCATED = 7, HANG_SECONDS = 20 };

static void allocate_and_end(TEST_UNUSED int number)
{
    memset(block(LARGE), 1, LARGE);
    memset(block(100), 1, 100);
    _exit(ALLOCATED);
}

static void free_twice(void *p)
{
    sgc_free(p);
    sgc_free(p);
}

/* A destructor of the last round has the common cache. */
static pthread_key_t key;

static void free_twice_late(void *value)
{
    uintptr_t round = (uintptr_t)value;

    if (round < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(key, (void *)(round + 1));
    else
        free_twice(block(100));
}

static void *end_late(void *arg)
{
    sgc_free(block(1));
    pthread_setspecific(key, (void *)1);
    return arg;
}

/* The program ends by the message, and its handler of SIGABRT allocates. */
static int end_by_message(bool late)
{
    sgc_malloc_options.action = SGC_HARDEN_ABORT;
    signal(SIGABRT, allocate_and_end);
    alarm(HANG_SECONDS);
    if (late && pthread_key_create(&key, free_twice_late) == 0)
        thread_result(end_late, NULL);
    else
        free_twice(block(100));
    return 0;
}

static volatile sig_atomic_t interruptions;

static void use_malloc(TEST_UNUSED int number)
{
    sgc_free(block(20000));
    interruptions = interruptions + 1;
}

/* Most of the time goes by in the midst of a block, not in sections.  0: nothing was said. */
static int interrupt_often(void)
{
    struct itimerval often = { { 0, 300 }, { 0, 300 } };

    signal(SIGALRM, use_malloc);
    setitimer(ITIMER_REAL, &often, NULL);
    while (interruptions < 20)
        sgc_free(memset(sgc_malloc(20000), 1, 1));
    return 0;
}

static void only_allocate(TEST_UNUSED int number)
{
    block(64);
    interruptions = interruptions + 1;
}

/* There are slots at hand, so no lock is needed. */
static int interrupt_frees(void)
{
    struct itimerval often = { { 0, 300 }, { 0, 300 } };
    static void *all[MANY];

    for (int i = 0; i < MANY; i++)
        all[i] = block(64);
    for (int i = 0; i < MANY; i++)
        sgc_free(all[i]);
    signal(SIGALRM, only_allocate);
    setitimer(ITIMER_REAL, &often, NULL);
    while (interruptions < 100)
        sgc_free(sgc_malloc(64));
    return 0;
}

static void test_handlers(void)
{
    child_says_of(end_by_message(false), ALLOCATED, "freed already",
                  "a handler of SIGABRT may allocate when a message ends the program");
    if (SGC_TSAN)
        tap_skip("ThreadSanitizer's own part of a thread is over before the last round of destructors");
    else
        child_says_of(end_by_message(true), ALLOCATED, "freed already", "also of a thread that has the common cache");
    child_says(interrupt_often, 128 + SIGABRT, "a signal handler called malloc",
               "a handler that has interrupted malloc and calls it is told");
    child_says(interrupt_frees, 128 + SIGABRT, "a signal handler called malloc",
               "so is one that only allocates what is at hand");
}

int main(int argc, char **argv)
{
    if (!sgc_checks() && argc == 1) {
        setenv("SGC_HARDEN", "2", 1);
        setenv("SGC_HARDEN_ACTION", "report", 1);
        execl("/proc/self/exe", argv[0], "again", (char *)NULL);
        tap_bail("the program cannot call itself");
    }
    tap_ok(sgc_checks(), "blocks are checked");
    return tap_all(test_blocks, test_realloc, test_secret, test_overruns, test_late_writes, test_spans, test_empty,
                   test_second_frees, test_sizes, test_quarantine, test_threads, test_handlers);
}
