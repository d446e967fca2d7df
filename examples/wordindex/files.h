/* SPDX-License-Identifier: MIT */
/*
 * The files to be indexed: found by the walker, read by the workers.
 *
 * | what | who writes | who reads | ordering |
 * | --- | --- | --- | --- |
 * | file.path, file.id | walker, before it queues the file | anyone after taking it from the queue | the queue's lock |
 * | file.state, bytes, words | the worker that took the file | main thread after pthread_join | pthread_join |
 * | struct files | walker | main thread, which is the walker | one thread |
 */
#ifndef WORDINDEX_FILES_H
#define WORDINDEX_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum file_state {
    FILE_WAITING,
    FILE_TEXT,   /* no NUL byte anywhere: indexed */
    FILE_BINARY, /* left out */
    FILE_FAILED, /* could not be read; a message said why */
};

struct file {
    const char *path;
    uint32_t id; /* its place in struct files */
    enum file_state state;
    uint64_t bytes, words;
};

struct files {
    struct file **list;
    size_t used, room;
};

struct file *files_add(struct files *files, const char *path);

/* Reads a whole file.  false, after a message, if that fails. */
bool read_file(const char *path, char **text, size_t *length);

#endif
