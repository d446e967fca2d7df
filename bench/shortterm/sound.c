/* SPDX-License-Identifier: MIT */
/* See bench/shortterm/sound.h.  Nothing is shared. */
#include "bench/shortterm/sound.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/shortterm/app.h"

enum { STEP_LEAST = 8, STEP_MOST = 4096, STEP_ONE = 64, TAGS = 6, RATE = 44100 };

static int32_t between(int32_t least, int32_t value, int32_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Bit 3 is the sign; the difference is an odd number of eighths of the step, which grows if they are many,
 * and shrinks if they are few. */
int16_t sound_decode(struct sound_channel *channel, unsigned code)
{
    static const int32_t factor[8] = { 54, 56, 58, 60, 76, 96, 120, 144 };
    int32_t size = (int32_t)(code & 7);
    int32_t difference = channel->step * (2 * size + 1) / 8;

    channel->sample = between(INT16_MIN, channel->sample + (code & 8 ? -difference : difference), INT16_MAX);
    channel->step = between(STEP_LEAST, channel->step * factor[size] / STEP_ONE, STEP_MOST);
    return (int16_t)channel->sample;
}

/* The code that comes nearest to the sample. */
static unsigned encode(const struct sound_channel *channel, int32_t sample)
{
    int32_t difference = sample - channel->sample;
    int32_t size = (difference < 0 ? -difference : difference) * 4 / channel->step;

    return (unsigned)between(0, size, 7) | (difference < 0 ? 8 : 0);
}

/* ---- music ---- */

/* Two saw-tooth tones and a little noise; the tones change every few frames. */
struct music {
    uint64_t random;
    uint32_t phase[SOUND_CHANNELS], speed[SOUND_CHANNELS];
};

static int32_t next_sample(struct music *music, int channel)
{
    int32_t tone;

    music->phase[channel] += music->speed[channel];
    tone = (int32_t)(music->phase[channel] >> 18) - 8192;
    return tone + (int32_t)random_below(&music->random, 512);
}

static void change_tones(struct music *music)
{
    for (int channel = 0; channel < SOUND_CHANNELS; channel++)
        music->speed[channel] = (uint32_t)(5000000 + random_below(&music->random, 60000000));
}

/* ---- a file ---- */

static unsigned char *put_tag(unsigned char *p, const char *key, const char *value)
{
    size_t key_length = strlen(key), value_length = strlen(value);

    *p++ = (unsigned char)key_length;
    *p++ = (unsigned char)value_length;
    memcpy(p, key, key_length);
    memcpy(p + key_length, value, value_length);
    return p + key_length + value_length;
}

static unsigned char *put_start(unsigned char *p, unsigned number, unsigned frames)
{
    static const char *const keys[TAGS] = { "title", "artist", "album", "year", "genre", "comment" };
    char value[64];

    memcpy(p, "SND1", 4);
    p = put16(put32(put32(put16(p + 4, SOUND_CHANNELS), RATE), frames), TAGS);
    for (int i = 0; i < TAGS; i++) {
        snprintf(value, sizeof value, "the %s of file %u", keys[i], number);
        p = put_tag(p, keys[i], value);
    }
    return p;
}

/* Both channels' codes lie in turn, so two make a byte. */
static unsigned char *put_frame(unsigned char *p, struct music *music, struct sound_channel *channels, uint64_t *heard)
{
    for (int channel = 0; channel < SOUND_CHANNELS; channel++)
        p = put16(put16(p, (unsigned)channels[channel].sample & 0xffff), (unsigned)channels[channel].step);
    for (int i = 0; i < SOUND_SAMPLES; i++) {
        unsigned codes = 0;

        for (int channel = 0; channel < SOUND_CHANNELS; channel++) {
            unsigned code = encode(&channels[channel], next_sample(music, channel));
            int16_t sample = sound_decode(&channels[channel], code);

            codes |= code << 4 * channel;
            *heard = result_digest(*heard, &sample, sizeof sample);
        }
        *p++ = (unsigned char)codes;
    }
    return p;
}

unsigned char *sound_make(unsigned number, unsigned frames, size_t *bytes, uint64_t *heard)
{
    unsigned char *file = obtained(malloc(SOUND_HEADER + (size_t)TAGS * (2 + 64 + 64) + (size_t)frames * SOUND_FRAME));
    unsigned char *p = put_start(file, number, frames);
    struct music music = { number + 1, { 0, 0 }, { 0, 0 } };
    struct sound_channel channels[SOUND_CHANNELS] = { { 0, STEP_LEAST }, { 0, STEP_LEAST } };

    *heard = 0;
    for (unsigned n = 0; n < frames; n++) {
        if (n % 16 == 0)
            change_tones(&music);
        p = put_frame(p, &music, channels, heard);
    }
    *bytes = (size_t)(p - file);
    return file;
}
