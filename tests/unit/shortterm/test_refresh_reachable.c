/* SPDX-License-Identifier: MIT */
/*
 * shortterm/refresh_reachable.c: what an object leads to gets a date more where it has one, once each, in each mode; what
 * cannot be done changes nothing.
 */
#define GC_THREADS

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>

#include "gc/gc.h"
#include "gc/gc_mark.h"
#include "tests/lib/child.h"
#include "tests/lib/refuse.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/threads.h"
#include "tests/unit/shortterm/shortterm.h"

enum { EXTENSION = 6, MOST = 1 << 22, LIST = 1000, DEEP = TEST_SANITIZED ? 20000 : 1000000 };

struct node {
    struct node *next, *other;
    intptr_t number;
    struct node *more[3];
};

static int mode;

/* A node whose date is over at the next tick. */
static struct node *make(void)
{
    struct node *made = SGC_malloc_dated(sizeof *made, 0, 0);

    if (made == NULL)
        abort();
    return made;
}

static struct node *make_list(int length)
{
    struct node *list = NULL;

    for (int i = 0; i < length; i++) {
        struct node *made = make();

        made->next = list;
        list = made;
    }
    return list;
}

/* How many of the list have not so many dates. */
static int not_dates(const struct node *list, int dates)
{
    int wrong = 0;

    for (; list != NULL; list = list->next)
        wrong += SGC_dates(list) != dates;
    return wrong;
}

static void ticks(int n)
{
    while (n-- > 0)
        if (SGC_tick() != 0)
            abort();
}

/* ---- what is reached ---- */

/* And goes with the later date: at the tick behind the extension, all at once.  With verify dates that are over wait for a
 * collection. */
static int reaches_list(void)
{
    struct node *list = make_list(LIST);
    int wrong = not_dates(list, 1) + (SGC_refresh_reachable(list, 3, 0, LIST) != 0) + not_dates(list, 2);

    if (mode == SGC_SHORTTERM_VERIFY)
        return wrong;
    ticks(1);
    wrong += not_dates(list, 1);
    ticks(2);
    wrong += not_dates(list, 1) + (figures().dates != LIST);
    ticks(1);
    return wrong != 0 || figures().dates != 0 || figures().freed != (mode == SGC_SHORTTERM_FREE ? LIST : 0);
}

static int reaches_once(void)
{
    struct node *root = make(), *shared = make(), *far = make();
    char *inside = SGC_malloc_dated(500, 0, 0);

    root->next = root->other = shared;
    shared->next = root;
    shared->more[1] = far;
    far->other = shared;
    far->more[2] = (struct node *)(void *)(inside + 260);
    if (SGC_refresh_reachable(root, 1, 0, 4) != 0)
        return 1;
    return SGC_dates(root) != 2 || SGC_dates(shared) != 2 || SGC_dates(far) != 2 || SGC_dates(inside) != 2;
}

/* By a pointer with a tag in its highest bits, too. */
static int reaches_boxed(void)
{
    struct node *root, *boxed;

    GC_set_pointer_mask(UINT64_C(0x0000ffffffffffff));
    root = make();
    boxed = make();
    root->number = (intptr_t)((uintptr_t)boxed | UINT64_C(0xfff8000000000000));
    boxed->next = make();
    if (SGC_refresh_reachable(root, 1, 0, 3) != 0)
        return 1;
    return SGC_dates(root) != 2 || SGC_dates(boxed) != 2 || SGC_dates(boxed->next) != 2;
}

static int reaches_no_more(void)
{
    struct node *root = make(), *beside = make(), *hidden = make();
    struct node **plain = SGC_malloc_dated(sizeof *plain, 0, SGC_SHORTTERM_ATOMIC);

    *plain = hidden;
    root->next = (struct node *)(void *)plain;
    root->number = ~(intptr_t)beside;
    if (SGC_refresh_reachable(root, 1, 0, 2) != 0)
        return 1;
    return SGC_dates(root) != 2 || SGC_dates(plain) != 2 || SGC_dates(hidden) != 1 || SGC_dates(beside) != 1;
}

static int passes_through(void)
{
    struct node *root = GC_MALLOC(sizeof *root), *plain = GC_MALLOC(sizeof *plain), *last = make();

    root->next = plain;
    plain->next = last;
    if (SGC_refresh_reachable(root, 2, 0, MOST) != 0)
        return 1;
    return SGC_dates(root) != 1 || SGC_dates(plain) != 0 || SGC_dates(last) != 2;
}

static int reaches_deep(void)
{
    struct node *list = make_list(DEEP);

    if (SGC_refresh_reachable(list, 2, 0, DEEP) != 0 || not_dates(list, 2) != 0)
        return 1;
    ticks(3);
    return figures().dates != 0;
}

static int reaches_globally(void)
{
    struct node *list = make_list(LIST);
    int wrong = SGC_refresh_reachable(list, 1, SGC_SHORTTERM_GLOBAL, LIST) != 0;

    if (mode == SGC_SHORTTERM_VERIFY)
        return wrong != 0 || not_dates(list, 2) != 0;
    ticks(1);
    wrong += not_dates(list, 1);
    for (int i = 0; i < 3; i++)
        wrong += SGC_tick_global() != 0 || not_dates(list, 1) != 0;
    return wrong != 0 || SGC_tick_global() != 0 || figures().dates != 0;
}

