/* SPDX-License-Identifier: MIT */
/*
 * Catches what is written to standard error, for tests of messages:
 *
 *     capture_begin();
 *     ...
 *     const char *text = capture_end();      // valid until the next capture_begin
 */
#ifndef TESTS_LIB_CAPTURE_H
#define TESTS_LIB_CAPTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct { int saved; FILE *file; char text[65536]; } capture_state;

__attribute__((unused)) static void capture_begin(void)
{
    fflush(stderr);
    capture_state.file = tmpfile();
    capture_state.saved = dup(2);
    if (capture_state.file == NULL || capture_state.saved < 0 || dup2(fileno(capture_state.file), 2) < 0) {
        printf("Bail out! cannot catch standard error\n");
        exit(1);
    }
}

__attribute__((unused)) static const char *capture_end(void)
{
    fflush(stderr);
    dup2(capture_state.saved, 2);
    close(capture_state.saved);
    rewind(capture_state.file);
    size_t length = fread(capture_state.text, 1, sizeof capture_state.text - 1, capture_state.file);
    capture_state.text[length] = '\0';
    fclose(capture_state.file);
    return capture_state.text;
}

/* How often `part` occurs in `text`. */
__attribute__((unused)) static int capture_count(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

#endif
