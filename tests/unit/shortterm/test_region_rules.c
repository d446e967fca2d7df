/* SPDX-License-Identifier: MIT */
/*
 * shortterm/region_rules.h: what becomes of the word of a region, one by one; and random histories beside a simulation that has
 * a number and flags.
 */
#include "shortterm/region_rules.h"
#include "tests/lib/random.h"
#include "tests/lib/tap.h"

enum { DATE = SGC_REGION_DATE, OVER = SGC_REGION_OVER, TRACED = SGC_REGION_TRACED, CLOSED = SGC_REGION_CLOSED,
       ORPHAN = SGC_REGION_ORPHAN };

static void check_one_by_one(void)
{
    tap_ok(sgc_region_is_takers(OVER, true) && !sgc_region_is_takers(OVER, false), "the owner empties it");
    tap_ok(sgc_region_is_takers(OVER | CLOSED, false) && sgc_region_is_takers(OVER | ORPHAN, false) &&
           !sgc_region_is_takers(DATE | CLOSED, true), "of one that nobody uses any more, whoever took off the last");
    tap_ok(sgc_region_is_left(OVER | TRACED) && !sgc_region_is_left(OVER | CLOSED) && !sgc_region_is_left(DATE) &&
           !sgc_region_is_left(0), "the owner finds what others have left to it");
    tap_ok(sgc_region_emptied(OVER | TRACED) == 0 && sgc_region_emptied(OVER | ORPHAN) == ORPHAN, "then it is as a new one");
    tap_ok(sgc_region_word_ok(DATE | CLOSED) && sgc_region_word_ok(OVER) && !sgc_region_word_ok(DATE | OVER),
           "one that is over has no date");
}

static void check_histories(void)
{
    uint64_t random = 4711;
    int wrong = 0;

    for (int history = 0; history < 2000; history++) {
        uintptr_t word = 0, dates = 0, flags = 0;

        for (int i = 0; i < 60; i++) {
            if (random_below(&random, 30) == 0 && (flags & OVER) == 0)
                word |= CLOSED, flags |= CLOSED;
            if (random_below(&random, 2) == 0 && (flags & OVER) == 0) {
                word = sgc_region_dated(word);
                dates++;
            } else if (dates != 0) {
                uintptr_t more = random_below(&random, 20) == 0 ? TRACED : 0;

                word = sgc_region_taken(word, more);
                flags |= more | (--dates == 0 ? OVER : 0);
            } else if ((flags & (OVER | CLOSED)) == OVER) {
                word = sgc_region_emptied(word);
                flags = 0;
            }
            wrong += sgc_region_dates_in(word) != dates || word % DATE != flags || !sgc_region_word_ok(word);
        }
    }
    tap_ok(wrong == 0, "histories are those of a number and flags");
}

int main(void)
{
    tap_plan(6);
    return tap_all(check_one_by_one, check_histories);
}
