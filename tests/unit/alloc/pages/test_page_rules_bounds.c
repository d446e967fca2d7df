/* SPDX-License-Identifier: MIT */
/*
 * The bounds of doc/design/page-policy.md: page demands, a recorded one (tests/traces/) and others
 * drawn at random, are served by each policy's own decisions (alloc/pages/page_rules.h), and what
 * is consumed is compared.
 *
 * A failing random demand names its seed: tests/unit/alloc/pages/test_page_rules_bounds SEED replays that one.
 */
#include "tests/lib/page_replay.h"

enum { SEEDS = 20000, KS = 6 };

/* The k that are tried, ascending, in 256ths. */
static const uint32_t ks[KS] = { SGC_K_ONE, SGC_K_ONE * 5 / 4, SGC_K_ONE * 3 / 2, SGC_K_ONE * 2, SGC_K_ONE * 3, SGC_K_ONE * 6 };

static double decimal(uint32_t k)
{
    return (double)k / SGC_K_ONE;
}

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 33) % below);
}

/* ---- one demand under each policy ---- */

/* What a demand costs under each policy: LPS(ks[i]) at index i. */
struct results {
    const struct replay *ps, *al, *local, *lps[KS];
    uint32_t l, known, sum, owners;         /* most in use; the largest l that was known; sum of the u_i */
};

static uint32_t nodes;                      /* memory nodes that the owners run on; 0: one, as those that know of none */

/* Until the next demand. */
static const struct replay *serve(const struct trace *trace, enum sgc_page_policy policy, uint32_t k, bool exact)
{
    static struct replay served[3 + KS];
    static size_t next;
    struct replay *r = &served[next++ % (sizeof served / sizeof *served)];

    memset(r, 0, sizeof *r);
    r->rule = (struct sgc_page_rule){ policy, k };
    r->exact = exact;
    r->nodes = nodes;
    replay_run(r, trace);
    return r;
}

static void add_demand(struct results *all, const struct trace *trace)
{
    for (size_t i = 0; i < trace->events; i++)
        if (trace->event[i].what == 'l' && trace->event[i].count > all->known)
            all->known = trace->event[i].count;
    all->l = all->al->most_in_use;
    for (uint32_t i = 1; i < TRACE_OWNERS; i++) {
        all->sum += all->al->most_of[i];
        all->owners += all->al->most_of[i] != 0;
    }
}

static struct results serve_all(const struct trace *trace)
{
    struct results all = { .l = 0 };

    all.ps = serve(trace, SGC_POLICY_PS, 0, false);
    all.al = serve(trace, SGC_POLICY_AL, 0, false);
    for (int i = 0; i < KS; i++)
        all.lps[i] = serve(trace, SGC_POLICY_LPS, ks[i], false);
    add_demand(&all, trace);
    all.local = serve(trace, SGC_POLICY_LPS, all.owners * SGC_K_ONE, true);
    return all;
}

/* ---- what holds for every demand ---- */

/* ceil(k l), with l as far as it was known. */
static uint64_t granted(const struct results *all, uint32_t k)
{
    return ((uint64_t)k * all->known + SGC_K_ONE - 1) / SGC_K_ONE;
}

static uint64_t bound(const struct results *all, uint32_t k)
{
    uint64_t shared = all->l > granted(all, k) ? all->l : granted(all, k);

    return shared < all->sum ? shared : all->sum;
}

static bool within(const struct results *all, int i)
{
    return all->lps[i]->consumed >= all->l && all->lps[i]->consumed <= bound(all, ks[i]);
}

static bool same(const struct replay *a, const struct replay *b)
{
    return a->path == b->path && a->consumed == b->consumed && a->remote == b->remote && a->taken == b->taken;
}

static bool serves(const struct replay *r, const struct results *all)
{
    return r->taken == all->al->taken && r->refused == 0;
}

