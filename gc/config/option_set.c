/* SPDX-License-Identifier: MIT */
/*
 * The options of the collector: their values, and the list of gc/config/option_table.def, which the
 * room options/ reads, sets and prints.  Clamps each value that another option does not allow.
 * Runs on the initialising thread before there is another one that reads what it writes (see
 * gc/config/options.h).
 */
#include "gc/config/option_set.h"

#include <signal.h>
#include <sys/auxv.h>

#include "platform/platform.h"
#include "platform/report.h"

extern char **environ;

/* ---- the list
 * -------------------------------------------------------------------------------------- */

/* The values start as the defaults, so that reading an option early is right too. */
struct sgc_options sgc_options SGC_STATE = {
#define SGC_OPTION(type_, name_, field_, initial_, min_, max_, special_, words_, help_) .field_ = initial_,
#include "gc/config/option_table.def"
};

const struct sgc_option_row sgc_option_table[SGC_OPTIONS] = {
#define SGC_OPTION(type_, name_, field_, initial_, min_, max_, special_, words_, help_)              \
    { .name = #name_, .words = words_, .help = help_, .initial = SGC_INITIAL_##type_(initial_),     \
      .min = min_, .max = max_, .special = special_, .type = SGC_OPTION_##type_,                         \
      .field = &sgc_options.field_ },
#include "gc/config/option_table.def"
};

const struct sgc_unsupported_row sgc_unsupported_table[] = {
#define SGC_UNSUPPORTED(name_, advice_) { .name = #name_, .advice = advice_ },
#include "gc/config/option_table.def"
};

const int sgc_unsupported_count = sizeof sgc_unsupported_table / sizeof sgc_unsupported_table[0];

static const struct sgc_unsupported_word unsupported_words[] = {
#define SGC_UNSUPPORTED_WORD(name_, word_, advice_) { .name = #name_, .word = #word_, .advice = advice_ },
#include "gc/config/option_table.def"
};

static const char *const foreign_names[] = {
#define SGC_FOREIGN(name_) #name_,
#include "gc/config/option_table.def"
};

static struct sgc_option_state states[SGC_OPTIONS] SGC_STATE;
static bool was_read SGC_STATE;

static const struct sgc_option_list options = {
    .rows = sgc_option_table,
    .states = states,
    .count = SGC_OPTIONS,
    .unsupported = sgc_unsupported_table,
    .unsupported_count = sizeof sgc_unsupported_table / sizeof sgc_unsupported_table[0],
    .words = unsupported_words,
    .word_count = sizeof unsupported_words / sizeof unsupported_words[0],
    .foreign = foreign_names,
    .foreign_count = sizeof foreign_names / sizeof foreign_names[0],
};

int sgc_option_find(const char *name, size_t length)
{
    return sgc_option_list_find(&options, name, length);
}

enum sgc_origin sgc_option_origin(enum sgc_option_id id)
{
    sgc_assert((unsigned)id < SGC_OPTIONS);
    return (enum sgc_origin)states[id].origin;
}

/* ---- values that exclude each other
 * ---------------------------------------------------------------- */

void sgc_option_clamp(enum sgc_option_id id, int64_t value, const char *why)
{
    sgc_assert((unsigned)id < SGC_OPTIONS);
    sgc_option_list_clamp(&options, (int)id, value, why);
}

static bool stop_mode_is_wanted(void)
{
    enum sgc_origin origin = sgc_option_origin(SGC_OPT_SGC_MODE);

    return sgc_options.mode == SGC_MODE_STOP && (origin == SGC_ORIGIN_ENVIRONMENT || origin == SGC_ORIGIN_PROGRAM);
}

/* Clamps each value that is in the accepted range but that another option does not allow. */
static void clamp_all(void)
{
    if (sgc_options.enable_incremental && sgc_options.disable_incremental)
        sgc_option_clamp(SGC_OPT_GC_ENABLE_INCREMENTAL, 0, NULL);
    if (sgc_options.enable_incremental && stop_mode_is_wanted())
        sgc_option_clamp(SGC_OPT_GC_ENABLE_INCREMENTAL, 0, "SGC_MODE=stop is set");
    if (sgc_options.enable_incremental)
        sgc_option_clamp(SGC_OPT_SGC_MODE, SGC_MODE_CONCURRENT, NULL);
    if (sgc_options.mode == SGC_MODE_CONCURRENT && sgc_options.disable_incremental)
        sgc_option_clamp(SGC_OPT_SGC_MODE, SGC_MODE_STOP, "GC_DISABLE_INCREMENTAL is set");
    if (sgc_options.mode == SGC_MODE_CONCURRENT && sgc_options.service == SGC_SERVICE_OFF)
        sgc_option_clamp(SGC_OPT_SGC_MODE, SGC_MODE_STOP, "SGC_BACKGROUND_THREAD=off leaves nobody to mark beside the program");
    if (sgc_options.mode == SGC_MODE_CONCURRENT && sgc_options.find_leak)
        sgc_option_clamp(SGC_OPT_SGC_MODE, SGC_MODE_STOP, "GC_FIND_LEAK looks at all objects in a stop");
    if (sgc_options.mode == SGC_MODE_CONCURRENT && sgc_options.huge_pages == SGC_HUGE_AUTO)
        sgc_option_clamp(SGC_OPT_SGC_HUGE_PAGES, SGC_HUGE_OFF, NULL);
    if (sgc_options.maximum_heap != 0 && sgc_options.initial_heap > sgc_options.maximum_heap)
        sgc_option_clamp(SGC_OPT_GC_INITIAL_HEAP_SIZE, (int64_t)sgc_options.maximum_heap,
                         "GC_MAXIMUM_HEAP_SIZE allows no more");
    sgc_assert(sgc_options.maximum_heap == 0 || sgc_options.initial_heap <= sgc_options.maximum_heap);
}

bool sgc_option_set(const char *name, const char *value)
{
    if (!sgc_option_list_set(&options, name, value))
        return false;
    clamp_all();
    return true;
}

/* ---- all
 * ------------------------------------------------------------------------------------------- */

void sgc_options_read_from(char *const *environment, bool secure)
{
    if (was_read)
        return;
    was_read = true;
    sgc_option_list_read(&options, environment, secure);
    clamp_all();
}

void sgc_options_read(void)
{
    /* A program with more rights than whoever started it must not write files or change its
     * signals because of the starter's environment. */
    sgc_options_read_from(environ, getauxval(AT_SECURE) != 0);
}

void sgc_options_reset(void)
{
    sgc_option_list_reset(&options);
    was_read = false;
}

void sgc_options_print(void)
{
    sgc_option_list_print(&options);
}
