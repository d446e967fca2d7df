/* SPDX-License-Identifier: MIT */
/*
 * A converter with the memory of mpg123 and of JLayer, the decoders of [SCM]: sound files (bench/shortterm/sound.h) come one
 * after another and become WAV files; what a file needs is dead at its end, and what a frame needs at the frame's.
 *
 *     --files N        files that are converted
 *     --frames N       frames of each
 *     --each-frame 1   a tick after each frame, as in JLayer, not after each file, as in mpg123
 *     --folder DIR     where the WAV files go; otherwise nobody keeps them
 *     --instances N    so many converters at once, each a thread that converts all files; the paper has one
 *
 * As a port by hand: all objects have a date from the beginning, extension 0, and all frees are gone.  With a tick after each
 * file nothing else is needed.  With a tick after each frame seven objects of the file are refreshed before it.
 *
 * The input is made before anything is measured.  The check: a decoder has to find the samples that the encoder has seen.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/shortterm/app.h"
#include "bench/shortterm/sound.h"

enum { FILES, FRAMES, EACH_FRAME, FOLDER, INSTANCES, PARAMETERS };
enum { INSTANCES_MOST = 64, DISTINCT = 4, WAV_HEADER = 44, OUTPUT = 16384, FIRST_INDEX = 8 };

static const char *folder;

static struct app_parameter parameters[PARAMETERS] = {
    [FILES] = { "files", 1, 1000000, 30, 200, 0, NULL },
    [FRAMES] = { "frames", 1, 1000000, 20, 200, 0, NULL },
    [EACH_FRAME] = { "each-frame", 0, 1, 0, 0, 0, NULL },
    [FOLDER] = { "folder", 0, 0, 0, 0, 0, &folder },
    [INSTANCES] = { "instances", 1, INSTANCES_MOST, 1, 1, 0, NULL },
};

/* The files of the input are some, again and again. */
static struct input {
    unsigned char *bytes;
    size_t size;
    uint64_t heard;
} inputs[DISTINCT];

static uint64_t digests[INSTANCES_MOST];        /* of each instance, by its thread */

struct tag {
    struct tag *next;
    char *key, *value;
};

/* Where frames begin in the output, as a player would need to find a place. */
struct places {
    uint32_t used, room, at[];
};

struct output {
    FILE *to;                   /* NULL: nobody keeps it */
    size_t used;
    unsigned char bytes[OUTPUT];
};

struct conversion {
    const unsigned char *next, *end;
    struct tag *tags;
    char *title;
    struct places *places;
    struct sound_channel *channel[SOUND_CHANNELS];
    struct output *output;
    uint32_t rate, frames;
    uint64_t heard;
};

struct frame {
    unsigned char *codes;
    int16_t *samples;
};

/* ---- the start of a file ---- */

static char *text(const unsigned char *from, size_t length)
{
    char *copy = app_new_dated(length + 1, 0, SGC_SHORTTERM_ATOMIC);

    memcpy(copy, from, length);
    copy[length] = '\0';
    return copy;
}

static struct tag *read_tag(struct conversion *c)
{
    struct tag *tag = app_new_dated(sizeof *tag, 0, 0);
    size_t key = c->next[0], value = c->next[1];

    tag->key = text(c->next + 2, key);
    tag->value = text(c->next + 2 + key, value);
    c->next += 2 + key + value;
    return tag;
}

static void read_start(struct conversion *c)
{
    unsigned tags = get16(c->next + 14);

    result_check(memcmp(c->next, "SND1", 4) == 0 && get16(c->next + 4) == SOUND_CHANNELS, "a file is no sound");
    c->rate = get32(c->next + 6);
    c->frames = get32(c->next + 10);
    c->next += SOUND_HEADER;
    while (tags-- > 0) {
        struct tag *tag = read_tag(c);

        tag->next = c->tags;
        c->tags = tag;
        if (strcmp(tag->key, "title") == 0)
            c->title = text((const unsigned char *)tag->value, strlen(tag->value));
    }
}

