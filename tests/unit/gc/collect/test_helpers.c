/* SPDX-License-Identifier: MIT */
/*
 * gc/collect/helpers.c and gc/config/preset.c: helper threads come when they are asked for, as
 * many as GC_MARKERS says; a system that refuses some is reported once, and collections go on;
 * presets give defaults, and contradictions are named.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <dirent.h>
#include <errno.h>

#include "gc/gc.h"
#include "tests/lib/child.h"
#include "tests/lib/white.h"

static int threads(void)
{
    DIR *d = opendir("/proc/self/task");
    int n = -2;                             /* "." and ".." */

    while (d != NULL && readdir(d) != NULL)
        n++;
    if (d != NULL)
        closedir(d);
    return n;
}

static int are_started(void)
{
    int before;

    environment("GC_MARKERS=4", "SGC_BACKGROUND_THREAD=off");
    white_init();
    before = threads();
    white_collect();
    if (threads() != before)
        return 1;                           /* an empty heap needs none */
    GC_start_mark_threads();
    if (threads() != before + 3)
        return 2;
    GC_start_mark_threads();
    white_collect();
    return threads() == before + 3 && GC_get_parallel() == 3 ? 0 : 3;
}

static int left = 2;

static int refuse_third(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *arg)
{
    return left-- > 0 ? pthread_create(thread, attributes, body, arg) : EAGAIN;
}

static int are_refused(void)
{
    int before;

    environment("GC_MARKERS=8", "SGC_BACKGROUND_THREAD=off", "SGC_TORTURE=1000000");        /* all markers in each cycle */
    white_init();
    before = threads();
    sgc_thread_set_creator(refuse_third);
    for (int i = 0; i < 3; i++)
        white_collect();
    return threads() == before + 2 ? 0 : 1;
}

/* ---- presets ---- */

static int simple(void)
{
    setenv("SGC_PRESET", "simple", 1);
    white_init();
    return !sgc_options.balance && sgc_options.split_bytes == 0 && sgc_options.termination == SGC_TERMINATION_COUNTER &&
           sgc_options.stack_form == SGC_STACK_LOCKED && sgc_options.steal == SGC_STEAL_ONE ? 0 : 1;
}

static int no_slo(void)
{
    setenv("SGC_PRESET", "no-slo", 1);
    white_init();
    return sgc_options.balance && sgc_options.split_bytes == 0 && sgc_options.termination == SGC_TERMINATION_FLAGS ? 0 : 1;
}

static int no_nsb(void)
{
    setenv("SGC_PRESET", "no-nsb", 1);
    white_init();
    return sgc_options.split_bytes == 128 << 10 && sgc_options.termination == SGC_TERMINATION_COUNTER ? 0 : 1;
}

static int contradicts(void)
{
    environment("SGC_PRESET=no-opt", "SGC_STEAL=half");
    white_init();
    return sgc_options.steal == SGC_STEAL_HALF && sgc_options.stack_form == SGC_STACK_LOCKED ? 0 : 1;
}

static int useless(void)
{
    environment("SGC_STEALING=off", "SGC_STEAL=one");
    white_init();
    return sgc_options.balance ? 1 : 0;
}

int main(void)
{
    setenv("SGC_MODE", "stop", 1);
    child_says(are_started, 0, NULL, "helpers are started on request, each once, and not for an empty heap");
    child_says(are_refused, 0, "the system refuses marker thread 3 of 7; the collector marks with 3",
               "refused: said once, the others mark");
    child_says(simple, 0, NULL, "SGC_PRESET=simple");
    child_says(no_slo, 0, NULL, "SGC_PRESET=no-slo");
    child_says(no_nsb, 0, NULL, "SGC_PRESET=no-nsb");
    child_says(contradicts, 0, "SGC_STEAL=half contradicts SGC_PRESET=no-opt, which means one; half is used",
               "a contradiction is named");
    child_says(useless, 0, "SGC_STEAL has no effect", "a switch without effect is named");
    return tap_done();
}
