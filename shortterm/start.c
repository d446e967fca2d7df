/* SPDX-License-Identifier: MIT */
/* The settings of short-term memory, and how its public functions begin: shortterm/dates.h,
 * shortterm/start.h. */
#include "gc/api/api.h"
#include "gc/api/objects.h"
#include "shortterm/start.h"

#include <errno.h>
#include <string.h>

#include "alloc/small/orphan.h"
#include "gc/api/guards.h"
#include "gc/collect/start.h"
#include "gc/config/option_set.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/upper.h"
#include "gc/threads/world.h"
#include "platform/platform.h"
#include "shortterm/dates/counts.h"
#include "shortterm/dates/date_pages.h"

SGC_STATE struct sgc_shortterm sgc_shortterm;

/* ---- what the program wants ---- */

struct choice {
    enum sgc_option_id id;
    size_t member;                      /* of struct SGC_shortterm */
    int *value;                         /* in sgc_options */
};

static const struct choice choices[] = {
    { SGC_OPT_SGC_SHORTTERM, offsetof(struct SGC_shortterm, mode), &sgc_options.shortterm },
    { SGC_OPT_SGC_SHORTTERM_EXTENSION, offsetof(struct SGC_shortterm, extension), &sgc_options.shortterm_extension },
    { SGC_OPT_SGC_SHORTTERM_COLLECT, offsetof(struct SGC_shortterm, collect), &sgc_options.shortterm_collect },
    { SGC_OPT_SGC_SHORTTERM_STEP, offsetof(struct SGC_shortterm, step), &sgc_options.shortterm_step },
    { SGC_OPT_SGC_SHORTTERM_PAGE, offsetof(struct SGC_shortterm, page_bytes), &sgc_options.shortterm_page },
};

enum { CHOICES = sizeof choices / sizeof choices[0] };

static int wanted_value(const struct SGC_shortterm *wanted, const struct choice *c)
{
    int value;

    sgc_assert(c->member + sizeof value <= sizeof *wanted);
    memcpy(&value, (const char *)wanted + c->member, sizeof value);
    return value;
}

static bool acceptable(const struct SGC_shortterm *wanted, const struct choice *c)
{
    const struct sgc_option_row *row = &sgc_option_table[c->id];
    int value = wanted_value(wanted, c);

    sgc_assert(sgc_option_row_ok(row));
    if (value == -1 || (value >= row->min && value <= row->max))
        return true;
    sgc_warn("SGC_shortterm_init: %d for %s is not in the range %d to %d; nothing is changed. -1 leaves it as it is", value,
             row->name, (int)row->min, (int)row->max);
    return false;
}

static void choose(const struct SGC_shortterm *wanted, const struct choice *c)
{
    int value = wanted_value(wanted, c);

    sgc_assert(sgc_shortterm_locked() && c->value != NULL);
    if (value != -1 && sgc_option_origin(c->id) != SGC_ORIGIN_ENVIRONMENT)
        *c->value = value;
}

int SGC_shortterm_init(const struct SGC_shortterm *wanted, size_t size)
{
    struct SGC_shortterm w = { -1, -1, -1, -1, -1 };
    struct sgc_mutator *self = sgc_api_self();
    bool late;

    if (self == NULL)
        return ENOMEM;
    if (wanted == NULL)
        return EINVAL;
    memcpy(&w, wanted, size < sizeof w ? size : sizeof w);
    for (int i = 0; i < CHOICES; i++)
        if (!acceptable(&w, &choices[i]))
            return EINVAL;
    sgc_shortterm_lock(sgc_section_of(self));
    late = sgc_upper() != NULL;
    for (int i = 0; i < CHOICES && !late; i++)
        choose(&w, &choices[i]);
    sgc_shortterm_unlock(sgc_section_of(self));
    return late ? EALREADY : 0;
}

/* ---- the start takes the settings over ---- */

/* Warns a user who looks for mistakes in a mode that finds none, and would take that for a good
 * sign. */
static void check_is_possible(const struct sgc_options *o)
{
    if (o->shortterm_check != 0 && o->shortterm != SGC_SHORTTERM_VERIFY)
        sgc_warn("SGC_SHORTTERM_CHECK has no effect: nothing is looked for without SGC_SHORTTERM=verify. Set that, too, or "
                 "leave it out");
}

static void count_nothing(void)
{
    sgc_assert(sgc_shortterm.mode != SGC_SHORTTERM_PIN && sgc_counts.of == NULL);
    sgc_warn("SGC_SHORTTERM=%s: the system has no address space to count expiration dates; pin is used. Raise the limit of "
             "address space, or lower SGC_RESERVE", sgc_shortterm.mode == SGC_SHORTTERM_FREE ? "free" : sgc_shortterm.mode ==
             SGC_SHORTTERM_HYBRID ? "hybrid" : "verify");
    sgc_shortterm.mode = SGC_SHORTTERM_PIN;
    sgc_shortterm.counts = false;
    sgc_shortterm.words = 1;
}

