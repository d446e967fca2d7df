/* SPDX-License-Identifier: MIT */
/*
 * mark/team/contention_rules.h: the solution against bisection, what it does when a parameter
 * grows, [Endo]'s equations where they
 * can be solved by hand, and the curves that follow from his table 4.1.
 */
#include <math.h>

#include "mark/team/contention_rules.h"
#include "tests/lib/tap.h"

enum { CASES = 100000, MONOTONE_CASES = 5000, NODES = 16 };

static uint64_t state = 88172645463325252u;

/* From least to most, all magnitudes alike. */
static double any(double least, double most)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return least * pow(most / least, (double)(state >> 11) / (double)(UINT64_C(1) << 53));
}

struct problem {
    struct sgc_node_load node[NODES];
    struct sgc_memory_load memory;
    double computing_ns;
};

static void make_problem(struct problem *p)
{
    p->memory = (struct sgc_memory_load){
        p->node, 1 + (uint32_t)any(1, NODES - 1), { any(1, 1000), any(1, 1000) }, floor(any(1, 4096))
    };
    for (uint32_t j = 0; j < p->memory.nodes; j++)
        for (int c = 0; c < SGC_MISS_CLASSES; c++) {
            p->node[j].requests[c] = any(1, 10) < 2 ? 0 : any(1, 1e8);
            p->node[j].latency_ns[c] = p->memory.occupancy_ns[c] * any(1, 20);
        }
    p->computing_ns = any(1, 10) < 2 ? 0 : any(1, 1e11);
}

/* Right side of the equation, written down once more. */
static double right_side(const struct problem *p, double time)
{
    double sum = 0;

    for (uint32_t j = 0; j < p->memory.nodes; j++) {
        double rho = 0, squares = 0;

        for (int c = 0; c < SGC_MISS_CLASSES; c++) {
            double rate = p->node[j].requests[c] / time;

            rho += rate * p->memory.occupancy_ns[c];
            squares += rate * p->memory.occupancy_ns[c] * p->memory.occupancy_ns[c];
        }
        for (int c = 0; c < SGC_MISS_CLASSES; c++)
            if (p->node[j].requests[c] > 0)
                sum += p->node[j].requests[c] * (p->node[j].latency_ns[c] + squares / (1 - rho));
    }
    return p->computing_ns + sum / p->memory.abreast;
}

static double bisect(const struct problem *p)
{
    double lo = sgc_memory_min_ns(&p->memory), hi = lo + 1;

    while (right_side(p, hi) > hi)
        hi = lo + 2 * (hi - lo);
    for (int i = 0; i < 200; i++) {
        double middle = lo + (hi - lo) / 2;

        if (middle <= lo || middle >= hi)
            break;
        if (right_side(p, middle) > middle)
            lo = middle;
        else
            hi = middle;
    }
    return hi;
}

static void test_root(void)
{
    double worst = 0;
    struct problem p;

    for (int i = 0; i < CASES; i++) {
        double wanted, found;

        make_problem(&p);
        wanted = bisect(&p);
        found = sgc_memory_time_ns(&p.memory, p.computing_ns);
        worst = fmax(worst, fabs(found - wanted) / fmax(wanted, 1e-9));
    }
    tap_ok(worst < 1e-9, "in %d random cases the solution is that of bisection (within %.1e)", CASES, worst);
}

/* ---- what grows with what ---- */

static double *parameter(struct problem *p, int which)
{
    double *const all[] = {
        &p->node[0].requests[SGC_MISS_READ], &p->node[0].requests[SGC_MISS_RMW], &p->node[0].latency_ns[SGC_MISS_READ],
        &p->node[0].latency_ns[SGC_MISS_RMW], &p->memory.occupancy_ns[SGC_MISS_READ], &p->memory.occupancy_ns[SGC_MISS_RMW],
        &p->computing_ns, &p->memory.abreast,
    };

    return all[which];
}

