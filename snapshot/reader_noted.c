/* SPDX-License-Identifier: MIT */
/* The two sections with what the program's hook and its procedures have pushed. */
#include "snapshot/reader.h"

#include <stdlib.h>

/* ---- the hook ---- */

static void read_pushed_words(struct sgc_reader *r, const struct sgc_reader_pushed *pushed)
{
    uint64_t words = pushed->bytes / r->g->geometry.word, place = 0, offset = 0;

    sgc_assert(pushed->what <= SGC_SNAPSHOT_PUSHED_STACK);
    while (sgc_reader_next_word(r, words, &place, &offset, r->g->geometry.limit)) {
        struct sgc_reader_pushed_word *word = sgc_reader_add(r, &r->pushed_words);

        if (word != NULL)
            *word = (struct sgc_reader_pushed_word){ place - 1, offset };
    }
}

static void read_pushed(struct sgc_reader *r, uint64_t what)
{
    struct sgc_reader_pushed pushed = { .what = what, .first_word = r->pushed_words.count }, *added;

    if (what <= SGC_SNAPSHOT_PUSHED_STACK) {
        pushed.lo = sgc_input_number(&r->in);
        pushed.bytes = sgc_input_within(&r->in, "the size of a root", r->g->geometry.word, UINT64_C(1) << 47);
        read_pushed_words(r, &pushed);
    } else {
        pushed.lo = sgc_input_within(&r->in, "where an object of the hook's is", 0, r->g->geometry.limit);
    }
    added = r->in.failed ? NULL : sgc_reader_add(r, &r->pushed);
    if (added != NULL)
        *added = pushed;
}

bool sgc_reader_pushed(struct sgc_reader *r)
{
    uint64_t what;

    if (!sgc_input_section(&r->in, SGC_SECTION_PUSHED))
        return false;
    while ((what = sgc_input_within(&r->in, "what a hook pushes", 0, SGC_SNAPSHOT_PUSHED_MARK)) != 0)
        read_pushed(r, what);
    return !r->in.failed;
}

/* An object is where it begins. */
static uint32_t find_start(struct sgc_reader *r, uint64_t offset)
{
    uint32_t object = sgc_reader_find(r, offset, true);

    if (object != SGC_GRAPH_NONE && ((const struct sgc_graph_object *)r->objects.of)[object].offset == offset)
        return object;
    sgc_input_fail(&r->in, "no object begins at byte %llu of the heap, before byte %llu; write another snapshot",
                   (unsigned long long)offset, (unsigned long long)r->in.at);
    return SGC_GRAPH_NONE;
}

static bool make_sets(struct sgc_reader *r)
{
    size_t words = (size_t)r->g->objects / 64 + 1;

    sgc_assert(r->by_hand == NULL && r->contents == NULL);
    r->by_hand = calloc(words, sizeof *r->by_hand);
    r->contents = calloc(words, sizeof *r->contents);
    if (r->by_hand == NULL || r->contents == NULL)
        sgc_input_fail(&r->in, "there is no memory for %zu entries of %zu bytes; free some, or raise the limit (ulimit -v)",
                       2 * words, sizeof *r->by_hand);
    return !r->in.failed;
}

static void put_in(uint64_t *set, uint32_t object)
{
    sgc_assert(set != NULL);
    if (object != SGC_GRAPH_NONE)
        set[object / 64] |= UINT64_C(1) << object % 64;
}

static bool is_in(const uint64_t *set, uint32_t object)
{
    sgc_assert(set != NULL);
    return (set[object / 64] >> object % 64 & 1) != 0;
}

/* Objects by themselves are a range for each. */
static void add_pushed(struct sgc_reader *r, const struct sgc_reader_pushed *pushed, size_t end)
{
    const struct sgc_reader_pushed_word *word = r->pushed_words.of;
    bool like_heap = r->distances != NULL && pushed->what == SGC_SNAPSHOT_PUSHED_DATA;
    uint32_t object;

    sgc_assert(pushed->first_word <= end && end <= r->pushed_words.count);
    if (pushed->what <= SGC_SNAPSHOT_PUSHED_STACK) {
        sgc_reader_add_range(r, (struct sgc_graph_range){ .lo = pushed->lo, .bytes = pushed->bytes, .root = SGC_GRAPH_HOOK });
        for (size_t i = pushed->first_word; i < end && !r->in.failed; i++)
            sgc_reader_add_root_word(r, word[i].offset, word[i].place, like_heap);
        return;
    }
    object = find_start(r, pushed->lo);
    sgc_reader_add_range(r, (struct sgc_graph_range){ .root = SGC_GRAPH_HOOK });
    sgc_reader_add_root(r, object, 0);
    if (pushed->what == SGC_SNAPSHOT_PUSHED_MARK)
        put_in(r->by_hand, object);
}

