/* SPDX-License-Identifier: MIT */
/* Disappearing links, short and long.  See tests/fuzz/model.h. */
#include "tests/fuzz/model.h"

static void *static_word[LINKS];        /* of links: roots, but inverted addresses keep nothing */

void prepare_links(void)
{
    for (int i = 0; i < LINKS; i++)
        links[i].in = links[i].target = NONE;
}

/* Behind the edges of the object that it lies in. */
static void **word_of(int i)
{
    int in = links[i].in;

    return in == NONE ? &static_word[i] : (void **)address_of(in) + first_word(handle[in].how) + EDGES;
}

static bool can_hold_link(int h)
{
    return has_edges(h) && handle[h].link == NONE &&
           handle[h].size >= (size_t)(first_word(handle[h].how) + EDGES + 1) * sizeof(uintptr_t);
}

static void drop_link(int i)
{
    if (links[i].in != NONE)
        handle[links[i].in].link = NONE;
    links[i] = (struct link){ .target = NONE, .in = NONE };
}

void links_lose_target(int h)
{
    for (int i = 0; i < LINKS; i++)
        if (links[i].registered && links[i].target == h)
            links[i].target = NONE;
}

void links_lose_holder(int h)
{
    if (handle[h].hidden != 0 && handle[h].link != NONE)
        drop_link(handle[h].link);
}

static bool is_certain(int i)
{
    model_reach();
    return links[i].target != NONE && reached[links[i].target];
}

static int unregister(int i)
{
    return links[i].is_long ? GC_unregister_long_link(word_of(i)) : GC_unregister_disappearing_link(word_of(i));
}

/* The word gets bytes again, if it lies in an object. */
static void end_link(int i)
{
    int in = links[i].in;

    *word_of(i) = NULL;
    drop_link(i);
    if (in != NONE)
        fill(in, handle[in].seal);
}

/* Links that were cleared, to objects that may come back now. */
void note_cleared_links(void)
{
    for (int i = 0; i < LINKS; i++)
        if (links[i].registered && (links[i].in == NONE || kept[links[i].in]) && *word_of(i) == NULL &&
            !(links[i].target != NONE && reached[links[i].target]))
            end_link(i);
}

static void unlink_one(int i)
{
    bool certain = is_certain(i);
    int answer = unregister(i);

    fuzz_expect(answer == 1 || !certain, "link %d, which was registered, is not", i);
    fuzz_expect(unregister(i) == 0, "link %d is still registered when it was unregistered", i);
    end_link(i);
}

static void register_again(int i, int h)
{
    bool certain = is_certain(i);
    int answer;

    *word_of(i) = (void *)handle[h].hidden;
    answer = links[i].is_long ? GC_register_long_link(word_of(i), base_of(h))
                              : GC_general_register_disappearing_link(word_of(i), base_of(h));
    fuzz_expect(answer == GC_DUPLICATE || (!certain && answer == GC_SUCCESS), "link %d is registered again: %d", i, answer);
    links[i].target = h;
    links[i].hidden = handle[h].hidden;
    *word_of(i) = (void *)handle[h].hidden;
}

static void register_new(int i, int h, int in, bool is_long)
{
    int answer;

    links[i] = (struct link){ .target = h, .registered = true, .is_long = is_long, .in = in, .hidden = handle[h].hidden };
    if (in != NONE)
        handle[in].link = i;
    *word_of(i) = (void *)handle[h].hidden;
    answer = is_long ? GC_register_long_link(word_of(i), base_of(h))
                     : GC_general_register_disappearing_link(word_of(i), base_of(h));
    fuzz_expect(answer == GC_SUCCESS, "link %d is registered: %d", i, answer);
}

/* In an object that roots reach, or in static data. */
void op_link(struct fuzz_input *in)
{
    int i = (int)fuzz_below(in, LINKS), h = used_handle(fuzz_byte(in)), holder;
    unsigned code = fuzz_byte(in);

    if (h == NONE || (links[i].registered && links[i].in != NONE && !reached[links[i].in]))
        return;
    holder = code >= 160 ? used_handle(fuzz_byte(in)) : NONE;
    if (links[i].registered)
        register_again(i, h);
    else
        register_new(i, h, holder != NONE && can_hold_link(holder) ? holder : NONE, code % 2 != 0);
}

/* From static data to static data. */
static void move_one(int from, int to)
{
    bool certain = is_certain(from);
    int answer;

    if (links[to].registered || links[from].in != NONE)
        return;
    static_word[to] = static_word[from];
    answer = links[from].is_long ? GC_move_long_link(word_of(from), &static_word[to])
                                 : GC_move_disappearing_link(word_of(from), &static_word[to]);
    fuzz_expect(answer == GC_SUCCESS || (!certain && answer == GC_NOT_FOUND), "link %d is moved: %d", from, answer);
    if (answer == GC_SUCCESS)
        links[to] = links[from];
    else
        static_word[to] = NULL;
    end_link(from);
}

void op_unlink(struct fuzz_input *in)
{
    int i = (int)fuzz_below(in, LINKS), to = (int)fuzz_below(in, 2 * LINKS);

    model_reach();
    if (!links[i].registered || (links[i].in != NONE && !reached[links[i].in]))
        return;
    if (to < LINKS && to != i)
        move_one(i, to);
    else
        unlink_one(i);
}

void unlink_in(int h)
{
    if (handle[h].link != NONE)
        unlink_one(handle[h].link);
}

/* Those in objects that may be gone are forgotten with them. */
void unlink_all(void)
{
    for (int i = 0; i < LINKS; i++) {
        model_reach();
        if (links[i].registered && (links[i].in == NONE || kept[links[i].in]))
            unlink_one(i);
    }
}

/* A short link goes when roots do not reach its target any more, a long one when nothing does; `blamed`: a word on a stack
 * keeps something, so there may be a link less.  False: it is over. */
static bool check_link(int i, bool blamed)
{
    struct link *l = &links[i];
    bool lives = l->target != NONE && (l->is_long ? kept[l->target] : reached[l->target] || held_by_dead(l->target));

    if (!lives) {
        fuzz_expect(*word_of(i) == NULL || blamed, "%s link %d is not cleared, and its object is gone",
                    l->is_long ? "long" : "short", i);
        return *word_of(i) != NULL;
    }
    fuzz_expect(*word_of(i) == (void *)l->hidden || (blamed && *word_of(i) == NULL),
                "%s link %d to object %d, which lives, holds %p", l->is_long ? "long" : "short", i, l->target, *word_of(i));
    return *word_of(i) != NULL;
}

void check_links(void)
{
    bool blamed = false;

    for (int h = 0; h < HANDLES; h++)
        blamed = blamed || handle[h].blamed;
    model_reach();
    for (int i = 0; i < LINKS; i++)
        if (links[i].registered && (links[i].in == NONE || kept[links[i].in]) && !check_link(i, blamed))
            end_link(i);
}
