/* SPDX-License-Identifier: MIT */
/*
 * The bounds of doc/design/page-policy.md: page demands, recorded (tests/traces/), recorded just now and drawn at
 * random, are served by each policy's own decisions (alloc/pages/page_rules.h), and what is consumed is compared.
 *
 * A failing random demand names its seed: tests/unit/alloc/pages/test_page_rules_bounds SEED replays that one.
 */
#include "tests/lib/page_replay.h"
#include "tests/lib/tap.h"

enum { SEEDS = 300, LARGEST_K = 6 };

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 33) % below);
}

/* ---- one demand under each policy ---- */

/* What a demand costs under each policy: LPS(k) at index k. */
struct results {
    const struct replay *as, *ps, *al, *local, *lps[LARGEST_K + 1];
    uint32_t l, known, sum, owners;         /* most in use; the largest l that was known; sum of the u_i */
};

/* Until the next demand. */
static const struct replay *serve(const struct trace *trace, enum sgc_page_policy policy, uint32_t k, bool exact)
{
    static struct replay served[4 + LARGEST_K];
    static size_t next;
    struct replay *r = &served[next++ % (sizeof served / sizeof *served)];

    memset(r, 0, sizeof *r);
    r->rule = (struct sgc_page_rule){ policy, k };
    r->exact = exact;
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

    all.as = serve(trace, SGC_POLICY_AS, 0, false);
    all.ps = serve(trace, SGC_POLICY_PS, 0, false);
    all.al = serve(trace, SGC_POLICY_AL, 0, false);
    for (uint32_t k = 1; k <= LARGEST_K; k++)
        all.lps[k] = serve(trace, SGC_POLICY_LPS, k, false);
    add_demand(&all, trace);
    all.local = serve(trace, SGC_POLICY_LPS, all.owners, true);
    return all;
}

/* ---- what holds for every demand ---- */

static uint64_t bound(const struct results *all, uint32_t k)
{
    uint64_t shared = all->l > (uint64_t)k * all->known ? all->l : (uint64_t)k * all->known;

    return shared < all->sum ? shared : all->sum;
}

static bool within(const struct results *all, uint32_t k)
{
    return all->lps[k]->consumed >= all->l && all->lps[k]->consumed <= bound(all, k);
}

static bool same(const struct replay *a, const struct replay *b)
{
    return a->path == b->path && a->consumed == b->consumed && a->remote == b->remote && a->taken == b->taken;
}

/* NULL, or which bound does not hold. */
static const char *broken(const struct results *all)
{
    if (all->as->consumed != all->l || all->ps->consumed != all->l)
        return "AS and PS consume what is in use at most";
    if (all->al->consumed != all->sum || all->al->remote != 0)
        return "AL consumes what each thread uses at most, summed up, and no page is remote";
    for (uint32_t k = 1; k <= LARGEST_K; k++) {
        if (!within(all, k))
            return "LPS(k) consumes at least what AS does, at most max(l, k * l as known), at most what AL does";
        if (all->lps[k]->taken != all->al->taken || all->lps[k]->refused != 0)
            return "everybody gets its pages";
    }
    if (!same(all->lps[1], all->ps))
        return "LPS(1) decides as PS each time";
    if (!same(all->local, all->al))
        return "LPS(threads) that knows l at once decides as AL each time";
    return NULL;
}

/* ---- what holds on the whole ---- */

/* Sums over many demands: consumption, and remote pages, by policy. */
static struct {
    uint64_t as, ps, lps[LARGEST_K + 1], taken;
    uint64_t consumed[LARGEST_K + 1];
    uint32_t less[LARGEST_K + 1];           /* demands in which k consumes less than k - 1 */
} whole;

static void add_to_whole(const struct results *all)
{
    whole.as += all->as->remote;
    whole.ps += all->ps->remote;
    whole.taken += all->al->taken;
    for (uint32_t k = 1; k <= LARGEST_K; k++) {
        whole.lps[k] += all->lps[k]->remote;
        whole.consumed[k] += all->lps[k]->consumed;
        if (k > 1 && all->lps[k]->consumed < all->lps[k - 1]->consumed)
            whole.less[k]++;
    }
}

static void check_whole(void)
{
    bool consumption = true, remote = true;

    for (uint32_t k = 2; k <= LARGEST_K; k++) {
        consumption = consumption && whole.consumed[k] > whole.consumed[k - 1] && whole.less[k] == 0;
        remote = remote && whole.lps[k] <= whole.lps[k - 1];
        tap_diag("k = %u: %lu pages consumed, %.1f %% remote; %u demands consume less than with k = %u", k,
                 (unsigned long)whole.consumed[k], 100.0 * (double)whole.lps[k] / (double)whole.taken,
                 whole.less[k], k - 1);
    }
    tap_diag("remote pages: AS %.1f %%, PS %.1f %%", 100.0 * (double)whole.as / (double)whole.taken,
             100.0 * (double)whole.ps / (double)whole.taken);
    tap_ok(consumption, "consumption grows with k: over all, and in none it falls");
    tap_ok(remote && whole.lps[2] < whole.ps && whole.ps < whole.as && whole.lps[LARGEST_K] < whole.lps[2],
           "and the remote page ratio falls: AS, PS, LPS(2), LPS(%d)", LARGEST_K);
}

/* ---- demands at random ---- */

