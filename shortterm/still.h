/* SPDX-License-Identifier: MIT */
/* verify: clocks that stand still while their dates keep memory. */
#ifndef SGC_SHORTTERM_STILL_H
#define SGC_SHORTTERM_STILL_H

/* Makes findings of them.  World stopped, once a collection. */
void sgc_still_find(void);

#endif
