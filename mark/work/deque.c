/* SPDX-License-Identifier: MIT */
/*
 * The mark deque: what is not done in a few instructions.  sgc_deque_steal runs on any marker,
 * everything else on the deque's owner.  World stopped.
 */
#include "mark/work/deque.h"

#include "platform/platform.h"

bool sgc_deque_init(struct sgc_deque *d, size_t bytes, enum sgc_stack_form form)
{
    *d = (struct sgc_deque){ .form = form };
    if (!sgc_stack_memory_init(&d->memory, bytes, SGC_DEQUE_MAX))
        return false;
    d->entries = d->memory.base;
    return true;
}

void sgc_deque_release(struct sgc_deque *d)
{
    sgc_assert(sgc_deque_ok(d));
    sgc_stack_memory_release(&d->memory);
    *d = (struct sgc_deque){ .form = d->form };
}

/* ---- changing the word ---- */

static void begin_change(struct sgc_deque *d)
{
    if (d->form == SGC_STACK_LOCKED)
        sgc_futex_lock(&d->lock);
}

static void end_change(struct sgc_deque *d)
{
    if (d->form == SGC_STACK_LOCKED)
        sgc_futex_unlock(&d->lock);
}

/* Changes a word with a length. */
static bool replace(struct sgc_deque *d, uintptr_t seen, uintptr_t next)
{
    sgc_assert(sgc_public_length(seen) >= sgc_public_length(next));
    if (d->form == SGC_STACK_SPLIT)
        return sgc_aw_cas(&d->word, seen, next);
    sgc_aw_store_rel(&d->word, next);
    return true;
}

/* Places below the watermark will be written: no word of before may come up again. */
static void new_tag(struct sgc_deque *d)
{
    d->tag = (d->tag + 1) & (((uintptr_t)1 << SGC_TAG_BITS) - 1);
}

/* ---- the owner ---- */

/* Nothing is public and nothing private. */
static void begin_anew(struct sgc_deque *d)
{
    if (d->watermark != 0)
        new_tag(d);
    d->top = d->watermark = 0;
}

/* Nothing is public: the private part moves down over places that were stolen.  They do not
 * overlap. */
static void slide(struct sgc_deque *d)
{
    size_t pieces = d->top - d->watermark;

    sgc_assert(d->watermark >= pieces);
    for (size_t i = 0; i < pieces; i++)
        sgc_deque_entry_copy(sgc_deque_own(d, i), sgc_deque_own(d, d->watermark + i));
    new_tag(d);
    d->watermark = 0;
    d->top = pieces;
}

/* Nothing is public; if so, only the owner can change that.  The acquire is for what it writes into
 * stolen places now: thieves have read them. */
static bool all_stolen(const struct sgc_deque *d)
{
    return sgc_public_length(sgc_aw_load_acq(&d->word)) == 0;
}

/* Takes back some of the public pieces, or all; false if there are none. */
static bool take_back(struct sgc_deque *d, bool all)
{
    for (;;) {
        uintptr_t seen = sgc_aw_load_acq(&d->word);
        size_t length = sgc_public_length(seen);
        size_t pieces = all ? length : sgc_reclaim_count(length);

        if (length == 0)
            return false;
        new_tag(d);
        if (replace(d, seen, sgc_public(sgc_public_bottom(seen), length - pieces, d->tag))) {
            sgc_assert(pieces <= d->watermark);
            d->watermark -= pieces;
            return true;
        }
    }
}

bool sgc_deque_reclaim(struct sgc_deque *d)
{
    bool got;

    sgc_assert(sgc_deque_ok(d) && d->top == d->watermark);
    begin_change(d);
    got = take_back(d, false);
    end_change(d);
    if (!got)
        begin_anew(d);
    return got;
}

