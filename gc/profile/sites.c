/* SPDX-License-Identifier: MIT */
/* See gc/profile/sites.h. */
#include "gc/profile/sites.h"

#include <string.h>

#include "alloc/object.h"
#include "alloc/large/span.h"
#include "platform/platform.h"

/* A program counter: frames name it by its number. */
struct place {
    struct sgc_table_link link;
    uintptr_t at;
};

/* An object that is a sample. */
struct live {
    struct sgc_table_link link;
    uintptr_t object;
    size_t bytes;
    double weight;
    uint32_t site;
    uint32_t unused;
};

struct sites {
    struct sgc_table sites, places, live;
    struct sgc_stretch frames;
    uint32_t frame_count;
    uint64_t lost;
};

static const size_t FRAMES_BYTES = (size_t)1 << 34;
enum { FRAMES_STEP = 16384 };

SGC_STATE static struct sites all;
SGC_STATE struct sgc_lock sgc_sites_lock = SGC_LOCK_INIT(SGC_RANK_SITES);

static bool is_open(void)
{
    return all.live.bytes != 0;
}

bool sgc_sites_open(void)
{
    if (is_open())
        return true;
    return sgc_table_open(&all.sites, sizeof(struct sgc_site)) && sgc_table_open(&all.places, sizeof(struct place)) &&
           sgc_stretch_open(&all.frames, FRAMES_BYTES, sizeof(uint32_t)) &&
           sgc_table_open(&all.live, sizeof(struct live));
}

static struct sgc_site *site_at(uint32_t number)
{
    return sgc_table_at(&all.sites, number);
}

static struct live *live_at(uint32_t number)
{
    return sgc_table_at(&all.live, number);
}

static uint32_t *frames_of(const struct sgc_site *site)
{
    return (uint32_t *)(void *)all.frames.start + site->frame;
}

static uint32_t hash_of(uint64_t x)
{
    return (uint32_t)(sgc_table_mix(x) >> 16);
}

/* ---- program counters ---- */

static uint32_t place_of(uintptr_t at)
{
    uint32_t hash = hash_of(at), number = sgc_table_first(&all.places, hash);

    while (number != SGC_TABLE_NONE && ((struct place *)sgc_table_at(&all.places, number))->at != at)
        number = sgc_table_next(&all.places, number);
    if (number != SGC_TABLE_NONE)
        return number;
    number = sgc_table_add(&all.places, hash);
    if (number != SGC_TABLE_NONE)
        ((struct place *)sgc_table_at(&all.places, number))->at = at;
    return number;
}

static bool find_places(const struct sgc_sample *sample, uint32_t *frame)
{
    for (int i = 0; i < sample->places; i++) {
        frame[i] = place_of(sample->place[i]);
        if (frame[i] == SGC_TABLE_NONE)
            return false;
    }
    return true;
}

/* ---- sites ---- */

/* Small objects are of one site if they have one size; large ones are four sorts in each doubling,
 * since of these a program may have as many sizes as objects. */
static uint32_t sort_of(size_t bytes)
{
    uint32_t log = 63 - (uint32_t)__builtin_clzll(bytes);

    return bytes <= SGC_SMALL_MAX ? (uint32_t)bytes : UINT32_C(1) << 31 | log * 4 | ((bytes >> (log - 2)) & 3);
}

static bool is_of(const struct sgc_site *site, const struct sgc_sample *sample, const uint32_t *frame)
{
    return site->kind == sample->kind && site->frames == sample->places && sort_of(site->bytes) == sort_of(sample->bytes) &&
           memcmp(frames_of(site), frame, (size_t)sample->places * sizeof *frame) == 0;
}

static uint32_t make_site(const struct sgc_sample *sample, const uint32_t *frame, uint32_t hash)
{
    size_t end = ((size_t)all.frame_count + (uint32_t)sample->places) * sizeof *frame;
    uint32_t number;
    struct sgc_site *site;

    if (end > all.frames.have && !sgc_stretch_grow(&all.frames, end + all.frames.have + FRAMES_STEP))
        return SGC_TABLE_NONE;
    number = sgc_table_add(&all.sites, hash);
    if (number == SGC_TABLE_NONE)
        return SGC_TABLE_NONE;
    site = site_at(number);
    site->frame = all.frame_count;
    site->frames = (uint16_t)sample->places;
    site->kind = (uint8_t)sample->kind;
    site->bytes = sample->bytes;
    memcpy(frames_of(site), frame, (size_t)sample->places * sizeof *frame);
    all.frame_count += (uint32_t)sample->places;
    return number;
}

