/* SPDX-License-Identifier: MIT */
/*
 * platform/written/written.c, platform/written/written_async_linux.c,
 * platform/written/written_soft_linux.c and platform/written/written_mprotect.c: each source
 * against a model of which pages were written, beside threads that write all the time, and where
 * the system refuses.  What only protected pages can get wrong is in test_written_mprotect.c, and
 * what only reported writes can is in test_written_software.c.  Here all writes are reported.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "tests/lib/child.h"
#include "tests/lib/hostile.h"
#include "tests/lib/random.h"
#include "tests/lib/refuse.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/threads.h"
#include "tests/unit/platform/written/pages.h"

enum { PAGES = 1400, WORDS = (PAGES + 63) / 64, STEPS = 3000, WRITERS = 3, RUN_MS = 400 };

static const struct sgc_written_source *const sources[] = {
    &sgc_written_async, &sgc_written_soft, &sgc_written_mprotect, &sgc_written_software, &sgc_written_none,
};

static const struct sgc_written_source *source;
static uint64_t seed = 88172645463325252u;

static size_t below(size_t bound)
{
    return (size_t)(random_word(&seed) % bound);
}

static size_t count_dirty(size_t from, size_t to, bool rearm)
{
    uint64_t bits[WORDS] = { 0 };
    size_t count = 0;

    source->collect(page_at(from), page_at(to), rearm, bits);
    for (size_t n = 0; n < to - from; n++)
        count += is_set(bits, n);
    return count;
}

static void store(size_t n)
{
    volatile char *to = memory + n * page_bytes + below(page_bytes);

    *to = (char)n;
    sgc_written_report((const void *)to);
}

static int pipe_ends[2];

/* Raw: sanitizers look at what the wrapped call writes. */
static bool store_by_read(void *to, const void *what, size_t bytes)
{
    bool done = syscall(SYS_write, (long)pipe_ends[1], what, bytes) == (long)bytes &&
                syscall(SYS_read, (long)pipe_ends[0], to, bytes) == (long)bytes;

    sgc_written_report(to);
    return done;
}

/* ---- against a model ---- */

static bool model_written[PAGES];       /* or never armed */
static bool model_dropped[PAGES];       /* discarded: may count as written, and may not */

static void model_store(void)
{
    size_t n = below(PAGES);

    if (source->kernel_writes && below(4) == 0)
        store_by_read((void *)page_at(n), "0123456", 7);
    else
        store(n);
    model_written[n] = true;
}

static void model_discard(void)
{
    size_t n = below(PAGES);

    sgc_mem_discard((void *)page_at(n), page_bytes);
    model_dropped[n] = true;
    if (source == &sgc_written_soft)      /* the bit goes with the contents */
        model_written[n] = false;
}

/* Returns whether it is to be watched anew, which some sources do for all pages at once. */
static bool range(size_t *from, size_t *to)
{
    bool rearm = below(2) != 0, all = rearm && source->arms_all;

    *from = all ? 0 : below(PAGES);
    *to = all ? PAGES : *from + 1 + below(PAGES - *from);
    return rearm;
}

static bool as_expected(size_t n, bool dirty)
{
    if (source == &sgc_written_none)
        return dirty;
    return model_written[n] ? dirty : model_dropped[n] || source == &sgc_written_soft || !dirty;
}

/* Of the bits it gets only those of its range may change. */
static bool model_collect(void)
{
    uint64_t bits[WORDS + 1] = { 0 };
    size_t from, to;
    bool rearm = range(&from, &to), good = source->collect(page_at(from), page_at(to), rearm, bits);

    for (size_t n = from; n < to; n++) {
        good = good && as_expected(n, is_set(bits, n - from));
        if (rearm)
            model_written[n] = model_dropped[n] = false;
    }
    for (size_t n = to - from; n < 64 * (WORDS + 1); n++)
        good = good && !is_set(bits, n);
    return good;
}

static void test_model(void)
{
    bool good;

    memset(memory, 1, PAGES * page_bytes);
    good = count_dirty(0, PAGES, false) == PAGES;
    tap_ok(good, "%s: what was never armed is dirty", source->name);
    good = source->arm(page_at(0), page_at(PAGES));
    memset(model_written, 0, sizeof model_written);
    memset(model_dropped, 0, sizeof model_dropped);
    for (int i = 0; i < STEPS && good; i++)
        switch (below(16)) {
        case 0: good = model_collect(); break;
        case 1: model_discard(); break;
        default: model_store(); break;
        }
    tap_ok(good, "%s: %d random stores, discards and rounds: dirty is what the model says", source->name, STEPS);
}

