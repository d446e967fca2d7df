/* SPDX-License-Identifier: MIT */
/*
 * platform/limits_linux.c, on made-up cgroup trees below a temporary folder and on this machine.
 *
 * Also: platform/file_linux.c.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>

#include "platform/platform.h"
#include "tests/lib/child.h"
#include "tests/lib/folder.h"
#include "tests/lib/refuse.h"
#include "tests/lib/sanitized.h"

/* ---- made-up trees ------------------------------------------------------------------------------------ */

static char root[300], self_file[320];

/* Anew, with the file that names this process's groups. */
static void new_tree(const char *self_text)
{
    if (root[0] != '\0')
        folder_remove();
    folder_make();
    folder_put("tree/self", self_text);
    snprintf(root, sizeof root, "%s/tree", folder);
    snprintf(self_file, sizeof self_file, "%s/self", root);
}

static void put_file(const char *path, const char *text)
{
    char name[200];

    snprintf(name, sizeof name, "tree/%s", path);
    folder_put(name, text);
}

static void check_memory(size_t expected, const char *what)
{
    size_t got = sgc_limit_cgroup_memory_at(root, self_file);
    tap_ok(got == expected, "memory: %s (%zu)", what, got);
}

static void check_left(size_t expected, const char *what)
{
    size_t got = sgc_limit_cgroup_remaining_at(root, self_file);
    tap_ok(got == expected, "left: %s (%zu)", what, got);
}

static void check_cpus(int expected, const char *what)
{
    int got = sgc_limit_cgroup_cpus_at(root, self_file);
    tap_ok(got == expected, "processors: %s (%d)", what, got);
}

/* ---- either version, and both ---------------------------------------------------------------------------------- */

