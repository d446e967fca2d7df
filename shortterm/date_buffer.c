/* SPDX-License-Identifier: MIT */
/* Rings of lists of dates: shortterm/date_buffer.h. */
#include "shortterm/date_buffer.h"

void sgc_date_buffer_init(struct sgc_date_buffer *b, struct sgc_date_list *lists, uint32_t count)
{
    sgc_assert(count != 0 && lists != NULL);
    b->now = 0;
    b->lists = count;
    for (uint32_t i = 0; i < count; i++)
        lists[i] = (struct sgc_date_list){ .next = &sgc_dates_none };
    b->list = lists;
}

bool sgc_date_buffer_empty(const struct sgc_date_buffer *b)
{
    bool empty = true;

    sgc_assert(b->list == NULL || sgc_date_buffer_ok(b));
    for (uint32_t i = 0; b->list != NULL && i < b->lists; i++)
        empty = empty && sgc_date_list_empty(&b->list[i]);
    return empty;
}

void sgc_date_buffer_visit(const struct sgc_date_buffer *b, sgc_visit_dates_t fn, void *arg)
{
    sgc_assert(b->list == NULL || sgc_date_buffer_ok(b));
    for (uint32_t i = 0; b->list != NULL && i < b->lists; i++)
        sgc_date_list_visit(&b->list[i], fn, arg);
}

static void drop_list(struct sgc_date_list *list, struct sgc_date_pool *pool, struct sgc_section *self)
{
    struct sgc_date_page *first = list->first, *last;

    sgc_assert(sgc_date_list_ok(list));
    if (list->next == &sgc_dates_none)
        return;
    last = sgc_date_list_last(list);
    list->next = &sgc_dates_none;
    sgc_date_pages_give(pool, first, last, self);
}

void sgc_date_buffer_drop(struct sgc_date_buffer *b, struct sgc_date_pool *pool, struct sgc_section *self)
{
    sgc_assert(b->list == NULL || sgc_date_buffer_ok(b));
    for (uint32_t i = 0; b->list != NULL && i < b->lists; i++)
        drop_list(&b->list[i], pool, self);
}
