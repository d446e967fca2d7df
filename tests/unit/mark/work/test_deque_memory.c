/* SPDX-License-Identifier: MIT */
/*
 * mark/work/deque.c and mark/work/deque_memory.c, both forms: a deque keeps order, grows in place to its limit, refuses
 * then, gives memory back, finds room where pieces were stolen, and loses nothing when it or a thief gets no memory.
 */
#include "tests/lib/child.h"
#include "tests/lib/deque.h"
#include "tests/lib/proc.h"
#include "tests/lib/sanitized.h"

static void test_order(const struct deque_form *form)
{
    begin(form, 1 << 20);
    tap_ok(deque.memory.committed == 0 && sgc_deque_empty(&deque) && pop(&deque) == SIZE_MAX,
           "%s: a new deque is empty and has no memory", form_name);
    size_t all = deque.memory.reserved;
    tap_ok(push_range(&deque, 0, all) && all == (1 << 20) / sizeof(struct sgc_work),
           "it takes as many pieces as there is space (%zu)", all);
    tap_ok(!push(&deque, all) && deque.top == all && sound(), "and refuses the next, unharmed");
    tap_ok(pop_range(&deque, 0, all) && sgc_deque_empty(&deque), "pieces come back last in, first out");
    tap_ok(deque.deepest == all, "its depth is remembered");
    end();
}

static void test_memory(const struct deque_form *form)
{
    begin(form, 16 << 20);
    size_t grown = 0, committed = 0, pieces = (16 << 20) / sizeof(struct sgc_work);
    for (size_t i = 0; i < pieces; i++) {
        push(&deque, i);
        grown += deque.memory.committed != committed;
        committed = deque.memory.committed;
    }
    tap_ok(grown > 1 && grown <= 10, "%s: 16 MB are committed in %zu steps", form_name, grown);
    sgc_deque_reset(&deque);
    sgc_deque_trim(&deque);
    size_t resident = sgc_mem_resident(deque.memory.base, 16 << 20);
    tap_ok(resident <= LEAST, "trimmed, %zu KB stay resident", resident >> 10);
    tap_ok(push_range(&deque, 0, pieces) && pop_range(&deque, 0, pieces), "and it can be filled again");
    end();
    begin(form, 1);
    tap_ok(deque.memory.reserved == LEAST_PIECES, "less than 64 KB is 64 KB");
    end();
    begin(form, 100000);
    tap_ok(deque.memory.reserved * sizeof(struct sgc_work) <= 100000 && push_range(&deque, 0, deque.memory.reserved),
           "a limit that is no multiple of anything is kept");
    end();
    if (!sgc_deque_init(&deque, (size_t)8 << 30, form->form))
        tap_bail("no address space");
    tap_ok(deque.memory.reserved <= SGC_DEQUE_MAX, "8 GB would be more than a word can number: %zu pieces",
           deque.memory.reserved);
    sgc_deque_release(&deque);
}

/* ---- room ---- */

/* No memory above, stolen places below. */
static void test_slide_for_room(const struct deque_form *form)
{
    begin(form, LEAST);
    push_range(&deque, 0, LEAST_PIECES);
    sgc_deque_share(&deque);
    while (sgc_deque_steal(&deque, &third, SGC_STEAL_HALF) != 0)
        continue;
    tap_ok(deque.watermark == LEAST_PIECES / 2 && deque.top == LEAST_PIECES, "%s: half of a full stack is stolen",
           form_name);
    tap_ok(push(&deque, LEAST_PIECES) && deque.watermark == 0 && deque.top == LEAST_PIECES / 2 + 1 && sound(),
           "and the next piece finds room");
    tap_ok(pop_range(&deque, LEAST_PIECES / 2, LEAST_PIECES + 1), "above the others, moved down");
    tap_ok(pop_range(&third, 0, LEAST_PIECES / 2), "what was stolen is all there");
    push_range(&deque, 0, LEAST_PIECES);
    sgc_deque_share(&deque);
    sgc_deque_steal(&deque, &third, SGC_STEAL_HALF);
    tap_ok(!push(&deque, 0), "what is public is not moved");
    tap_ok(pop_range(&deque, SGC_BATCH_MAX, LEAST_PIECES) && pop_range(&third, 0, SGC_BATCH_MAX), "nor lost");
    end();
}