/* The whole region, by one date, however many chunks it has. */
static int reaches_regions(void)
{
    SGC_region_t *region = SGC_region_new();
    struct node *root = make(), *behind = make(), *in_region = NULL;

    for (int i = 0; i < 3000; i++) {
        struct node *made = SGC_region_malloc(region, sizeof *made);

        *made = (struct node){ .next = in_region, .other = i == 5 ? behind : NULL };
        in_region = made;
    }
    root->next = in_region;
    if (SGC_region_refresh(region, 0) != 0 || figures().dates != 3)
        return 3;
    if (SGC_refresh_reachable(root, 2, 0, MOST) != 0)
        return 4;
    if (SGC_dates(behind) != 2 || figures().dates != 6)
        return 2;
    if (mode == SGC_SHORTTERM_VERIFY)
        return 0;
    ticks(1);
    return figures().dates != 3 || SGC_refresh_reachable(in_region, 4, 0, MOST) != 0 || figures().dates != 4;
}

/* With pin nothing dangles, and one date keeps all that the object leads to. */
static int pins(void)
{
    struct node *list = make_list(LIST);

    return SGC_refresh_reachable(list, 3, 0, 1) != 0 || figures().dates != LIST + 1;
}

/* ---- what cannot be done ---- */

static int too_many(void)
{
    struct node *list = make_list(LIST);

    if (SGC_refresh_reachable(list, 3, 0, LIST - 1) != E2BIG || SGC_refresh_reachable(list, 3, 0, 1) != E2BIG)
        return 1;
    return not_dates(list, 1) != 0 || SGC_refresh_reachable(list, 3, 0, 0) != EINVAL;
}

static int refused(void)
{
    struct node *root = make(), stack;
    int wrong = SGC_refresh_reachable(NULL, 0, 0, MOST) != EINVAL || SGC_refresh_reachable(&stack, 0, 0, MOST) != EINVAL;

    wrong += SGC_refresh_reachable(&root->number, 0, 0, MOST) != EINVAL;
    wrong += SGC_refresh_reachable(root, EXTENSION + 1, 0, MOST) != ERANGE;
    wrong += SGC_refresh_reachable(root, UINT_MAX, 0, MOST) != ERANGE;
    wrong += SGC_refresh_reachable(root, 0, SGC_SHORTTERM_ATOMIC, MOST) != EINVAL;
    wrong += SGC_dates(root) != (mode == SGC_SHORTTERM_PIN ? -1 : 1);
    ticks(1);
    return wrong + (mode == SGC_SHORTTERM_FREE && SGC_refresh_reachable(root, 0, 0, MOST) != ESTALE);
}

/* Not even for what is found. */
static int no_memory(void)
{
    struct node *list = make_list(LIST);

    GC_gcollect();                      /* it needs memory for the first time */
    if (TEST_SANITIZED || !limit_memory(LIMIT_NOTHING))
        return CHILD_SKIPS;
    if (SGC_refresh_reachable(list, 3, 0, MOST) != ENOMEM)
        return 1;
    return !limit_memory(RLIM_INFINITY) || not_dates(list, 1) != 0 || SGC_refresh_reachable(list, 3, 0, MOST) != 0;
}

static void *asks_blocked(void *object)
{
    return (void *)(intptr_t)(SGC_refresh_reachable(object, 0, 0, MOST) != EBUSY);
}

static int blocked(void)
{
    return GC_do_blocking(asks_blocked, make()) != NULL;
}

/* ---- beside other threads ---- */

enum { ROUNDS = TEST_SANITIZED ? 60 : 400, SHORT = 60 };

static void *allocates(TEST_UNUSED void *unused)
{
    for (int i = 0; i < ROUNDS * 20; i++) {
        struct node *garbage = GC_MALLOC(sizeof *garbage);

        garbage->next = SGC_malloc_dated(40, 0, 0);
        if (i % 8 == 0)
            SGC_tick();
        if (i % 500 == 0)
            GC_gcollect();
    }
    return NULL;
}

static int beside_others(void)
{
    pthread_t thread = thread_start(allocates, NULL);
    int wrong = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct node *list = make_list(SHORT);

        wrong += SGC_refresh_reachable(list, 1, 0, MOST) != 0 || SGC_tick() != 0 || not_dates(list, 1) != 0;
    }
    pthread_join(thread, NULL);
    return wrong != 0;
}

static void in_mode(const char *name, int number)
{
    setenv("SGC_SHORTTERM", name, 1);
    mode = number;
    child_ok(refused, "%s: wrong calls say so", name);
    child_ok(blocked, "%s: not in a blocked region", name);
    if (number == SGC_SHORTTERM_PIN) {
        child_ok(pins, "%s: only the object itself", name);
        return;
    }
    child_ok(reaches_list, "%s: a list", name);
    child_ok(reaches_once, "%s: each object once", name);
    child_ok(reaches_boxed, "%s: boxed pointers", name);
    child_ok(reaches_no_more, "%s: no numbers, and nothing behind objects without pointers", name);
    child_ok(passes_through, "%s: what has no date gets none", name);
    child_ok(reaches_deep, "%s: %d objects deep", name, DEEP);
    child_ok(reaches_globally, "%s: by global time", name);
    child_ok(reaches_regions, "%s: regions", name);
    child_ok(too_many, "%s: more than wanted get nothing", name);
    child_ok(no_memory, "%s: without memory nothing has changed", name);
    if (number != SGC_SHORTTERM_VERIFY)
        child_ok(beside_others, "%s: beside another thread", name);
}

int main(void)
{
    setenv("SGC_SHORTTERM_EXTENSION", "6", 1);
    setenv("SGC_SHORTTERM_COLLECT", "eager", 1);
    in_mode("free", SGC_SHORTTERM_FREE);
    in_mode("hybrid", SGC_SHORTTERM_HYBRID);
    in_mode("verify", SGC_SHORTTERM_VERIFY);
    in_mode("pin", SGC_SHORTTERM_PIN);
    return tap_done();
}