void sgc_reader_add_pushed(struct sgc_reader *r)
{
    const struct sgc_reader_pushed *pushed = r->pushed.of;

    if (!make_sets(r))
        return;
    for (size_t i = 0; i < r->pushed.count && !r->in.failed; i++)
        add_pushed(r, &pushed[i], i + 1 < r->pushed.count ? pushed[i + 1].first_word : r->pushed_words.count);
}

/* ---- procedures: reading ---- */

static void add_noted(struct sgc_reader *r, uint32_t source, uint32_t target, uint64_t aim)
{
    struct sgc_reader_noted *noted = target != SGC_GRAPH_NONE ? sgc_reader_add(r, &r->noted) : NULL;

    sgc_assert(source < r->g->objects && (target < r->g->objects || target == SGC_GRAPH_NONE));
    if (noted != NULL)
        *noted = (struct sgc_reader_noted){ source, target, aim };
}

/* The how many-th of its range the next root is. */
static uint64_t place_in_range(const struct sgc_reader *r)
{
    const struct sgc_graph_range *range = r->ranges.of;

    sgc_assert(r->ranges.count != 0);
    return r->roots.count - range[r->ranges.count - 1].first_root;
}

static void read_item(struct sgc_reader *r, uint32_t source, uint64_t item, uint64_t offset)
{
    bool by_hand = item == SGC_SNAPSHOT_ITEM_MARK;
    uint32_t target;

    sgc_assert(item == SGC_SNAPSHOT_ITEM_WORD || by_hand);
    if (offset >= r->g->geometry.limit) {
        sgc_input_fail(&r->in, "a procedure leads behind the heap, before byte %llu; write another snapshot",
                       (unsigned long long)r->in.at);
        return;
    }
    target = by_hand ? find_start(r, offset) : sgc_reader_find(r, offset, false);
    if (by_hand)
        put_in(r->by_hand, target);
    r->noted_words++;
    if (source == SGC_GRAPH_NONE) {
        sgc_reader_add_root(r, target, place_in_range(r));
        return;
    }
    r->words_noted++;
    add_noted(r, source, target, offset);
}

static void read_items(struct sgc_reader *r, uint32_t source, uint64_t offset)
{
    uint64_t item;

    while ((item = sgc_input_within(&r->in, "what a procedure pushes", 0, SGC_SNAPSHOT_ITEM_MARK)) != 0) {
        offset += sgc_snapshot_unzigzag(sgc_input_number(&r->in));
        read_item(r, source, item, offset);
    }
}

static void read_object(struct sgc_reader *r, uint64_t offset)
{
    uint32_t object = find_start(r, offset);
    uint8_t kind = object != SGC_GRAPH_NONE ? r->g->page[offset >> r->g->geometry.page_log].kind : 0;

    sgc_assert(kind < r->g->kinds);
    if (object != SGC_GRAPH_NONE && r->g->kind[kind].scan != SGC_GRAPH_SCAN_DESCRIBED)
        sgc_input_fail(&r->in, "a procedure is said to look at object %u, whose kind has none, before byte %llu; write another "
                       "snapshot", object, (unsigned long long)r->in.at);
    if (!r->in.failed)
        read_items(r, object, offset);
}

static void read_memory(struct sgc_reader *r)
{
    sgc_reader_add_range(r, (struct sgc_graph_range){ .root = SGC_GRAPH_PROCEDURE });
    if (!r->in.failed)
        read_items(r, SGC_GRAPH_NONE, 0);
}

bool sgc_reader_noted(struct sgc_reader *r)
{
    uint64_t what, subject = 0;

    if (!sgc_input_section(&r->in, SGC_SECTION_NOTED))
        return false;
    while ((what = sgc_input_within(&r->in, "what was noted", 0, SGC_SNAPSHOT_NOTED_CONTENTS)) != 0) {
        r->noted_records++;
        if (what != SGC_SNAPSHOT_NOTED_MEMORY)
            subject += sgc_snapshot_unzigzag(sgc_input_number(&r->in));
        if (what == SGC_SNAPSHOT_NOTED_OBJECT)
            read_object(r, subject);
        else if (what == SGC_SNAPSHOT_NOTED_MEMORY)
            read_memory(r);
        else
            put_in(r->contents, find_start(r, subject));
    }
    return !r->in.failed;
}

/* ---- procedures: among the edges ---- */

/* Of each object first its own edges, then the noted ones; neither, if nobody has looked into it.
 * `at`: by object, how many noted ones come before those of that number; then, before those of the
 * next. */
