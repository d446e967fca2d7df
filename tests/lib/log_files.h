/* SPDX-License-Identifier: MIT */
/* Hardships of files that the collector writes while the program runs: its log and its timeline. */
#ifndef TESTS_LIB_LOG_FILES_H
#define TESTS_LIB_LOG_FILES_H

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gc/events/events.h"
#include "tests/lib/folder.h"

/* Of this process no file may be larger. */
TEST_UNUSED static bool limit_files(rlim_t bytes)
{
    struct rlimit limit = { bytes, RLIM_INFINITY };

    return setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

/* The name of a pipe's end, from whose other end, *reader, nobody reads once it is closed; NULL:
 * there is none. */
TEST_UNUSED static const char *pipe_name(int *reader)
{
    static char name[64];
    int ends[2];

    if (pipe(ends) != 0)
        return NULL;
    *reader = ends[0];
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    return name;
}

TEST_UNUSED static void close_descriptors(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
}

/* As programs that become daemons do: closes all descriptors, and opens others, all of the file
 * "victim".  The highest number of one. */
TEST_UNUSED static int take_descriptors(void)
{
    int taken = -1;

    close_descriptors();
    for (int i = 0; i < 300; i++)
        taken = open(folder_path("victim"), O_RDWR | O_CREAT | O_APPEND, 0600);
    return taken;
}

/* Leaves no place among the listeners, until they are removed. */
static const struct sgc_listener other_listeners[SGC_LISTENERS_MAX];
static int others_added;

TEST_UNUSED static void add_listeners(void)
{
    while (others_added < SGC_LISTENERS_MAX && sgc_listener_add(&other_listeners[others_added]))
        others_added++;
}

TEST_UNUSED static void remove_listeners(void)
{
    while (others_added > 0)
        sgc_listener_remove(&other_listeners[--others_added]);
}

#endif
