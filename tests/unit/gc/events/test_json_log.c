/* SPDX-License-Identifier: MIT */
/*
 * SGC_LOG_JSON and GC_LOG_FILE: the format against python's JSON reader and doc/log-format.md, file names,
 * forks, and files that cannot be opened or written or are taken away.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include "gc/events/json_log.h"
#include "gc/config/option_set.h"
#include "gc/events/stats.h"
#include "tests/lib/child.h"
#include "tests/lib/contents.h"
#include "tests/lib/log_files.h"
#include "tests/lib/threads.h"

/* ---- helpers ------------------------------------------------------------------------------------------ */

/* Starts logging with these values of SGC_LOG_JSON and GC_LOG_FILE (NULL: not set); returns what was said. */
static const char *start(const char *json, const char *text)
{
    sgc_log_stop();
    sgc_options_reset();
    capture_begin();
    if (json != NULL)
        sgc_option_set("SGC_LOG_JSON", json);
    if (text != NULL)
        sgc_option_set("GC_LOG_FILE", text);
    sgc_log_start();
    return capture_end();
}

static void end_cycle(uint64_t cycle)
{
    struct sgc_cycle_record record;

    sgc_cycle_begin(&record, cycle, (enum sgc_reason)(cycle % SGC_REASONS));
    sgc_cycle_stop_begin(&record);
    for (int i = 0; i < SGC_PHASES; i++)
        sgc_cycle_phase(&record, (enum sgc_phase)i);
    record.stopped_for = (enum sgc_stopped_for)(cycle % SGC_STOPPED_FOR);
    record.marked.bytes = UINT64_MAX;
    record.threads.stopped = 3;
    SGC_EVENT(cycle_end, &record);
}

static const char *say(const char *words)
{
    struct sgc_line line;

    sgc_line_start(&line);
    sgc_line_add(&line, "%s", words);
    return capture_said(sgc_log_text(&line));
}

/* ---- the format --------------------------------------------------------------------------------------- */

/* Reads the log (argv[1]) and the document (argv[2]) and prints what does not fit. */
static const char checker[] =
    "import json, re, sys\n"
    "document = open(sys.argv[2]).read()\n"
    "tables = [re.findall(r'^\\| `([a-z_]+)` \\|', part, re.M) for part in document.split('The members of `parts_ns`')]\n"
    "members, parts = set(tables[0]), set(tables[1])\n"
    "reasons = set(re.findall(r'`([a-z]+)` \\(', document))\n"
    "lines = open(sys.argv[1]).read().split('\\n')\n"
    "def must(condition, what):\n"
    "    if not condition: print(what)\n"
    "must(lines.pop() == '', 'no newline at the end')\n"
    "must(len(lines) == 12, '%d lines' % len(lines))\n"
    "for number, line in enumerate(lines):\n"
    "    o = json.loads(line)\n"
    "    must(set(o) == members, 'members: %s' % (set(o) ^ members))\n"
    "    must(set(o['parts_ns']) == parts, 'parts: %s' % (set(o['parts_ns']) ^ parts))\n"
    "    must(o['version'] == 1 and o['pid'] == int(sys.argv[3]), 'version or pid')\n"
    "    must(o['cycle'] == number + 1, 'cycle')\n"
    "    must(o['reason'] in reasons, 'reason %s' % o['reason'])\n"
    "    must(o['stopped_for'] in reasons, 'stopped for %s' % o['stopped_for'])\n"
    "    must(sum(o['parts_ns'].values()) == o['pause_ns'], 'sum of parts')\n"
    "    must(o['resumed_ns'] - o['stop_begin_ns'] == o['pause_ns'], 'pause')\n"
    "    must(o['stopped_ns'] - o['stop_begin_ns'] == o['parts_ns']['stop'], 'stop')\n"
    "    must(o['marked_bytes'] == 2**64 - 1 and o['threads_stopped'] == 3, 'values')\n"
    "    words = ('reason', 'stopped_for', 'parts_ns')\n"
    "    must(all(type(v) is int and v >= 0 for k, v in o.items() if k not in words), 'integers')\n"
    "must(len(set(json.loads(l)['reason'] for l in lines)) == 4, 'four reasons')\n"
    "must(len(set(json.loads(l)['stopped_for'] for l in lines)) == 9, 'nine causes of stops')\n"
    "print('checked')\n";