static uint32_t site_of(const struct sgc_sample *sample, const uint32_t *frame)
{
    uint64_t mixed = (uint64_t)sort_of(sample->bytes) << 8 | sample->kind;
    uint32_t hash, number;

    for (int i = 0; i < sample->places; i++)
        mixed = sgc_table_mix(mixed * 31 + frame[i]);
    hash = hash_of(mixed);
    number = sgc_table_first(&all.sites, hash);
    while (number != SGC_TABLE_NONE && !is_of(site_at(number), sample, frame))
        number = sgc_table_next(&all.sites, number);
    return number != SGC_TABLE_NONE ? number : make_site(sample, frame, hash);
}

/* ---- objects that live ---- */

static uint32_t find_live(uintptr_t object)
{
    uint32_t number = sgc_table_first(&all.live, hash_of(object));

    while (number != SGC_TABLE_NONE && live_at(number)->object != object)
        number = sgc_table_next(&all.live, number);
    return number;
}

/* Of a site without samples nothing remains, whatever was lost in rounding. */
static void forget(uint32_t number)
{
    const struct live *l = live_at(number);
    struct sgc_site *site = site_at(l->site);

    sgc_assert(site->samples != 0);
    site->samples--;
    site->live.objects -= l->weight;
    site->live.bytes -= l->weight * (double)l->bytes;
    if (site->samples == 0)
        site->live = (struct sgc_site_amount){ 0, 0 };
    sgc_table_remove(&all.live, number);
}

static bool remember(const struct sgc_sample *sample, uint32_t site)
{
    uint32_t number = sgc_table_add(&all.live, hash_of(sample->object));
    struct live *l;

    if (number == SGC_TABLE_NONE)
        return false;
    l = live_at(number);
    l->object = sample->object;
    l->bytes = sample->bytes;
    l->weight = sample->weight;
    l->site = site;
    return true;
}

static void count(struct sgc_site_amount *amount, const struct sgc_sample *sample)
{
    amount->objects += sample->weight;
    amount->bytes += sample->weight * (double)sample->bytes;
}

/* An object that lay there may have gone in a way of which nobody was informed. */
static bool add(const struct sgc_sample *sample)
{
    uint32_t frame[SGC_SITE_FRAMES], site, old = find_live(sample->object);

    if (old != SGC_TABLE_NONE)
        forget(old);
    if (!find_places(sample, frame))
        return false;
    site = site_of(sample, frame);
    if (site == SGC_TABLE_NONE || !remember(sample, site))
        return false;
    count(&site_at(site)->allocated, sample);
    count(&site_at(site)->live, sample);
    site_at(site)->samples++;
    return true;
}

void sgc_sites_add(struct sgc_section *self, const struct sgc_sample *sample)
{
    sgc_assert(is_open() && sample->bytes != 0 && sample->places >= 0 && sample->places <= SGC_SITE_FRAMES);
    sgc_lock(&sgc_sites_lock, self);
    all.lost += !add(sample);
    sgc_unlock(&sgc_sites_lock, self);
}

void sgc_sites_freed(struct sgc_section *self, uintptr_t object)
{
    uint32_t number;

    sgc_lock(&sgc_sites_lock, self);
    number = find_live(object);
    if (number != SGC_TABLE_NONE)
        forget(number);
    sgc_unlock(&sgc_sites_lock, self);
}

/* An object that was resized in place counts with the bytes that it has now; what it has grown by
 * was allocated, too. */
static void correct(struct live *l, size_t bytes)
{
    double more = l->weight * ((double)bytes - (double)l->bytes);

    site_at(l->site)->live.bytes += more;
    if (more > 0)
        site_at(l->site)->allocated.bytes += more;
    l->bytes = bytes;
}

