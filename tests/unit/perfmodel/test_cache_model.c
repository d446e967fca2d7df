/* SPDX-License-Identifier: MIT */
/*
 * perfmodel/model/cache.c: a plain second cache on random traces; and what L is: the mean number
 * of misses that a cut of the trace adds, when another processor's empty cache goes on ([Endo],
 * figure 4.2).
 */
#include <string.h>

#include "perfmodel/model/cache.h"
#include "tests/lib/random.h"
#include "tests/lib/tap.h"

static struct sgc_machine machine;
static struct sgc_node_misses far; /* of node 1, in the last run */

/* Two nodes, one or two caches. */
static void set_machine(double bytes, double ways, double line, double bytes2, double ways2)
{
    machine = (struct sgc_machine){ .processors = 2, .nodes = 2, .caches = bytes2 > 0 ? 2 : 1 };
    machine.cache[0] = (struct sgc_machine_cache){ bytes, ways, line, 1, 1 };
    machine.cache[1] = (struct sgc_machine_cache){ bytes2, ways2, line, 2, 1 };
    machine.tlb.ways = 1;
    machine.tlb.page_bytes = 4096;
}

static struct sgc_misses run(const struct sgc_access *access, int from, int to)
{
    struct sgc_cache_model model;
    struct sgc_misses counted;

    if (!sgc_cache_model_make(&model, &machine))
        tap_bail("no memory");
    for (int i = from; i < to; i++)
        sgc_cache_model_access(&model, &access[i]);
    counted = *sgc_cache_model_end(&model);
    far = model.counted.node[1];
    sgc_cache_model_release(&model);
    return counted;
}

static uint64_t misses_of(const struct sgc_misses *m)
{
    return m->misses[SGC_MISS_READ] + m->misses[SGC_MISS_RMW];
}

/* Reads of these lines of 64 bytes: 'a' is the first. */
static int make_trace(const char *lines, struct sgc_access *access)
{
    int n = 0;

    for (; lines[n] != '\0'; n++)
        access[n] = (struct sgc_access){ (uint64_t)(lines[n] - 'a') * 64 + 8 * (uint64_t)(n % 8), 0, SGC_MISS_READ };
    return n;
}

/* ---- what is counted ---- */

static void test_classes(void)
{
    struct sgc_access access[] = {
        { 0, 0, SGC_MISS_READ },   { 64, 1, SGC_MISS_READ }, { 128, 1, SGC_MISS_RMW },  { 192, 1, SGC_MISS_RMW },
        { 512, 1, SGC_MISS_READ }, { 0, 0, SGC_MISS_RMW },   { 128, 1, SGC_MISS_READ },
    };
    struct sgc_misses m;

    set_machine(1024, 16, 64, 0, 0);
    m = run(access, 0, 7);
    tap_ok(m.misses[SGC_MISS_READ] == 3 && m.misses[SGC_MISS_RMW] == 2, "reads and read-modify-writes are counted apart");
    tap_ok(far.misses[SGC_MISS_READ] == 2 && far.misses[SGC_MISS_RMW] == 2, "and by node");
    tap_ok(m.in_sequence[SGC_MISS_READ] == 1 && m.in_sequence[SGC_MISS_RMW] == 1, "and what follows the line missed last");
    tap_ok(m.accesses[SGC_MISS_READ] == 4 && m.accesses[SGC_MISS_RMW] == 3 && m.answered[0] == 2, "and hits");
}

static void test_levels(void)
{
    struct sgc_access access[16];
    int n = make_trace("abcdabcdddd", access);
    struct sgc_misses m;

    set_machine(128, 2, 64, 256, 4);
    m = run(access, 0, n);
    tap_ok(misses_of(&m) == 4 && m.answered[1] == 4 && m.answered[0] == 3, "the second level answers what the first has lost");
    machine.tlb.entries = 1;
    access[1].address = 4096;
    m = run(access, 0, n);
    tap_ok(m.walks == 3, "a page that is not known is a walk");
}

/* ---- random traces ---- */

enum { LENGTH = 600, LINES = 40, TRACES = 60 };

static uint64_t state = 1;

static void random_trace(struct sgc_access *access)
{
    for (int i = 0; i < LENGTH; i++)
        access[i] = (struct sgc_access){ 64 * random_below(&state, random_below(&state, 2) ? LINES : LINES / 8),
                                         random_below(&state, 2), (enum sgc_miss_class)random_below(&state, 2) };
}

/* A line is there if fewer than `ways` others of its set were used since. */
static bool is_there(const struct sgc_access *access, int from, int i, unsigned sets, unsigned ways)
{
    uint64_t line = access[i].address / 64;
    uint64_t others = 0;

    for (int k = i - 1; k >= from; k--) {
        uint64_t other = access[k].address / 64;

        if (other == line)
            return (unsigned)__builtin_popcountll(others) < ways;
        if (other % sets == line % sets)
            others |= UINT64_C(1) << other;
    }
    return false;
}

static void test_against_plain(void)
{
    static struct sgc_access access[LENGTH];
    bool same = true;

    for (int t = 0; t < TRACES; t++) {
        unsigned ways = 1 + random_below(&state, 4), sets = 1 + random_below(&state, 6);
        uint64_t misses = 0;
        struct sgc_misses m;

        random_trace(access);
        set_machine(64.0 * ways * sets, ways, 64, 0, 0);
        m = run(access, 0, LENGTH);
        for (int i = 0; i < LENGTH; i++)
            misses += !is_there(access, 0, i, sets, ways);
        same = same && misses == misses_of(&m);
    }
    tap_ok(same, "%d random traces have as many misses as by the distance of each use from the one before", TRACES);
}

/* Q_P = Q_1 + N_S L, and why: over all places for a cut, the misses that it adds are L on average, exactly. */
static void test_cuts(void)
{
    static struct sgc_access access[LENGTH];
    bool same = true;

    for (int t = 0; t < 8; t++) {
        unsigned ways = 1 + random_below(&state, 4), sets = 1 + random_below(&state, 6);
        double added = 0;
        struct sgc_misses all;

        random_trace(access);
        set_machine(64.0 * ways * sets, ways, 64, 0, 0);
        all = run(access, 0, LENGTH);
        for (int cut = 0; cut < LENGTH; cut++) {
            struct sgc_misses before = run(access, 0, cut), after = run(access, cut, LENGTH);

            added += (double)(misses_of(&before) + misses_of(&after)) - (double)misses_of(&all);
        }
        same = same && added / LENGTH > all.live_lines - 1e-9 && added / LENGTH < all.live_lines + 1e-9;
    }
    tap_ok(same, "a cut after which an empty cache goes on adds L misses on average over all places");
}

/* As in [Endo]'s figure 4.2: five misses; two cuts make three groups. */
static void test_figure(void)
{
    struct sgc_access access[16];
    int n = make_trace("aabacbcdcdee", access);
    struct sgc_misses all, group[3];

    set_machine(64 * 8, 8, 64, 0, 0);
    all = run(access, 0, n);
    group[0] = run(access, 0, 3); /* aab acbcd: a and b are used on both sides */
    group[1] = run(access, 3, 8); /* acbcd cdee: c and d are */
    group[2] = run(access, 8, n);
    tap_ok(misses_of(&all) == 5, "five misses in a row");
    tap_ok(misses_of(&group[0]) + misses_of(&group[1]) + misses_of(&group[2]) == 5 + 2 + 2,
           "each line that lives across a cut is missed once more");
}

int main(void)
{
    return tap_all(test_classes, test_levels, test_against_plain, test_cuts, test_figure);
}
