/* SPDX-License-Identifier: MIT */
/* See mark/noted.h. */
#include "mark/noted.h"

#include "platform/platform.h"
#include "platform/report.h"

SGC_STATE sgc_aw_t sgc_noter;
SGC_STATE struct sgc_futex_lock sgc_noted_lock;

void sgc_noter_set(sgc_noter_t noter)
{
    sgc_futex_lock(&sgc_noted_lock);
    sgc_assert((noter != NULL) != (sgc_aw_load(&sgc_noter) != 0));
    sgc_aw_store_rel(&sgc_noter, (uintptr_t)noter);
    sgc_futex_unlock(&sgc_noted_lock);
}

void sgc_note(enum sgc_noted what, uintptr_t word)
{
    sgc_noter_t noter = (sgc_noter_t)sgc_aw_load_acq(&sgc_noter);

    sgc_assert(noter != NULL && sgc_a32_load(&sgc_noted_lock.word) != SGC_FUTEX_FREE);
    noter(what, word);
}

void sgc_note_alone(enum sgc_noted what, uintptr_t word)
{
    sgc_futex_lock(&sgc_noted_lock);
    sgc_note(what, word);
    sgc_futex_unlock(&sgc_noted_lock);
}
