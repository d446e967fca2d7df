/* SPDX-License-Identifier: MIT */
/* Pages that belong to markers: see mark/owners.h, which also says what the letters mean.  On any marker. */
#include "mark/owners.h"

#include "alloc/pages/geometry.h"
#include "platform/platform.h"
#include "platform/report.h"

enum {
    PATIENCE_NS = 200000,           /* who has a processor answers much sooner */
    SPINS = 64,                     /* between two looks at the clock */
};

static size_t page_bytes(const struct sgc_owners *o)
{
    return sgc_round_up(o->pages * sizeof *o->page, sgc_os_page_size());
}

static size_t marker_bytes(const struct sgc_owners *o)
{
    return sgc_round_up(o->markers * sizeof *o->marker, sgc_os_page_size());
}

bool sgc_owners_init(struct sgc_owners *o, size_t pages, size_t markers)
{
    *o = (struct sgc_owners){ .pages = pages, .markers = markers };
    o->marker = sgc_mem_obtain(marker_bytes(o));
    if (o->marker == NULL)
        return false;
    o->page = sgc_mem_obtain(page_bytes(o));
    if (o->page == NULL)
        sgc_owners_release(o);
    return o->page != NULL;
}

void sgc_owners_release(struct sgc_owners *o)
{
    if (o->page != NULL)
        sgc_mem_release(o->page, page_bytes(o));
    if (o->marker != NULL)
        sgc_mem_release(o->marker, marker_bytes(o));
    *o = (struct sgc_owners){ .page = NULL };
}

static bool all_are_out(const struct sgc_owners *o)
{
    for (uint32_t i = 0; i < o->markers; i++)
        if (sgc_owners_inside(o, i))
            return false;
    return true;
}

/* A thread that loses its processor once in a while is no reason to do without for long. */
static void learn(struct sgc_owners *o)
{
    if (!o->ran)
        return;
    o->ran = false;
    if (sgc_a32_load(&o->given_up) == 0) {
        o->pause -= o->pause != 0;
        return;
    }
    sgc_a32_store(&o->given_up, 0);
    o->pause = o->pause == 0 ? 1 : o->pause < SGC_OWNERS_WITHOUT / 2 ? o->pause * 2 : SGC_OWNERS_WITHOUT;
    o->without = o->pause;
}

bool sgc_owners_begin(struct sgc_owners *o, size_t pages)
{
    if (o->page == NULL)
        return false;
    sgc_assert(all_are_out(o));
    learn(o);
    if (o->without != 0) {
        o->without--;
        return false;
    }
    sgc_assert(pages <= o->pages);
    o->ran = true;
    o->begun = pages;
    for (size_t p = 0; p < pages; p++)
        sgc_a8_store(&o->page[p], 0);
    return true;
}

static uint32_t whose(uint8_t said)
{
    return said & SGC_OWNERS_MARKER;
}

static bool gives_up(const struct sgc_owners *o)
{
    return sgc_a32_load(&o->given_up) != 0;
}

void sgc_owners_leave(struct sgc_owners *o, uint32_t i)
{
    sgc_aw_t *turn = &o->marker[i].turn;

    if (sgc_owners_inside(o, i))
        sgc_aw_store_rel(turn, sgc_aw_load(turn) + 1);                                      /* [O] */
}

void sgc_owners_let_go(struct sgc_owners *o, uint32_t i)
{
    sgc_aw_t *turn = &o->marker[i].turn;

    sgc_a32_store(&o->marker[i].asked, 0);                                                  /* [Z] */
    if (gives_up(o))
        sgc_owners_leave(o, i);
    else if (sgc_owners_inside(o, i))
        sgc_aw_swap_sc(turn, sgc_aw_load(turn) + 2);                                        /* [I] */
}

