/* SPDX-License-Identifier: MIT */
/*
 * Disappearing links through the public interface: when they are cleared, when they are forgotten, what the functions
 * answer.
 *
 * Also: gc/finalize/links.c.
 */
#include "api.h"

#include <sys/resource.h>

enum { COUNT = 50 };

struct weak {
    void *word[COUNT];
};

static struct weak *outside;            /* two of them, and no root */
static struct weak *volatile inside;    /* a pointer-free object */
static void *volatile kept[COUNT];
static int wrong, reused;

typedef int link_fn(void **, const void *);

static link_fn *way;
static size_t size;

static int cleared(const struct weak *w)
{
    int n = 0;

    for (int i = 0; i < COUNT; i++)
        n += w->word[i] == NULL;
    return n;
}

static void *make_links(void *weak)
{
    struct weak *w = weak;

    for (int i = 0; i < COUNT; i++) {
        void *p = GC_malloc(size);

        kept[i] = i % 2 ? p : NULL;
        w->word[i] = (void *)GC_HIDE_POINTER(p);
        wrong += way(&w->word[i], p) != GC_SUCCESS;
    }
    return NULL;
}

static void forget(void)
{
    for (int i = 0; i < COUNT; i++)
        kept[i] = NULL;
}

static void check_links(link_fn *fn, const char *name, struct weak *w, size_t bytes)
{
    way = fn, size = bytes, wrong = 0;
    api_in_thread(make_links, w);
    api_collect();
    tap_ok(wrong == 0 && cleared(w) == COUNT / 2, "%s: links to dead objects are cleared, others not (%d)", name,
           cleared(w));
    forget();
    api_collect();
    tap_ok(cleared(w) == COUNT, "%s: until they die", name);
    wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += GC_unregister_disappearing_link(&w->word[i]) + GC_unregister_long_link(&w->word[i]);
    tap_ok(wrong == 0, "%s: then there is nothing to unregister", name);
}

/* ---- links and finalizers ---- */

static void *short_word, *long_word;
static void *volatile saved;

static void save(void *object, TEST_UNUSED void *data)
{
    saved = object;
}

static void make_both(void)
{
    void *p = GC_malloc(API_LARGE);

    outside->word[0] = outside->word[1] = (void *)GC_HIDE_POINTER(p);
    GC_general_register_disappearing_link(&outside->word[0], p);
    GC_register_long_link(&outside->word[1], p);
    GC_register_finalizer(p, save, NULL, NULL, NULL);
}

static void look(void)
{
    short_word = outside->word[0];
    long_word = outside->word[1];
}

static void check_both(void)
{
    GC_set_finalize_on_demand(1);
    saved = NULL;
    api_run(make_both);
    scrub_stack();
    GC_gcollect();
    look();
    tap_ok(short_word == NULL && long_word != NULL, "a link goes before the finalizer runs, a long one does not");
    GC_invoke_finalizers();
    api_collect();
    look();
    tap_ok(saved != NULL && long_word != NULL, "nor as long as the finalizer keeps the object");
    saved = NULL;
    api_collect();
    look();
    tap_ok(long_word == NULL, "but when it is really gone");
    GC_set_finalize_on_demand(0);
}

/* A link inside an object to another makes it no predecessor, since it is cleared first. */
enum { CYCLES = 50, STALE = 4 };        /* a word left on some stack may keep a few */

static void make_broken_cycles(void)
{
    for (int i = 0; i < CYCLES; i++) {
        void **a = GC_malloc(64), **b = GC_malloc(64);

        *a = b;
        *b = a;
        GC_general_register_disappearing_link(b, a);
        GC_register_finalizer(a, api_count, NULL, NULL, NULL);
        GC_register_finalizer(b, api_count, NULL, NULL, NULL);
    }
}

