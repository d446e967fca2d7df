/* SPDX-License-Identifier: MIT */
/*
 * What a program can ask of short-term memory with the public header alone: the settings in force, and what verify has found.
 * What is found, and how surely: tests/unit/shortterm/test_findings.c and test_verify.c, which see the inside.
 *
 * Also: shortterm/start.c.
 */
#include <stdint.h>

#include "gc/gc.h"
#include "tests/lib/child.h"
#include "tests/lib/scrub.h"
#include "tests/unit/shortterm/shortterm.h"

static void *volatile needed;   /* a variable that leads to an object for longer than its date lasts */

static int chosen(void)
{
    static const struct SGC_shortterm wanted = { SGC_SHORTTERM_HYBRID, 77, SGC_SHORTTERM_EAGER, 9, 264 };
    struct SGC_shortterm s;

    unsetenv("SGC_SHORTTERM");
    GC_INIT();
    choose(SGC_SHORTTERM_HYBRID, 77, SGC_SHORTTERM_EAGER, 9, 264);
    memset(&s, 0x55, sizeof s);
    return SGC_get_shortterm(&s, sizeof s) != sizeof s || memcmp(&s, &wanted, sizeof s) != 0;
}

static int said_outside(void)
{
    struct SGC_shortterm s;

    setenv("SGC_SHORTTERM", "free", 1);
    setenv("SGC_SHORTTERM_STEP", "3", 1);
    GC_INIT();
    choose(SGC_SHORTTERM_HYBRID, -1, -1, -1, -1);
    return SGC_get_shortterm(&s, sizeof s) != sizeof s || s.mode != SGC_SHORTTERM_FREE || s.step != 3 || s.extension != 10 ||
        s.collect != SGC_SHORTTERM_LAZY;
}

/* A program that knows fewer settings gets those, and nothing is written behind them. */
static int shorter(void)
{
    struct SGC_shortterm s;

    setenv("SGC_SHORTTERM", "pin", 1);
    GC_INIT();
    memset(&s, 0x55, sizeof s);
    SGC_get_shortterm(&s, sizeof s.mode);
    return s.mode != SGC_SHORTTERM_PIN || s.extension != 0x55555555;
}

static size_t finds;            /* that are certain: the stack may have old words */
static uintptr_t found;

static void GC_CALLBACK note(const struct SGC_finding *finding, void *data)
{
    if (data != &finds || finding->kind != SGC_FINDING_PREMATURE)
        abort();
    if (finding->certainty != SGC_FINDING_CERTAIN)
        return;
    finds++;
    found = ~(uintptr_t)finding->object;
}

TEST_NOINLINE static uintptr_t make(void)
{
    needed = SGC_malloc_dated(64, 0, 0);
    return ~(uintptr_t)needed;
}

static int early(void)
{
    uintptr_t object;

    setenv("SGC_SHORTTERM", "verify", 1);
    GC_INIT();
    object = make();
    scrub_stack();
    if (SGC_shortterm_check(note, &finds) != 0 || finds != 0)
        return 1;
    SGC_tick();
    scrub_stack();
    return SGC_shortterm_check(note, &finds) != 1 || finds != 1 || found != object ? 2 : 0;
}

/* The variable forgets in time: there is nothing to be found. */
static int right(void)
{
    setenv("SGC_SHORTTERM", "verify", 1);
    GC_INIT();
    make();
    needed = NULL;
    SGC_tick();
    scrub_stack();
    SGC_shortterm_check(note, &finds);
    return finds != 0;
}

int main(void)
{
    tap_plan(5);
    child_ok(chosen, "the settings in force are those that the program has chosen");
    child_ok(said_outside, "those of the environment, and defaults");
    child_ok(shorter, "a program may ask for the first settings alone");
    child_ok(early, "verify: an object that a variable leads to after its date is found, before it is not");
    child_ok(right, "verify: nothing certain is found if no variable leads there");
    return tap_done();
}
