/* SPDX-License-Identifier: MIT */
/*
 * Files that the tools write by stdio: made as all are, complete or not there
 * (platform/out_file.h).
 */
#ifndef SGC_SNAPSHOT_TOOLS_OUTPUT_H
#define SGC_SNAPSHOT_TOOLS_OUTPUT_H

#include <stdio.h>

#include "platform/out_file.h"

/* Is it the file that is read, which would be replaced? */
bool sgc_output_is_input(const char *path, const char *input);

/* "-" is the standard output.  NULL, with errno: it cannot be made, and nothing is to be ended. */
FILE *sgc_output_open(struct sgc_out_file *file, const char *path);

/* Removes it unless it is to be kept; the standard output stays open.  0, or the error. */
int sgc_output_end(struct sgc_out_file *file, FILE *stream, bool keep);

#endif