static void check_broken_cycle(void)
{
    api_finalized = 0;
    api_run(make_broken_cycles);
    for (int i = 0; i < 3; i++)
        api_collect();
    tap_ok(api_finalized >= 2 * CYCLES - STALE && api_finalized <= 2 * CYCLES, "a link breaks a cycle of finalizers (%d of %d)",
           api_finalized, 2 * CYCLES);
}

/* ---- the link's own object ---- */

static void make_self(void)
{
    void **p = GC_malloc_atomic(API_LARGE);

    *p = p;
    wrong += GC_register_disappearing_link(p) != GC_SUCCESS || GC_unregister_disappearing_link(p) != 1 ||
             GC_unregister_disappearing_link(p) != 0;
    wrong += GC_register_disappearing_link(p) != GC_SUCCESS || GC_register_disappearing_link(p) != GC_DUPLICATE;
}

/* The container dies, or is freed; what lies there next is not touched when the target dies. */
static void *reuse_container(void *how)
{
    struct weak *w = GC_malloc_atomic(sizeof *w), *next;

    for (int i = 0; i < COUNT; i++) {
        kept[i] = GC_malloc(64);
        GC_general_register_disappearing_link(&w->word[i], kept[i]);
        GC_register_long_link(&w->word[i], kept[i]);
    }
    if (how != NULL)
        GC_free(w);
    else
        GC_realloc(w, 20 * sizeof *w);
    next = GC_malloc_atomic(sizeof *w);
    inside = next;
    wrong += next != w;
    for (int i = 0; i < COUNT; i++)
        next->word[i] = &wrong;
    return NULL;
}

static void check_reuse(const char *name, void *how)
{
    wrong = 0;
    api_make_in_thread(reuse_container, how);
    forget();
    api_collect();
    if (wrong != 0)
        tap_skip("the memory was not used again");
    else
        tap_ok(cleared(inside) == 0, "links in an object that is %s are forgotten", name);
    inside = NULL;
}

/* Targets side by side are freed and their addresses used again, by objects with links of their own. */
static void reuse_targets(void)
{
    struct weak *own = outside + 1;
    void *old[COUNT];

    for (int i = 0; i < COUNT; i++) {
        old[i] = GC_malloc(256);
        outside->word[i] = (void *)GC_HIDE_POINTER(old[i]);
        wrong += GC_general_register_disappearing_link(&outside->word[i], old[i]) != GC_SUCCESS;
    }
    for (int i = 0; i < COUNT; i++)
        GC_free(old[i]);
    for (int i = 0; i < COUNT; i++) {
        kept[i] = GC_malloc(256);
        own->word[i] = (void *)GC_HIDE_POINTER(kept[i]);
        wrong += GC_general_register_disappearing_link(&own->word[i], kept[i]) != GC_SUCCESS;
        for (int j = 0; j < COUNT; j++)
            reused += kept[i] == old[j];
    }
}

static void check_target_reuse(void)
{
    wrong = 0;
    api_make(reuse_targets);
    api_collect();
    tap_ok(wrong == 0 && reused > 0 && cleared(outside) == COUNT && cleared(outside + 1) == 0,
           "a link to a freed object does not pass to the next one there (%d, %d)", reused, cleared(outside));
    forget();
    api_collect();
    tap_ok(cleared(outside + 1) == COUNT, "whose own link is cleared in time");
}

/* ---- where links have been before ---- */

enum { CONTAINERS = 2000, LINKS_EACH = 8 };

static void **container[CONTAINERS];

/* Objects full of links to kept[0]. */
static void make_containers(size_t bytes)
{
    for (int i = 0; i < CONTAINERS; i++) {
        container[i] = GC_malloc_atomic(bytes);
        for (int j = 0; j < LINKS_EACH; j++) {
            container[i][j] = &wrong;
            wrong += GC_general_register_disappearing_link(&container[i][j], kept[0]) != GC_SUCCESS;
        }
    }
}

static void make_first(void)
{
    kept[0] = GC_malloc(64);
    make_containers(400);
}

