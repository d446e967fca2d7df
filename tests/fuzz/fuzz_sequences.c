/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes sequences of calls of the collector's interface beside a model of it (tests/fuzz/model.h): an input is a list of
 * calls, each made by one of three threads in turn.
 *
 * Contents and sizes are right at all times; what the model reaches lives; what it does not reach is gone after two
 * collections, unless a word of a stack leads there; each finalizer runs once, for what cannot be reached; links are cleared
 * when they should be, and not earlier; SGC_check finds nothing; and after each input as much is live as before the first.
 *
 * The first byte says how the collector is started; all inputs of a process have the same.
 */
#include "tests/fuzz/model.h"

#include <stdio.h>
#include <stdlib.h>

#include "platform/faults.h"

static const char *const faults[] = {
    "a link is not cleared", "a size is off by one", "a finalizer is called twice", "a mark bit is lost",
    "an object is given twice", NULL,
};

static void plant(unsigned fault)
{
    static const enum sgc_fault planted[] = { SGC_FAULT_LINK_KEPT, SGC_FAULT_SIZE_SHORT, SGC_FAULT_FINALIZED_TWICE,
                                              SGC_FAULT_MARK_LOST, SGC_FAULT_GIVEN_TWICE };

    sgc_fault_plant(planted[fault]);
}

const struct fuzz_subject fuzz_subject = {
    .name = "sequences", .longest = 2048, .batch = 100, .first_byte = true, .faults = faults, .plant = plant,
};

/* ---- the start ---- */

enum { CONCURRENT = 1, TORTURED = 2, BY_HAND = 4, STARTS_ONLY = 8, TWO_MARKERS = 16, VERIFIED = 32, EAGER = 64, BY_PS = 128 };

static void choose(unsigned how)
{
    if ((how & CONCURRENT) != 0) {
        setenv("SGC_MODE", "concurrent", 1);
        setenv("GC_PAUSE_TIME_TARGET", "0", 1);
        setenv("SGC_DIRTY", (how & BY_HAND) != 0 ? "software" : (how & BY_PS) != 0 ? "mprotect" : "auto", 1);
    }
    if ((how & EAGER) != 0)
        setenv("SGC_BACKGROUND_THREAD", "eager", 1);
    if ((how & BY_PS) != 0)
        setenv("SGC_PAGE_POLICY", "ps", 1);
    if ((how & TORTURED) != 0)
        setenv("SGC_TORTURE", "61", 1);
    if ((how & STARTS_ONLY) != 0)
        setenv("GC_ALL_INTERIOR_POINTERS", "0", 1);
    if ((how & VERIFIED) != 0)
        setenv("SGC_VERIFY", "marks", 1);
    setenv("GC_MARKERS", (how & TWO_MARKERS) != 0 ? "2" : "1", 1);
}

static void start(unsigned how)
{
    static bool started;

    if (started)
        return;
    started = true;
    choose(how);
    GC_set_handle_fork(1);
    GC_INIT();
    prepare_kinds();
    prepare_roots();
    prepare_dying();
    prepare_turns();
    note_beginning();
}

/* ---- the calls ---- */

/* How often of 256. */
static const struct op {
    void (*run)(struct fuzz_input *in);
    const char *name;
    unsigned often;
} ops[] = {
    { op_allocate, "allocate", 70 }, { op_edge, "edge", 34 }, { op_free, "free", 11 },
    { op_free_wrongly, "free_wrongly", 5 }, { op_resize, "resize", 14 }, { op_fill, "fill", 5 }, { op_query, "query", 7 },
    { op_garbage, "garbage", 4 }, { op_root, "root", 12 }, { op_unroot, "unroot", 26 }, { op_added, "added", 2 },
    { op_finalizer, "finalizer", 14 }, { op_link, "link", 13 }, { op_unlink, "unlink", 4 }, { op_toggle, "toggle", 6 },
    { op_settings, "settings", 3 }, { op_collect, "collect", 9 }, { op_check, "check", 3 }, { op_disable, "disable", 1 },
    { op_limit, "limit", 2 }, { op_fork, "fork", 1 }, { op_hook, "hook", 1 }, { op_finalize_all, "finalize_all", 1 },
    { op_snapshot, "snapshot", 1 }, { op_block, "block", 3 }, { op_thread, "thread", 2 }, { op_lock, "lock", 2 },
};

static const struct op *op_of(unsigned byte)
{
    const struct op *op = ops;

    for (; byte >= op->often && op + 1 < ops + sizeof ops / sizeof *ops; op++)
        byte -= op->often;
    return op;
}

/* The byte that names the thread is read in any case, so that a call means the same everywhere. */
static const struct op *next_op(struct fuzz_input *in, unsigned *thread)
{
    const struct op *op = op_of(fuzz_byte(in));

    *thread = fuzz_byte(in);
    *thread = *thread < 192 ? 0 : *thread % (HELPERS + 1);
    if (getenv("FUZZ_TRACE") != NULL)
        fprintf(stderr, "%s on thread %u\n", op->name, *thread);
    return op;
}

void one_call(struct fuzz_input *in)
{
    unsigned thread;
    const struct op *op = next_op(in, &thread);

    on_thread(thread, op->run, in);
}

void call_here(struct fuzz_input *in)
{
    unsigned thread;

    if (fuzz_more(in))
        next_op(in, &thread)->run(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = { data, data + size };

    start(fuzz_byte(&in));
    while (fuzz_more(&in))
        one_call(&in);
    end_input();
    return 0;
}
