/* SPDX-License-Identifier: MIT */
/*
 * gc/collect/torture.c: SGC_TORTURE collects as often as it says, poisons what is reclaimed, and a program that
 * holds its objects properly does not notice.
 */
#include "gc/collect/torture.h"
#include "tests/lib/child.h"
#include "tests/lib/white.h"
#include "sgc.h"

enum { EVERY = 7, THREADS = 3, DEPTH = TEST_SANITIZED ? 7 : 9 };

struct tree {
    struct tree *left, *right;
    long depth;
};

static struct tree *grow(long depth)
{
    struct tree *t = sgc_allocate(sizeof *t + (size_t)depth * 16, WHITE_KIND);

    if (t->left != NULL || t->right != NULL || t->depth != 0)
        tap_bail("an object is not zeroed");
    t->depth = depth;
    if (depth > 0) {
        t->left = grow(depth - 1);
        t->right = grow(depth - 1);
    }
    return t;
}

static long count(const struct tree *t, long depth)
{
    if (t == NULL || t->depth != depth)
        return -1000000;
    return depth == 0 ? 1 : 1 + count(t->left, depth - 1) + count(t->right, depth - 1);
}

static sgc_a32_t good;

static void work(TEST_UNUSED void *unused)
{
    struct tree *volatile t;

    t = grow(DEPTH - 2);
    if (count(t, DEPTH - 2) == (1 << (DEPTH - 1)) - 1)
        sgc_a32_add(&good, 1);
}

static void test_rate(void)
{
    struct sgc_mutator *self = sgc_mutator_self();
    int due = 0;

    self->allocations = 0;
    for (int i = 0; i < EVERY * 10; i++)
        due += sgc_torture_due(self);
    tap_ok(due == 10, "every %d-th allocation is due (%d of %d)", EVERY, due, EVERY * 10);
}

static void test_poison(void)
{
    uint64_t before;
    struct tree *volatile t;

    before = sgc_cycles_finished();
    t = grow(DEPTH);
    tap_ok(sgc_cycles_finished() >= before + ((1 << (DEPTH + 1)) - 1) / EVERY,
           "%d allocations collect %u times", (1 << (DEPTH + 1)) - 1, (unsigned)(sgc_cycles_finished() - before));
    tap_ok(count(t, DEPTH) == (1 << (DEPTH + 1)) - 1, "a tree that grows meanwhile is whole");
}

static void test_random(void)
{
    struct sgc_mutator *self = sgc_mutator_self();
    uint64_t first = self->random;
    bool changes = true;

    for (int i = 0; i < 100; i++) {
        uint64_t was = self->random;
        sgc_torture_delay(self);
        changes = changes && self->random != was;
    }
    tap_ok(changes && self->random != first, "delays come from a sequence that moves on");
}

static int nothing_due(void)
{
    unsetenv("SGC_TORTURE");
    white_init();
    return sgc_torture_due(sgc_mutator_self());
}

int main(void)
{
    pthread_t thread[THREADS];

    setenv("SGC_MODE", "stop", 1);
    child_ok(nothing_due, "off: nothing is due");
    setenv("SGC_TORTURE", "7", 1);
    white_init();
    tap_each(test_rate, test_poison, test_random);
    white_start_all(thread, THREADS, work);
    white_join_all(thread, THREADS);
    tap_ok(sgc_a32_load(&good) == THREADS, "so are those of %d threads at once", THREADS);
    sgc_verify(SGC_check() == 0);
    return tap_done();
}
