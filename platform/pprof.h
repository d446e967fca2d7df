/* SPDX-License-Identifier: MIT */
/*
 * Profiles as pprof and its relatives read them: the numbers of profile.proto, and how protocol
 * buffers are encoded.  Pure, by any thread. [any]
 *
 * A message is fields one behind the other, each a key, which has the field's number, and a number
 * or a length and bytes.  Bytes that do not fit into the buffer are counted and not written, so
 * that `used` says how much room is needed.  A message within another is encoded first, into a
 * buffer of its own.
 */
#ifndef SGC_PLATFORM_PPROF_H
#define SGC_PLATFORM_PPROF_H

#include <stddef.h>
#include <stdint.h>

/* Fields of message Profile, */
enum {
    SGC_PPROF_SAMPLE_TYPE = 1, SGC_PPROF_SAMPLE = 2, SGC_PPROF_MAPPING = 3, SGC_PPROF_LOCATION = 4, SGC_PPROF_FUNCTION = 5,
    SGC_PPROF_STRING = 6, SGC_PPROF_TIME_NANOS = 9, SGC_PPROF_DURATION_NANOS = 10, SGC_PPROF_PERIOD_TYPE = 11,
    SGC_PPROF_PERIOD = 12, SGC_PPROF_COMMENT = 13, SGC_PPROF_DEFAULT_SAMPLE_TYPE = 14,
};

/* and of those within it. */
enum { SGC_PPROF_VALUE_TYPE_TYPE = 1, SGC_PPROF_VALUE_TYPE_UNIT = 2 };
enum { SGC_PPROF_LABEL_KEY = 1, SGC_PPROF_LABEL_STRING = 2, SGC_PPROF_LABEL_NUMBER = 3, SGC_PPROF_LABEL_UNIT = 4 };
enum {
    SGC_PPROF_MAPPING_ID = 1, SGC_PPROF_MAPPING_START = 2, SGC_PPROF_MAPPING_LIMIT = 3, SGC_PPROF_MAPPING_OFFSET = 4,
    SGC_PPROF_MAPPING_FILE = 5, SGC_PPROF_MAPPING_BUILD_ID = 6,
};
enum { SGC_PPROF_SAMPLE_LOCATIONS = 1, SGC_PPROF_SAMPLE_VALUES = 2, SGC_PPROF_SAMPLE_LABEL = 3 };
enum { SGC_PPROF_LOCATION_ID = 1, SGC_PPROF_LOCATION_MAPPING = 2, SGC_PPROF_LOCATION_ADDRESS = 3, SGC_PPROF_LOCATION_LINE = 4 };
enum { SGC_PPROF_LINE_FUNCTION = 1, SGC_PPROF_LINE_LINE = 2 };
enum { SGC_PPROF_FUNCTION_ID = 1, SGC_PPROF_FUNCTION_NAME = 2 };

struct sgc_pprof_buffer {
    uint8_t *data;
    size_t size, used;                  /* used: also what did not fit */
};

static inline void sgc_pprof_byte(struct sgc_pprof_buffer *b, uint8_t byte)
{
    if (b->used < b->size)
        b->data[b->used] = byte;
    b->used++;
}

/* Seven bits a byte, the lowest first; the highest bit says that another byte follows. */
static inline void sgc_pprof_varint(struct sgc_pprof_buffer *b, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        sgc_pprof_byte(b, (uint8_t)(value | 0x80));
    sgc_pprof_byte(b, (uint8_t)value);
}

static inline void sgc_pprof_number(struct sgc_pprof_buffer *b, unsigned field, uint64_t value)
{
    sgc_pprof_varint(b, (uint64_t)field << 3);
    sgc_pprof_varint(b, value);
}

static inline void sgc_pprof_bytes(struct sgc_pprof_buffer *b, unsigned field, const void *data, size_t bytes)
{
    sgc_pprof_varint(b, (uint64_t)field << 3 | 2);
    sgc_pprof_varint(b, bytes);
    for (size_t i = 0; i < bytes; i++)
        sgc_pprof_byte(b, ((const uint8_t *)data)[i]);
}

#endif
