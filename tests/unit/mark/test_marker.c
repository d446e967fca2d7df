/* SPDX-License-Identifier: MIT */
/*
 * mark/: what is marked is what is reachable, on random graphs, against a reachability of the test's own; with
 * every length of the prefetch buffer, with splitting, with a mark stack that is too small, and one that gets no
 * memory at all; batches, chains and halves one by one.
 *
 * Also: mark/drain.c, mark/markbit.c.
 */
#include <sys/resource.h>

#include "mark/marker.h"
#include "mark/edge.h"
#include "mark/edge_bits.h"
#include "mark/mark_roots.h"
#include "tests/lib/random_graph.h"
#include "tests/lib/sanitized.h"

/* ---- random graphs ---- */

static void check_graph(const struct sgc_mark_config *config, const char *name)
{
    heap_marker_end();
    heap_retire();
    heap_mark(config, roots, ROOTS);
    int reached = 0, wrong = differences(heap_marker()->objects, heap_marker()->bytes, heap_marker()->pointer_free);
    for (int i = 0; i < NODES; i++)
        reached += node[i].reached;
    tap_ok(wrong == 0 && reached > NODES / 10 && reached < NODES, "%s: %d of %d nodes are reachable and marked (%d wrong)",
           name, reached, NODES, wrong);
    heap_unmark();
}

static void test_graphs(void)
{
    static const uint32_t edges[] = { 0, 1, 2, 16, 63, 64 };
    static const size_t split[] = { 0, 512, 513, 4096, 128 << 10 };
    char name[100];

    for (int round = 0; round < 2; round++) {
        make_graph((uint64_t)round + 1, true);
        reach_all();
        for (int i = 0; i < 6; i++) {
            struct sgc_mark_config config = HEAP_MARK;
            config.edges = edges[i];
            snprintf(name, sizeof name, "graph %d, %u edges prefetched", round, edges[i]);
            check_graph(&config, name);
        }
        for (int i = 0; i < 5; i++) {
            struct sgc_mark_config config = HEAP_MARK;
            config.split_bytes = split[i];
            snprintf(name, sizeof name, "graph %d, pieces of %zu bytes", round, split[i]);
            check_graph(&config, name);
        }
    }
}

/* Interior pointers off: the words of the heap must point at first bytes; roots may point anywhere. */
static void test_graph_starts(void)
{
    struct sgc_mark_config config = HEAP_MARK;

    config.interior_pointers = false;
    make_graph(5, false);
    reach_all();
    check_graph(&config, "interior pointers off, edges to first bytes");
}

/* ---- a stack that is too small ---- */

/* Every child of a wide array is pushed before the first is popped: more than 4096 pieces. */
enum { WIDE = 20000 };
static char **wide;
static char *child[WIDE], *grandchild[WIDE];

static void make_wide(void)
{
    wide = heap_alloc(sgc_self, WIDE * sizeof *wide, SGC_KIND_CONSERVATIVE);
    for (int i = 0; i < WIDE; i++) {
        child[i] = heap_alloc(sgc_self, i % 100 ? 32 : 70000, SGC_KIND_CONSERVATIVE);
        wide[i] = child[i];
        grandchild[i] = heap_alloc(sgc_self, 48, SGC_KIND_CONSERVATIVE);
        memcpy(child[i] + (i % 2 ? 0 : 24), &grandchild[i], sizeof grandchild[i]);
        /* plain garbage beside what is marked, to be found unmarked */
        char **dead = heap_alloc(sgc_self, 32, SGC_KIND_CONSERVATIVE);
        dead[0] = dead[1] = (char *)dead;
    }
}

static bool any_flag(void)
{
    for (uint32_t a = 0; a < sgc_pool.committed; a++)
        if (sgc_aw_load(&sgc_heap.arenas[a].rescan) != 0)
            return true;
    return false;
}

static int wide_unmarked(void)
{
    int wrong = !heap_marked(wide);

    for (int i = 0; i < WIDE; i++)
        wrong += !heap_marked(child[i]) + !heap_marked(grandchild[i]);
    return wrong + (heap_marker()->objects != 2 * WIDE + 1);
}

