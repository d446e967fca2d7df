/* SPDX-License-Identifier: MIT */
/*
 * mark/work/termination.c on one thread: what each step says, in both forms; what its check finds.
 */
#include "mark/work/termination.h"

#include <fcntl.h>
#include <signal.h>

#include "platform/platform.h"
#include "platform/report.h"
#include "tests/lib/child.h"
#include "tests/lib/sanitized.h"

enum { MOST = 300 };

static const struct form {
    const char *name;
    enum sgc_termination_form form;
} forms[] = {
    { "flags", SGC_TERMINATION_FLAGS },
    { "counter", SGC_TERMINATION_COUNTER },
};

static struct sgc_termination t;

/* ---- a mark, step by step -------------------------------------------------------------------------------------- */

static void test_alone(const struct form *f)
{
    sgc_termination_begin(&t, f->form, 1);
    tap_ok(!sgc_termination_finished(&t), "%s, alone: not finished at the beginning", f->name);
    sgc_termination_idle(&t, 0);
    tap_ok(!sgc_termination_finished(&t), "%s, alone: idle, but nobody has found out", f->name);
    tap_ok(sgc_termination_detect(&t, 0) && sgc_termination_finished(&t), "%s, alone: found out", f->name);
    tap_ok(sgc_termination_detect(&t, 0), "%s, alone: and again", f->name);
    sgc_termination_check(&t);
}

/* Helpers that never come are not waited for. */
static void test_helpers(const struct form *f)
{
    sgc_termination_begin(&t, f->form, MOST);
    bool early = sgc_termination_detect(&t, 1) || sgc_termination_detect(&t, MOST - 1);
    tap_ok(!early && !sgc_termination_finished(&t), "%s: not finished while marker 0 is busy", f->name);
    sgc_termination_busy(&t, MOST - 1);
    sgc_termination_check(&t);
    sgc_termination_idle(&t, 0);
    tap_ok(!sgc_termination_detect(&t, 0) && !sgc_termination_detect(&t, 7),
           "%s: nor while the last helper is", f->name);
    sgc_termination_busy(&t, 0);
    sgc_termination_idle(&t, MOST - 1);
    tap_ok(!sgc_termination_detect(&t, MOST - 1), "%s: nor when marker 0 is again", f->name);
    sgc_termination_idle(&t, 0);
    tap_ok(sgc_termination_detect(&t, MOST - 1), "%s: the helper finds it out, with %d that never came", f->name,
           MOST - 2);
    tap_ok(sgc_termination_finished(&t) && sgc_termination_detect(&t, 0) && sgc_termination_detect(&t, 5),
           "%s: marker 0 and one who comes late are told", f->name);
    sgc_termination_busy(&t, 5);
    sgc_termination_idle(&t, 5);
    tap_ok(sgc_termination_detect(&t, 5), "%s: even if that one tries to steal first", f->name);
    sgc_termination_check(&t);
}

/* Each marker is busy alone once: none is overlooked. */
static void test_each(const struct form *f)
{
    int overlooked = 0, missed = 0;

    for (uint32_t i = 0; i < MOST; i++) {
        uint32_t other = (i + 1) % MOST;

        sgc_termination_begin(&t, f->form, MOST);
        if (i != 0) {
            sgc_termination_busy(&t, i);
            sgc_termination_idle(&t, 0);
        }
        overlooked += sgc_termination_detect(&t, other);
        sgc_termination_idle(&t, i);
        missed += !sgc_termination_detect(&t, other);
    }
    tap_ok(overlooked == 0, "%s: a busy marker is seen whichever it is", f->name);
    tap_ok(missed == 0, "%s: and when it is idle, that is", f->name);
}

static void test_abandon(const struct form *f)
{
    sgc_termination_begin(&t, f->form, 3);
    sgc_termination_busy(&t, 1);
    tap_ok(!sgc_termination_abandoned(&t), "%s: a mark runs", f->name);
    sgc_termination_abandon(&t);
    tap_ok(sgc_termination_finished(&t) && sgc_termination_abandoned(&t), "%s: given up, busy ones are told", f->name);
    tap_ok(sgc_termination_detect(&t, 2), "%s: idle ones, too", f->name);
    sgc_termination_idle(&t, 0);
    sgc_termination_idle(&t, 1);
    tap_ok(sgc_termination_detect(&t, 1) && sgc_termination_abandoned(&t),
           "%s: and it does not count as finished later", f->name);
    sgc_termination_check(&t);
    sgc_termination_begin(&t, f->form, 3);
    tap_ok(!sgc_termination_finished(&t) && !sgc_termination_abandoned(&t), "%s: the next mark runs", f->name);
    sgc_termination_idle(&t, 0);
    sgc_termination_detect(&t, 0);
}

