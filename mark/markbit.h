/* SPDX-License-Identifier: MIT */
/* The ways in which several markers may set mark bits. */
#ifndef SGC_MARK_MARKBIT_H
#define SGC_MARK_MARKBIT_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/atomics.h"

/* Own: by plain stores in pages that are the marker's, else by one atomic or (mark/owners.h).  Plain: no other marker is at work. */
enum sgc_markbit { SGC_MARKBIT_OWN, SGC_MARKBIT_OR, SGC_MARKBIT_CAS, SGC_MARKBIT_LOCK, SGC_MARKBIT_PLAIN };

/* The ways that are there to be compared: of the bits, those that were not set. */
uintptr_t sgc_mark_by_cas(sgc_aw_t *mark, uintptr_t bits);
uintptr_t sgc_mark_by_lock(sgc_aw_t *mark, uintptr_t bits);

#endif
