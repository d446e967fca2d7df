/* SPDX-License-Identifier: MIT */
/* See gc/snapshot/snapshot.h. */
#include "gc/snapshot/snapshot.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "gc/collect/cycle.h"
#include "gc/config/options.h"
#include "gc/events/json_log.h"
#include "gc/snapshot/write.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/world.h"
#include "platform/out_file.h"
#include "platform/text_line.h"

struct snapshots {
    struct sgc_snapshot_option option;
    sgc_aw_t wanted;                    /* a struct sgc_snapshot_request, */
    sgc_a32_t process;                  /* of a thread of this process */
    sgc_a32_t listens;
    sgc_a32_t each;                     /* option.every, for any thread: relaxed */
    int error;                          /* that is to be told when the world runs */
    bool due;                           /* of the files that are being written the first is
                                         * SGC_SNAPSHOT's, */
    struct sgc_snapshot_request *request;   /* and the last one this one's; NULL: nobody's */
};

SGC_STATE static struct snapshots snapshots;

_Static_assert(sizeof ((struct sgc_snapshot_option *)0)->pattern >= SGC_OPTION_TEXT_BYTES, "any option fits");

/* ---- the option ---- */

static const char every_is[] = ",every=";

/* 0: it is no number, or too large a one. */
static uint32_t number_of(const char *text)
{
    uint64_t number = 0;

    for (; *text >= '0' && *text <= '9' && number <= UINT32_MAX; text++)
        number = number * 10 + (uint64_t)(*text - '0');
    return *text == '\0' && number <= UINT32_MAX ? (uint32_t)number : 0;
}

bool sgc_snapshot_parse(const char *text, struct sgc_snapshot_option *option)
{
    const char *comma = strstr(text, every_is);
    size_t length = comma != NULL ? (size_t)(comma - text) : strlen(text);

    option->every = comma != NULL ? number_of(comma + sizeof every_is - 1) : 1;
    if (length >= sizeof option->pattern || length == 0 || option->every == 0)
        return false;
    memcpy(option->pattern, text, length);
    option->pattern[length] = '\0';
    sgc_assert(strlen(option->pattern) == length);
    return true;
}

/* ---- writing ---- */

static bool is_due(uint64_t cycle)
{
    sgc_assert(sgc_gc_lock_held());
    return snapshots.option.every != 0 && cycle % snapshots.option.every == 0;
}

/* In the child of a fork the thread that had asked is gone, and so is its request. */
static void forget_copied(void)
{
    uint32_t mine = (uint32_t)getpid(), seen = sgc_a32_load_acq(&snapshots.process);
    uintptr_t copied = sgc_aw_load_acq(&snapshots.wanted);

    if (seen != mine && sgc_a32_cas(&snapshots.process, seen, mine))
        sgc_aw_cas(&snapshots.wanted, copied, 0);
}

/* NULL: nobody has asked. */
static struct sgc_snapshot_request *wanted(void)
{
    if (sgc_aw_load(&snapshots.wanted) != 0)
        forget_copied();
    return (struct sgc_snapshot_request *)sgc_aw_load_acq(&snapshots.wanted);
}

/* Two files, if a thread has asked in a collection that writes one anyway; unless they have one
 * name. */
static void open_files(const char *named, uint64_t cycle)
{
    const char *path[SGC_BLOCKS_FILES];
    int files = 0;

    if (snapshots.due)
        path[files++] = named;
    if (snapshots.request != NULL && (files == 0 || strcmp(named, snapshots.request->path) != 0))
        path[files++] = snapshots.request->path;
    if (files != 0)
        sgc_snapshot_open(path, files, cycle);
}

/* Is this cycle to write one, or two? */
static bool is_wanted(uint64_t cycle)
{
    sgc_assert(sgc_stopped_by_self() && snapshots.error == 0 && !sgc_snapshot_is_open());
    snapshots.request = wanted();
    snapshots.due = is_due(cycle);
    return snapshots.request != NULL || snapshots.due;
}

static void begin(uint64_t cycle)
{
    char name[SGC_OUT_PATH];

    sgc_assert(sgc_stopped_by_self() && !sgc_snapshot_is_open());
    if (snapshots.due && !sgc_log_file_name(snapshots.option.pattern, getpid(), &cycle, name, sizeof name)) {
        snapshots.error = ENAMETOOLONG;
        snapshots.due = false;
    }
    open_files(name, cycle);
}

