/* SPDX-License-Identifier: MIT */
/*
 * The functions of this room for the rooms above, and for gc/inspect/client_hooks.c.
 */
#ifndef SGC_GC_INSPECT_INSPECT_H
#define SGC_GC_INSPECT_INSPECT_H

#include "alloc/object.h"

/* The address that the client has of an object: behind the header, if the object was allocated for
 * debugging. */
uintptr_t sgc_api_client_address(const struct sgc_object *object);

enum { SGC_API_OBJECT_TEXT = 450 };

/* "48 bytes at 0x...", and what is known besides of the object to which the address belongs; false
 * if there is none. */
bool sgc_api_describe_object(uintptr_t address, char text[SGC_API_OBJECT_TEXT]);

/* Ends the check that SGC_check runs, which goes on with the next one; returns if it runs none. */
void sgc_api_violation(const char *line);

/* Begins to look for leaks and for guards that were written to, at each collection.  Once, at
 * start. */
void sgc_client_checks_start(void);

#endif
