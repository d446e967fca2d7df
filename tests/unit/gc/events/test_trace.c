/* SPDX-License-Identifier: MIT */
/*
 * SGC_TRACE's file: what is in it, whose it is after forks, and what goes wrong with it.  Also: gc/events/log_file.c.  That it
 * agrees with the log, check_trace shows.
 */
#include <errno.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "gc/config/option_set.h"
#include "gc/events/trace.h"
#include "gc/events/trace_buffer.h"
#include "tests/lib/child.h"
#include "tests/lib/contents.h"
#include "tests/lib/log_files.h"
#include "tests/lib/threads.h"

/* ---- helpers ---- */

/* Begins a timeline of that name; what was said. */
static const char *start(const char *name)
{
    sgc_trace_stop();
    sgc_options_reset();
    capture_begin();
    sgc_option_set("SGC_TRACE", name);
    sgc_trace_start();
    return capture_end();
}

static void make_cycle(uint64_t cycle)
{
    struct sgc_cycle_record record;

    sgc_cycle_begin(&record, cycle, SGC_REASON_LIMIT);
    sgc_cycle_event(&record, SGC_ON_CYCLE_START);
    sgc_cycle_stop_begin(&record);
    for (int i = 0; i < SGC_PHASES; i++)
        sgc_cycle_phase(&record, (enum sgc_phase)i);
    record.complete = true;
    sgc_cycle_event(&record, SGC_ON_RESUMED);
    sgc_cycle_event(&record, SGC_ON_CYCLE_END);
}

static int count(const char *name, const char *what)
{
    return capture_count(contents(name), what);
}

static bool is_whole(const char *name)
{
    const char *text = contents(name);
    size_t length = strlen(text);

    return strncmp(text, "[\n{", 3) == 0 && length > 4 && strcmp(text + length - 4, "}\n]\n") == 0 && count(name, "\n]\n") == 1;
}

/* ---- what is in it ---- */

static void check_events(void)
{
    tap_ok(start(folder_path("a.json"))[0] == '\0' && sgc_trace_wanted(), "a timeline begins silently");
    tap_ok(count("a.json", "[\n") == 1 && count("a.json", "\"collections\"") == 1, "and is there before the first cycle");
    sgc_trace_span(SGC_TRACE_FINALIZED, 1000001, 1002004, 7);
    make_cycle(1);
    tap_ok(count("a.json", "\"ph\":\"X\"") == 4 + SGC_PHASES && count("a.json", "\"limit\"") == 1,
           "a cycle, its pause on two tracks, its parts, and what a thread has done");
    tap_ok(count("a.json", "\"finalizers\",\"ph\":\"X\"") == 1 &&
               count("a.json", "\"ts\":1000.001,\"dur\":2.003,\"args\":{\"count\":7}}") == 1,
           "times are microseconds, to the nanosecond");
    tap_ok(count("a.json", "},\n") == capture_count(contents("a.json"), "\n") - 1, "an event a line, and a comma behind each");
    sgc_trace_stop();
    tap_ok(is_whole("a.json") && !sgc_trace_wanted(), "the bracket comes at the end");
    make_cycle(2);
    tap_ok(is_whole("a.json"), "and nothing after it");
}

/* Viewers add doubles: 100 spans, each from the end of the one before it on, neither overlap nor have gaps for them. */
static void check_doubles(void)
{
    uint64_t ns = UINT64_C(86982932690073);
    double end = (double)ns / 1000;
    int wrong = 0, spans = 0;

    start(folder_path("doubles.json"));
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t next = ns + 1 + i * i * 97777;

        sgc_trace_span(SGC_TRACE_FINALIZED, ns, next, i);
        ns = next;
    }
    make_cycle(1);
    for (const char *at = contents("doubles.json"); (at = strstr(at, "\"finalizers\"")) != NULL; at++) {
        double from = strtod(strstr(at, "\"ts\":") + 5, NULL), duration = strtod(strstr(at, "\"dur\":") + 6, NULL);

        wrong += from != end;
        end = from + duration;
        spans++;
    }
    tap_ok(spans == 100 && wrong == 0 && end == (double)ns / 1000, "spans follow each other as doubles (%d of %d do not)",
           wrong, spans);
    start(folder_path("doubles.json"));
    sgc_trace_span(SGC_TRACE_FINALIZED, 1, UINT64_C(1) << 60, 0);
    make_cycle(2);
    tap_ok(count("doubles.json", "\"dur\":1152921504606846.975,") == 1, "a span may last for years");
}