static void test_small_stack(void)
{
    struct sgc_mark_config config = HEAP_MARK;

    config.split_bytes = 0;         /* else the array is scanned in parts, and a small stack suffices */
    heap_empty();
    make_wide();
    heap_retire();
    heap_marker_end();
    heap_mark(&config, &wide, 1);
    tap_ok(wide_unmarked() == 0 && heap_marker()->rescans == 0 && heap_marker()->stack.deepest > 10000,
           "with a large stack nothing is scanned again (%zu deep)", heap_marker()->stack.deepest);
    heap_unmark();
    heap_marker_end();
    config.stack_bytes = 64 << 10;
    heap_mark(&config, &wide, 1);
    int wrong = wide_unmarked();
    tap_ok(wrong == 0 && heap_marker()->rescans > 0,
           "with 64 KB pages are scanned again (%zu) and the same set is marked (%d wrong)",
           heap_marker()->rescans, wrong);
    tap_ok(!any_flag(), "no page is flagged afterwards");
    heap_unmark();
}

/* RLIMIT_DATA denies the commit of the stack's first piece. */
static void test_denied_commit(void)
{
    struct rlimit before, none = { 1, 0 };

    if (TEST_SANITIZED) {
        tap_skip("a sanitizer needs data memory of its own");
        return;
    }
    getrlimit(RLIMIT_DATA, &before);
    none.rlim_max = before.rlim_max;
    heap_marker_end();
    heap_alone(&HEAP_MARK);
    setrlimit(RLIMIT_DATA, &none);
    void *probe = sgc_mem_reserve(SGC_PAGE, SGC_PAGE);
    bool denied = probe != NULL && !sgc_mem_commit(probe, SGC_PAGE);
    if (denied)
        heap_mark(&HEAP_MARK, &wide, 1);
    setrlimit(RLIMIT_DATA, &before);
    if (!denied) {
        tap_skip("this system does not count data memory");
        return;
    }
    int wrong = wide_unmarked();
    tap_ok(wrong == 0 && heap_marker()->rescans > 0 && heap_marker()->stack.memory.committed == 0,
           "without any memory for a stack the same set is marked (%zu rescans, %d wrong)",
           heap_marker()->rescans, wrong);
    heap_unmark();
}

/* ---- giving up ---- */

static int asked, stop_at = 1;

static int stop(void)
{
    return ++asked >= stop_at;
}

static void test_abandon(void)
{
    struct sgc_mark_config config = HEAP_MARK;
    struct sgc_team *team;

    config.stack_bytes = 64 << 10;
    config.split_bytes = 0;
    heap_marker_end();
    team = heap_alone(&config);
    sgc_team_begin(team, 1);
    sgc_mark_roots(heap_marker(), &wide, &wide + 1);
    tap_ok(!sgc_team_mark(team, stop) && asked >= 1, "a mark gives up when it is asked to");
    sgc_team_abandon(team);
    sgc_team_check(team);
    tap_ok(sgc_marker_idle(heap_marker()) && !any_flag(), "and forgets its work");
    heap_unmark();
    sgc_team_begin(team, 1);
    sgc_mark_roots(heap_marker(), &wide, &wide + 1);
    sgc_team_mark(team, NULL);
    asked = 1;
    stop_at = 2;
    tap_ok(heap_marker()->overflowed && !sgc_team_rescan(team, stop), "so does a rescan");
    sgc_team_abandon(team);
    tap_ok(!any_flag(), "and leaves no page flagged");
    heap_unmark();
    heap_mark(&config, &wide, 1);
    tap_ok(wide_unmarked() == 0, "the next mark is whole");
    heap_unmark();
}

/* ---- batches, chains, parts ---- */

static const struct {
    enum sgc_markbit how;
    const char *name;
} hows[] = {
    { SGC_MARKBIT_PLAIN, "store" }, { SGC_MARKBIT_OR, "or" }, { SGC_MARKBIT_CAS, "cas" }, { SGC_MARKBIT_LOCK, "lock" }
};

enum { HOWS = 4, NEIGHBOURS = 96 };

static void begin_alone(const struct sgc_mark_config *config)
{
    sgc_team_begin(heap_alone(config), 1);
}

static size_t objects_found(void *const *words, size_t count, enum sgc_markbit how)
{
    size_t before = heap_marker()->objects;

    heap_marker()->how = how;
    sgc_mark_roots(heap_marker(), words, words + count);
    sgc_mark_drain(heap_marker());
    return heap_marker()->objects - before;
}