static const char *run_checker(const char *log)
{
    static char said[4096];
    const char *top = getenv("SGC_SRCDIR");
    char command[2048];

    folder_put("check.py", checker);
    snprintf(command, sizeof command, "python3 %s %s %s/doc/log-format.md %ld 2>&1", folder_path("check.py"), log,
             top != NULL ? top : ".", (long)getpid());
    FILE *pipe = popen(command, "r");
    said[fread(said, 1, sizeof said - 1, pipe)] = '\0';
    pclose(pipe);
    return said;
}

static void check_format(void)
{
    char log[512];

    snprintf(log, sizeof log, "%s", folder_path("format.json"));
    tap_ok(start(log, NULL)[0] == '\0', "a log is opened silently");
    for (uint64_t cycle = 1; cycle <= 12; cycle++)
        end_cycle(cycle);
    if (system("python3 -c 'import json' >/dev/null 2>&1") != 0) {
        tap_skip("python3 is not installed, so the format is not checked");
        tap_skip("python3 is not installed");
        return;
    }
    const char *said = run_checker(log);
    tap_ok(strcmp(said, "checked\n") == 0, "each line is what doc/log-format.md says: %.*s",
           (int)strcspn(said, "\n"), said);
    end_cycle(14);
    said = run_checker(log);
    tap_ok(strstr(said, "13 lines") != NULL && strstr(said, "cycle") != NULL, "a line too many is found");
}

static void check_longest(void)
{
    struct sgc_cycle_record record;
    struct sgc_line line;

    memset(&record, 0xff, sizeof record);
    record.reason = SGC_REASON_ALLOCATION;
    record.stopped_for = SGC_FOR_ATTEMPTS;
    record.times.stop_begin_ns = 0;
    sgc_log_json(&record, 4194304, &line);
    sgc_line_add(&line, "\n");
    tap_ok(line.used < sizeof line.text - 1 && line.text[line.used - 1] == '\n' && line.text[line.used - 2] == '}',
           "the longest line fits (%zu)", line.used);
}

/* ---- names -------------------------------------------------------------------------------------------- */

static bool name_is(const char *name, const char *wanted)
{
    char buffer[32];
    return sgc_log_file_name(name, 1234, NULL, buffer, sizeof buffer) && strcmp(buffer, wanted) == 0;
}

static void check_names(void)
{
    char buffer[8], wanted[32], old[64];

    tap_ok(name_is("a", "a") && name_is("%p", "1234") && name_is("x%p.%p%", "x1234.1234%") && name_is("%d%%p", "%d%1234"),
           "%%p becomes the process id");
    tap_ok(
        sgc_log_file_name("abc%p", 1234, NULL, buffer, sizeof buffer) &&
            !sgc_log_file_name("abcd%p", 1234, NULL, buffer, sizeof buffer) &&
            !sgc_log_file_name("abcdefgh", 1, NULL, buffer, sizeof buffer) &&
            sgc_log_file_name("abcdefg", 1, NULL, buffer, sizeof buffer),
        "a name must fit");
    start(folder_path("n-%p.json"), NULL);
    end_cycle(1);
    snprintf(wanted, sizeof wanted, "n-%ld.json", (long)getpid());
    tap_ok(capture_count(contents(wanted), "\n") == 1, "and so does the log's name");
    start(folder_path(wanted), NULL);
    end_cycle(2);
    snprintf(old, sizeof old, "\"cycle\":1,");
    tap_ok(capture_count(contents(wanted), "\n") == 2 && strstr(contents(wanted), old) != NULL,
           "a log that is there is appended to");
}

/* ---- forks -------------------------------------------------------------------------------------------- */

static int log_once(void)
{
    end_cycle(77);
    return 0;
}

static int say_child(void)
{
    say("from the child");
    sgc_warn("after it");
    return 0;
}

