/* SPDX-License-Identifier: MIT */
/*
 * Names in files that other programs read.  A name may have any bytes; what is written is valid
 * UTF-8, with U+FFFD for each byte that is not.
 */
#ifndef SGC_SNAPSHOT_VIEW_TEXT_H
#define SGC_SNAPSHOT_VIEW_TEXT_H

#include <stdio.h>

/* As a JSON string, with its quotes; it can also stand in a script of an HTML page. */
void sgc_text_json(FILE *out, const char *text);

/* A copy for free(), without control characters and without `without`: each becomes a space.  NULL:
 * no memory. */
char *sgc_text_line(const char *text, char without);

#endif
