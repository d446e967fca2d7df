/* SPDX-License-Identifier: MIT */
/*
 * perfmodel/machine/bench*.c: caches from made-up trees like /sys; and that measurements are of what they say.  Times
 * themselves cannot be checked on a machine that does other things, too: only what holds on every one.
 */
#include "perfmodel/machine/bench.h"
#include "tests/lib/folder.h"

/* ---- /sys ---- */

static void write_attribute(int index, const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof path, "devices/system/cpu/cpu0/cache/index%d/%s", index, name);
    folder_put(path, text);
}

static void make_cache(int index, const char *level, const char *type, const char *size, const char *ways, const char *shared)
{
    write_attribute(index, "level", level);
    write_attribute(index, "type", type);
    write_attribute(index, "size", size);
    write_attribute(index, "ways_of_associativity", ways);
    write_attribute(index, "coherency_line_size", "64\n");
    write_attribute(index, "shared_cpu_list", shared);
}

static void test_caches(void)
{
    struct sgc_machine_cache cache[SGC_MACHINE_CACHES];

    folder_make();
    tap_ok(sgc_bench_caches(cache, folder) == 0, "nothing is said of caches");
    make_cache(0, "1\n", "Data\n", "32K\n", "8\n", "0\n");
    make_cache(1, "1\n", "Instruction\n", "64K\n", "4\n", "0\n");
    make_cache(2, "2\n", "Unified\n", "1M\n", "0\n", "0,4\n");
    make_cache(3, "3\n", "Unified\n", "33792K\n", "11\n", "0-3,8-10,12\n");
    tap_ok(sgc_bench_caches(cache, folder) == 3, "three levels, one of them twice");
    tap_ok(cache[0].bytes == 32768 && cache[0].ways == 8 && cache[0].line_bytes == 64 && cache[0].shared_by == 1,
           "the first is that for data");
    tap_ok(cache[1].bytes == 1 << 20 && cache[1].ways == 8 && cache[1].shared_by == 2,
           "ways that are not said are taken for 8");
    tap_ok(cache[2].bytes == 33792 * 1024 && cache[2].ways == 11 && cache[2].shared_by == 8, "lists and ranges are counted");
    write_attribute(2, "size", "\n");
    tap_ok(sgc_bench_caches(cache, folder) == 1, "a level without a size ends it");
    folder_remove();
}

/* ---- threads ---- */

static void note_processor(void *arg, int i)
{
    int *seen = arg;

    seen[i]++;
}

static void test_together(void)
{
    static int cpu[SGC_BENCH_CPUS], seen[2];
    double ns = -1;
    int n = sgc_bench_cpus(cpu, SGC_BENCH_CPUS);

    tap_ok(n >= 1 && cpu[0] >= 0, "the process may use processors");
    tap_ok(sgc_bench_together(note_processor, seen, (int[]){ cpu[0], cpu[n - 1] }, 2, 3, &ns) && seen[0] == 3 && seen[1] == 3,
           "each thread works in each round");
    tap_ok(ns > 0 && ns < 1e9, "which takes some time");
}

/* ---- times ---- */

/* The least of several: beside other programs any one may be too long. */
static double chased(const struct sgc_bench_chase *chase)
{
    double least = sgc_bench_chase(chase);

    for (int i = 0; i < 4; i++) {
        double ns = sgc_bench_chase(chase);

        least = ns < least ? ns : least;
    }
    return least;
}

static bool is_time(double ns)
{
    return ns > 0 && ns < 1e6;
}