static void check_forks(void)
{
    char own[64];

    start(folder_path("fork.json"), folder_path("fork.txt"));
    end_cycle(1);
    say("before the fork");
    tap_ok(run_in_child(log_once) == 0 && capture_count(contents("fork.json"), "\n") == 1,
           "the child of a fork does not write to its parent's log");
    end_cycle(2);
    tap_ok(capture_count(contents("fork.json"), "\n") == 2, "the parent goes on");
    tap_ok(run_in_child(say_child) == 0 && strstr(contents("fork.txt"), "SGC: from the child\nSGC: warning: after it\n"),
           "text is shared with the child");
    say("after the fork");
    tap_ok(strstr(contents("fork.txt"), "SGC: after the fork\n") != NULL, "and the parent's goes on");

    start(folder_path("fork-%p.json"), folder_path("fork-%p.txt"));
    pid_t pid = fork();
    if (pid == 0) {
        end_cycle(5);
        say_child();
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    snprintf(own, sizeof own, "fork-%ld.json", (long)pid);
    tap_ok(capture_count(contents(own), "\"cycle\":5,") == 1, "with %%p the child has a log of its own");
    snprintf(own, sizeof own, "fork-%ld.txt", (long)pid);
    tap_ok(strcmp(contents(own), "SGC: from the child\nSGC: warning: after it\n") == 0, "and a text of its own");
    snprintf(own, sizeof own, "fork-%ld.json", (long)getpid());
    tap_ok(contents(own)[0] == '\0', "and leaves the parent's alone");
}

/* ---- what goes wrong ---------------------------------------------------------------------------------- */

static bool open_fails(const char *name, const char *why)
{
    const char *said = start(name, NULL);
    bool right = strstr(said, "SGC: warning: SGC_LOG_JSON=") != NULL && strstr(said, "cannot be opened") != NULL &&
                 strstr(said, why) != NULL && capture_count(said, "\n") == 1;

    if (!right)
        tap_diag("%s: said: %s", name, said);
    return right && capture_said(end_cycle(1))[0] == '\0';       /* the program goes on, and nothing is repeated */
}

static void check_open_failures(void)
{
    static char long_name[SGC_OPTION_TEXT_BYTES];

    tap_ok(open_fails(folder_path("no/such/folder"), "no such directory, errno 2"), "a folder that is not there");
    tap_ok(open_fails(folder, "it is a directory"), "a folder");
    mkfifo(folder_path("pipe"), 0600);
    tap_ok(open_fails(folder_path("pipe"), "nobody reads the pipe"), "a pipe that nobody reads, without waiting");
    memset(long_name, 'n', sizeof long_name - 1);
    tap_ok(open_fails(long_name, "the name is too long"), "a name that is too long");
    tap_ok(open_fails("/proc/version/x", "not a directory"), "a file taken for a folder");
}

static void check_full_disk(void)
{
    if (access("/dev/full", W_OK) != 0) {
        tap_skip("there is no /dev/full");
        tap_skip("there is no /dev/full");
        return;
    }
    tap_ok(start("/dev/full", NULL)[0] == '\0', "a device can be a log");
    capture_begin();
    errno = 12345;
    end_cycle(1);
    int error = errno;
    end_cycle(2);
    const char *said = capture_end();
    tap_ok(strstr(said, "SGC_LOG_JSON=/dev/full: cannot be written (no space left, errno 28), so it ends here") != NULL &&
           capture_count(said, "\n") == 1 && error == 12345, "a full disk ends the log with one message, errno untouched");
}

/* Cycles until the log has ended; 0: its file holds some whole lines, and nothing else. */
static int ends_whole(const char *name)
{
    const char *text;
    int said, lines;

    unlink(folder_path("ends.txt"));
    start(folder_path(name), folder_path("ends.txt"));
    for (uint64_t cycle = 1; cycle <= 9; cycle++)
        end_cycle(cycle);
    said = capture_count(contents("ends.txt"), "so it ends here");
    text = contents(name);
    lines = capture_count(text, "{\"version\"");
    return said == 1 && lines > 0 && lines < 9 && capture_count(text, "}\n") == lines && text[strlen(text) - 1] == '\n' ? 0 : 1;
}

static int beyond_limit(void)
{
    if (!limit_files(4000))
        return CHILD_SKIPS;
    return ends_whole("limited.json");
}

/* The text is elsewhere, as there is no room for what is said. */
static int on_full_disk(void)
{
    mkdir(folder_path("disk"), 0700);
    if ((geteuid() == 0 ? unshare(CLONE_NEWNS) : unshare(CLONE_NEWUSER | CLONE_NEWNS)) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", folder_path("disk"), "tmpfs", 0, "size=4k") != 0)
        return CHILD_SKIPS;
    return ends_whole("disk/full.json");
}

static int text_beyond_limit(void)
{
    close(STDERR_FILENO);               /* where text goes when the file has ended */
    start(NULL, folder_path("limited.txt"));
    limit_files(150);
    for (int i = 0; i < 20; i++) {
        sgc_warn("a warning that takes some bytes");
        say("a line");
    }
    return strlen(contents("limited.txt")) <= 150 ? 0 : 1;
}

static void check_limits(void)
{
    child_ok(beyond_limit, "at the limit on sizes the log ends with a whole line, and the program goes on");
    child_ok(on_full_disk, "so it does on a full disk");
    child_ok(text_beyond_limit, "and text, too");
}

static int to_nobody(void)
{
    int reader;
    const char *path = pipe_name(&reader);

    if (path == NULL)
        return CHILD_SKIPS;
    start(path, NULL);
    end_cycle(1);
    close(reader);
    for (uint64_t cycle = 2; cycle <= 3; cycle++)
        end_cycle(cycle);
    return 0;
}

static void check_pipe(void)
{
    child_says(to_nobody, 0, "cannot be written (nobody reads the pipe, errno 32), so it ends here",
               "a reader that goes away ends the log, not the program");
}

static void check_taken_descriptor(void)
{
    int taken;

    start(folder_path("taken.json"), folder_path("taken.txt"));
    end_cycle(1);
    taken = take_descriptors();
    end_cycle(2);
    tap_ok(strcmp(capture_said(sgc_warn("a warning")), "SGC: warning: a warning\n") == 0 && contents("victim")[0] == '\0',
           "no message goes into a file that the program has opened in the place of the log");
    const char *said = say("hello");
    tap_ok(taken > 200 && contents("victim")[0] == '\0', "a descriptor that the program took is not written to");
    tap_ok(strcmp(said, "SGC: hello\n") == 0 && capture_count(contents("taken.json"), "\n") == 1,
           "the log ends, text goes to standard error again");
    close_descriptors();
}

static void *log_cancelled(void *reached)
{
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    pthread_cancel(pthread_self());
    end_cycle(1);                       /* its write(2) must be none of the points where threads end */
    *(bool *)reached = true;
    pthread_testcancel();
    *(bool *)reached = false;
    return NULL;
}

static void check_cancelled(void)
{
    bool reached = false;
    void *result = NULL;

    start(folder_path("cancelled.json"), NULL);
    pthread_join(thread_start(log_cancelled, &reached), &result);
    tap_ok(reached && result == PTHREAD_CANCELED && capture_count(contents("cancelled.json"), "\n") == 1,
           "a cancelled thread finishes its line and ends later");
}

static void check_no_place(void)
{
    sgc_log_stop();
    add_listeners();
    tap_ok(strstr(start(folder_path("late.json"), NULL), "listeners are registered already") != NULL,
           "no place among the listeners is reported");
    remove_listeners();
}

/* ---- text --------------------------------------------------------------------------------------------- */

static void check_text(void)
{
    tap_ok(strcmp(say("nothing open"), "SGC: nothing open\n") == 0, "without GC_LOG_FILE text goes to standard error");
    start(NULL, folder_path("a.txt"));
    bool silent = say("a line")[0] == '\0';
    silent &= capture_said(sgc_warn("a warning"))[0] == '\0';
    tap_ok(silent && strcmp(contents("a.txt"), "SGC: a line\nSGC: warning: a warning\n") == 0,
           "with it, messages and statistics go there");
    sgc_log_stop();
    tap_ok(strcmp(capture_said(sgc_warn("another")), "SGC: warning: another\n") == 0, "and back to standard error afterwards");

    sgc_options_reset();
    sgc_option_set("GC_LOG_FILE", folder_path("b.txt"));
    sgc_option_set("GC_ONLY_LOG_TO_FILE", "1");
    sgc_log_start();
    silent = say("statistics")[0] == '\0';
    tap_ok(silent && strcmp(capture_said(sgc_warn("a message")), "SGC: warning: a message\n") == 0 &&
           strcmp(contents("b.txt"), "SGC: statistics\n") == 0, "GC_ONLY_LOG_TO_FILE leaves messages where they were");
    sgc_log_stop();
}

int main(void)
{
    tap_plan(35);
    folder_make();
    tap_each(check_text, check_format, check_longest, check_names, check_forks, check_open_failures,
             check_full_disk, check_limits, check_pipe, check_cancelled, check_no_place,
             check_taken_descriptor);
    sgc_log_stop();
    folder_remove();
    return tap_done();
}