/* Goes in, if the page is still its own then. */
static bool go_in(struct sgc_owners *o, uint32_t i, size_t page)
{
    sgc_aw_t *turn = &o->marker[i].turn;

    sgc_assert(i < SGC_OWNERS_MOST);
    if (!sgc_owners_inside(o, i))
        sgc_aw_swap_sc(turn, sgc_aw_load(turn) + 1);                                        /* [I] */
    return sgc_owners_own(o->page, i, page);                                                /* [L] */
}

struct wait {
    uint32_t spins;
    uint64_t since;                 /* when the first of them were over */
    bool late;
};

/* What it waits for has been looked at since it was found to be late: it may be this thread that had no processor. */
static void go_on_waiting(struct sgc_owners *o, struct wait *wait)
{
    if (wait->late) {
        sgc_a32_store(&o->given_up, 1);                                                     /* [G] */
        sgc_yield();
    }
    sgc_spin_hint();
    if (++wait->spins % SPINS != 0)
        return;
    if (wait->since == 0)
        wait->since = sgc_clock_ns();
    wait->late = sgc_clock_ns() - wait->since > PATIENCE_NS;
}

/* Until the marker that a page has been taken from writes it no more. */
static void wait_for_owner(struct sgc_owners *o, struct sgc_owner *other)
{
    uintptr_t turn = sgc_aw_load_sc(&other->turn);                                          /* [T] */
    struct wait wait = { 0 };

    if ((turn & 1) == 0)
        return;
    sgc_a32_store(&other->asked, 1);                                                        /* [A] */
    while (sgc_aw_load_acq(&other->turn) == turn)                                           /* [W] */
        go_on_waiting(o, &wait);
}

static void wait_for_page(struct sgc_owners *o, size_t page)
{
    struct wait wait = { 0 };

    while (sgc_a8_load_sc(&o->page[page]) == SGC_BETWEEN)
        go_on_waiting(o, &wait);
}

/* From its owner to another, or to everybody; unless somebody is faster. */
static void take_from(struct sgc_owners *o, size_t page, uint8_t said, uint8_t to)
{
    if (!sgc_a8_cas_sc(&o->page[page], said, SGC_BETWEEN))                                  /* [C] */
        return;
    wait_for_owner(o, &o->marker[whose(said) - 1]);
    sgc_a8_store_sc(&o->page[page], to);                                                    /* [S] */
}

/* What is to be said of a page, of which that is said, after marker i has asked for it. */
static uint8_t wanted(const struct sgc_owners *o, uint32_t i, uint8_t said, bool many)
{
    if (i >= SGC_OWNERS_MOST || gives_up(o))
        return SGC_EVERYBODY;
    if (said == 0)
        return (uint8_t)(i + 1);
    if (whose(said) == i + 1)
        return said;
    return many && (said & SGC_TAKEN) == 0 ? (uint8_t)((i + 1) | SGC_TAKEN) : SGC_EVERYBODY;
}

/* Marker i is out before it waits. */
bool sgc_owners_get(struct sgc_owners *o, uint32_t i, size_t page, bool many)
{
    uint8_t said;

    while ((said = sgc_a8_load_sc(&o->page[page])) != SGC_EVERYBODY) {                      /* [L] */
        uint8_t to = wanted(o, i, said, many);

        if (said == to && go_in(o, i, page))
            return true;
        if (said == to)
            continue;
        if (said == 0 || whose(said) == i + 1) {
            sgc_a8_cas_sc(&o->page[page], said, to);                                        /* [C] */
            continue;
        }
        sgc_owners_leave(o, i);
        if (said == SGC_BETWEEN)
            wait_for_page(o, page);
        else
            take_from(o, page, said, to);
    }
    return false;
}

void sgc_owners_check(const struct sgc_owners *o)
{
    for (size_t p = 0; p < o->begun; p++) {
        uint8_t said = sgc_a8_load(&o->page[p]);

        sgc_assert(said == SGC_EVERYBODY || (said != SGC_BETWEEN && whose(said) <= o->markers && whose(said) <= SGC_OWNERS_MOST));
    }
    sgc_assert(o->page == NULL || all_are_out(o));
}