struct merge {
    const struct sgc_reader *r;
    uint64_t *at;
    uint32_t *order;                    /* noted ones, by their sources */
    struct sgc_graph_edge *edge;
    uint64_t *aim;
    uint64_t count;
};

static bool is_closed(const struct sgc_reader *r, uint32_t object)
{
    return is_in(r->by_hand, object) && !is_in(r->contents, object);
}

static void put_edge(struct merge *m, struct sgc_graph_edge edge, uint64_t aim)
{
    m->edge[m->count] = edge;
    if (m->aim != NULL)
        m->aim[m->count] = aim;
    m->count++;
}

static void sort_noted(struct merge *m)
{
    const struct sgc_reader_noted *noted = m->r->noted.of;
    uint64_t before = 0;

    for (size_t i = 0; i < m->r->noted.count; i++)
        m->at[noted[i].source]++;
    for (uint32_t object = 0; object < m->r->g->objects; object++) {
        uint64_t own = m->at[object];

        m->at[object] = before;
        before += own;
    }
    sgc_assert(before == m->r->noted.count);
    for (size_t i = 0; i < m->r->noted.count; i++)
        m->order[m->at[noted[i].source]++] = (uint32_t)i;
}

static void merge_object(struct merge *m, uint32_t object)
{
    struct sgc_graph_object *o = (struct sgc_graph_object *)m->r->objects.of + object;
    const struct sgc_graph_edge *edge = m->r->edges.of;
    const uint64_t *aim = m->r->aim.of;
    const struct sgc_reader_noted *noted = m->r->noted.of;
    uint64_t from = o->first_edge;

    sgc_assert(object < m->r->g->objects && from <= o[1].first_edge);
    o->first_edge = m->count;
    m->r->g->by_hand += is_closed(m->r, object);
    if (is_closed(m->r, object))
        return;
    for (; from < o[1].first_edge; from++)
        put_edge(m, edge[from], m->aim != NULL ? aim[from] : 0);
    for (uint64_t i = object == 0 ? 0 : m->at[object - 1]; i < m->at[object]; i++, m->r->g->procedure_edges++)
        put_edge(m, (struct sgc_graph_edge){ noted[m->order[i]].target, SGC_GRAPH_NO_WORD }, noted[m->order[i]].aim);
}

static bool get_memory(struct sgc_reader *r, struct merge *m)
{
    uint64_t max = r->edges.count + r->noted.count + 1;

    m->at = calloc((size_t)r->g->objects + 1, sizeof *m->at);
    m->order = malloc((r->noted.count + 1) * sizeof *m->order);
    m->edge = malloc(max * sizeof *m->edge);
    m->aim = r->aims ? malloc(max * sizeof *m->aim) : NULL;
    if (m->at == NULL || m->order == NULL || m->edge == NULL || (r->aims && m->aim == NULL) || r->noted.count > UINT32_MAX)
        sgc_input_fail(&r->in, "there is no memory for %llu edges; free some, or raise the limit (ulimit -v)",
                       (unsigned long long)max);
    return !r->in.failed;
}

static void replace(struct sgc_grown *array, void *of, uint64_t count)
{
    sgc_assert(of != NULL);
    free(array->of);
    array->of = of;
    array->count = array->capacity = (size_t)count;
}

/* The entry behind the last object is there already. */
static void merge_all(struct sgc_reader *r, struct merge *m)
{
    sort_noted(m);
    for (uint32_t object = 0; object < r->g->objects; object++)
        merge_object(m, object);
    ((struct sgc_graph_object *)r->objects.of)[r->g->objects].first_edge = m->count;
    r->g->words = r->words + r->words_noted - (r->edges.count + r->noted.count - m->count);
    replace(&r->edges, m->edge, m->count);
    if (r->aims)
        replace(&r->aim, m->aim, m->count);
}

static bool any(const struct sgc_reader *r)
{
    bool found = r->noted.count != 0;

    sgc_assert(r->by_hand != NULL && r->contents != NULL);
    for (size_t i = 0; i <= r->g->objects / 64 && !found; i++)
        found = r->by_hand[i] != 0;
    return found;
}

bool sgc_reader_put_noted(struct sgc_reader *r)
{
    struct merge m = { .r = r };
    bool done;

    r->g->words = r->words + r->words_noted;
    if (!any(r))
        return true;
    done = get_memory(r, &m);
    if (done) {
        merge_all(r, &m);
    } else {
        free(m.edge);
        free(m.aim);
    }
    free(m.at);
    free(m.order);
    sgc_assert(sgc_reader_ok(r));
    return done;
}
