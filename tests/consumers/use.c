/* SPDX-License-Identifier: MIT */
/* A program that an installed SGC is tried with: prints "1 1" if objects are found and collected. */
#include <gc.h>
#include <stdio.h>

int main(void)
{
    char **p;

    GC_INIT();
    p = GC_MALLOC(64);
    p[0] = GC_MALLOC_ATOMIC(16);
    GC_gcollect();
    printf("%d %d\n", GC_base(p[0]) == p[0], GC_get_gc_no() > 0);
    return 0;
}
