/* SPDX-License-Identifier: MIT */
/* Sets of numbers, and lists that they are read from. */
#include "platform/nodes/number_set.h"

#include "tests/lib/tap.h"

static void check_list(const char *list, int count, int first, int last)
{
    struct sgc_number_set set;
    int found = -1;

    sgc_number_set_parse(&set, list);
    for (int i = 0; (i = sgc_number_set_next(&set, i)) >= 0; i++)
        found = i;
    tap_ok(sgc_number_set_count(&set) == count && sgc_number_set_next(&set, 0) == first && found == last,
           "\"%s\": %d numbers, %d to %d", list, sgc_number_set_count(&set), sgc_number_set_next(&set, 0), found);
}

int main(void)
{
    struct sgc_number_set set;

    sgc_number_set_clear(&set);
    tap_ok(sgc_number_set_count(&set) == 0 && sgc_number_set_next(&set, 0) == -1, "an empty set");
    tap_ok(sgc_number_set_add(&set, 3) && sgc_number_set_add(&set, 64) && sgc_number_set_add(&set, 8191), "three are added");
    tap_ok(!sgc_number_set_add(&set, 8192) && !sgc_number_set_has(&set, 8192), "a fourth is too large");
    tap_ok(sgc_number_set_count(&set) == 3 && sgc_number_set_has(&set, 64) && !sgc_number_set_has(&set, 63), "three are in it");
    tap_ok(sgc_number_set_next(&set, 0) == 3 && sgc_number_set_next(&set, 4) == 64 && sgc_number_set_next(&set, 64) == 64 &&
           sgc_number_set_next(&set, 65) == 8191, "one after the other");
    check_list("", 0, -1, -1);
    check_list("7", 1, 7, 7);
    check_list("0-3,8", 5, 0, 8);
    check_list("0-3,8,nonsense,9", 5, 0, 8);
    check_list("3-1", 0, -1, -1);
    check_list("-", 0, -1, -1);
    check_list("5-", 0, -1, -1);
    check_list("8190-9000", 2, 8190, 8191);
    check_list("0-4294967295", 0, -1, -1);
    check_list("99999999999999999999", 0, -1, -1);
    return tap_done();
}
