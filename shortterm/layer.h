/* SPDX-License-Identifier: MIT */
/* The functions of short-term memory that the collector calls: gc/threads/upper.h says when. */
#ifndef SGC_SHORTTERM_LAYER_H
#define SGC_SHORTTERM_LAYER_H

#include "gc/threads/upper.h"

extern const struct sgc_upper sgc_shortterm_layer, sgc_shortterm_verifying;

#endif