static void check_given_up(void)
{
    struct sgc_cycle_record record;

    start(folder_path("given.json"));
    sgc_cycle_begin(&record, 1, SGC_REASON_EXPLICIT);
    sgc_cycle_event(&record, SGC_ON_CYCLE_START);
    sgc_cycle_event(&record, SGC_ON_GIVEN_UP);
    sgc_cycle_stop_begin(&record);
    for (int i = 0; i < SGC_PHASES; i++)
        sgc_cycle_phase(&record, (enum sgc_phase)i);
    sgc_cycle_event(&record, SGC_ON_RESUMED);
    tap_ok(count("given.json", "\"given_up\":true") == 2 && count("given.json", "\"pause\"") == 1,
           "marks that were given up say so");
}

static void *have_name(void *unused)
{
    (void)unused;
    prctl(PR_SET_NAME, "a\"b\\c\n\xff", 0, 0, 0);
    sgc_trace_name();
    return NULL;
}

static void check_hostile_name(void)
{
    start(folder_path("names.json"));
    thread_result(have_name, NULL);
    make_cycle(1);
    tap_ok(count("names.json", "{\"name\":\"a'b'c??\"}") == 1, "a thread's name loses what JSON does not allow");
}

static void check_full_buffer(void)
{
    start(folder_path("full.json"));
    for (int i = 0; i < 20000; i++)
        sgc_trace_span(SGC_TRACE_STOPPED, 1, 2, 0);
    make_cycle(1);
    tap_ok(count("full.json", "[\n") == 1, "more text than the buffer holds is written in between");
    sgc_trace_stop();
    FILE *pipe = popen("cd / && tail -n 40 \"$TRACED\" | grep -c '\"events dropped\".*\"count\":3616}'", "r");
    char said[16] = "";
    tap_ok(pipe != NULL && fgets(said, sizeof said, pipe) != NULL && strcmp(said, "1\n") == 0,
           "and what was dropped is counted");
    if (pipe != NULL)
        pclose(pipe);
}

/* ---- forks, and other processes ---- */

static int cycle_in_child(void)
{
    make_cycle(77);
    return 0;
}

static int cycle_and_end_in_child(void)
{
    make_cycle(77);
    sgc_trace_stop();
    return 0;
}

static void check_forks(void)
{
    char own[64];

    start(folder_path("fork.json"));
    sgc_trace_span(SGC_TRACE_FINALIZED, 1, 2, 3);
    tap_ok(run_in_child(cycle_and_end_in_child) == 0 && count("fork.json", "\"cycle\":77") == 0,
           "a child does not write to its parent's");
    make_cycle(1);
    sgc_trace_stop();
    tap_ok(is_whole("fork.json") && count("fork.json", "finalizers") == 1, "which goes on");

    start(folder_path("fork-%p.json"));
    sgc_trace_span(SGC_TRACE_FINALIZED, 1, 2, 3);
    pid_t child = child_start(cycle_and_end_in_child);
    tap_ok(child_wait(child) == 0, "a child of a timeline with %%p in its name ends well");
    snprintf(own, sizeof own, "fork-%ld.json", (long)child);
    tap_ok(is_whole(own) && count(own, "\"cycle\":77") == 3 && count(own, "finalizers") == 0,
           "and has one of its own, with nothing of its parent's");
}

static int begin_in_child(void)
{
    const char *said = start(folder_path("one.json"));

    return strstr(said, "another copy of SGC in this one, writes it, errno 11), so nothing is written; write %p") != NULL &&
           !sgc_trace_wanted() ? 0 : 1;
}

static int begin_without_lock(void)
{
    execl("/bin/sh", "sh", "-c", "exit 0", NULL);
    return 1;
}

