/* SPDX-License-Identifier: MIT */
/* What programs call to have dates taken off.  On any mutator. */
#include "shortterm/expire.h"

#include "shortterm/start.h"
#include "sgc_shortterm.h"

size_t SGC_expire(size_t most)
{
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);

    return d == NULL ? 0 : sgc_expire(d, most);
}
