/* SPDX-License-Identifier: MIT */
/*
 * Whose mark bits are whose: pages belong to markers while these mark, so that most bits are set by plain stores.
 *
 * Setting a bit by an atomic operation costs a marker as much as all else it does for a small object.  But what a marker has in
 * hand mostly lies close together: of 46 edges of a tree there are two pages.  So the first marker that sets a bit in a page
 * owns it, and writes its mark words by plain stores.  Another that has many edges there takes the page over, once; if it has
 * few, or the page was taken before, the page becomes everybody's for the rest of the mark, and its bits are set by atomic
 * operations.  (As in biased locking: Kawachiya, Koseki, Onodera 2002; that a page changes hands while its owner works is
 * settled as by their "stop", but without stopping.)
 *
 *   what       written by                                    read by              ordering
 *   page[p]    any marker: compare-and-swap [C]; who has     any marker [L], [E]  C, S, L seq. consistent; E, which
 *              it in between: store [S]                                           asks only for "everybody's", acquire;
 *                                                                                 an assertion, relaxed
 *   turn       its marker: goes in, answers: swap [I];       who took a page      I and T seq. consistent; O release,
 *              goes out: store [O]                           from it [T], [W]     W acquire
 *   asked      who waits for its marker: 1 [A]; the          its marker [Q]       relaxed: a hint, but see below
 *              marker: 0 [Z]
 *   given_up   who has waited for long: 1 [G]                any marker           relaxed: what it says is only what
 *                                                                                 is worth while
 *   mark word  its page's owner, inside: load and store;     any marker           relaxed; W takes over what O or I
 *              everybody's: atomic or                                             have released
 * The collecting thread writes pages and given_up, too, before it calls others to a mark.
 *
 * Why no mark is lost.  A marker stores plainly only between I, by which its turn becomes odd, and O, and only after L, since
 * the last I, has said that the page is its own; it reads the mark word after L, too.  Who takes the page from it (C) looks at
 * the turn (T).  If T comes before I in the order of all seq. consistent operations, so does C before L, and the marker finds
 * its page gone.  Otherwise T finds that it is out again (O), or an odd turn, and waits until it is another (W): an I or O
 * after the last plain store, which W or T therefore sees.  Meanwhile the page is in between: nobody else sets bits there
 * before S, by which it is the taker's or everybody's; who learns that by L or E sees what W has seen.
 *
 * Why nobody waits forever.  Who waits, for a marker or for a page in between, is out itself, so those who are waited for do
 * not wait, but for a deque: for its lock, whose holders mark nothing meanwhile, or for memory.  A marker that is inside answers
 * now and then, whatever it finds (Q), and goes out before it rests and wherever clients' code runs, before whose lock it may
 * wait.  A is set after T; if Z erases it, an I or O follows that ends the wait.  A page changes hands at most once before it
 * is everybody's, so that who asks for it is done after a few rounds.
 *
 * Who is waited for may have lost its processor; then there is nothing for it but to wait until it runs again.  But a wait that
 * takes long has the rest of this mark (G) do without: whatever page somebody asks for becomes everybody's.  So does the next
 * mark, and if it happens again soon, the next two, four, up to 16.
 *
 * Model: tests/model/owners.pml.  World stopped; nothing here sleeps.
 */
#ifndef SGC_MARK_OWNERS_H
#define SGC_MARK_OWNERS_H

#include <stddef.h>

#include "platform/atomics.h"

enum {
    SGC_OWNERS_LINE = 64,
    SGC_OWNERS_WITHOUT = 16,    /* marks, after one that gave up, if others have lately; the first time one */
};

/* What is said of a page.  0: it is nobody's. */
enum {
    SGC_OWNERS_MOST = 120,          /* so many markers can have pages: 1 to that is an owner's number and 1 */
    SGC_OWNERS_MARKER = 127,        /* the mask for that */
    SGC_TAKEN = 128,                /* and this, that it is the second owner */
    SGC_BETWEEN = 128,              /* somebody has taken the page, and waits for who had it; no marker's number in it */
    SGC_EVERYBODY = 255,            /* its bits are set by atomic operations */
};

