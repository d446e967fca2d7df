/* SPDX-License-Identifier: MIT */
/*
 * mark/work.c: a mark stack grows in place to its limit, refuses then, keeps order, and gives memory back.
 */
#include "mark/work.h"

#include "platform/platform.h"
#include "tests/child.h"
#include "tests/sanitized.h"
#include "tests/tap.h"

static struct sgc_work_stack stack;

static size_t push_all(void)
{
    size_t n = 0;

    while (sgc_work_push(&stack, n * 8, n))
        n++;
    return n;
}

/* Pops everything; true if it comes in the reverse order of push_all. */
static bool pop_all(size_t n)
{
    struct sgc_work work;
    bool right = true;

    while (sgc_work_pop(&stack, &work)) {
        n--;
        right = right && work.start == n * 8 && work.bytes == n;
    }
    return right && n == 0;
}

static void test_limit(size_t bytes)
{
    if (!sgc_work_stack_init(&stack, bytes))
        tap_bail("no mark stack of %zu bytes", bytes);
    struct sgc_work work, *base = stack.base;
    tap_ok(!sgc_work_pop(&stack, &work), "a new stack of %zu KB is empty", bytes >> 10);
    tap_ok(stack.committed == 0, "and has no memory");
    size_t n = push_all();
    tap_ok(n == bytes / sizeof work && n == stack.reserved, "it takes as many pieces as there is space (%zu)", n);
    tap_ok(!sgc_work_push(&stack, 1, 1) && stack.top == n, "and refuses the next, unharmed");
    tap_ok(stack.base == base, "it never moves");
    tap_ok(pop_all(n), "pieces come back last in, first out");
    tap_ok(stack.deepest == n, "its depth is remembered");
    sgc_work_stack_release(&stack);
}

static void test_least(void)
{
    tap_ok(sgc_work_stack_init(&stack, 1) && stack.reserved * sizeof(struct sgc_work) == 64 << 10,
           "less than 64 KB is 64 KB");
    sgc_work_stack_release(&stack);
    tap_ok(sgc_work_stack_init(&stack, 100000) && stack.reserved * sizeof(struct sgc_work) <= 100000,
           "a limit that is no multiple of anything is kept");
    size_t n = push_all();
    tap_ok(n == stack.reserved && pop_all(n), "and used up");
    sgc_work_stack_release(&stack);
}

/* It commits by doubling, so few system calls are made on the way. */
static void test_growth(void)
{
    sgc_work_stack_init(&stack, 16 << 20);
    size_t grown = 0, committed = 0;
    for (size_t i = 0; i < (16 << 20) / sizeof(struct sgc_work); i++) {
        sgc_work_push(&stack, i, i);
        grown += stack.committed != committed;
        committed = stack.committed;
    }
    tap_ok(grown > 1 && grown <= 10, "16 MB are committed in %zu steps", grown);
    stack.top = 0;
    sgc_work_stack_trim(&stack);
    size_t resident = sgc_mem_resident(stack.base, 16 << 20);
    tap_ok(resident <= 64 << 10, "trimmed, %zu KB stay resident", resident >> 10);
    size_t n = push_all();
    tap_ok(pop_all(n) && n == stack.reserved, "and it can be filled again");
    sgc_work_stack_release(&stack);
}

/* ---- refusals, in children ---- */

static int no_address_space(void)
{
    setrlimit(RLIMIT_AS, &(struct rlimit){ 0, 0 });
    return sgc_work_stack_init(&stack, 0) ? 1 : 0;
}

static int little_address_space(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%zu", &pages) != 1)
        return 2;
    size_t limit = pages * sgc_os_page_size() + (64 << 20);
    setrlimit(RLIMIT_AS, &(struct rlimit){ limit, limit });
    if (!sgc_work_stack_init(&stack, 0))
        return 3;
    return stack.reserved * sizeof(struct sgc_work) <= 4 << 20 ? 0 : 4;
}

static int no_memory(void)
{
    struct rlimit before;

    if (!sgc_work_stack_init(&stack, 16 << 20) || getrlimit(RLIMIT_DATA, &before) != 0)
        return 2;
    setrlimit(RLIMIT_DATA, &(struct rlimit){ 1, before.rlim_max });     /* 0 would mean the hard limit */
    if (sgc_work_push(&stack, 1, 1) || stack.top != 0)
        return 3;
    setrlimit(RLIMIT_DATA, &before);
    return sgc_work_push(&stack, 1, 1) ? 0 : 4;
}

static void test_refusals(void)
{
    if (TEST_SANITIZED) {
        tap_skip("a sanitizer has taken the address space");
        return;
    }
    tap_ok(run_in_child(no_address_space) == 0, "without address space there is no stack");
    tap_ok(run_in_child(little_address_space) == 0, "with little of it, it takes a sixteenth");
    tap_ok(run_in_child(no_memory) == 0, "a commit that is refused refuses the piece");
}

int main(void)
{
    sgc_platform_init();
    test_limit(64 << 10);
    test_limit(1 << 20);
    test_least();
    test_growth();
    test_refusals();
    return tap_done();
}