/* Threads whose wishes change now and then, each by itself or all together; marks that find a part alive. */
static struct trace draw_trace(uint64_t seed)
{
    struct trace trace = { NULL, 0, 0 };
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    uint32_t owners = 2 + draw(&state, 7), size = 4 + draw(&state, 60), steps = 200 + draw(&state, 800);
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
            trace_add(&trace, 'l', 0, l = in_use / 2 + draw(&state, in_use / 4 + 1));
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
        tap_diag("seed %lu: l %u (known %u), sum of u_i %u; AS %u PS %u AL %u LPS %u %u %u", (unsigned long)seed,
                 all.l, all.known, all.sum, all.as->consumed, all.ps->consumed, all.al->consumed,
                 all.lps[1]->consumed, all.lps[2]->consumed, all.lps[3]->consumed);
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

/* ---- recorded demands ---- */

static void show(const char *name, const struct results *all)
{
    tap_diag("%s: %u threads, l %u (known %u), sum of u_i %u, %lu pages asked for", name, all->owners, all->l,
             all->known, all->sum, (unsigned long)all->al->taken);
    tap_diag("    consumed: AS %u PS %u LPS(2) %u LPS(3) %u AL %u; remote: AS %lu PS %lu LPS(2) %lu LPS(3) %lu AL %lu",
             all->as->consumed, all->ps->consumed, all->lps[2]->consumed, all->lps[3]->consumed, all->al->consumed,
             (unsigned long)all->as->remote, (unsigned long)all->ps->remote, (unsigned long)all->lps[2]->remote,
             (unsigned long)all->lps[3]->remote, (unsigned long)all->al->remote);
}

static struct results check_bounds(const char *name, const struct trace *trace)
{
    struct results all = serve_all(trace);
    const char *wrong = broken(&all);

    show(name, &all);
    tap_ok(wrong == NULL, "%s: all bounds hold%s%s", name, wrong != NULL ? ", but not: " : "", wrong != NULL ? wrong : "");
    return all;
}

static void check_trace(const char *name, const struct trace *trace)
{
    struct results all = check_bounds(name, trace);
    bool falls = all.ps->remote <= all.as->remote, grows = true;

    for (uint32_t k = 2; k <= LARGEST_K; k++) {
        falls = falls && all.lps[k]->remote <= all.lps[k - 1]->remote;
        grows = grows && all.lps[k]->consumed >= all.lps[k - 1]->consumed;
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
    static const char *const names[] = { "turns", "churn", "pipeline" };
    const char *top = getenv("SGC_SRCDIR");

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[1024];
        FILE *file;

        snprintf(path, sizeof path, "%s/tests/traces/%s.txt", top != NULL ? top : ".", names[i]);
        file = fopen(path, "r");
        check_file(names[i], file);
        if (file != NULL)
            fclose(file);
    }
}

/* What the recorder writes today is still a trace, and the bounds hold for it too. */
static void test_recorder(void)
{
    const char *build = getenv("SGC_BUILDDIR");
    char command[1024];
    FILE *pipe;
    struct trace trace;
    char wrong[128] = "";
    bool read;

    snprintf(command, sizeof command, "'%s/tests/unit/alloc/record_pages' churn", build != NULL ? build : ".");
    pipe = popen(command, "r");
    read = pipe != NULL && trace_read(pipe, &trace, wrong, sizeof wrong);
    if (!tap_ok(pipe != NULL && pclose(pipe) == 0 && read, "a demand is recorded %s", read ? "now" : wrong))
        return;
    check_bounds("recorded now", &trace);
    trace_free(&trace);
}

/* ---- decisions, one by one ---- */

static bool allowed(enum sgc_page_policy policy, uint32_t k, uint64_t consumed, uint64_t live)
{
    struct sgc_page_rule rule = { policy, k };
    struct sgc_page_supply supply = { consumed, live };

    return sgc_heap_expansion_allowed(&rule, &supply);
}

static void test_decisions(void)
{
    tap_ok(!allowed(SGC_POLICY_AS, 0, 0, 100) && !allowed(SGC_POLICY_PS, 0, 0, 100) && allowed(SGC_POLICY_AL, 0, 99, 0),
           "AS and PS never expand before they share, AL always");
    tap_ok(allowed(SGC_POLICY_LPS, 3, 299, 100) && !allowed(SGC_POLICY_LPS, 3, 300, 100),
           "LPS(3) expands below three times l, not at it");
    tap_ok(!allowed(SGC_POLICY_LPS, 5, 0, 0) && !allowed(SGC_POLICY_LPS, 0, 0, 100), "nothing known, nothing allowed");
    tap_ok(sgc_lps_auto_k(1) == 1 && sgc_lps_auto_k(2) == 2 && sgc_lps_auto_k(64) == 2,
           "automatic k is 1 on one memory node, 2 on more");
    tap_ok(allowed(SGC_POLICY_LPS, 65536, UINT32_MAX, UINT32_MAX), "the largest k does not overflow");
    tap_ok(sgc_page_wealth(0) == 0 && sgc_page_wealth(1) == 1 && sgc_page_wealth(2) == 2 && sgc_page_wealth(3) == 2 &&
           sgc_page_wealth(UINT32_MAX) == 32, "wealth is told within a factor of two");
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        const char *wrong = try_seed(strtoul(argv[1], NULL, 10));

        tap_ok(wrong == NULL, "seed %s%s%s", argv[1], wrong != NULL ? ": " : "", wrong != NULL ? wrong : "");
        return tap_done();
    }
    test_decisions();
    test_random();
    test_recorded();
    test_recorder();
    return tap_done();
}
