/* SPDX-License-Identifier: MIT */
/*
 * gc/pacing/heap_size.c: a program with much memory of malloc's beside the heap, in a cgroup whose limit both share.  It is
 * not killed where collecting helps, and gets memory where it does not.
 *
 * Needs root and a memory controller; skipped elsewhere.
 */
#include "tests/api/api.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "tests/lib/sanitized.h"

enum {
    MB = 1 << 20,
    GROUP = 256 * MB,           /* its limit */
    BESIDE = 140 * MB,          /* what the program has beside the heap */
    KEPT = 30 * MB,             /* what lives of the heap */
    DEAD = 1000 * MB,           /* what is allocated and dropped */
    PIECE = 2000,
};

static char group[300];

/* ---- the group --------------------------------------------------------------------------------- */

static bool write_to(const char *name, long value)
{
    char path[400], text[32];
    int fd, length = snprintf(text, sizeof text, "%ld\n", value);
    bool done;

    snprintf(path, sizeof path, "%s/%s", group, name);
    fd = open(path, O_WRONLY);
    done = fd >= 0 && write(fd, text, (size_t)length) == length;
    if (fd >= 0)
        close(fd);
    return done;
}

static bool make_group_below(const char *mount, const char *limit)
{
    snprintf(group, sizeof group, "%s/sgc-test-%d", mount, (int)getpid());
    if (mkdir(group, 0755) != 0)
        return false;
    if (write_to(limit, GROUP))
        return true;
    rmdir(group);
    return false;
}

/* Version 1, or 2 where the root hands the controller down. */
static bool make_group(void)
{
    return make_group_below("/sys/fs/cgroup/memory", "memory.limit_in_bytes") ||
           make_group_below("/sys/fs/cgroup", "memory.max");
}

/* Swap would let it live, and make it slow: where there is a limit on that it is set, too. */
static void enter_group(void)
{
    write_to("memory.swap.max", 0);
    write_to("memory.memsw.limit_in_bytes", GROUP);
    API_CHILD(write_to("cgroup.procs", getpid()));
}

/* ---- what runs in it --------------------------------------------------------------------------- */

static void *kept;

/* Volatile: the memory is used, whatever the compiler thinks. */
static void take_beside(size_t bytes)
{
    volatile char *memory = api_outside(bytes);

    for (size_t i = 0; i < bytes; i += 4096)
        memory[i] = 1;
}

static void keep(size_t bytes)
{
    for (size_t done = 0; done < bytes; done += PIECE) {
        void **object = GC_malloc(PIECE);

        API_CHILD(object != NULL);
        object[0] = kept;
        kept = object;
    }
}

static void drop(size_t bytes)
{
    for (size_t done = 0; done < bytes; done += PIECE)
        API_CHILD(memset(GC_malloc(PIECE), 1, PIECE) != NULL);
}

static size_t length_of_kept(void)
{
    size_t length = 0;

    for (void **object = kept; object != NULL; object = object[0])
        length++;
    return length;
}

static void collectable_beside_malloc(void)
{
    enter_group();
    GC_INIT();
    take_beside(BESIDE);
    keep(KEPT);
    drop(DEAD);
    API_CHILD(length_of_kept() == (KEPT + PIECE - 1) / PIECE);
}

/* With the pacing that uses the limit up before it collects. */
static void up_to_the_limit(void)
{
    setenv("SGC_PACING", "limit", 1);
    collectable_beside_malloc();
}

/* The rest of the program grows between, when the heap has been near the limit already. */
static void beside_grows_later(void)
{
    enter_group();
    setenv("SGC_PACING", "limit", 1);
    GC_INIT();
    keep(KEPT);
    drop(DEAD);
    GC_gcollect_and_unmap();
    take_beside(BESIDE);
    drop(DEAD);
}

/* All lives: the limit of the group gives way up to what is there. */
static void more_lives_than_is_left(void)
{
    enter_group();
    GC_INIT();
    take_beside(BESIDE);
    keep(95 * MB);
    API_CHILD(length_of_kept() == (95 * MB + PIECE - 1) / PIECE);
}

int main(void)
{
    setenv("SGC_MODE", "stop", 1);      /* what is allocated while a cycle runs comes on top, and here ends the process */
    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer has much memory of its own");
    if (!make_group())
        tap_skip_all("no memory cgroup can be made here");
    api_check_child(collectable_beside_malloc, NULL, "much memory beside the heap");
    api_check_child(up_to_the_limit, NULL, "and the heap uses its limit");
    api_check_child(beside_grows_later, NULL, "and it comes later");
    api_check_child(more_lives_than_is_left, NULL, "what lives gets memory beyond the margin");
    rmdir(group);
    return tap_done();
}
