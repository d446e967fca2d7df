/* SPDX-License-Identifier: MIT */
/* The options of a plain malloc: malloc/options.h. */
#include "malloc/options.h"

#include <sys/auxv.h>

#include "alloc/pages/heap.h"
#include "platform/platform.h"

SGC_STATE struct sgc_malloc_options sgc_malloc_options = {
#define SGC_OPTION(type_, name_, field_, initial_, min_, max_, special_, words_, help_) .field_ = initial_,
#include "malloc/options.def"
};

static const struct sgc_option_row rows[] = {
#define SGC_OPTION(type_, name_, field_, initial_, min_, max_, special_, words_, help_)              \
    { .name = #name_, .words = words_, .help = help_, .initial = SGC_INITIAL_##type_(initial_),     \
      .min = min_, .max = max_, .special = special_, .type = SGC_OPTION_##type_,                     \
      .field = &sgc_malloc_options.field_ },
#include "malloc/options.def"
};

enum { OPTIONS = sizeof rows / sizeof *rows };

static const char *const foreign[] = {
#define SGC_FOREIGN(name_) #name_,
#include "malloc/options.def"
};

SGC_STATE static struct sgc_option_state states[OPTIONS];

const struct sgc_option_list sgc_malloc_option_list = {
    .rows = rows,
    .states = states,
    .count = OPTIONS,
    .foreign = foreign,
    .foreign_count = sizeof foreign / sizeof *foreign,
};

void sgc_malloc_options_read(void)
{
    sgc_option_list_read(&sgc_malloc_option_list, sgc_environment(), getauxval(AT_SECURE) != 0);
    sgc_assert(sgc_malloc_options.harden >= 0 && sgc_malloc_options.harden <= 1);
    if (sgc_malloc_options.print)
        sgc_option_list_print(&sgc_malloc_option_list);
}