static void test_monotone(void)
{
    static const char *const names[] = {
        "reads", "read-modify-writes", "M_1 of reads", "M_1 of read-modify-writes", "S_O of reads", "S_O of read-modify-writes",
        "computing", "processors",
    };
    struct problem p;

    for (int which = 0; which < 8; which++) {
        int wrong = 0, grew = 0;

        for (int i = 0; i < MONOTONE_CASES; i++) {
            double before, after;

            make_problem(&p);
            before = sgc_memory_time_ns(&p.memory, p.computing_ns);
            *parameter(&p, which) *= 1.5;
            after = sgc_memory_time_ns(&p.memory, p.computing_ns);
            wrong += which == 7 ? after > before * (1 + 1e-12) : after < before * (1 - 1e-12);
            grew += after != before;
        }
        tap_ok(wrong == 0 && grew > MONOTONE_CASES / 4, "more %s never makes a mark %s", names[which],
               which == 7 ? "longer" : "shorter");
    }
}

/* ---- by hand ---- */

static bool near(double value, double wanted, double part)
{
    if (fabs(value - wanted) <= part * fabs(wanted))
        return true;
    tap_diag("%.9g instead of %.9g", value, wanted);
    return false;
}

/* [Endo], 4.3.7, word for word: one node, one class. */
static void test_thesis(void)
{
    struct sgc_node_load node = { .requests = { 1e6, 0 }, .latency_ns = { 270, 0 } };
    struct sgc_memory_load memory = { &node, 1, { 230, 0 }, 32 };
    double time = sgc_memory_time_ns(&memory, 2e7), rho = 230 * 1e6 / time, miss = 270 + 230 * rho / (1 - rho);

    tap_ok(near(2e7 + 1e6 * miss / 32, time, 1e-12), "T = T_P + Q_P M_P / P with M_P = M_1 + S_O rho / (1 - rho)");
    tap_ok(near(sgc_memory_miss_ns(&memory, time), miss, 1e-12), "and that is M_P");
    tap_ok(rho < 1 && time > sgc_memory_min_ns(&memory), "the node is never busy for longer than the mark takes");
    tap_ok(near(sgc_memory_free_ns(&memory, 2e7), 2e7 + 1e6 * 270 / 32, 1e-12), "without contention M_P is M_1");
    memory.occupancy_ns[SGC_MISS_READ] = 0;
    tap_ok(sgc_memory_time_ns(&memory, 2e7) == sgc_memory_free_ns(&memory, 2e7), "and S_O = 0 is that");
    node.requests[SGC_MISS_READ] = 0;
    tap_ok(sgc_memory_time_ns(&memory, 0) == 0 && sgc_memory_miss_ns(&memory, 0) == 0, "nothing to do takes no time");
}

/* ---- the curves that follow from table 4.1 ---- */

struct curve {
    const char *name;
    double computing, serial, latency, occupancy, share; /* nanoseconds a miss; serial: M_1 with one processor */
    uint32_t nodes;                                      /* that have such a share */
    struct {
        double processors, speedup;
    } point[6];
};

static const struct curve curves[] = {
    { "E10K, t = 200", 200, 560, 560, 250, 1.0 / 16, 16,
      { { 8, 7.5 }, { 16, 14.1 }, { 32, 24.2 }, { 48, 30.7 }, { 60, 34.0 }, { 128, 41.9 } } },
    { "E10K, t = 384", 384, 560, 560, 250, 1.0 / 16, 16,
      { { 8, 7.7 }, { 16, 14.7 }, { 32, 26.5 }, { 48, 35.1 }, { 60, 39.8 }, { 128, 51.3 } } },
    { "E10K, t = 600", 600, 560, 560, 250, 1.0 / 16, 16,
      { { 8, 7.8 }, { 16, 15.2 }, { 32, 28.3 }, { 48, 38.8 }, { 60, 45.0 }, { 128, 61.8 } } },
    { "O2K, t = 940, 80 percent at one node", 940, 270, 650, 230, 0.8, 1,
      { { 8, 4.7 }, { 16, 5.9 }, { 32, 6.3 }, { 48, 6.4 }, { 64, 6.5 }, { 64, 6.5 } } },
};

