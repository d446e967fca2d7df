/* SPDX-License-Identifier: MIT */
/* The commands of sgc-snapshot that show who keeps what: types, retained ... */
#ifndef SGC_SNAPSHOT_TOOLS_VIEWS_H
#define SGC_SNAPSHOT_TOOLS_VIEWS_H

#include <stdbool.h>

/* Is it the name of one? */
bool sgc_views_have(const char *name);

/* argv[0] is the command's name.  The exit status; a mistake ends the process. */
int sgc_views_run(int argc, char **argv);

#endif
