/* SPDX-License-Identifier: MIT */
/* platform/out_file_linux.c: a file appears when it is complete, and only then. */
#include "platform/out_file.h"

#include <errno.h>
#include <fcntl.h>

#include "tests/lib/child.h"
#include "tests/lib/contents.h"
#include "tests/lib/refuse.h"

static struct sgc_out_file file;

static bool is_there(const char *name)
{
    return access(folder_path(name), F_OK) == 0;
}

/* Is there a file in the folder that is not complete? */
static bool others(void)
{
    char command[400];

    snprintf(command, sizeof command, "ls -A '%s' | grep -q part", folder);
    return system(command) == 0;
}

static void test_complete(void)
{
    bool written;

    errno = 99;
    written = sgc_out_open(&file, folder_path("one")) && sgc_out_write(&file, "abc", 3) && sgc_out_write(&file, "def", 3);
    tap_ok(written && errno == 99, "a file is written, and errno left alone");
    tap_ok(!is_there("one"), "it is not there before it is complete");
    tap_ok(sgc_out_close(&file) == 0 && holds("one", "abcdef") && !others(), "then it is, and nothing else");
    sgc_out_open(&file, folder_path("one"));
    sgc_out_write(&file, "x", 1);
    tap_ok(holds("one", "abcdef"), "a file of before stays until then");
    tap_ok(sgc_out_close(&file) == 0 && holds("one", "x"), "and is replaced");
}

static int fails(const char *path)
{
    bool opened = sgc_out_open(&file, path);

    for (int i = 0; i < 100 && opened; i++)
        sgc_out_write(&file, file.other, sizeof file.other);
    return sgc_out_close(&file);
}

static int limited(void)
{
    limit_to(RLIMIT_FSIZE, 2500);
    return fails(folder_path("limited"));
}

static void test_failing(void)
{
    char path[SGC_OUT_PATH + 10];

    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    tap_ok(fails(folder_path("none/file")) == ENOENT, "no folder is an error");
    tap_ok(fails(folder) == EISDIR, "so is a folder");
    tap_ok(fails(path) == ENAMETOOLONG, "and a name that is too long");
    tap_ok(fails("/dev/full") == ENOSPC && access("/dev/full", F_OK) == 0, "a device is written to as it is, and stays");
    tap_ok(run_in_child(limited) == EFBIG, "the limit on sizes is an error and no signal");
    tap_ok(!is_there("limited") && !others(), "what could not be completed is removed");
}

static void test_pipe(void)
{
    char text[4] = "", path[40];
    int ends[2];

    if (pipe(ends) != 0)
        tap_bail("no pipe");
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    sgc_out_open(&file, path);
    sgc_out_write(&file, "abc", 3);
    tap_ok(sgc_out_close(&file) == 0 && read(ends[0], text, 3) == 3 && strcmp(text, "abc") == 0, "a pipe is written to");
    tap_ok(mkfifo(folder_path("pipe"), 0600) == 0 && fails(folder_path("pipe")) == ENXIO,
           "one that nobody reads is an error, and is not waited for");
}

int main(void)
{
    folder_make();
    tap_each(test_complete, test_failing, test_pipe);
    folder_remove();
    return tap_done();
}