static void make_again(void)
{
    make_containers(400);
    for (int i = 0; i < CONTAINERS; i++)
        GC_free(container[i]);
    for (int i = 0; i < CONTAINERS; i++) {
        container[i] = GC_malloc_atomic(400);
        for (int j = 0; j < LINKS_EACH; j++)
            container[i][j] = &wrong;
    }
}

/* Containers die; in their pages are others, which are freed.  One collection: the table keeps leaves for some. */
static void check_used_pages(void)
{
    wrong = 0;
    GC_disable();
    api_run(make_first);
    for (int i = 0; i < CONTAINERS; i++)
        container[i] = NULL;
    GC_enable();
    GC_gcollect();
    api_make(make_again);
    forget();
    api_collect();
    for (int i = 0; i < CONTAINERS; i++)
        for (int j = 0; j < LINKS_EACH; j++)
            wrong += container[i][j] == NULL;
    tap_ok(wrong == 0, "links in freed objects are forgotten also in pages that had links before (%d)", wrong);
}

/* Small objects side by side: some are freed, and their places used again. */
static void free_neighbours(void)
{
    for (int i = 0; i < COUNT; i++)
        kept[i] = GC_malloc_atomic(8);
    for (int i = 0; i < COUNT; i += 2)
        wrong += GC_general_register_disappearing_link(&outside->word[i], kept[i]) != GC_SUCCESS;
    for (int i = 1; i < COUNT; i += 2)
        GC_free(kept[i]);
    for (int i = 1; i < COUNT; i += 2) {
        kept[i] = GC_malloc_atomic(8);
        wrong += GC_general_register_disappearing_link(&outside->word[i], kept[i]) != GC_SUCCESS;
    }
    for (int i = 0; i < COUNT; i++)
        outside->word[i] = (void *)GC_HIDE_POINTER(kept[i]);
}

static void check_neighbours(void)
{
    wrong = 0;
    api_make(free_neighbours);
    api_collect();
    tap_ok(wrong == 0 && cleared(outside) == 0, "freeing objects takes no links from their neighbours (%d)",
           cleared(outside));
    forget();
    api_collect();
    tap_ok(cleared(outside) == COUNT, "which are cleared in time");
}

/* ---- answers ---- */

static void check_answers(void)
{
    void *p = GC_malloc(64), *q = GC_malloc(64);
    void **a = &outside->word[0], **b = &outside->word[1], **c = &outside->word[2];

    *a = *b = *c = p;
    tap_ok(GC_general_register_disappearing_link(a, p) == GC_SUCCESS &&
           GC_general_register_disappearing_link(a, q) == GC_DUPLICATE, "registered, and registered again");
    tap_ok(GC_register_long_link(a, p) == GC_SUCCESS && GC_register_long_link(a, p) == GC_DUPLICATE,
           "long links are others");
    tap_ok(GC_move_disappearing_link(a, b) == GC_SUCCESS && GC_move_disappearing_link(a, b) == GC_NOT_FOUND,
           "moved, and nothing left to move");
    tap_ok(GC_move_disappearing_link(b, b) == GC_SUCCESS && GC_move_disappearing_link(c, c) == GC_NOT_FOUND,
           "a move to the same place only asks");
    GC_general_register_disappearing_link(c, p);
    tap_ok(GC_move_disappearing_link(b, c) == GC_DUPLICATE && GC_unregister_disappearing_link(b) == 1,
           "a place that is taken: the link stays where it was");
    tap_ok(GC_move_long_link(a, b) == GC_SUCCESS && GC_unregister_long_link(a) == 0 && GC_unregister_long_link(b) == 1,
           "long links are moved likewise");
    tap_ok(GC_unregister_disappearing_link(c) == 1 && GC_unregister_disappearing_link(c) == 0 &&
           GC_unregister_disappearing_link(NULL) == 0, "unregistered once");
    tap_ok(*a == p && *b == p && *c == p, "the words have not changed");
    GC_reachable_here(p);
    GC_reachable_here(q);
}