static void test_full_thief(const struct deque_form *form)
{
    begin(form, LEAST);
    push_range(&deque, 0, 100);
    sgc_deque_share(&deque);
    push_range(&thief, 1000, 1000 + LEAST_PIECES);
    tap_ok(sgc_deque_steal(&deque, &thief, SGC_STEAL_HALF) == 0 && public_length(&deque) == 50,
           "%s: a thief without room takes nothing", form_name);
    pop_range(&thief, 1000 + LEAST_PIECES - 3, 1000 + LEAST_PIECES);
    tap_ok(sgc_deque_steal(&deque, &thief, SGC_STEAL_HALF) == 3 && public_length(&deque) == 47,
           "one with little room takes little");
    tap_ok(pop_range(&thief, 0, 3) && pop_range(&thief, 1000, 1000 + LEAST_PIECES - 3), "onto what it had");
    tap_ok(pop_range(&deque, 3, 100) && sound(), "the rest stays");
    end();
}

/* ---- refusals, in children ---- */

static enum sgc_stack_form child_form;

static int no_address_space(void)
{
    setrlimit(RLIMIT_AS, &(struct rlimit){ 0, 0 });
    return sgc_deque_init(&deque, 0, child_form) && push_range(&deque, 0, 1) ? 1 : 0;
}

static int little_address_space(void)
{
    size_t limit = proc_address_space() + (64 << 20);

    setrlimit(RLIMIT_AS, &(struct rlimit){ limit, limit });
    if (!sgc_deque_init(&deque, 0, child_form))
        return 3;
    return proc_address_space() <= limit - (63 << 20) && push_range(&deque, 0, 1 << 20) ? 0 : 4;
}

/* The thief's memory is refused, then the owner's. */
static int no_memory(void)
{
    struct rlimit before;

    if (!sgc_deque_init(&deque, 16 << 20, child_form) || !sgc_deque_init(&thief, 16 << 20, child_form) ||
        getrlimit(RLIMIT_DATA, &before) != 0)
        return 2;
    push_range(&deque, 0, LEAST_PIECES);
    sgc_deque_share(&deque);
    setrlimit(RLIMIT_DATA, &(struct rlimit){ 1, before.rlim_max });     /* 0 would mean the hard limit */
    if (push(&thief, 1) || sgc_deque_steal(&deque, &thief, SGC_STEAL_HALF) != 0)
        return 3;
    if (push(&deque, 1) || deque.top != LEAST_PIECES || !sgc_deque_sound(&deque))
        return 4;
    setrlimit(RLIMIT_DATA, &before);
    if (sgc_deque_steal(&deque, &thief, SGC_STEAL_HALF) != SGC_BATCH_MAX || !push(&deque, LEAST_PIECES))
        return 5;
    return pop_range(&thief, 0, SGC_BATCH_MAX) && pop_range(&deque, SGC_BATCH_MAX, LEAST_PIECES + 1) ? 0 : 6;
}

static void test_refusals(const struct deque_form *form)
{
    if (TEST_SANITIZED) {
        tap_skip("a sanitizer has taken the address space");
        return;
    }
    child_form = form->form;
    child_ok(no_address_space, "%s: without address space there is no deque, or none that holds anything", form->name);
    child_ok(little_address_space, "with little of it, it takes what it needs");
    child_ok(no_memory, "commits that are refused lose no piece");
}

int main(void)
{
    sgc_platform_init();
    for (const struct deque_form *form = deque_forms; form < deque_forms + 2; form++) {
        test_order(form);
        test_memory(form);
        test_slide_for_room(form);
        test_full_thief(form);
        test_refusals(form);
    }
    return tap_done();
}
