/* SPDX-License-Identifier: MIT */
/*
 * mark/work/deque.c and mark/work/steal_rules.h, both forms, on one thread: sharing, stealing, places used again, the check
 * function. Order and memory: test_deque_memory.c.
 */
#include <string.h>

#include "tests/lib/deque.h"

/* ---- the decisions ---- */

static void test_policy(void)
{
    bool share = true, reclaim = true, half = true;

    for (size_t n = 0; n < 20000; n++) {
        size_t s = sgc_share_count(n), r = sgc_reclaim_count(n), t = sgc_steal_count(SGC_STEAL_HALF, n);

        share = share && s <= SGC_PUBLIC_MAX && s <= n && (n < SGC_SHARE_MIN ? s == 0 : s >= 1 && s < n);
        reclaim = reclaim && r <= n && (n == 0 || r >= 1) && (n < 2 || r < n);
        half = half && t <= n && t <= SGC_BATCH_MAX && (n == 0 || t >= 1) && (n < 2 || t < n) &&
               t <= sgc_steal_max(SGC_STEAL_HALF);
    }
    tap_ok(share, "sharing gives something away, keeps something, and stays in bounds");
    tap_ok(reclaim, "taking back takes something and leaves something");
    tap_ok(half, "so does a theft of half, and it is bounded");
    tap_ok(sgc_steal_count(SGC_STEAL_ONE, 0) == 0 && sgc_steal_count(SGC_STEAL_ONE, 1) == 1 &&
           sgc_steal_count(SGC_STEAL_ONE, 4095) == 1 && sgc_steal_max(SGC_STEAL_ONE) == 1, "a theft of one takes one");
    tap_ok(!sgc_slide_pays(100, 0) && sgc_slide_pays(40000, 10000) && !sgc_slide_pays(40000, 10001),
           "pieces move down when four times as many were stolen");
    tap_ok(sgc_slide_helps(1, 1) && !sgc_slide_helps(1, 2) && !sgc_slide_helps(0, 0),
           "without memory, as soon as they fit below");
}

static void test_word(void)
{
    uintptr_t word = sgc_public(SGC_DEQUE_MAX, SGC_PUBLIC_MAX, 0xABCDEF);

    tap_ok(sgc_public_bottom(word) == SGC_DEQUE_MAX && sgc_public_length(word) == SGC_PUBLIC_MAX &&
           sgc_public_tag(word) == 0xABCDEF, "the largest bottom, length and tag fit in a word");
    word = sgc_public(1, 2, 3);
    tap_ok(sgc_public_bottom(word) == 1 && sgc_public_length(word) == 2 && sgc_public_tag(word) == 3,
           "and small ones do not run into each other");
}

/* ---- one owner ---- */

static void test_share(const struct deque_form *form)
{
    begin(form, LEAST);
    push(&deque, 0);
    tap_ok(!sgc_deque_share(&deque) && sgc_deque_seems_empty(&deque), "%s: a single piece is not shared", form_name);
    push_range(&deque, 1, 10);
    tap_ok(sgc_deque_share(&deque) && public_length(&deque) == 5 && deque.watermark == 5, "of ten, five become public");
    push_range(&deque, 10, 20);
    tap_ok(!sgc_deque_share(&deque) && public_length(&deque) == 5, "and no more while they are there");
    tap_ok(pop_range(&deque, 5, 20) && deque.top == deque.watermark, "the owner pops the private ones without looking");
    tap_ok(pop(&deque) == 4 && public_length(&deque) == 2, "then it takes three back");
    tap_ok(pop_range(&deque, 0, 4) && pop(&deque) == SIZE_MAX && sgc_deque_empty(&deque), "until nothing is left");
    tap_ok(deque.top == 0 && sound(), "and begins anew at 0");
    push_range(&deque, 0, LEAST_PIECES);
    sgc_deque_share(&deque);
    tap_ok(public_length(&deque) == LEAST_PIECES / 2, "a full stack is shared in half");
    sgc_deque_take_back(&deque);
    tap_ok(public_length(&deque) == 0 && sgc_deque_private(&deque) == LEAST_PIECES && sound(), "and taken back as a whole");
    sgc_deque_reset(&deque);
    tap_ok(sgc_deque_empty(&deque) && deque.top == 0 && pop(&deque) == SIZE_MAX && sound(),
           "a reset forgets public and private pieces");
    end();
    begin(form, 1 << 20);
    push_range(&deque, 0, 20000);
    tap_ok(sgc_deque_share(&deque) && public_length(&deque) == SGC_PUBLIC_MAX && sound(),
           "the public part is bounded");
    tap_ok(pop_range(&deque, 0, 20000), "and all of it comes back");
    end();
}

/* ---- thieves ---- */

static void test_steal(const struct deque_form *form)
{
    begin(form, LEAST);
    push_range(&deque, 0, 10);
    tap_ok(sgc_deque_steal(&deque, &thief, SGC_STEAL_HALF) == 0, "%s: private pieces cannot be stolen", form_name);
    sgc_deque_share(&deque);
    tap_ok(sgc_deque_steal(&deque, &thief, SGC_STEAL_ONE) == 1 && thief.top == 1 && public_length(&deque) == 4,
           "one is stolen");
    tap_ok(sgc_deque_steal(&deque, &thief, SGC_STEAL_HALF) == 2 && public_length(&deque) == 2,
           "half of four is stolen by somebody who has work");
    tap_ok(sgc_deque_steal(&deque, &third, SGC_STEAL_HALF) == 1 && pop(&third) == 3, "another gets the next");
    tap_ok(pop_range(&thief, 0, 3) && pop(&thief) == SIZE_MAX, "the oldest pieces went first, in order");
    tap_ok(pop_range(&deque, 4, 10) && pop(&deque) == SIZE_MAX, "the owner has the rest");
    tap_ok(sound() && deque.top == 0, "and begins anew");
    push_range(&deque, 0, 1000);
    sgc_deque_share(&deque);
    tap_ok(sgc_deque_steal(&deque, &thief, SGC_STEAL_HALF) == SGC_BATCH_MAX, "a theft is bounded");
    tap_ok(pop_range(&thief, 0, SGC_BATCH_MAX) && pop_range(&deque, SGC_BATCH_MAX, 1000), "and loses nothing");
    end();
}

