/* SPDX-License-Identifier: MIT */
/*
 * platform/out_file_linux.c and platform/report.c: things that somebody else has put into a shared folder are neither
 * written to nor followed, and no limit or closed pipe ends the program.
 */
#include "platform/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "platform/report.h"
#include "tests/lib/child.h"
#include "tests/lib/contents.h"
#include "tests/lib/refuse.h"

enum { SELF = 12345, OTHER = 54321 };   /* users that own nothing else */

static struct sgc_out_file out;

/* ---- new files ---- */

static mode_t mode_of(const char *name)
{
    struct stat status;

    return stat(folder_path(name), &status) == 0 ? status.st_mode & 07777 : 0;
}

/* Opens by one of the functions; 0, or the error. */
static int error_of(int fd)
{
    if (fd < 0)
        return -fd;
    close(fd);
    return 0;
}

static void test_new(void)
{
    mode_t before = umask(0);
    int fd = sgc_out_new(folder_path("new"), 0);

    tap_ok(fd >= 0 && mode_of("new") == 0600, "only its owner may read a new file");
    tap_ok((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0, "a program that is executed does not get it");
    close(fd);
    folder_put("target", "mine");
    if (symlink(folder_path("target"), folder_path("planted")) != 0 || symlink("nothing", folder_path("dangling")) != 0)
        tap_bail("no links");
    tap_ok(error_of(sgc_out_new(folder_path("planted"), 0)) == EEXIST && holds("target", "mine"),
           "a link in its place is not followed");
    tap_ok(error_of(sgc_out_new(folder_path("dangling"), 0)) == EEXIST && access(folder_path("nothing"), F_OK) != 0,
           "nor one that leads to nothing");
    tap_ok(error_of(sgc_out_append(folder_path("log"))) == 0 && mode_of("log") == 0600, "a log is as private");
    tap_ok(error_of(sgc_out_append(folder_path("log"))) == 0, "and opened again");
    tap_ok(error_of(sgc_out_append(folder_path("dangling"))) == EEXIST && access(folder_path("nothing"), F_OK) != 0,
           "a log's link to nothing is not followed either");
    sgc_out_open(&out, folder_path("whole"));
    sgc_out_write(&out, "x", 1);
    tap_ok(sgc_out_close(&out) == 0 && mode_of("whole") == 0600, "what appears when it is complete is as private");
    umask(before);
}

/* A link planted at each name that the other one can have: none of them is where the file is written. */
static void test_unknown_name(void)
{
    char first[sizeof out.other];

    sgc_out_open(&out, folder_path("twice"));
    strcpy(first, out.other);
    sgc_out_close(&out);
    sgc_out_open(&out, folder_path("twice"));
    tap_ok(strcmp(first, out.other) != 0, "the name that a file has meanwhile cannot be known from the one before");
    sgc_out_close(&out);
}

/* ---- somebody else's ---- */

static void give(const char *name, uid_t owner)
{
    if (lchown(folder_path(name), owner, owner) != 0)
        tap_bail("cannot give %s away", name);
}

static void plant(const char *name, uid_t owner)
{
    folder_put(name, "");
    chmod(folder_path(name), 0666);
    give(name, owner);
}

static void plant_link(const char *name, const char *to, uid_t owner)
{
    if (symlink(to, folder_path(name)) != 0)
        tap_bail("no links");
    give(name, owner);
}

static void plant_pipe(const char *name, uid_t owner)
{
    mkfifo(folder_path(name), 0666);
    chmod(folder_path(name), 0666);
    give(name, owner);
}

static void plant_all(void)
{
    mkdir(folder_path("shared"), 0);
    mkdir(folder_path("plain"), 0);
    chmod(folder, 0755);
    chmod(folder_path("shared"), 01777);
    chmod(folder_path("plain"), 0755);
    plant("victim", SELF);
    plant("shared/own", SELF);
    plant("shared/foreign", OTHER);
    plant("shared/root", 0);
    plant("plain/foreign", OTHER);
    if (link(folder_path("victim"), folder_path("shared/second")) != 0)
        tap_bail("no second names");
    plant_link("shared/link", "../victim", OTHER);
    plant_link("shared/own-link", "../victim", SELF);
    plant_link("plain/link", "../victim", OTHER);
    plant_pipe("shared/pipe", OTHER);
    plant_pipe("shared/own-pipe", SELF);
}

/* As another user than root; the pipes have a reader, so that they could be opened. */
static int as_self(const char *name, int wanted)
{
    int reader = open(folder_path(name), O_RDONLY | O_NONBLOCK), fd;

    if (setresgid(SELF, SELF, SELF) != 0 || setresuid(SELF, SELF, SELF) != 0)
        return CHILD_SKIPS;
    fd = sgc_out_append(folder_path(name));
    close(reader);
    return error_of(fd) == wanted ? 0 : 1;
}

/* A snapshot goes into a pipe that is there, but not into somebody else's. */
static int snapshot_to_pipe(void)
{
    int reader = open(folder_path("shared/pipe"), O_RDONLY | O_NONBLOCK);

    if (reader < 0 || setresuid(SELF, SELF, SELF) != 0)
        return CHILD_SKIPS;
    sgc_out_open(&out, folder_path("shared/pipe"));
    return sgc_out_close(&out) == EPERM ? 0 : 1;
}

/* The folder is the planter's for whom nobody needs to trust it: what is there is replaced only where one may. */
static int snapshot_over_foreign(void)
{
    if (setresuid(SELF, SELF, SELF) != 0)
        return CHILD_SKIPS;
    sgc_out_open(&out, folder_path("shared/foreign"));
    sgc_out_write(&out, "x", 1);
    return sgc_out_close(&out) == EPERM && access(out.other, F_OK) != 0 ? 0 : 1;
}

static int snapshot_over_link(void)
{
    if (setresuid(SELF, SELF, SELF) != 0)
        return CHILD_SKIPS;
    sgc_out_open(&out, folder_path("shared/own-link"));
    sgc_out_write(&out, "x", 1);
    return sgc_out_close(&out);
}

static void test_foreign(void)
{
    if (geteuid() != 0) {
        for (int i = 0; i < 14; i++)
            tap_skip("only root can give files to others");
        return;
    }
    plant_all();
    child_ok_of(as_self("shared/foreign", EPERM), "a file that somebody else has put into a shared folder is not written to");
    child_ok_of(as_self("shared/link", EPERM), "nor followed if it is a link");
    child_ok_of(as_self("shared/pipe", EPERM), "nor a pipe that somebody else reads");
    child_ok_of(as_self("shared/second", EPERM), "nor a file that is one's own and has another name elsewhere");
    child_ok_of(as_self("shared/own", 0), "one's own file is");
    child_ok_of(as_self("shared/own-link", 0), "and one's own link");
    child_ok_of(as_self("shared/own-pipe", 0), "and one's own pipe");
    child_ok_of(as_self("shared/root", 0), "and what the folder's owner has put there");
    child_ok_of(as_self("plain/foreign", 0), "where not everybody may write somebody else's file is one that was meant");
    child_ok_of(as_self("plain/link", 0), "and so is a link");
    child_ok(snapshot_to_pipe, "no snapshot goes into somebody else's pipe");
    child_ok(snapshot_over_foreign, "nor over somebody else's file, and nothing of it stays");
    child_ok(snapshot_over_link, "a link is replaced");
    tap_ok(holds("victim", ""), "and what it led to is as before");
}

/* ---- signals that the program has not asked for ---- */

static volatile sig_atomic_t signals;

static void count(TEST_UNUSED int signal)
{
    signals++;
}

static int beyond_limit(void)
{
    static const char text[100];
    int fd = sgc_out_new(folder_path("limited"), 0);
    size_t written;

    if (!limit_to(RLIMIT_FSIZE, 30))
        return CHILD_SKIPS;
    errno = 99;
    return sgc_quiet_write_all(fd, text, sizeof text, &written) == EFBIG && written == 30 && errno == 99 ? 0 : 1;
}

static int to_nobody(void)
{
    size_t written;
    int ends[2];

    if (pipe(ends) != 0)
        return CHILD_SKIPS;
    close(ends[0]);
    return sgc_quiet_write_all(ends[1], "x", 1, &written) == EPIPE && written == 0 ? 0 : 1;
}

/* A reader that reads something and goes, while one write waits for room: less than all is written, and a signal is sent. */
static int to_who_leaves(void)
{
    enum { READ = 5000, MUCH = 1 << 20 };
    static char text[MUCH];
    size_t written;
    int ends[2];
    pid_t reader;

    if (pipe(ends) != 0 || (reader = fork()) < 0)
        return CHILD_SKIPS;
    if (reader == 0) {
        close(ends[1]);
        for (long n = 0, more; n < READ && (more = read(ends[0], text, (size_t)(READ - n))) > 0;)
            n += more;
        _exit(0);
    }
    close(ends[0]);
    return sgc_quiet_write_all(ends[1], text, MUCH, &written) == EPIPE && written >= READ ? 0 : 1;
}

static int message_to_nobody(void)
{
    int ends[2];

    if (pipe(ends) != 0)
        return CHILD_SKIPS;
    close(ends[0]);
    sgc_report_to(ends[1]);
    sgc_warn("nobody reads this");
    return 0;
}

/* The handler is for the program's own writes, and what it has blocked and pending itself stays. */
static int left_alone(void)
{
    sigset_t set, now;
    int right = to_nobody() == 0;

    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    signal(SIGPIPE, count);
    right &= to_nobody() == 0 && signals == 0;
    sigprocmask(SIG_BLOCK, &set, NULL);
    right &= to_nobody() == 0 && sigpending(&now) == 0 && !sigismember(&now, SIGPIPE);
    raise(SIGPIPE);
    right &= to_nobody() == 0 && sigpending(&now) == 0 && sigismember(&now, SIGPIPE);
    sigprocmask(SIG_SETMASK, NULL, &now);
    right &= sigismember(&now, SIGPIPE) && !sigismember(&now, SIGXFSZ);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    return right && signals == 1 ? 0 : 1;
}

static int ignored(void)
{
    signal(SIGPIPE, SIG_IGN);
    return to_nobody();
}

static void test_quiet(void)
{
    child_ok(beyond_limit, "the limit on sizes is an error, and no signal");
    child_ok(to_nobody, "so is a pipe that nobody reads");
    child_ok(to_who_leaves, "and one whose reader leaves in the middle");
    child_ok(message_to_nobody, "also for messages");
    child_ok(left_alone, "the program's handler is not called, and what it has pending stays");
    child_ok(ignored, "nor does it matter if it ignores the signal");
}

int main(void)
{
    folder_make();
    tap_each(test_new, test_unknown_name, test_foreign, test_quiet);
    folder_remove();
    return tap_done();
}
