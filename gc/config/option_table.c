/* SPDX-License-Identifier: MIT */
/*
 * The table of options, and access to the fields.  Constant data and pure functions, except
 * sgc_option_store, whose callers are said in gc/config/options.h.
 */
#include "gc/config/option_table.h"

#include <limits.h>
#include <signal.h>

#include "platform/platform.h"
#include "platform/report.h"

/* The values start as the defaults, so that reading an option early is right too. */
struct sgc_options sgc_options SGC_STATE = {
#define SGC_OPTION(type_, name_, field_, initial_, min_, max_, special_, words_, help_) .field_ = initial_,
#include "gc/config/option_table.def"
};

/* The default of a TEXT is always "", which is no number. */
#define INITIAL_BOOL(x) (x)
#define INITIAL_INT(x) (x)
#define INITIAL_SIZE(x) (x)
#define INITIAL_MS(x) (x)
#define INITIAL_ENUM(x) (x)
#define INITIAL_TEXT(x) 0
#define INITIAL_SIGNAL(x) (x)
#define INITIAL_RATIO(x) (x)

const struct sgc_option_row sgc_option_table[SGC_OPTIONS] = {
#define SGC_OPTION(type_, name_, field_, initial_, min_, max_, special_, words_, help_)              \
    { .name = #name_, .words = words_, .help = help_, .initial = INITIAL_##type_(initial_),         \
      .min = min_, .max = max_, .special = special_, .type = SGC_OPTION_##type_,                         \
      .field = offsetof(struct sgc_options, field_) },
#include "gc/config/option_table.def"
};

const struct sgc_unsupported_row sgc_unsupported_table[] = {
#define SGC_UNSUPPORTED(name_, advice_) { .name = #name_, .advice = advice_ },
#include "gc/config/option_table.def"
};

const int sgc_unsupported_count = sizeof sgc_unsupported_table / sizeof sgc_unsupported_table[0];

/* ---- the fields
 * ------------------------------------------------------------------------------------ */

static void *field(const struct sgc_option_row *row)
{
    return (char *)&sgc_options + row->field;
}

int64_t sgc_option_number(const struct sgc_option_row *row)
{
    sgc_assert(sgc_option_row_ok(row));
    sgc_assert(row->type != SGC_OPTION_TEXT);
    if (row->type == SGC_OPTION_BOOL)
        return *(bool *)field(row);
    if (row->type == SGC_OPTION_SIZE)
        return (int64_t)*(size_t *)field(row);
    return *(int *)field(row);
}

void sgc_option_store(const struct sgc_option_row *row, int64_t value)
{
    sgc_assert(sgc_option_row_ok(row));
    sgc_assert(sgc_option_accepts(row, value) || value == row->initial);
    sgc_assert(row->type != SGC_OPTION_TEXT);
    if (row->type == SGC_OPTION_BOOL) {
        *(bool *)field(row) = value != 0;
    } else if (row->type == SGC_OPTION_SIZE) {
        *(size_t *)field(row) = (size_t)value;
    } else {
        sgc_assert(INT_MIN <= value && value <= INT_MAX);
        *(int *)field(row) = (int)value;
    }
}

char *sgc_option_text(const struct sgc_option_row *row)
{
    sgc_assert(sgc_option_row_ok(row));
    sgc_assert(row->type == SGC_OPTION_TEXT);
    return field(row);
}
