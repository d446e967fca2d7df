/* SPDX-License-Identifier: MIT */
/*
 * wrong_frees CASE: frees, among right frees, what must not be freed; a malloc that notices ends the
 * program.  wrong_frees --list: the cases, each with the function that has to be named.  Exit status
 * 3: the program has gone on.
 *
 * wrong_frees sized CASE BYTES, wrong_frees --list-sized: the same of a block of that size; some of
 * these use a block wrongly in other ways.
 *
 * wrong_frees many: three hundred wrong frees of three sorts.  wrong_frees room MB: whether there is
 * room for a block so large.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <malloc.h>

#include "tests/lib/bytes.h"

enum { MANY = 1000, SMALL = 48, LARGE = 200000 };

/* The C library may not have it yet. */
__attribute__((weak)) void free_sized(void *block, size_t bytes);

static void *many[MANY];
static int in_data[64];

/* The compiler would warn of what is tried here. */
static void *hidden(void *p)
{
    void *volatile h = p;

    return h;
}

static void *inside(void *p, size_t bytes)
{
    return (char *)hidden(p) + bytes;
}

static void *free_it(void *p)
{
    free(p);
    return NULL;
}

static void in_another_thread(void *(*body)(void *), void *p)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, body, p) != 0)
        exit(2);
    pthread_join(thread, NULL);
}

static void free_elsewhere(void *p) { in_another_thread(free_it, p); }

static void free_twice(void) { void *volatile p = malloc(SMALL); free(p); free(p); }
static void free_twice_large(void) { void *volatile p = malloc(LARGE); free(p); free(p); }
static void free_twice_apart(void) { void *volatile p = malloc(SMALL); free(p); free(many[7]); many[7] = NULL; free(p); }
static void free_again_elsewhere(void) { void *volatile p = malloc(SMALL); free(p); free_elsewhere(p); }
static void free_twice_elsewhere(void) { void *volatile p = malloc(SMALL); free_elsewhere(p); free_elsewhere(p); }
static void free_after_elsewhere(void) { void *volatile p = malloc(SMALL); free_elsewhere(p); free(p); }

/* The page's owner has been told of another block. */
static void free_again_beside(void)
{
    void *volatile p = malloc(SMALL);

    free_elsewhere(many[MANY - 1]);
    free_elsewhere(p);
    free_elsewhere(p);
}

static void free_inside_elsewhere(void) { free_elsewhere(inside(malloc(SMALL), 16)); }
static void free_unaligned_elsewhere(void) { free_elsewhere(inside(malloc(SMALL), 3)); }
static void free_inside(void) { free(inside(malloc(SMALL), 16)); }
static void free_unaligned(void) { free(inside(malloc(SMALL), 3)); }
static void free_inside_large(void) { free(inside(malloc(LARGE), 65536)); }
static void free_next_slot(void) { free(inside(many[MANY - 1], (size_t)SMALL * 40)); }
static void free_stack(void) { int local[16]; free(hidden(local)); }
static void free_data(void) { free(hidden(in_data)); }
static void free_code(void) { free(hidden((void *)(uintptr_t)free_code)); }
static void free_mapped(void) { free(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)); }
static void free_number(void) { free((void *)(uintptr_t)0x10); }
static void realloc_freed(void) { void *volatile p = malloc(SMALL); free(p); many[0] = realloc(p, 100); }
static void realloc_freed_fits(void) { void *volatile p = malloc(SMALL); free(p); many[0] = realloc(p, SMALL - 1); }
static void realloc_elsewhere(void) { void *volatile p = malloc(SMALL); free_elsewhere(p); many[0] = realloc(p, SMALL - 1); }
static void realloc_inside(void) { many[0] = realloc(inside(malloc(SMALL), 16), 100); }
static void realloc_stack(void) { int local[16]; many[0] = realloc(hidden(local), 100); }
static void reallocarray_freed(void) { void *volatile p = malloc(SMALL); free(p); many[0] = reallocarray(p, 10, 10); }
static void usable_freed(void) { void *volatile p = malloc(SMALL); free(p); in_data[0] = (int)malloc_usable_size(p); }
static void usable_remote(void) { void *volatile p = malloc(SMALL); free_elsewhere(p); in_data[0] = malloc_usable_size(p) > 0; }
static void usable_inside(void) { in_data[0] = (int)malloc_usable_size(inside(malloc(SMALL), 16)); }

