/* SPDX-License-Identifier: MIT */
/* See gc/snapshot/blocks.h. */
#include "gc/snapshot/blocks.h"

#include <errno.h>

#include "platform/report.h"

struct sgc_blocks sgc_blocks;
SGC_STATE_LARGE(sgc_blocks);

static struct sgc_snapshot_crc_table crc_table;
SGC_STATE_LARGE(crc_table);

/* To each, as far as it has no error. */
static void write_all(const void *data, size_t bytes)
{
    for (int i = 0; i < sgc_blocks.files; i++)
        sgc_out_write(&sgc_blocks.file[i], data, bytes);
}

void sgc_blocks_begin(const char *const *path, int files)
{
    const struct sgc_snapshot_start start = {
        .magic = { 'S', 'G', 'C', 's', 'n', 'a', 'p', '\n' }, .version = SGC_SNAPSHOT_VERSION, .order = SGC_SNAPSHOT_ORDER,
    };

    sgc_assert(sgc_blocks.files == 0 && files > 0 && files <= SGC_BLOCKS_FILES);
    if (crc_table.of[0][1] == 0)
        sgc_snapshot_crc_prepare(&crc_table);
    sgc_blocks.section = SGC_SECTION_HEADER;
    sgc_blocks.used = 0;
    sgc_blocks.blocks = 0;
    for (int i = 0; i < files; i++)
        sgc_out_open(&sgc_blocks.file[i], path[i]);
    sgc_blocks.files = files;
    write_all(&start, sizeof start);
}

void sgc_blocks_flush(void)
{
    struct sgc_snapshot_head *head = &sgc_blocks.buffer.head;

    sgc_assert(sgc_blocks_ok());
    head->section = sgc_blocks.section;
    head->bytes = (uint32_t)sgc_blocks.used;
    head->crc = sgc_snapshot_crc(&crc_table, 0, head, offsetof(struct sgc_snapshot_head, crc));
    head->crc = sgc_snapshot_crc(&crc_table, head->crc, sgc_blocks.buffer.bytes, sgc_blocks.used);
    write_all(&sgc_blocks.buffer, sizeof *head + sgc_blocks.used);
    sgc_blocks.blocks++;
    sgc_blocks.used = 0;
}

void sgc_blocks_section(enum sgc_snapshot_section section)
{
    sgc_assert(sgc_blocks_ok() && section != sgc_blocks.section);
    if (sgc_blocks.used != 0)
        sgc_blocks_flush();
    sgc_blocks.section = section;
}

/* A mark that was given up has not been told all: its file is removed as one that could not be
 * written. */
void sgc_blocks_end(bool complete, int *error)
{
    sgc_assert(sgc_blocks_ok() && sgc_blocks.files > 0);
    if (sgc_blocks.used != 0)
        sgc_blocks_flush();
    for (int i = 0; i < sgc_blocks.files; i++) {
        if (!complete && sgc_blocks.file[i].error == 0)
            sgc_blocks.file[i].error = ECANCELED;
        error[i] = sgc_out_close(&sgc_blocks.file[i]);
    }
    sgc_blocks.files = 0;
}