static void test_many_runs(void)
{
    size_t expected = source == &sgc_written_none ? PAGES : (PAGES + 1) / 2;

    source->collect(page_at(0), page_at(PAGES), true, (uint64_t[WORDS]){ 0 });
    for (size_t n = 0; n < PAGES; n += 2)
        store(n);
    tap_ok(count_dirty(0, PAGES, true) == expected, "%s: each second page is dirty: %zu runs", source->name, expected);
    tap_ok(source == &sgc_written_none || count_dirty(0, PAGES, false) == 0, "%s: and none after that round", source->name);
}

/* ---- beside threads that write ---- */

static uintptr_t copy[PAGES * 8];       /* eight words of each page are written */
static sgc_a32_t ending;
static pthread_mutex_t rounds = PTHREAD_MUTEX_INITIALIZER;      /* for sources that need the program to stand still */
static pthread_mutex_t one_pipe = PTHREAD_MUTEX_INITIALIZER;    /* each reads what it has written */

static sgc_aw_t *word_at(size_t i)
{
    return (sgc_aw_t *)(page_at(i / 8) + i % 8 * 512);
}

static void write_one(uint64_t *state, uintptr_t value)
{
    size_t i;

    *state = *state * 6364136223846793005u + 1442695040888963407u;
    i = (size_t)(*state >> 33) % (PAGES * 8);
    if (source->kernel_writes && *state % 16 == 0) {
        pthread_mutex_lock(&one_pipe);
        store_by_read(word_at(i), &value, sizeof value);
        pthread_mutex_unlock(&one_pipe);
    } else {
        sgc_aw_store(word_at(i), value);
        sgc_written_report(word_at(i));
    }
}

static void *write_on(void *arg)
{
    uint64_t state = (uintptr_t)arg;
    uintptr_t value = state << 32;

    while (sgc_a32_load_acq(&ending) == 0) {
        if (!source->rearms_running)
            pthread_mutex_lock(&rounds);
        for (int i = 0; i < 100; i++)
            write_one(&state, ++value);
        if (!source->rearms_running)
            pthread_mutex_unlock(&rounds);
    }
    return (void *)(value & UINT32_MAX);
}

static void take_round(bool rearm)
{
    uint64_t bits[WORDS] = { 0 };

    source->collect(page_at(0), page_at(PAGES), rearm, bits);
    syscall(SYS_membarrier, 8L, 0L, 0L);        /* all threads' stores before are seen: MEMBARRIER_CMD_PRIVATE_EXPEDITED */
    for (size_t i = 0; i < PAGES * 8; i++)
        if (is_set(bits, i / 8))
            copy[i] = sgc_aw_load(word_at(i));
}

static unsigned run_rounds(void)
{
    uint64_t end = sgc_clock_ns() + RUN_MS * UINT64_C(1000000);
    unsigned count = 0;

    for (; sgc_clock_ns() < end; count++) {
        if (!source->rearms_running)
            pthread_mutex_lock(&rounds);
        take_round(true);
        if (!source->rearms_running)
            pthread_mutex_unlock(&rounds);
    }
    return count;
}

static size_t count_lost(void)
{
    size_t lost = 0;

    for (size_t i = 0; i < PAGES * 8; i++)
        lost += copy[i] != sgc_aw_load(word_at(i));
    return lost;
}

/* The copy is made of dirty pages only, so it is right in the end if no write was missed. */
static void test_lost_writes(void)
{
    pthread_t thread[WRITERS];
    unsigned count;
    size_t lost, writes;

    syscall(SYS_membarrier, 16L, 0L, 0L);       /* MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED */
    sgc_a32_store(&ending, 0);
    source->arm(page_at(0), page_at(PAGES));
    for (size_t i = 0; i < PAGES * 8; i++)
        copy[i] = sgc_aw_load(word_at(i));
    for (uintptr_t i = 0; i < WRITERS; i++)
        thread[i] = thread_start(write_on, (void *)(i + 1));
    count = run_rounds();
    sgc_a32_store_rel(&ending, 1);
    writes = (size_t)threads_sum(thread, WRITERS);
    take_round(false);
    lost = count_lost();
    tap_ok(lost == 0 && count > 1 && writes > 0, "%s: %u rounds beside %zu writes, none is lost (%zu)", source->name,
           count, writes, lost);
}

/* ---- closing, and what the program may do ---- */

static void test_closed(void)
{
    source->arm(page_at(0), page_at(PAGES));
    source->close();
    for (size_t n = 0; n < PAGES; n++)
        store(n);
    tap_ok(count_dirty(0, PAGES, true) == PAGES, "%s: when it is closed all is dirty, and can be written", source->name);
}

/* A child's own source: what the parent armed means nothing there. */
static int use_in_child(void)
{
    struct sgc_written_refusal why;

    source->close();
    if (!sgc_written_open(source, page_at(0), page_at(PAGES), &why) || !source->arm(page_at(0), page_at(PAGES)))
        return 1;
    store(7);
    return count_dirty(0, PAGES, true) == (source == &sgc_written_none ? PAGES : 1) ? 0 : 2;
}

