/* SPDX-License-Identifier: MIT */
/*
 * What the tests of mark/work/deque.c share: three deques of one form, and pieces that are numbers.
 */
#ifndef TESTS_LIB_DEQUE_H
#define TESTS_LIB_DEQUE_H

#include "mark/work/deque.h"
#include "platform/platform.h"
#include "tests/lib/tap.h"

enum { LEAST = 64 << 10, LEAST_PIECES = LEAST / sizeof(struct sgc_work) };

static const struct deque_form {
    enum sgc_stack_form form;
    const char *name;
} deque_forms[] = { { SGC_STACK_SPLIT, "split" }, { SGC_STACK_LOCKED, "locked" } };

static struct sgc_deque deque, thief, third;
static const char *form_name;

TEST_UNUSED static void begin(const struct deque_form *form, size_t bytes)
{
    form_name = form->name;
    if (!sgc_deque_init(&deque, bytes, form->form) || !sgc_deque_init(&thief, bytes, form->form) ||
        !sgc_deque_init(&third, bytes, form->form))
        tap_bail("no deques of %zu bytes", bytes);
}

TEST_UNUSED static void end(void)
{
    sgc_deque_release(&deque);
    sgc_deque_release(&thief);
    sgc_deque_release(&third);
}

/* Pieces are numbers; both words of one say which. */
TEST_UNUSED static bool push(struct sgc_deque *d, size_t number)
{
    return sgc_deque_push(d, number * 8, number);
}

TEST_UNUSED static bool push_range(struct sgc_deque *d, size_t from, size_t to)
{
    for (; from < to; from++)
        if (!push(d, from))
            return false;
    return true;
}

/* SIZE_MAX: none; SIZE_MAX - 1: its words do not belong together. */
TEST_UNUSED static size_t pop(struct sgc_deque *d)
{
    struct sgc_work work;

    if (!sgc_deque_pop(d, &work))
        return SIZE_MAX;
    return work.start == work.bytes * 8 ? work.bytes : SIZE_MAX - 1;
}

/* Pops to - from pieces: to - 1, ..., from. */
TEST_UNUSED static bool pop_range(struct sgc_deque *d, size_t from, size_t to)
{
    while (to > from)
        if (pop(d) != --to)
            return false;
    return true;
}

TEST_UNUSED static size_t public_length(const struct sgc_deque *d)
{
    return sgc_public_length(sgc_aw_load(&d->word));
}

TEST_UNUSED static bool sound(void)
{
    return sgc_deque_sound(&deque) && sgc_deque_sound(&thief) && sgc_deque_sound(&third);
}

#endif
