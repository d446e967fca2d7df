/* SPDX-License-Identifier: MIT */
/*
 * What a plain malloc tells of wrong calls, counted: the messages go into a pipe, at whose other end
 * a thread takes them apart.
 */
#ifndef TESTS_UNIT_MALLOC_TOLD_H
#define TESTS_UNIT_MALLOC_TOLD_H

#include <string.h>
#include <unistd.h>

#include "platform/report.h"
#include "tests/lib/threads.h"

/* Wrong calls that were made, or told, each with an address. */
struct tally {
    size_t count, addresses;    /* the latter is a sum */
};

static struct {
    pthread_t listener;
    int ends[2], before;
    struct tally told;          /* the listener's */
} told;

static void tally_add(struct tally *t, uintptr_t address)
{
    t->count++;
    t->addresses += address;
}

/* A line of another form counts, too. */
static void told_hear(const char *line)
{
    const char *paren = strncmp(line, "SGC: error: ", 12) == 0 ? strstr(line, "(0x") : NULL;

    tally_add(&told.told, paren != NULL ? strtoull(paren + 1, NULL, 16) : 1);
}

static void *told_listen(void *unused)
{
    static char text[65536];
    size_t have = 0;
    ssize_t got;

    while ((got = read(told.ends[0], text + have, sizeof text - 1 - have)) > 0) {
        char *line = text, *end;

        have += (size_t)got;
        text[have] = '\0';
        for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
            *end = '\0';
            told_hear(line);
        }
        have -= (size_t)(line - text);
        memmove(text, line, have);
    }
    return unused;
}

/* From now on. */
TEST_UNUSED static void told_begin(void)
{
    told.told = (struct tally){ 0, 0 };
    told.before = sgc_report_fd();
    if (pipe(told.ends) != 0)
        tap_bail("no pipe");
    told.listener = thread_start(told_listen, NULL);
    sgc_report_to(told.ends[1]);
}

/* Up to now. */
TEST_UNUSED static struct tally told_end(void)
{
    sgc_report_to(told.before);
    close(told.ends[1]);
    pthread_join(told.listener, NULL);
    close(told.ends[0]);
    return told.told;
}

#endif
