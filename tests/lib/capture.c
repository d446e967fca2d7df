/* SPDX-License-Identifier: MIT */
#include "tests/lib/capture.h"

static struct { int saved; FILE *file; char text[65536]; } capture_state;

void capture_begin(void)
{
    fflush(stderr);
    capture_state.file = tmpfile();
    capture_state.saved = dup(2);
    if (capture_state.file == NULL || capture_state.saved < 0 || dup2(fileno(capture_state.file), 2) < 0)
        tap_bail("cannot catch standard error");
}

const char *capture_end(void)
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

int capture_count(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}
