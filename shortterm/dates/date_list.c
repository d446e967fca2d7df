/* SPDX-License-Identifier: MIT */
/* Lists of dates, queues, and rings of lists: shortterm/dates/date_list.h. */
#include "shortterm/dates/date_list.h"

#include <string.h>

#include "platform/platform.h"

SGC_STATE uintptr_t sgc_dates_none = SGC_DATES_END;

struct sgc_date_page *sgc_date_list_last(struct sgc_date_list *list)
{
    struct sgc_date_page *page = list->last;

    sgc_assert(list->next != &sgc_dates_none && sgc_date_list_ok(list));
    if (page == NULL || !sgc_date_page_holds(page, list->next))     /* left by a jump just then */
        for (page = list->first; !sgc_date_page_holds(page, list->next); page = page->next)
            ;
    list->last = page;
    return page;
}

void sgc_date_list_extend(struct sgc_date_list *list, struct sgc_date_pool *pool)
{
    struct sgc_date_page *page;

    sgc_assert(*list->next == SGC_DATES_END && sgc_date_list_ok(list));
    if (list->next == &sgc_dates_none) {
        page = list->first = sgc_date_page_take(pool);
    } else {
        struct sgc_date_page *full = sgc_date_list_last(list);

        if (full->next == NULL)
            full->next = sgc_date_page_take(pool);
        page = full->next;
    }
    sgc_assert(page->word[0] != SGC_DATES_END && sgc_date_page_ok(page));
    list->last = page;
    sgc_compiler_barrier();
    list->next = page->word;
}

/* A page behind that of `next` is one of the others, too. */
void sgc_date_list_clear(struct sgc_date_list *list, struct sgc_date_page **first, struct sgc_date_page **last)
{
    struct sgc_date_page *end;

    *first = *last = NULL;
    if (list->next == &sgc_dates_none)
        return;
    end = sgc_date_list_last(list);
    if (end->next != NULL)
        end = end->next;
    list->next = list->first->word;
    sgc_compiler_barrier();
    list->last = list->first;
    if (end == list->first)
        return;
    *first = list->first->next;
    *last = end;
    list->first->next = NULL;
}

/* Nothing is in the queue twice, at whatever instruction this is left: the list has no page before
 * its end is marked, and the queue has it only then.  `last` is never left on a page that somebody
 * else may get. */
void sgc_date_queue_append(struct sgc_date_queue *queue, struct sgc_date_list *list)
{
    struct sgc_date_page *first = list->first, *last, *before = queue->last;
    uintptr_t *end = list->next;

    sgc_assert(sgc_date_list_ok(list));
    if (sgc_date_list_empty(list))
        return;
    last = sgc_date_list_last(list);
    list->next = &sgc_dates_none;
    sgc_compiler_barrier();
    *end = SGC_DATES_END;
    last->next = NULL;
    queue->last = last;
    sgc_compiler_barrier();
    if (queue->first == NULL) {
        queue->at = first->word;
        sgc_compiler_barrier();
        queue->first = first;
    } else {
        before->next = first;
    }
}

void sgc_date_list_visit(const struct sgc_date_list *list, sgc_visit_dates_t fn, void *arg)
{
    struct sgc_date_page *page = list->first;

    sgc_assert(sgc_date_list_ok(list));
    if (list->next == &sgc_dates_none)
        return;
    for (; !sgc_date_page_holds(page, list->next); page = page->next)
        fn(arg, page->word, page->word + sgc_date_words);
    if (list->next > page->word)
        fn(arg, page->word, list->next);
}

void sgc_date_queue_visit(const struct sgc_date_queue *queue, sgc_visit_dates_t fn, void *arg)
{
    for (struct sgc_date_page *page = queue->first; page != NULL; page = page->next) {
        uintptr_t *from = page == queue->first ? sgc_date_queue_at(queue) : page->word, *end = from;

        sgc_assert(sgc_date_page_ok(page));
        while (*end != SGC_DATES_END)
            end++;
        if (end > from)
            fn(arg, from, end);
    }
}

/* Pages that nobody uses have their mark of the end in the last word only. */
static void unmark(struct sgc_date_page *page)
{
    for (uint32_t i = 0; i < sgc_date_words; i++)
        if (page->word[i] == SGC_DATES_END)
            page->word[i] = 0;
}

void sgc_date_queue_give(const struct sgc_date_queue *queue, struct sgc_date_pool *pool, struct sgc_section *self)
{
    struct sgc_date_page *last = queue->first;

    if (last == NULL)
        return;
    unmark(last);
    for (; last->next != NULL; unmark(last))
        last = last->next;
    sgc_date_pages_give(pool, queue->first, last, self);
}

/* The queue ends at a word of that page: what follows, up to `last`, is given back. */
static void cut(struct sgc_date_queue *queue, struct sgc_date_pool *pool, struct sgc_date_page *to, uint32_t at,
                struct sgc_date_page *last)
{
    bool empty = to == queue->first && at == 0;
    struct sgc_date_page *rest = empty ? to : to->next;

    sgc_assert(at <= sgc_date_words && last->next == NULL);
    to->word[at] = empty ? 0 : SGC_DATES_END;
    queue->last = to;
    if (empty)
        queue->first = NULL;
    else
        to->next = NULL;
    if (rest != NULL)
        sgc_date_pages_give(pool, rest, last, NULL);
}

/* The dates that stay are moved up: never behind where they are read from. */
void sgc_date_queue_filter(struct sgc_date_queue *queue, struct sgc_date_pool *pool, uint32_t words, sgc_date_stays_t stays,
                           void *arg)
{
    struct sgc_date_page *to = queue->first, *last = to;
    uint32_t at = 0, begin;

    if (to == NULL)
        return;
    begin = (uint32_t)(sgc_date_queue_at(queue) - to->word);
    for (struct sgc_date_page *page = to; page != NULL; last = page, page = page->next, begin = 0) {
        uint32_t from = begin;

        for (; page->word[from] != SGC_DATES_END; from += words) {
            if (!stays(arg, &page->word[from]))
                continue;
            if (at == sgc_date_words) {
                to = to->next;
                at = 0;
            }
            memmove(&to->word[at], &page->word[from], words * sizeof page->word[0]);
            at += words;
        }
        if (from < sgc_date_words)
            page->word[from] = 0;
    }
    queue->at = queue->first->word;
    cut(queue, pool, to, at, last);
}

/* Moves the dates of the queue's first page so that they begin with its first word. */
static void settle(struct sgc_date_queue *queue)
{
    uintptr_t *word = queue->first->word, *at = sgc_date_queue_at(queue), *end = at;

    queue->at = word;
    if (at == word)
        return;
    while (*end != SGC_DATES_END)
        end++;
    memmove(word, at, (size_t)(end - at) * sizeof *word);
    word[end - at] = SGC_DATES_END;
    if (end < word + sgc_date_words)
        *end = 0;
}

/* Nothing is in both, at whatever instruction this is left. */
void sgc_date_queue_join(struct sgc_date_queue *to, struct sgc_date_queue *from)
{
    struct sgc_date_queue joined;

    if (from->first == NULL)
        return;
    settle(from);
    joined = *from;
    *from = (struct sgc_date_queue){ NULL, NULL, NULL };
    sgc_compiler_barrier();
    if (to->first == NULL)
        *to = joined;
    else
        to->last->next = joined.first;
    to->last = joined.last;
}

/* ---- the dates of one clock of a thread ---- */

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
