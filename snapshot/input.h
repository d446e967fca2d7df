/* SPDX-License-Identifier: MIT */
/*
 * A snapshot's bytes: block by block, each checked before anything of it is handed out.
 *
 * The first problem is kept, with where it is.  From then on numbers are 0, which end every list,
 * so that who reads need not look each time.  By one thread.
 */
#ifndef SGC_SNAPSHOT_INPUT_H
#define SGC_SNAPSHOT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gc/snapshot/format_rules.h"
#include "snapshot/unpack.h"
#include "platform/report.h"

enum { SGC_INPUT_PROBLEM = 400 };       /* bytes of the text */

struct sgc_input {
    FILE *file;
    struct sgc_unpack *unpack;          /* NULL: the bytes are as they are in the file */
    unsigned char ahead[4];             /* read to see whether they are packed, and not handed out
                                           yet: */
    size_t ahead_bytes;
    uint32_t version;                   /* of the file: SGC_SNAPSHOT_VERSION_MIN to
                                           SGC_SNAPSHOT_VERSION */
    uint64_t at;                        /* bytes that were read */
    uint64_t blocks;
    uint32_t section;                   /* of the present block */
    size_t used, bytes;                 /* of the present block */
    struct sgc_snapshot_head next;      /* the block after it, if has_next */
    bool has_next, opened, failed;
    char problem[SGC_INPUT_PROBLEM];
    struct sgc_snapshot_crc_table table;
    unsigned char block[SGC_SNAPSHOT_BLOCK];
};

/* "-": the standard input.  sgc_input_close must follow in any case. */
bool sgc_input_open(struct sgc_input *in, const char *path);
void sgc_input_close(struct sgc_input *in);

/* Something is wrong, as the text says: what, what was expected, and how to go on. */
void sgc_input_fail(struct sgc_input *in, const char *format, ...) SGC_PRINTF(2, 3);

/* The next section, which has to be that one; all of the one before has to be read. */
bool sgc_input_section(struct sgc_input *in, uint32_t section);

/* Does that section come next? */
bool sgc_input_has(struct sgc_input *in, uint32_t section);

/* Nothing may follow. */
bool sgc_input_end(struct sgc_input *in);

/* More of the present section.  False: it has ended. */
bool sgc_input_more(struct sgc_input *in);

uint64_t sgc_input_number_slowly(struct sgc_input *in);

static inline uint64_t sgc_input_number(struct sgc_input *in)
{
    sgc_assert(in->used <= in->bytes);
    if (in->used < in->bytes && in->block[in->used] < 128)
        return in->block[in->used++];
    return sgc_input_number_slowly(in);
}

/* One that may be `min` to `max`; `what` it is. */
uint64_t sgc_input_within(struct sgc_input *in, const char *what, uint64_t min, uint64_t max);

bool sgc_input_bytes(struct sgc_input *in, void *to, size_t count);

#endif