/* NULL, or which bound does not hold. */
static const char *broken(const struct results *all)
{
    if (all->ps->consumed != all->l || !serves(all->ps, all))
        return "PS consumes what is in use at most, and refuses nobody";
    if (all->lps[0]->consumed != all->l)
        return "LPS(1) consumes what PS does";
    if (all->al->consumed != all->sum || all->al->remote != 0 || all->al->refused != 0)
        return "AL consumes what each thread uses at most, summed up, and no page is remote";
    for (int i = 0; i < KS; i++) {
        if (!within(all, i))
            return "LPS(k) consumes at least what PS does, at most max(l, ceil(k l) as known), at most what AL does";
        if (!serves(all->lps[i], all))
            return "LPS(k) refuses nobody";
    }
    if (!same(all->local, all->al))
        return "LPS(threads) that knows l at once decides as AL each time";
    return NULL;
}

/* ---- what holds on the whole ---- */

/* Sums over many demands: consumption, and remote pages, by policy. */
static struct {
    uint64_t ps, lps[KS], taken;
    uint64_t consumed[KS];
    uint32_t less[KS];                      /* demands in which k consumes less than the k before */
    uint32_t reached[KS];                   /* and in which all that k grants is consumed */
} whole;

static void add_to_whole(const struct results *all)
{
    whole.ps += all->ps->remote;
    whole.taken += all->al->taken;
    for (int i = 0; i < KS; i++) {
        whole.lps[i] += all->lps[i]->remote;
        whole.consumed[i] += all->lps[i]->consumed;
        whole.less[i] += i > 0 && all->lps[i]->consumed < all->lps[i - 1]->consumed;
        whole.reached[i] += all->lps[i]->consumed > all->l && all->lps[i]->consumed == granted(all, ks[i]);
    }
}

static double percent(uint64_t remote)
{
    return 100.0 * (double)remote / (double)whole.taken;
}

static void check_whole(void)
{
    bool consumption = true, remote = true, reached = true;

    for (int i = 0; i < KS; i++) {
        consumption = consumption && whole.less[i] == 0 && (i == 0 || whole.consumed[i] > whole.consumed[i - 1]);
        remote = remote && (i == 0 || whole.lps[i] < whole.lps[i - 1]);
        reached = reached && (i == 0 || whole.reached[i] > 0);
        tap_diag("LPS(%.2f): %lu pages consumed, %.1f %% remote; all of ceil(k l) in %u demands", decimal(ks[i]),
                 (unsigned long)whole.consumed[i], percent(whole.lps[i]), whole.reached[i]);
    }
    tap_diag("PS: %.1f %% remote", percent(whole.ps));
    tap_ok(consumption, "consumption grows with k: over all, and in none it falls");
    tap_ok(reached, "what k grants is used up in some demand, for each k above 1");
    tap_ok(remote && whole.lps[0] < whole.ps, "and fewer pages are remote, the larger k is; most are under PS");
}

/* ---- demands at random ---- */

/* What a mark finds alive of the pages in use: a part, or, in every second demand, all. */
static uint32_t draw_live(uint64_t *state, uint64_t seed, uint32_t in_use)
{
    return seed % 2 == 0 ? in_use : in_use / 2 + draw(state, in_use / 4 + 1);
}

/* Threads whose wishes change now and then, each by itself or all together; marks. */
static struct trace draw_trace(uint64_t seed)
{
    struct trace trace = { NULL, 0, 0 };
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    uint32_t owners = 2 + draw(&state, 7), size = 4 + draw(&state, 60), steps = 50 + draw(&state, 200);
    uint32_t held[TRACE_OWNERS] = { 0 }, wish[TRACE_OWNERS] = { 0 }, in_use = 0, l = 0;

