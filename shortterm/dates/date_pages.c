/* SPDX-License-Identifier: MIT */
/* Pages of dates, and the lock of short-term memory: shortterm/dates/date_pages.h. */
#include "shortterm/dates/date_pages.h"

#include "platform/platform.h"
#include "platform/section/lock.h"

enum {
    CHUNK_BYTES = 64 << 10,
    KEPT = 10,                          /* pages that a thread keeps, as in [SCM-C] */
};

struct common {
    struct sgc_lock lock;
    struct sgc_date_page *spare;
    char *fresh, *fresh_end;            /* of the last chunk, never used */
    size_t page_bytes;
    sgc_aw_t bytes;                     /* of all chunks; read by anybody: a figure */
};

SGC_STATE static struct common common = { .lock = SGC_LOCK_INIT(SGC_RANK_DATES) };
SGC_STATE uint32_t sgc_date_words;

void sgc_date_pages_init(size_t bytes, uint32_t words_a_date)
{
    size_t words = (bytes - sizeof(struct sgc_date_page)) / sizeof(uintptr_t) - 1;

    sgc_assert(bytes >= SGC_DATE_PAGE_MIN && bytes <= SGC_DATE_PAGE_MAX && sgc_aw_load(&common.bytes) == 0);
    words = words < words_a_date ? words_a_date : words / words_a_date * words_a_date;
    sgc_date_words = (uint32_t)words;
    common.page_bytes = sizeof(struct sgc_date_page) + (words + 1) * sizeof(uintptr_t);
    sgc_assert(words % words_a_date == 0 && common.page_bytes <= CHUNK_BYTES);
}

/* ---- common pages: under the lock ---- */

static bool chunk_ready(void)
{
    size_t bytes = CHUNK_BYTES / common.page_bytes * common.page_bytes;

    if ((size_t)(common.fresh_end - common.fresh) >= common.page_bytes)
        return true;
    common.fresh = sgc_mem_obtain(bytes);
    common.fresh_end = common.fresh == NULL ? NULL : common.fresh + bytes;
    if (common.fresh != NULL)
        sgc_aw_add_relaxed(&common.bytes, bytes);
    return common.fresh != NULL;
}

static struct sgc_date_page *take_common(void)
{
    struct sgc_date_page *page = common.spare;

    sgc_assert(sgc_shortterm_locked() && common.page_bytes != 0);
    if (page != NULL) {
        common.spare = page->next;
    } else if (chunk_ready()) {
        page = (struct sgc_date_page *)(void *)common.fresh;
        common.fresh += common.page_bytes;
        page->word[sgc_date_words] = SGC_DATES_END;
    }
    return page;
}

static void give_common(struct sgc_date_page *first, struct sgc_date_page *last)
{
    sgc_assert(sgc_date_page_ok(first) && sgc_date_page_ok(last));
    sgc_assert(sgc_shortterm_locked());
    last->next = common.spare;
    common.spare = first;
}

/* ---- a thread's ---- */

/* Linked before it is counted: an abandoned section leaves more pages than are counted. */
static void push(struct sgc_date_pool *pool, struct sgc_date_page *first, struct sgc_date_page *last, uint32_t count)
{
    sgc_assert(count != 0 && sgc_date_page_ok(first));
    last->next = pool->first;
    sgc_compiler_barrier();
    pool->first = first;
    pool->count += count;
}

bool sgc_date_pool_fill(struct sgc_date_pool *pool, struct sgc_section *self)
{
    struct sgc_date_page *page = NULL;

    sgc_assert(self == NULL || self->held == 0);
    if (pool->first != NULL)
        return true;
    pool->count = 0;
    sgc_shortterm_lock(self);
    for (int i = 0; i < KEPT / 2 && (i == 0 || common.spare != NULL) && (page = take_common()) != NULL; i++)
        push(pool, page, page, 1);
    sgc_shortterm_unlock(self);
    return pool->first != NULL;
}

static uint32_t length(const struct sgc_date_page *first, const struct sgc_date_page *last)
{
    uint32_t count = 1;

    for (; first != last; first = first->next, count++)
        sgc_assert(sgc_date_page_ok(first));
    return count;
}

void sgc_date_pages_give(struct sgc_date_pool *pool, struct sgc_date_page *first, struct sgc_date_page *last,
                         struct sgc_section *self)
{
    uint32_t count = length(first, last);

    sgc_assert(sgc_date_page_ok(last));
    if (pool->count + count <= KEPT) {
        if (self != NULL)
            sgc_section_enter(self);
        push(pool, first, last, count);
        if (self != NULL)
            sgc_section_leave(self);
        return;
    }
    sgc_shortterm_lock(self);
    give_common(first, last);
    sgc_shortterm_unlock(self);
}

void sgc_date_pool_empty(struct sgc_date_pool *pool, struct sgc_section *self)
{
    struct sgc_date_page *first = pool->first, *last = first;

    pool->first = NULL;
    pool->count = 0;
    if (first == NULL)
        return;
    while (last->next != NULL)
        last = last->next;
    sgc_assert(sgc_date_page_ok(first) && sgc_date_page_ok(last));
    sgc_shortterm_lock(self);
    give_common(first, last);
    sgc_shortterm_unlock(self);
}

/* ---- all ---- */

size_t sgc_date_pages_bytes(void)
{
    return sgc_aw_load(&common.bytes);
}

/* ---- the lock ---- */

void sgc_shortterm_lock(struct sgc_section *self)
{
    sgc_lock(&common.lock, self);
}

void sgc_shortterm_unlock(struct sgc_section *self)
{
    sgc_unlock(&common.lock, self);
}

void sgc_shortterm_lock_reset(void)
{
    sgc_lock_reset(&common.lock);
}

bool sgc_shortterm_locked(void)
{
    return sgc_lock_taken(&common.lock);
}