static void test_fork(void)
{
    size_t expected = source == &sgc_written_none ? PAGES : 1;

    source->arm(page_at(0), page_at(PAGES));
    tap_ok(run_in_child(use_in_child) == 0, "%s: the child of a fork opens its own", source->name);
    source->collect(page_at(0), page_at(PAGES), true, (uint64_t[WORDS]){ 0 });
    store(3);
    size_t dirty = count_dirty(0, PAGES, false);
    tap_ok(dirty == expected, "%s: and the parent's goes on (%zu dirty)", source->name, dirty);
}

static int close_descriptors(void)
{
    bool needs_them = source == &sgc_written_async || source == &sgc_written_soft;

    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    store(9);
    if (needs_them && count_dirty(0, PAGES, false) != PAGES)
        return 1;
    if (needs_them && source->arm(page_at(0), page_at(PAGES)))
        return 2;
    source->close();
    return 0;
}

/* ---- descriptors that are the program's by now ---- */

/* Whether or not the system does what the source is for. */
static int descriptors_reused(void)
{
    struct sgc_written_refusal why;

    if (!source->open(page_at(0), page_at(PAGES), &why))
        return CHILD_SKIPS;
    source->arm(page_at(0), page_at(PAGES));
    if (!replace_descriptors())
        return CHILD_SKIPS;
    store(9);
    if (count_dirty(0, PAGES, false) != PAGES || count_dirty(0, PAGES, true) != PAGES)
        return 1;
    if (source->arm(page_at(0), page_at(PAGES)))
        return 2;
    source->close();
    return theirs_untouched() ? 0 : 3;
}

static void test_descriptors_reused(void)
{
    for (size_t i = 0; i < 2; i++) {
        source = sources[i];
        child_ok(descriptors_reused, "%s: files of the program that got its descriptors' numbers are left alone", source->name);
    }
}

/* ---- where the system refuses ---- */

static int open_refused(const char *step, int error)
{
    struct sgc_written_refusal why = { "nothing", 0 };

    if (sgc_written_open(source, page_at(0), page_at(PAGES), &why))
        return 1;
    return strcmp(why.step, step) == 0 && why.error == error ? 0 : 2;
}

static int open_without_descriptors(void)
{
    limit_to(RLIMIT_NOFILE, 3);
    return open_refused(source == &sgc_written_async ? "userfaultfd" : "/proc/self/clear_refs", EMFILE);
}

static void test_refused(void)
{
    source = &sgc_written_async;
    child_ok_of(refuse_call(SYS_userfaultfd) ? open_refused("userfaultfd", EPERM) : CHILD_SKIPS,
                "async: a refused userfaultfd is named");
    for (size_t i = 0; i < 2; i++) {
        source = sources[i];
        child_ok(open_without_descriptors, "%s: so is a lack of descriptors", source->name);
    }
}

/* Asked without the source: page 0 is stored into, page 1 is not. */
static bool has_soft_dirty_bits(void)
{
    int clear = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC), pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entry[2] = { 0, 0 };
    bool has;

    memset(memory, 1, 2 * page_bytes);
    has = write(clear, "4", 1) == 1;
    *(volatile char *)memory = 2;
    has = has && pread(pagemap, entry, sizeof entry, (off_t)(page_at(0) / page_bytes * sizeof *entry)) == sizeof entry;
    close(clear);
    close(pagemap);
    return has && (entry[0] >> 55 & 1) == 1 && (entry[1] >> 55 & 1) == 0;
}

static void test_source(void)
{
    struct sgc_written_refusal why = { "", 0 };
    bool has = source == &sgc_written_soft && has_soft_dirty_bits();

    if (!sgc_written_open(source, page_at(0), page_at(PAGES), &why)) {
        if (has)
            tap_ok(false, "softdirty: the source works where the kernel has such bits");
        tap_skip("%s: the system does not have it (%s: %s)", source->name, why.step,
                 why.error == 0 ? "it does not say what was written" : strerror(why.error));
        return;
    }
    tap_each(test_model, test_many_runs, test_lost_writes, test_fork);
    tap_ok(run_in_child(close_descriptors) == 0, "%s: a program may close all descriptors", source->name);
    test_closed();
}

int main(void)
{
    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer has its own idea of this process's pages and signals");
    pages_make(PAGES);
    if (pipe(pipe_ends) != 0)
        tap_bail("no pipe");
    madvise(memory, PAGES * page_bytes, MADV_NOHUGEPAGE);       /* which has one soft-dirty bit */
    test_refused();
    test_descriptors_reused();
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        source = sources[i];
        test_source();
    }
    return tap_done();
}