/* What a marker has: a line for what it writes, and one that others write. */
struct sgc_owner {
    _Alignas(SGC_OWNERS_LINE) sgc_aw_t turn;        /* odd: it is inside */
    _Alignas(SGC_OWNERS_LINE) sgc_a32_t asked;      /* somebody waits for it */
};

struct sgc_owners {
    sgc_a8_t *page;                 /* whose it is; NULL: there is no such table */
    size_t pages, begun;            /* there are; that were nobody's when the last mark began, and may be somebody's now */
    struct sgc_owner *marker;
    size_t markers;
    uint32_t without, pause;        /* so many marks do without; what the next that gives up doubles: the collecting thread's */
    bool ran;                       /* the last mark did not, likewise */
    _Alignas(SGC_OWNERS_LINE) sgc_a32_t given_up;
};


/* For so many pages and markers.  False when the system has no memory.  Outside pauses. */
bool sgc_owners_init(struct sgc_owners *o, size_t pages, size_t markers);
void sgc_owners_release(struct sgc_owners *o);

/* The first pages are nobody's again.  False if this mark is to do without: there is no table, or it was given up lately.  While
 * nobody else marks. */
bool sgc_owners_begin(struct sgc_owners *o, size_t pages);

/* May marker i set bits of the page by plain stores, until it answers or leaves?  Otherwise the page is everybody's now.  many: it
 * has many to set there.  May wait for another marker, and marker i may have been out meanwhile. */
bool sgc_owners_get(struct sgc_owners *o, uint32_t i, size_t page, bool many);

/* Marker i stores nothing plainly any more, until it gets a page.  Before it rests. */
void sgc_owners_leave(struct sgc_owners *o, uint32_t i);

/* Lets others have the pages that they have taken from marker i. */
void sgc_owners_let_go(struct sgc_owners *o, uint32_t i);

/* Panics on a contradiction.  Between marks. */
void sgc_owners_check(const struct sgc_owners *o);

/* Only marker i writes it. */
static inline bool sgc_owners_inside(const struct sgc_owners *o, uint32_t i)
{
    return (sgc_aw_load(&o->marker[i].turn) & 1) != 0;
}

/* `pages` as the table's: loops have a copy in a register. */
static inline bool sgc_owners_everybodys(const sgc_a8_t *pages, size_t page)
{
    return sgc_a8_load_acq(&pages[page]) == SGC_EVERYBODY;                                          /* [E] */
}

/* Is the page marker i's, which is inside?  Likewise. */
static inline bool sgc_owners_own(const sgc_a8_t *pages, uint32_t i, size_t page)
{
    return (sgc_a8_load_sc(&pages[page]) & SGC_OWNERS_MARKER) == i + 1;                             /* [L] */
}

/* The common case of sgc_owners_get: it has the page already. */
static inline bool sgc_owners_has(const struct sgc_owners *o, uint32_t i, size_t page)
{
    return sgc_owners_own(o->page, i, page) && sgc_owners_inside(o, i);
}

/* Of a page that it had, while it has neither answered nor left: others can only have taken it meanwhile, and wait. */
static inline bool sgc_owners_still(const struct sgc_owners *o, uint32_t i, size_t page)
{
    uint8_t said = sgc_a8_load(&o->page[page]);

    return sgc_owners_inside(o, i) && (said == SGC_BETWEEN || (said & SGC_OWNERS_MARKER) == i + 1);
}

/* Now and then, by marker i.  True if it has answered: what was its own may not be any more. */
static inline bool sgc_owners_answer(struct sgc_owners *o, uint32_t i)
{
    if (__builtin_expect(sgc_a32_load(&o->marker[i].asked) == 0, 1))                                /* [Q] */
        return false;
    sgc_owners_let_go(o, i);
    return true;
}

#endif
