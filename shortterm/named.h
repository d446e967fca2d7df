/* SPDX-License-Identifier: MIT */
/* Which object the program means by an address: one answer for all functions of sgc_shortterm.h. */
#ifndef SGC_SHORTTERM_NAMED_H
#define SGC_SHORTTERM_NAMED_H

#include "alloc/object.h"

/* The object whose first address that is, or, of one with guards, the address that the program has of it.  Otherwise EINVAL or
 * ESTALE, as the header says; with EINVAL, and an address in the heap, *o is the object that it lies in.  On any mutator,
 * outside sections. */
int sgc_named_object(uintptr_t address, struct sgc_object *o);

#endif
