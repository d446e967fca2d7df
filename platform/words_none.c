/* SPDX-License-Identifier: MIT */
/* No other form than the one for any processor: see platform/words.h.  [any] */
#include "platform/words.h"

sgc_words_form *sgc_words_inside(unsigned i)
{
    return i == 0 ? sgc_words_inside_any : NULL;
}
