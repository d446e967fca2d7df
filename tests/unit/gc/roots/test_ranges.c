/* SPDX-License-Identifier: MIT */
/*
 * gc/roots/ranges.c: the set and the list of address ranges, against tables of all addresses.
 */
#include <sys/mman.h>
#include <time.h>

#include "gc/roots/ranges.h"
#include "tests/lib/child.h"
#include "tests/lib/random.h"

enum { SPACE = 400 };

static struct sgc_range range(uintptr_t lo, uintptr_t hi)
{
    return (struct sgc_range){ lo, hi };
}

static bool is(const struct sgc_ranges *r, size_t i, uintptr_t lo, uintptr_t hi)
{
    return i < r->count && r->of[i].lo == lo && r->of[i].hi == hi;
}

/* ---- the set ---------------------------------------------------------------------------------------- */

static void test_set(void)
{
    struct sgc_ranges set = { .count = 0 };

    tap_ok(!sgc_ranges_contain(&set, 0) && sgc_ranges_first_after(&set, 0) == 0, "an empty set contains nothing");
    sgc_ranges_add(&set, range(100, 200));
    sgc_ranges_add(&set, range(300, 400));
    sgc_ranges_add(&set, range(10, 20));
    sgc_ranges_check(&set);
    tap_ok(sgc_ranges_first_after(&set, 19) == 0 && sgc_ranges_first_after(&set, 20) == 1
           && sgc_ranges_first_after(&set, 400) == 3, "the first range that ends after an address");
    sgc_ranges_clear(&set);
    tap_ok(set.count == 0 && !sgc_ranges_contain(&set, 150), "cleared");
}

static uint64_t seed = 12345;

static bool same_as_table(const struct sgc_ranges *set, const char table[SPACE])
{
    for (uintptr_t a = 0; a < SPACE; a++)
        if (sgc_ranges_contain(set, a) != (table[a] != 0))
            return false;
    for (size_t i = 0; i < set->count; i++)
        if (set->of[i].lo >= set->of[i].hi || (i > 0 && set->of[i - 1].hi >= set->of[i].lo))
            return false;
    return true;
}

static void test_random_sets(void)
{
    int wrong = 0;

    for (int round = 0; round < 200; round++) {
        struct sgc_ranges set = { .count = 0 };
        char table[SPACE] = { 0 };

        for (int i = 0; i < 40; i++) {
            uintptr_t lo = random_word(&seed) % (SPACE - 1);
            uintptr_t hi = lo + 1 + random_word(&seed) % (round % 2 ? 8 : SPACE - 1 - lo);

            hi = hi > SPACE ? SPACE : hi;
            sgc_ranges_add(&set, range(lo, hi));
            memset(table + lo, 1, hi - lo);
            wrong += !same_as_table(&set, table);
        }
        sgc_stretch_close(&set.memory);
    }
    tap_ok(wrong == 0, "8000 additions agree with a table (%d wrong)", wrong);
}

/* ---- the list ------------------------------------------------------------------------------------------- */

/* What a list should hold, by the lowest addresses: where the range ends that begins there, or 0. */
struct model { uintptr_t end[SPACE]; };

static void model_add(struct model *m, struct sgc_range r)
{
    if (m->end[r.lo] < r.hi)
        m->end[r.lo] = r.hi;
}

static void model_drop(struct model *m, struct sgc_range r)
{
    for (uintptr_t a = r.lo; a < r.hi; a++)
        if (m->end[a] <= r.hi)
            m->end[a] = 0;
}

static bool model_contains(const struct model *m, uintptr_t address)
{
    for (uintptr_t a = 0; a <= address; a++)
        if (m->end[a] > address)
            return true;
    return false;
}

static bool same_ranges(const struct sgc_ranges *list, const struct model *m)
{
    size_t held = 0, wanted = 0;

    for (size_t i = 0; i < list->count; i++) {
        bool empty = list->of[i].lo == list->of[i].hi;

        if (!empty && m->end[list->of[i].lo] != list->of[i].hi)
            return false;
        held += !empty;
    }
    for (uintptr_t a = 0; a < SPACE; a++)
        wanted += m->end[a] != 0;
    return held == wanted;
}

static bool same_answers(const struct sgc_ranges *list, const struct model *m)
{
    for (uintptr_t a = 0; a < SPACE; a++)
        if (sgc_ranges_list_contain(list, a) != model_contains(m, a))
            return false;
    return true;
}

static void test_list(void)
{
    struct sgc_ranges list = { .count = 0 };

    tap_ok(!sgc_ranges_list_contain(&list, 0) && !sgc_ranges_list_contain(&list, UINTPTR_MAX),
           "an empty list contains nothing");
    sgc_ranges_list_add(&list, range(UINTPTR_MAX - 8, UINTPTR_MAX));
    tap_ok(sgc_ranges_list_contain(&list, UINTPTR_MAX - 1) && !sgc_ranges_list_contain(&list, UINTPTR_MAX),
           "at the end of the address space");
}

