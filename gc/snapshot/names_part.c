/* SPDX-License-Identifier: MIT */
/*
 * The sections of a heap snapshot that have names: kinds of objects, the loaded modules, threads.
 * See gc/snapshot/snapshot.h.
 *
 *   kind_names   written and read with the registry's lock, which a stop holds
 */
#include "gc/snapshot/snapshot.h"

#include "gc/config/public_vars.h"
#include "gc/finalize/disclaim.h"
#include "gc/roots/roots.h"
#include "gc/snapshot/blocks.h"
#include "mark/descriptor.h"
#include "platform/file_linux.h"
#include "platform/sorted.h"

_Static_assert((int)SGC_SNAPSHOT_KINDS == (int)SGC_KINDS, "the format has as many");
_Static_assert((int)SGC_SNAPSHOT_BUILD_ID == (int)SGC_BUILD_ID && (int)SGC_SNAPSHOT_PATH > (int)SGC_MODULE_PATH, "they fit");

static void put_text(const char *text, size_t length)
{
    sgc_blocks_put(length);
    if (length != 0)
        sgc_blocks_put_bytes(text, length);
}

/* ---- kinds ---- */

SGC_STATE static char kind_names[SGC_KINDS][SGC_SNAPSHOT_NAME];

/* strncpy clears the rest of an earlier name. */
void sgc_snapshot_name_kind(uint32_t kind, const char *name)
{
    struct sgc_registry_scope scope;

    sgc_assert(sgc_kind_ok(kind) && name != NULL);
    sgc_registry_enter(&scope);
    strncpy(kind_names[kind], name, SGC_SNAPSHOT_NAME - 1);
    sgc_registry_leave(&scope);
    sgc_assert(kind_names[kind][SGC_SNAPSHOT_NAME - 1] == '\0');
}

static bool has_type_first(const struct sgc_kind *kind)
{
    return kind->scan == SGC_SCAN_DESCRIBED && (kind->descriptor & SGC_DS_TAGS) == SGC_DS_PER_OBJECT &&
           (intptr_t)kind->descriptor < 0;
}

/* While leaks are looked for nobody is asked about dead objects. */
static uint64_t kind_flags(uint32_t kind)
{
    bool asks = sgc_disclaim_asks(kind) && !sgc_finding_leaks();

    sgc_assert(sgc_kind_ok(kind));
    return (sgc_kind_uncollectable(kind) ? SGC_SNAPSHOT_KIND_UNCOLLECTABLE : 0) | (asks ? SGC_SNAPSHOT_KIND_DISCLAIMS : 0) |
           (asks && !sgc_disclaim_lets_go(kind) ? SGC_SNAPSHOT_KIND_KEEPS_CONTENTS : 0) |
           (has_type_first(&sgc_kinds.of[kind]) ? SGC_SNAPSHOT_KIND_TYPE_FIRST : 0);
}

static void put_kinds(void)
{
    sgc_blocks_section(SGC_SECTION_KINDS);
    sgc_blocks_put(sgc_kind_count());
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++) {
        sgc_blocks_put(sgc_kinds.of[kind].scan);
        sgc_blocks_put(kind_flags(kind));
        put_text(kind_names[kind], strlen(kind_names[kind]));
    }
}

/* ---- modules ---- */

/* Of each its bytes, how far behind the lowest address it begins, and how it may be accessed. */
static void put_segments(const struct sgc_module *module)
{
    struct sgc_segment segment;

    for (int header = 0; sgc_module_segment(module, &header, &segment);) {
        sgc_assert(segment.range.lo >= module->range.lo && segment.range.lo < segment.range.hi);
        sgc_blocks_put(segment.range.hi - segment.range.lo);
        sgc_blocks_put(segment.range.lo - module->range.lo);
        sgc_blocks_put(segment.access);
    }
    sgc_blocks_put(0);
}

static void put_module(const struct sgc_module *module)
{
    struct sgc_module_file file;

    sgc_module_file(module, &file);
    sgc_blocks_put(module->range.lo);
    sgc_blocks_put(module->range.lo - module->bias);
    put_segments(module);
    put_text(file.path, file.path_bytes);
    put_text((const char *)file.id, file.id_bytes);
}

static void put_modules(struct sgc_snapshot_counts *counts)
{
    sgc_blocks_section(SGC_SECTION_MODULES);
    sgc_blocks_put((uint64_t)sgc_root_modules.modules);
    for (int i = 0; i < sgc_root_modules.modules; i++)
        put_module(&sgc_root_modules.module[i]);
    counts->of[SGC_TRAILER_MODULES] = (uint64_t)sgc_root_modules.modules;
}

static bool has_segment_at(const struct sgc_module *module, uintptr_t address)
{
    struct sgc_segment segment;

    for (int header = 0; sgc_module_segment(module, &header, &segment);)
        if (segment.range.lo <= address && address < segment.range.hi)
            return true;
    return false;
}

int sgc_snapshot_module_at(uintptr_t address)
{
    const struct sgc_module *module = sgc_root_modules.module;
    size_t low = sgc_sorted_up_to(&module->range.lo, (size_t)sgc_root_modules.modules, sizeof *module, address);

    sgc_assert(low <= (size_t)sgc_root_modules.modules);
    return low != 0 && address < module[low - 1].range.hi && has_segment_at(&module[low - 1], address) ? (int)low - 1 : -1;
}

/* ---- threads ---- */

/* A name that the system does not tell is empty. */
static void put_thread(const struct sgc_mutator *m)
{
    char name[SGC_SNAPSHOT_NAME] = "";

    if (!sgc_read_line_at(name, sizeof name, "/proc/self/task/%d/comm", (int)m->tid))
        name[0] = '\0';
    sgc_blocks_put((uint64_t)m->tid);
    put_text(name, strlen(name));
}

static void put_threads(struct sgc_snapshot_counts *counts)
{
    sgc_blocks_section(SGC_SECTION_THREADS);
    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (!m->service && !m->gone) {
            put_thread(m);
            counts->of[SGC_TRAILER_THREADS]++;
        }
    sgc_blocks_put(0);
}

void sgc_snapshot_put_names(struct sgc_snapshot_counts *counts)
{
    sgc_assert(sgc_blocks_ok());
    put_kinds();
    put_modules(counts);
    put_threads(counts);
}
