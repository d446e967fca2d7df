/* SPDX-License-Identifier: MIT */
/*
 * platform/written/written_async_linux.c, platform/written/written_mprotect.c and
 * platform/written/written_soft_linux.c: the n-th system call that a source makes fails, for each n
 * up to the last and each error that may come.  Every page that was written must be reported,
 * whatever failed; a source that cannot be had says why; nothing is left protected when it is
 * closed.
 */
#include <signal.h>

#include "tests/lib/child.h"
#include "tests/lib/failing_calls.h"
#include "tests/lib/random.h"
#include "tests/lib/sanitized.h"
#include "tests/unit/platform/written/pages.h"

enum { PAGES = 192, WORDS = PAGES / 64, STEPS = 120, CALLS_MAX = 2000 };

/* ---- a run ---- */

static const struct sgc_written_source *source;
static bool written[PAGES];             /* or never armed */
static uint64_t seed;

static void store(size_t n)
{
    *(volatile char *)page_at(n) = (char)n;
    written[n] = true;
}

static bool collect(bool rearm)
{
    uint64_t bits[WORDS] = { 0 };
    bool all = rearm && source->arms_all, good = true;
    size_t from = all ? 0 : random_below(&seed, PAGES);
    size_t to = all ? PAGES : from + 1 + random_below(&seed, (uint32_t)(PAGES - from));

    source->collect(page_at(from), page_at(to), rearm, bits);
    for (size_t n = from; n < to; n++) {
        good = good && (!written[n] || is_set(bits, n - from));
        if (rearm)
            written[n] = false;
    }
    return good;
}

/* 0: nothing was lost; a page that was armed again may be dirty at once. */
static int work(void)
{
    source->arm(page_at(0), page_at(PAGES));
    memset(written, 0, sizeof written);
    for (int i = 0; i < STEPS; i++)
        if (random_below(&seed, 5) != 0)
            store(random_below(&seed, PAGES));
        else if (!collect(random_below(&seed, 2) != 0))
            return 1;
    if (source->rest != NULL)
        source->rest();
    for (size_t n = 0; n < PAGES; n++)
        store(n);
    return 0;
}

/* 2: it was refused without a reason; what is done after it is closed must not be a fault. */
static int run(void)
{
    struct sgc_written_refusal why = { NULL, 0 };
    int result = 0;

    seed = 7;
    counting = true;
    if (sgc_written_open(source, page_at(0), page_at(PAGES), &why)) {
        result = work();
        source->close();
    } else if (why.step == NULL || why.step[0] == '\0') {
        result = 2;
    }
    counting = false;
    signal(SIGSEGV, SIG_DFL);
    for (size_t n = 0; n < PAGES; n++)
        store(n);
    return result;
}

static int open_once(void)
{
    struct sgc_written_refusal why;

    return sgc_written_open(source, page_at(0), page_at(PAGES), &why) ? 0 : 1;
}

/* How many calls a run makes in which none fails; its own process: the handler that is installed stays. */
static int count_calls(void)
{
    failing = 0;
    if (run() != 0)
        return 0;
    return made / 8 < 127 ? made / 8 : 126;     /* an exit status */
}

static void test_errors(const int *errors, int calls, bool all_after)
{
    int bad = 0, runs = 0;

    onward = all_after;
    for (const int *error = errors; *error != 0; error++) {
        failing_error = *error;
        for (failing = 1; failing <= calls && bad < 5; failing += failing < 40 ? 1 : 1 + calls / 40, runs++) {
            int status = run_in_child(run);

            if (status != 0)
                tap_diag("call %d, %s: status %d", failing, strerror(*error), status);
            bad += status != 0;
        }
    }
    tap_ok(bad == 0, "%s: %s call fails, %d runs: every written page is reported", source->name,
           all_after ? "each from the n-th on" : "the n-th", runs);
    failing = 0;
}

static void test_source(const int *errors)
{
    int calls;

    if (run_in_child(open_once) != 0) {
        tap_skip("%s: it cannot be had here", source->name);
        return;
    }
    calls = run_in_child(count_calls) * 8;
    if (!tap_ok(calls > 0 && calls < CALLS_MAX, "%s: some %d calls where none fails", source->name, calls))
        return;
    test_errors(errors, calls, false);
    test_errors(errors, calls, true);
}

int main(void)
{
    static const struct sgc_written_source *const sources[] = { &sgc_written_async, &sgc_written_soft, &sgc_written_mprotect };
    static const int errors[] = { EPERM, ENOMEM, ENOTTY, 0 };

    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer has its own idea of this process's pages and signals");
    pages_make(PAGES);
    memset(memory, 1, PAGES * page_bytes);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        source = sources[i];
        test_source(errors);
    }
    return tap_done();
}