/* Every third is pointed at, and that twice; half of them have been marked before. */
static void test_neighbours(enum sgc_markbit how, const char *name)
{
    char *object[NEIGHBOURS];
    void *words[NEIGHBOURS];
    size_t n = 0, wrong = 0, first, all, again;

    for (int i = 0; i < NEIGHBOURS; i++)
        object[i] = heap_alloc(sgc_self, 16, SGC_KIND_CONSERVATIVE);
    heap_retire();
    for (int i = 0; i < NEIGHBOURS; i += 3) {
        words[n++] = object[i];
        words[n++] = object[i] + 7;
    }
    begin_alone(&HEAP_MARK);
    first = objects_found(words, n / 2, how);
    all = objects_found(words, n, how);
    again = objects_found(words, n, how);
    sgc_team_mark(heap_alone(&HEAP_MARK), NULL);
    for (int i = 0; i < NEIGHBOURS; i++)
        wrong += heap_marked(object[i]) != (i % 3 == 0);
    tap_ok(first == NEIGHBOURS / 6 && all == NEIGHBOURS / 6 && again == 0 && wrong == 0,
           "%s: neighbours are marked and counted once each (%zu, %zu, %zu; %zu wrong)", name, first, all, again, wrong);
    heap_unmark();
}

/* An array whose words lead to one neighbour after the other, every second behind the first byte. */
static char **lead_to(char *const *object)
{
    char **array = heap_alloc(sgc_self, NEIGHBOURS * sizeof *array, SGC_KIND_CONSERVATIVE);

    for (int i = 0; i < NEIGHBOURS; i++)
        array[i] = object[i] + i % 2 * 3;
    return array;
}

/* Interior pointers off: of neighbours only those count whose first byte is pointed at, also when these are marked already. */
static void test_near_neighbours(enum sgc_markbit how, const char *name)
{
    struct sgc_mark_config config = HEAP_MARK;
    char *object[NEIGHBOURS];
    void *array[2];
    size_t wrong = 0, first, again;

    config.interior_pointers = false;
    for (int i = 0; i < NEIGHBOURS; i++)
        object[i] = heap_alloc(sgc_self, 16, SGC_KIND_CONSERVATIVE);
    array[0] = lead_to(object);
    array[1] = lead_to(object);
    heap_retire();
    heap_marker_end();
    begin_alone(&config);
    first = objects_found(array, 1, how);
    again = objects_found(array + 1, 1, how);
    sgc_team_mark(heap_alone(&config), NULL);
    for (int i = 0; i < NEIGHBOURS; i++)
        wrong += heap_marked(object[i]) != (i % 2 == 0);
    tap_ok(first == 1 + NEIGHBOURS / 2 && again == 1 && wrong == 0,
           "%s, interior pointers off: neighbours count that are pointed at (%zu, %zu; %zu wrong)", name, first, again, wrong);
    heap_unmark();
    heap_marker_end();
}

/* What another marker set between the look at the word and the write is not this marker's. */
static void test_bits_at_once(enum sgc_markbit how, const char *name)
{
    sgc_aw_t word;
    uintptr_t mine;

    sgc_aw_store(&word, 0x0f0);
    mine = sgc_set_marks(&word, 0x030, 0x1c8, how);

    tap_ok(mine == 0x108 && sgc_aw_load(&word) == 0x1f8, "%s: of several bits those count that were clear (%#lx, %#lx)", name,
           (unsigned long)mine, (unsigned long)sgc_aw_load(&word));
}

enum { IN_A_ROW = 150 };

/* Each of many neighbours has one child, in some word of its own: all words of all of them are looked at. */
static void test_rows(size_t bytes)
{
    static char *above[IN_A_ROW], *below[IN_A_ROW];
    size_t wrong = 0;

    for (size_t i = 0; i < IN_A_ROW; i++) {
        above[i] = heap_alloc(sgc_self, bytes, SGC_KIND_CONSERVATIVE);
        below[i] = heap_alloc(sgc_self, 32, SGC_KIND_POINTER_FREE);
        memcpy(above[i] + i % (bytes / sizeof below[i]) * sizeof below[i], &below[i], sizeof below[i]);
    }
    heap_retire();
    heap_mark(&HEAP_MARK, above, IN_A_ROW);
    for (size_t i = 0; i < IN_A_ROW; i++)
        wrong += !heap_marked(above[i]) + !heap_marked(below[i]);
    tap_ok(wrong == 0 && heap_marker()->objects == 2 * IN_A_ROW, "%zu bytes: neighbours are scanned wholly (%zu not marked)",
           bytes, wrong);
    heap_unmark();
}

