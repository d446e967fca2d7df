/* SPDX-License-Identifier: MIT */
/* A build without libzstd: snapshot/unpack.h. */
#include "snapshot/unpack.h"

bool sgc_unpack_can(void)
{
    return false;
}

struct sgc_unpack *sgc_unpack_begin(FILE *file, const void *first, size_t bytes)
{
    (void)file, (void)first, (void)bytes;
    return NULL;
}

size_t sgc_unpack_read(struct sgc_unpack *u, void *to, size_t bytes, const char **problem)
{
    (void)u, (void)to, (void)bytes;
    *problem = "this build has no libzstd";
    return 0;
}

void sgc_unpack_end(struct sgc_unpack *u)
{
    (void)u;
}

const char *sgc_pack(FILE *from, FILE *to)
{
    (void)from, (void)to;
    return "this build has no libzstd";
}
