/* SPDX-License-Identifier: MIT */
/* See gc/profile/profile.h. */
#include "gc/profile/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "alloc/object.h"
#include "alloc/small/sampling.h"
#include "gc/config/options.h"
#include "gc/events/events.h"
#include "gc/events/log_file.h"
#include "gc/pacing/pacing.h"
#include "gc/profile/encode.h"
#include "gc/roots/roots.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/world.h"
#include "options/option_file.h"
#include "platform/out_file.h"
#include "platform/probe.h"
#include "platform/text_line.h"

struct profile {
    struct sgc_option_file file;
    size_t rate;                        /* that the option names */
    int every, signal;                  /* 0: never, none */
    uint64_t since_ns;                  /* when samples were first taken; 0: never */
    struct sgc_sites_copy copy;         /* of the cycle that writes one */
    bool copied;
};

enum { RATE = 512 << 10, PAUSES_GROW = 4096 };

SGC_STATE static struct profile profile;
SGC_STATE sgc_a32_t sgc_profile_asked;

static const struct sgc_option_row keys[] = {
    { "rate", NULL, "a sample in so many bytes", RATE, 1, INT64_C(1) << 40, SGC_NONE, SGC_OPTION_SIZE, &profile.rate },
    { "every", NULL, "in collections whose number is a multiple of this", 0, 1, INT32_MAX, SGC_NONE, SGC_OPTION_INT,
      &profile.every },
    { "signal", NULL, "when this signal comes", 0, 1, 64, SGC_NONE, SGC_OPTION_SIGNAL, &profile.signal },
};

static bool listen(void);

/* ---- samples ---- */

void sgc_profile_take(struct sgc_mutator *self, void *object, uintptr_t entry)
{
    struct sgc_section *section = sgc_section_of(self);
    uintptr_t place[SGC_SITE_FRAMES];
    struct sgc_sample sample = { .object = (uintptr_t)object, .place = place };
    struct sgc_object o;
    bool found = sgc_object_slot((uintptr_t)object, &o);

    sgc_assert(sgc_mutator_mine(self) && found && o.start == (uintptr_t)object);
    if (!found)
        return;
    sample.bytes = o.bytes;
    sample.kind = o.kind;
    sample.weight = sgc_countdown_weight(o.bytes, self->cache.sampling.rate);
    sample.places = sgc_stack_trace(entry, place, SGC_SITE_FRAMES);
    SGC_PROBE(sample, o.bytes);
    sgc_section_enter(section);
    sgc_page_free_slowly(o.page);
    sgc_section_leave(section);
    sgc_sites_add(section, &sample);
}

/* Samples that were taken stay, and are noted when they die. */
bool sgc_profile_set_rate(size_t bytes)
{
    sgc_assert(sgc_stopped_by_self() || !sgc_mutator_self());
    if (bytes != 0 && (!sgc_sites_open() || !listen()))
        return false;
    if (bytes != 0 && profile.since_ns == 0)
        profile.since_ns = sgc_clock_ns();
    sgc_sampling.rate = bytes;
    sgc_sampling.seed += sgc_clock_ns() | 1;
    if (bytes != 0)
        sgc_sampling.freed = sgc_sites_freed;
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next) {
        sgc_cache_retire(&m->cache);
        sgc_sampling_apply(&m->cache);
    }
    sgc_pacing_allow_unpublished();
    return true;
}

/* ---- a file ---- */

