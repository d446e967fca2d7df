/* SPDX-License-Identifier: MIT */
/*
 * Allocation rate: each thread allocates 100 000 objects of 16 bytes and frees them all, 30 times ([Endo], 2.4, table 2.1 and
 * figure 2.4).  By the collector, or by the C library's malloc and free.
 *
 * Ours, since the thesis does not say: objects are freed in the order in which they were allocated, and linked meanwhile.
 *
 * The check, before objects are freed: they are there, with what was written into them.
 */
#include <stdlib.h>

#include "bench/endo/apps/app.h"

enum { OBJECTS, SIZE, ROUNDS, LIBRARY, PARAMETERS };
enum { COLLECTOR = 1, LIBC };

static struct app_parameter parameters[PARAMETERS] = {
    [OBJECTS] = { "objects", 1, 100000000, { 1000, 100000, 0, 0, 0 }, 0 },
    [SIZE] = { "size", 16, 16384, { 16, 16, 0, 0, 0 }, 0 },
    [ROUNDS] = { "rounds", 1, 1000000, { 3, 30, 0, 0, 0 }, 0 },
    [LIBRARY] = { "library", COLLECTOR, LIBC, { COLLECTOR, COLLECTOR, 0, 0, 0 }, 0 },
};

struct object {
    struct object *next;
    long number;
};

/* One branch that is always the same beside what is measured. */
static struct object *new_object(size_t size)
{
    return parameters[LIBRARY].chosen == COLLECTOR ? GC_malloc(size) : malloc(size);
}

static void free_object(struct object *o)
{
    if (parameters[LIBRARY].chosen == COLLECTOR)
        GC_free(o);
    else
        free(o);
}

static struct object *allocate_all(long count, size_t size)
{
    struct object *first = obtained(new_object(size)), *last = first;

    first->number = 0;
    for (long n = 1; n < count; n++) {
        struct object *o = obtained(new_object(size));

        o->number = n;
        STORE(&last->next, o);
        last = o;
    }
    STORE(&last->next, NULL);
    return first;
}

static void free_all(struct object *o, long count)
{
    for (long n = 0; n < count; n++) {
        struct object *next = o->next;

        result_check(o->number == n + (app_spoil() && n == count / 2), "an object is lost or damaged");
        free_object(o);
        o = next;
    }
}

static void body(long i)
{
    long count = parameters[OBJECTS].chosen;

    (void)i;
    for (long round = 0; round < parameters[ROUNDS].chosen; round++)
        free_all(allocate_all(count, (size_t)parameters[SIZE].chosen), count);
}

int main(int argc, char **argv)
{
    double all;

    app_begin(argc, argv, "allocrate", parameters, PARAMETERS);
    app_run(body);
    all = (double)app_threads() * (double)parameters[ROUNDS].chosen * (double)parameters[OBJECTS].chosen;
    figure("throughput", all / app_seconds() / 1e6, "million/s");
    return app_end((uint64_t)parameters[OBJECTS].chosen << 24);
}