/* Additions and removals, few or many of each, in turns. */
static void test_random_lists(void)
{
    int wrong = 0;

    for (int round = 0; round < 100; round++) {
        struct sgc_ranges list = { .count = 0 };
        struct model model = { { 0 } };

        for (int i = 0; i < 200; i++) {
            uintptr_t lo = random_word(&seed) % (SPACE - 1);
            uintptr_t hi = lo + 1 + random_word(&seed) % (round % 2 ? 8 : SPACE - 1 - lo);
            struct sgc_range r = range(lo, hi > SPACE ? SPACE : hi);
            bool drops = random_word(&seed) % 8 < (unsigned)(i / 20 % 2 ? 6 : 2);

            (drops ? model_drop : model_add)(&model, r);
            if (drops)
                sgc_ranges_list_drop(&list, r);
            else
                sgc_ranges_list_add(&list, r);
            sgc_ranges_list_check(&list);
            wrong += !same_ranges(&list, &model) || (i % 20 == 0 && !same_answers(&list, &model));
        }
        sgc_stretch_close(&list.memory);
    }
    tap_ok(wrong == 0, "20000 additions and removals agree with a table (%d wrong)", wrong);
}

/* ---- time ----------------------------------------------------------------------------------------------- */

/* Of the processor, so that other processes do not count.  The bound is generous for tools that slow a program down, and
 * far below what it takes to look at all ranges for each. */
enum { CROWD = 150000, CROWD_SECONDS = 5 };

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct sgc_range crowd(uintptr_t i)
{
    return range(i * 64 + 64, i * 64 + 96);
}

static void test_crowd(void)
{
    struct sgc_ranges list = { .count = 0 };
    double start = seconds(), spent;
    bool right = true;

    for (uintptr_t i = 0; i < CROWD; i++)
        right = sgc_ranges_list_add(&list, crowd(i)) && right;
    for (uintptr_t i = 0; i < CROWD && seconds() < start + CROWD_SECONDS; i++)
        right = sgc_ranges_list_contain(&list, crowd(i).hi - 1) && !sgc_ranges_list_contain(&list, crowd(i).hi) && right;
    for (uintptr_t i = 0; i < CROWD && seconds() < start + CROWD_SECONDS; i++)
        sgc_ranges_list_drop(&list, crowd(i));
    spent = seconds() - start;
    tap_ok(right && list.count == 0 && spent < CROWD_SECONDS, "%d ranges come, are found, and go in %.2f s", CROWD,
           spent);
    sgc_stretch_close(&list.memory);
}

/* ---- many, and none to be had ---------------------------------------------------------------------------- */

enum { MANY = 20000 };

static void test_many(void)
{
    struct sgc_ranges set = { .count = 0 };
    bool added = true;

    for (uintptr_t i = MANY; i-- > 0;)
        added = added && sgc_ranges_add(&set, range(i * 32 + 16, i * 32 + 24));
    sgc_ranges_check(&set);
    tap_ok(added && set.count == MANY && is(&set, MANY - 1, (MANY - 1) * 32 + 16, (MANY - 1) * 32 + 24),
           "%d ranges, added from the last to the first", MANY);
    tap_ok(sgc_ranges_contain(&set, 16) && !sgc_ranges_contain(&set, 15) && !sgc_ranges_contain(&set, 24),
           "are found");
    sgc_stretch_close(&set.memory);
}

static bool leave_no_address_space(void)
{
    struct rlimit none = { 0, 0 };

    return setrlimit(RLIMIT_AS, &none) == 0;
}

enum { HAS_EFFECT, HAS_NONE, FAILS };

/* Emulators of other processors keep the address space for themselves and ignore that. */
static int map_without_address_space(void)
{
    if (!leave_no_address_space())
        return FAILS;
    return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? HAS_EFFECT : HAS_NONE;
}

static int add_without_memory(void)
{
    struct sgc_ranges set = { .count = 0 };

    leave_no_address_space();
    return !sgc_ranges_add(&set, range(1, 2)) && !sgc_ranges_list_add(&set, range(1, 2)) && set.count == 0 ? 0 : 1;
}

static int fill_without_memory(void)
{
    struct sgc_ranges set = { .count = 0 };
    uintptr_t i = 0;

    sgc_ranges_add(&set, range(1, 2));
    set.memory.bytes = set.memory.have;
    while (i < 100000 && sgc_ranges_add(&set, range(i * 4 + 8, i * 4 + 10)))
        i++;
    if (set.count != set.committed || i != set.committed - 1)
        return 1;
    sgc_ranges_check(&set);
    return sgc_ranges_contain(&set, 8) && !sgc_ranges_contain(&set, i * 4 + 8) ? 0 : 2;
}

int main(void)
{
    tap_each(test_set, test_random_sets, test_list, test_random_lists, test_crowd, test_many);
    if (run_in_child(map_without_address_space) == HAS_NONE)
        tap_skip("the limit of the address space has no effect here");
    else
        child_ok(add_without_memory, "without address space nothing is added, and it is said");
    child_ok(fill_without_memory, "a full set stays as it was");
    return tap_done();
}
