/* SPDX-License-Identifier: MIT */
/*
 * mark/owners.c: pages change hands among markers that set bits there, and no bit is lost.
 */
#include "mark/owners.h"

#include <pthread.h>
#include <unistd.h>

#include "platform/platform.h"
#include "tests/tap.h"

enum { MARKERS = 4, PAGES = 8, WORDS = 8, BITS = WORDS * 64, ROUNDS = 100, RUN = 16 };

static struct sgc_owners owners;
static sgc_aw_t bits[PAGES * WORDS];
static bool round_is_patient;
static sgc_a32_t ready, plain;     /* plain: bits that were set so */

/* ---- one after the other ---- */

static bool belongs(size_t page, uint8_t owner)
{
    return sgc_a8_load(&owners.page[page]) == owner;
}

/* What is said of pages that are in between, or everybody's, is no marker's number. */
static void test_in_between(void)
{
    int taken = 0;

    sgc_a8_store(&owners.page[6], SGC_BETWEEN);
    sgc_a8_store(&owners.page[7], SGC_EVERYBODY);
    for (uint32_t i = 0; i < 300; i++)
        taken += (i < SGC_OWNERS_MOST && (sgc_owners_own(owners.page, i, 6) || sgc_owners_own(owners.page, i, 7))) ||
                 (SGC_BETWEEN & SGC_OWNERS_MARKER) == i + 1;
    tap_ok(taken == 0, "a page in between is nobody's (%d)", taken);
    sgc_a8_store(&owners.page[6], 0);
    sgc_a8_store(&owners.page[7], 0);
}

static void test_hands(void)
{
    sgc_owners_begin(&owners, PAGES);
    tap_ok(!sgc_owners_has(&owners, 0, 3) && sgc_owners_get(&owners, 0, 3, false), "a page that is nobody's is had for the asking");
    tap_ok(sgc_owners_has(&owners, 0, 3) && !sgc_owners_has(&owners, 0, 4), "that one, and no other");
    sgc_owners_leave(&owners, 0);
    tap_ok(!sgc_owners_has(&owners, 0, 3) && belongs(3, 1), "who has left may not write, but the page stays its own");
    tap_ok(sgc_owners_get(&owners, 0, 3, false), "and is there when it comes again");
    sgc_owners_leave(&owners, 0);
    tap_ok(sgc_owners_get(&owners, 1, 3, true) && belongs(3, 2 | SGC_TAKEN), "who has many bits to set takes it over");
    tap_ok(!sgc_owners_has(&owners, 0, 3) && sgc_owners_has(&owners, 1, 3), "from who had it");
    sgc_owners_leave(&owners, 1);
    tap_ok(!sgc_owners_get(&owners, 0, 3, true) && sgc_owners_everybodys(owners.page, 3), "the next one does not: it is everybody's");
    tap_ok(!sgc_owners_get(&owners, 1, 3, true), "and stays so");
    tap_ok(sgc_owners_get(&owners, 1, 4, false), "another page");
    sgc_owners_leave(&owners, 1);
    tap_ok(!sgc_owners_get(&owners, 0, 4, false) && sgc_owners_everybodys(owners.page, 4), "for a few bits a page is everybody's at once");
    tap_ok(!sgc_owners_get(&owners, SGC_OWNERS_MOST, 5, true) && sgc_owners_everybodys(owners.page, 5),
           "a marker whose number is too high has none");
    test_in_between();
    sgc_owners_check(&owners);
    sgc_owners_begin(&owners, PAGES);
    tap_ok(belongs(3, 0), "until the next mark");
}

static void test_turns(void)
{
    uintptr_t turn;

    sgc_owners_get(&owners, 2, 0, false);
    turn = sgc_aw_load(&owners.marker[2].turn);
    sgc_owners_answer(&owners, 2);
    tap_ok(sgc_aw_load(&owners.marker[2].turn) == turn, "nobody has asked: no answer");
    sgc_a32_store(&owners.marker[2].asked, 1);
    sgc_owners_answer(&owners, 2);
    tap_ok(sgc_aw_load(&owners.marker[2].turn) == turn + 2 && sgc_owners_has(&owners, 2, 0), "an answer, and it goes on");
    sgc_owners_leave(&owners, 2);
    sgc_owners_leave(&owners, 2);
    tap_ok(sgc_aw_load(&owners.marker[2].turn) == turn + 3, "it leaves once");
}

/* ---- who does not answer ---- */

static void *ask_for_page(void *arg)
{
    (void)arg;
    return (void *)(uintptr_t)sgc_owners_get(&owners, 1, 0, true);
}

/* Marker 0 is inside, and answers only when somebody has lost patience. */
static bool had_after_wait(void)
{
    pthread_t thread;
    void *had;

    sgc_owners_begin(&owners, PAGES);
    sgc_owners_get(&owners, 0, 0, true);
    sgc_owners_get(&owners, 0, 1, true);
    if (pthread_create(&thread, NULL, ask_for_page, NULL) != 0)
        tap_bail("no thread can be had");
    for (int i = 0; i < 10000 && sgc_a32_load(&owners.given_up) == 0; i++)
        usleep(1000);
    tap_ok(belongs(0, SGC_BETWEEN) && !sgc_owners_has(&owners, 0, 0), "a page that is waited for is nobody's to write");
    sgc_owners_answer(&owners, 0);
    pthread_join(thread, &had);
    return had != NULL;
}

