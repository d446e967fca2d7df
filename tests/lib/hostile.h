/* SPDX-License-Identifier: MIT */
/*
 * A program that does what it may do, at the collector's expense: it closes all descriptors, as
 * daemons do, and its own files get their numbers; it has as many mappings as a process may have.
 */
#ifndef TESTS_LIB_HOSTILE_H
#define TESTS_LIB_HOSTILE_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/tap.h"

enum { FD_MAX = 512, MAPPINGS_MAX = 200000 };

static bool was_open[FD_MAX];
static int theirs;
static const char theirs_text[] = "the program's own\n";

/* Each number from 3 on that was open is a file of the program's then.  False: there is none. */
TEST_UNUSED static bool replace_descriptors(void)
{
    char path[] = "/tmp/test_descriptors_XXXXXX";

    for (int n = 3; n < FD_MAX; n++)
        was_open[n] = close(n) == 0;
    theirs = mkstemp(path);
    unlink(path);
    if (theirs < 0 || write(theirs, theirs_text, sizeof theirs_text) != sizeof theirs_text)
        return false;
    for (int n = 3; n < FD_MAX; n++)
        if (was_open[n] && n != theirs)
            dup2(theirs, n);
    return true;
}

/* All of these are still that file, and nobody has written into it. */
TEST_UNUSED static bool theirs_untouched(void)
{
    char now[2 * sizeof theirs_text];
    struct stat own, other;

    if (fstat(theirs, &own) != 0)
        return false;
    for (int n = 3; n < FD_MAX; n++)
        if (was_open[n] && (fstat(n, &other) != 0 || other.st_ino != own.st_ino))
            return false;
    return pread(theirs, now, sizeof now, 0) == sizeof theirs_text && memcmp(now, theirs_text, sizeof theirs_text) == 0;
}

/* By mappings that nothing merges.  False: more may be had than there is time for. */
TEST_UNUSED static bool use_up_mappings(void)
{
    for (int i = 0; i < MAPPINGS_MAX; i++)
        if (mmap(NULL, 4096, i % 2 != 0 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
            return true;
    return false;
}

#endif
