/* SPDX-License-Identifier: MIT */
/*
 * Looking at the callers' frames with the compiler's unwinder: where a signal handler stands, and
 * whose frame an address lies in.
 */
#include <sys/auxv.h>
#include <unwind.h>

#include "platform/platform.h"
#include "platform/report.h"

struct search {
    uintptr_t below;            /* stop at frames above this address */
    bool found;
};

/* A frame's canonical address is where the stack pointer of its caller's frame stood; the frames of
 * a signal are marked in the unwind tables. */
static _Unwind_Reason_Code visit_frame(struct _Unwind_Context *context, void *arg)
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

    sgc_assert(address != 0);
    _Unwind_Backtrace(visit_frame, &s);
    return s.found;
}

struct owner {
    uintptr_t address;
    uintptr_t ip;               /* of the last frame that begins at or below the address */
    bool passed;                /* a frame above it was reached */
    struct sgc_stack_bounds skip;       /* frames on this stack do not count */
};

static _Unwind_Reason_Code pass(struct _Unwind_Context *context, void *arg)
{
    struct owner *o = arg;

    if (sgc_stack_within(&o->skip, _Unwind_GetCFA(context)))
        return _URC_NO_REASON;
    o->passed = _Unwind_GetCFA(context) > o->address;
    if (o->passed)
        return _URC_NORMAL_STOP;
    o->ip = _Unwind_GetIP(context);
    return _URC_NO_REASON;
}

/* Where the linker put the code we are part of: the shared library, or the whole program when it is
 * linked statically. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static struct owner owner_of(uintptr_t address, const struct sgc_stack_bounds *skip)
{
    struct owner o = { .address = address };

    sgc_assert(address != 0);
    if (skip != NULL)
        o.skip = *skip;
    _Unwind_Backtrace(pass, &o);
    return o;
}

static bool is_ours(const struct owner *o)
{
    sgc_assert((uintptr_t)__ehdr_start < (uintptr_t)etext);
    return o->ip >= (uintptr_t)__ehdr_start && o->ip < (uintptr_t)etext;
}

bool sgc_stack_frame_ours(uintptr_t address, const struct sgc_stack_bounds *skip)
{
    struct owner o = owner_of(address, skip);

    return is_ours(&o);
}

bool sgc_stack_frame_gone(uintptr_t address, const struct sgc_stack_bounds *skip)
{
    struct owner o = owner_of(address, skip);

    return o.passed && !is_ours(&o);
}

/* ---- a trace ---- */

/* Is our code in a library of its own?  Linked statically, it cannot be told from the program's. */
static bool is_apart(void)
{
    uintptr_t headers = getauxval(AT_PHDR);

    return headers < (uintptr_t)__ehdr_start || headers >= (uintptr_t)etext;
}

struct trace {
    uintptr_t above;            /* frames that begin below are left out */
    bool apart;
    uintptr_t *place;
    int count, max;
};

/* The instruction that a frame returns to follows the call. */
static _Unwind_Reason_Code note_place(struct _Unwind_Context *context, void *arg)
{
    struct trace *t = arg;
    int interrupted = 0;
    uintptr_t ip = _Unwind_GetIPInfo(context, &interrupted);
    bool ours = t->apart && ip >= (uintptr_t)__ehdr_start && ip < (uintptr_t)etext;

    if (ip == 0 || t->count == t->max)
        return _URC_NORMAL_STOP;
    if (_Unwind_GetCFA(context) >= t->above && (t->count != 0 || !ours))
        t->place[t->count++] = ip - !interrupted;
    return _URC_NO_REASON;
}

int sgc_stack_trace(uintptr_t above, uintptr_t *place, int max)
{
    struct trace t = { above, is_apart(), place, 0, max };

    sgc_assert(max > 0);
    _Unwind_Backtrace(note_place, &t);
    return t.count;
}