static const struct step {
    const char *path, *text;    /* a file that is written first; without path: a new tree, for a process of these groups */
    enum { NOTHING, MEMORY, LEFT, CPUS } asked;
    size_t expected;
    const char *what;
} steps[] = {
    { NULL, "0::/user/app\n", MEMORY, SIZE_MAX, "no files, no limit" },
    { NULL, NULL, CPUS, INT_MAX, "no files, no limit" },
    { "user/app/memory.max", "max\n", NOTHING, 0, NULL },
    { "user/app/cpu.max", "max 100000\n", MEMORY, SIZE_MAX, "\"max\" is no limit" },
    { NULL, NULL, CPUS, INT_MAX, "\"max\" is no limit" },
    { "user/app/memory.max", "500000000\n", MEMORY, 500000000, "the group's own limit" },
    { "user/memory.max", "400000000\n", MEMORY, 400000000, "the parent's is tighter" },
    { "memory.max", "300000000\n", MEMORY, 300000000, "the root's is the tightest" },
    { "user/app/memory.high", "200000000\n", MEMORY, 200000000, "memory.high counts as a limit" },
    { "user/app/deeper/memory.max", "1000\n", NOTHING, 0, NULL },
    { "other/memory.max", "1000\n", NOTHING, 0, NULL },
    { "user/application/memory.max", "1000\n", MEMORY, 200000000, "groups below and beside do not count" },
    { NULL, "0::/user/app\n", NOTHING, 0, NULL },
    { "user/app/memory.current", "1000\n", LEFT, SIZE_MAX, "without a limit, however much is used" },
    { "user/app/memory.max", "50000\n", LEFT, 49000, "the limit less what is used" },
    { "user/app/memory.stat", "anon 600\nfile 300\ninactive_anon 5\nactive_file 100\ninactive_file 200\nslab 9\n", LEFT, 49200,
      "files that nobody has used lately do not count" },
    { "user/app/memory.stat", "inactive_file 2000\n", LEFT, 50000, "more of them than are used is nonsense" },
    { "user/app/memory.current", "70000\n", LEFT, 0, "nothing above the limit" },
    { "user/app/memory.current", "3000\n", NOTHING, 0, NULL },
    { "user/memory.max", "90000\n", NOTHING, 0, NULL },
    { "user/memory.current", "88000\n", LEFT, 2000, "the parent has less" },
    { "user/memory.current", "soon\n", LEFT, 49000, "one that does not say sets no limit" },
    { NULL, "5:memory:/docker/abc\n", NOTHING, 0, NULL },
    { "memory/docker/abc/memory.limit_in_bytes", "67108864\n", LEFT, SIZE_MAX, "version 1, nothing is said of use" },
    { "memory/docker/abc/memory.usage_in_bytes", "7108864\n", LEFT, 60000000, "version 1" },
    { "memory/docker/abc/memory.stat", "inactive_file 5\ntotal_inactive_file 1000\n", LEFT, 60001000,
      "version 1, groups below included" },
    { NULL, "0::/a/b\n", NOTHING, 0, NULL },
    { "a/b/cpu.max", "200000 100000\n", CPUS, 2, "a whole quota" },
    { "a/b/cpu.max", "200001 100000\n", CPUS, 3, "a quota is rounded up" },
    { "a/b/cpu.max", "1000 100000\n", CPUS, 1, "never below one" },
    { "a/b/cpu.max", "1600000 100000\n", NOTHING, 0, NULL },
    { "a/cpu.max", "450000 100000\n", CPUS, 5, "the parent's is tighter" },
    { "a/cpu.max", "18446744073709551614 1\n", CPUS, 16, "a huge quota is none" },
    { NULL, "12:pids:/x\n5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/x\n", MEMORY, SIZE_MAX,
      "version 1 without files" },
    { "memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n", MEMORY, SIZE_MAX, "version 1's number for none" },
    { "memory/docker/abc/memory.limit_in_bytes", "67108864\n", MEMORY, 67108864, "version 1" },
    { "memory/memory.limit_in_bytes", "33554432\n", MEMORY, 33554432, "version 1, the mounted root" },
    { "pids/x/memory.limit_in_bytes", "5\n", MEMORY, 33554432, "another controller's folder does not count" },
    { "cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "-1\n", NOTHING, 0, NULL },
    { "cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n", CPUS, INT_MAX, "version 1 without quota" },
    { "cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "150000\n", CPUS, 2, "version 1, rounded up" },
    { "cpu/docker/cpu.cfs_quota_us", "50000\n", NOTHING, 0, NULL },
    { "cpu/docker/cpu.cfs_period_us", "100000\n", CPUS, 1, "version 1, mounted by the controller's own name" },
    { NULL, "5:memory:/a\n0::/b\n", NOTHING, 0, NULL },
    { "memory/a/memory.limit_in_bytes", "70000000\n", NOTHING, 0, NULL },
    { "unified/b/memory.max", "60000000\n", MEMORY, 60000000, "both versions, version 2 tighter" },
    { "memory/a/memory.limit_in_bytes", "50000000\n", MEMORY, 50000000, "both versions, version 1 tighter" },
};

static void test_steps(void)
{
    for (const struct step *s = steps; s < steps + sizeof steps / sizeof *steps; s++) {
        if (s->path != NULL)
            put_file(s->path, s->text);
        else if (s->text != NULL)
            new_tree(s->text);
        if (s->asked == MEMORY)
            check_memory(s->expected, s->what);
        else if (s->asked == LEFT)
            check_left(s->expected, s->what);
        else if (s->asked == CPUS)
            check_cpus((int)s->expected, s->what);
    }
}

/* ---- nonsense -------------------------------------------------------------------------------------------------- */

static void test_garbage_values(void)
{
    static const char *const nonsense[] = { "", "\n", "0\n", "-5\n", "12x\n", "x12\n", "0x10\n",
                                            "99999999999999999999999\n", "18446744073709551615\n", "maximum\n" };
    new_tree("0::/g\n");
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        put_file("g/memory.max", nonsense[i]);
        put_file("g/cpu.max", nonsense[i]);
        size_t memory = sgc_limit_cgroup_memory_at(root, self_file);
        int cpus = sgc_limit_cgroup_cpus_at(root, self_file);
        tap_ok(memory == SIZE_MAX && cpus == INT_MAX, "\"%.*s\" is no limit (%zu, %d)",
               (int)strcspn(nonsense[i], "\n"), nonsense[i], memory, cpus);
    }
    put_file("g/cpu.max", "100000 0\n");
    check_cpus(INT_MAX, "a period of 0 is not divided by");
    put_file("g/cpu.max", "100000\n");
    check_cpus(INT_MAX, "a missing period");
    put_file("g/memory.max", "4096");
    check_memory(4096, "a value without newline");
}

static void test_garbage_groups(void)
{
    new_tree("\n:\n::\n0::relative\nnonsense\n0::/../../elsewhere\n5:memory\n0::/good\n");
    put_file("good/memory.max", "777777\n");
    check_memory(777777, "bad lines are skipped");
    put_file("memory.max", "666666\n");
    put_file("../memory.max", "5000\n");
    check_memory(666666, "a group outside of the namespace still has the root");
    char longest[6000];
    memset(longest, 'a', sizeof longest);
    memcpy(longest, "0::/", 4);
    strcpy(longest + sizeof longest - 14, "\n0::/good\n");
    new_tree(longest);
    put_file("good/memory.max", "555555\n");
    check_memory(555555, "a path of 6000 bytes is survived");
    strcat(self_file, ".missing");
    check_memory(SIZE_MAX, "a missing list of groups");
}

/* ---- this machine ------------------------------------------------------------------------------------------------ */

static int address_space(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    if (limit.rlim_cur == RLIM_INFINITY && sgc_limit_address_space() != SIZE_MAX)
        return 1;
    if (!limit_to(RLIMIT_AS, (rlim_t)1 << 46))
        return 2;
    size_t left = sgc_limit_address_space();
    return left < (size_t)1 << 46 && left > (size_t)1 << 20 ? 0 : 3;
}

static int address_space_used_up(void)
{
    if (!limit_to(RLIMIT_AS, 4096))
        return 2;
    return sgc_limit_address_space() == 0 ? 0 : 1;
}

static int one_cpu(void)
{
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return 1;
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        return 2;
    return sgc_limit_cpus() == 1 ? 0 : 3;
}

static int limited_data(void)
{
    return limit_to(RLIMIT_DATA, 1 << 30) && sgc_limit_data() ? 0 : 1;
}

static void test_process(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_DATA, &limit);
    tap_ok(sgc_limit_data() == (limit.rlim_cur != RLIM_INFINITY), "whether data is limited");
    child_ok(limited_data, "and it is when a limit is set");
    tap_ok(sgc_limit_mappings() >= 1000, "a process may have %zu mappings", sgc_limit_mappings());
}

static void test_machine(void)
{
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    int cpus = sgc_limit_cpus(), quota = sgc_limit_cgroup_cpus_at("/sys/fs/cgroup", "/proc/self/cgroup");
    int expected = CPU_COUNT(&all) < quota ? CPU_COUNT(&all) : quota;
    tap_ok(cpus == expected, "processors of this process: %d", cpus);
    child_ok(one_cpu, "one in the affinity mask");
    size_t physical = sgc_limit_physical_memory();
    size_t pages = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    tap_ok(physical == pages, "physical memory: %zu MB", physical >> 20);
    tap_ok(sgc_limit_cgroup_memory() >= (size_t)16 << 20, "this process's cgroup allows it to live");
    if (TEST_SANITIZED)
        tap_skip("a sanitizer uses more address space than this sets as the limit");
    else
        child_ok(address_space, "RLIMIT_AS minus what is used");
    child_ok(address_space_used_up, "RLIMIT_AS used up is 0");
    errno = EDOM;
    (void)sgc_limit_address_space();
    tap_ok(errno == EDOM, "errno is as before");
}

int main(void)
{
    tap_each(test_steps, test_garbage_values, test_garbage_groups, test_machine, test_process);
    folder_remove();
    return tap_done();
}
