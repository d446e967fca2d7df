/* SPDX-License-Identifier: MIT */
/*
 * gc/threads/binding.c in a whole collector, each case in a process of its own: where helpers run, as /proc says, and that
 * threads of the program are left alone, in the child of a fork, too; what is said when it cannot be; and that a machine with
 * one node is asked nothing.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <dirent.h>
#include <dlfcn.h>
#include <sched.h>

#include "gc/gc.h"
#include "gc/threads/binding.h"
#include "platform/nodes/placement.h"
#include "tests/lib/child.h"
#include "tests/lib/refuse.h"
#include "tests/lib/white.h"

/* ---- the library's system calls pass here ---- */

enum { OPENED = 64 };

static char opened[OPENED][128];
static int opens, placing;

static void note(long number, const char *path)
{
    if (number == SYS_openat && path != NULL && strstr(path, "/devices/system/") != NULL && opens < OPENED)
        snprintf(opened[opens++], sizeof opened[0], "%s", path);
    placing += number == SYS_mbind || number == SYS_move_pages || number == SYS_getcpu || number == SYS_sched_setaffinity;
}

long syscall(long number, ...)
{
    static long (*real)(long, ...);
    long argument[6];
    va_list arguments;

    if (real == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "syscall");

        memcpy(&real, &symbol, sizeof real);
    }
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        argument[i] = va_arg(arguments, long);
    va_end(arguments);
    note(number, number == SYS_openat ? (const char *)argument[1] : NULL);
    return real(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

/* ---- threads ---- */

enum { THREADS = 16 };

struct thread {
    pid_t id;
    cpu_set_t cpus;
};

static int by_id(const void *a, const void *b)
{
    return ((const struct thread *)a)->id - ((const struct thread *)b)->id;
}

static bool has_name(pid_t id, const char *name)
{
    char path[64], text[32] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%d/comm", (int)id);
    file = fopen(path, "r");
    if (file == NULL || fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    if (file != NULL)
        fclose(file);
    return strncmp(text, name, strlen(name)) == 0;
}

/* Those of that name, in the order in which they were made. */
static int find_threads(const char *name, struct thread *thread)
{
    DIR *d = opendir("/proc/self/task");
    struct dirent *entry;
    int n = 0;

    while (d != NULL && (entry = readdir(d)) != NULL && n < THREADS) {
        pid_t id = atoi(entry->d_name);

        if (id <= 0 || !has_name(id, name))
            continue;
        thread[n].id = id;
        n += sched_getaffinity(id, sizeof thread[n].cpus, &thread[n].cpus) == 0;
    }
    if (d != NULL)
        closedir(d);
    qsort(thread, (size_t)n, sizeof *thread, by_id);
    return n;
}

static cpu_set_t own_cpus(void)
{
    cpu_set_t cpus;

    if (sched_getaffinity(0, sizeof cpus, &cpus) != 0)
        tap_bail("no affinity");
    return cpus;
}

static int nth_cpu(const cpu_set_t *cpus, int n)
{
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, cpus) && n-- == 0)
            return cpu;
    return -1;
}

static cpu_set_t only(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return one;
}

static void begin(const char *bind, const char *markers)
{
    if (bind != NULL)
        setenv("SGC_BIND", bind, 1);
    else
        unsetenv("SGC_BIND");
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_XMLFILE");
    setenv("GC_MARKERS", markers, 1);
    setenv("SGC_BACKGROUND_THREAD", "off", 1);
}

/* A machine of two nodes: one has the first processor that may be used, the other the second. */
static void make_two_nodes(const cpu_set_t *cpus)
{
    struct sgc_topology two;

    sgc_topology_begin(&two, "test");
    for (int node = 0; node < 2; node++) {
        sgc_topology_add_node(&two, node, true, true);
        sgc_topology_add_cpu(&two, nth_cpu(cpus, node), node);
        sgc_topology_add_to_core(&two, nth_cpu(cpus, node), nth_cpu(cpus, node));
    }
    sgc_topology_end(&two);
    sgc_placement_use(&two);
}

static void start_helpers(void)
{
    GC_start_mark_threads();
    white_collect();
}

/* ---- cases ---- */

/* The main thread binds itself after the start: helpers do not take that over. */
static int all_processors(void)
{
    cpu_set_t before = own_cpus(), one = only(nth_cpu(&before, 0));
    struct thread thread[THREADS];

    begin("node", "4");
    white_init();
    sched_setaffinity(0, sizeof one, &one);
    start_helpers();
    if (find_threads("sgc-marker", thread) != 3)
        return 1;
    for (int i = 0; i < 3; i++)
        if (!CPU_EQUAL(&thread[i].cpus, &before))
            return 2;
    before = own_cpus();
    return CPU_EQUAL(&before, &one) ? 0 : 3;
}

