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
    near = sgc_bench_chase(&chase);
    chase.rmw = true;
    atomic = sgc_bench_chase(&chase);
    chase.rmw = false;
    chase.bytes = 64 << 20;
    far = sgc_bench_chase(&chase);
    tap_ok(is_time(near) && is_time(far) && near < far, "64 MB are farther than 16 KB");
    tap_ok(is_time(atomic) && atomic > near, "to read and write atomically takes longer than to read");
    tap_ok(is_time(sgc_bench_independent(64 << 20, false, cpu, 1)), "loads that are known ahead");
    tap_ok(sgc_bench_stream(16 << 20, cpu[0]) > 1, "a stream");
}

static void test_costs(void)
{
    struct sgc_machine_costs c;
    int cpu[1];

    sgc_bench_cpus(cpu, 1);
    tap_ok(sgc_bench_costs(&c, cpu[0]) && is_time(c.word_ns) && is_time(c.object_ns) && is_time(c.mark_ns) &&
               is_time(c.mark_rmw_ns) && is_time(c.push_ns) && is_time(c.lock_ns),
           "what the parts of marking compute");
    tap_ok(c.mark_rmw_ns > c.word_ns && c.lock_ns > c.word_ns, "what is atomic takes longer than to look at a word");
}

int main(void)
{
    test_caches();
    test_together();
    test_memory();
    test_costs();
    return tap_done();
}