static void test_memory(void)
{
    int cpu[1];
    struct sgc_bench_chase chase = { 16384, 64, true, false, 0, 0 };
    double near, far, atomic;

    sgc_bench_cpus(cpu, 1);
    chase.home = chase.cpu = cpu[0];
    near = chased(&chase);
    chase.rmw = true;
    atomic = chased(&chase);
    chase.rmw = false;
    chase.bytes = 64 << 20;
    far = sgc_bench_chase(&chase);
    tap_ok(is_time(near) && is_time(far) && near < far, "64 MB are farther than 16 KB");
    tap_ok(is_time(atomic) && atomic > near, "to read and write atomically takes longer than to read");
    near = sgc_bench_independent(16384, false, cpu, 1);
    far = sgc_bench_independent(64 << 20, false, cpu, 1);
    tap_diag("%.2f and %.2f ns", near, far);
    tap_ok(is_time(near) && is_time(far) && far > near, "loads that are known ahead take longer from memory than from a cache");
    tap_ok(sgc_bench_stream(16 << 20, cpu[0]) > 1, "a stream");
}

static void test_costs(void)
{
    struct sgc_bench_doubts doubts;
    struct sgc_machine_costs c;
    int cpu[1];

    sgc_bench_cpus(cpu, 1);
    tap_ok(sgc_bench_costs(&c, &doubts, cpu[0]) && is_time(c.word_ns) && is_time(c.object_ns) && is_time(c.mark_ns) &&
               is_time(c.mark_rmw_ns) && is_time(c.push_ns) && is_time(c.lock_ns),
           "what the parts of marking compute");
    tap_ok(is_time(c.edge_ns) && is_time(c.steal_ns) && is_time(c.procedure_ns) && is_time(c.procedure_edge_ns),
           "a difference is a time, or a bound of one, and never nothing");
    tap_ok(c.mark_rmw_ns > c.word_ns && c.lock_ns > c.word_ns, "what is atomic takes longer than to look at a word");
}

/* ---- differences, of times that are made up ---- */

struct made_up {
    double more, less, noise;           /* each time is up to so much longer */
    double worst;                       /* so often ... of ten it is far longer */
    uint64_t state;
    int calls;
};

static double noisy(struct made_up *m, double ns)
{
    m->calls++;
    m->state = m->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    ns += m->noise * (double)(m->state >> 40) / (1 << 24);
    return (m->state >> 33) % 10 < m->worst ? ns + 1000 : ns;
}

static double time_more(void *made_up)
{
    struct made_up *m = made_up;

    return noisy(m, m->more);
}

static double time_less(void *made_up)
{
    struct made_up *m = made_up;

    return noisy(m, m->less);
}

/* Of so many machines like that, how many know it, and are right by a tenth. */
static int count_known(struct made_up like, int *right)
{
    int known = 0;

    *right = 0;
    for (int i = 0; i < 100; i++) {
        struct made_up m = like;
        const struct sgc_bench_pair pair = { time_more, time_less, &m };
        double ns = -1;

        m.state = (uint64_t)i + 1;
        if (sgc_bench_difference(&pair, &ns)) {
            known++;
            *right += ns > 0.7 * (m.more - m.less) && ns < 1.3 * (m.more - m.less);
        } else {
            *right += ns > 0 && ns >= m.more - m.less;      /* a bound */
        }
    }
    return known;
}

static void test_differences(void)
{
    int right, known = count_known((struct made_up){ .more = 60, .less = 50 }, &right);

    tap_ok(known == 100 && right == 100, "without noise it is known at once");
    known = count_known((struct made_up){ .more = 60, .less = 50, .noise = 20, .worst = 4 }, &right);
    tap_ok(known > 60 && right > 90, "with noise twice as large it is repeated until it is known (%d, %d right)", known, right);
    known = count_known((struct made_up){ .more = 50, .less = 50, .noise = 20 }, &right);
    tap_ok(known < 10, "what is no difference is rarely taken for one (%d)", known);
    known = count_known((struct made_up){ .more = 51, .less = 50, .noise = 500 }, &right);
    tap_ok(known < 10, "nor is one that is far below the noise (%d)", known);
    known = count_known((struct made_up){ .more = 40, .less = 50, .noise = 20 }, &right);
    tap_ok(known == 0 && right == 100, "nor a negative one, and what is not known is a bound and not 0");
}

int main(void)
{
    return tap_all(test_differences, test_caches, test_together, test_memory, test_costs);
}
