/* SPDX-License-Identifier: MIT */
/* See snapshot/input.h. */
#include "snapshot/input.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static const unsigned char packed[4] = { 0x28, 0xb5, 0x2f, 0xfd };

#define AGAIN "take the file from where it was written once more, or write another snapshot"

void sgc_input_fail(struct sgc_input *in, const char *format, ...)
{
    va_list args;

    if (in->failed)
        return;
    va_start(args, format);
    vsnprintf(in->problem, sizeof in->problem, format, args);
    va_end(args);
    in->failed = true;
    in->used = in->bytes = 0;
    in->has_next = false;
    sgc_assert(in->problem[0] != '\0');
}

/* ---- bytes of the file ---- */

static size_t read_plain(struct sgc_input *in, unsigned char *to, size_t bytes)
{
    size_t first = in->ahead_bytes < bytes ? in->ahead_bytes : bytes;

    sgc_assert(in->ahead_bytes <= sizeof in->ahead);
    memcpy(to, in->ahead, first);
    memmove(in->ahead, in->ahead + first, in->ahead_bytes - first);
    in->ahead_bytes -= first;
    first += fread(to + first, 1, bytes - first, in->file);
    if (ferror(in->file))
        sgc_input_fail(in, "it cannot be read (%s); expected a file that can", strerror(errno));
    return first;
}

/* As many as there are. */
static size_t read_some(struct sgc_input *in, void *to, size_t bytes)
{
    const char *problem = NULL;
    size_t count;

    if (in->failed)
        return 0;
    count = in->unpack != NULL ? sgc_unpack_read(in->unpack, to, bytes, &problem) : read_plain(in, to, bytes);
    if (problem != NULL)
        sgc_input_fail(in, "it cannot be unpacked (%s); " AGAIN, problem);
    in->at += count;
    sgc_assert(count <= bytes);
    return in->failed ? 0 : count;
}

static bool read_all(struct sgc_input *in, void *to, size_t bytes)
{
    size_t count = read_some(in, to, bytes);

    if (count != bytes)
        sgc_input_fail(in, "it is cut off after %llu bytes, in section %u; expected a trailer at the end: " AGAIN,
                       (unsigned long long)in->at, in->section);
    return !in->failed;
}

static void begin_unpacking(struct sgc_input *in)
{
    sgc_assert(in->file != NULL && in->unpack == NULL);
    if (in->ahead_bytes != sizeof packed || memcmp(in->ahead, packed, sizeof packed) != 0)
        return;
    in->unpack = sgc_unpack_begin(in->file, in->ahead, in->ahead_bytes);
    if (in->unpack == NULL && !sgc_unpack_can())
        sgc_input_fail(in, "it is packed, and this build cannot unpack it, for want of libzstd; unpack it first: zstd -d");
    else if (in->unpack == NULL)
        sgc_input_fail(in, "there is no memory for unpacking it; free some");
}

static bool check_start(struct sgc_input *in)
{
    struct sgc_snapshot_start start = { .version = 0 };
    size_t count = read_some(in, &start, sizeof start);

    if (memcmp(start.magic, SGC_SNAPSHOT_MAGIC, count < sizeof start.magic ? count : sizeof start.magic) != 0)
        sgc_input_fail(in, "it is no heap snapshot: it does not begin with \"SGCsnap\"; expected a file that SGC_SNAPSHOT or "
                       "SGC_write_heap_snapshot has written");
    else if (count < sizeof start)
        sgc_input_fail(in, "it is cut off after %zu bytes, in its start; " AGAIN, count);
    else if (start.order != SGC_SNAPSHOT_ORDER)
        sgc_input_fail(in, "its order of bytes is %08x, expected %08x; read it on a machine like the one that has written it",
                       start.order, SGC_SNAPSHOT_ORDER);
    else if (start.version < SGC_SNAPSHOT_VERSION_MIN || start.version > SGC_SNAPSHOT_VERSION)
        sgc_input_fail(in, "its format is version %u, expected %d to %d; write it anew with this SGC, or read it with the "
                       "sgc-snapshot of the one that has written it", start.version, SGC_SNAPSHOT_VERSION_MIN,
                       SGC_SNAPSHOT_VERSION);
    in->version = start.version;
    return !in->failed;
}

bool sgc_input_open(struct sgc_input *in, const char *path)
{
    memset(in, 0, offsetof(struct sgc_input, block));
    sgc_snapshot_crc_prepare(&in->table);
    in->opened = strcmp(path, "-") != 0;
    in->file = in->opened ? fopen(path, "rb") : stdin;
    if (in->file == NULL) {
        sgc_input_fail(in, "it cannot be opened (%s); expected a heap snapshot", strerror(errno));
        return false;
    }
    in->ahead_bytes = fread(in->ahead, 1, sizeof in->ahead, in->file);
    begin_unpacking(in);
    return !in->failed && check_start(in);
}

