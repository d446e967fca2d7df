/* SPDX-License-Identifier: MIT */
/*
 * subject_memory CASE MEGABYTES: memory that the malloc of the loader's choice needs, and what stays, in kilobytes.
 *
 *   sizes      so much of blocks of 64 bytes, freed, then of 128 bytes: "peak" resident
 *   turns      four threads in turn allocate so much each and free it: "peak"
 *   burst      so much, of many sizes, beside an eighth that lives on; then freed, and no call more: "live", "left" resident
 *   sparse     so much of blocks of 100 bytes, of which first all but each tenth are freed, then these: "left"
 *   sparse_larger   of 8000 bytes
 *   blank      a block of so much from calloc, of which an eighth is written, freed, and got again: "left"
 *   teeth      so much allocated and freed, ten times in a second: "faults" of each tooth from the fifth on, on the average
 *   calm       the same, then a block of 100 KB each 10 ms, for 3 seconds: "left"
 *   ended      so much allocated by threads that have ended, freed by another: "left"
 *   idle       32 threads, which free so much in large blocks, one after the other, and wait: "left"
 *   shrunk     a block of so much, made small: "left"
 *   handed     a producer, and a consumer that frees; a megabyte stands for 100 000 blocks: "peak", "live" at most
 */
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include "tests/lib/threads.h"
#include "tests/malloc/conform.h"

enum { TURNS = 4, TEETH = 14, WARM = 4, TOOTH_NS = 100000000, QUEUE = 4096, HANDED = 100000 };

static void *must(void *p)
{
    if (p == NULL) {
        fprintf(stderr, "subject_memory: no memory\n");
        exit(2);
    }
    return p;
}

static struct rusage used(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return u;
}

/* Blocks, linked through their first words, all of each written. */
static void **fill(void **list, size_t bytes, size_t from, size_t step)
{
    size_t size = from;

    for (size_t done = 0; done < bytes; done += size) {
        void **block = must(malloc(size));

        memset(block, 1, size);
        *block = list;
        list = block;
        if (step != 0 && (size += step) > 20000)
            size = from;
    }
    return list;
}

static void drop(void **list)
{
    while (list != NULL) {
        void **next = *list;

        free(list);
        list = next;
    }
}

static void sizes(size_t bytes)
{
    drop(fill(NULL, bytes, 64, 0));
    drop(fill(NULL, bytes, 128, 0));
    printf("peak %ld\n", used().ru_maxrss);
}

static void *one_turn(void *arg)
{
    drop(fill(NULL, *(size_t *)arg, 48, 32));
    return NULL;
}

static void turns(size_t bytes)
{
    for (int i = 0; i < TURNS; i++)
        thread_result(one_turn, &bytes);
    printf("peak %ld\n", used().ru_maxrss);
}

/* What lives is allocated among what is freed. */
static void burst(size_t bytes)
{
    void **live = NULL, **dead = NULL;

    for (int part = 0; part < 64; part++) {
        dead = fill(dead, bytes / 64, 40, 200);
        live = fill(live, bytes / 64 / 8, 4096, 0);
    }
    drop(dead);
    printf("live %zu\nleft %ld\n", bytes / 8 / 1024, conform_resident_kb());
    drop(live);
}

/* Each page has a tenth left when those go that fill a bin's list. */
static void sparse_of(size_t bytes, size_t size)
{
    size_t blocks = bytes / size;
    void **block = must(malloc(blocks * sizeof *block));

    for (size_t i = 0; i < blocks; i++)
        memset(block[i] = must(malloc(size)), 1, size);
    for (size_t i = 0; i < blocks; i++)
        if (i % 10 != 0)
            free(block[i]);
    for (size_t i = 0; i < blocks; i += 10)
        free(block[i]);
    free(block);
    printf("left %ld\n", conform_resident_kb());
}

static void sparse(size_t bytes)
{
    sparse_of(bytes, 100);
}

static void sparse_larger(size_t bytes)
{
    sparse_of(bytes, 8000);
}

static void blank(size_t bytes)
{
    for (int i = 0; i < 4; i++) {
        char *block = must(calloc(1, bytes));

        for (size_t at = 0; at < bytes; at += bytes / 64)
            if (block[at] != 0)
                exit(2);
        memset(block, 1, i == 3 ? 1 : bytes / 8);
        if (i < 3)
            free(block);
    }
    printf("left %ld\n", conform_resident_kb());
}

