/* SPDX-License-Identifier: MIT */
/* The short spelling: #include <gc.h> is the same as #include <gc/gc.h>. */
#include "gc/gc.h"
