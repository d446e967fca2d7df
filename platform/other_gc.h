/* SPDX-License-Identifier: MIT */
/* Which modules are collectors: for platform/modules_linux.c.  Owns nothing. */
#ifndef SGC_PLATFORM_OTHER_GC_H
#define SGC_PLATFORM_OTHER_GC_H

#include <stdbool.h>

struct dl_phdr_info;

/* Is the module the drop-in while this code is in the libsgc next to it?  Then nobody calls what is in it.  In a callback of
 * dl_iterate_phdr. */
bool sgc_module_is_idle(const struct dl_phdr_info *info);

#endif
