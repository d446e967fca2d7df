/* SPDX-License-Identifier: MIT */
/*
 * What a malloc costs a program that hardly uses it:
 *
 *     start    /bin/true is started N times, one after the other; an operation is one start
 *     loop     N million turns of a loop without a call; the process allocates nothing meanwhile
 *
 *     idle [start|loop [N]]
 */
#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>

#include "bench/malloc/client.h"
#include "bench/measure.h"

enum { START, LOOP };
enum { MILLION = 1000000 };

struct job {
    int how;
    uint64_t count;
};

extern char **environ;

static uint64_t start_all(uint64_t count)
{
    char *words[] = { (char *)(uintptr_t)"/bin/true", NULL };

    for (uint64_t n = 0; n < count; n++) {
        pid_t child;
        int status;

        errno = posix_spawn(&child, words[0], NULL, NULL, words, environ);
        client_need(errno == 0, "/bin/true cannot be started");
        client_need(waitpid(child, &status, 0) == child, "waitpid");
        if (status != 0)
            client_wrong("/bin/true failed");
    }
    return count;
}

/* Each number depends on the one before it. */
static uint64_t turn(uint64_t count)
{
    uint64_t number = 1;

    for (uint64_t n = 0; n < count; n++)
        number = number * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return number;
}

static uint64_t work(void *arg, long i)
{
    const struct job *job = arg;

    (void)i;
    return job->how == START ? start_all(job->count) : turn(job->count * MILLION);
}

int main(int argc, char **argv)
{
    struct job job = { .how = choice(argc, argv, 1, "start|loop") };
    struct client_run run;

    job.count = (uint64_t)argument(argc, argv, 2, 1000, 1, 100000);
    client_begin();
    run = client_together(work, &job, 1);
    return client_end(run, (double)job.count);
}
