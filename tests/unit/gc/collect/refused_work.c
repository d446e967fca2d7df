/* SPDX-License-Identifier: MIT */
/*
 * Chains of objects, collections, and what is found wrong: parts of the work in refused_threads.c.
 */
#include "tests/unit/gc/collect/refused.h"

struct refused_report *report;

/* ---- what is wrong --------------------------------------------------------------------------- */

/* `what` is static: the parent has it at the same address. */
void is_wrong(const char *what)
{
    int before = atomic_fetch_add(&report->wrong, 1);

    if (before < REFUSED_WRONG)
        atomic_store(&report->what[before], what);
}

/* The last object of a chain has a finalizer; if that runs while the chain is held, it is lost.  The others have none, so that
 * their memory is used again at once. */
static void GC_CALLBACK on_lost(TEST_UNUSED void *object, void *place)
{
    is_wrong(place);
}

void *GC_CALLBACK on_no_memory(TEST_UNUSED size_t bytes)
{
    atomic_fetch_add(&report->hook_called, 1);
    return NULL;
}

/* ---- chains ---------------------------------------------------------------------------------- */

enum { LINKS = 12, SMALL_WORDS = 8, LARGE_WORDS = 1250 };

struct link {
    struct link *next;
    uintptr_t of, word[];
};

static size_t link_words(int i)
{
    return i % 4 == 3 ? LARGE_WORDS : SMALL_WORDS;
}

/* No address. */
static uintptr_t mark_of(const char *place, int i)
{
    return ((uintptr_t)place << 8 | (uintptr_t)i) ^ 0x55;
}

static struct link *make_link(struct link *next, int i, const char *place)
{
    struct link *l = GC_malloc(link_words(i) * sizeof(void *));

    if (l == NULL) {
        atomic_fetch_add(&report->no_memory, 1);
        return NULL;
    }
    l->next = next;
    l->of = mark_of(place, i);
    for (size_t w = 0; w < link_words(i) - 2; w++)
        l->word[w] = l->of ^ w;
    return l;
}

/* `place` names where it is held; NULL if there is no memory. */
TEST_NOINLINE struct link *make_chain(const char *place)
{
    struct link *first = NULL;

    for (int i = 0; i < LINKS; i++) {
        struct link *l = make_link(first, i, place);

        if (l == NULL)
            return NULL;
        if (i == 0)
            GC_register_finalizer_no_order(l, on_lost, (void *)(uintptr_t)place, NULL, NULL);
        first = l;
    }
    scrub_stack();
    return first;
}

static bool link_intact(const struct link *l, int i, const char *place)
{
    if (l->of != mark_of(place, i))
        return false;
    for (size_t w = 0; w < link_words(i) - 2; w++)
        if (l->word[w] != (l->of ^ w))
            return false;
    return true;
}

/* Its last object; NULL if it is damaged, or was never made. */
TEST_NOINLINE struct link *check_chain(struct link *first, const char *place)
{
    struct link *last = NULL;
    int i = LINKS;

    for (; first != NULL; last = first, first = first->next)
        if (--i < 0 || !link_intact(first, i, place)) {
            is_wrong(place);
            return NULL;
        }
    return last;
}

/* The finalizer of what is dropped would be taken for that of a lost object. */
TEST_NOINLINE void drop_chain(struct link *first, const char *place)
{
    struct link *last = check_chain(first, place);

    if (last != NULL)
        GC_register_finalizer_no_order(last, NULL, NULL, NULL, NULL);
    scrub_stack();
}

/* ---- collections ----------------------------------------------------------------------------- */

/* Allocates over what a collection freed. */
TEST_NOINLINE static void churn(void)
{
    for (int i = 0; i < 4000; i++) {
        size_t bytes = link_words(i % 100 == 3 ? 3 : 0) * sizeof(void *);
        void *p = GC_malloc(bytes);

        if (p == NULL) {
            atomic_fetch_add(&report->no_memory, 1);
            return;
        }
        memset(p, 0xa5, bytes);
    }
}

TEST_NOINLINE void collect_and_churn(void)
{
    GC_word before = GC_get_gc_no();

    scrub_stack();
    GC_gcollect();
    atomic_fetch_add(GC_get_gc_no() == before ? &report->not_collected : &report->collected, 1);
    churn();
    GC_invoke_finalizers();
    scrub_stack();
}
