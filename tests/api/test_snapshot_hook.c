/* SPDX-License-Identifier: MIT */
/*
 * Heap snapshots of programs with a hook that pushes roots, or one that is asked when nothing is left to mark, and of words
 * that are no plain addresses: what is reachable in the file is what the very same collection has marked, whatever the hook
 * does to the heap.  And when there is a file, or two.
 */
#include "tests/api/snapshot.h"
#include "tests/api/entries.h"
#include "tests/lib/child.h"

enum { LONG = 50000 };

static void start(void)
{
    GC_INIT();
    snapshot_listen();
}

static bool has_cells(const struct sgc_graph *g)
{
    return g->edges >= LONG - 1;
}

/* ---- a hook ---- */

static GC_push_other_roots_proc before;
static GC_word secret;                  /* the address of an object, hidden */
static struct cell *changed;
static int left;

static void *reveal(void)
{
    return GC_REVEAL_POINTER(secret);
}

/* What its frames hold is gone afterwards. */
static void push_roots(void)
{
    void *words[40] = { NULL };
    struct cell *hidden = reveal();

    if (before != NULL)
        before();
    words[3] = hidden;
    words[17] = (char *)hidden->next + 9;
    GC_push_all(words + 3, words + 4);
    GC_push_all_eager(words + 10, (char *)(words + 20) + 5);
    GC_push_conditional(words + 30, words + 31, 1);
    memset(words, 0, sizeof words);
}

static stack mark_second(GC_word *object, stack top, stack limit, TEST_UNUSED GC_word env)
{
    return GC_MARK_AND_PUSH((void *)object[1], top, limit, NULL);
}

/* By descriptors of all forms; a procedure looks at the memory when the hook is over. */
static void push_described(void)
{
    static GC_word *words;
    static unsigned proc;
    struct cell *hidden = reveal();

    if (words == NULL)
        words = api_outside(100 * sizeof *words);
    if (proc == 0)
        proc = GC_new_proc(mark_second);
    words[3] = words[81] = (GC_word)hidden;
    words[17] = (GC_word)hidden->next + 9;
    words[60] = (GC_word)hidden->next->next;
    GC_push_obj_descr(words, 4 * sizeof *words);
    GC_push_obj_descr(words + 10, (GC_word)1 << 56 | (GC_word)1 << 40 | GC_DS_BITMAP);
    GC_push_obj_descr((char *)(words + 60) - 4, sizeof *words + 4);
    GC_push_obj_descr(words + 80, GC_MAKE_PROC(proc, 0));
    GC_push_obj_descr(hidden, 2 * sizeof *words);
}

/* Marks one, allocates another, and changes what objects and roots hold. */
static void change_heap(void)
{
    struct cell *hidden = reveal(), *made;

    if (before != NULL)
        before();
    GC_set_mark_bit(hidden);
    GC_MALLOC(80);                                                          /* nobody's, but kept for this collection */
    made = GC_MALLOC(sizeof *made);
    if (made != NULL && left-- > 0) {
        made->other = hidden->next;
        changed->other = made;
        changed->next = GC_MALLOC(200);
        roots[63] = GC_MALLOC_ATOMIC(300);
    }
    GC_add_roots(&left, &left + 1);
}

static bool has_hook(const struct sgc_graph *g)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < g->ranges; i++)
        found += g->range[i].root == SGC_GRAPH_HOOK && g->range[i].first_root != g->range[i + 1].first_root;
    return found != 0;
}

static int hook(GC_push_other_roots_proc push_them)
{
    bool agrees = true;

    start();
    before = GC_get_push_other_roots();
    changed = keep(chain(1, NULL));
    for (int i = 0; i < 3 && agrees; i++) {
        struct cell *hidden = chain(20, chain(4, NULL));

        hidden->other = chain(6, NULL);                                     /* dead if it is only marked by hand */
        secret = GC_HIDE_POINTER(hidden);
        left = 5;
        GC_set_push_other_roots(push_them);
        hidden = NULL;
        GC_clear_stack(NULL);
        agrees = snapshot_is_exact(has_hook);
        GC_set_push_other_roots(before);
    }
    return agrees ? 0 : 1;
}

/* ---- a mark that is given up ---- */

static int asked;

static int GC_CALLBACK give_up(void)
{
    return asked++ > 0;
}

/* No file is left, and the next collection, which has the same number, writes it. */
static int given_up(void)
{
    char text[400];

    snprintf(text, sizeof text, "%s/given-up-%%n", folder);
    setenv("SGC_SNAPSHOT", text, 1);
    start();
    keep(chain(LONG, NULL));
    if (GC_try_to_collect(give_up))
        return 2;
    snprintf(text, sizeof text, "%s/given-up-%d", folder, (int)snapshot_last.cycle + 1);
    if (access(text, F_OK) == 0)
        return 3;
    GC_gcollect();
    return snapshot_is(text, has_cells) ? 0 : 4;
}