static const struct { const char *name, *function; void (*try)(void); } cases[] = {
    { "twice", "free", free_twice },
    { "twice-large", "free", free_twice_large },
    { "twice-apart", "free", free_twice_apart },
    { "again-elsewhere", "free", free_again_elsewhere },
    { "twice-elsewhere", "free", free_twice_elsewhere },
    { "after-elsewhere", "free", free_after_elsewhere },
    { "again-beside", "free", free_again_beside },
    { "inside-elsewhere", "free", free_inside_elsewhere },
    { "unaligned-elsewhere", "free", free_unaligned_elsewhere },
    { "inside", "free", free_inside },
    { "unaligned", "free", free_unaligned },
    { "inside-large", "free", free_inside_large },
    { "next-slot", "free", free_next_slot },
    { "stack", "free", free_stack },
    { "data", "free", free_data },
    { "code", "free", free_code },
    { "mapped", "free", free_mapped },
    { "number", "free", free_number },
    { "realloc-freed", "realloc", realloc_freed },
    { "realloc-freed-fits", "realloc", realloc_freed_fits },
    { "realloc-elsewhere", "realloc", realloc_elsewhere },
    { "realloc-inside", "realloc", realloc_inside },
    { "realloc-stack", "realloc", realloc_stack },
    { "reallocarray-freed", "reallocarray", reallocarray_freed },
    { "usable-freed", "malloc_usable_size", usable_freed },
    { "usable-elsewhere", "malloc_usable_size", usable_remote },
    { "usable-inside", "malloc_usable_size", usable_inside },
};

enum { CASES = sizeof cases / sizeof *cases };

/* ---- the same by size: 8 bytes, 4096, and a large block ---- */

enum { ROUNDS = 1024, MANY_ROUNDS = 1 << 18, FILLED = 1 << 27 };

static void pairs(size_t bytes, int count)
{
    for (int i = 0; i < count; i++)
        free(hidden(malloc(bytes)));
}

static char *freed(size_t bytes)
{
    char *p = hidden(malloc(bytes));

    memset(p, 'A', bytes);
    free(p);
    return hidden(p);
}

static void twice(size_t bytes) { free(freed(bytes)); }
static void twice_apart(size_t bytes) { void *q = hidden(malloc(bytes)), *p = freed(bytes); free(q); free(p); }
static void twice_late(size_t bytes) { void *p = freed(bytes); pairs(bytes, ROUNDS); free(p); }
static void twice_reused(size_t bytes) { void *p = freed(bytes), *q = hidden(malloc(bytes)); free(p); free(q); free(p); }
static void twice_then_pairs(size_t bytes) { free(freed(bytes)); pairs(bytes, ROUNDS); }
static void number(size_t bytes) { free(hidden((void *)(uintptr_t)(bytes / bytes))); }
static void on_stack(size_t bytes) { free(hidden(__builtin_alloca(bytes))); }
static void in_array(size_t bytes) { char array[bytes]; array[0] = 0; free(hidden(array)); }
static void near_by(size_t bytes) { free(inside(malloc(bytes), 4096)); }
static void far_away(size_t bytes) { free(inside(malloc(bytes), (size_t)1 << 30)); }
static void one_on(size_t bytes) { free(inside(malloc(bytes), 1)); }
static void eight_on(size_t bytes) { free(inside(malloc(bytes), 8)); }

static void beyond(size_t bytes) { char *p = hidden(malloc(bytes)); p[bytes] = 'A'; free(p); }
static void beyond_by_end(size_t bytes) { char *p = hidden(malloc(bytes)); p[bytes] = 0; free(p); }
static void beyond_by_32(size_t bytes) { char *p = hidden(malloc(bytes)); memset(inside(p, bytes), 'A', 32); free(p); }
static void after_free(size_t bytes) { memset(freed(bytes), 'A', bytes); puts("not seen"); }
static void after_free_reused(size_t bytes) { freed(bytes)[bytes / 2] = 'A'; pairs(bytes, MANY_ROUNDS); }
static void wrong_size(size_t bytes) { if (free_sized != NULL) free_sized(hidden(malloc(bytes)), bytes + 1); }

static void read_freed(size_t bytes)
{
    if (all_zero(freed(bytes), bytes))
        exit(0);
}

