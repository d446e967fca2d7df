/* SPDX-License-Identifier: MIT */
/* How many markers the next mark is to have, as SGC_MARKER_CHOICE says. */
#ifndef SGC_GC_PACING_MARKER_CHOICE_H
#define SGC_GC_PACING_MARKER_CHOICE_H

#include <stddef.h>
#include <stdint.h>

/* Of at most so many: for so many bytes, which one marker would take so long for.  Any thread; a few microseconds at most, and
 * with `model` on several memory nodes some nanoseconds for each arena beside. */
int sgc_marker_choice(uint64_t marking_ns, size_t bytes, int max);

#endif
