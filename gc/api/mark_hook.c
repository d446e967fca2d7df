/* SPDX-License-Identifier: MIT */
/*
 * The client's part in marking as a whole: how its words become addresses, and the hook that is
 * asked when nothing else is left to mark (gc_mark.h).
 *
 *   sgc_word_form         mark/word_form.h
 *   on_mark_stack_empty   written under the GC lock, release    read by the collecting thread, acquire
 *   the rest              the collecting thread
 */
#include "gc/api/api.h"

#include "alloc/pages/pool.h"
#include "gc/api/hooks.h"
#include "mark/descriptor.h"
#include "mark/team/team.h"
#include "mark/word_form.h"

/* ---- words ---- */

/* Words of objects that exist may have been taken for addresses already. */
static bool may_set(const char *function, unsigned long value, bool same)
{
    if (!same && sgc_pool_in_use_bytes() != 0)
        sgc_warn("%s(%lx): the program has objects already, and their words count as addresses; nothing is changed. Call it "
                 "before the first object is allocated", function, value);
    return !same && sgc_pool_in_use_bytes() == 0;
}

void GC_set_pointer_mask(GC_word mask)
{
    if (mask == 0)
        sgc_warn("GC_set_pointer_mask(0): no word would lead anywhere; nothing is changed. Pass the bits that hold the "
                 "address, all ones if every bit does");
    else if (may_set("GC_set_pointer_mask", mask, mask == sgc_word_form.mask))
        sgc_word_form.mask = mask;
}

GC_word GC_get_pointer_mask(void)
{
    return sgc_word_form.mask;
}

void GC_set_pointer_shift(unsigned shift)
{
    if (shift >= 8 * sizeof(GC_word))
        sgc_warn("GC_set_pointer_shift(%u): expected less than the %zu bits of a word; nothing is changed", shift,
                 8 * sizeof(GC_word));
    else if (may_set("GC_set_pointer_shift", shift, shift == sgc_word_form.shift))
        sgc_word_form.shift = shift;
}

unsigned GC_get_pointer_shift(void)
{
    return (unsigned)sgc_word_form.shift;
}

SGC_STATE static bool reported_words;

/* The highest address up to `last` that words lead to. */
static uintptr_t highest_formed(uintptr_t last)
{
    uintptr_t all = sgc_word_formed(UINTPTR_MAX), formed = 0;

    for (uintptr_t bit = ~(UINTPTR_MAX >> 1); bit != 0; bit >>= 1)
        if ((all & bit) != 0 && (formed | bit) <= last)
            formed |= bit;
    return formed;
}

static bool words_lead_to_heap(void)
{
    sgc_assert(sgc_heap.base != 0 && sgc_heap.reserved != 0);
    return highest_formed(sgc_heap.base + sgc_heap.reserved - 1) >= sgc_heap.base;
}

/* When both, mask and shift, are set for good. */
static void check_words(void)
{
    if (sgc_words_are_plain() || reported_words || words_lead_to_heap())
        return;
    reported_words = true;
    sgc_warn("with the pointer mask %lx and the shift %u no word leads to the heap, which begins at %p; only words that are "
             "plain addresses keep objects. Pass GC_set_pointer_mask the bits that hold the address, and GC_set_pointer_shift "
             "by how many they are shifted to the right",
             GC_get_pointer_mask(), GC_get_pointer_shift(), (void *)sgc_heap.base);
}

/* ---- when nothing is left to mark ---- */

enum {
    FRUITLESS_MAX = 100000,     /* times in a row that a hook may push what leads to nothing new: it
                                 * may have a long table, and room for a part of it each time */
    MANY_PIECES = 256,          /* left by the hook: worth waking other markers */
};

struct trouble {
    sgc_mark_hook_t strayed, endless;   /* hooks, until that has been reported */
    bool reported_strayed, reported_endless;
};

SGC_STATE static sgc_aw_t on_mark_stack_empty;
SGC_STATE static struct trouble trouble;

SGC_API_HOOK(on_mark_stack_empty, GC_on_mark_stack_empty_proc, on_mark_stack_empty)

static size_t objects_marked(const struct sgc_team *team)
{
    struct sgc_team_totals totals;

    sgc_team_totals(team, &totals);
    return totals.objects;
}

static void mark_pushed(struct sgc_team *team)
{
    const struct sgc_marker *first = sgc_team_first(team);

    if (!sgc_marker_idle(first))
        sgc_team_round(team, NULL, sgc_deque_private(&first->stack) >= MANY_PIECES);
    sgc_team_rescan(team, NULL);
}

/* Each time but the last ones something has been marked, so this ends. */
static void ask(struct sgc_team *team, sgc_mark_hook_t hook)
{
    size_t before, after = objects_marked(team);
    enum sgc_hook_result result;
    int fruitless = 0;

    do {
        before = after;
        result = sgc_mark_by_hook(sgc_team_first(team), hook);
        mark_pushed(team);
        after = objects_marked(team);
        sgc_assert(after >= before);
        fruitless = after == before ? fruitless + 1 : 0;
        if (result == SGC_HOOK_STRAYED)
            trouble.strayed = hook;
    } while (fruitless == 0 || (result == SGC_HOOK_PUSHED && fruitless < FRUITLESS_MAX));
    if (fruitless == FRUITLESS_MAX)
        trouble.endless = hook;
}

void sgc_client_mark_more(struct sgc_team *team)
{
    sgc_mark_hook_t hook = (sgc_mark_hook_t)sgc_aw_load_acq(&on_mark_stack_empty);

    sgc_assert(sgc_stopped_by_self());
    if (hook != NULL)
        ask(team, hook);
}

static void report_trouble(void)
{
    if (trouble.strayed != NULL && !trouble.reported_strayed)
        sgc_warn("the hook of GC_set_on_mark_stack_empty, %p, returned what is no place on the mark stack; what it pushed by "
                 "itself is lost. Return mark_stack_ptr, or what GC_mark_and_push returned", (void *)trouble.strayed);
    if (trouble.endless != NULL && !trouble.reported_endless)
        sgc_warn("the hook of GC_set_on_mark_stack_empty, %p, pushed %d times in a row what was marked already; the collection "
                 "has gone on without it. Return mark_stack_ptr as it was when nothing is left to mark",
                 (void *)trouble.endless, FRUITLESS_MAX);
    trouble.reported_strayed |= trouble.strayed != NULL;
    trouble.reported_endless |= trouble.endless != NULL;
    trouble.strayed = trouble.endless = NULL;
}

void sgc_client_report(void)
{
    sgc_assert(sgc_gc_lock_held() && !sgc_stopped_by_self());
    check_words();
    report_trouble();
}
