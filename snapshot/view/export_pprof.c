/* SPDX-License-Identifier: MIT */
/*
 * See snapshot/view/export.h: profile.proto, uncompressed.  Each name is a function and a location;
 * its number is also that of its text, less those that come before.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "platform/pprof.h"
#include "snapshot/view/export.h"
#include "snapshot/view/text.h"

/* Texts that are no names. */
enum { NOTHING, OBJECTS, COUNT, BYTES, COMMENT, TEXTS };

static const char *const texts[] = { [NOTHING] = "", [OBJECTS] = "objects", [COUNT] = "count", [BYTES] = "bytes" };

enum { ROOM = (SGC_MERGED_DEPTH + 8) * 10 };    /* of a sample: each number has ten bytes at most */

static void write_bytes(FILE *out, unsigned field, const void *data, size_t bytes)
{
    uint8_t room[24];
    struct sgc_pprof_buffer head = { room, sizeof room, 0 };

    sgc_pprof_varint(&head, (uint64_t)field << 3 | 2);
    sgc_pprof_varint(&head, bytes);
    sgc_assert(head.used <= head.size);
    fwrite(room, 1, head.used, out);
    fwrite(data, 1, bytes, out);
}

static void write_message(FILE *out, unsigned field, const struct sgc_pprof_buffer *message)
{
    sgc_assert(message->used <= message->size);
    write_bytes(out, field, message->data, message->used);
}

static void write_number(FILE *out, unsigned field, uint64_t value)
{
    uint8_t room[24];
    struct sgc_pprof_buffer b = { room, sizeof room, 0 };

    sgc_pprof_number(&b, field, value);
    sgc_assert(b.used <= b.size);
    fwrite(room, 1, b.used, out);
}

static void write_type(FILE *out, uint64_t type, uint64_t unit)
{
    uint8_t room[48];
    struct sgc_pprof_buffer b = { room, sizeof room, 0 };

    sgc_pprof_number(&b, SGC_PPROF_VALUE_TYPE_TYPE, type);
    sgc_pprof_number(&b, SGC_PPROF_VALUE_TYPE_UNIT, unit);
    write_message(out, SGC_PPROF_SAMPLE_TYPE, &b);
}

/* ---- names ---- */

/* Groups, roots, what roots keep with others, and the rest: from 0. */
static uint32_t name_of(const struct sgc_merged *m, uint32_t node)
{
    const struct sgc_merged_node *n = &m->node[node];
    uint32_t groups = m->v->groups.count, roots = m->v->roots.count;

    sgc_assert(node != 0 && node < m->count);
    if (n->is == SGC_MERGED_GROUP)
        return n->number;
    if (n->is == SGC_MERGED_REST)
        return groups + 2 * roots;
    return groups + (n->is == SGC_MERGED_SEVERAL ? roots : 0) + n->number;
}

/* Without the name that the linker has: pprof would take it to be one that it has to make readable,
 * and shorten it. */
static void write_name(FILE *out, uint64_t id, uint64_t text)
{
    uint8_t room[48], line_room[24];
    struct sgc_pprof_buffer b = { room, sizeof room, 0 }, line = { line_room, sizeof line_room, 0 };

    sgc_pprof_number(&b, SGC_PPROF_FUNCTION_ID, id);
    sgc_pprof_number(&b, SGC_PPROF_FUNCTION_NAME, text);
    write_message(out, SGC_PPROF_FUNCTION, &b);
    b.used = 0;
    sgc_pprof_number(&line, SGC_PPROF_LINE_FUNCTION, id);
    sgc_pprof_number(&b, SGC_PPROF_LOCATION_ID, id);
    sgc_pprof_bytes(&b, SGC_PPROF_LOCATION_LINE, line.data, line.used);
    write_message(out, SGC_PPROF_LOCATION, &b);
}

static bool write_text(FILE *out, const char *text)
{
    char *valid = sgc_text_line(text, '\0');

    if (valid == NULL)
        return false;
    write_bytes(out, SGC_PPROF_STRING, valid, strlen(valid));
    free(valid);
    return true;
}

/* The names that nodes have; those of no node are empty texts. */
static bool write_names(FILE *out, const struct sgc_merged *m)
{
    uint32_t names = m->v->groups.count + sgc_view_holders(m->v) + 1;
    const char **name = calloc(names, sizeof *name);
    bool done = name != NULL;

    for (uint32_t i = 1; done && i < m->count; i++)
        name[name_of(m, i)] = sgc_merged_name(m, i);
    for (uint32_t i = 0; done && i < names; i++) {
        if (name[i] != NULL)
            write_name(out, i + 1, (uint64_t)TEXTS + i);
        done = write_text(out, name[i] != NULL ? name[i] : "");
    }
    free(name);
    return done;
}

/* ---- samples ---- */

static void write_sample(FILE *out, const struct sgc_merged *m, uint32_t node)
{
    uint8_t room[2 * ROOM], way_room[ROOM], values_room[24];
    struct sgc_pprof_buffer b = { room, sizeof room, 0 }, way = { way_room, sizeof way_room, 0 },
                            values = { values_room, sizeof values_room, 0 };

    sgc_pprof_varint(&values, m->node[node].objects);
    sgc_pprof_varint(&values, m->node[node].bytes);
    for (uint32_t at = node; at != 0; at = m->node[at].parent)
        sgc_pprof_varint(&way, (uint64_t)name_of(m, at) + 1);
    sgc_assert(way.used <= way.size && values.used <= values.size);
    sgc_pprof_bytes(&b, SGC_PPROF_SAMPLE_LOCATIONS, way.data, way.used);
    sgc_pprof_bytes(&b, SGC_PPROF_SAMPLE_VALUES, values.data, values.used);
    write_message(out, SGC_PPROF_SAMPLE, &b);
}

bool sgc_export_pprof(FILE *out, const struct sgc_merged *m)
{
    char comment[100];

    snprintf(comment, sizeof comment, "heap snapshot of process %" PRIu64 ", collection %" PRIu64, m->v->g->process,
             m->v->g->cycle);
    write_type(out, OBJECTS, COUNT);
    write_type(out, BYTES, BYTES);
    for (uint32_t i = 1; i < m->count; i++)
        if (m->node[i].bytes != 0)
            write_sample(out, m, i);
    for (int i = 0; i < TEXTS; i++)
        if (!write_text(out, i == COMMENT ? comment : texts[i]))
            return false;
    write_number(out, SGC_PPROF_COMMENT, COMMENT);
    write_number(out, SGC_PPROF_DEFAULT_SAMPLE_TYPE, BYTES);
    sgc_assert(m->count != 0);
    return write_names(out, m);
}