static size_t marks_without(void)
{
    size_t marks = 0;

    while (marks < 1000 && !sgc_owners_begin(&owners, PAGES))
        marks++;
    return marks;
}

static void test_given_up(void)
{
    tap_ok(!had_after_wait() && sgc_owners_everybodys(owners.page, 0), "who has waited for long leaves the page to everybody");
    tap_ok(!sgc_owners_inside(&owners, 0), "who is asked goes out then");
    tap_ok(!sgc_owners_get(&owners, 0, 1, true) && sgc_owners_everybodys(owners.page, 1), "own pages become everybody's");
    tap_ok(!sgc_owners_get(&owners, 0, 2, true) && sgc_owners_everybodys(owners.page, 2), "those that are nobody's, too");
    sgc_owners_check(&owners);
    tap_ok(marks_without() == 1, "the next mark does without");
    tap_ok(sgc_owners_get(&owners, 0, 0, true), "then it is tried again");
    sgc_owners_leave(&owners, 0);
}

/* Marks that do without after one that gives up, `good` marks after the last time. */
static size_t give_up_after(size_t good)
{
    sgc_a32_store(&owners.given_up, 0);
    for (size_t i = 0; i < good; i++)
        marks_without();
    sgc_a32_store(&owners.given_up, 1);
    return marks_without();
}

static void test_again(void)
{
    size_t twice = give_up_after(0), often = 0, once = give_up_after(20), again;

    for (int i = 0; i < 20; i++)
        often = give_up_after(0);
    again = give_up_after(1);
    tap_ok(twice == 2 && often == SGC_OWNERS_WITHOUT, "if it happens again soon, more do without (%zu, %zu)", twice, often);
    tap_ok(once == 1 && again == SGC_OWNERS_WITHOUT, "and less after some that have not (%zu, %zu)", once, again);
}

/* ---- at once ---- */

static void set(uint32_t i, size_t page, size_t bit, bool many)
{
    sgc_aw_t *word = &bits[page * WORDS + bit / 64];
    uintptr_t mask = (uintptr_t)1 << bit % 64;

    if (sgc_owners_has(&owners, i, page) || sgc_owners_get(&owners, i, page, many)) {
        sgc_aw_store(word, sgc_aw_load(word) | mask);
        sgc_a32_add(&plain, 1);
    } else
        sgc_aw_or_relaxed(word, mask);
}

/* Each has every fourth bit of all pages; runs of them in one page, the pages in an order of its own. */
static void *set_all(void *arg)
{
    uint32_t i = (uint32_t)(uintptr_t)arg;

    sgc_a32_add(&ready, 1);
    while (sgc_a32_load_acq(&ready) < MARKERS)
        sgc_yield();
    for (size_t bit = i; bit < BITS; bit += MARKERS * RUN)
        for (size_t p = 0; p < PAGES; p++) {
            size_t page = (p * (2 * i + 1) + i) % PAGES;

            if (round_is_patient || bit > BITS / 2)
                sgc_a32_store(&owners.given_up, !round_is_patient);     /* whatever it takes here */
            sgc_owners_answer(&owners, i);
            for (size_t k = 0; k < RUN; k++)
                set(i, page, bit + k * MARKERS, page != 0 || bit > BITS / 2);
            if ((bit + p) % 7 == 0)
                sgc_owners_leave(&owners, i);
        }
    sgc_owners_leave(&owners, i);
    return NULL;
}

static size_t missing(void)
{
    size_t n = 0;

    for (size_t w = 0; w < PAGES * WORDS; w++) {
        n += sgc_aw_load(&bits[w]) != UINTPTR_MAX;
        sgc_aw_store(&bits[w], 0);
    }
    return n;
}

static void test_race(void)
{
    pthread_t thread[MARKERS];
    size_t lost = 0, refused = 0;

    sgc_a32_store(&plain, 0);
    for (int round = 0; round < ROUNDS; round++) {
        sgc_a32_store(&owners.given_up, 0);
        round_is_patient = round % 4 != 0;
        refused += !sgc_owners_begin(&owners, PAGES);
        sgc_a32_store(&ready, 0);
        for (uintptr_t i = 0; i < MARKERS; i++)
            if (pthread_create(&thread[i], NULL, set_all, (void *)i) != 0)
                tap_bail("no thread can be had");
        for (int i = 0; i < MARKERS; i++)
            pthread_join(thread[i], NULL);
        lost += missing();
        sgc_owners_check(&owners);
    }
    tap_ok(lost == 0, "%d markers set bits in the same words: none is lost (%zu)", MARKERS, lost);
    tap_ok(refused == 0 && sgc_a32_load(&plain) > ROUNDS * RUN, "%u of %d by plain stores", sgc_a32_load(&plain),
           ROUNDS * PAGES * BITS);
}

int main(void)
{
    tap_ok(!sgc_owners_begin(&owners, 0), "without a table marks do without");
    tap_ok(sgc_owners_init(&owners, PAGES, MARKERS), "a table");
    test_hands();
    test_turns();
    test_given_up();
    test_again();
    test_race();
    sgc_owners_release(&owners);
    tap_ok(owners.page == NULL, "released");
    return tap_done();
}
