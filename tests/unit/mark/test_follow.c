/* SPDX-License-Identifier: MIT */
/*
 * mark/edge.c: what an only marker follows one object at a time.  The cells of a list lead to what counts and to what does
 * not; there are never enough in hand for a batch.
 */
#include "mark/edge.h"
#include "tests/lib/heap.h"

enum { CELLS = 300, WORDS = 4 };

static char *cell[CELLS], *side[CELLS];
static struct sgc_mark_config config;

/* Each cell leads to `side` and, by its last word, to the next one. */
static void make_list(size_t side_bytes, uint32_t kind)
{
    for (int i = 0; i < CELLS; i++) {
        cell[i] = heap_alloc(sgc_self, WORDS * sizeof(char *), SGC_KIND_CONSERVATIVE);
        side[i] = heap_alloc(sgc_self, side_bytes, kind);
        memcpy(cell[i], &side[i], sizeof side[i]);
        if (i != 0)
            memcpy(cell[i - 1] + (WORDS - 1) * sizeof(char *), &cell[i], sizeof cell[i]);
    }
}

static void lead(int from, char *to)
{
    memcpy(cell[from], &to, sizeof to);
}

struct seen {
    int sides;              /* that are marked; */
    size_t objects;         /* of all, cells and sides */
};

/* Marks from the first cell. */
static struct seen mark_list(void)
{
    struct seen seen = { 0, 0 };

    heap_retire();
    heap_mark(&config, cell, 1);
    for (int i = 0; i < CELLS; i++)
        seen.sides += heap_allocated(side[i]) && heap_marked(side[i]);
    seen.objects = heap_marker()->objects;
    heap_unmark();
    return seen;
}

static void test_sides(void)
{
    struct seen leaves, scanned;

    make_list(48, SGC_KIND_POINTER_FREE);
    leaves = mark_list();
    tap_ok(leaves.sides == CELLS && leaves.objects == 2 * CELLS && heap_marker()->pointer_free >= CELLS * 48,
           "what has no pointers beside a list is marked and counted (%zu)", leaves.objects);
    make_list(48, SGC_KIND_CONSERVATIVE);
    scanned = mark_list();
    tap_ok(scanned.sides == CELLS && scanned.objects == 2 * CELLS, "so is what has (%zu)", scanned.objects);
}

static void test_twice(void)
{
    struct seen seen;

    make_list(48, SGC_KIND_CONSERVATIVE);
    for (int i = 2; i < CELLS; i += 3) {
        lead(i - 1, side[i - 2]);
        lead(i, side[i - 2] + 20);
    }
    seen = mark_list();
    tap_ok(seen.sides == CELLS / 3 && seen.objects == CELLS + CELLS / 3,
           "an object counts once, however often and where it is pointed at (%zu)", seen.objects);
}

static void test_freed(void)
{
    struct seen seen;
    struct sgc_cache *other = heap_cache();

    make_list(64, SGC_KIND_CONSERVATIVE);
    for (int i = 0; i < CELLS; i += 2)
        sgc_object_free(i % 4 == 0 ? other : sgc_self, side[i]);
    seen = mark_list();
    tap_ok(seen.sides == CELLS / 2 && seen.objects == CELLS + CELLS / 2,
           "what is freed does not count, whoever has freed it (%zu)", seen.objects);
    heap_cache_end(other);
    make_list(64, SGC_KIND_CONSERVATIVE);
    for (int i = 0; i < CELLS; i += 2) {
        lead(i, side[i] + 17);
        sgc_object_free(sgc_self, side[i]);
    }
    seen = mark_list();
    tap_ok(seen.sides == CELLS / 2 && seen.objects == CELLS + CELLS / 2, "nor its inside (%zu)", seen.objects);
}

static void test_starts(void)
{
    struct seen seen;

    make_list(48, SGC_KIND_CONSERVATIVE);
    for (int i = 0; i < CELLS; i += 2)
        lead(i, side[i] + (i % 4 == 0 ? 3 : 19));
    heap_marker_end();
    config.interior_pointers = false;
    seen = mark_list();
    tap_ok(seen.sides == CELLS / 2 && seen.objects == CELLS + CELLS / 2,
           "interior pointers off: neither near the first byte nor behind it (%zu)", seen.objects);
    heap_marker_end();
    config.interior_pointers = true;
}

/* A side each that is too large to be followed, or a span. */
static void test_large_sides(void)
{
    static const size_t sizes[] = { 64, 80, 256, 272, 4096, 40000 };
    size_t wrong = 0;

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct seen seen;

        make_list(sizes[s], SGC_KIND_CONSERVATIVE);
        seen = mark_list();
        wrong += seen.sides != CELLS || seen.objects != 2 * CELLS;
    }
    tap_ok(wrong == 0, "of any size (%zu sizes wrong)", wrong);
}

static void test_left_behind(void)
{
    struct seen seen;

    make_list(48, SGC_KIND_CONSERVATIVE);
    for (int i = 0; i + 1 < CELLS; i++) {
        char *leaf = heap_alloc(sgc_self, 32, SGC_KIND_CONSERVATIVE);

        memcpy(side[i], &cell[i + 1], sizeof *cell);
        memcpy(cell[i] + (WORDS - 1) * sizeof leaf, &leaf, sizeof leaf);
    }
    seen = mark_list();
    tap_ok(seen.sides == CELLS && seen.objects == 3 * CELLS - 1, "what is not followed is scanned later (%zu)", seen.objects);
}

/* Of the sides' words only the second may be a pointer, by the descriptor of their kind. */
static void test_described(void)
{
    uint32_t kind = heap_kind((uintptr_t)1 << 62 | SGC_DS_BITMAP, false);
    char *hidden[CELLS], *shown[CELLS];
    int wrong = 0;

    make_list(48, kind);
    for (int i = 0; i < CELLS; i++) {
        hidden[i] = heap_alloc(sgc_self, 32, SGC_KIND_CONSERVATIVE);
        shown[i] = heap_alloc(sgc_self, 32, SGC_KIND_CONSERVATIVE);
        memcpy(side[i], &hidden[i], sizeof hidden[i]);
        memcpy(side[i] + sizeof hidden[i], &shown[i], sizeof shown[i]);
    }
    heap_retire();
    heap_mark(&config, cell, 1);
    for (int i = 0; i < CELLS; i++)
        wrong += heap_marked(hidden[i]) || !heap_marked(shown[i]) || !heap_marked(side[i]);
    tap_ok(wrong == 0, "beside a list descriptors say what is scanned (%d wrong)", wrong);
    heap_unmark();
}

int main(void)
{
    heap_start((size_t)1 << 30, 0, false);
    config = HEAP_MARK;
    tap_each(test_sides, test_twice, test_freed, test_starts, test_large_sides, test_left_behind,
             test_described);
    sgc_heap_check();
    return tap_done();
}
