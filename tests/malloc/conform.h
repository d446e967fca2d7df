/* SPDX-License-Identifier: MIT */
/*
 * What the conformance tests of a malloc share.  They use names of the C library alone and are
 * linked with nothing of SGC, so the loader decides at each start whose malloc they try: the C
 * library's, or that of a preloaded library (tests/check/check_malloc_conformance).
 */
#ifndef TESTS_MALLOC_CONFORM_H
#define TESTS_MALLOC_CONFORM_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/bytes.h"
#include "tests/lib/tap.h"

/* Where a function was found; NULL: nowhere. */
TEST_UNUSED static const void *conform_file_of(const char *name)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    Dl_info file;

    return function != NULL && dladdr(function, &file) != 0 ? file.dli_fbase : NULL;
}

/* Nothing is preloaded: some checks say what the C library does otherwise. */
TEST_UNUSED static bool conform_is_c_library(void)
{
    return conform_file_of("malloc") == conform_file_of("gnu_get_libc_version");
}

/* Whose malloc is it that is found first?  Something may lie before this one. */
TEST_UNUSED static bool conform_is_sgc(void)
{
    void *function = dlsym(RTLD_DEFAULT, "malloc");
    Dl_info file;

    return function != NULL && dladdr(function, &file) != 0 && strstr(file.dli_fname, "libsgcmalloc") != NULL;
}

/* A value that the compiler does not know: it would warn of sizes that cannot be. */
TEST_UNUSED static size_t conform_size(size_t n)
{
    volatile size_t hidden = n;

    return hidden;
}

/* How much was not as it should be, by any thread. */
TEST_UNUSED static atomic_int conform_wrong;

TEST_UNUSED static void conform_expect(bool right)
{
    if (!right)
        atomic_fetch_add(&conform_wrong, 1);
}

/* Each byte depends on its place and on the seed. */
TEST_UNUSED static void conform_fill(void *block, size_t size, unsigned seed)
{
    unsigned char *p = block;

    for (size_t i = 0; i < size; i++)
        p[i] = (unsigned char)(i * 7 + seed);
}

TEST_UNUSED static bool conform_is_filled(const void *block, size_t size, unsigned seed)
{
    const unsigned char *p = block;

    for (size_t i = 0; i < size; i++)
        if (p[i] != (unsigned char)(i * 7 + seed))
            return false;
    return true;
}

/* malloc, all of it written. */
TEST_UNUSED static void *conform_new(size_t size, unsigned seed)
{
    void *block = malloc(size);

    if (block != NULL)
        conform_fill(block, size, seed);
    return block;
}

/* Was all of it as written?  It is freed. */
TEST_UNUSED static bool conform_free(void *block, size_t size, unsigned seed)
{
    bool right = block != NULL && conform_is_filled(block, size, seed);

    free(block);
    return right;
}

/* A little of everything: small, larger and large blocks, realloc and calloc. */
TEST_UNUSED static bool conform_work(unsigned seed)
{
    static const size_t sizes[] = { 1, 24, 100, 700, 5000, 40000, 300000 };
    bool right = true;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size = sizes[i];
        void *block = conform_new(size, seed), *zero = calloc(1, size), *grown;

        right = right && zero != NULL && all_zero(zero, size);
        grown = realloc(block, 2 * size);
        right = right && grown != NULL && conform_is_filled(grown, size, seed);
        free(grown != NULL ? grown : block);
        free(zero);
    }
    return right;
}

/* Kilobytes that are resident now. */
TEST_UNUSED static long conform_resident_kb(void)
{
    unsigned long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%lu %lu", &size, &resident) != 2)
        tap_bail("no /proc/self/statm");
    fclose(file);
    return (long)resident * (sysconf(_SC_PAGESIZE) / 1024);
}

#endif
