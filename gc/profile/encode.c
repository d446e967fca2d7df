/* SPDX-License-Identifier: MIT */
/* See gc/profile/encode.h. */
#include "gc/profile/encode.h"

#include <string.h>

#include "alloc/pages/kind.h"

/* Texts that are no names of files, in the order of their numbers. */
enum {
    NOTHING, ALLOC_OBJECTS, ALLOC_SPACE, INUSE_OBJECTS, INUSE_SPACE, COUNT, BYTES, SPACE, KIND, COMMENT, TEXTS
};

static const char *const texts[COMMENT] = {
    [NOTHING] = "", [ALLOC_OBJECTS] = "alloc_objects", [ALLOC_SPACE] = "alloc_space", [INUSE_OBJECTS] = "inuse_objects",
    [INUSE_SPACE] = "inuse_space", [COUNT] = "count", [BYTES] = "bytes", [SPACE] = "space", [KIND] = "kind",
};

enum { NUMBER = 10, ROOM = (SGC_SITE_FRAMES + 8) * NUMBER };   /* bytes that a number takes at most, and a sample */

struct message {
    struct sgc_pprof_buffer buffer;
    uint8_t room[ROOM];
};

static struct sgc_pprof_buffer *begin(struct message *m)
{
    m->buffer = (struct sgc_pprof_buffer){ m->room, sizeof m->room, 0 };
    return &m->buffer;
}

static void put(struct sgc_pprof_buffer *out, unsigned field, const struct message *m)
{
    sgc_assert(m->buffer.used <= sizeof m->room);
    sgc_pprof_bytes(out, field, m->room, m->buffer.used);
}

static void put_text(struct sgc_pprof_buffer *out, const char *text)
{
    sgc_pprof_bytes(out, SGC_PPROF_STRING, text, strlen(text));
}

static void put_type(struct sgc_pprof_buffer *out, unsigned field, uint64_t type, uint64_t unit)
{
    struct message m;
    struct sgc_pprof_buffer *b = begin(&m);

    sgc_pprof_number(b, SGC_PPROF_VALUE_TYPE_TYPE, type);
    sgc_pprof_number(b, SGC_PPROF_VALUE_TYPE_UNIT, unit);
    put(out, field, &m);
}

static void put_head(struct sgc_pprof_buffer *out, const struct sgc_profile_facts *facts)
{
    for (int i = 0; i < COMMENT; i++)
        put_text(out, texts[i]);
    put_text(out, facts->comment);
    put_type(out, SGC_PPROF_SAMPLE_TYPE, ALLOC_OBJECTS, COUNT);
    put_type(out, SGC_PPROF_SAMPLE_TYPE, ALLOC_SPACE, BYTES);
    put_type(out, SGC_PPROF_SAMPLE_TYPE, INUSE_OBJECTS, COUNT);
    put_type(out, SGC_PPROF_SAMPLE_TYPE, INUSE_SPACE, BYTES);
    put_type(out, SGC_PPROF_PERIOD_TYPE, SPACE, BYTES);
    sgc_pprof_number(out, SGC_PPROF_PERIOD, facts->rate);
    sgc_pprof_number(out, SGC_PPROF_TIME_NANOS, facts->time_ns);
    sgc_pprof_number(out, SGC_PPROF_DURATION_NANOS, facts->duration_ns);
    sgc_pprof_number(out, SGC_PPROF_DEFAULT_SAMPLE_TYPE, INUSE_SPACE);
    sgc_pprof_number(out, SGC_PPROF_COMMENT, COMMENT);
}

/* ---- modules ---- */

/* A part of a module with code: what the format calls a mapping.  They are numbered from 1. */
struct part {
    struct sgc_segment segment;
    const struct sgc_module *module;
    uint64_t number;
};

/* Goes on to the next one; false: there is none. */
struct walk {
    const struct sgc_modules *modules;
    int module, header;
    uint64_t number;
};

static bool next_part(struct walk *w, struct part *part)
{
    for (; w->module < w->modules->modules; w->module++, w->header = 0) {
        part->module = &w->modules->module[w->module];
        while (sgc_module_segment(part->module, &w->header, &part->segment))
            if ((part->segment.access & 1) != 0) {
                part->number = ++w->number;
                return true;
            }
    }
    return false;
}

/* The one that the address lies in; 0: none. */
static uint64_t part_at(const struct sgc_modules *modules, uintptr_t address)
{
    struct walk w = { modules, 0, 0, 0 };
    struct part part;

    while (next_part(&w, &part))
        if (part.segment.range.lo <= address && address < part.segment.range.hi)
            return part.number;
    return 0;
}

static void put_id_text(struct sgc_pprof_buffer *out, const struct sgc_module_file *file)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * SGC_BUILD_ID];

    sgc_assert(file->id_bytes <= SGC_BUILD_ID);
    for (size_t i = 0; i < file->id_bytes; i++) {
        text[2 * i] = digits[file->id[i] >> 4];
        text[2 * i + 1] = digits[file->id[i] & 15];
    }
    sgc_pprof_bytes(out, SGC_PPROF_STRING, text, 2 * file->id_bytes);
}

