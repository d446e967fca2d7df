/* SPDX-License-Identifier: MIT */
/* What tests/check/check_gdb looks at: one small object and one large, after a collection. */
#include <stdio.h>

#include "gc.h"

char *volatile small, *volatile large;

void here(void);

void here(void)
{
    puts("here");
}

int main(void)
{
    GC_INIT();
    small = GC_malloc(40);
    large = GC_malloc_atomic(1000000);
    GC_gcollect();
    here();
    return 0;
}
