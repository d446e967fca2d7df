/* SPDX-License-Identifier: MIT */
/*
 * malloc at the edges of a process: before main, after it, in children, around jumps out of signal
 * handlers, and where memory is limited.  One thread.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/lib/child.h"
#include "tests/malloc/conform.h"

enum { EARLY_BYTES = 300, LATE = 20, JUMPS = 2000, LIMIT_MB = 64, BLOCK_BYTES = 256 << 10 };

/* ---- before main ---- */

/* What was allocated before the constructors, by one, and there freed again. */
static void *from_preinit, *from_constructor;
static bool early_work;

static void allocate_early(void)
{
    from_preinit = conform_new(EARLY_BYTES, 1);
}

__attribute__((section(".preinit_array"), used)) static void (*preinit)(void) = allocate_early;

__attribute__((constructor(101))) static void construct(void)
{
    from_constructor = conform_new(EARLY_BYTES, 2);
    early_work = conform_work(3);
}

/* ---- after main ---- */

static void *kept_for_end;
static bool late_work;

/* The one that was registered first runs last: its answer is the process's. */
static void end_last(void)
{
    bool right = late_work && conform_work(4) && conform_free(kept_for_end, EARLY_BYTES, 5);

    _exit(right ? LATE : 1);
}

static void end_early(void)
{
    late_work = conform_work(6);
}

static int exits(void)
{
    kept_for_end = conform_new(EARLY_BYTES, 5);
    if (atexit(end_last) != 0 || atexit(end_early) != 0)
        return 1;
    exit(0);
}

/* ---- children that are other programs ---- */

static bool ends_well(pid_t child)
{
    int status = -1;

    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool spawn_works(void)
{
    char *words[] = { (char *)"/bin/sh", (char *)"-c", (char *)"exit 0", NULL };
    posix_spawn_file_actions_t actions;
    bool right = conform_work(7) && posix_spawn_file_actions_init(&actions) == 0;
    pid_t child = 0;

    if (!right)
        return false;
    right = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0) == 0;
    right = posix_spawn(&child, words[0], &actions, NULL, words, environ) == 0 && ends_well(child) && right;
    posix_spawn_file_actions_destroy(&actions);
    return right && conform_work(8);
}

/* The child of vfork runs in its parent's memory until it becomes another program. */
static bool vfork_works(void)
{
    void *volatile block = conform_new(EARLY_BYTES, 9);
    pid_t child = vfork();

    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 0", (char *)NULL);
        _exit(1);
    }
    return ends_well(child) && conform_free(block, EARLY_BYTES, 9) && conform_work(10);
}

/* ---- jumps out of a handler ---- */

static sigjmp_buf place;

static void jump(int number)
{
    (void)number;
    free(conform_new(EARLY_BYTES, 11));
    siglongjmp(place, 1);
}

/* The signal comes between calls of malloc, where a handler may call it, too. */
static bool jumps_do_no_harm(void)
{
    struct sigaction action = { .sa_handler = jump };
    volatile int jumps = 0;

    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    sigsetjmp(place, 1);
    while (jumps < JUMPS) {
        jumps = jumps + 1;
        free(conform_new((size_t)jumps, 12));
        raise(SIGUSR1);
    }
    signal(SIGUSR1, SIG_DFL);
    return conform_work(13);
}

/* ---- a limit of memory ---- */

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

static size_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%lu", &pages) != 1)
        tap_bail("no /proc/self/statm");
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * Twice: what was freed is had again.  An allocator may have reserved addresses before, so memory
 * that can be written is limited, too.
 */
static int runs_out(void)
{
    struct rlimit limit = { 0, 0 };
    struct held *list = NULL;
    size_t first, second;

    limit.rlim_cur = limit.rlim_max = address_space() + ((rlim_t)LIMIT_MB << 20);
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return CHILD_SKIPS;
    limit.rlim_cur = limit.rlim_max = (rlim_t)LIMIT_MB << 20;
    if (setrlimit(RLIMIT_DATA, &limit) != 0)
        return CHILD_SKIPS;
    first = exhaust(&list);
    if (errno != ENOMEM || first < 16)
        return 1;
    for (struct held *next; list != NULL; list = next) {
        next = list->next;
        free(list);
    }
    second = exhaust(&list);
    return errno == ENOMEM && second >= first / 2 ? 0 : 2;
}

int main(void)
{
    tap_plan(5);
    tap_ok(conform_free(from_preinit, EARLY_BYTES, 1) && conform_free(from_constructor, EARLY_BYTES, 2) && early_work,
           "before the constructors, and in one");
    tap_ok(run_in_child(exits) == LATE, "in functions of atexit");
    tap_ok(spawn_works() && vfork_works(), "around posix_spawn and vfork");
    tap_ok(jumps_do_no_harm(), "in a handler, and after jumps out of it");
    child_ok(runs_out, "with a limit of memory: NULL and ENOMEM, and what is freed is had again");
    return tap_done();
}
