/* SPDX-License-Identifier: MIT */
/*
 * SGC_check: every check that debug builds make, on request.  Runs on the calling mutator with the
 * world stopped.
 *
 * The checks end the process when something is wrong.  Here that is caught: the last words are
 * printed, the check is left where it stands, and the next one runs.  Nobody else can fail
 * meanwhile, since nobody else runs.
 */
#include "gc/api/api.h"

#include <setjmp.h>

#include "alloc/whole_heap.h"
#include "gc/api/hooks.h"
#include "gc/collect/collect.h"
#include "gc/inspect/inspect.h"
#include "gc/roots/roots.h"

SGC_STATE static jmp_buf way_back;
SGC_STATE static bool checking;

void sgc_api_violation(const char *line)
{
    if (!checking)
        return;
    sgc_print("%s", line);
    longjmp(way_back, 1);
}

/* 1 if the check finds a contradiction. */
static int run_check(void (*check)(void))
{
    int failed = 0;

    sgc_assert(sgc_stopped_by_self() && checking);
    if (setjmp(way_back) == 0)
        check();
    else
        failed = 1;
    return failed;
}

int SGC_check(void)
{
    static void (*const checks[])(void) = { sgc_heap_check, sgc_registry_check, sgc_roots_check };
    struct sgc_mutator *self = sgc_api_self();
    volatile int violations = 0;

    if (self == NULL || !sgc_external_stop(self))
        return 0;
    sgc_api_install_reports();
    sgc_assert(!checking);
    checking = true;
    for (volatile size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        violations += run_check(checks[i]);
    checking = false;
    sgc_external_resume(self);
    return violations;
}
