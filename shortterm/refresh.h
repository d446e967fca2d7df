/* SPDX-License-Identifier: MIT */
/* A date for an object whose caller has been called for the program by another function of ours. */
#ifndef SGC_SHORTTERM_REFRESH_H
#define SGC_SHORTTERM_REFRESH_H

#include <stdbool.h>
#include <stdint.h>

/* As SGC_refresh or SGC_refresh_global.  `caller`: in the program, where it wanted the date; verify keeps that. */
int sgc_refresh_for(void *object, unsigned extension, bool global, uintptr_t caller);

#endif
