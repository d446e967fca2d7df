/* SPDX-License-Identifier: MIT */
/* No other form than the one for any processor: see platform/find_pointers.h.  [any] */
#include "platform/find_pointers.h"

sgc_words_form *sgc_words_inside(unsigned i, bool masked)
{
    if (i != 0)
        return NULL;
    return masked ? sgc_words_masked_any : sgc_words_inside_any;
}
