/* SPDX-License-Identifier: MIT */
/*
 * platform/readable_linux.c: which memory can be read, whichever system call answers.  The first thread's stack does not
 * grow by a question, and where nothing answers, that is known.
 */
#include <sys/mman.h>

#include "platform/platform.h"
#include "tests/lib/child.h"
#include "tests/lib/refuse.h"
#include "tests/lib/sanitized.h"

enum { PAGES = 700 };

static size_t page;
static uintptr_t lo, hi;

/* PAGES of readable memory between two that cannot be read. */
static void map(void)
{
    char *start = mmap(NULL, (PAGES + 2) * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (start == MAP_FAILED || mprotect(start + page, PAGES * page, PROT_READ | PROT_WRITE) != 0)
        tap_bail("no memory");
    lo = (uintptr_t)start + page;
    hi = lo + PAGES * page;
}

static void protect(size_t i, int protection)
{
    mprotect((void *)(lo + i * page), page, protection);
}

/* ---- by the usual source ---------------------------------------------------------------------- */

static void test_words(void)
{
    errno = EDOM;
    tap_ok(sgc_mem_answers(), "the system answers");
    tap_ok(sgc_mem_readable((uintptr_t)&page), "static data can be read");
    tap_ok(sgc_mem_readable(lo) && sgc_mem_readable(hi - 1), "so can mapped memory, to its last byte");
    tap_ok(!sgc_mem_readable(lo - 1) && !sgc_mem_readable(hi), "memory without access cannot");
    tap_ok(!sgc_mem_readable(0) && !sgc_mem_readable(9), "nor can what is not mapped");
    tap_ok(!sgc_mem_readable(UINTPTR_MAX), "nor the kernel's memory");
    tap_ok(errno == EDOM, "errno is as before");
}

static void test_ranges(void)
{
    static const size_t holes[] = { 0, 1, 7, 511, 512, 513, 698, 699 };
    bool until = true, from = true;

    tap_ok(sgc_mem_readable_until(lo + 8, hi + 5 * page) == hi, "readable memory ends at a page without access");
    tap_ok(sgc_mem_readable_from(lo - 3 * page, hi - 8) == lo, "and begins at one");
    tap_ok(sgc_mem_readable_until(lo + 8, lo + 24) == lo + 24, "or at the end that was asked for");
    tap_ok(sgc_mem_readable_from(lo + 8, lo + 24) == lo + 8, "or at the beginning");
    tap_ok(sgc_mem_readable_until(hi, hi + 8) == hi, "nothing begins in a page without access");
    tap_ok(sgc_mem_readable_from(hi, hi + 8) == hi + 8, "or ends in one");
    for (size_t i = 0; i < sizeof holes / sizeof *holes; i++) {
        protect(holes[i], PROT_NONE);
        until = until && sgc_mem_readable_until(lo, hi) == lo + holes[i] * page;
        from = from && sgc_mem_readable_from(lo, hi) == lo + (holes[i] + 1) * page;
        protect(holes[i], PROT_READ | PROT_WRITE);
    }
    tap_ok(until, "it ends at a hole, wherever that is");
    tap_ok(from, "and begins behind one");
}

/* Mapped or not, it ends there. */
static void test_unmapped(void)
{
    munmap((void *)(lo + 300 * page), page);
    tap_ok(sgc_mem_readable_until(lo, hi) == lo + 300 * page, "what is not mapped ends it, too");
    tap_ok(sgc_mem_readable_from(lo, hi) == lo + 301 * page, "or lets it begin");
    mmap((void *)(lo + 300 * page), page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void test_copies(void)
{
    uintptr_t word[4] = { 0 }, *there = (uintptr_t *)(lo + page - sizeof word);

    for (int i = 0; i < 4; i++)
        there[i] = (uintptr_t)i + 7;
    errno = EDOM;
    tap_ok(sgc_mem_copy(word, (uintptr_t)there, sizeof word) && memcmp(word, there, sizeof word) == 0,
           "words are copied, up to the end of a page");
    tap_ok(!sgc_mem_copy(word, hi, sizeof word), "but not out of one that cannot be read");
    tap_ok(errno == EDOM, "errno is as before");
}

/* Its lowest page that the kernel backs must be the same afterwards. */
static void test_growth(void)
{
    struct sgc_stack_bounds bounds;

    if (!sgc_stack_bounds_self(&bounds))
        tap_bail("no stack");
    uintptr_t before = sgc_mem_mapped_from(bounds.low, bounds.high);
    uintptr_t from = sgc_mem_readable_from(bounds.low, bounds.high);
    tap_ok(from == before, "the first thread's stack can be read as far as it has grown");
    tap_ok(sgc_mem_mapped_from(bounds.low, bounds.high) == before, "and does not grow by the question");
}

/* ---- by the others ------------------------------------------------------------------------------ */

/* What fails, as an exit status. */
static int ask(void)
{
    uintptr_t word[2];

    if (!sgc_mem_answers())
        return 2;
    if (sgc_mem_readable_until(lo, hi + page) != hi || sgc_mem_readable_from(lo - page, hi) != lo)
        return 3;
    return sgc_mem_copy(word, lo, sizeof word) && !sgc_mem_copy(word, hi, sizeof word) ? 0 : 4;
}

static int with_mincore_only(void)
{
    munmap((void *)hi, page);
    if (!refuse_calls(SYS_rt_sigprocmask, SYS_process_vm_readv, SYS_process_vm_readv))
        return CHILD_SKIPS;
    return !sgc_mem_answers() || sgc_mem_readable_until(lo, hi + page) != hi ? 2 : 0;
}

static int asked_before(void)
{
    if (!sgc_mem_answers())
        return 2;
    if (!refuse_call(SYS_rt_sigprocmask))
        return CHILD_SKIPS;
    return !sgc_mem_readable(hi) && sgc_mem_readable(lo) ? 0 : 3;
}

static int with_nothing(void)
{
    if (!refuse_calls(SYS_rt_sigprocmask, SYS_process_vm_readv, SYS_mincore))
        return CHILD_SKIPS;
    return sgc_mem_answers() || !sgc_mem_readable(lo) ? 2 : 0;
}

int main(void)
{
    page = sgc_os_page_size();
    map();
    tap_each(test_words, test_ranges, test_unmapped, test_copies, test_growth);
    if (TEST_SANITIZED) {
        tap_skip("a sanitizer needs the system calls that are refused");
        return tap_done();
    }
    child_ok_of(refuse_call(SYS_rt_sigprocmask) ? ask() : CHILD_SKIPS, "without rt_sigprocmask the answers are the same");
    child_ok_of(refuse_call(SYS_process_vm_readv) ? ask() : CHILD_SKIPS, "without process_vm_readv, too");
    child_ok(with_mincore_only, "with mincore alone what is not mapped is known");
    child_ok(asked_before, "another source takes over when the first is refused");
    child_ok(with_nothing, "without any of them it is known that nothing answers");
    return tap_done();
}