    for (uint32_t step = 0; step < steps; step++) {
        uint32_t i = 1 + draw(&state, owners), count = 1 + draw(&state, 8);

        if (draw(&state, 12) == 0)
            wish[i] = draw(&state, size * (1 + draw(&state, 3)));
        if (held[i] < wish[i]) {
            trace_add(&trace, 't', i, count);
            held[i] += count;
            in_use += count;
        } else if (held[i] > wish[i]) {
            count = count < held[i] ? count : held[i];
            trace_add(&trace, 'g', i, count);
            held[i] -= count;
            in_use -= count;
        }
        if (draw(&state, 40) == 0 && in_use * 3 / 4 > l)
            trace_add(&trace, 'l', 0, l = draw_live(&state, seed, in_use));
    }
    if (trace.events == 0)
        trace_add(&trace, 't', 1, 1);
    return trace;
}

static const char *try_seed(uint64_t seed)
{
    struct trace trace = draw_trace(seed);
    struct results all = serve_all(&trace);
    const char *wrong = trace_consistent(&trace) ? broken(&all) : "the demand itself";

    if (wrong != NULL)
        tap_diag("seed %lu: l %u (known %u), sum of u_i %u; PS %u AL %u LPS %u %u %u %u", (unsigned long)seed,
                 all.l, all.known, all.sum, all.ps->consumed, all.al->consumed, all.lps[0]->consumed, all.lps[1]->consumed,
                 all.lps[2]->consumed, all.lps[3]->consumed);
    add_to_whole(&all);
    trace_free(&trace);
    return wrong;
}

static void test_random(void)
{
    uint64_t bad = 0;
    const char *wrong = NULL;

    for (uint64_t seed = 1; seed <= SEEDS && wrong == NULL; seed++)
        if ((wrong = try_seed(seed)) != NULL)
            bad = seed;
    tap_ok(wrong == NULL, "%d random demands, seeds 1 to %d: all bounds hold (seed %lu: %s)", SEEDS, SEEDS,
           (unsigned long)bad, wrong != NULL ? wrong : "-");
    check_whole();
}

/* Nodes change who takes from whom, not when the heap expands. */
static void test_nodes(void)
{
    const char *wrong = NULL;

    for (uint64_t seed = 1; seed <= SEEDS / 4 && wrong == NULL; seed++) {
        nodes = 2 + (uint32_t)(seed % 3);
        wrong = try_seed(seed);
    }
    tap_ok(wrong == NULL, "on two, three and four memory nodes all bounds hold, too (%u nodes: %s)", nodes,
           wrong != NULL ? wrong : "-");
    nodes = 0;
}

/* ---- recorded demands ---- */

static void show_one(const char *policy, const struct replay *r)
{
    tap_diag("    %s: %u consumed, %lu remote", policy, r->consumed, (unsigned long)r->remote);
}

static void show(const char *name, const struct results *all)
{
    char policy[16];

    tap_diag("%s: %u threads, l %u (known %u), sum of u_i %u, %lu pages asked for", name, all->owners, all->l,
             all->known, all->sum, (unsigned long)all->al->taken);
    show_one("PS", all->ps);
    for (int i = 0; i < KS; i++) {
        snprintf(policy, sizeof policy, "LPS(%.2f)", decimal(ks[i]));
        show_one(policy, all->lps[i]);
    }
    show_one("AL", all->al);
}

static void check_trace(const char *name, const struct trace *trace)
{
    struct results all = serve_all(trace);
    const char *wrong = broken(&all);
    bool falls = all.lps[0]->remote < all.ps->remote, grows = true;

    show(name, &all);
    tap_ok(wrong == NULL, "%s: all bounds hold%s%s", name, wrong != NULL ? ", but not: " : "", wrong != NULL ? wrong : "");
    for (int i = 1; i < KS; i++) {
        falls = falls && all.lps[i]->remote <= all.lps[i - 1]->remote;
        grows = grows && all.lps[i]->consumed >= all.lps[i - 1]->consumed;
    }
    tap_ok(falls && grows, "%s: with k consumption grows and the number of remote pages falls", name);
}

