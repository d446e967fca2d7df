/* SPDX-License-Identifier: MIT */
/*
 * Looking for a signal handler among the callers, with the compiler's unwinder.
 */
#include <unwind.h>

#include "platform/platform.h"

struct search {
    uintptr_t below;            /* stop at frames above this address */
    bool found;
};

/* A frame's canonical address is where the stack pointer of its caller's frame stood; the frames of a
 * signal are marked in the unwind tables. */
static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *arg)
{
    struct search *s = arg;
    int interrupted = 0;

    if (_Unwind_GetCFA(context) > s->below)
        return _URC_NORMAL_STOP;
    (void)_Unwind_GetIPInfo(context, &interrupted);
    if (!interrupted)
        return _URC_NO_REASON;
    s->found = true;
    return _URC_NORMAL_STOP;
}

bool sgc_stack_handler_below(uintptr_t address)
{
    struct search s = { .below = address };

    _Unwind_Backtrace(look, &s);
    return s.found;
}
