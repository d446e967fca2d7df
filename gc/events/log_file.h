/* SPDX-License-Identifier: MIT */
/*
 * Files of lines that the collector writes while the program runs: its logs, and the timeline.
 *
 * Lines are appended, on a descriptor that the program knows nothing of.  Opened by raw system
 * calls, far above the descriptors programs use; before each write it is checked that the
 * descriptor is still the file's (programs that become daemons close all they find and open
 * others).  A struct sgc_log_file is used by one thread at a time: the initialising one, then the
 * collecting one under the lock of the collection.
 */
#ifndef SGC_GC_EVENTS_LOG_FILE_H
#define SGC_GC_EVENTS_LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sgc_log_file {
    const char *option;             /* for messages: "SGC_LOG_JSON" */
    const char *name;               /* as the option says; %p stands for the process id */
    bool share;                     /* a child of a fork goes on writing to its parent's file */
    bool anew;                      /* what is in it goes when it is opened, and one process at a
                                       time writes it */
    bool is_open;
    bool again;                     /* a child of a fork opens its own before it writes */
    int fd;
    pid_t pid;                      /* of the process that opened it */
    dev_t device;                   /* which file it is */
    ino_t inode;
};

/* Does it have a name, and a descriptor while it is open? */
static inline bool sgc_log_file_ok(const struct sgc_log_file *file)
{
    return file->option != NULL && file->name != NULL && (!file->is_open || (file->fd >= 0 && file->pid > 0));
}

/* False, with a message, if it cannot be opened. */
bool sgc_log_file_open(struct sgc_log_file *file);

/* Messages that went to the file go to stderr again. */
void sgc_log_file_close(struct sgc_log_file *file);

/* In the child of a fork: closes the file, and with it the lock, unless the child shares it. */
void sgc_log_file_after_fork(struct sgc_log_file *file);

/* Makes the file right for this process, also after a fork without handlers: the child opens its
 * own if the name says %p, shares its parent's, or stops.  False when there is no file to write to
 * (any more). */
bool sgc_log_file_ready(struct sgc_log_file *file);

/* Appends `length` bytes: whole lines.  A failure is reported once and ends the file. */
void sgc_log_file_write(struct sgc_log_file *file, const char *text, size_t length);

/* A collection happens inside the client's allocations: they leave errno alone, and a cancelled
 * thread must not end in the collector's write(2), with the lock of the collection held. */
struct sgc_log_guard {
    int error, cancel_state;
};

void sgc_log_guard_begin(struct sgc_log_guard *guard);
void sgc_log_guard_end(const struct sgc_log_guard *guard);

/* "permission denied" ... of an errno. */
const char *sgc_error_text(int number);

/* Writes `name` with each %p replaced by pid, and each %n by *cycle, unless that is NULL; false if
 * it does not fit.  Also for heap snapshots. */
bool sgc_log_file_name(const char *name, long pid, const uint64_t *cycle, char *buffer, size_t size);

#endif