void sgc_sites_flip(void)
{
    struct sgc_object o;

    for (uint32_t i = all.live.count; i-- > 0;) {
        struct live *l = live_at(i);

        if (!sgc_object_find(l->object, &o) || o.start != l->object)
            forget(i);
        else if (o.bytes != l->bytes)
            correct(l, o.bytes);
    }
}

/* ---- questions ---- */

static uintptr_t place_at(uint32_t number)
{
    return ((struct place *)sgc_table_at(&all.places, number))->at;
}

uint32_t sgc_sites_of(uintptr_t object)
{
    uint32_t number = is_open() ? find_live(object) : SGC_TABLE_NONE;

    return number != SGC_TABLE_NONE ? live_at(number)->site : SGC_TABLE_NONE;
}

const struct sgc_site *sgc_sites_at(uint32_t number)
{
    return number < all.sites.count ? site_at(number) : NULL;
}

void sgc_sites_each(void (*visit)(void *arg, uintptr_t object, uint32_t site), void *arg)
{
    for (uint32_t i = 0; i < all.live.count; i++) {
        sgc_assert(live_at(i)->site < all.sites.count);
        visit(arg, live_at(i)->object, live_at(i)->site);
    }
}

/* Unless the world is stopped. */
static void lock(struct sgc_section *self)
{
    if (self != NULL)
        sgc_lock(&sgc_sites_lock, self);
}

static void unlock(struct sgc_section *self)
{
    if (self != NULL)
        sgc_unlock(&sgc_sites_lock, self);
}

int sgc_sites_stack(struct sgc_section *self, uint32_t site, uintptr_t *place, int max)
{
    int i = 0;

    lock(self);
    for (const struct sgc_site *s = site_at(site); i < s->frames && i < max; i++)
        place[i] = place_at(frames_of(s)[i]);
    unlock(self);
    return i;
}

struct sizes {
    size_t sites, frames, places;       /* bytes */
};

static struct sizes sizes(void)
{
    return (struct sizes){ (size_t)all.sites.count * sizeof(struct sgc_site), (size_t)all.frame_count * sizeof(uint32_t),
                           (size_t)all.places.count * sizeof(uintptr_t) };
}

static size_t sum_of(struct sizes s)
{
    return s.sites + s.places + s.frames;
}

static void fill(struct sgc_sites_copy *copy)
{
    struct sizes s = sizes();

    copy->site = copy->memory;
    copy->place = (uintptr_t *)(void *)((char *)copy->memory + s.sites);
    copy->frame = (uint32_t *)(void *)((char *)copy->memory + s.sites + s.places);
    copy->sites = all.sites.count;
    copy->places = all.places.count;
    copy->lost = all.lost;
    if (s.sites != 0)
        memcpy(copy->site, all.sites.records.start, s.sites);
    if (s.frames != 0)
        memcpy(copy->frame, all.frames.start, s.frames);
    for (uint32_t i = 0; i < copy->places; i++)
        copy->place[i] = place_at(i);
}

/* False: there is not enough memory yet. */
static bool try_to_fill(struct sgc_section *self, struct sgc_sites_copy *copy, size_t *needed)
{
    bool fits;

    lock(self);
    *needed = sum_of(sizes());
    fits = *needed <= copy->memory_bytes;
    if (fits)
        fill(copy);
    unlock(self);
    return fits;
}

bool sgc_sites_copy(struct sgc_section *self, struct sgc_sites_copy *copy)
{
    size_t needed;

    *copy = (struct sgc_sites_copy){ .memory = NULL };
    while (!try_to_fill(self, copy, &needed)) {
        sgc_sites_drop_copy(copy);
        needed += needed / 8 + SGC_PAGE;
        copy->memory = sgc_mem_obtain(needed);
        if (copy->memory == NULL)
            return false;
        copy->memory_bytes = needed;
    }
    return true;
}

void sgc_sites_drop_copy(struct sgc_sites_copy *copy)
{
    if (copy->memory != NULL)
        sgc_mem_release(copy->memory, copy->memory_bytes);
    *copy = (struct sgc_sites_copy){ .memory = NULL };
}
