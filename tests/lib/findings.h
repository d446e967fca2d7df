/* SPDX-License-Identifier: MIT */
/*
 * For tests of verify: what a check finds, and objects that are made by other threads, so that no word of theirs is left on the
 * stack of the one that checks.  The collector is started in a child, by finding_ok.
 */
#ifndef TESTS_LIB_FINDINGS_H
#define TESTS_LIB_FINDINGS_H

#define GC_THREADS 1
#define GC_NO_THREAD_REDIRECTS 1
#include <gc/gc.h>

#include "shortterm/findings.h"
#include "tests/lib/child.h"
#include "tests/lib/white.h"
#include "sgc_shortterm.h"

enum { MOST = 40 };

/* Are the program's calls of SGC_refresh places of their own? */
#ifdef __OPTIMIZE__
enum { JUMPS = !TEST_SANITIZED };       /* a call that ends a function is a jump, so that ours is not seen */
#else
enum { JUMPS = 0 };
#endif

/* ---- what was found ---- */

static struct SGC_finding found[MOST];
static uintptr_t last_word[MOST];       /* where the last pointer of the way is, hidden: it may be in an object */
static int finds;

TEST_UNUSED static void record(const struct SGC_finding *f, TEST_UNUSED void *unused)
{
    if (finds == MOST)
        return;
    found[finds] = *f;
    found[finds].object = NULL;         /* no pointer to it */
    if (f->steps != 0 && f->steps <= SGC_FINDING_STEPS && f->step != NULL)
        last_word[finds] = ~(uintptr_t)f->step[f->steps - 1].word;
    finds++;
}

TEST_UNUSED static size_t check(void)
{
    finds = 0;
    scrub_stack();
    return SGC_shortterm_check(record, NULL);
}

/* One finding of that sort, of an object, and that is all. */
TEST_UNUSED static bool one(int kind, int certainty, SGC_held_t held, size_t steps)
{
    const struct SGC_finding *f = &found[0];
    bool right = finds == 1 && f->kind == kind && f->certainty == certainty && f->held == held && f->steps == steps;

    for (int i = 0; i < finds && !right; i++)
        fprintf(stderr, "# found %d: kind %d, certainty %d, held %d, steps %zu\n", i, found[i].kind, found[i].certainty,
                (int)found[i].held, found[i].steps);
    return right && f->bytes >= sizeof(void *) && f->refreshed_at != NULL;
}

TEST_UNUSED static int with_certainty(int certainty)
{
    int n = 0;

    for (int i = 0; i < finds; i++)
        n += found[i].kind != SGC_FINDING_STILL && found[i].certainty == certainty;
    return n;
}

TEST_UNUSED static void findings_begin(void)
{
    setenv("SGC_SHORTTERM", "verify", 1);
    setenv("SGC_MODE", "stop", 1);
    GC_INIT();
}

/* As child_ok and child_says; the collector is started before. */
#define finding_ok(body, ...) child_ok_of((findings_begin(), (body)()), __VA_ARGS__)
#define finding_says(body, ...) child_says_of((findings_begin(), (body)()), __VA_ARGS__)

/* A check finds one object that static data leads to, certainly, and that is all. */
TEST_UNUSED static bool finds_static(void)
{
    check();
    return one(SGC_FINDING_PREMATURE, SGC_FINDING_CERTAIN, SGC_HELD_BY_STATIC, 1);
}

/* ---- objects, made by other threads, so that no word of theirs is left on ours ---- */

struct node {
    struct node *left, *right;
    char text[48];
};

static struct node *root;

TEST_UNUSED static struct node *make_node(struct node *left, struct node *right)
{
    struct node *n = GC_MALLOC(sizeof *n);

    n->left = left;
    n->right = right;
    return n;
}

TEST_UNUSED static void elsewhere(void (*fn)(void *arg), void *arg)
{
    white_join(white_start(fn, arg));
}

/* Of this thread: its date is over at the next tick. */
TEST_NOINLINE static void expire(struct node **place)
{
    SGC_refresh(*place, 0);
    SGC_tick();
}

/* ---- plants ---- */

TEST_UNUSED static void make_one(void *place)
{
    *(struct node **)place = make_node(NULL, NULL);
}

TEST_UNUSED static void link_one(TEST_UNUSED void *unused)
{
    root = make_node(root, NULL);
}

TEST_UNUSED static void make_pair(TEST_UNUSED void *unused)
{
    root = make_node(make_node(NULL, NULL), NULL);
}

static uintptr_t hidden;

TEST_NOINLINE static void date_pair(void)
{
    SGC_refresh(root, 5);
    SGC_refresh(root->left, 0);
    hidden = ~(uintptr_t)root;
    root = NULL;
    SGC_tick();
}

#endif
