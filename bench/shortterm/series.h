/* SPDX-License-Identifier: MIT */
/*
 * What each period took and what memory there was at its end, a line each in a file: the series behind figures 11 to 15 of
 * [SCM].  Columns: the period from 1, its nanoseconds, bytes of the heap, and bytes of it that are in use: by blocks of the C
 * library, or by pages of the collector.  Only the thread that has the periods calls these.
 */
#ifndef SGC_BENCH_SHORTTERM_SERIES_H
#define SGC_BENCH_SHORTTERM_SERIES_H

#include <stdbool.h>

/* Before the first period; ends the program if the file cannot be written. */
void series_open(const char *path, bool of_malloc);

/* At the end of each period; nothing if no file was opened. */
void series_add(double ns);

void series_close(void);

#endif
