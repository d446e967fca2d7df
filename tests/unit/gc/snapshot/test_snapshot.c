/* SPDX-License-Identifier: MIT */
/*
 * SGC_SNAPSHOT: names, in which collections a snapshot is written, and the message when
 * none can be.  Also: gc/snapshot/heap_part.c and gc/snapshot/blocks.c, whose output is compared
 * with the marks by tests/api/test_snapshot.c, and read by tests/unit/snapshot/test_reader.c.
 */
#include "gc/snapshot/snapshot.h"

#include "gc/events/events.h"
#include "gc/events/json_log.h"
#include "gc/snapshot/blocks.h"
#include "sgc.h"
#include "tests/lib/child.h"
#include "tests/lib/folder.h"

static void test_names(void)
{
    const uint64_t one = 2, another = 345, long_one = 1234567;
    char name[16];

    tap_ok(sgc_log_file_name("%p-%n.x", 12, &another, name, sizeof name) && strcmp(name, "12-345.x") == 0,
           "a name has the process and the number");
    tap_ok(sgc_log_file_name("%q%", 1, &one, name, sizeof name) && strcmp(name, "%q%") == 0, "other signs stay");
    tap_ok(!sgc_log_file_name("abcdefghijklmnop", 1, &one, name, sizeof name) &&
           !sgc_log_file_name("abcdefghijkl%n", 1, &long_one, name, sizeof name) &&
           sgc_log_file_name("abcdefghijklmno", 1, &one, name, sizeof name), "one that does not fit is refused");
}

/* ---- numbers in blocks ---- */

static void test_numbers(void)
{
    static const uint64_t some[] = { 0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX };
    bool right = true;

    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        right &= sgc_snapshot_unzigzag(sgc_snapshot_zigzag(some[i])) == some[i];
        right &= sgc_snapshot_unzigzag(sgc_snapshot_zigzag(0 - some[i])) == 0 - some[i];
    }
    tap_ok(right && sgc_snapshot_zigzag((uint64_t)-1) == 1 && sgc_snapshot_zigzag(1) == 2,
           "distances to either side become numbers, and small ones small ones");
}

static void test_crc(void)
{
    static struct sgc_snapshot_crc_table table;
    char text[100];
    bool right = true;

    memset(text, 'q', sizeof text);
    sgc_snapshot_crc_prepare(&table);
    for (size_t first = 0; first <= sizeof text; first++)
        right &= sgc_snapshot_crc(&table, sgc_snapshot_crc(&table, 0, text, first), text + first, sizeof text - first) ==
                 sgc_snapshot_crc(&table, 0, text, sizeof text);
    tap_ok(sgc_snapshot_crc(&table, 0, "123456789", 9) == UINT32_C(0xcbf43926), "the checksum is the one of IEEE 802.3");
    tap_ok(right, "and the same in any parts");
}

/* ---- in which collections ---- */

static struct sgc_cycle_record last;

static void on_cycle_end(TEST_UNUSED void *context, const struct sgc_cycle_record *record)
{
    last = *record;
}

static const struct sgc_listener listener = { .cycle_end = on_cycle_end };

static bool is_there(int number)
{
    char name[20];

    snprintf(name, sizeof name, "n%d", number);
    return access(folder_path(name), F_OK) == 0;
}

static void set_option(const char *name, const char *end)
{
    char text[400];

    snprintf(text, sizeof text, "%s/%s%s", folder, name, end);
    setenv("SGC_SNAPSHOT", text, 1);
}

/* 0 if it is the third, and no other, that has one, and its time is a part of the pause. */
static int collect_three(void)
{
    int wrong = 0;

    set_option("n%n", ",every=3");
    GC_INIT();
    sgc_listener_add(&listener);
    for (int i = 0; i < 2; i++) {
        GC_gcollect();
        wrong |= last.times.phase_ns[SGC_PHASE_SNAPSHOT] != 0;
    }
    GC_gcollect();
    return wrong | (is_there(1) || is_there(2)) << 1 | !is_there(3) << 2 | (last.times.phase_ns[SGC_PHASE_SNAPSHOT] == 0) << 3;
}

static void *volatile kept;
static sgc_a32_t beside, written, wrong;    /* counted by whichever thread collects */

static void count_cycle(TEST_UNUSED void *context, const struct sgc_cycle_record *record)
{
    if (record->concurrent.earlier_stops != 0)
        sgc_a32_add(&beside, 1);
    if (record->cycle % 4 != 0)
        return;
    sgc_a32_add(&written, 1);
    if (!is_there((int)record->cycle) || record->concurrent.earlier_stops != 0)
        sgc_a32_add(&wrong, 1);
}

/* Those that have a snapshot stop the program once, though others do not. */
static int collect_beside(void)
{
    static const struct sgc_listener counter = { .cycle_end = count_cycle };

    environment("SGC_MODE=concurrent", "GC_PAUSE_TIME_TARGET=0");
    set_option("n%n", ",every=4");
    GC_INIT();
    sgc_listener_add(&counter);
    for (int i = 0; i < 4000000 && (sgc_a32_load(&beside) == 0 || sgc_a32_load(&written) < 2); i++)
        kept = GC_MALLOC(1000);
    if (sgc_a32_load(&beside) == 0 || sgc_a32_load(&written) < 2)
        return 2;
    return sgc_a32_load(&wrong) != 0;
}

/* A thread had asked when the process was copied; its request, which is on a stack that is nobody's by now, is left alone. */
static int fork_asked(void)
{
    struct sgc_snapshot_request before = { .path = folder_path("before") }, after = { .path = folder_path("after") };
    pid_t child;

    GC_INIT();
    if (!sgc_snapshot_ask(&before) || sgc_snapshot_ask(&after))
        return 1;
    child = fork();
    if (child != 0)
        return child_wait(child);
    GC_gcollect();
    if (before.done || access(before.path, F_OK) == 0)
        return 3;
    if (!sgc_snapshot_ask(&after))
        return 4;
    GC_gcollect();
    return after.done && after.error == 0 && access(after.path, F_OK) == 0 ? 0 : 5;
}

/* With SGC_SNAPSHOT as it is; there is no snapshot of the first collection afterwards. */
static int collect_twice(void)
{
    GC_INIT();
    GC_gcollect();
    GC_gcollect();
    return is_there(1);
}

int main(void)
{
    folder_make();
    tap_each(test_names, test_numbers, test_crc);
    child_ok(collect_three, "every third collection writes one, and its time is a part of the pause");
    child_ok(collect_beside, "where collections run beside the program those stop it");
    child_ok(fork_asked, "what was asked for before a fork is not written by the child, which asks anew");
    set_option("none/n%n", "");
    child_says(collect_twice, 0, "a heap snapshot cannot be written (no such directory",
               "one that cannot be written is told once");
    setenv("SGC_SNAPSHOT", "/dev/full", 1);
    child_says(collect_twice, 0, "a heap snapshot cannot be written (no space left", "so is a full device");
    set_option("n%n", ",every=often");
    child_says(collect_twice, 0, "expected PATTERN or PATTERN,every=N", "another text is told");
    set_option("n%n", ",every=1000");
    child_says(collect_twice, 0, NULL, "a program that ends before says nothing");
    folder_remove();
    return tap_done();
}
