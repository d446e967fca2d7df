/* SPDX-License-Identifier: MIT */
/*
 * A library for LD_PRELOAD that writes down the program's sequence of allocations and frees, to be
 * read by bench/herrmann/run (c10).
 *
 *     RECORD_FILE=FILE         is made; without it, or if it is there already, nothing is recorded
 *     RECORD_EVENTS=NUMBER     at most so many (a million)
 *
 * The file has a word of 64 bits an event: bits 0 to 47 are the block's address, 48 to 55 its size
 * class (the exponent of the next power of two, 4 at least), 56 to 63 the event: 1 new, 2 freed.
 * A resize is a free and a new block.  Aligned requests are not recorded, and neither is what comes
 * before this library's constructor, so a reader knows nothing of some blocks that are freed.
 *
 * A program that is started by the recorded one finds the file, so it is not recorded; a child of
 * fork stops at once.
 *
 * | shared   | writers                            | readers   | order, and why that suffices    |
 * | -------- | ---------------------------------- | --------- | ------------------------------- |
 * | `record` | the constructor, the child of fork | all calls | release, acquire: the file is mapped and `limit` set before |
 * | `limit`  | the constructor, before `record`   | all calls | that of `record`                |
 * | `taken`  | all calls, by an atomic addition   | none      | relaxed: a place is one call's, and read after the end |
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The C library's names for its own functions: there is nothing to look up at the first call. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

enum { NEW = 1, FREED = 2, CLASS_BIT = 48, WHAT_BIT = 56, SMALLEST_CLASS = 4, USUAL_EVENTS = 1000000 };

static _Atomic(uint64_t *) record;      /* the file's words; NULL: nothing is recorded */
static atomic_size_t taken;
static size_t limit;                    /* constant once `record` is set */

static uint64_t class_of(size_t size)
{
    if (size <= (size_t)1 << SMALLEST_CLASS)
        return SMALLEST_CLASS;
    return 64 - (uint64_t)__builtin_clzll((unsigned long long)size - 1);
}

static void note(uint64_t what, uint64_t class, const void *block)
{
    uint64_t *words = atomic_load_explicit(&record, memory_order_acquire);
    size_t at;

    if (words == NULL || block == NULL)
        return;
    at = atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
    if (at < limit)
        words[at] = what << WHAT_BIT | class << CLASS_BIT | ((uint64_t)(uintptr_t)block & (((uint64_t)1 << CLASS_BIT) - 1));
}

void *malloc(size_t size)
{
    void *block = __libc_malloc(size);

    note(NEW, class_of(size), block);
    return block;
}

void *calloc(size_t count, size_t size)
{
    void *block = __libc_calloc(count, size);

    note(NEW, class_of(count * size), block);
    return block;
}

/* A free is noted before it happens: another thread may get the block at once. */
void *realloc(void *old, size_t size)
{
    void *block;

    note(FREED, 0, old);
    block = __libc_realloc(old, size);
    note(NEW, class_of(size), block);
    return block;
}

void free(void *block)
{
    note(FREED, 0, block);
    __libc_free(block);
}

static void stop(void)
{
    atomic_store_explicit(&record, NULL, memory_order_release);
}

static void begin_in(int file, size_t events)
{
    void *words;

    if (ftruncate(file, (off_t)(events * sizeof(uint64_t))) != 0)
        return;
    words = mmap(NULL, events * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (words == MAP_FAILED)
        return;
    limit = events;
    pthread_atfork(NULL, NULL, stop);
    atomic_store_explicit(&record, words, memory_order_release);
}

__attribute__((constructor)) static void begin(void)
{
    const char *name = getenv("RECORD_FILE"), *wanted = getenv("RECORD_EVENTS");
    long events = wanted == NULL ? USUAL_EVENTS : strtol(wanted, NULL, 10);
    int file;

    if (name == NULL || events <= 0)
        return;
    file = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    begin_in(file, (size_t)events);
    close(file);
}