/* With these settings a helper has the processors of who makes it. */
static int has_its_makers(const char *bind, const char *made_up)
{
    cpu_set_t before = own_cpus(), one = only(nth_cpu(&before, 0));
    struct thread thread[THREADS];

    begin(bind, "2");
    if (made_up != NULL)
        setenv("HWLOC_SYNTHETIC", made_up, 1);
    white_init();
    sched_setaffinity(0, sizeof one, &one);
    start_helpers();
    return find_threads("sgc-marker", thread) == 1 && CPU_EQUAL(&thread[0].cpus, &one) ? 0 : 1;
}

static int off(void)
{
    return has_its_makers("off", NULL) == 0 && placing == 0 ? 0 : 1;
}

static bool alternate(const cpu_set_t *cpus, int helpers)
{
    struct thread thread[THREADS];

    if (find_threads("sgc-marker", thread) != helpers)
        return false;
    for (int i = 0; i < helpers; i++) {
        cpu_set_t wanted = only(nth_cpu(cpus, (i + 1) % 2));        /* helpers have numbers from 1 */

        if (!CPU_EQUAL(&thread[i].cpus, &wanted))
            return false;
    }
    return true;
}

static sgc_a32_t client_done;

static void *client(void *cpus)
{
    *(cpu_set_t *)cpus = own_cpus();
    white_reached(&client_done, 1);
    *(cpu_set_t *)cpus = own_cpus();
    return NULL;
}

/* By itself, on two nodes; the child of a fork does the same anew. */
static int two_nodes(void)
{
    cpu_set_t before = own_cpus(), clients;
    pthread_t thread;
    pid_t child;

    if (CPU_COUNT(&before) < 2)
        return CHILD_SKIPS;
    begin(NULL, "4");
    make_two_nodes(&before);
    white_init();
    thread = thread_start(client, &clients);
    start_helpers();
    if (!alternate(&before, 3))
        return 1;
    sgc_a32_store(&client_done, 1);
    pthread_join(thread, NULL);
    if (!CPU_EQUAL(&clients, &before))
        return 2;
    child = fork();
    if (child == 0) {
        cpu_set_t now = own_cpus();

        start_helpers();
        _exit(CPU_EQUAL(&now, &before) && alternate(&before, 3) ? 0 : 1);
    }
    before = own_cpus();
    return child_wait(child) == 0 && CPU_EQUAL(&before, &clients) ? 0 : 3;
}

static int service_thread(void)
{
    cpu_set_t before = own_cpus(), wanted = only(nth_cpu(&before, 0));
    struct thread thread[THREADS];

    if (CPU_COUNT(&before) < 2)
        return CHILD_SKIPS;
    begin(NULL, "2");
    make_two_nodes(&before);
    setenv("SGC_BACKGROUND_THREAD", "eager", 1);
    white_init();
    white_collect();
    for (int i = 0; i < WHITE_PATIENCE && find_threads("sgc-service", thread) == 0; i++)
        sgc_sleep_ns(WHITE_MS);
    for (int i = 0; i < WHITE_PATIENCE && find_threads("sgc-service", thread) == 1 && !CPU_EQUAL(&thread[0].cpus, &wanted); i++)
        sgc_sleep_ns(WHITE_MS);
    return CPU_EQUAL(&thread[0].cpus, &wanted) ? 0 : 1;
}

/* As many helpers as markers, each on a core of its own: one of them shares that of the thread that collects. */
static int cores(void)
{
    struct thread thread[THREADS];
    cpu_set_t all;

    begin("core", "2");
    setenv("SGC_TORTURE", "1000000", 1);            /* all markers in each cycle */
    white_init();
    start_helpers();
    if (sgc_binding_cores() < 2)
        return CHILD_SKIPS;
    if (find_threads("sgc-marker", thread) != 2)
        return 1;
    CPU_AND(&all, &thread[0].cpus, &thread[1].cpus);
    if (CPU_COUNT(&all) != 0)
        return 2;
    for (int i = 0; i < 50; i++)
        white_collect();
    return sgc_cycle.totals.markers >= 1 && sgc_cycle.totals.markers <= 2 ? 0 : 3;
}

