/* SPDX-License-Identifier: MIT */
/*
 * Options that name files which the library writes, and say when: PATTERN[,key=value]...  The
 * pattern ends where the first ",word=" begins, so that a comma may be part of a name.  Keys are
 * rows like those of a library's table, and their values are read, bounded and shown in the same
 * way.  Pure: no malloc, no stdio, no locale.
 */
#ifndef SGC_OPTIONS_OPTION_FILE_H
#define SGC_OPTIONS_OPTION_FILE_H

#include <stdbool.h>

#include "options/option_table.h"

struct sgc_option_file {
    char pattern[1024];                 /* of the file's name; "": there is no such option */
    char wrong[256];                    /* why the text is not accepted, for a message */
};

/* Reads a text of this form.  Each key's field gets its value, or its row's initial one where the
 * text does not have it.  False, with `wrong` and no pattern, where the text has no pattern or a
 * longer one than fits, a key that is not among the rows, one twice, or a value that its row does
 * not accept; the fields then have initial values. */
bool sgc_option_file_parse(const char *text, const struct sgc_option_row *keys, int count, struct sgc_option_file *option);

#endif
