/* SPDX-License-Identifier: MIT */
/*
 * gc/pacing/endo_rules.h: what must hold for any numbers, tried with random ones; and programs that are simulated: does marking
 * end before memory does?
 */
#include "gc/pacing/endo_rules.h"
#include "tests/lib/random.h"
#include "tests/lib/tap.h"

enum { CASES = 20000, PAGE = 1000, THREADS_MOST = 64, FOR_EVER = 10000000 };

static uint64_t state = 1;

static size_t random_to(size_t most)
{
    return (size_t)((random_mixed(&state) >> 11) % (most + 1));
}

/* Of any magnitude below two to the power of `bits`. */
static size_t random_bits(unsigned bits)
{
    return (size_t)(random_mixed(&state) >> (64 - bits) >> random_to(bits - 1));
}

/* ---- what must hold ---- */

struct numbers {
    size_t pages, empty, bytes, more;
};

static struct numbers random_numbers(unsigned bits)
{
    struct numbers n = { .pages = random_bits(bits), .bytes = random_bits(bits), .more = random_bits(bits) };

    n.empty = random_to(n.pages < SIZE_MAX ? n.pages : SIZE_MAX - 1);
    return n;
}

static size_t step(const struct numbers *n, size_t bytes)
{
    struct sgc_endo_pace k = sgc_endo_pace(n->pages, n->empty);

    return sgc_endo_step(&k, bytes, SIZE_MAX);
}

static size_t failures(bool (*holds)(struct numbers n), unsigned bits)
{
    size_t wrong = 0;

    for (int i = 0; i < CASES; i++)
        wrong += !holds(random_numbers(bits));
    return wrong;
}

#define ALWAYS(holds, ...) tap_ok(failures(holds, 30) == 0, __VA_ARGS__)

static bool due_below_the_threshold(struct numbers n)
{
    bool below = (double)n.empty < (double)n.pages * SGC_ENDO_THRESHOLD / 100;

    return n.pages == 0 || n.empty == 0 || sgc_endo_due(n.pages, n.empty, SGC_ENDO_THRESHOLD) == below;
}

static bool due_stays_due(struct numbers n)
{
    size_t fewer = random_to(n.empty);

    return !sgc_endo_due(n.pages, n.empty, SGC_ENDO_THRESHOLD) || sgc_endo_due(n.pages, fewer, SGC_ENDO_THRESHOLD);
}

/* All that is in use is marked when the empty pages are used up, however they are divided into steps. */
static bool enough_in_all(struct numbers n)
{
    size_t left = n.empty, marked = 0;

    for (int i = 0; i < 20 && left > 0; i++) {
        size_t bytes = random_to(left);

        marked += step(&n, bytes);
        left -= bytes;
    }
    return n.empty == 0 || marked + step(&n, left) >= n.pages - n.empty;
}

/* But for what rounding adds: a byte a step. */
static bool not_too_much(struct numbers n)
{
    return n.empty == 0 || step(&n, n.empty) == n.pages - n.empty;
}

static bool more_for_more(struct numbers n)
{
    return step(&n, n.bytes + n.more) >= step(&n, n.bytes) && step(&n, 0) == 0;
}

static bool never_more_than_left(struct numbers n)
{
    struct sgc_endo_pace k = sgc_endo_pace(n.pages, n.empty);
    size_t owed = sgc_endo_step(&k, n.bytes, n.more);

    return owed <= n.more && owed == (step(&n, n.bytes) < n.more || n.bytes == 0 ? step(&n, n.bytes) : n.more);
}

static bool no_overflow(struct numbers n)
{
    n.bytes = SIZE_MAX - random_bits(10);
    return n.empty == 0 || n.pages - n.empty < n.empty || step(&n, n.bytes) >= n.bytes - 1;
}

static void test_properties(void)
{
    struct sgc_endo_pace full = sgc_endo_pace(100, 0), thesis = sgc_endo_pace(100, 15);

    ALWAYS(due_below_the_threshold, "a cycle is due when fewer pages are empty than the threshold");
    ALWAYS(due_stays_due, "and stays due when there are fewer");
    ALWAYS(enough_in_all, "what is in use is marked when the empty pages are used up, whatever the steps are");
    ALWAYS(not_too_much, "and nothing more, in one step");
    ALWAYS(more_for_more, "who takes more marks no less; who takes nothing, nothing");
    ALWAYS(never_more_than_left, "nobody marks more than is left");
    tap_ok(failures(no_overflow, 64) == 0, "nothing overflows");
    tap_ok(!sgc_endo_due(0, 0, SGC_ENDO_THRESHOLD) && sgc_endo_due(1, 0, 0) && !sgc_endo_due(100, 100, 100) &&
               sgc_endo_due(100, 99, 100), "no heap, no empty page, a threshold of all");
    tap_ok(sgc_endo_step(&full, 1, 12345) == 12345, "without an empty page all is marked at once");
    tap_ok(sgc_endo_step(&thesis, 1000, SIZE_MAX) == 5667, "at the threshold 5.67 bytes are marked for each");
}

