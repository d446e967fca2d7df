/* SPDX-License-Identifier: MIT */
/*
 * wrong_frees CASE: frees, among right frees, what must not be freed; a malloc that notices ends the
 * program.  wrong_frees --list: the cases, each with the function that has to be named.  Exit status
 * 3: it was not noticed.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <malloc.h>

enum { MANY = 1000, SMALL = 48, LARGE = 200000 };

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
static void realloc_inside(void) { many[0] = realloc(inside(malloc(SMALL), 16), 100); }
static void realloc_stack(void) { int local[16]; many[0] = realloc(hidden(local), 100); }
static void reallocarray_freed(void) { void *volatile p = malloc(SMALL); free(p); many[0] = reallocarray(p, 10, 10); }
static void usable_freed(void) { void *volatile p = malloc(SMALL); free(p); in_data[0] = (int)malloc_usable_size(p); }
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
    { "realloc-inside", "realloc", realloc_inside },
    { "realloc-stack", "realloc", realloc_stack },
    { "reallocarray-freed", "reallocarray", reallocarray_freed },
    { "usable-freed", "malloc_usable_size", usable_freed },
    { "usable-inside", "malloc_usable_size", usable_inside },
};

enum { CASES = sizeof cases / sizeof *cases };

int main(int argc, char **argv)
{
    for (int i = 0; i < MANY; i++)
        many[i] = malloc(SMALL);
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
