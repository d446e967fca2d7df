/* SPDX-License-Identifier: MIT */
/* What the files in a test's folder hold. */
#ifndef TESTS_LIB_CONTENTS_H
#define TESTS_LIB_CONTENTS_H

#include "tests/lib/folder.h"

/* Up to 64 KB of one; "": there is none. */
TEST_UNUSED static const char *contents(const char *name)
{
    static char text[65536];
    FILE *file = fopen(folder_path(name), "r");

    text[0] = '\0';
    if (file != NULL) {
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
    }
    return text;
}

/* Is there one, with this text alone? */
TEST_UNUSED static bool holds(const char *name, const char *text)
{
    struct stat status;

    return stat(folder_path(name), &status) == 0 && (size_t)status.st_size == strlen(text) && strcmp(contents(name), text) == 0;
}

#endif
