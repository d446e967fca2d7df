/* SPDX-License-Identifier: MIT */
/*
 * Threads that need little of everything and wait: the heap follows what lives, not threads times sizes, and memory has run out
 * only when no page of any thread has room.  Each case is a process of its own, since it sets the environment.
 */
#include "api.h"

#include "../lib/sanitized.h"

enum { SIZES = 24, THREADS_MAX = 100, MB = 1 << 20, KINDS = 4 };

static const size_t size_of[SIZES] = { 8, 24, 40, 56, 72, 88, 104, 120, 136, 152, 168, 184, 200, 216, 232, 248,
                                       300, 340, 380, 420, 480, 560, 620, 700 };

struct result {
    size_t heap, resident, refused, objects, room;
};

static size_t resident(void)
{
    size_t all, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%zu %zu", &all, &pages) != 2)
        tap_bail("no /proc/self/statm");
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Runs the case in a process of its own. */
static struct result run(void (*fn)(struct result *, int), int n, const char *limit, const char *huge)
{
    struct result *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), copy;
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        setenv("GC_MAXIMUM_HEAP_SIZE", limit, 1);
        setenv("SGC_HUGE_PAGES", huge, 1);
        GC_INIT();
        GC_set_warn_proc(GC_ignore_warn_proc);
        fn(r, n);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        tap_bail("a case ended with status %d", status);
    copy = *r;
    munmap(r, sizeof *r);
    return copy;
}

/* ---- threads that wait ---- */

static pthread_barrier_t all_have, all_end;
static void *held[THREADS_MAX][SIZES];
static size_t refused[THREADS_MAX];
static int rounds;

static void *have_some(void *arg)
{
    size_t me = (size_t)arg;

    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < SIZES; i++) {
            held[me][i] = GC_malloc(size_of[i]);
            refused[me] += held[me][i] == NULL;
        }
    pthread_barrier_wait(&all_have);
    pthread_barrier_wait(&all_end);
    return NULL;
}

static void wait_together(struct result *r, int n)
{
    pthread_t thread[THREADS_MAX];
    size_t before = resident();

    pthread_barrier_init(&all_have, NULL, (unsigned)n + 1);
    pthread_barrier_init(&all_end, NULL, (unsigned)n + 1);
    api_start_all(thread, n, have_some);
    pthread_barrier_wait(&all_have);
    r->heap = GC_get_heap_size();
    r->resident = resident() - before;
    for (int i = 0; i < n; i++)
        r->refused += refused[i];
    pthread_barrier_wait(&all_end);
    api_join_all(thread, n);
}

static void test_waiting(const char *huge)
{
    struct result r;

    rounds = 1;
    r = run(wait_together, THREADS_MAX, "0", huge);
    tap_ok(r.heap <= 8 * MB, "huge pages %s: 100 threads with one object of each of 24 sizes: a heap of %zu KB", huge,
           r.heap >> 10);
    tap_ok(TEST_SANITIZED || r.resident <= 8 * MB, "and %zu KB more are resident", r.resident >> 10);
}

static void test_limited(int threads, const char *limit)
{
    struct result r;

    rounds = 20;
    r = run(wait_together, threads, limit, "off");
    tap_ok(r.refused == 0, "%d threads under %s: %zu of %d requests are refused", threads, limit, r.refused,
           threads * SIZES * rounds);
}

/* ---- threads that have room ---- */

enum { OBJECTS_MAX = 1 << 18, TURN = 20 };
static void *kept[OBJECTS_MAX];
static size_t count, bytes;     /* objects so far; of one */
static int kind_now;
static bool frees;
static volatile int fills_up = 1;

static void *allocate(void)
{
    switch (kind_now) {
    case 0: return GC_malloc(bytes);
    case 1: return GC_malloc_atomic(bytes);
    case 2: return GC_malloc_uncollectable(bytes);
    default: return GC_malloc_atomic_uncollectable(bytes);
    }
}

static void let_go(size_t i)
{
    if (frees || kind_now >= 2)
        GC_free(kept[i]);
    kept[i] = NULL;
}

/* Half of the heap, of which every second object goes.  Then it allocates now and then, so that its pages are not those of an
 * idle thread. */
static void *leave_gaps(void *half)
{
    size_t n = (size_t)half;

    for (size_t i = 0; i < n && (kept[count] = allocate()) != NULL; i++)
        count++;
    for (size_t i = 0; i < count; i += 2)
        let_go(i);
    sem_post(&api_there);
    for (;;) {
        void *object;

        sem_wait(&api_may_go);
        if (fills_up == 0)
            return NULL;
        object = allocate();
        if (kind_now >= 2)
            GC_free(object);
        sem_post(&api_there);
    }
}

/* Until memory has run out. */
static void fill_up(struct result *r, int n)
{
    void *object;
    pthread_t thread = api_start(leave_gaps, (void *)(size_t)n);

    sem_wait(&api_there);
    r->objects = count / 2;
    while ((object = allocate()) != NULL && count < OBJECTS_MAX) {
        kept[count++] = object;
        if (r->objects++ % TURN != 0 || n == 0)
            continue;
        sem_post(&api_may_go);
        sem_wait(&api_there);
    }
    r->heap = GC_get_heap_size();
    fills_up = 0;
    sem_post(&api_may_go);
    GC_pthread_join(thread, NULL);
}

static size_t fill_with(int kind, size_t size, bool freeing, int half)
{
    kind_now = kind;
    bytes = size;
    frees = freeing;
    return run(fill_up, half, "4m", "off").objects;
}

/* As many as when there is only one thread, but for some pages of classes that the collector itself needs. */
static void test_room(size_t size)
{
    static const char *const name[KINDS] = { "normal", "atomic", "uncollectable", "atomic uncollectable" };
    int half = (int)(2 * MB / (size + 16));

    for (int kind = 0; kind < KINDS; kind++) {
        size_t alone = fill_with(kind, size, false, 0), most = alone - alone / 50;
        size_t dead = fill_with(kind, size, false, half), freed = fill_with(kind, size, true, half);

        tap_ok(dead >= most && freed >= most,
               "%zu bytes, %s: with gaps in another thread's pages %zu objects, freed ones %zu; alone %zu", size, name[kind],
               dead, freed, alone);
    }
}

int main(void)
{
    static const size_t few[] = { 30, 200, 2000, 16000 };

    test_waiting("off");
    test_waiting("auto");
    test_limited(40, "8m");
    test_limited(40, "4m");
    for (size_t i = TEST_SANITIZED ? 2 : 0; i < sizeof few / sizeof *few; i++)
        test_room(few[i]);
    return tap_done();
}