/* In a page, and to a table's leaf, where links have been registered before. */
static void bad_beside_good(void)
{
    char *freed = GC_malloc_atomic(200), *p = GC_malloc_atomic(200);
    void **word = &outside->word[0];

    GC_free(freed);
    API_CHILD(GC_general_register_disappearing_link(&word[0], p) == GC_SUCCESS &&
              GC_general_register_disappearing_link(&word[1], p) == GC_SUCCESS &&
              GC_general_register_disappearing_link(&word[1], p) == GC_DUPLICATE);
    API_CHILD(GC_general_register_disappearing_link(&word[2], freed) == GC_NOT_FOUND);
    API_CHILD(GC_general_register_disappearing_link(&word[2], p + 16) == GC_NOT_FOUND);
    API_CHILD(GC_general_register_disappearing_link(&word[2], p + 24) == GC_NOT_FOUND);
    API_CHILD(GC_general_register_disappearing_link(&word[2], p + GC_size(p)) == GC_NOT_FOUND);
    API_CHILD(GC_unregister_disappearing_link(&word[2]) == 0);
    GC_reachable_here(p);
}

static void bad_word(void)
{
    void *p = GC_malloc(64);

    API_CHILD(GC_general_register_disappearing_link((void **)((char *)outside + 3), p) == GC_NOT_FOUND);
    GC_reachable_here(p);
}

static void no_memory(void)
{
    struct rlimit limit = { 0, 0 };
    char *far = mmap(NULL, (size_t)8 << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void *p = GC_malloc(64);
    int result = GC_SUCCESS;

    API_CHILD(far != MAP_FAILED && setrlimit(RLIMIT_AS, &limit) == 0);
    for (size_t i = 0; i < (size_t)8 << 30 && result == GC_SUCCESS; i += 32768)
        result = GC_general_register_disappearing_link((void **)(void *)(far + i), p);
    API_CHILD(result == GC_NO_MEMORY);
    GC_reachable_here(p);
}

static void check_mistakes(void)
{
    api_check_child_of(API_CHILD(GC_general_register_disappearing_link(&outside->word[0], &wrong) == GC_NOT_FOUND),
                       "not in the collector's heap", "an object that is none is reported");
    api_check_child_of(API_CHILD(GC_register_long_link(&outside->word[0], (char *)GC_malloc(64) + 16) == GC_NOT_FOUND),
                       "16 bytes inside", "an address inside an object is reported");
    api_check_child(bad_beside_good, "no object at this address", "what is no object beside one is reported");
    api_check_child(bad_word, "multiple of 8", "a link that is no word is reported");
    api_check_child_of(API_CHILD(GC_register_disappearing_link(&outside->word[0]) == GC_NOT_FOUND),
                       "does not lie in an object", "the short form wants a link in the heap");
    api_check_child(no_memory, "no memory", "without memory nothing is registered");
}

int main(void)
{
    GC_INIT();
    outside = api_outside(2 * sizeof *outside);
    inside = GC_malloc_atomic(sizeof *inside);
    check_links(GC_general_register_disappearing_link, "links outside the heap", outside, 64);
    check_links(GC_general_register_disappearing_link, "links in an object", inside, 64);
    check_links(GC_general_register_disappearing_link, "links to large objects", inside, 100000);
    check_links(GC_register_long_link, "long links", outside, 64);
    check_links(GC_register_long_link, "long links in an object", inside, 100000);
    check_both();
    check_broken_cycle();
    api_run(make_self);
    api_collect();
    tap_ok(wrong == 0, "a link to the object it lies in");
    check_reuse("freed", &wrong);
    check_reuse("moved", NULL);
    return tap_all(check_used_pages, check_target_reuse, check_neighbours, check_answers, check_mistakes);
}
