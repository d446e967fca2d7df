/* SPDX-License-Identifier: MIT */
/*
 * Memory that is freed: does it serve another size or thread, and does it go back to the system?
 *
 *     sizes    N MB of 64-byte blocks, freed, then as much of 128-byte ones: the peak
 *     turns    four threads, all alive, of which one after the other allocates N MB and frees it:
 *              the peak
 *     burst    N MB of blocks of 48 to 4096 bytes, freed, then no call at all: memory at rest
 *     teeth    N MB of such blocks, made and freed ten times a second: page faults of a tooth, from
 *              the fifth on
 *     threads  N threads in turn, each of which allocates and frees a little: what resident memory
 *              grows by after the first hundred
 *
 * live_mb is the most that was asked for at a time.
 *
 *     phases [sizes|turns|burst|teeth|threads [N]]
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "bench/malloc/client.h"
#include "bench/measure.h"

enum { SIZES, TURNS, BURST, TEETH, THREADS };
enum { MEGABYTE = 1 << 20, TURN_THREADS = 4, LEAST = 48, MOST = 4096 };
enum { TOOTH_COUNT = 30, TOOTH_FIRST = 4, TOOTH_MS = 100, THREAD_BLOCKS = 100, THREAD_WARM = 100 };

/* At the beginning of each block; the marked part is behind it. */
struct block {
    struct block *next;
    size_t size;
    uint64_t tag, live;
};

struct job {
    int how;
    size_t count;               /* megabytes or threads */
    sem_t turn[TURN_THREADS];
    pthread_barrier_t over;
    double figure;
};

static struct block *make(struct block *next, size_t size, uint64_t tag)
{
    struct block *volatile new = malloc(size);      /* whose contents the compiler does not know */
    struct block *b = new;

    if (b == NULL)
        client_no_memory(size);
    if (b->live == client_live(b))
        client_wrong("a block is in use already");
    *b = (struct block){ next, size, tag, client_live(b) };
    client_mark(b + 1, size - sizeof *b, tag);
    return b;
}

/* Blocks of least to most bytes, as many megabytes as that. */
static struct block *fill(size_t megabytes, size_t least, size_t most)
{
    uint64_t state = client_seed(0);
    struct block *list = NULL;

    for (size_t asked = 0; asked < megabytes * MEGABYTE; asked += list->size) {
        size_t size = least + random_below(&state, most - least + 1);

        list = make(list, size, random_next(&state));
    }
    return list;
}

static uint64_t drain(struct block *list)
{
    uint64_t blocks = 0;

    for (struct block *next; list != NULL; list = next) {
        next = list->next;
        if (!client_is_marked(list + 1, list->size - sizeof *list, list->tag))
            client_wrong("a block does not contain what was written into it");
        list->live = 0;
        free(list);
        blocks++;
    }
    return blocks;
}

static uint64_t two_sizes(size_t megabytes)
{
    uint64_t blocks = drain(fill(megabytes, 64, 64));

    return blocks + drain(fill(megabytes, 128, 128));
}

static uint64_t take_turn(struct job *job, long i)
{
    uint64_t blocks;

    while (sem_wait(&job->turn[i]) != 0)
        client_need(errno == EINTR, "sem_wait");
    blocks = drain(fill(job->count, LEAST, MOST));
    if (i + 1 < TURN_THREADS)
        sem_post(&job->turn[i + 1]);
    pthread_barrier_wait(&job->over);
    return blocks;
}

static void sleep_until(double when)
{
    double seconds = when - client_now();
    struct timespec left = { 0, (long)(seconds * 1e9) };

    while (seconds > 0 && nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

static uint64_t saw_teeth(struct job *job)
{
    uint64_t blocks = 0;
    long before = 0;

    for (int tooth = 0; tooth < TOOTH_COUNT; tooth++) {
        double next = client_now() + TOOTH_MS / 1e3;

        if (tooth == TOOTH_FIRST)
            before = client_faults();
        blocks += drain(fill(job->count, LEAST, MOST));
        sleep_until(next);
    }
    job->figure = (double)(client_faults() - before) / (TOOTH_COUNT - TOOTH_FIRST);
    return blocks;
}

static void *brief_thread(void *arg)
{
    struct block *list = NULL;

    for (size_t i = 0; i < THREAD_BLOCKS; i++)
        list = make(list, LEAST + i * 8, i);
    *(uint64_t *)arg += drain(list);
    return NULL;
}

static uint64_t many_threads(struct job *job)
{
    uint64_t blocks = 0;
    double before = client_resident_mb();

    for (size_t n = 0; n < job->count; n++) {
        pthread_t thread;

        errno = pthread_create(&thread, NULL, brief_thread, &blocks);
        client_need(errno == 0, "a thread cannot be created");
        pthread_join(thread, NULL);
        if (n == THREAD_WARM)
            before = client_resident_mb();
    }
    job->figure = client_resident_mb() - before;
    return blocks;
}

static uint64_t work(void *arg, long i)
{
    struct job *job = arg;

    switch (job->how) {
    case SIZES:
        return two_sizes(job->count);
    case TURNS:
        return take_turn(job, i);
    case BURST:
        return drain(fill(job->count, LEAST, MOST));
    case TEETH:
        return saw_teeth(job);
    default:
        return many_threads(job);
    }
}

static struct client_run run_turns(struct job *job)
{
    client_need(pthread_barrier_init(&job->over, NULL, TURN_THREADS) == 0, "pthread_barrier_init");
    for (int i = 0; i < TURN_THREADS; i++)
        client_need(sem_init(&job->turn[i], 0, i == 0) == 0, "sem_init");
    return client_together(work, job, TURN_THREADS);
}

int main(int argc, char **argv)
{
    static const long counts[] = { 1024, 256, 1024, 64, 10000 };
    struct job job = { .how = choice(argc, argv, 1, "sizes|turns|burst|teeth|threads") };
    struct client_run run;

    job.count = (size_t)argument(argc, argv, 2, counts[job.how], 1, 1000000);
    client_begin();
    run = job.how == TURNS ? run_turns(&job) : client_together(work, &job, 1);
    if (job.how == TEETH)
        client_figure("faults_of_a_tooth", job.figure, "faults");
    if (job.how == THREADS)
        client_figure("growth_mb", job.figure, "MB");
    else
        client_figure("live_mb", (double)job.count, "MB");
    return client_end(run, (double)run.result);
}
