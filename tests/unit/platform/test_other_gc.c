/* SPDX-License-Identifier: MIT */
/*
 * platform/modules_linux.c, and what gc/roots/roots.c says of it: a second collector in the process.  tests/lib/foreign holds
 * a module that calls itself libgc.so.  That libsgc and the drop-in together are one: tests/api/test_one_heap.
 */
#include "gc/collect/collect.h"
#include "gc/collect/start.h"
#include "gc/collect/start_state.h"
#include "tests/lib/capture.h"
#include "tests/lib/module.h"
#include "tests/lib/white.h"

static char path[64];

static const char *said_by_a_collection(void)
{
    capture_begin();
    sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, NULL);
    return capture_end();
}

static void test_alone(void)
{
    const char *text;

    tap_ok(!sgc_modules_other_collector(path, sizeof path), "no other collector here");
    capture_begin();
    sgc_init_now();
    text = capture_end();
    tap_ok(text[0] == '\0', "nothing is said at the start");
    tap_ok(said_by_a_collection()[0] == '\0', "nor by a collection");
}

static void test_two(void)
{
    void *module = module_load("../foreign/.libs/libgc");
    const char *text;

    tap_ok(sgc_modules_other_collector(path, sizeof path), "a module that calls itself libgc.so is found");
    tap_ok(memchr(path, '\0', sizeof path) != NULL && path[0] == '/', "its path is given, cut: %s", path);
    text = said_by_a_collection();
    tap_ok(strstr(text, "another collector is in this process: /") != NULL, "the next collection says so");
    tap_ok(strstr(text, "foreign/.libs/libgc.so. Neither knows") != NULL, "with the path");
    tap_ok(said_by_a_collection()[0] == '\0', "once");
    dlclose(module);
    tap_ok(!sgc_modules_other_collector(path, sizeof path), "unloaded, it is not found any more");
}

int main(void)
{
    tap_plan(9);
    return tap_all(test_alone, test_two);
}
