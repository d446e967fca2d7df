/* SPDX-License-Identifier: MIT */
/*
 * Blocks of a heap snapshot (gc/snapshot/format_rules.h): what is put is collected in one buffer
 * and written when that is full, or the section ends.  After an error nothing more is written, and
 * nobody who puts has to look.
 *
 * By who has stopped the world, for one snapshot at a time, and between the sections by markers
 * with the lock of mark/noted.h; the memory is our own.
 */
#ifndef SGC_GC_SNAPSHOT_BLOCKS_H
#define SGC_GC_SNAPSHOT_BLOCKS_H

#include <stdbool.h>
#include <string.h>

#include "gc/snapshot/format_rules.h"
#include "platform/compiler.h"
#include "platform/out_file.h"
#include "platform/platform.h"
#include "platform/report.h"

/* A number takes up to ten bytes. */
enum { SGC_BLOCKS_NUMBER = 10, SGC_BLOCKS_ROOM = 4 * SGC_BLOCKS_NUMBER };

enum { SGC_BLOCKS_FILES = 2 };  /* that get the same: SGC_SNAPSHOT's, and the one that a thread has
                                   asked for */

struct sgc_blocks {
    struct sgc_out_file file[SGC_BLOCKS_FILES];
    int files;                          /* 0: none is being written */
    enum sgc_snapshot_section section;
    uint64_t blocks;                    /* written */
    size_t used;                        /* bytes of the buffer */
    struct { struct sgc_snapshot_head head; unsigned char bytes[SGC_SNAPSHOT_BLOCK]; } buffer;
};
SGC_INNER struct sgc_blocks sgc_blocks;

static inline bool sgc_blocks_ok(void)
{
    return sgc_blocks.used <= SGC_SNAPSHOT_BLOCK && sgc_blocks.section < SGC_SECTIONS;
}

/* Begins so many files.  sgc_blocks_end must follow in any case. */
void sgc_blocks_begin(const char *const *path, int files);

/* There is a file without an error. */
static inline bool sgc_blocks_go_on(void)
{
    bool any = false;

    for (int i = 0; i < sgc_blocks.files; i++)
        any |= sgc_blocks.file[i].error == 0;
    return any;
}

/* Begins the section, to which all that follows belongs, behind the one before. */
void sgc_blocks_section(enum sgc_snapshot_section section);

/* Writes what the buffer has. */
void sgc_blocks_flush(void);

/* Each file's error, an errno; then there is no such file.  0: it is there.  `complete`: if not,
 * none is to be. */
void sgc_blocks_end(bool complete, int *error);

/* Room for so many bytes, SGC_SNAPSHOT_BLOCK at most. */
static inline void sgc_blocks_room(size_t bytes)
{
    sgc_assert(sgc_blocks_ok() && bytes <= SGC_SNAPSHOT_BLOCK);
    if (SGC_SNAPSHOT_BLOCK - sgc_blocks.used < bytes)
        sgc_blocks_flush();
}

/* There is room. */
static inline void sgc_blocks_put_inside(uint64_t number)
{
    unsigned char *p = sgc_blocks.buffer.bytes + sgc_blocks.used;

    for (; number >= 128; number >>= 7)
        *p++ = (unsigned char)(number | 128);
    *p++ = (unsigned char)number;
    sgc_blocks.used = (size_t)(p - sgc_blocks.buffer.bytes);
    sgc_assert(sgc_blocks.used <= SGC_SNAPSHOT_BLOCK);
}

static inline void sgc_blocks_put(uint64_t number)
{
    sgc_blocks_room(SGC_BLOCKS_NUMBER);
    sgc_blocks_put_inside(number);
}

/* How much it is more than *from, which it becomes. */
static inline void sgc_blocks_put_step(uint64_t *from, uint64_t to)
{
    sgc_blocks_put(sgc_snapshot_zigzag(to - *from));
    *from = to;
}

static inline void sgc_blocks_put_bytes(const void *bytes, size_t count)
{
    sgc_blocks_room(count);
    memcpy(sgc_blocks.buffer.bytes + sgc_blocks.used, bytes, count);
    sgc_blocks.used += count;
    sgc_assert(sgc_blocks_ok());
}

#endif
