/* SPDX-License-Identifier: MIT */
/*
 * platform/caches_linux.c, on made-up trees like /sys below a temporary folder and on this machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "platform/platform.h"
#include "tests/lib/tap.h"

static char root[256];

static void make_folder(const char *path)
{
    char name[600];
    snprintf(name, sizeof name, "%s/%s", root, path);
    mkdir(name, 0700);
}

static void put_file(int index, const char *attribute, const char *text)
{
    char name[600];
    snprintf(name, sizeof name, "%s/devices/system/cpu/cpu0/cache/index%d/%s", root, index, attribute);
    FILE *file = fopen(name, "w");
    if (!file)
        tap_bail("cannot write %s", name);
    fputs(text, file);
    fclose(file);
}

static void put_cache(int index, const char *level, const char *type, const char *size)
{
    char folder[64];
    snprintf(folder, sizeof folder, "devices/system/cpu/cpu0/cache/index%d", index);
    make_folder(folder);
    put_file(index, "level", level);
    put_file(index, "type", type);
    put_file(index, "size", size);
}

static void make_tree(void)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/sgc-caches-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(root))
        tap_bail("no temporary folder at %s", root);
    make_folder("devices");
    make_folder("devices/system");
    make_folder("devices/system/cpu");
    make_folder("devices/system/cpu/cpu0");
    make_folder("devices/system/cpu/cpu0/cache");
}

static void test_tree(void)
{
    tap_ok(sgc_cache_bytes(root, 1) == 0, "no caches");
    put_cache(0, "1\n", "Instruction\n", "32K\n");
    put_cache(1, "1\n", "Data\n", "48K\n");
    put_cache(2, "2\n", "Unified\n", "1024K\n");
    put_cache(3, "3\n", "Unified\n", "32M\n");
    tap_ok(sgc_cache_bytes(root, 1) == 48 << 10, "the data cache, not that of instructions");
    tap_ok(sgc_cache_bytes(root, 2) == 1 << 20, "the second level");
    tap_ok(sgc_cache_bytes(root, 3) == 32 << 20, "the third, in megabytes");
    tap_ok(sgc_cache_bytes(root, 4) == 0, "there is no fourth");
}

static void test_nonsense(void)
{
    static const char *const nonsense[] = { "", "\n", "K\n", "-1K\n", "12G\n", "1KB\n", "x\n", "99999999999999999999K\n",
                                            "18446744073709551615K\n" };
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        put_file(2, "size", nonsense[i]);
        tap_ok(sgc_cache_bytes(root, 2) == 0, "a size like no. %zu is none", i + 1);
    }
    put_file(2, "size", "4096\n");
    tap_ok(sgc_cache_bytes(root, 2) == 4096, "bytes without unit");
    put_file(2, "level", "two\n");
    tap_ok(sgc_cache_bytes(root, 2) == 0 && sgc_cache_bytes(root, 3) == 32 << 20, "a level that is no number is passed over");
}

static void remove_tree(void)
{
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command) != 0)
        tap_diag("%s stays", root);
}

int main(void)
{
    tap_plan(0);
    make_tree();
    test_tree();
    test_nonsense();
    remove_tree();
    tap_diag("this machine: second-level cache %zu KB", sgc_cache_bytes("/sys", 2) >> 10);
    tap_ok(sgc_cache_bytes("/sys", 2) < (size_t)1 << 30, "this machine's second-level cache has a sensible size, if any");
    return tap_done();
}
