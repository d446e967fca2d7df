/* SPDX-License-Identifier: MIT */
/* Making a marker, on the thread that owns its team; beginning a mark, world stopped. */
#include "mark/marker.h"

#include "alloc/pages/heap.h"
#include "mark/displacements.h"
#include "mark/word_form.h"

bool sgc_marker_init(struct sgc_marker *marker, const struct sgc_mark_config *config)
{
    const sgc_a8_t *distances = config->interior_pointers ? NULL : sgc_mark_displacements();

    sgc_assert(config->edges <= SGC_EDGES_MAX);
    if (!config->interior_pointers && distances == NULL)
        return false;
    *marker = (struct sgc_marker){
        .edges_wait = config->edges != 0 ? config->edges : 1,
        .collect = sgc_words_inside(0, false),
        .chain = sgc_chain_follow,
        .plain = true,
        .how = SGC_MARKBIT_PLAIN,
        .until_pause = SGC_PAUSE_EVERY,
        .distances = distances,
        .end_word = config->end_word,
        .split_bytes = sgc_round_up(config->split_bytes, SGC_GRANULE),  /* pieces are whole
                                                                         * granules */
    };
    return sgc_deque_init(&marker->stack, config->stack_bytes, config->stack_form);
}

bool sgc_marker_idle(const struct sgc_marker *marker)
{
    sgc_assert(sgc_marker_ok(marker));
    return sgc_deque_empty(&marker->stack) && marker->batch[0].count == 0 && marker->batch[1].count == 0;
}

/* A bit for each byte of a granule, and once more: so many bits can be counted from an edge's
 * lowest. */
static uint32_t near_distances(const sgc_a8_t *distances)
{
    uint32_t near = 0;

    if (distances == NULL)
        return UINT32_MAX;
    for (uint32_t i = 0; i < 2 * SGC_GRANULE; i++)
        near |= (uint32_t)(sgc_a8_load(&distances[i % SGC_GRANULE]) != 0) << i;
    return near;
}

/* Does the mask leave each address of the heap what it is, or in its granule, where that does not
 * matter?  Then words lead to one address only. */
static bool mask_keeps_addresses(const struct sgc_marker *marker)
{
    uintptr_t used = UINTPTR_MAX >> __builtin_clzll(sgc_heap.base + sgc_heap.reserved);
    uintptr_t lost = used & ~sgc_word_form.mask;

    sgc_assert(sgc_heap.base != 0 && sgc_heap.reserved != 0);
    return sgc_word_form.shift == 0 && (lost == 0 || (lost < SGC_GRANULE && marker->distances == NULL));
}

/* Words get another form once at most: before there are objects. */
static void choose_forms(struct sgc_marker *marker)
{
    bool masked = mask_keeps_addresses(marker);

    sgc_assert(!sgc_words_are_plain());
    marker->plain = false;
    marker->collect = masked ? sgc_words_inside(0, true) : sgc_collect_both;
    marker->chain = masked ? sgc_chain_follow_masked : sgc_chain_scan;
}

void sgc_marker_begin(struct sgc_marker *marker)
{
    sgc_assert(sgc_marker_idle(marker));
    if (!sgc_words_are_plain())
        choose_forms(marker);
    marker->base = sgc_heap.base;
    sgc_marker_renew(marker);
    marker->mode = (struct sgc_mark_mode){ SGC_MARK_STOPPED, false };
    marker->alloc_role = sgc_heap.alloc_role;
    marker->allocated = &sgc_heap.bits[marker->alloc_role];
    marker->marks = &sgc_heap.bits[marker->alloc_role ^ 1];
    marker->near = near_distances(marker->distances);
    marker->objects = marker->bytes = marker->pointer_free = marker->root_bytes = marker->rescans = 0;
    marker->stack.deepest = 0;
    marker->steals = marker->stolen = marker->steals_far = 0;
    marker->breaks = 0;
    marker->overflowed = marker->interrupted = marker->again = false;
}

void sgc_marker_join(struct sgc_marker *marker, const struct sgc_marker *first)
{
    sgc_assert(sgc_marker_marks(first) && first->mode.program == SGC_MARK_CONCURRENT && first->how != SGC_MARKBIT_PLAIN);
    sgc_marker_begin(marker);
    marker->limit = first->limit;
    marker->split_bytes = first->split_bytes;
    marker->how = first->how;
    marker->mode = first->mode;
    marker->until_ns = 0;
}

__attribute__((noinline))
bool sgc_edge_remote_bit(uintptr_t edge)
{
    sgc_assert(sgc_heap_contains(sgc_heap.base + edge));
    return sgc_remote_bit(edge / SGC_GRANULE);
}

/* ---- marks by hand ---- */

SGC_STATE sgc_a32_t sgc_marked_by_hand;

bool sgc_mark_by_hand(struct sgc_marker *marker, sgc_aw_t *word, uintptr_t bit)
{
    uintptr_t seen = sgc_aw_load(word);

    sgc_assert(sgc_marker_marks(marker) && bit != 0);
    sgc_a32_store(&sgc_marked_by_hand, 1);
    return (seen & bit) == 0 && sgc_set_marks(word, seen, bit, marker->how) != 0;
}
