/* SPDX-License-Identifier: MIT */
/* The table of kinds: alloc/pages/kind.h. */
#include "alloc/pages/kind.h"

#include "platform/platform.h"
#include "platform/report.h"

SGC_STATE struct sgc_kinds sgc_kinds = {
    .count = SGC_ATOMIC_INIT(SGC_KINDS_AT_START),
    .of = {
        [SGC_KIND_POINTER_FREE] = { .scan = SGC_SCAN_NOTHING },
        [SGC_KIND_CONSERVATIVE] = { .scan = SGC_SCAN_WORDS, .clear = true },
        [SGC_KIND_UNCOLLECTABLE] = { .scan = SGC_SCAN_WORDS, .clear = true, .uncollectable = true },
        [SGC_KIND_POINTER_FREE_UNCOLLECTABLE] = { .scan = SGC_SCAN_NOTHING, .uncollectable = true },
    },
};

uint32_t sgc_kind_make(const struct sgc_kind *kind)
{
    uint32_t n;

    sgc_assert(kind->scan <= SGC_SCAN_DESCRIBED);
    do {
        n = sgc_a32_load(&sgc_kinds.count);
        if (n == SGC_KINDS)
            return SGC_KINDS;
    } while (!sgc_a32_cas(&sgc_kinds.count, n, n + 1));
    sgc_kinds.of[n] = *kind;
    return n;
}
