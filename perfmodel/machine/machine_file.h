/* SPDX-License-Identifier: MIT */
/*
 * Machine files: lines "key value # source", in any order.  doc/studies/perfmodel.md describes the
 * keys for users, perfmodel/machine/keys.def lists them.
 */
#ifndef SGC_PERFMODEL_MACHINE_MACHINE_FILE_H
#define SGC_PERFMODEL_MACHINE_MACHINE_FILE_H

#include <stdio.h>

#include "perfmodel/machine/machine.h"

enum { SGC_MACHINE_MESSAGE = 512 }; /* bytes of a message at most */

/* Reads a file.  False: `message`, which has SGC_MACHINE_MESSAGE bytes, names the error, its place,
 * the expected contents and a way to go on. */
bool sgc_machine_read(struct sgc_machine *m, const char *path, char *message);

/* Reads text that is open as `file`, as sgc_machine_read does a file; messages call it `path`. */
bool sgc_machine_read_text(struct sgc_machine *m, FILE *file, const char *path, char *message);

/* The file of a machine that is named: `name` itself if it has a slash or there is such a file,
 * else NAME.machine in the folder.  False, with a message, if there is none. */
bool sgc_machine_find(const char *name, const char *folder, char *path, size_t size, char *message);

/* Writes the machine as a file.  source(arg, key) gives the text behind the "#" of a key's line;
 * NULL, or an empty text: there is none. */
void sgc_machine_write(const struct sgc_machine *m, FILE *file, const char *(*source)(void *arg, const char *key), void *arg);

#endif
