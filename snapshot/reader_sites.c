/* SPDX-License-Identifier: MIT */
/* Allocation sites: the section is there if the program took samples. */
#include "snapshot/reader.h"

static void read_site(struct sgc_reader *r, uint64_t frames, uint64_t *last)
{
    struct sgc_graph_site *site = r->sites.count < UINT32_MAX - 1 ? sgc_reader_add(r, &r->sites) : NULL;

    sgc_assert(frames <= SGC_SNAPSHOT_FRAMES);
    if (site == NULL) {
        sgc_input_fail(&r->in, "it has too many allocation sites; nobody can read so many");
        return;
    }
    *site = (struct sgc_graph_site){ r->frames.count, (uint32_t)frames };
    for (uint64_t i = 0; i < frames; i++) {
        uint64_t *frame = sgc_reader_add(r, &r->frames);

        *last += sgc_snapshot_unzigzag(sgc_input_number(&r->in));
        if (frame != NULL)
            *frame = *last;
    }
}

/* An object that has died before the mark is none of the graph's. */
static void note_site(struct sgc_reader *r, uint64_t offset, uint32_t site)
{
    uint32_t object = sgc_reader_find(r, offset, true);
    const struct sgc_graph_object *objects = r->objects.of;

    sgc_assert(site < r->sites.count && (object < r->g->objects || object == SGC_GRAPH_NONE));
    if (object != SGC_GRAPH_NONE && objects[object].offset == offset && r->g->site_of != NULL)
        r->g->site_of[object] = site;
}

static void read_objects(struct sgc_reader *r)
{
    uint64_t site, place = 0;

    while ((site = sgc_input_within(&r->in, "the site of an object", 0, r->sites.count)) != 0) {
        place += sgc_snapshot_unzigzag(sgc_input_number(&r->in));
        note_site(r, place << r->g->geometry.granule_log, (uint32_t)site - 1);
    }
}

bool sgc_reader_sites(struct sgc_reader *r)
{
    uint64_t frames, last = 0;

    if (r->in.version < 3 || !sgc_input_has(&r->in, SGC_SECTION_SITES))
        return !r->in.failed;
    if (!sgc_reader_begin_numbers(r, &r->g->site_of, "sites") || !sgc_input_section(&r->in, SGC_SECTION_SITES))
        return false;
    while ((frames = sgc_input_within(&r->in, "the number of frames of a site", 0, SGC_SNAPSHOT_FRAMES + 1)) != 0)
        read_site(r, frames - 1, &last);
    read_objects(r);
    return !r->in.failed;
}
