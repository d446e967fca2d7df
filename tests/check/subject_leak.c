/* SPDX-License-Identifier: MIT */
/*
 * subject_leak: a program that forgets to remove cells from a list in static data, and has a table and garbage, which do
 * not grow, for tests/check/check_views.  It collects twice.
 */
#include <gc.h>

enum { TABLE = 1000, ROUNDS = 20000 };

/* 72 bytes, of a size class of its own. */
struct cell {
    struct cell *next;
    void *payload[8];
};

static struct cell *forgotten;
static void **table;

static void work(void)
{
    GC_disable();
    for (int i = 0; i < ROUNDS; i++) {
        struct cell *cell = GC_MALLOC(sizeof *cell);

        cell->next = forgotten;
        forgotten = cell;
        table[i % TABLE] = GC_MALLOC(200);
        table[i % TABLE] = GC_MALLOC_ATOMIC(300);
    }
    GC_enable();
    GC_gcollect();
}

int main(void)
{
    GC_INIT();
    table = GC_MALLOC(TABLE * sizeof *table);
    work();
    work();
    return forgotten == NULL;
}
