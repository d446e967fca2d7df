/* SPDX-License-Identifier: MIT */
/*
 * The limits that the system sets to this process.  Owns nothing; runs on any thread.
 *
 * A cgroup's limit holds for everything below it, so each group from the process's own up to the
 * root is asked and the smallest answer counts.  In a container the path in /proc/self/cgroup may
 * lead outside of what is mounted; its groups are then missing, and the mounted root still answers.
 * Files that are missing, empty or not understood set no limit.
 */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "platform/atomics.h"
#include "platform/file_linux.h"
#include "platform/platform.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"

enum { SGC_PATH = 4096 + 512 };

/* ---- the process and the machine ------------------------------------------------------------- */

size_t sgc_limit_address_space(void)
{
    struct rlimit limit;
    char line[64];
    const char *at = line;
    uint64_t pages;
    if (sgc_syscall(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    if (!sgc_read_line_of("/proc/self/statm", line, sizeof line) || !sgc_parse_number(&at, 10, &pages))
        return limit.rlim_cur;
    uint64_t used = pages * sgc_os_page_size();
    return used < limit.rlim_cur ? limit.rlim_cur - used : 0;
}

enum { USUAL_MAPPINGS = 65530 };

size_t sgc_limit_mappings(void)
{
    char line[32];
    const char *text = line;
    uint64_t number;

    if (sgc_read_line_of("/proc/sys/vm/max_map_count", line, sizeof line) && sgc_parse_number(&text, 10, &number))
        return (size_t)number;
    return USUAL_MAPPINGS;
}

bool sgc_limit_data(void)
{
    struct rlimit limit;

    return sgc_syscall(SYS_prlimit64, 0, RLIMIT_DATA, 0, (long)&limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

static size_t soft_limit(int resource)
{
    struct rlimit limit;

    if (sgc_syscall(SYS_prlimit64, 0, resource, 0, (long)&limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return limit.rlim_cur;
}

size_t sgc_limit_mapped(void)
{
    size_t all = soft_limit(RLIMIT_AS), data = soft_limit(RLIMIT_DATA);

    return all < data ? all : data;
}

size_t sgc_limit_physical_memory(void)
{
    struct sysinfo info;
    return sysinfo(&info) == 0 ? (size_t)info.totalram * info.mem_unit : SIZE_MAX;
}

/* The kernel says how many bytes of the mask it has filled. */
static int affinity_cpus(void)
{
    unsigned char mask[1024];           /* 8192 processors, the most Linux can be built for */
    long bytes = sgc_syscall(SYS_sched_getaffinity, 0, sizeof mask, (long)mask, 0);
    int cpus = 0;

    sgc_assert(bytes <= (long)sizeof mask);
    for (long i = 0; i < bytes; i++)
        cpus += __builtin_popcount(mask[i]);
    return cpus > 0 ? cpus : 1;
}

/* ---- the files of a cgroup ------------------------------------------------------------------- */

static bool read_in(const char *directory, const char *name, char *line, size_t size)
{
    char path[SGC_PATH + 64];

    sgc_assert(directory != NULL && name[0] != '/' && size > 1);
    return sgc_format(path, sizeof path, "%s/%s", directory, name) < sizeof path && sgc_read_line_of(path, line, size);
}

static bool at_end(const char *text)
{
    return *text == '\0' || *text == ' ' || *text == '\t';
}

/* A positive number, or UINT64_MAX for none ("max", -1, nothing, nonsense). */
static uint64_t number_or_none(const char **at)
{
    uint64_t number;
    while (**at == ' ' || **at == '\t')
        ++*at;
    if (!sgc_parse_number(at, 10, &number) || !at_end(*at) || number == 0)
        return UINT64_MAX;
    return number;
}

static uint64_t read_number(const char *directory, const char *name)
{
    char line[64];
    const char *at = line;
    return read_in(directory, name, line, sizeof line) ? number_or_none(&at) : UINT64_MAX;
}

static uint64_t min_number(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Above memory.high a group is slowed down until it has shrunk: as good as a limit. */
static uint64_t memory_of_group(const char *directory)
{
    return min_number(read_number(directory, "memory.max"), read_number(directory, "memory.high"));
}

/* Version 1 writes a number near 2^63 for none. */
static uint64_t memory_of_old_group(const char *directory)
{
    uint64_t limit = read_number(directory, "memory.limit_in_bytes");
    return limit < UINT64_C(1) << 62 ? limit : UINT64_MAX;
}

/* The number behind a word in a file of "word number" lines; 0 if it is not there. */
static uint64_t read_field(const char *directory, const char *name, const char *word)
{
    char path[SGC_PATH + 64], line[64];
    struct sgc_reader reader;
    size_t length = strlen(word);
    uint64_t number = 0;

    sgc_assert(length > 0 && length + 1 < sizeof line);
    if (sgc_format(path, sizeof path, "%s/%s", directory, name) >= sizeof path || !sgc_reader_open(&reader, path))
        return 0;
    while (number == 0 && sgc_reader_line(&reader, line, sizeof line)) {
        const char *at = line + length + 1;
        if (strncmp(line, word, length) == 0 && line[length] == ' ' && !sgc_parse_number(&at, 10, &number))
            break;
    }
    sgc_reader_close(&reader);
    return number;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* File pages that nobody has used lately are given up by the kernel before anything else. */
static uint64_t remaining_of(uint64_t limit, const char *directory, const char *usage, const char *inactive)
{
    uint64_t used = read_number(directory, usage);

    sgc_assert(limit != 0 && used != 0);
    if (limit == UINT64_MAX || used == UINT64_MAX)
        return UINT64_MAX;
    return less(limit, less(used, read_field(directory, "memory.stat", inactive)));
}

static uint64_t remaining_in_group(const char *directory)
{
    return remaining_of(memory_of_group(directory), directory, "memory.current", "inactive_file");
}

static uint64_t remaining_in_old_group(const char *directory)
{
    return remaining_of(memory_of_old_group(directory), directory, "memory.usage_in_bytes", "total_inactive_file");
}

static uint64_t whole_cpus(uint64_t quota, uint64_t period)
{
    if (quota == UINT64_MAX || period == UINT64_MAX)
        return UINT64_MAX;
    sgc_assert(quota != 0 && period != 0);
    return quota / period + (quota % period != 0);
}

static uint64_t cpus_of_group(const char *directory)
{
    char line[64];
    const char *at = line;
    if (!read_in(directory, "cpu.max", line, sizeof line))
        return UINT64_MAX;
    uint64_t quota = number_or_none(&at);
    return whole_cpus(quota, quota == UINT64_MAX ? UINT64_MAX : number_or_none(&at));
}

static uint64_t cpus_of_old_group(const char *directory)
{
    uint64_t quota = read_number(directory, "cpu.cfs_quota_us");
    return quota == UINT64_MAX ? quota : whole_cpus(quota, read_number(directory, "cpu.cfs_period_us"));
}

/* ---- the groups of a process ----------------------------------------------------------------- */

typedef uint64_t (*group_reader)(const char *directory);

/* A question: a controller of version 1, and how to read a group of either version. */
struct question {
    const char *controller;
    group_reader old_group, group;
};

static const struct question memory_question = { "memory", memory_of_old_group, memory_of_group };
static const struct question remaining_question = { "memory", remaining_in_old_group, remaining_in_group };
static const struct question cpu_question = { "cpu", cpus_of_old_group, cpus_of_group };

static bool is_there(const char *path)
{
    return sgc_syscall(SYS_faccessat, AT_FDCWD, (long)path, F_OK, 0) == 0;
}

/* The smallest answer of root/mount/path and of each directory above it, root/mount included.  Most
 * machines have one of the possible mounts only, and looking for files in the others would be most
 * of the work. */
static uint64_t tightest_above(const char *root, const char *mount, const char *path, group_reader reader)
{
    char directory[SGC_PATH];
    size_t base = sgc_format(directory, sizeof directory, "%s/%s", root, mount);
    bool outside = strstr(path, "/..") != NULL;         /* of the cgroup namespace */
    bool at_root = outside || strcmp(path, "/") == 0;
    uint64_t limit = UINT64_MAX;

    sgc_assert(path[0] == '/' && reader != NULL);
    if (base >= sizeof directory || !is_there(directory))
        return limit;
    size_t length = sgc_format(directory, sizeof directory, "%s/%s%s", root, mount, at_root ? "" : path);
    if (length >= sizeof directory)
        return limit;
    for (;;) {
        sgc_assert(length >= base && directory[length] == '\0');
        limit = min_number(limit, reader(directory));
        if (length <= base)
            return limit;
        while (length > base && directory[--length] != '/')
            ;
        directory[length] = '\0';
    }
}

static bool names_controller(const char *list, const char *name)
{
    size_t length = strlen(name);

    sgc_assert(length > 0);
    for (; list; list = strchr(list, ',')) {
        list += *list == ',';
        if (strncmp(list, name, length) == 0 && (list[length] == '\0' || list[length] == ','))
            return true;
    }
    return false;
}

/*
 * A line is "number:controllers:path"; no controllers means version 2, which is mounted at the root
 * or, next to version 1, at root/unified.  Version 1 is mounted by the controllers' names.
 */
static uint64_t limit_of_line(const char *root, char *line, const struct question *question)
{
    char *list = strchr(line, ':');
    char *path = list ? strchr(++list, ':') : NULL;

    sgc_assert(question->controller != NULL && question->old_group != NULL && question->group != NULL);
    if (!path || path[1] != '/')
        return UINT64_MAX;
    *path++ = '\0';
    if (*list == '\0')
        return min_number(tightest_above(root, ".", path, question->group),
                          tightest_above(root, "unified", path, question->group));
    if (!names_controller(list, question->controller))
        return UINT64_MAX;
    uint64_t limit = tightest_above(root, question->controller, path, question->old_group);
    if (strcmp(list, question->controller) == 0)
        return limit;
    return min_number(limit, tightest_above(root, list, path, question->old_group));
}

static uint64_t tightest_of_process(const char *root, const char *self_file, const struct question *question)
{
    struct sgc_reader reader;
    char line[SGC_PATH];
    uint64_t limit = UINT64_MAX;

    sgc_assert(root != NULL && self_file != NULL);
    if (!sgc_reader_open(&reader, self_file))
        return limit;
    while (sgc_reader_line(&reader, line, sizeof line))
        limit = min_number(limit, limit_of_line(root, line, question));
    sgc_reader_close(&reader);
    return limit;
}

size_t sgc_limit_cgroup_memory_at(const char *root, const char *self_file)
{
    return tightest_of_process(root, self_file, &memory_question);
}

size_t sgc_limit_cgroup_remaining_at(const char *root, const char *self_file)
{
    return tightest_of_process(root, self_file, &remaining_question);
}

int sgc_limit_cgroup_cpus_at(const char *root, const char *self_file)
{
    uint64_t cpus = tightest_of_process(root, self_file, &cpu_question);
    return cpus < INT_MAX ? (int)cpus : INT_MAX;
}

/* ---- of this process, read once -------------------------------------------------------------- */

/*
 * Starting the collector asks for both several times, and each answer takes a dozen files.
 *
 * variable        writers                    readers
 * known_memory    any thread; all write      any thread, relaxed: the value is all there is
 * known_cpus        the same value
 */
SGC_STATE static sgc_aw_t known_memory;         /* 0: not read yet; nobody has a limit of 0 */
SGC_STATE static sgc_aw_t known_cpus;

static uint64_t read_once(sgc_aw_t *known, const struct question *question)
{
    uint64_t limit = sgc_aw_load(known);
    if (limit == 0) {
        limit = tightest_of_process("/sys/fs/cgroup", "/proc/self/cgroup", question);
        sgc_assert(limit != 0);
        sgc_aw_store(known, limit);
    }
    return limit;
}

size_t sgc_limit_cgroup_memory(void)
{
    return read_once(&known_memory, &memory_question);
}

size_t sgc_limit_cgroup_remaining(void)
{
    return sgc_limit_cgroup_remaining_at("/sys/fs/cgroup", "/proc/self/cgroup");
}

int sgc_limit_cpus(void)
{
    uint64_t cpus = min_number((uint64_t)affinity_cpus(), read_once(&known_cpus, &cpu_question));

    sgc_assert(cpus >= 1 && cpus <= INT_MAX);
    return (int)cpus;
}