static void test_interrupt(const struct form *f)
{
    sgc_termination_begin(&t, f->form, 3);
    sgc_termination_busy(&t, 1);
    sgc_termination_interrupt(&t);
    tap_ok(sgc_termination_finished(&t) && !sgc_termination_complete(&t) && !sgc_termination_abandoned(&t),
           "%s: interrupted, busy ones are told to leave", f->name);
    tap_ok(sgc_termination_detect(&t, 2), "%s: idle ones, too", f->name);
    sgc_termination_idle(&t, 0);
    sgc_termination_idle(&t, 1);
    tap_ok(sgc_termination_detect(&t, 1) && !sgc_termination_complete(&t), "%s: who asks later does not finish it", f->name);
    sgc_termination_check(&t);
    sgc_termination_begin(&t, f->form, 3);
    sgc_termination_idle(&t, 0);
    tap_ok(sgc_termination_detect(&t, 0) && sgc_termination_complete(&t), "%s: it goes on and is finished", f->name);
    sgc_termination_interrupt(&t);
    tap_ok(sgc_termination_complete(&t), "%s: then it is too late to interrupt it", f->name);
}

/* ---- what only the flags have ---------------------------------------------------------------------------------- */

/* A detection that did not come to its end: the state is put back. */
static void half_way(void)
{
    sgc_termination_detect(&t, 3);
    sgc_a32_store(&t.state, SGC_TERMINATION_RUNNING);
}

static void test_tickets(void)
{
    uintptr_t first, second;

    sgc_termination_begin(&t, SGC_TERMINATION_FLAGS, 4);
    sgc_termination_detect(&t, 2);
    tap_ok(sgc_aw_load(&t.ticket) == 0, "with somebody busy no detection is begun, and nobody writes the shared line");
    sgc_termination_idle(&t, 0);
    half_way();
    first = sgc_aw_load(&t.ticket);
    tap_ok(first % SGC_TERMINATION_MARKERS == 3, "a detection has the ticket of who began it");
    sgc_termination_busy(&t, 1);
    tap_ok(sgc_aw_load(&t.ticket) == 0, "becoming busy interrupts it");
    sgc_termination_idle(&t, 1);
    sgc_termination_abandon(&t);
    sgc_termination_begin(&t, SGC_TERMINATION_FLAGS, 4);
    tap_ok(sgc_aw_load(&t.ticket) == 0, "a mark begins without one");
    sgc_termination_idle(&t, 0);
    sgc_termination_detect(&t, 3);
    second = sgc_aw_load(&t.ticket);
    tap_ok(second != 0 && second != first, "no ticket comes twice, not in another mark either");
}

/* ---- the check ------------------------------------------------------------------------------------------------- */

static void half_finished(enum sgc_termination_form form)
{
    sgc_termination_begin(&t, form, 5);
    sgc_termination_idle(&t, 0);
    sgc_termination_detect(&t, 4);
    sgc_a32_store(&t.state, SGC_TERMINATION_RUNNING);
}

