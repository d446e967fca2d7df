/* SPDX-License-Identifier: MIT */
/* The file of sgc-pauses' observer: what an area keeps, also when it is full, against a list of all that was added. */
#include <string.h>

#include "tests/lib/tap.h"
#include "tools/pauses/file.h"

enum { LEAST = 20000, MANY = 500000 };

static struct sgc_pauses_file *file;
static uint64_t lengths[MANY];

static struct sgc_pauses_file *fresh(void)
{
    free(file);
    file = calloc(1, sgc_pauses_bytes());
    if (file == NULL)
        tap_bail("no memory for a file");
    sgc_pauses_prepare(file, LEAST);
    return file;
}

static const struct sgc_pauses_interval *kept(enum sgc_pauses_kind kind)
{
    return (const struct sgc_pauses_interval *)((const char *)file + file->area[kind].offset);
}

static void test_short_ones(void)
{
    const struct sgc_pauses_area *gaps = &fresh()->area[SGC_PAUSES_GAPS], *stops = &file->area[SGC_PAUSES_STOPS];

    sgc_pauses_add(file, SGC_PAUSES_GAPS, 1000, 1000 + LEAST - 1);
    tap_ok(sgc_aw_load(&gaps->count) == 0 && gaps->dropped == 0, "a gap that is too short does not count");
    sgc_pauses_add(file, SGC_PAUSES_GAPS, 1000, 1000 + LEAST);
    tap_ok(sgc_aw_load(&gaps->count) == 1 && kept(SGC_PAUSES_GAPS)->end_ns == 1000 + LEAST, "the shortest that counts is kept");
    sgc_pauses_add(file, SGC_PAUSES_STOPS, 7, 7);
    tap_ok(sgc_aw_load(&stops->count) == 1, "a stop counts however short it is");
    tap_ok(sgc_pauses_ok(file), "and the head is right");
}

/* Of n intervals that count, one behind the other; lengths[] has theirs. */
static void add_all(size_t n)
{
    uint64_t at = 0;

    fresh();
    for (size_t i = 0; i < n; i++, at += 10) {
        sgc_pauses_add(file, SGC_PAUSES_GAPS, at, at + lengths[i]);
        at += lengths[i];
    }
}

/* Whether what is kept is all that is as long as the threshold, in order, and the rest is counted. */
static bool is_right(size_t n)
{
    const struct sgc_pauses_area *gaps = &file->area[SGC_PAUSES_GAPS];
    uint64_t at = 0, dropped = 0, dropped_ns = 0, longest = 0;
    size_t found = 0;

    for (size_t i = 0; i < n; at += lengths[i++] + 10) {
        longest = lengths[i] > longest ? lengths[i] : longest;
        if (lengths[i] < gaps->threshold_ns) {
            dropped++;
            dropped_ns += lengths[i];
        } else if (found == sgc_aw_load(&gaps->count) || kept(SGC_PAUSES_GAPS)[found].begin_ns != at ||
                   kept(SGC_PAUSES_GAPS)[found++].end_ns != at + lengths[i]) {
            return false;
        }
    }
    return found == sgc_aw_load(&gaps->count) && dropped == gaps->dropped && dropped_ns == gaps->dropped_ns &&
           longest == gaps->longest.end_ns - gaps->longest.begin_ns && sgc_pauses_ok(file);
}

static void test_full(void)
{
    size_t capacity = fresh()->area[SGC_PAUSES_GAPS].capacity;

    for (size_t i = 0; i < MANY; i++)
        lengths[i] = LEAST + (uint64_t)rand() % (1 << rand() % 25);
    add_all(capacity);
    tap_ok(is_right(capacity) && file->area[SGC_PAUSES_GAPS].dropped == 0, "an area keeps as many as there is room for");
    add_all(capacity + 1);
    tap_ok(is_right(capacity + 1) && file->area[SGC_PAUSES_GAPS].dropped > 0, "one more, and the short ones go");
    add_all(MANY);
    tap_ok(is_right(MANY), "with very many all are kept that are as long as the threshold");
    tap_ok(sgc_aw_load(&file->area[SGC_PAUSES_CONTROL].count) == 0 && kept(SGC_PAUSES_CONTROL)->end_ns == 0,
           "and the next area is untouched");
}

static void test_equal_ones(void)
{
    for (size_t i = 0; i < MANY; i++)
        lengths[i] = LEAST;
    add_all(MANY);
    tap_ok(is_right(MANY), "equal ones are counted when they are not kept, and the longest is known");
}

static void test_nonsense(void)
{
    fresh()->version++;
    tap_ok(!sgc_pauses_ok(file), "another version is seen");
    sgc_aw_store(&fresh()->area[SGC_PAUSES_STORES].count, UINTPTR_MAX);
    tap_ok(!sgc_pauses_ok(file), "a count beyond the room is seen");
    fresh()->area[SGC_PAUSES_STOPS].offset = sgc_pauses_bytes();
    tap_ok(!sgc_pauses_ok(file), "an area outside the file is seen");
}

int main(void)
{
    tap_plan(12);
    tap_each(test_short_ones, test_full, test_equal_ones, test_nonsense);
    free(file);
    return tap_done();
}