bool sgc_deque_publish(struct sgc_deque *d)
{
    size_t private_pieces = d->top - d->watermark;
    size_t pieces = sgc_share_count(private_pieces);

    sgc_assert(sgc_deque_ok(d) && private_pieces >= SGC_SHARE_MIN);
    begin_change(d);
    if (sgc_slide_pays(d->watermark, private_pieces) && all_stolen(d))
        slide(d);
    sgc_aw_store_rel(&d->word, sgc_public(d->watermark, pieces, d->tag));
    end_change(d);
    d->watermark += pieces;
    return true;
}

/* Room that stolen pieces have left comes before new memory. */
size_t sgc_deque_room(struct sgc_deque *d, size_t wanted)
{
    struct sgc_stack_memory *memory = &d->memory;

    sgc_assert(sgc_deque_ok(d));
    if (memory->committed - d->top < wanted && sgc_slide_helps(d->watermark, d->top - d->watermark) && all_stolen(d))
        slide(d);
    while (memory->committed - d->top < wanted && sgc_stack_memory_grow(memory))
        continue;
    return memory->committed - d->top < wanted ? memory->committed - d->top : wanted;
}

void sgc_deque_take_back(struct sgc_deque *d)
{
    sgc_assert(sgc_deque_ok(d));
    begin_change(d);
    take_back(d, true);
    end_change(d);
}

void sgc_deque_reset(struct sgc_deque *d)
{
    sgc_deque_take_back(d);
    begin_anew(d);
}

void sgc_deque_trim(struct sgc_deque *d)
{
    sgc_assert(sgc_deque_ok(d) && sgc_deque_empty(d));
    begin_anew(d);
    sgc_stack_memory_trim(&d->memory);
}

size_t sgc_deque_resident(const struct sgc_deque *d)
{
    sgc_assert(sgc_deque_ok(d));
    return sgc_mem_resident(d->memory.base, d->memory.committed * sizeof(struct sgc_work));
}

/* A word with an older tag is one that was left at length 0. */
bool sgc_deque_sound(const struct sgc_deque *d)
{
    uintptr_t word = sgc_aw_load(&d->word);
    size_t public_end = sgc_public_bottom(word) + sgc_public_length(word);

    if (d->entries != d->memory.base || d->memory.reserved > SGC_DEQUE_MAX)
        return false;
    if (d->watermark > d->top || d->top > d->memory.committed || d->memory.committed > d->memory.reserved)
        return false;
    if (sgc_a32_load(&d->lock.word) > SGC_FUTEX_SLEPT_ON)
        return false;
    return sgc_public_tag(word) == d->tag ? public_end == d->watermark : sgc_public_length(word) == 0;
}

/* ---- thieves ---- */

/* Copies first and takes then, both or neither. */
static bool copy_and_take(struct sgc_deque *victim, struct sgc_deque *thief, uintptr_t seen, size_t pieces)
{
    size_t bottom = sgc_public_bottom(seen);
    size_t left = sgc_public_length(seen) - pieces;

    sgc_assert(pieces <= sgc_public_length(seen) && pieces <= thief->memory.committed - thief->top);
    for (size_t i = 0; i < pieces; i++)
        sgc_deque_entry_copy(sgc_deque_own(thief, thief->top + i), &victim->entries[bottom + i]);
    return replace(victim, seen, sgc_public(bottom + pieces, left, sgc_public_tag(seen)));
}

/* Room is made beforehand: what has been taken can be kept, and nothing slow lies between look and
 * theft. */
size_t sgc_deque_steal(struct sgc_deque *victim, struct sgc_deque *thief, enum sgc_steal how)
{
    size_t room = sgc_deque_room(thief, sgc_steal_max(how));
    size_t pieces;
    uintptr_t seen;

    sgc_assert(victim != thief && victim->form == thief->form && sgc_deque_ok(thief));
    begin_change(victim);
    seen = sgc_aw_load_acq(&victim->word);
    pieces = sgc_steal_count(how, sgc_public_length(seen));
    if (pieces > room)
        pieces = room;
    if (pieces != 0 && !copy_and_take(victim, thief, seen, pieces))
        pieces = 0;
    end_change(victim);
    thief->top += pieces;
    return pieces;
}
