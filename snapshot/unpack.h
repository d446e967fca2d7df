/* SPDX-License-Identifier: MIT */
/* Files packed by libzstd, if this build has it: unpack_zstd.c, else unpack_none.c. */
#ifndef SGC_SNAPSHOT_UNPACK_H
#define SGC_SNAPSHOT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Has this build the library? */
bool sgc_unpack_can(void);

/* The unpacked bytes of what the file has after these first ones, which were read from it
 * already. */
struct sgc_unpack;
struct sgc_unpack *sgc_unpack_begin(FILE *file, const void *first, size_t bytes);

/* Up to so many bytes; 0: the end.  *problem is what is wrong with the file, else NULL. */
size_t sgc_unpack_read(struct sgc_unpack *u, void *to, size_t bytes, const char **problem);
void sgc_unpack_end(struct sgc_unpack *u);

/* Packs all of one file into another.  NULL, or what went wrong. */
const char *sgc_pack(FILE *from, FILE *to);

#endif