/* ---- two files at once ---- */

static int both(void)
{
    char named[400];

    snprintf(named, sizeof named, "%s/named-%%n", folder);
    setenv("SGC_SNAPSHOT", named, 1);
    start();
    keep(chain(LONG, NULL));
    if (!snapshot_is_exact(has_cells))
        return 1;
    snprintf(named, sizeof named, "%s/named-%d", folder, (int)snapshot_last.cycle);
    if (!snapshot_is(named, has_cells))
        return 2;
    snprintf(named, sizeof named, "%s/named-%d", folder, (int)snapshot_last.cycle + 1);
    return SGC_write_heap_snapshot(named) == 0 && snapshot_is(named, has_cells) ? 0 : 3;
}

/* ---- ephemerons, by boxed pointers ---- */

enum { EPHEMERONS = 3000 };

static const GC_word TAG = UINT64_C(0xfff8000000000005), ADDRESS = UINT64_C(0x0000fffffffffff8);

struct ephemeron {
    struct cell *key, *value;
};

static struct ephemeron *ephemerons;    /* no root */

static void *box(void *object)
{
    return (void *)((GC_word)object | TAG);
}

/* Half of the values by hand. */
static struct GC_ms_entry *push_values(struct GC_ms_entry *top, struct GC_ms_entry *limit)
{
    GC_word *entry = (GC_word *)top;

    for (int i = 0; i < EPHEMERONS; i++) {
        if (!GC_is_marked(ephemerons[i].key) || GC_is_marked(ephemerons[i].value))
            continue;
        if (i % 2 == 0)
            GC_mark_and_push(ephemerons[i].value, (struct GC_ms_entry *)entry, limit, NULL);
        if (i % 2 == 0 || entry + 2 >= (GC_word *)limit)
            continue;
        *(entry += 2) = (GC_word)&ephemerons[i].value;
        entry[1] = sizeof(void *);
    }
    return (struct GC_ms_entry *)entry;
}

static struct cell *make_cell(void *next, void *other)
{
    struct cell *cell = GC_MALLOC(sizeof *cell);

    cell->next = next;
    cell->other = other;
    return cell;
}

/* Each value holds the key that comes seven entries later, boxed; the first keys are held by roots, one of them boxed, by an
 * object that has a finalizer, by that one's data, and by nothing. */
static void fill(void)
{
    struct cell *finalizable = make_cell(NULL, NULL);

    for (int i = EPHEMERONS - 1; i >= 0; i--) {
        struct cell *key = make_cell(NULL, box(GC_MALLOC_ATOMIC(40)));

        ephemerons[i].key = key;
        ephemerons[i].value = make_cell(i + 7 < EPHEMERONS ? box(ephemerons[i + 7].key) : NULL, box(GC_MALLOC(24)));
    }
    keep(box(ephemerons[0].key));
    keep(ephemerons[1].key);
    finalizable->next = box(ephemerons[2].key);
    GC_register_finalizer(finalizable, api_ignore, box(ephemerons[3].key), NULL, NULL);
}

static bool has_values(const struct sgc_graph *g)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < g->ranges; i++)
        found += g->range[i].root == SGC_GRAPH_PROCEDURE;
    return found > EPHEMERONS / 7;
}

static int boxed(void)
{
    GC_set_pointer_mask(ADDRESS);
    start();
    ephemerons = api_outside(EPHEMERONS * sizeof *ephemerons);
    api_make(fill);
    GC_set_on_mark_stack_empty(push_values);
    return snapshot_is_exact(has_values) && GC_base(ephemerons[3].value) != NULL ? 0 : 1;
}

static void try_hook(const char *option, const char *value)
{
    setenv(option, value, 1);
    child_ok_of(hook(push_roots), "%s=%s: what a hook pushes", option, value);
    child_ok_of(hook(push_described), "what a hook pushes with descriptors");
    child_ok_of(hook(change_heap), "what a hook allocates, marks and changes");
    child_ok(boxed, "what ephemerons keep, by boxed pointers");
    unsetenv(option);
}

int main(void)
{
    folder_make();
    try_hook("nothing", "");
    try_hook("GC_ALL_INTERIOR_POINTERS", "0");
    try_hook("SGC_END_BYTE", "roots");
    try_hook("GC_MARKERS", "4");
    try_hook("SGC_MODE", "concurrent");
    child_ok(given_up, "a mark that is given up leaves no file");
    child_ok(both, "a collection that is asked for one and writes one anyway writes both");
    folder_remove();
    return tap_done();
}