/* What is not at nodes with such a share is where nobody waits. */
static double curve_speedup(const struct curve *c, double processors)
{
    struct sgc_node_load node[NODES + 1] = { 0 };
    struct sgc_memory_load memory = { node, c->nodes + 1, { c->occupancy, 0 }, processors };
    double rest = (1 - c->share * c->nodes) * c->latency;

    for (uint32_t j = 0; j < c->nodes; j++)
        node[j] = (struct sgc_node_load){ .requests = { c->share, 0 }, .latency_ns = { c->latency, 0 } };
    return (c->computing + c->serial) / sgc_memory_time_ns(&memory, (c->computing + fmax(rest, 0)) / processors);
}

static void test_curves(void)
{
    for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++) {
        bool right = true;

        for (int k = 0; k < 6; k++) {
            double speedup = curve_speedup(&curves[i], curves[i].point[k].processors);

            if (fabs(speedup - curves[i].point[k].speedup) > 0.0501) {
                tap_diag("%g processors: %.2f instead of %.1f", curves[i].point[k].processors, speedup,
                         curves[i].point[k].speedup);
                right = false;
            }
        }
        tap_ok(right, "%s: the speed-ups are those computed by hand", curves[i].name);
    }
}

static void test_shared(void)
{
    struct sgc_node_load node = { .requests = { 1e6, 0 }, .latency_ns = { 270, 0 } };
    struct sgc_memory_load memory = { &node, 1, { 230, 0 }, 1 };
    double one = sgc_memory_shared_ns(&memory, 3e8, 1), many = sgc_memory_shared_ns(&memory, 3e8, 1000);

    memory.abreast = 1000;
    tap_ok(many == sgc_memory_time_ns(&memory, 3e5), "processors share the work, and their misses overlap");
    tap_ok(many > 230e6 && one / many < 3, "a node that has all requests bounds the speed-up, however many they are");
}

/* As found by asking for each number; and the thesis' table 4.4, where some 22 of 48 processors suffice for BH-st on O2K. */
static void test_enough(void)
{
    struct problem p;
    int wrong = 0;
    struct sgc_node_load bh[2] = { { .requests = { 0.8e6, 0 }, .latency_ns = { 650, 0 } },
                                   { .requests = { 0.2e6, 0 }, .latency_ns = { 650, 0 } } };
    struct sgc_memory_load o2k = { bh, 2, { 230, 0 }, 1 };

    for (int i = 0; i < 500; i++) {
        uint32_t most = 1 + (uint32_t)any(1, 200), few = 1;
        double percent = any(0.1, 100);

        make_problem(&p);
        while (sgc_memory_shared_ns(&p.memory, p.computing_ns, few) >
               sgc_memory_shared_ns(&p.memory, p.computing_ns, most) * (1 + percent / 100))
            few++;
        wrong += sgc_memory_enough(&p.memory, p.computing_ns, most, percent) != few;
    }
    tap_ok(wrong == 0, "the smallest number that is enough is found");
    tap_ok(sgc_memory_enough(&o2k, 940e6, 48, 5) >= 16 && sgc_memory_enough(&o2k, 940e6, 48, 5) <= 28,
           "for [Endo]'s BH-st on O2K %u of 48 processors are within 5 percent", sgc_memory_enough(&o2k, 940e6, 48, 5));
    o2k.occupancy_ns[SGC_MISS_READ] = 0;
    tap_ok(sgc_memory_enough(&o2k, 940e6, 48, 5) == 46, "without queues all are of use, within 5 percent of it");
    tap_ok(sgc_memory_enough(&o2k, 940e6, 1, 5) == 1, "one is enough of one");
}

int main(void)
{
    return tap_all(test_root, test_monotone, test_thesis, test_curves, test_shared, test_enough);
}
