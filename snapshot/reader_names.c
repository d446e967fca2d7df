/* SPDX-License-Identifier: MIT */
/* The sections with names: modules, threads, types of objects.  A snapshot of version 2 has none of
 * them. */
#include "snapshot/reader.h"

_Static_assert((int)SGC_GRAPH_NAME == (int)SGC_SNAPSHOT_NAME && (int)SGC_GRAPH_BUILD_ID == (int)SGC_SNAPSHOT_BUILD_ID,
               "a graph has room for them");

/* Of at most `size` - 1 bytes, of which none is zero behind the first that is. */
void sgc_reader_name(struct sgc_reader *r, char *name, size_t size)
{
    size_t length = (size_t)sgc_input_within(&r->in, "the length of a name", 0, size - 1);

    sgc_assert(size != 0);
    sgc_input_bytes(&r->in, name, length);
    name[r->in.failed ? 0 : length] = '\0';
}

/* ---- modules ---- */

static void read_segments(struct sgc_reader *r, struct sgc_graph_module *module)
{
    struct sgc_grown segments = { .each = sizeof *module->segment };
    uint64_t bytes;

    while ((bytes = sgc_input_within(&r->in, "the size of a segment", 0, UINT64_C(1) << 47)) != 0) {
        uint64_t offset = sgc_input_within(&r->in, "where a segment begins", 0, UINT64_C(1) << 47);
        uint64_t access = sgc_input_within(&r->in, "the access to a segment", 0, 7);
        struct sgc_graph_segment *segment = r->in.failed ? NULL : sgc_reader_add(r, &segments);

        if (segment != NULL)
            *segment = (struct sgc_graph_segment){ module->lo + offset, bytes, (uint32_t)access };
        if (offset + bytes > module->bytes)
            module->bytes = offset + bytes;
    }
    sgc_assert(segments.count == 0 || segments.of != NULL);
    module->segment = segments.of;
    module->segments = (uint32_t)segments.count;
}

static void read_path(struct sgc_reader *r, struct sgc_graph_module *module)
{
    char path[SGC_SNAPSHOT_PATH];

    sgc_reader_name(r, path, sizeof path);
    sgc_assert(module->path == NULL);
    module->path = strdup(path);
    if (module->path == NULL)
        sgc_input_fail(&r->in, "there is no memory for the path of a module; free some");
}

static void read_module(struct sgc_reader *r)
{
    struct sgc_graph_module *module = sgc_reader_add(r, &r->modules);

    sgc_assert(sgc_reader_ok(r));
    if (module == NULL)
        return;
    *module = (struct sgc_graph_module){ .lo = sgc_input_number(&r->in), .path = NULL };
    if (r->modules.count > 1 && module->lo < module[-1].lo)
        sgc_input_fail(&r->in, "the module before byte %llu lies below the one before it; write another snapshot",
                       (unsigned long long)r->in.at);
    module->file_lo = sgc_input_number(&r->in);
    read_segments(r, module);
    read_path(r, module);
    module->build_id_bytes = (uint32_t)sgc_input_within(&r->in, "the length of a build id", 0, SGC_GRAPH_BUILD_ID);
    sgc_input_bytes(&r->in, module->build_id, module->build_id_bytes);
}

bool sgc_reader_modules(struct sgc_reader *r)
{
    uint64_t count;

    if (r->in.version < 3)
        return true;
    if (!sgc_input_section(&r->in, SGC_SECTION_MODULES))
        return false;
    count = sgc_input_within(&r->in, "the number of modules", 0, UINT32_MAX - 1);
    for (uint64_t i = 0; i < count && !r->in.failed; i++)
        read_module(r);
    return !r->in.failed;
}

/* ---- types ---- */

_Static_assert(SGC_GRAPH_NO_TYPE == UINT32_MAX, "no type is all bits");

bool sgc_reader_begin_types(struct sgc_reader *r)
{
    return sgc_reader_begin_numbers(r, &r->g->type_of, "types");
}

/* `number`: from 1, 0: none.  The section behind this one says how many there are. */
static void note_type(struct sgc_reader *r, uint32_t object, uint64_t number)
{
    sgc_assert(object < r->g->objects && number <= SGC_SNAPSHOT_TYPES);
    r->highest_type = number > r->highest_type ? (uint32_t)number : r->highest_type;
    r->typed += number != 0;
    if (r->g->type_of != NULL && number != 0)
        r->g->type_of[object] = (uint32_t)number - 1;
}

void sgc_reader_page_types(struct sgc_reader *r, const struct sgc_graph_page *page)
{
    bool differ = sgc_input_within(&r->in, "whether objects have several types", 0, 1) != 0;
    uint64_t number = 0;

    for (uint32_t i = 0; i < page->objects && !r->in.failed; i++) {
        if (i == 0 || differ)
            number = sgc_input_within(&r->in, "the number of a type", 0, SGC_SNAPSHOT_TYPES);
        note_type(r, page->first_object + i, number);
    }
}

static void read_type(struct sgc_reader *r)
{
    const struct sgc_graph_module *module = r->modules.of;
    struct sgc_graph_type *type = r->modules.count != 0 ? sgc_reader_add(r, &r->types) : NULL;

    if (type == NULL) {
        sgc_input_fail(&r->in, "a type lies in a module, before byte %llu, and there is none; write another snapshot",
                       (unsigned long long)r->in.at);
        return;
    }
    type->module = (uint32_t)sgc_input_within(&r->in, "the module of a type", 0, r->modules.count - 1);
    type->offset = sgc_input_within(&r->in, "where a type lies", 0, module[type->module].bytes);
}

bool sgc_reader_types(struct sgc_reader *r)
{
    uint64_t count;

    if (r->in.version < 3)
        return true;
    if (!sgc_input_section(&r->in, SGC_SECTION_TYPES))
        return false;
    count = sgc_input_within(&r->in, "the number of types", r->highest_type, SGC_SNAPSHOT_TYPES);
    for (uint64_t i = 0; i < count && !r->in.failed; i++)
        read_type(r);
    sgc_assert(r->in.failed || r->types.count == count);
    return !r->in.failed;
}

/* ---- threads ---- */

bool sgc_reader_threads(struct sgc_reader *r)
{
    uint64_t number;

    sgc_assert(r->threads.count == 0);
    if (r->in.version < 3)
        return true;
    if (!sgc_input_section(&r->in, SGC_SECTION_THREADS))
        return false;
    while ((number = sgc_input_within(&r->in, "the number of a thread", 0, UINT32_MAX)) != 0) {
        struct sgc_graph_thread *thread = sgc_reader_add(r, &r->threads);

        if (thread == NULL)
            return false;
        thread->number = (uint32_t)number;
        sgc_reader_name(r, thread->name, sizeof thread->name);
    }
    return !r->in.failed;
}
