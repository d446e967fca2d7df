/* SPDX-License-Identifier: MIT */
/*
 * For check_trace: threads that allocate lists, with finalizers now and then, so that there are cycles of the mode that the
 * environment asks for.  Arguments: threads, how much each allocates in MB, and how the program ends: return, exit (_exit),
 * kill, fork (a child does the same, then it and the parent return), or leave (a child goes on without a collection, and its
 * number is printed).
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GC_THREADS 1
#include "gc.h"

struct cell {
    struct cell *next;
    char bytes[48];
};

static long finalized;

static void count(void *object, void *data)
{
    (void)object, (void)data;
    __atomic_fetch_add(&finalized, 1, __ATOMIC_RELAXED);
}

/* Lists of 20000 cells; the last 16 are kept, or as many as there is memory for. */
static void *allocate(void *megabytes)
{
    struct cell *kept[16] = { NULL };
    long cells = atol(megabytes) * ((1 << 20) / (long)sizeof(struct cell));

    for (long list = 0; cells > 0; list++) {
        struct cell *first = NULL;

        for (int i = 0; i < 20000; i++, cells--) {
            struct cell *c = GC_MALLOC(sizeof *c);

            if (c == NULL)
                memset(kept, 0, sizeof kept);
            else
                c->next = first;
            first = c;
        }
        if (first != NULL)
            GC_REGISTER_FINALIZER(first, count, NULL, NULL, NULL);
        kept[list % 16] = first;
    }
    return kept[0];
}

static void run(int threads, char *megabytes)
{
    pthread_t thread[64];

    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, allocate, megabytes) != 0)
            exit(2);
    allocate(megabytes);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    GC_gcollect();
    GC_gcollect();
}

int main(int argc, char **argv)
{
    int threads = argc > 3 ? atoi(argv[1]) : 0, status = 0;
    const char *end = argc > 3 ? argv[3] : "return";

    if (argc != 4 || threads < 0 || threads > 64)
        return 2;
    GC_INIT();
    run(threads, argv[2]);
    if (strcmp(end, "fork") == 0) {
        pid_t child = fork();

        run(1, argv[2]);
        if (child != 0)
            waitpid(child, &status, 0);
    }
    if (strcmp(end, "leave") == 0) {
        pid_t child = fork();

        if (child == 0) {
            close(STDOUT_FILENO);
            close(STDERR_FILENO);
            sleep(60);
            _exit(0);
        }
        printf("child %ld\n", (long)child);
    }
    printf("%ld\n", __atomic_load_n(&finalized, __ATOMIC_RELAXED));
    fflush(stdout);
    if (strcmp(end, "exit") == 0)
        _exit(0);
    if (strcmp(end, "kill") == 0)
        kill(getpid(), SIGKILL);
    return status;
}
