/* SPDX-License-Identifier: MIT */
/* A build with libzstd: snapshot/unpack.h. */
#include "snapshot/unpack.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "platform/report.h"

enum { BYTES = 1 << 17, LEVEL = 3 };

struct sgc_unpack {
    FILE *file;
    ZSTD_DStream *stream;
    ZSTD_inBuffer in;
    size_t left;                /* what the stream still expects; 0: it is complete */
    char bytes[BYTES];
};

bool sgc_unpack_can(void)
{
    return true;
}

struct sgc_unpack *sgc_unpack_begin(FILE *file, const void *first, size_t bytes)
{
    struct sgc_unpack *u = malloc(sizeof *u);

    if (u == NULL || bytes > sizeof u->bytes) {
        free(u);
        return NULL;
    }
    u->file = file;
    u->stream = ZSTD_createDStream();
    u->in = (ZSTD_inBuffer){ u->bytes, bytes, 0 };
    u->left = 1;
    memcpy(u->bytes, first, bytes);
    if (u->stream != NULL)
        return u;
    free(u);
    return NULL;
}

/* False at the end of the file. */
static bool fill(struct sgc_unpack *u)
{
    sgc_assert(u->in.pos <= u->in.size && u->in.size <= sizeof u->bytes);
    if (u->in.pos < u->in.size)
        return true;
    u->in.size = fread(u->bytes, 1, sizeof u->bytes, u->file);
    u->in.pos = 0;
    return u->in.size != 0;
}

size_t sgc_unpack_read(struct sgc_unpack *u, void *to, size_t bytes, const char **problem)
{
    ZSTD_outBuffer out = { to, bytes, 0 };
    bool goes_on = true;

    sgc_assert(u->stream != NULL && to != NULL);
    *problem = NULL;
    while (goes_on && out.pos < out.size && *problem == NULL) {
        size_t before = out.pos;
        bool more = fill(u);

        if (!more && u->left == 0)
            break;
        u->left = ZSTD_decompressStream(u->stream, &out, &u->in);
        if (ZSTD_isError(u->left))
            *problem = ZSTD_getErrorName(u->left);
        goes_on = more || out.pos > before;     /* what the stream holds back comes without more of
                                                 * the file */
    }
    if (out.pos < out.size && u->left != 0 && *problem == NULL)
        *problem = "it ends in the middle of packed data";
    return out.pos;
}

void sgc_unpack_end(struct sgc_unpack *u)
{
    if (u == NULL)
        return;
    ZSTD_freeDStream(u->stream);
    free(u);
}

/* ---- packing ---- */

static const char *pack_some(ZSTD_CCtx *context, ZSTD_inBuffer in, bool last, FILE *to)
{
    static char packed[BYTES];
    size_t left;

    sgc_assert(context != NULL && in.pos <= in.size);
    do {
        ZSTD_outBuffer out = { packed, sizeof packed, 0 };

        left = ZSTD_compressStream2(context, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return ZSTD_getErrorName(left);
        if (fwrite(packed, 1, out.pos, to) != out.pos)
            return "it cannot be written";
    } while (last ? left != 0 : in.pos < in.size);
    return NULL;
}

const char *sgc_pack(FILE *from, FILE *to)
{
    static char bytes[BYTES];
    ZSTD_CCtx *context = ZSTD_createCCtx();
    const char *problem = context == NULL ? "no memory" : NULL;
    size_t count = sizeof bytes;

    sgc_assert(from != NULL && to != NULL);
    if (problem == NULL) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    }
    while (problem == NULL && count == sizeof bytes) {
        count = fread(bytes, 1, sizeof bytes, from);
        problem = ferror(from) ? "it cannot be read" :
                  pack_some(context, (ZSTD_inBuffer){ bytes, count, 0 }, count < sizeof bytes, to);
    }
    ZSTD_freeCCtx(context);
    return problem;
}