/* Numbers say for each date whether it is the owner's of its page, so pages keep their owners. */
static void prepare_counts(void)
{
    sgc_assert(sgc_shortterm_locked() && sgc_shortterm.counts);
    if (sgc_counts_init())
        sgc_a32_store(&sgc_leave.stay, 1);
    else
        count_nothing();
}

/* Takes over what was chosen.  Without memory to count dates the mode is pin, with a warning.
 * Under the lock of short-term memory and the GC lock; once. */
static void take_settings(void)
{
    const struct sgc_options *o = &sgc_options;

    sgc_assert(sgc_shortterm_locked() && sgc_upper() == NULL);
    sgc_shortterm.mode = (uint32_t)o->shortterm;
    sgc_shortterm.extension = (uint32_t)o->shortterm_extension;
    sgc_shortterm.eager = o->shortterm_collect == SGC_SHORTTERM_EAGER || o->shortterm == SGC_SHORTTERM_VERIFY;
    sgc_shortterm.counts = o->shortterm != SGC_SHORTTERM_PIN;
    sgc_shortterm.step = (uint32_t)o->shortterm_step;
    sgc_shortterm.check = (uint32_t)o->shortterm_check;
    sgc_shortterm.words = o->shortterm == SGC_SHORTTERM_VERIFY ? 2 : 1;
    sgc_date_pages_init((size_t)o->shortterm_page, sgc_shortterm.words);
    check_is_possible(o);
    if (sgc_shortterm.counts)
        prepare_counts();
    sgc_assert(sgc_shortterm_ok());
}

/* Takes over the settings.  Choices that the program makes from then on come too late, and are
 * lost. */
static void settle(struct sgc_mutator *self)
{
    sgc_assert(sgc_gc_lock_held());
    sgc_shortterm_lock(sgc_section_of(self));
    take_settings();
    sgc_shortterm_unlock(sgc_section_of(self));
}

/* Starts the layer, if nobody has.  On a mutator, outside sections. */
static void start(struct sgc_mutator *self)
{
    bool closed;

    sgc_assert(sgc_mutator_mine(self));
    if (sgc_upper() != NULL)
        return;
    closed = sgc_gc_lock_enter(self);
    if (sgc_upper() == NULL) {
        settle(self);
        sgc_upper_start(self, sgc_verifies() ? &sgc_shortterm_verifying : &sgc_shortterm_layer);
    }
    sgc_gc_lock_leave(closed);
    sgc_assert(sgc_upper() != NULL);
}

/* The thread's record, which is made if need be; NULL if there is no memory.  On the thread,
 * outside sections. */
static struct sgc_dates *get_dates(struct sgc_mutator *self)
{
    struct sgc_dates *d = sgc_dates_of(self);

    sgc_assert(sgc_mutator_mine(self));
    if (d != NULL)
        return d;
    start(self);
    return sgc_dates_make(self);
}

struct sgc_dates *sgc_dates_slowly(int *error)
{
    struct sgc_mutator *self = sgc_api_self();
    struct sgc_dates *d;

    *error = self == NULL ? ENOMEM : sgc_world_is_blocked(self) || sgc_stopped_by_self() ? EBUSY : 0;
    if (*error != 0)
        return NULL;
    d = get_dates(self);
    sgc_assert(d == NULL || (sgc_dates_ok(d) && d->owner == self));
    if (d == NULL)
        *error = ENOMEM;
    return d;
}

int sgc_named_object(uintptr_t address, struct sgc_object *o)
{
    if (!sgc_heap_contains(address))
        return EINVAL;
    if (!sgc_object_find(address, o))
        return ESTALE;                  /* the page of one that has gone, perhaps */
    sgc_assert(sgc_api_object_ok(o));
    if (o->start == address)
        return 0;
    switch (sgc_debug_around((void *)address)) {
    case SGC_DEBUG_NONE:
        return EINVAL;
    case SGC_DEBUG_FREED:
    case SGC_DEBUG_FREED_WRITTEN:
        return ESTALE;
    default:
        return 0;
    }
}

/* ---- what was settled ---- */

int SGC_shortterm_mode(void)
{
    struct sgc_mutator *self = sgc_api_self();

    if (self == NULL)
        return -1;
    start(self);
    return (int)sgc_shortterm.mode;
}

size_t SGC_get_shortterm(struct SGC_shortterm *settings, size_t size)
{
    struct SGC_shortterm s = { .mode = SGC_shortterm_mode() };
    size_t known = size < sizeof s ? size : sizeof s;

    s.extension = (int)sgc_shortterm.extension;
    s.collect = sgc_shortterm.eager ? SGC_SHORTTERM_EAGER : SGC_SHORTTERM_LAZY;
    s.step = (int)sgc_shortterm.step;
    s.page_bytes = (int)(sizeof(struct sgc_date_page) + (sgc_date_words + 1) * sizeof(uintptr_t));
    memset(settings, 0, size);
    memcpy(settings, &s, known);
    return known;
}