/* A file, what is to be written into it, and the sites. */
struct writing {
    struct sgc_sites_copy *copy;
    struct sgc_out_file *file;          /* at the beginning of the memory */
    size_t bytes;                       /* of the memory */
    struct sgc_pprof_buffer text;       /* at its end */
    struct sgc_profile_facts facts;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Once to see how many bytes there are, and once more to write them.  While the loader's list is
 * locked. */
static void encode(void *arg)
{
    struct writing *w = arg;
    struct sgc_pprof_buffer size = { NULL, 0, 0 };

    sgc_profile_encode(&size, w->copy, &sgc_root_modules, &w->facts);
    w->bytes = sizeof *w->file + size.used;
    w->file = sgc_mem_obtain(w->bytes);
    if (w->file == NULL)
        return;
    w->text = (struct sgc_pprof_buffer){ (uint8_t *)(w->file + 1), size.used, 0 };
    sgc_profile_encode(&w->text, w->copy, &sgc_root_modules, &w->facts);
    sgc_assert(w->text.used == w->text.size);
}

static int write_out(struct writing *w, const char *path)
{
    struct sgc_log_guard guard;
    int error;

    sgc_log_guard_begin(&guard);
    if (sgc_out_open(w->file, path))
        sgc_out_write(w->file, w->text.data, w->text.used);
    error = sgc_out_close(w->file);
    sgc_log_guard_end(&guard);
    return error;
}

static int write_copy(struct sgc_sites_copy *copy, const char *path)
{
    struct sgc_line comment;
    struct writing w = { .copy = copy };
    int error = ENOMEM;

    sgc_assert(sgc_gc_lock_held() && !sgc_world_stopped());
    sgc_line_start(&comment);
    sgc_line_add(&comment, "SGC, process %d: a sample in %zu bytes; %" PRIu64 " samples lost for want of memory", (int)getpid(),
                 sgc_sampling.rate, copy->lost);
    w.facts = (struct sgc_profile_facts){ now_ns(), sgc_clock_ns() - profile.since_ns, sgc_sampling.rate, comment.text };
    if (sgc_roots_snapshot(encode, &w) && w.file != NULL)
        error = write_out(&w, path);
    if (w.file != NULL)
        sgc_mem_release(w.file, w.bytes);
    return error;
}

int sgc_profile_write(struct sgc_mutator *self, const char *path)
{
    struct sgc_sites_copy copy;
    int error = ENOMEM;

    sgc_assert(sgc_mutator_mine(self) && sgc_gc_lock_held());
    if (profile.since_ns == 0)
        return ENODATA;
    if (sgc_sites_copy(sgc_section_of(self), &copy))
        error = write_copy(&copy, path);
    sgc_sites_drop_copy(&copy);
    return error;
}

/* ---- the option's files ---- */

/* The next ones would fail in the same way. */
static void give_up(int error)
{
    char quoted[200];

    sgc_warn("SGC_PROFILE=%s: an allocation profile cannot be written (%s, errno %d), and no more of them are. Name a file in "
             "a folder that can be written to, where there is room, or raise the limit on memory, and start the program again",
             sgc_quote(sgc_options.profile, strlen(sgc_options.profile), quoted, sizeof quoted), sgc_error_text(error), error);
    profile.file.pattern[0] = '\0';
    profile.every = 0;
}

/* False, with the error, if the name is too long. */
static bool name_file(char *name)
{
    uint64_t cycle = sgc_cycles_finished();

    return sgc_log_file_name(profile.file.pattern, getpid(), &cycle, name, SGC_OUT_PATH);
}

static void write_named(struct sgc_mutator *self)
{
    char name[SGC_OUT_PATH];
    int error = ENAMETOOLONG;

    sgc_assert(sgc_gc_lock_held());
    if (profile.file.pattern[0] == '\0')
        return;
    if (name_file(name))
        error = sgc_profile_write(self, name);
    if (error != 0)
        give_up(error);
}

void sgc_profile_write_asked(struct sgc_mutator *self)
{
    bool closed;

    if (!sgc_a32_cas(&sgc_profile_asked, 1, 0))
        return;
    closed = sgc_gc_lock_enter(self);
    if (!sgc_world_stopped())
        write_named(self);
    sgc_gc_lock_leave(closed);
}

void sgc_profile_at_exit(struct sgc_mutator *self)
{
    if (self != NULL)
        write_named(self);
}

static void on_signal(int signal)
{
    (void)signal;
    sgc_a32_store(&sgc_profile_asked, 1);
}

/* ---- cycles ---- */

static void on_flipped(void *context, const struct sgc_cycle_record *record)
{
    (void)context;
    sgc_assert(sgc_stopped_by_self());
    if (!record->complete)
        return;
    sgc_sites_flip();
    if (profile.every != 0 && record->cycle % (uint64_t)profile.every == 0)
        profile.copied = sgc_sites_copy(NULL, &profile.copy);
}

/* The number of the cycle is that of the last one that has finished. */
static void on_cycle_end(void *context, const struct sgc_cycle_record *record)
{
    char name[SGC_OUT_PATH];
    int error = ENAMETOOLONG;

    (void)context;
    if (!profile.copied)
        return;
    if (sgc_log_file_name(profile.file.pattern, getpid(), &record->cycle, name, sizeof name))
        error = write_copy(&profile.copy, name);
    sgc_sites_drop_copy(&profile.copy);
    profile.copied = false;
    if (error != 0)
        give_up(error);
}

static bool listen(void)
{
    static const struct sgc_listener listener = { .flipped = on_flipped, .cycle_end = on_cycle_end };
    static SGC_STATE bool listens;

    if (!listens)
        listens = sgc_listener_add(&listener);
    return listens;
}

/* ---- start ---- */

static void refuse(const char *why)
{
    char quoted[200];

    sgc_warn("SGC_PROFILE=%s: %s; no allocation profile is written",
             sgc_quote(sgc_options.profile, strlen(sgc_options.profile), quoted, sizeof quoted), why);
    profile.every = profile.signal = 0;
    profile.file.pattern[0] = '\0';
}

/* A handler that the program has already is not replaced. */
static bool listen_to_signal(void)
{
    struct sigaction old, action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

    if (profile.signal == 0)
        return true;
    if (profile.signal == sgc_options.suspend_signal || sigaction(profile.signal, NULL, &old) != 0 ||
        (old.sa_flags & SA_SIGINFO) != 0 || (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN))
        return false;
    sigfillset(&action.sa_mask);
    return sigaction(profile.signal, &action, NULL) == 0;
}

void sgc_profile_start(void)
{
    sgc_assert(profile.since_ns == 0);
    if (sgc_options.profile[0] == '\0')
        return;
    if (!sgc_option_file_parse(sgc_options.profile, keys, sizeof keys / sizeof keys[0], &profile.file))
        refuse(profile.file.wrong);
    else if (!sgc_profile_set_rate(profile.rate))
        refuse("the system refuses memory for samples, or there are too many listeners. Raise the limit (ulimit -v)");
    else if (!listen_to_signal())
        refuse("its signal stops threads (SGC_SUSPEND_SIGNAL), or the program handles it. Choose another one");
    if (sgc_sampling.rate != 0 && sgc_sampling.rate < PAUSES_GROW)
        sgc_warn("SGC_PROFILE: a sample in %zu bytes makes allocation slow and stops long; choose a rate of at least %d for "
                 "figures of a program's speed", sgc_sampling.rate, PAUSES_GROW);
}