static void check_one_writer(void)
{
    start(folder_path("one.json"));
    make_cycle(1);
    char before[512];
    snprintf(before, sizeof before, "%s", contents("one.json"));
    tap_ok(run_in_child(begin_without_lock) == 0, "descriptors do not survive exec");
    pid_t child = fork();
    if (child == 0) {
        char name[300];
        snprintf(name, sizeof name, "%s", folder_path("one.json"));
        sgc_trace_stop();                   /* without %p the child closes it */
        _exit(begin_in_child());
    }
    tap_ok(child_wait(child) == 0, "a second process is refused");
    tap_ok(strncmp(contents("one.json"), before, strlen(before)) == 0, "and has left the first one's alone");
    sgc_trace_stop();
    start(folder_path("one.json"));
    tap_ok(count("one.json", "pause") == 0, "a later one begins it anew");
}

/* ---- what goes wrong ---- */

static bool is_refused(const char *name, const char *why)
{
    const char *said = start(name);
    bool right = strstr(said, "SGC: warning: SGC_TRACE=") != NULL && strstr(said, why) != NULL &&
                 capture_count(said, "\n") == 1;

    if (!right)
        tap_diag("%s: said: %s", name, said);
    return right && !sgc_trace_wanted() && capture_said(make_cycle(1))[0] == '\0';
}

static void check_refused(void)
{
    tap_ok(is_refused(folder_path("no/such/folder"), "no such directory, errno 2"), "a folder that is not there");
    tap_ok(is_refused(folder, "it is a directory"), "a folder");
    mkfifo(folder_path("pipe"), 0600);
    tap_ok(is_refused(folder_path("pipe"), "nobody reads the pipe"), "a pipe that nobody reads");
    tap_ok(is_refused(folder_path("x.json,every=3"), "there is no key \"every\", as there are none; no timeline is written"),
           "a key");
}

static int on_full_device(void)
{
    start("/dev/full");
    errno = 12345;
    make_cycle(1);
    make_cycle(2);
    return errno == 12345 && !sgc_trace_wanted() ? 0 : 1;
}

static int beyond_limit(void)
{
    const char *text;

    if (!limit_files(9000))
        return CHILD_SKIPS;
    start(folder_path("limited.json"));
    for (uint64_t i = 1; i < 20; i++)
        make_cycle(i);
    text = contents("limited.json");
    return count("limited.json", "collection\"") > 0 && strcmp(text + strlen(text) - 4, "}},\n") == 0 ? 0 : 1;
}

static int to_nobody(void)
{
    int reader;
    const char *path = pipe_name(&reader);

    if (path == NULL)
        return CHILD_SKIPS;
    start(path);
    close(reader);
    make_cycle(1);
    make_cycle(2);
    return 0;
}

static void check_ends(void)
{
    if (access("/dev/full", W_OK) == 0)
        child_ok(on_full_device, "a full disk ends it, with errno as it was");
    else
        tap_skip("there is no /dev/full");
    child_says(beyond_limit, 0, "cannot be written (file size limit reached",
               "at the limit on sizes it ends with whole events");
    child_says(to_nobody, 0, "cannot be written (nobody reads the pipe, errno 32), so it ends here; let its reader",
               "a reader that goes away ends the timeline, not the program");
}

static void check_taken_descriptor(void)
{
    start(folder_path("taken.json"));
    take_descriptors();
    make_cycle(1);
    tap_ok(contents("victim")[0] == '\0' && !sgc_trace_wanted(), "a descriptor that the program took is not written to");
    close_descriptors();
}

static void check_no_place(void)
{
    sgc_trace_stop();
    add_listeners();
    tap_ok(is_refused(folder_path("late.json"), "listeners"), "no place among the listeners is reported");
    remove_listeners();
}

int main(void)
{
    tap_plan(31);
    folder_make();
    setenv("TRACED", folder_path("full.json"), 1);
    tap_each(check_events, check_doubles, check_given_up, check_hostile_name, check_full_buffer, check_forks, check_one_writer,
             check_refused, check_ends, check_taken_descriptor, check_no_place);
    child_ok(cycle_in_child, "without a timeline cycles go on");
    sgc_trace_stop();
    folder_remove();
    return tap_done();
}
