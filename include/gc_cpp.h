/* SPDX-License-Identifier: MIT */
/* For programs that include <gc_cpp.h>. */
#include "gc/gc_cpp.h"
