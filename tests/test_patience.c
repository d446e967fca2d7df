/* SPDX-License-Identifier: MIT */
/* Waiting for a collection to end: who may spin, and what counts as going on late. */
#include "gc/patience.h"
#include "tests/tap.h"

static const uint32_t SEEN = 7;

/* Spinning sees the change that has been made already; who may not spin does not even look. */
static bool spins(const sgc_a32_t *changed, uint32_t markers, uint32_t stopped, uint32_t beside)
{
    sgc_patience_begin(markers);
    for (uint32_t i = 0; i < stopped; i++)
        sgc_patience_one_more();
    return sgc_patience_spin(changed, SEEN, beside);
}

static void test_who_spins(void)
{
    sgc_a32_t word;

    sgc_a32_store(&word, SEEN + 1);
    sgc_patience_init(2);
    tap_ok(spins(&word, 1, 1, 0), "a marker and a stopped thread have a processor each: it spins");
    tap_ok(!spins(&word, 1, 2, 0), "with one thread more than there are processors nobody spins");
    tap_ok(!spins(&word, 2, 1, 0), "nor beside a second marker");
    tap_ok(spins(&word, 1, 0, 1), "a thread that is not stopped spins beside the marker");
    tap_ok(!spins(&word, 1, 0, 2), "two do not");
    tap_ok(!spins(&word, 1, 1, UINT32_MAX), "any number of threads is too many");
    sgc_patience_init(1);
    tap_ok(!spins(&word, 1, 1, 0), "with one processor nobody spins");
    tap_ok(!spins(&word, 2, 0, 0), "even if two markers are asked for");
    sgc_patience_init(64);
    sgc_a32_store(&word, SEEN);
    tap_ok(!spins(&word, 1, 1, 0), "spinning ends although nothing changes");
}

static uint64_t wait_until_later(void)
{
    uint64_t now = sgc_clock_ns();

    while (sgc_clock_ns() == now)
        continue;
    return now;
}

static void test_late(void)
{
    uint64_t since = wait_until_later();

    sgc_patience_init(2);
    sgc_patience_begin(1);
    sgc_patience_one_more();
    (void)sgc_patience_late_ns();
    sgc_patience_let_go();
    sgc_sleep_ns(3000000);
    sgc_patience_over(since);
    tap_ok(sgc_patience_late_ns() >= 1500000, "3 ms late, and the collecting thread not at all: half of that");
    tap_ok(sgc_patience_late_ns() == 0, "it is taken into account once");
    wait_until_later();
    sgc_patience_over(sgc_clock_ns());
    tap_ok(sgc_patience_late_ns() == 0, "who waited for something else was not late");
    sgc_patience_one_more();
    sgc_patience_over(since);
    tap_ok(sgc_patience_late_ns() == 0, "nor who has to wait for a processor that works");
}

int main(void)
{
    tap_plan(13);
    test_who_spins();
    test_late();
    return tap_done();
}