static void teeth(size_t bytes)
{
    long before = 0;

    for (int tooth = 0; tooth < TEETH; tooth++) {
        const struct timespec rest = { 0, TOOTH_NS / 2 };

        if (tooth == WARM)
            before = used().ru_minflt;
        drop(fill(NULL, bytes, 40, 300));
        nanosleep(&rest, NULL);
    }
    printf("faults %ld\n", (used().ru_minflt - before) / (TEETH - WARM));
}

static void calm(size_t bytes)
{
    enum { TIMES = 300, BLOCK = 100000 };

    teeth(bytes);
    for (int i = 0; i < TIMES; i++) {
        const struct timespec rest = { 0, 10000000 };

        free(must(malloc(BLOCK)));
        nanosleep(&rest, NULL);
    }
    printf("left %ld\n", conform_resident_kb());
}

static void *leave_behind(void *arg)
{
    return fill(NULL, *(size_t *)arg / TURNS, 48, 32);
}

static void ended(size_t bytes)
{
    void *list[TURNS];

    for (int i = 0; i < TURNS; i++)
        list[i] = thread_result(leave_behind, &bytes);
    for (int i = 0; i < TURNS; i++)
        drop(list[i]);
    printf("left %ld\n", conform_resident_kb());
}

enum { IDLE = 32 };
static pthread_barrier_t one_idle, all_over;

static void *fall_idle(void *arg)
{
    drop(fill(NULL, *(size_t *)arg, 300000, 0));
    pthread_barrier_wait(&one_idle);
    pthread_barrier_wait(&all_over);
    return NULL;
}

static void idle(size_t bytes)
{
    pthread_t thread[IDLE];

    pthread_barrier_init(&one_idle, NULL, 2);
    pthread_barrier_init(&all_over, NULL, IDLE + 1);
    for (int i = 0; i < IDLE; i++) {
        thread[i] = thread_start(fall_idle, &bytes);
        pthread_barrier_wait(&one_idle);
    }
    printf("left %ld\n", conform_resident_kb());
    pthread_barrier_wait(&all_over);
    threads_join(thread, IDLE);
}

static void shrunk(size_t bytes)
{
    char *block = memset(must(malloc(bytes)), 1, bytes);

    block = must(realloc(block, 30000));
    printf("left %ld\n", conform_resident_kb());
    free(block);
}

static void *queue[QUEUE];
static size_t put, taken;           /* atomic: by the producer, by the consumer */

static void *produce(void *arg)
{
    size_t blocks = *(size_t *)arg;

    for (size_t i = 0; i < blocks; i++) {
        while (i - __atomic_load_n(&taken, __ATOMIC_ACQUIRE) >= QUEUE)
            sched_yield();
        queue[i % QUEUE] = memset(must(malloc(16 + i % 240)), 1, 16);
        __atomic_store_n(&put, i + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void handed(size_t bytes)
{
    size_t blocks = (bytes >> 20) * HANDED;
    pthread_t thread = thread_start(produce, &blocks);

    for (size_t i = 0; i < blocks; i++) {
        while (__atomic_load_n(&put, __ATOMIC_ACQUIRE) <= i)
            sched_yield();
        free(queue[i % QUEUE]);
        __atomic_store_n(&taken, i + 1, __ATOMIC_RELEASE);
    }
    pthread_join(thread, NULL);
    printf("peak %ld\nlive %d\n", used().ru_maxrss, QUEUE * 256 / 1024);
}

static const struct { const char *name; void (*try)(size_t bytes); } cases[] = {
    { "sizes", sizes }, { "turns", turns }, { "burst", burst }, { "sparse", sparse }, { "sparse_larger", sparse_larger },
    { "blank", blank },
    { "teeth", teeth }, { "calm", calm },
    { "ended", ended }, { "idle", idle }, { "shrunk", shrunk }, { "handed", handed },
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            printf("start %ld\n", conform_resident_kb());
            cases[i].try((size_t)strtoul(argv[2], NULL, 10) << 20);
            return 0;
        }
    fprintf(stderr, "usage: subject_memory CASE MEGABYTES\n");
    return 2;
}