/* Stores the error of a request in the request, for its thread, and that of SGC_SNAPSHOT's file for
 * a message.  When a mark was given up, the next one writes. */
static void tell(bool complete, const int *error, int last)
{
    if (snapshots.due && (complete || error[0] != ECANCELED))
        snapshots.error = error[0];
    if (snapshots.request != NULL && (complete || error[last] != ECANCELED)) {
        snapshots.request->error = error[last];
        snapshots.request->done = true;
        sgc_aw_store_rel(&snapshots.wanted, 0);
    }
}

static void end(bool complete)
{
    int error[SGC_BLOCKS_FILES], last = sgc_blocks.files - 1;

    sgc_assert(sgc_stopped_by_self() && sgc_snapshot_is_open());
    sgc_snapshot_close(complete, error);
    tell(complete, error, last);
}

/* The next ones would fail in the same way. */
static void on_resumed(void *context, const struct sgc_cycle_record *record)
{
    char quoted[200];

    (void)context, (void)record;
    sgc_assert(sgc_gc_lock_held() && !sgc_world_stopped());
    if (snapshots.error == 0)
        return;
    sgc_warn("SGC_SNAPSHOT=%s: a heap snapshot cannot be written (%s, errno %d), and no more of them are. Name a file in a "
             "folder that can be written to, where there is room, and start the program again",
             sgc_quote(sgc_options.snapshot, strlen(sgc_options.snapshot), quoted, sizeof quoted),
             sgc_error_text(snapshots.error), snapshots.error);
    snapshots.error = 0;
    snapshots.option.every = 0;
    sgc_a32_store(&snapshots.each, 0);
}

/* By a thread that asks for a cycle, or makes one: it is then to have one stop. */
static bool is_in_one_stop(uint64_t cycle)
{
    uint32_t each = sgc_a32_load(&snapshots.each);

    return each != 0 && cycle % each == 0;
}

static bool listen_to_cycles(void)
{
    static const struct sgc_listener listener = { .resumed = on_resumed };
    static const struct sgc_cycle_snapshots parts = {
        is_in_one_stop, is_wanted, begin, sgc_snapshot_is_open, sgc_snapshot_put_heap, end,
    };

    if (!sgc_a32_cas(&snapshots.listens, 0, 1))
        return true;
    if (!sgc_listener_add(&listener)) {
        sgc_a32_store(&snapshots.listens, 0);
        return false;
    }
    sgc_aw_store_rel(&sgc_cycle_snapshots, (uintptr_t)&parts);
    return true;
}

/* ---- start ---- */

void sgc_snapshots_start(void)
{
    char quoted[200];

    sgc_assert(snapshots.option.every == 0);
    if (sgc_options.snapshot[0] == '\0')
        return;
    if (!sgc_snapshot_parse(sgc_options.snapshot, &snapshots.option)) {
        snapshots.option.every = 0;
        sgc_warn("SGC_SNAPSHOT=%s: expected PATTERN or PATTERN,every=N with a number from 1 on; no heap snapshots are written",
                 sgc_quote(sgc_options.snapshot, strlen(sgc_options.snapshot), quoted, sizeof quoted));
        return;
    }
    if (listen_to_cycles())
        sgc_a32_store(&snapshots.each, snapshots.option.every);
    else
        sgc_warn("SGC_SNAPSHOT: %d listeners are registered already, so no heap snapshots are written", SGC_LISTENERS_MAX);
}

/* ---- on request ---- */

bool sgc_snapshot_ask(struct sgc_snapshot_request *request)
{
    request->error = 0;
    request->done = false;
    forget_copied();
    return listen_to_cycles() && sgc_aw_cas(&snapshots.wanted, 0, (uintptr_t)request);
}

/* The other thread's request stays. */
void sgc_snapshot_forget(struct sgc_mutator *self, struct sgc_snapshot_request *request)
{
    bool closed = sgc_gc_lock_enter(self);

    sgc_assert(sgc_gc_lock_held());
    sgc_aw_cas(&snapshots.wanted, (uintptr_t)request, 0);
    sgc_gc_lock_leave(closed);
}