/* As many blocks as have some memory in all are written, then freed. */
static void read_fresh(size_t bytes)
{
    size_t count = FILLED / bytes < 4096 ? FILLED / bytes : 4096;
    void **block = malloc(count * sizeof *block);

    for (size_t i = 0; i < count; i++)
        block[i] = memset(malloc(bytes), 'A', bytes);
    for (size_t i = 0; i < count; i++)
        free(block[i]);
    if (all_zero(hidden(malloc(bytes)), bytes))
        exit(0);
}

static void read_empty(size_t bytes) { many[0] = hidden(malloc(0)); in_data[0] = *(volatile char *)many[0] + (int)bytes; }
static void write_empty(size_t bytes) { *(volatile char *)hidden(malloc(0)) = (char)bytes; }

/* How a case ends: a message ends the program; it cannot use the block any more, and SIGSEGV ends
 * it; or it ends by itself. */
enum { TOLD = 134, CLOSED = 139, WELL = 0 };

/* From which level on, and how, for a small block and for a large one. */
static const struct { const char *name; int level, small, large; void (*try)(size_t); } sized[] = {
    { "twice", 1, TOLD, TOLD, twice },
    { "twice-apart", 1, TOLD, TOLD, twice_apart },
    { "twice-late", 1, TOLD, TOLD, twice_late },
    { "twice-reused", 1, TOLD, TOLD, twice_reused },
    { "twice-then-pairs", 1, TOLD, TOLD, twice_then_pairs },
    { "number", 1, TOLD, TOLD, number },
    { "on-stack", 1, TOLD, TOLD, on_stack },
    { "in-array", 1, TOLD, TOLD, in_array },
    { "near-by", 1, TOLD, TOLD, near_by },
    { "far-away", 1, TOLD, TOLD, far_away },
    { "one-on", 1, TOLD, TOLD, one_on },
    { "eight-on", 1, TOLD, TOLD, eight_on },
    { "beyond", 2, TOLD, TOLD, beyond },
    { "beyond-by-end", 2, TOLD, TOLD, beyond_by_end },
    { "beyond-by-32", 2, TOLD, TOLD, beyond_by_32 },
    { "after-free", 2, TOLD, CLOSED, after_free },
    { "after-free-reused", 2, TOLD, CLOSED, after_free_reused },
    { "wrong-size", 2, TOLD, TOLD, wrong_size },
    { "read-freed", 2, WELL, CLOSED, read_freed },
    { "read-fresh", 2, WELL, WELL, read_fresh },
    { "read-empty", 2, CLOSED, CLOSED, read_empty },
    { "write-empty", 2, CLOSED, CLOSED, write_empty },
};

enum { SIZED = sizeof sized / sizeof *sized };

static int list_sized(void)
{
    for (int i = 0; i < SIZED; i++)
        printf("%s %d %d %d\n", sized[i].name, sized[i].level, sized[i].small, sized[i].large);
    return 0;
}

static int try_sized(const char *name, size_t bytes)
{
    for (int i = 0; i < SIZED; i++)
        if (strcmp(name, sized[i].name) == 0) {
            sized[i].try(bytes);
            return 3;
        }
    return 2;
}

static int try_many(void)
{
    for (int i = 0; i < 100; i++) {
        free(hidden(in_data));
        free(inside(many[i], 16));
        free(many[MANY / 2]);
    }
    return 3;
}

static int try_room(const char *megabytes)
{
    void *volatile block = malloc((size_t)atoi(megabytes) << 20);

    puts(block != NULL ? "a block" : "NULL");
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < MANY; i++)
        many[i] = malloc(SMALL);
    if (argc == 3 && strcmp(argv[1], "room") == 0)
        return try_room(argv[2]);
    if (argc == 4 && strcmp(argv[1], "sized") == 0)
        return try_sized(argv[2], (size_t)atol(argv[3]));
    if (argc == 2 && strcmp(argv[1], "--list-sized") == 0)
        return list_sized();
    if (argc == 2 && strcmp(argv[1], "many") == 0) {
        free(many[MANY / 2]);
        return try_many();
    }
    for (int i = 0; i < CASES; i++) {
        if (argc == 2 && strcmp(argv[1], "--list") == 0) {
            printf("%s %s\n", cases[i].name, cases[i].function);
        } else if (argc == 2 && strcmp(argv[1], cases[i].name) == 0) {
            cases[i].try();
            return 3;
        }
    }
    return argc == 2 && strcmp(argv[1], "--list") == 0 ? 0 : 2;
}
