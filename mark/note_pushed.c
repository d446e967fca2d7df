/* SPDX-License-Identifier: MIT */
/* The words behind what procedures push, for who writes them down (mark/noted.h).  On any marker, world stopped. */
#include "mark/descriptor.h"

#include "mark/edge.h"
#include "mark/noted.h"

SGC_BLIND static void note_at(void *arg, uintptr_t at)
{
    (void)arg;
    sgc_assert(at % sizeof at == 0);
    sgc_note(SGC_NOTED_WORD, sgc_read_once(at));
}

void sgc_note_pushed(const struct sgc_client_entry *top, const struct sgc_client_entry *result, uintptr_t start, size_t bytes)
{
    sgc_assert(sgc_noting() && (result == NULL || result >= top));
    if (result == NULL)
        sgc_visit_pushed(start, bytes != SIZE_MAX ? bytes : 0, note_at, NULL);
    for (; result != NULL && top < result; top++)
        sgc_visit_pushed(top[1].start, top[1].descriptor, note_at, NULL);
}

struct self {
    uintptr_t start;
    size_t bytes;
};

SGC_BLIND static void note_other(void *arg, uintptr_t at)
{
    const struct self *self = arg;

    sgc_assert(at - self->start < self->bytes);
    if (sgc_read_once(at) - self->start >= self->bytes)
        note_at(NULL, at);
}

void sgc_note_all_but_self(uintptr_t start, size_t bytes)
{
    struct self self = { start, bytes };

    sgc_assert(sgc_noting());
    sgc_futex_lock(&sgc_noted_lock);
    sgc_note(SGC_NOTED_OBJECT, start);
    sgc_visit_pushed(start, bytes, note_other, &self);
    sgc_note(SGC_NOTED_END, start);
    sgc_futex_unlock(&sgc_noted_lock);
}
