/* SPDX-License-Identifier: MIT */
/* See snapshot/tools/output.h. */
#include "snapshot/tools/output.h"

#include <errno.h>

#include "platform/report.h"

static ssize_t write_some(void *file, const char *text, size_t bytes)
{
    return sgc_out_write(file, text, bytes) ? (ssize_t)bytes : 0;
}

FILE *sgc_output_open(struct sgc_out_file *file, const char *path)
{
    FILE *stream = NULL;

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

    sgc_assert(sgc_out_ok(file));
    failed |= fclose(stream) != 0;
    if (file->error == 0 && (failed || !keep))
        file->error = failed ? EIO : ECANCELED;
    return sgc_out_close(file);
}
