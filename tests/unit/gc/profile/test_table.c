/* SPDX-License-Identifier: MIT */
/*
 * gc/profile/table.c against an array: records that are added, found and taken out in random order, with hashes that collide
 * often, and with all the same one.
 */
#include "gc/profile/table.h"

#include <string.h>

#include "platform/platform.h"
#include "tests/lib/random.h"
#include "tests/lib/tap.h"

enum { KEYS = 5000, STEPS = 200000 };

struct record {
    struct sgc_table_link link;
    uint64_t key, value;
};

static struct sgc_table table;
static uint64_t value_of[KEYS];         /* 0: it is not in the table */

static uint32_t find(uint64_t key, uint32_t hash)
{
    uint32_t at = sgc_table_first(&table, hash);

    while (at != SGC_TABLE_NONE && ((struct record *)sgc_table_at(&table, at))->key != key)
        at = sgc_table_next(&table, at);
    return at;
}

static bool step(uint64_t *seed, uint32_t hashes)
{
    uint64_t key = random_below(seed, KEYS);
    uint32_t hash = (uint32_t)key % hashes * 77, at = find(key, hash);
    struct record *r = at != SGC_TABLE_NONE ? sgc_table_at(&table, at) : NULL;

    if ((r == NULL) != (value_of[key] == 0) || (r != NULL && r->value != value_of[key]))
        return false;
    if (r != NULL) {
        sgc_table_remove(&table, at);
        value_of[key] = 0;
        return true;
    }
    at = sgc_table_add(&table, hash);
    if (at == SGC_TABLE_NONE)
        return false;
    r = sgc_table_at(&table, at);
    if (r->key != 0 || r->value != 0)
        return false;
    r->key = key;
    r->value = value_of[key] = random_below(seed, 1 << 30) + 1;
    return true;
}

static void check_hashes(uint32_t hashes, int steps)
{
    uint64_t seed = hashes;
    int done = 0;
    uint32_t held = 0;

    memset(value_of, 0, sizeof value_of);
    if (!sgc_table_open(&table, sizeof(struct record)))
        tap_bail("no addresses");
    while (done < steps && step(&seed, hashes))
        done++;
    for (int i = 0; i < KEYS; i++)
        held += value_of[i] != 0;
    tap_ok(done == steps && held == table.count && sgc_table_ok(&table),
           "%u hashes: %d steps agree, %u records are left", hashes, done, table.count);
    sgc_stretch_close(&table.chains);
    sgc_stretch_close(&table.records);
}

int main(void)
{
    sgc_platform_init();
    check_hashes(1, STEPS / 100);
    check_hashes(300, STEPS);
    check_hashes(KEYS, STEPS);
    return tap_done();
}