static void free_tags(struct conversion *c)
{
    for (struct tag *tag = c->tags, *next; tag != NULL; tag = next) {
        next = tag->next;
        app_free(tag->key);
        app_free(tag->value);
        app_free(tag);
    }
    c->tags = NULL;
}

/* ---- output ---- */

static void flush(struct output *output)
{
    if (output->to != NULL)
        need(fwrite(output->bytes, 1, output->used, output->to) == output->used, "convert: a WAV file cannot be written");
    output->used = 0;
}

static void put(struct output *output, const unsigned char *bytes, size_t size)
{
    if (output->used + size > OUTPUT)
        flush(output);
    memcpy(output->bytes + output->used, bytes, size);
    output->used += size;
}

static void open_output(struct conversion *c, long number)
{
    char name[32], *path;

    if (folder == NULL)
        return;
    snprintf(name, sizeof name, "/%06ld.wav", number);
    path = obtained(malloc(strlen(folder) + sizeof name));
    strcat(strcpy(path, folder), name);
    c->output->to = fopen(path, "wb");
    need(c->output->to != NULL, path);
    free(path);
}

static void put_wav_header(struct conversion *c)
{
    unsigned char header[WAV_HEADER], *p = header;
    uint32_t bytes = c->frames * SOUND_SAMPLES * SOUND_CHANNELS * 2;

    memcpy(p, "RIFF", 4);
    p = put32(p + 4, WAV_HEADER - 8 + bytes);
    memcpy(p, "WAVEfmt ", 8);
    p = put32(p + 8, 16);
    p = put16(put16(p, 1), SOUND_CHANNELS);
    p = put32(put32(p, c->rate), c->rate * SOUND_CHANNELS * 2);
    p = put16(put16(p, SOUND_CHANNELS * 2), 16);
    memcpy(p, "data", 4);
    put32(p + 4, bytes);
    put(c->output, header, sizeof header);
}

static struct places *more_places(const struct places *old)
{
    uint32_t room = old == NULL ? FIRST_INDEX : 2 * old->room;
    struct places *new = app_new_dated(sizeof *new + room * sizeof *new->at, 0, SGC_SHORTTERM_ATOMIC);

    new->used = 0;
    new->room = room;
    if (old != NULL) {
        new->used = old->used;
        memcpy(new->at, old->at, old->used * sizeof *old->at);
    }
    return new;
}

static void note_place(struct conversion *c, uint32_t place)
{
    struct places *old = c->places;

    if (old == NULL || old->used == old->room) {
        c->places = more_places(old);
        app_free(old);
    }
    c->places->at[c->places->used++] = place;
}

/* ---- a frame ---- */

static void read_frame(struct conversion *c, struct frame *frame)
{
    result_check(c->next + SOUND_FRAME <= c->end, "a file is too short");
    memcpy(frame->codes, c->next, SOUND_FRAME);
    c->next += SOUND_FRAME;
}

static void decode_frame(struct conversion *c, struct frame *frame)
{
    const unsigned char *p = frame->codes;
    int16_t *to = frame->samples;

    for (int channel = 0; channel < SOUND_CHANNELS; channel++, p += 4)
        *c->channel[channel] = (struct sound_channel){ (int16_t)get16(p), (int32_t)get16(p + 2) };
    for (int i = 0; i < SOUND_SAMPLES; i++, p++)
        for (int channel = 0; channel < SOUND_CHANNELS; channel++)
            *to++ = sound_decode(c->channel[channel], *p >> 4 * channel & 15);
}

static void write_frame(struct conversion *c, const struct frame *frame)
{
    size_t samples = SOUND_SAMPLES * SOUND_CHANNELS;
    unsigned char bytes[2];

    c->heard = result_digest(c->heard, frame->samples, samples * sizeof *frame->samples);
    for (size_t i = 0; i < samples; i++) {
        put16(bytes, (unsigned)frame->samples[i] & 0xffff);
        put(c->output, bytes, sizeof bytes);
    }
}

