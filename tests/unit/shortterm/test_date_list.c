/* SPDX-License-Identifier: MIT */
/*
 * Lists, queues and clocks of dates against a naive model, with pages of one word and of many; and every place at which a
 * function may be left by a jump.
 *
 * Also: shortterm/dates/date_list.c, shortterm/dates/date_pages.c.
 */
#include "shortterm/dates/date_list.h"

#include "tests/lib/child.h"
#include "tests/lib/random.h"

enum { LISTS = 5, MOST = 4000 };

/* What the lists should hold. */
struct model {
    uintptr_t date[LISTS][MOST];
    uint32_t count[LISTS];
    uint32_t now;
};

static struct model model;
static struct sgc_date_list lists[LISTS];
static struct sgc_date_buffer buffer;
static struct sgc_date_queue queue;
static struct sgc_date_pool pool;
static uintptr_t seen[LISTS * MOST];
static uint32_t seen_count;

static void see(TEST_UNUSED void *arg, uintptr_t *from, uintptr_t *end)
{
    for (; from < end && seen_count < LISTS * MOST; from++)
        seen[seen_count++] = *from;
}

static bool list_is(const struct sgc_date_list *list, const uintptr_t *date, uint32_t count)
{
    seen_count = 0;
    sgc_date_list_visit(list, see, NULL);
    return seen_count == count && (count == 0 || memcmp(seen, date, count * sizeof *date) == 0);
}

static bool agrees(void)
{
    bool same = buffer.now == model.now;

    for (uint32_t i = 0; i < LISTS; i++)
        same = same && list_is(&lists[i], model.date[i], model.count[i]);
    return same;
}

static void refresh(uint32_t later, uintptr_t date)
{
    uint32_t at = (model.now + later) % LISTS;
    struct sgc_date_list *list = sgc_date_buffer_list(&buffer, later);

    if (model.count[at] == MOST)
        return;
    model.date[at][model.count[at]++] = date;
    sgc_date_pool_fill(&pool, NULL);
    if (*list->next == SGC_DATES_END)
        sgc_date_list_extend(list, &pool);
    *list->next++ = date;
}

static void tick(void)
{
    struct sgc_date_page *first, *last;

    model.count[model.now] = 0;
    model.now = (model.now + 1) % LISTS;
    sgc_date_list_clear(sgc_date_buffer_tick(&buffer), &first, &last);
    if (first != NULL)
        sgc_date_pages_give(&pool, first, last, NULL);
}

/* Many histories; 0 if the lists were always as in the model. */
static int histories(size_t bytes)
{
    uint64_t state = 42 + bytes;
    int wrong = 0;

    sgc_date_pages_init(bytes, 1);
    sgc_date_buffer_init(&buffer, lists, LISTS);
    for (int i = 0; i < 3000; i++) {
        uint32_t many = random_below(&state, 3) != 0 ? random_below(&state, 4) : random_below(&state, 700);

        for (uint32_t later = random_below(&state, LISTS); many > 0; many--)
            refresh(later, 16 * (1 + (uintptr_t)random_below(&state, 100000)));
        if (random_below(&state, 2) == 0)
            tick();
        if (i % 16 == 0)
            wrong += !agrees();
    }
    sgc_date_buffer_drop(&buffer, &pool, NULL);
    for (int i = 0; i < LISTS; i++)
        wrong += !list_is(&lists[i], NULL, 0);
    return wrong != 0;
}

/* Pages are used again: 10 000 ticks with as many dates each need no more memory than the first ones. */
static int steady(void)
{
    size_t before = 0;

    sgc_date_pages_init(4096, 1);
    sgc_date_buffer_init(&buffer, lists, LISTS);
    for (int i = 0; i < 10000; i++) {
        for (int n = 0; n < 1500; n++)
            refresh(0, 16);
        tick();
        if (i == 2 * LISTS)
            before = sgc_date_pages_bytes();
    }
    return before == 0 || sgc_date_pages_bytes() != before;
}

static int queued(void)
{
    uint32_t expected = 0;
    int wrong = 0;

    sgc_date_pages_init(64, 1);
    sgc_date_buffer_init(&buffer, lists, LISTS);
    for (uint32_t round = 1; round <= 20; round++) {
        for (uint32_t n = 0; n < round; n++)
            refresh(0, 16 * (uintptr_t)++expected);
        model.count[model.now] = 0;
        model.now = (model.now + 1) % LISTS;
        sgc_date_queue_append(&queue, sgc_date_buffer_tick(&buffer));
    }
    seen_count = 0;
    sgc_date_queue_visit(&queue, see, NULL);
    for (uint32_t i = 0; i < seen_count; i++)
        wrong += seen[i] != 16 * (uintptr_t)(i + 1);
    return wrong != 0 || seen_count != expected || !agrees();
}

/* A function that extends a list is left before `next` has changed: the list is as before, and the next call finds the page. */
static int left_half_way(void)
{
    struct sgc_date_list *list = &lists[0];
    uintptr_t *was, date[] = { 16, 32, 48, 64, 80 };

    sgc_date_pages_init(40, 1);
    sgc_date_buffer_init(&buffer, lists, LISTS);
    for (int i = 0; i < 3; i++)
        refresh(0, date[i]);
    sgc_date_pool_fill(&pool, NULL);
    was = list->next;
    sgc_date_list_extend(list, &pool);
    list->next = was;
    if (!list_is(list, date, 3))
        return 1;
    refresh(0, date[3]);
    refresh(0, date[4]);
    return !list_is(list, date, 5) || sgc_date_list_last(list) != list->first->next;
}

static bool is_even(void *arg, const uintptr_t *date)
{
    (*(int *)arg)++;
    return *date / 16 % 2 == 0;
}

static bool is_nothing(TEST_UNUSED void *arg, TEST_UNUSED const uintptr_t *date)
{
    return false;
}

static int filtered(void)
{
    uint32_t expected = 0, asked = 0;
    int wrong = 0;

    sgc_date_pages_init(64, 1);
    sgc_date_buffer_init(&buffer, lists, LISTS);
    for (uint32_t round = 1; round <= 30; round++) {
        for (uint32_t n = 0; n < round; n++)
            refresh(0, 16 * (uintptr_t)++expected);
        sgc_date_queue_append(&queue, sgc_date_buffer_tick(&buffer));
    }
    sgc_date_queue_filter(&queue, &pool, 1, is_even, &asked);
    seen_count = 0;
    sgc_date_queue_visit(&queue, see, NULL);
    for (uint32_t i = 0; i < seen_count; i++)
        wrong += seen[i] != 32 * (uintptr_t)(i + 1);
    wrong += asked != expected || seen_count != expected / 2;
    sgc_date_queue_filter(&queue, &pool, 1, is_nothing, NULL);
    wrong += queue.first != NULL;
    sgc_date_buffer_init(&buffer, lists, LISTS);
    memset(&model, 0, sizeof model);
    for (uint32_t i = 1; i < 1000; i++)
        refresh(1, 16 * (uintptr_t)i);
    return wrong != 0 || !agrees();
}

int main(void)
{
    tap_plan(7);
    child_ok_of(histories(24), "lists as in the model, pages of one date");
    child_ok_of(histories(256), "lists as in the model, pages of 256 bytes");
    child_ok_of(histories(4096), "lists as in the model, pages of 4096 bytes");
    child_ok(steady, "steady ticks take no more memory");
    child_ok(queued, "dates that are over stand in the queue in their order");
    child_ok(left_half_way, "a list that was not extended to the end is as before");
    child_ok(filtered, "dates that stay in the queue are the rest of it");
    return tap_done();
}
