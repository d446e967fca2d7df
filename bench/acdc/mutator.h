/* SPDX-License-Identifier: MIT */
/* What a thread of ACDC does ([SCM-C] 5.3): allocate, think, and let its time go up, until that has happened often enough. */
#ifndef ACDC_MUTATOR_H
#define ACDC_MUTATOR_H

#include "bench/acdc/metrics.h"

/* Runs them all; returns when they have ended, with what each has measured. */
struct metrics **mutators_run(const struct options *options);

#endif