/* What is wrong, in which form, and how it is done. */
#define DAMAGES(DAMAGE) \
    DAMAGE(spoil_none, "nothing", SGC_TERMINATION_FLAGS, ((void)0)) \
    DAMAGE(spoil_none_too, "nothing", SGC_TERMINATION_COUNTER, ((void)0)) \
    DAMAGE(spoil_flag, "a flag that is none", SGC_TERMINATION_FLAGS, (sgc_a32_store(&t.slot[3].busy, 2))) \
    DAMAGE(spoil_markers, "more markers than there is room for", SGC_TERMINATION_FLAGS, (t.markers = MOST + 1)) \
    DAMAGE(spoil_count, "a wrong count", SGC_TERMINATION_COUNTER, (sgc_a32_store(&t.busy, 1))) \
    DAMAGE(spoil_form, "an unknown form", SGC_TERMINATION_FLAGS, (t.form = (enum sgc_termination_form)7)) \
    DAMAGE(spoil_ticket, "a ticket never drawn", SGC_TERMINATION_FLAGS, \
           (sgc_aw_add_relaxed(&t.ticket, SGC_TERMINATION_MARKERS))) \
    DAMAGE(spoil_drawer, "a ticket of somebody who drew none", SGC_TERMINATION_FLAGS, (sgc_aw_add_relaxed(&t.ticket, 1))) \
    DAMAGE(spoil_suspect, "a suspect out of range", SGC_TERMINATION_FLAGS, (t.slot[2].suspect = 5)) \
    DAMAGE(spoil_slots, "lost slots", SGC_TERMINATION_FLAGS, (t.slot = NULL)) \
    DAMAGE(finish_with_busy, "finished with a busy marker", SGC_TERMINATION_FLAGS, \
           (sgc_a32_store(&t.slot[1].busy, 1), sgc_a32_store(&t.busy, 1), sgc_a32_store(&t.state, SGC_TERMINATION_FINISHED))) \
    DAMAGE(become_busy_twice, "busy twice", SGC_TERMINATION_COUNTER, \
           (sgc_termination_busy(&t, 1), sgc_termination_busy(&t, 1))) \
    DAMAGE(become_idle_twice, "idle twice", SGC_TERMINATION_FLAGS, (sgc_termination_idle(&t, 1))) \
    DAMAGE(detect_while_busy, "detection by a busy marker", SGC_TERMINATION_FLAGS, \
           (sgc_termination_busy(&t, 1), sgc_termination_detect(&t, 1))) \
    DAMAGE(be_nobody, "a marker that does not belong to the team", SGC_TERMINATION_COUNTER, (sgc_termination_busy(&t, 5))) \
    DAMAGE(begin_inside, "a beginning while a mark runs", SGC_TERMINATION_FLAGS, \
           (sgc_termination_begin(&t, SGC_TERMINATION_FLAGS, 2)))

#define DEFINE_DAMAGE(name, what, form, damage) static void name(void) { damage; }
DAMAGES(DEFINE_DAMAGE)

static const struct damage {
    const char *what;
    enum sgc_termination_form form;
    void (*spoil)(void);
} damages[] = {
#define LIST_DAMAGE(name, what, form, damage) { what, form, name },
    DAMAGES(LIST_DAMAGE)
};

static const struct damage *chosen;

static int spoil_and_check(void)
{
    sgc_report_to(open("/dev/null", O_WRONLY));
    half_finished(chosen->form);
    chosen->spoil();
    sgc_termination_check(&t);
    return 0;
}

static void test_check(void)
{
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        chosen = &damages[i];
        int status = run_in_child(spoil_and_check);
        bool harmless = strcmp(chosen->what, "nothing") == 0;
        tap_ok(status == (harmless ? 0 : 128 + SIGABRT), "assertions on %s: %s (%d)", chosen->what,
               harmless ? "quiet" : "found", status);
    }
}

/* ---- room ------------------------------------------------------------------------------------------------------ */

static void test_room(void)
{
    struct sgc_termination large;

    tap_ok(sgc_termination_init(&large, 100000), "a team of 100 000");
    tap_ok(sgc_termination_finished(&large), "before its first mark, marking is finished");
    tap_ok(sizeof *large.slot == SGC_CACHE_LINE_PAIR && (uintptr_t)large.slot % SGC_CACHE_LINE_PAIR == 0,
           "a flag has lines to itself");
    sgc_termination_check(&large);
    sgc_termination_release(&large);
    sgc_termination_check(&large);
}

static int no_memory(void)
{
    struct rlimit none = { 0, 0 };

    setrlimit(RLIMIT_AS, &none);
    return sgc_termination_init(&t, MOST) ? 1 : 0;
}

static void test_no_memory(void)
{
    if (TEST_SANITIZED)
        tap_skip("a sanitizer needs its address space");
    else
        child_ok(no_memory, "no memory: init says so");
}

int main(void)
{
    test_no_memory();
    test_room();
    if (!sgc_termination_init(&t, MOST))
        tap_bail("no memory");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        test_alone(&forms[i]);
        test_helpers(&forms[i]);
        test_each(&forms[i]);
        test_abandon(&forms[i]);
        test_interrupt(&forms[i]);
    }
    test_tickets();
    if (TEST_ASSERTIONS)
        test_check();
    else
        tap_skip("assertions are off");
    sgc_a32_store(&t.state, SGC_TERMINATION_FINISHED);
    sgc_termination_release(&t);
    return tap_done();
}
