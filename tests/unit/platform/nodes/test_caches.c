/* SPDX-License-Identifier: MIT */
/*
 * platform/nodes/caches_linux.c, on made-up trees like /sys below a temporary folder and on this machine.
 */
#include "platform/nodes/topology.h"
#include "platform/platform.h"
#include "tests/lib/folder.h"

static void put_file(int index, const char *attribute, const char *text)
{
    char name[200];
    snprintf(name, sizeof name, "devices/system/cpu/cpu0/cache/index%d/%s", index, attribute);
    folder_put(name, text);
}

static void put_cache(int index, const char *level, const char *type, const char *size)
{
    put_file(index, "level", level);
    put_file(index, "type", type);
    put_file(index, "size", size);
}

static void test_tree(void)
{
    tap_ok(sgc_cache_bytes(folder, 1) == 0, "no caches");
    put_cache(0, "1\n", "Instruction\n", "32K\n");
    put_cache(1, "1\n", "Data\n", "48K\n");
    put_cache(2, "2\n", "Unified\n", "1024K\n");
    put_cache(3, "3\n", "Unified\n", "32M\n");
    tap_ok(sgc_cache_bytes(folder, 1) == 48 << 10, "the data cache, not that of instructions");
    tap_ok(sgc_cache_bytes(folder, 2) == 1 << 20, "the second level");
    tap_ok(sgc_cache_bytes(folder, 3) == 32 << 20, "the third, in megabytes");
    tap_ok(sgc_cache_bytes(folder, 4) == 0, "there is no fourth");
}

static void test_nonsense(void)
{
    static const char *const nonsense[] = { "", "\n", "K\n", "-1K\n", "12G\n", "1KB\n", "x\n", "99999999999999999999K\n",
                                            "18446744073709551615K\n" };
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        put_file(2, "size", nonsense[i]);
        tap_ok(sgc_cache_bytes(folder, 2) == 0, "a size like no. %zu is none", i + 1);
    }
    put_file(2, "size", "4096\n");
    tap_ok(sgc_cache_bytes(folder, 2) == 4096, "bytes without unit");
    put_file(2, "level", "two\n");
    tap_ok(sgc_cache_bytes(folder, 2) == 0 && sgc_cache_bytes(folder, 3) == 32 << 20, "a level that is no number is none");
}

int main(void)
{
    folder_make();
    test_tree();
    test_nonsense();
    folder_remove();
    tap_diag("this machine: second-level cache %zu KB", sgc_cache_bytes("/sys", 2) >> 10);
    tap_ok(sgc_cache_bytes("/sys", 2) < (size_t)1 << 30, "this machine's second-level cache has a sensible size, if any");
    return tap_done();
}
