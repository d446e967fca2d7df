/* SPDX-License-Identifier: MIT */
/*
 * gc/profile/encode.c: a profile of made-up sites, decoded again: the deepest stack with the largest numbers, a site without a
 * stack, addresses within modules and outside; and that a buffer that is too small gets a beginning, and how much is needed.
 */
#include "gc/profile/encode.h"

#include <string.h>

#include "tests/lib/tap.h"

enum { PLACES = 1000, BYTES = 1 << 20 };

static uintptr_t place[PLACES];
static uint32_t frame[SGC_SITE_FRAMES];
static uint8_t bytes[BYTES];

static struct sgc_site site[] = {
    { .frames = SGC_SITE_FRAMES, .kind = 15, .bytes = UINT64_MAX, .allocated = { 1e18, 9e18 }, .live = { 1e17, 8e18 } },
    { .frames = 0, .bytes = 16, .allocated = { 2.4, 38.4 }, .live = { 0.4, -1e-9 } },
};
static const struct sgc_sites_copy copy = { .site = site, .frame = frame, .place = place, .sites = 2, .places = PLACES };
static const struct sgc_profile_facts facts = { 1, 2, 3, "a \"comment\"\n\xff" };

/* ---- decoding ---- */

struct field {
    uint64_t number, value;             /* value: of bytes their count, */
    const uint8_t *data;                /* and where they are; NULL: it is a number */
};

static uint64_t take_number(const uint8_t **at)
{
    uint64_t value = 0;

    for (int shift = 0;; shift += 7) {
        value |= (uint64_t)(**at & 127) << shift;
        if (*(*at)++ < 128)
            return value;
    }
}

static bool next_field(const uint8_t **at, const uint8_t *end, struct field *f)
{
    uint64_t key;

    if (*at >= end)
        return false;
    key = take_number(at);
    f->number = key >> 3;
    f->value = take_number(at);
    f->data = (key & 7) == 2 ? *at : NULL;
    *at += f->data != NULL ? f->value : 0;
    return *at <= end;
}

/* The numbers of that field in a message. */
static int numbers_of(const struct field *message, uint64_t number, uint64_t *value, int max)
{
    const uint8_t *at = message->data;
    struct field f;
    int count = 0;

    while (next_field(&at, message->data + message->value, &f))
        if (f.number == number && count < max)
            value[count++] = f.value;
    return count;
}

/* How many fields of that number there are; the last one. */
static int count_of(size_t used, uint64_t number, struct field *last)
{
    const uint8_t *at = bytes;
    struct field f;
    int count = 0;

    while (next_field(&at, bytes + used, &f))
        if (f.number == number) {
            *last = f;
            count++;
        }
    return at == bytes + used ? count : -1;
}

static size_t encode(const struct sgc_modules *modules, size_t size)
{
    struct sgc_pprof_buffer out = { bytes, size, 0 };

    memset(bytes, 0, sizeof bytes);
    sgc_profile_encode(&out, &copy, modules, &facts);
    return out.used;
}

static struct sgc_modules none;

static void check_samples(void)
{
    size_t used = encode(&none, BYTES);
    struct field f;
    uint64_t value[SGC_SITE_FRAMES + 1];
    bool right = used < BYTES && count_of(used, SGC_PPROF_SAMPLE, &f) == 2;

    right = right && numbers_of(&f, SGC_PPROF_SAMPLE_LOCATIONS, value, 1) == 0 &&
            numbers_of(&f, SGC_PPROF_SAMPLE_VALUES, value, 5) == 4 && value[0] == 2 && value[1] == 38 && value[2] == 0 &&
            value[3] == 0;
    tap_ok(right, "values are rounded, and none is below zero");
    tap_ok(count_of(used, SGC_PPROF_LOCATION, &f) == PLACES && numbers_of(&f, SGC_PPROF_LOCATION_ADDRESS, value, 1) == 1 &&
           value[0] == place[PLACES - 1] && numbers_of(&f, SGC_PPROF_LOCATION_MAPPING, value, 1) == 0 &&
           count_of(used, SGC_PPROF_MAPPING, &f) == 0, "addresses in no module have no mapping");
    tap_ok(count_of(used, SGC_PPROF_COMMENT, &f) == 1 && count_of(used, SGC_PPROF_STRING, &f) == (int)f.number + 4 &&
           f.value == strlen(facts.comment) && memcmp(f.data, facts.comment, f.value) == 0, "a comment is as it was");
}

static void check_deep(void)
{
    size_t used = encode(&none, BYTES);
    const uint8_t *at = bytes;
    struct field f;
    uint64_t value[SGC_SITE_FRAMES + 1];
    bool right = false;

    while (next_field(&at, bytes + used, &f) && f.number != SGC_PPROF_SAMPLE)
        continue;
    right = numbers_of(&f, SGC_PPROF_SAMPLE_LOCATIONS, value, SGC_SITE_FRAMES + 1) == SGC_SITE_FRAMES && value[0] == PLACES &&
            numbers_of(&f, SGC_PPROF_SAMPLE_VALUES, value, 5) == 4 && value[1] == UINT64_C(9000000000000000000);
    tap_ok(right, "the deepest stack and the largest values fit");
}

static void check_small(void)
{
    size_t used = encode(&none, BYTES), of_small = encode(&none, 100);

    tap_ok(of_small == used && bytes[100] == 0 && bytes[99] != 0,
           "a small buffer gets as much as fits, and %zu bytes are needed", used);
}

static void within(void *raw)
{
    size_t used;
    struct field f;
    uint64_t value[2];

    place[PLACES - 1] = (uintptr_t)within;
    used = encode(raw, BYTES);
    tap_ok(count_of(used, SGC_PPROF_MAPPING, &f) > 0 && count_of(used, SGC_PPROF_LOCATION, &f) == PLACES &&
           numbers_of(&f, SGC_PPROF_LOCATION_MAPPING, value, 1) == 1 && value[0] != 0,
           "code of the program lies in one of its mappings");
}

int main(void)
{
    static struct sgc_range range[500];
    static struct sgc_module_tls tls[500];
    static struct sgc_module module[500];
    static struct sgc_modules modules = {
        .range = range, .range_capacity = 500, .tls = tls, .tls_capacity = 500, .module = module, .module_capacity = 500,
    };

    sgc_platform_init();
    for (int i = 0; i < PLACES; i++)
        place[i] = UINTPTR_MAX - (uintptr_t)i;
    for (int i = 0; i < SGC_SITE_FRAMES; i++)
        frame[i] = PLACES - 1 - (uint32_t)i;
    tap_each(check_samples, check_deep, check_small);
    if (!sgc_modules_snapshot(&modules, NULL, within, &modules))
        tap_bail("too many modules");
    return tap_done();
}
