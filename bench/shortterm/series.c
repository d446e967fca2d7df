/* SPDX-License-Identifier: MIT */
/* See bench/shortterm/series.h.  Lines go to the file at once, so that the series itself needs no memory that grows. */
#include "bench/shortterm/series.h"

#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/cases/case.h"

static struct {
    FILE *file;
    bool of_malloc;
    unsigned long period;
} series;

void series_open(const char *path, bool of_malloc)
{
    series.file = fopen(path, "w");
    if (series.file == NULL) {
        perror(path);
        exit(1);
    }
    series.of_malloc = of_malloc;
    fprintf(series.file, "period\tns\theap\tused\n");
}

static size_t of_heap(size_t *used)
{
    struct mallinfo2 all;

    if (!series.of_malloc) {
        size_t heap = GC_get_heap_size();

        *used = heap - GC_get_free_bytes();
        return heap;
    }
    all = mallinfo2();
    *used = all.uordblks + all.hblkhd;
    return all.arena + all.hblkhd;
}

void series_add(double ns)
{
    size_t heap, used;

    if (series.file == NULL)
        return;
    heap = of_heap(&used);
    fprintf(series.file, "%lu\t%.0f\t%zu\t%zu\n", ++series.period, ns, heap, used);
}

void series_close(void)
{
    if (series.file != NULL && fclose(series.file) != 0) {
        perror("the series cannot be written");
        exit(1);
    }
    series.file = NULL;
}