static int one_processor(void)
{
    cpu_set_t before = own_cpus(), one = only(nth_cpu(&before, CPU_COUNT(&before) - 1));
    struct thread thread[THREADS];

    begin("core", "3");
    sched_setaffinity(0, sizeof one, &one);
    white_init();
    sched_setaffinity(0, sizeof before, &before);
    start_helpers();
    if (find_threads("sgc-marker", thread) != 2)
        return 1;
    return CPU_EQUAL(&thread[0].cpus, &one) && CPU_EQUAL(&thread[1].cpus, &one) ? 0 : 2;
}

/* ---- refused ---- */

static int refused(const char *bind, long call)
{
    cpu_set_t before = own_cpus();
    struct thread thread[THREADS];

    begin(bind, "4");
    if (bind == NULL && CPU_COUNT(&before) < 2)
        return CHILD_SKIPS;
    if (bind == NULL)
        make_two_nodes(&before);
    if (!refuse_call(call))
        return CHILD_SKIPS;
    white_init();
    start_helpers();
    white_collect();
    if (call == SYS_sched_getaffinity)
        return sgc_binding_cores() == 0 ? 0 : 3;
    if (find_threads("sgc-marker", thread) < 3)
        return 1;
    return CPU_EQUAL(&thread[0].cpus, &before) ? 0 : 2;
}

/* ---- told of another machine ---- */

static int made_up_badly(void)
{
    begin("node", "2");
    setenv("HWLOC_SYNTHETIC", "nonsense", 1);
    white_init();
    start_helpers();
    return 0;
}

/* ---- one node ---- */

static bool hwloc_is_loaded(void)
{
    return dlopen("libhwloc.so.15", RTLD_NOLOAD | RTLD_LAZY) != NULL;
}

static int needs_no_hwloc(void)
{
    begin("core", "2");
    white_init();
    start_helpers();
    return hwloc_is_loaded() || sgc_binding_cores() == 0 ? 1 : 0;
}

static int asks_nothing(void)
{
    if (sgc_topology_several("/sys"))
        return CHILD_SKIPS;
    opens = placing = 0;
    begin(NULL, "2");
    white_init();
    start_helpers();
    for (int i = 0; i < opens; i++)
        if (strstr(opened[i], "/system/node/has_memory") == NULL && strstr(opened[i], "/cpu0/cache/") == NULL)
            return 1;
    if (opens == 0 || placing != 0)
        return 2;
    return hwloc_is_loaded() ? 3 : 0;
}

/* A sanitizer asks for itself, and does not survive a refusal. */
static void check_questions(void)
{
    if (TEST_SANITIZED) {
        tap_skip("the processors are not said: a sanitizer has to know them");
        return;
    }
    child_says_of(refused("node", SYS_sched_getaffinity), 0, "the system does not say what processors this process may use",
                  "node, the processors are not said: said once");
    child_ok_of(refused(NULL, SYS_sched_getaffinity), "auto, the processors are not said: they run anywhere");
}

int main(void)
{
    static const char refusal[] = "the system refuses to bind a helper thread to processors (error 1)";

    setenv("SGC_MODE", "stop", 1);          /* some do without a service thread */
    child_says(all_processors, 0, NULL, "node: helpers have the processors that the process had at its start");
    child_says(off, 0, NULL, "off: they have those of who makes them");
    child_ok(two_nodes, "auto, two nodes: helpers in turn, the program's threads anywhere; after a fork, too");
    child_ok(service_thread, "auto, two nodes: the service thread is on the first");
    child_ok(cores, "core: a helper for each core, and never three markers of two");
    child_says(one_processor, 0, "SGC_BIND=core: there are 3 markers and 1 cores, so some share one. Lower GC_MARKERS to 1",
               "core, one processor: helpers share it, said once");
    child_says_of(refused("node", SYS_sched_setaffinity), 0, refusal, "node, refused: said once");
    child_says_of(refused("core", SYS_sched_setaffinity), 0, refusal, "core, refused: said once");
    child_ok_of(refused(NULL, SYS_sched_setaffinity), "auto, refused: they run anywhere");
    check_questions();
    if (sgc_topology_has_hwloc()) {
        child_says_of(has_its_makers("node", "numa:2 core:2 pu:2"), 0,
                      "SGC_BIND has no effect: hwloc was told of another machine", "node, another machine: said once");
        child_says(made_up_badly, 0, "hwloc cannot use HWLOC_SYNTHETIC; the topology is this machine's, from hwloc",
                   "node, nonsense for hwloc: said once");
    }
    child_ok(needs_no_hwloc, "core: hwloc is not loaded unless somebody tells it something");
    child_says(asks_nothing, 0, NULL, "one node: one file is read, hwloc is not loaded, nothing is placed");
    return tap_done();
}