static void check_file(const char *name, FILE *file)
{
    struct trace trace;
    char wrong[128];

    if (file != NULL && trace_read(file, &trace, wrong, sizeof wrong))
        check_trace(name, &trace);
    else
        tap_ok(false, "%s is a trace: %s", name, file != NULL ? wrong : "cannot be read");
    if (file != NULL)
        trace_free(&trace);
}

static void test_recorded(void)
{
    const char *top = getenv("SGC_SRCDIR");
    char path[1024];
    FILE *file;

    snprintf(path, sizeof path, "%s/tests/traces/turns.txt", top != NULL ? top : ".");
    file = fopen(path, "r");
    check_file("turns", file);
    if (file != NULL)
        fclose(file);
}

/* ---- decisions, one by one ---- */

static bool allowed(enum sgc_page_policy policy, uint32_t k, uint64_t consumed, uint64_t live)
{
    struct sgc_page_rule rule = { policy, k };
    struct sgc_page_supply supply = { .consumed = consumed, .max_live = live };

    return sgc_heap_expansion_allowed(&rule, &supply);
}

static void test_decisions(void)
{
    tap_ok(!allowed(SGC_POLICY_PS, 0, 0, 100) && allowed(SGC_POLICY_AL, 0, 99, 0),
           "PS never expands before it shares, AL always");
    tap_ok(allowed(SGC_POLICY_LPS, 3 * SGC_K_ONE, 299, 100) && !allowed(SGC_POLICY_LPS, 3 * SGC_K_ONE, 300, 100),
           "LPS(3) expands below three times l, not at it");
    tap_ok(allowed(SGC_POLICY_LPS, SGC_K_ONE * 3 / 2, 10, 7) && !allowed(SGC_POLICY_LPS, SGC_K_ONE * 3 / 2, 11, 7),
           "LPS(1.5) expands below one and a half times l: up to 11 pages for 7");
    tap_ok(!allowed(SGC_POLICY_LPS, 5 * SGC_K_ONE, 0, 0) && !allowed(SGC_POLICY_LPS, 0, 0, 100),
           "nothing known, nothing allowed");
    tap_ok(sgc_lps_auto_k(1) == SGC_K_ONE && sgc_lps_auto_k(2) == 2 * SGC_K_ONE && sgc_lps_auto_k(64) == 2 * SGC_K_ONE,
           "automatic k is 1 on one memory node, 2 on more");
    tap_ok(allowed(SGC_POLICY_LPS, 65536 * SGC_K_ONE, UINT32_MAX, UINT32_MAX), "the largest k does not overflow");
    tap_ok(sgc_page_wealth(0) == 0 && sgc_page_wealth(1) == 1 && sgc_page_wealth(2) == 2 && sgc_page_wealth(3) == 2 &&
           sgc_page_wealth(UINT32_MAX) == 32, "wealth is told within a factor of two");
}

/* Two threads that take and return a page each, over and over. */
static void test_own_first(void)
{
    struct trace trace = { NULL, 0, 0 };
    struct results all;

    for (uint32_t i = 0; i < 100; i++) {
        trace_add(&trace, 't', 1 + i % 2, 1);
        trace_add(&trace, 't', 2 - i % 2, 1);
        trace_add(&trace, 'g', 1, 1);
        trace_add(&trace, 'g', 2, 1);
    }
    all = serve_all(&trace);
    tap_ok(broken(&all) == NULL && all.lps[0]->remote == 0 && all.ps->remote > 0,
           "LPS(1) prefers its own pages, PS does not know them: %lu of 200 are remote", (unsigned long)all.ps->remote);
    trace_free(&trace);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        const char *wrong = try_seed(strtoul(argv[1], NULL, 10));

        tap_ok(wrong == NULL, "seed %s%s%s", argv[1], wrong != NULL ? ": " : "", wrong != NULL ? wrong : "");
        return tap_done();
    }
    return tap_all(test_decisions, test_own_first, test_random, test_nodes, test_recorded);
}
