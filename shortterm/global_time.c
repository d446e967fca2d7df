/* SPDX-License-Identifier: MIT */
/* Global time: shortterm/global_time.h. */
#include "shortterm/global_time.h"

#include "platform/platform.h"

SGC_STATE static sgc_aw_t now;

static struct sgc_section *section_of(struct sgc_dates *d)
{
    return sgc_section_of(d->owner);
}

/* In a section. */
static bool join(struct sgc_dates *d)
{
    uintptr_t word;

    sgc_assert(!d->in_time && sgc_date_buffer_ok(&d->global));
    do {
        word = sgc_aw_load_acq(&now);
        if (!sgc_time_joinable(word))
            return false;
        d->phase = sgc_time_joined(word);
    } while (!sgc_aw_cas(&now, word, sgc_time_join(word)));
    sgc_compiler_barrier();
    d->in_time = true;
    return true;
}

bool sgc_time_enter(struct sgc_dates *d)
{
    uint32_t lists = sgc_shortterm.extension + 1 + SGC_TIME_LATER;
    bool done = d->in_time;

    sgc_assert(sgc_mutator_mine(d->owner));
    if (done || !sgc_dates_make_lists(d, &d->global, lists))
        return done;
    sgc_section_enter(section_of(d));
    done = join(d);
    sgc_section_leave(section_of(d));
    return done;
}

static bool leave(struct sgc_dates *d)
{
    bool was = d->in_time;
    uintptr_t word;

    d->in_time = false;
    sgc_compiler_barrier();
    if (was)
        do
            word = sgc_aw_load_acq(&now);
        while (!sgc_aw_cas(&now, word, sgc_time_leave(word, d->phase)));
    return was;
}

bool sgc_time_exit(struct sgc_dates *d)
{
    bool was;

    sgc_assert(sgc_mutator_mine(d->owner));
    sgc_section_enter(section_of(d));
    was = leave(d);
    sgc_section_leave(section_of(d));
    return was;
}

void sgc_time_gone(struct sgc_dates *d)
{
    sgc_assert(d->owner != sgc_mutator_self());
    leave(d);
}

bool sgc_time_pass(struct sgc_dates *d)
{
    uintptr_t word;
    bool passes;

    sgc_section_enter(section_of(d));
    word = sgc_aw_load_acq(&now);       /* in the section: a stop may change it, and the phase */
    sgc_assert(d->in_time && sgc_date_buffer_ok(&d->global));
    passes = !sgc_time_ticked(word, d->phase);
    if (passes) {
        d->phase = sgc_time_after(word);
        sgc_compiler_barrier();
        while (!sgc_aw_cas(&now, word, sgc_time_tick(word)))
            word = sgc_aw_load_acq(&now);
    }
    sgc_section_leave(section_of(d));
    return passes;
}

uint32_t sgc_time_phase(void)
{
    return sgc_time_now(sgc_aw_load_acq(&now));
}

uint32_t sgc_time_threads(void)
{
    return sgc_time_active(sgc_aw_load_acq(&now));
}

void sgc_time_count_again(void)
{
    uintptr_t word = sgc_aw_load(&now);
    uint32_t active = 0, waiting = 0;

    for (const struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next) {
        const struct sgc_dates *d = sgc_dates_of(m);

        if (d == NULL || !d->in_time)
            continue;
        sgc_assert(d->phase == sgc_time_now(word) || d->phase == sgc_time_now(word) + 1);
        active++;
        waiting += d->phase == sgc_time_now(word);
    }
    sgc_aw_store_rel(&now, sgc_time_recount(word, active, waiting));
}

void sgc_time_reset(uint32_t phase)
{
    sgc_aw_store_rel(&now, (uintptr_t)phase << 32);
}