/* A thief is between its look and its compare-and-swap; the owner meanwhile empties the deque and fills it the same
 * way. */
static void test_tag(const struct deque_form *form)
{
    begin(form, LEAST);
    push_range(&deque, 0, 4);
    sgc_deque_share(&deque);
    uintptr_t seen = sgc_aw_load(&deque.word);
    pop_range(&deque, 0, 4);
    push_range(&deque, 4, 8);
    sgc_deque_share(&deque);
    tap_ok(sgc_aw_load(&deque.word) != seen && public_length(&deque) == 2,
           "%s: the same part made public again has another tag", form_name);
    sgc_deque_reset(&deque);
    push_range(&deque, 0, 4);
    sgc_deque_share(&deque);
    seen = sgc_aw_load(&deque.word);
    sgc_deque_steal(&deque, &thief, SGC_STEAL_ONE);
    sgc_deque_steal(&deque, &thief, SGC_STEAL_ONE);
    pop_range(&deque, 2, 4);
    pop(&deque);
    push_range(&deque, 4, 8);
    sgc_deque_share(&deque);
    tap_ok(sgc_aw_load(&deque.word) != seen && public_length(&deque) == 2, "also when the first was stolen");
    seen = sgc_aw_load(&deque.word);
    sgc_deque_reset(&deque);
    push_range(&deque, 8, 12);
    sgc_deque_share(&deque);
    tap_ok(sgc_aw_load(&deque.word) != seen && public_length(&deque) == 2, "also after a reset");
    end();
}

/* ---- places used again ---- */

/* The owner stays busy, thieves take what it shares: without a remedy the stack would wander upward, through all the
 * memory that a deep mark has left it. */
static void test_drift(const struct deque_form *form, size_t depth)
{
    size_t next = 0, sum = 0, expected = 0, highest = 0;
    bool kept = true;

    begin(form, 1 << 20);
    kept = push_range(&deque, 0, depth) && pop_range(&deque, 0, depth);
    for (size_t round = 0; round < 100000; round++) {
        kept = kept && push(&deque, next) && push(&deque, next + 1);
        expected += next + next + 1;
        next += 2;
        sgc_deque_share(&deque);
        while (sgc_deque_steal(&deque, &thief, SGC_STEAL_HALF) != 0)
            sum += pop(&thief);
        if (deque.top > highest)
            highest = deque.top;
        if (deque.top - deque.watermark > 8)
            sum += pop(&deque);
    }
    for (size_t n; (n = pop(&deque)) != SIZE_MAX;)
        sum += n;
    tap_ok(kept && sum == expected, "%s: 200000 pieces pass through a stack of 65536", form_name);
    tap_ok(highest <= SGC_SLIDE_MIN + 100, "which never stands higher than %zu", highest);
    tap_ok(sound() && (depth != 0 || deque.memory.committed == LEAST_PIECES), "and needs %zu KB of memory",
           deque.memory.committed * sizeof(struct sgc_work) >> 10);
    end();
}

#define damaged(what, ...)                                                                          \
    do {                                                                                            \
        what;                                                                                       \
        tap_ok(!sgc_deque_sound(&deque), __VA_ARGS__);                                              \
        memcpy(&deque, &good, sizeof deque);                                                        \
    } while (0)

static void test_check(const struct deque_form *form)
{
    struct sgc_deque good;

    begin(form, LEAST);
    push_range(&deque, 0, 100);
    sgc_deque_share(&deque);
    memcpy(&good, &deque, sizeof good);
    uintptr_t word = sgc_aw_load(&deque.word);
    tap_ok(sgc_deque_sound(&deque), "%s: a deque in use is sound", form_name);
    damaged(deque.top = 49, "a top below the watermark is seen");
    damaged(deque.top = LEAST_PIECES + 1, "a top above the memory");
    damaged(deque.memory.committed = LEAST_PIECES * 2, "more memory than there is space for");
    damaged(deque.watermark = 51, "a watermark that is not the public part's end");
    damaged(sgc_aw_store(&deque.word, word + 1), "a bottom too high");
    damaged(sgc_aw_store(&deque.word, sgc_public(0, 51, sgc_public_tag(word))), "a public part too long");
    damaged(sgc_aw_store(&deque.word, sgc_public(0, 50, sgc_public_tag(word) + 1)), "another's tag");
    damaged(deque.entries = NULL, "no pieces where thieves look");
    damaged(sgc_a32_store(&deque.lock.word, 3), "a lock that is in no state");
    pop_range(&deque, 0, 100);
    tap_ok(pop(&deque) == SIZE_MAX && sgc_deque_sound(&deque), "emptied, it is sound");
    end();
}

int main(void)
{
    sgc_platform_init();
    test_policy();
    test_word();
    for (const struct deque_form *form = deque_forms; form < deque_forms + 2; form++) {
        test_share(form);
        test_steal(form);
        test_tag(form);
        test_drift(form, 0);
        test_drift(form, 60000);
        test_check(form);
    }
    return tap_done();
}