/* ---- a simulated program ---- */

struct program {
    size_t pages, live;             /* of the heap; bytes that a cycle marks */
    unsigned threads;
    size_t idle_rate;               /* bytes that others mark while a page is taken */
    unsigned unfit;                 /* percent of requests that an empty page does not serve: spans that need neighbours */
    unsigned weak;                  /* percent of the pace that is kept to; 100: the rule */
    bool after;                     /* memory is used first, and paid for with the next step */
};

struct end {
    size_t left, empty;             /* bytes not marked, and pages, when the one or the other was used up */
    size_t waits;                   /* requests that nothing served */
};

static size_t mark(size_t left, size_t bytes)
{
    return left - (bytes < left ? bytes : left);
}

/* Threads in turn, in an order by chance.  Their debts are what they have used without paying. */
static struct end run(const struct program *p)
{
    struct end e = { p->live, p->pages, 0 };
    size_t debt[THREADS_MOST] = { 0 };
    struct sgc_endo_pace k;

    while (!sgc_endo_due(p->pages, e.empty, SGC_ENDO_THRESHOLD))
        e.empty--;
    k = sgc_endo_pace(p->pages, e.empty);
    for (int i = 0; i < FOR_EVER && e.left > 0 && e.empty > 0; i++) {
        size_t *mine = &debt[random_to(p->threads - 1)];

        if (random_to(99) < p->unfit) {
            e.waits++;
            e.left = 0;             /* it waits until the cycle is over */
            break;
        }
        if (p->after)
            e.left = mark(e.left, *mine);
        *mine = sgc_endo_step(&k, PAGE, e.left) * p->weak / 100;
        if (!p->after)
            e.left = mark(e.left, *mine);
        e.left = mark(e.left, p->idle_rate);
        e.empty--;
    }
    return e;
}

static struct program random_program(void)
{
    struct program p = { .pages = 20 + random_to(5000), .threads = 1 + (unsigned)random_to(THREADS_MOST - 1), .weak = 100 };
    size_t empty = p.pages;

    while (!sgc_endo_due(p.pages, empty, SGC_ENDO_THRESHOLD))
        empty--;
    p.live = random_to((p.pages - empty) * PAGE);
    return p;
}

/* In how many of so many programs memory ended first. */
static size_t lost(int programs, bool all_lives, void (*change)(struct program *))
{
    size_t wrong = 0;

    for (int i = 0; i < programs; i++) {
        struct program p = random_program();

        if (all_lives)
            p.live = p.pages * (100 - SGC_ENDO_THRESHOLD) / 100 * PAGE;
        change(&p);
        wrong += run(&p).left > 0;
    }
    return wrong;
}

static void rule(struct program *p)
{
    sgc_assert(p->weak == 100);
}

static void weaker(struct program *p)
{
    p->weak = 90;
}

static void paid_later(struct program *p)
{
    p->after = true;
}

static void test_simulated(void)
{
    struct program alone = { 1000, 850 * PAGE, 4, 0, 0, 100, false }, helped = alone, split = alone;
    size_t later = lost(300, true, paid_later);

    helped.idle_rate = 6 * PAGE;
    split.unfit = 2;
    tap_ok(lost(300, false, rule) == 0, "by the rule marking ends before memory does");
    tap_ok(lost(300, true, rule) == 0, "also if all that was in use when the cycle began is alive");
    tap_ok(lost(300, true, weaker) > 150, "with nine tenths of the pace it does not");
    tap_ok(later > 150, "nor if threads pay for what they have used already (%zu of 300)", later);
    tap_ok(run(&helped).empty > run(&alone).empty, "idle threads that mark leave more pages (%zu, without them %zu)",
           run(&helped).empty, run(&alone).empty);
    tap_ok(run(&split).waits == 1 && run(&alone).waits == 0, "a request that no empty page serves waits for the end");
}

/* ---- marking by others alone ---- */

/* Without steps of its own a program is safe only if others mark k times as fast as it allocates. */
static void test_background_alone(void)
{
    struct program p = { .pages = 1000, .live = 850 * PAGE, .threads = 1, .weak = 0 };
    struct program enough = p, half = p;

    enough.idle_rate = 6 * PAGE;
    half.idle_rate = 3 * PAGE;
    tap_ok(run(&enough).left == 0, "markers that are 6 times as fast as the program end in time by themselves");
    tap_ok(run(&half).left > 0, "such that are 3 times as fast do not");
    half.weak = 50;
    tap_ok(run(&half).left == 0, "they do if the program marks half of what it owes");
}

int main(void)
{
    return tap_all(test_properties, test_simulated, test_background_alone);
}