void sgc_input_close(struct sgc_input *in)
{
    sgc_unpack_end(in->unpack);
    if (in->file != NULL && in->opened)
        fclose(in->file);
    in->unpack = NULL;
    in->file = NULL;
}

/* ---- blocks ---- */

static bool read_head(struct sgc_input *in)
{
    struct sgc_snapshot_head *head = &in->next;

    if (in->has_next)
        return true;
    if (!read_all(in, head, sizeof *head))
        return false;
    if (head->bytes == 0 || head->bytes > SGC_SNAPSHOT_BLOCK)
        sgc_input_fail(in, "the block before byte %llu says that it has %u bytes, expected 1 to %d; " AGAIN,
                       (unsigned long long)in->at, head->bytes, SGC_SNAPSHOT_BLOCK);
    in->has_next = !in->failed;
    return in->has_next;
}

static bool read_block(struct sgc_input *in)
{
    const struct sgc_snapshot_head *head = &in->next;
    uint32_t crc = sgc_snapshot_crc(&in->table, 0, head, offsetof(struct sgc_snapshot_head, crc));

    sgc_assert(in->has_next && in->used == in->bytes);
    sgc_assert(head->bytes != 0 && head->bytes <= sizeof in->block);
    if (!read_all(in, in->block, head->bytes))
        return false;
    crc = sgc_snapshot_crc(&in->table, crc, in->block, head->bytes);
    if (crc != head->crc) {
        sgc_input_fail(in, "the block of section %u before byte %llu is damaged: its checksum is %08x, expected %08x; " AGAIN,
                       head->section, (unsigned long long)in->at, crc, head->crc);
        return false;
    }
    in->section = head->section;
    in->used = 0;
    in->bytes = head->bytes;
    in->has_next = false;
    in->blocks++;
    return true;
}

bool sgc_input_more(struct sgc_input *in)
{
    if (in->used < in->bytes)
        return true;
    return !in->failed && read_head(in) && in->next.section == in->section && read_block(in);
}

bool sgc_input_section(struct sgc_input *in, uint32_t section)
{
    if (in->failed)
        return false;
    if (in->blocks != 0 && sgc_input_more(in))
        sgc_input_fail(in, "section %u goes on behind its end, before byte %llu; " AGAIN, in->section,
                       (unsigned long long)in->at);
    if (read_head(in) && in->next.section != section)
        sgc_input_fail(in, "section %u comes before byte %llu, expected section %u; " AGAIN, in->next.section,
                       (unsigned long long)in->at, section);
    return !in->failed && read_block(in);
}

bool sgc_input_has(struct sgc_input *in, uint32_t section)
{
    sgc_assert(in->used <= in->bytes);
    return !in->failed && in->used == in->bytes && read_head(in) && in->next.section == section;
}

bool sgc_input_end(struct sgc_input *in)
{
    unsigned char byte;

    if (!in->failed && (in->used < in->bytes || in->has_next || read_some(in, &byte, 1) != 0))
        sgc_input_fail(in, "something follows the trailer, before byte %llu; expected the end of the file: " AGAIN,
                       (unsigned long long)in->at);
    return !in->failed;
}

/* ---- numbers ---- */

uint64_t sgc_input_number_slowly(struct sgc_input *in)
{
    uint64_t number = 0;

    for (int shift = 0; shift < 64; shift += 7) {
        unsigned char byte;

        if (!sgc_input_more(in)) {
            sgc_input_fail(in, "section %u ends in the middle, before byte %llu; " AGAIN, in->section,
                           (unsigned long long)in->at);
            return 0;
        }
        byte = in->block[in->used++];
        if (shift == 63 && byte > 1)
            break;
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return number;
    }
    sgc_input_fail(in, "a number in section %u before byte %llu is too long; " AGAIN, in->section, (unsigned long long)in->at);
    return 0;
}

uint64_t sgc_input_within(struct sgc_input *in, const char *what, uint64_t min, uint64_t max)
{
    uint64_t number = sgc_input_number(in);

    sgc_assert(min <= max);
    if (!in->failed && (number < min || number > max))
        sgc_input_fail(in, "in section %u, before byte %llu, %s is %llu, expected %llu to %llu; " AGAIN, in->section,
                       (unsigned long long)in->at, what, (unsigned long long)number, (unsigned long long)min,
                       (unsigned long long)max);
    return in->failed ? min : number;
}

bool sgc_input_bytes(struct sgc_input *in, void *to, size_t count)
{
    unsigned char *p = to;

    sgc_assert(in->used <= in->bytes);
    while (count != 0 && !in->failed) {
        size_t some;

        if (!sgc_input_more(in)) {
            sgc_input_fail(in, "section %u ends in the middle, before byte %llu; " AGAIN, in->section,
                           (unsigned long long)in->at);
            return false;
        }
        some = in->bytes - in->used < count ? in->bytes - in->used : count;
        memcpy(p, in->block + in->used, some);
        in->used += some;
        p += some;
        count -= some;
    }
    return !in->failed;
}