/* Its path and build id are the next two texts. */
static void put_part(struct sgc_pprof_buffer *out, const struct part *part, uint64_t *text)
{
    uintptr_t in_page = part->segment.range.lo % sgc_os_page_size();
    struct sgc_module_file file;
    struct message m;
    struct sgc_pprof_buffer *b = begin(&m);

    sgc_module_file(part->module, &file);
    sgc_pprof_number(b, SGC_PPROF_MAPPING_ID, part->number);
    sgc_pprof_number(b, SGC_PPROF_MAPPING_START, part->segment.range.lo - in_page);
    sgc_pprof_number(b, SGC_PPROF_MAPPING_LIMIT, sgc_round_up(part->segment.range.hi, sgc_os_page_size()));
    sgc_pprof_number(b, SGC_PPROF_MAPPING_OFFSET, part->segment.offset - in_page);
    sgc_pprof_number(b, SGC_PPROF_MAPPING_FILE, (*text)++);
    sgc_pprof_number(b, SGC_PPROF_MAPPING_BUILD_ID, (*text)++);
    put(out, SGC_PPROF_MAPPING, &m);
    sgc_pprof_bytes(out, SGC_PPROF_STRING, file.path, file.path_bytes);
    put_id_text(out, &file);
}

/* ---- sites ---- */

static void put_location(struct sgc_pprof_buffer *out, uint64_t number, uintptr_t place, uint64_t part)
{
    struct message m;
    struct sgc_pprof_buffer *b = begin(&m);

    sgc_pprof_number(b, SGC_PPROF_LOCATION_ID, number);
    if (part != 0)
        sgc_pprof_number(b, SGC_PPROF_LOCATION_MAPPING, part);
    sgc_pprof_number(b, SGC_PPROF_LOCATION_ADDRESS, place);
    put(out, SGC_PPROF_LOCATION, &m);
}

static void put_label(struct sgc_pprof_buffer *out, uint64_t key, uint64_t number, uint64_t unit)
{
    uint8_t room[8 * NUMBER];
    struct sgc_pprof_buffer b = { room, sizeof room, 0 };

    sgc_pprof_number(&b, SGC_PPROF_LABEL_KEY, key);
    sgc_pprof_number(&b, SGC_PPROF_LABEL_NUMBER, number);
    if (unit != NOTHING)
        sgc_pprof_number(&b, SGC_PPROF_LABEL_UNIT, unit);
    sgc_assert(b.used <= b.size);
    sgc_pprof_bytes(out, SGC_PPROF_SAMPLE_LABEL, room, b.used);
}

static uint64_t rounded(double value)
{
    return value <= 0 ? 0 : (uint64_t)(value + 0.5);
}

static void put_site(struct sgc_pprof_buffer *out, const struct sgc_sites_copy *copy, const struct sgc_site *site)
{
    struct message m;
    struct sgc_pprof_buffer *b = begin(&m);

    sgc_assert(site->frames <= SGC_SITE_FRAMES);
    for (uint32_t i = 0; i < site->frames; i++)
        sgc_pprof_number(b, SGC_PPROF_SAMPLE_LOCATIONS, (uint64_t)copy->frame[site->frame + i] + 1);
    sgc_pprof_number(b, SGC_PPROF_SAMPLE_VALUES, rounded(site->allocated.objects));
    sgc_pprof_number(b, SGC_PPROF_SAMPLE_VALUES, rounded(site->allocated.bytes));
    sgc_pprof_number(b, SGC_PPROF_SAMPLE_VALUES, rounded(site->live.objects));
    sgc_pprof_number(b, SGC_PPROF_SAMPLE_VALUES, rounded(site->live.bytes));
    put_label(b, BYTES, site->bytes, BYTES);
    put_label(b, KIND, site->kind, NOTHING);
    put(out, SGC_PPROF_SAMPLE, &m);
}

void sgc_profile_encode(struct sgc_pprof_buffer *out, const struct sgc_sites_copy *copy, const struct sgc_modules *modules,
                        const struct sgc_profile_facts *facts)
{
    struct walk w = { modules, 0, 0, 0 };
    uint64_t text = TEXTS;
    struct part part;

    sgc_assert(out->used <= SIZE_MAX / 2 && facts->comment != NULL);
    put_head(out, facts);
    while (next_part(&w, &part))
        put_part(out, &part, &text);
    for (uint32_t i = 0; i < copy->places; i++)
        put_location(out, (uint64_t)i + 1, copy->place[i], part_at(modules, copy->place[i]));
    for (uint32_t i = 0; i < copy->sites; i++)
        put_site(out, copy, &copy->site[i]);
}
