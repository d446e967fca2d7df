/* SPDX-License-Identifier: MIT */
/*
 * malloc where the system gives less: limits of memory, locked memory, filters of system calls, a
 * user namespace.  Each in a process of its own; where the malloc has to start there, in one that
 * runs this program anew.
 */
#include <errno.h>
#include <sched.h>
#include <sys/mman.h>

#include "tests/lib/child.h"
#include "tests/lib/proc.h"
#include "tests/lib/refuse.h"
#include "tests/malloc/conform.h"

enum { LIMIT_MB = 64, BLOCK_BYTES = 256 << 10, LARGE_BYTES = 3 << 20 };

/* ---- limits of memory ---- */

struct held {
    struct held *next;
};

/* Allocates until nothing is had: how many blocks there were. */
static size_t exhaust(struct held **list)
{
    size_t blocks = 0;

    for (;;) {
        struct held *block;

        errno = 0;
        block = malloc(BLOCK_BYTES);
        if (block == NULL)
            return blocks;
        block->next = *list;
        *list = block;
        blocks++;
    }
}

static void free_all(struct held *list)
{
    for (struct held *next; list != NULL; list = next) {
        next = list->next;
        free(list);
    }
}

/* Twice: what was freed is had again. */
static int runs_out_twice(void)
{
    struct held *list = NULL;
    size_t first = exhaust(&list), second;

    if (errno != ENOMEM || first < 16)
        return 1;
    free_all(list);
    list = NULL;
    second = exhaust(&list);
    return errno == ENOMEM && second >= first / 2 ? 0 : 2;
}

/* An allocator may have reserved addresses before, so memory that can be written is limited, too. */
static int runs_out(void)
{
    if (!limit_to(RLIMIT_AS, proc_address_space() + ((rlim_t)LIMIT_MB << 20)) || !limit_to(RLIMIT_DATA, (rlim_t)LIMIT_MB << 20))
        return CHILD_SKIPS;
    return runs_out_twice();
}

/* If it is limited. */
static int runs_again(bool limited, const char *word)
{
    if (limited)
        execl("/proc/self/exe", "test_limits", word, (char *)NULL);
    return CHILD_SKIPS;
}

/* What was freed may stay where it is, but is had again. */
static int works_locked(void)
{
    void *block;

    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        return CHILD_SKIPS;
    for (int i = 0; i < 20; i++) {
        block = conform_new(LARGE_BYTES, (unsigned)i);
        if (!conform_free(block, LARGE_BYTES, (unsigned)i) || !conform_work((unsigned)i))
            return 1;
        block = calloc(1, LARGE_BYTES);
        if (block == NULL || !all_zero(block, LARGE_BYTES))
            return 2;
        free(block);
    }
    return 0;
}

enum { HALF_BYTES = 64 << 20, ARENA_BYTES = 4 << 20, OS_PAGE = 4096, HANG_SECONDS = 20 };

/* Few pages are, here and there, of one of two blocks that are freed. */
static int frees_pages_locked(void)
{
    char *p = malloc(HALF_BYTES), *q = malloc(HALF_BYTES);

    if (p == NULL || q == NULL)
        return 1;
    memset(p, 1, HALF_BYTES);
    memset(q, 1, HALF_BYTES);
    for (size_t at = 0; at < HALF_BYTES; at += ARENA_BYTES)
        if (mlock(p + at, OS_PAGE) != 0)
            return CHILD_SKIPS;
    alarm(HANG_SECONDS);
    free(q);
    free(p);
    return conform_work(1) ? 0 : 2;
}

/* ---- filters of system calls ---- */

/* ---- a user namespace, which a process with several threads does not get ---- */

static int gets_namespace(void)
{
    if (!conform_work(1))
        return 1;
    if (unshare(CLONE_NEWUSER) != 0)
        return errno == EINVAL ? 2 : CHILD_SKIPS;
    return conform_work(2) ? 0 : 3;
}

static int run_anew(const char *word)
{
    if (strcmp(word, "exhaust") == 0)
        return runs_out_twice();
    return conform_work(1) && conform_free(conform_new(LARGE_BYTES, 2), LARGE_BYTES, 2) ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return run_anew(argv[1]);
    tap_plan(8);
    child_ok(runs_out, "with a limit of memory: NULL and ENOMEM, and what is freed is had again");
    child_ok_of(runs_again(limit_to(RLIMIT_AS, (rlim_t)2 * LIMIT_MB << 20), "exhaust"),
                "the same where few addresses are had from the start");
    child_ok_of(runs_again(limit_to(RLIMIT_DATA, (rlim_t)LIMIT_MB << 20), "exhaust"),
                "the same where little can be written from the start");
    child_ok(works_locked, "with all memory locked");
    child_ok(frees_pages_locked, "with pages locked in what is freed");
    child_ok_of(runs_again(refuse_calls(SYS_clone, SYS_clone3, SYS_madvise), "work"),
                "where no thread may be made and no advice be given");
    child_ok_of(runs_again(refuse_calls(SYS_gettid, SYS_tgkill, SYS_futex), "work"),
                "where the system tells no thread's number, and lets none wait");
    child_ok(gets_namespace, "in a user namespace, which is had: there is one thread");
    return tap_done();
}
