/* SPDX-License-Identifier: MIT */
/*
 * A simple audio format, for bench/shortterm/convert.c: a header, tags, and frames of differences of samples with four bits
 * each, whose step adapts itself.  Numbers are little-endian.
 *
 *     header   "SND1", channels (2), rate (4), frames (4), tags (2)
 *     tag      length of key (1), length of value (1), key, value
 *     frame    for each channel: sample (2, signed), step (2), then the channels' codes in turn, two a byte
 *
 * The first sample of a frame is the one that it begins with; SOUND_SAMPLES codes follow for each channel.
 */
#ifndef SGC_BENCH_SHORTTERM_SOUND_H
#define SGC_BENCH_SHORTTERM_SOUND_H

#include <stddef.h>
#include <stdint.h>

enum {
    SOUND_CHANNELS = 2,
    SOUND_SAMPLES = 576,        /* of a frame and channel */
    SOUND_HEADER = 16,
    SOUND_FRAME = SOUND_CHANNELS * 4 + SOUND_CHANNELS * SOUND_SAMPLES / 2,
};

/* One channel, while it is encoded or decoded. */
struct sound_channel {
    int32_t sample, step;
};

/* The sample that a code of four bits leads to. */
int16_t sound_decode(struct sound_channel *channel, unsigned code);

/* A whole file of music that is made up from the number; *bytes are its size.  *heard is a digest of the samples that a decoder
 * has to find.  Memory of malloc. */
unsigned char *sound_make(unsigned number, unsigned frames, size_t *bytes, uint64_t *heard);

static inline unsigned get16(const unsigned char *p)
{
    return p[0] | (unsigned)p[1] << 8;
}

static inline unsigned char *put16(unsigned char *p, unsigned value)
{
    p[0] = (unsigned char)value;
    p[1] = (unsigned char)(value >> 8);
    return p + 2;
}

static inline uint32_t get32(const unsigned char *p)
{
    return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static inline unsigned char *put32(unsigned char *p, uint32_t value)
{
    return put16(put16(p, value & 0xffff), value >> 16);
}

#endif
