/* SPDX-License-Identifier: MIT */
/*
 * A collection comes between two steps of a function of short-term memory, at the worst moment.
 *
 * The test is linked with sgc_date_pages_lock wrapped (tests/local.mk), so that it can collect just before that lock is taken.
 *
 * Also: shortterm/verify.c.
 */
#include "tests/lib/findings.h"

#include "shortterm/date_pages.h"

/* ---- before the lock of the pages of dates ---- */

static void (*before_lock)(void);       /* once */

void __real_sgc_date_pages_lock(struct sgc_section *self);
void __wrap_sgc_date_pages_lock(struct sgc_section *self);

void __wrap_sgc_date_pages_lock(struct sgc_section *self)
{
    void (*due)(void) = before_lock;

    before_lock = NULL;
    if (due != NULL)
        due();
    __real_sgc_date_pages_lock(self);
}

/* ---- threads that end with dates that are over ---- */

static struct node *other;

/* Without a tick of the own clock, which would tell what has been found so far. */
static void let_expire(void *place)
{
    SGC_clock_t *clock = SGC_clock_new();

    make_one(place);
    SGC_refresh_clock(*(struct node **)place, 0, clock);
    SGC_clock_release(clock);
}

/* The collection takes the date off that the thread is about to leave to all, and another thread leaves one before it does. */
static void collect_and_leave(void)
{
    GC_gcollect();
    elsewhere(let_expire, &other);
}

static void let_expire_and_leave(void *place)
{
    let_expire(place);
    before_lock = collect_and_leave;
}

static int two_leave(void)
{
    findings_begin();
    elsewhere(let_expire_and_leave, &root);
    if (before_lock != NULL || root == NULL || other == NULL)
        return 1;
    return check() == 2 && with_certainty(SGC_FINDING_CERTAIN) == 2 ? 0 : 2;
}

int main(void)
{
    child_ok(two_leave, "a collection takes off what a thread leaves as it ends: what others have left by then is found, too");
    return tap_done();
}