/* What the following frames need, and the program has no other date for. */
static void refresh_file(const struct conversion *c)
{
    app_refresh((void *)c, 1);
    app_refresh(c->title, 1);
    app_refresh(c->places, 1);
    app_refresh(c->output, 1);
    for (int channel = 0; channel < SOUND_CHANNELS; channel++)
        app_refresh(c->channel[channel], 1);
}

static void convert_frame(struct conversion *c, uint32_t n)
{
    struct frame *frame = app_new_dated(sizeof *frame, 0, 0);

    frame->codes = app_new_dated(SOUND_FRAME, 0, SGC_SHORTTERM_ATOMIC);
    frame->samples = app_new_dated(SOUND_SAMPLES * SOUND_CHANNELS * sizeof *frame->samples, 0, SGC_SHORTTERM_ATOMIC);
    read_frame(c, frame);
    decode_frame(c, frame);
    write_frame(c, frame);
    note_place(c, n * SOUND_SAMPLES);
    app_free(frame->samples);
    app_free(frame->codes);
    app_free(frame);
    if (parameters[EACH_FRAME].chosen && n + 1 < c->frames) {
        refresh_file(c);
        app_tick();
    }
}

/* ---- a file ---- */

static struct conversion *begin_file(const struct input *input, long number)
{
    struct conversion *c = app_new_dated(sizeof *c, 0, 0);

    c->next = input->bytes;
    c->end = input->bytes + input->size;
    read_start(c);
    free_tags(c);
    for (int channel = 0; channel < SOUND_CHANNELS; channel++)
        c->channel[channel] = app_new_dated(sizeof *c->channel[channel], 0, SGC_SHORTTERM_ATOMIC);
    c->output = app_new_dated(sizeof *c->output, 0, SGC_SHORTTERM_ATOMIC);
    c->output->to = NULL;
    c->output->used = 0;
    open_output(c, number);
    put_wav_header(c);
    return c;
}

static uint64_t end_file(struct conversion *c)
{
    uint64_t heard = c->heard;

    flush(c->output);
    if (c->output->to != NULL)
        need(fclose(c->output->to) == 0, "convert: a WAV file cannot be written");
    result_check(c->next == c->end && c->places->used == c->frames, "a file is too long");
    for (int channel = 0; channel < SOUND_CHANNELS; channel++)
        app_free(c->channel[channel]);
    app_free(c->output);
    app_free(c->places);
    app_free(c->title);
    app_free(c);
    return heard;
}

/* The end of a file is the end of a period: the most frequent one, but for frames.  Periods are those of the first instance. */
static void convert_file(const struct input *input, long number, long instance)
{
    struct conversion *c;
    uint64_t heard;

    if (instance == 0)
        app_period_begin();
    c = begin_file(input, instance * parameters[FILES].chosen + number);
    for (uint32_t n = 0; n < c->frames; n++)
        convert_frame(c, n);
    heard = end_file(c);
    app_tick();
    if (instance == 0)
        app_period_end();
    result_check(heard == input->heard, "the samples are not those of the input");
    digests[instance] = result_digest(digests[instance], &heard, sizeof heard);
}

static void convert_all(void *arg, long instance)
{
    (void)arg;
    for (long n = 0; n < parameters[FILES].chosen; n++)
        convert_file(&inputs[n % DISTINCT], n, instance);
}

int main(int argc, char **argv)
{
    app_need_extension(1);
    app_begin(argc, argv, "convert", parameters, PARAMETERS);
    for (unsigned i = 0; i < DISTINCT; i++)
        inputs[i].bytes = sound_make(i, (unsigned)parameters[FRAMES].chosen, &inputs[i].size, &inputs[i].heard);
    if (app_spoil())
        inputs[0].bytes[inputs[0].size - 1] ^= 1;
    together_ns(NULL, convert_all, NULL, parameters[INSTANCES].chosen);
    for (long i = 1; i < parameters[INSTANCES].chosen; i++)
        result_check(digests[i] == digests[0], "two instances do not find the same");
    for (unsigned i = 0; i < DISTINCT; i++)
        free(inputs[i].bytes);
    return app_end(digests[0]);
}