/* ---- chains ---- */

enum { LINKS = 2000 };

/* Ends at a pointer-free object; on the way there are interior pointers, objects of several sizes, a span. */
static void test_chain(enum sgc_markbit how, const char *name)
{
    static const size_t sizes[] = { 16, 48, 256, 272, 512, 4000, 100000 };
    static char *link[LINKS];
    struct sgc_object last;
    size_t wrong = 0;

    for (int i = 0; i < LINKS; i++) {
        size_t bytes = i % 50 == 49 ? sizes[i / 50 % 7] : 48;

        link[i] = heap_alloc(sgc_self, bytes, i == LINKS - 1 ? SGC_KIND_POINTER_FREE : SGC_KIND_CONSERVATIVE);
        if (i != 0)
            *(char **)(void *)link[i - 1] = link[i] + (i % 7 == 0 ? 9 : 0);
    }
    char *beyond = heap_alloc(sgc_self, 48, SGC_KIND_CONSERVATIVE);
    memcpy(link[LINKS - 1], &beyond, sizeof beyond);
    heap_retire();
    begin_alone(&HEAP_MARK);
    objects_found((void *const *)link, 1, how);
    sgc_team_mark(heap_alone(&HEAP_MARK), NULL);
    for (int i = 0; i < LINKS; i++)
        wrong += !heap_marked(link[i]);
    sgc_object_slot((uintptr_t)link[LINKS - 1], &last);
    tap_ok(wrong == 0 && heap_marker()->objects == LINKS && heap_marker()->pointer_free == last.bytes && !heap_marked(beyond),
           "%s: a chain is followed to its end and no further (%zu not marked, %zu marked, %zu bytes without pointers)", name,
           wrong, heap_marker()->objects, heap_marker()->pointer_free);
    heap_unmark();
}

enum { WHOLE = 4 << 20 };

static struct sgc_work oldest;
static uintptr_t whole;

/* Steals once, as another marker would. */
static int steal_and_stop(void)
{
    struct sgc_deque thief;

    if (!sgc_deque_init(&thief, 64 << 10, SGC_STACK_SPLIT))
        tap_bail("no memory for a thief's stack");
    if (sgc_deque_share(&heap_marker()->stack) && sgc_deque_steal(&heap_marker()->stack, &thief, SGC_STEAL_ONE) == 1)
        sgc_deque_pop(&thief, &oldest);
    sgc_deque_release(&thief);
    return 1;
}

static void test_half_of_large(void)
{
    whole = (uintptr_t)heap_alloc(sgc_self, WHOLE, SGC_KIND_CONSERVATIVE);
    struct sgc_team *team = heap_alone(&HEAP_MARK);

    heap_retire();
    sgc_team_begin(team, 1);
    sgc_mark_roots(heap_marker(), &whole, &whole + 1);
    sgc_team_mark(team, steal_and_stop);
    tap_ok(oldest.bytes >= WHOLE / 2 && oldest.bytes <= WHOLE / 2 + SGC_SMALL_MAX && oldest.start >= whole + WHOLE / 2 &&
               oldest.start < whole + WHOLE, "a thief gets half of a large object (%zu of %d bytes)", oldest.bytes, WHOLE);
    sgc_team_abandon(team);
    heap_unmark();
}

static void test_batches(void)
{
    heap_marker_end();
    for (int i = 0; i < HOWS; i++) {
        test_neighbours(hows[i].how, hows[i].name);
        test_near_neighbours(hows[i].how, hows[i].name);
        if (hows[i].how != SGC_MARKBIT_PLAIN)
            test_bits_at_once(hows[i].how, hows[i].name);
        test_chain(hows[i].how, hows[i].name);
    }
    for (int i = 0; i < 6; i++)
        test_rows((size_t[]){ 16, 48, 112, 128, 144, 1040 }[i]);
    test_half_of_large();
}

int main(void)
{
    heap_start((size_t)2 << 30, 0, false);
    test_graphs();
    test_graph_starts();
    free_uncollectable();
    tap_each(test_small_stack, test_denied_commit, test_abandon, test_batches);
    sgc_heap_check();
    return tap_done();
}
