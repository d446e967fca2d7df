/* SPDX-License-Identifier: MIT */
/* platform/file_linux.c: a descriptor that the program has closed, and one that is its own by now. */
#include "platform/file_linux.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "tests/lib/child.h"
#include "tests/lib/refuse.h"
#include "tests/lib/sanitized.h"

static struct sgc_own_file file = SGC_NO_FILE;

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static bool keep(void)
{
    return sgc_own_file_keep(&file, open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
}

static void test_kept(void)
{
    int fd;

    tap_ok(!sgc_own_file_is(&file), "no file is none of ours");
    tap_ok(keep() && sgc_own_file_is(&file) && file.fd > 9, "one that is kept is, far from those that programs open");
    fd = file.fd;
    tap_ok((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0, "and is closed on exec");
    sgc_own_file_close(&file);
    tap_ok(!is_open(fd) && !sgc_own_file_is(&file), "closed it is gone");
    sgc_own_file_close(&file);
    tap_ok(file.fd < 0, "closing it again does nothing");
}

static void test_taken(void)
{
    int fd;

    keep();
    fd = file.fd;
    close(fd);
    tap_ok(!sgc_own_file_is(&file), "one that the program has closed is not ours any more");
    dup2(STDOUT_FILENO, fd);
    tap_ok(!sgc_own_file_is(&file), "nor is another file of that number");
    sgc_own_file_close(&file);
    tap_ok(is_open(fd), "which stays open when ours is closed");
    close(fd);
}

static int without_fstat(void)
{
    int fd = open("/dev/null", O_RDONLY);

    if (!refuse_call(SYS_fstat))
        return CHILD_SKIPS;
    if (sgc_own_file_keep(&file, fd) || errno != EPERM)
        return 1;
    return file.fd < 0 ? 0 : 2;
}

int main(void)
{
    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer asks for files, too");
    test_kept();
    test_taken();
    child_ok(without_fstat, "where the system does not say which file it is nothing is kept");
    return tap_done();
}
