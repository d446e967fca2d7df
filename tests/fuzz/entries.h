/* SPDX-License-Identifier: MIT */
/* Entries of an environment, most of them of options that there are, or nearly so. */
#ifndef TESTS_FUZZ_ENTRIES_H
#define TESTS_FUZZ_ENTRIES_H

#include "gc/config/option_set.h"
#include "tests/fuzz/fuzz.h"

enum { ENTRY_BYTES = SGC_OPTION_TEXT_BYTES + 80 };

void make_entry(char text[ENTRY_BYTES], struct fuzz_input *in);

/* The next byte as an option. */
const struct sgc_option_row *entry_row(struct fuzz_input *in);

#endif
