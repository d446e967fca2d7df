/* SPDX-License-Identifier: MIT */
/* See snapshot/tools/output.h. */
#include "snapshot/tools/output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/report.h"

static ssize_t write_some(void *file, const char *text, size_t bytes)
{
    return sgc_out_write(file, text, bytes) ? (ssize_t)bytes : 0;
}

bool sgc_output_is_input(const char *path, const char *input)
{
    struct stat output, read;

    sgc_assert(path != NULL && input != NULL);
    bool there = stat(path, &output) == 0 && (strcmp(input, "-") == 0 ? fstat(0, &read) : stat(input, &read)) == 0;

    return strcmp(path, "-") != 0 && there && S_ISREG(output.st_mode) && output.st_dev == read.st_dev &&
           output.st_ino == read.st_ino;
}

FILE *sgc_output_open(struct sgc_out_file *file, const char *path)
{
    FILE *stream = NULL;

    if (strcmp(path, "-") == 0)
        return stdout;
    if (sgc_out_open(file, path))
        stream = fopencookie(file, "w", (cookie_io_functions_t){ .write = write_some });
    if (stream == NULL && file->error == 0)
        file->error = ENOMEM;
    if (stream == NULL)
        errno = sgc_out_close(file);
    return stream;
}

int sgc_output_end(struct sgc_out_file *file, FILE *stream, bool keep)
{
    bool failed = ferror(stream) != 0;

    if (stream == stdout)
        return fflush(stdout) != 0 ? errno : failed ? EIO : 0;
    sgc_assert(sgc_out_ok(file));
    failed |= fclose(stream) != 0;
    if (file->error == 0 && (failed || !keep))
        file->error = failed ? EIO : ECANCELED;
    return sgc_out_close(file);
}
