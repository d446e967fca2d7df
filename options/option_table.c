/* SPDX-License-Identifier: MIT */
/*
 * Access to the fields of options.  A row names its field and the type of it.  Pure functions,
 * except sgc_option_store, which writes the field: options/option_table.h.
 */
#include "options/option_table.h"

#include <limits.h>

#include "platform/report.h"

int64_t sgc_option_number(const struct sgc_option_row *row)
{
    sgc_assert(sgc_option_row_ok(row));
    sgc_assert(row->type != SGC_OPTION_TEXT);
    switch (row->type) {
    case SGC_OPTION_BOOL:
        return *(const bool *)row->field;
    case SGC_OPTION_SIZE:
        return (int64_t)*(const size_t *)row->field;
    default:
        return *(const int *)row->field;
    }
}

void sgc_option_store(const struct sgc_option_row *row, int64_t value)
{
    sgc_assert(sgc_option_row_ok(row));
    sgc_assert(sgc_option_accepts(row, value) || value == row->initial);
    sgc_assert(row->type != SGC_OPTION_TEXT);
    switch (row->type) {
    case SGC_OPTION_BOOL:
        *(bool *)row->field = value != 0;
        break;
    case SGC_OPTION_SIZE:
        *(size_t *)row->field = (size_t)value;
        break;
    default:
        sgc_assert(INT_MIN <= value && value <= INT_MAX);
        *(int *)row->field = (int)value;
    }
}

char *sgc_option_text(const struct sgc_option_row *row)
{
    sgc_assert(sgc_option_row_ok(row));
    sgc_assert(row->type == SGC_OPTION_TEXT);
    sgc_assert(row->max > 0);
    return row->field;
}
