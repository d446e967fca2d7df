/* SPDX-License-Identifier: MIT */
/* Whether the values of a machine go together, each of which is in its range. */
#ifndef SGC_PERFMODEL_MACHINE_MACHINE_CHECK_H
#define SGC_PERFMODEL_MACHINE_MACHINE_CHECK_H

#include "perfmodel/machine/machine.h"

/* NULL; or the key that is to be blamed, with what is wrong in `text`.  Counts the machine's
 * caches. */
const char *sgc_machine_wrong(struct sgc_machine *m, char *text, size_t size);

#endif
