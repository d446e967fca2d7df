/* SPDX-License-Identifier: MIT */
/*
 * subject_malloc_instructions MODE WHAT COUNT: does one thing COUNT times, for tests/check/check_malloc_instructions to count
 * its instructions.  WHAT is `malloc`, the process's own family, or `nothing`: the same loop over functions that do nothing,
 * which tells what that costs by itself.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct family {
    void *(*take)(size_t bytes);
    void (*give)(void *block);
    void *(*resize)(void *block, size_t bytes);
};

enum { BATCH = 1000, TABLE = 10000, SIZES = 8192, HOT = 64, LARGER = 4096, KEPT = 300000 };

static void *table[TABLE], *blocks[KEPT];
static unsigned short sizes[SIZES];
static char somewhere[64];

__attribute__((noinline)) static void *take_nothing(size_t bytes)
{
    __asm__ volatile("" : : "r"(bytes));
    return somewhere;
}

__attribute__((noinline)) static void give_nothing(void *block)
{
    __asm__ volatile("" : : "r"(block));
}

__attribute__((noinline)) static void *resize_nothing(void *block, size_t bytes)
{
    __asm__ volatile("" : : "r"(bytes));
    return block;
}

static void need(bool right)
{
    if (!right)
        exit(3);
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 16;
}

/* 16 to 512 bytes. */
static void draw_sizes(void)
{
    unsigned state = 1;

    for (int i = 0; i < SIZES; i++)
        sizes[i] = (unsigned short)(16 + next_random(&state) % 497);
}

/* A: freed at once. */
static void hot(const struct family *f, long count)
{
    for (long i = 0; i < count; i++)
        f->give(f->take(HOT));
}

/* B: a batch of many sizes, then freed in the same order. */
static void batches(const struct family *f, long count)
{
    for (long done = 0; done < count; done += BATCH) {
        for (long i = 0; i < BATCH; i++)
            table[i] = f->take(sizes[(done + i) % SIZES]);
        for (long i = 0; i < BATCH; i++)
            f->give(table[i]);
    }
}

/* C: of many blocks a random one is replaced. */
static void at_random(const struct family *f, long count)
{
    unsigned state = 7;

    for (long i = 0; i < TABLE; i++)
        table[i] = f->take(sizes[i % SIZES]);
    for (long i = 0; i < count; i++) {
        unsigned at = next_random(&state) % TABLE;

        f->give(table[at]);
        table[at] = f->take(sizes[i % SIZES]);
    }
}

static void larger(const struct family *f, long count)
{
    for (long done = 0; done < count; done += BATCH) {
        for (long i = 0; i < BATCH; i++)
            table[i] = f->take(LARGER);
        for (long i = 0; i < BATCH; i++)
            f->give(table[i]);
    }
}

static void resizes(const struct family *f, long count)
{
    void *block = f->take(100);

    for (long i = 0; i < count; i++)
        need((block = f->resize(block, i % 2 == 0 ? 104 : 100)) != NULL);
}

/* ---- frees by another thread ---- */

struct given {
    const struct family *family;
    long count;
};

/* Blocks that nobody frees. */
static void kept(const struct family *f, long count)
{
    need(count <= KEPT);
    for (long i = 0; i < count; i++)
        blocks[i] = f->take(sizes[i % SIZES]);
}

static void *give_all(void *arg)
{
    const struct given *g = arg;

    for (long i = 0; i < g->count; i++)
        g->family->give(blocks[i]);
    return NULL;
}

/* The same, and all of them are freed by another thread, while their own does nothing. */
static void remote(const struct family *f, long count)
{
    struct given g = { f, count };
    pthread_t thread;

    kept(f, count);
    need(pthread_create(&thread, NULL, give_all, &g) == 0 && pthread_join(thread, NULL) == 0);
}

/* ---- the modes ---- */

static const struct mode {
    const char *name;
    void (*run)(const struct family *f, long count);
} modes[] = {
    { "hot", hot }, { "batch", batches }, { "random", at_random }, { "larger", larger }, { "resize", resizes },
    { "kept", kept }, { "remote", remote },
};

static bool run(const char *name, const struct family *f, long count)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(name, modes[i].name) == 0) {
            modes[i].run(f, count);
            return true;
        }
    return false;
}

int main(int argc, char **argv)
{
    static const struct family nothing = { take_nothing, give_nothing, resize_nothing };
    static const struct family own = { malloc, free, realloc };

    draw_sizes();
    if (argc == 4 && run(argv[1], strcmp(argv[2], "nothing") == 0 ? &nothing : &own, strtol(argv[3], NULL, 10)))
        return 0;
    fprintf(stderr, "subject_malloc_instructions hot|batch|random|larger|resize|kept|remote nothing|malloc COUNT\n");
    return 2;
}
