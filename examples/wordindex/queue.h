/* SPDX-License-Identifier: MIT */
/*
 * The work queue between the walker and the workers: bounded, so that the walker does not run away.
 *
 * | what | who writes | who reads | ordering |
 * | --- | --- | --- | --- |
 * | all fields | walker and workers, under lock | the same, under lock | the lock |
 */
#ifndef WORDINDEX_QUEUE_H
#define WORDINDEX_QUEUE_H

#include <pthread.h>
#include <stdbool.h>

#include "examples/wordindex/files.h"

enum { QUEUE_ROOM = 256 };

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    struct file *waiting[QUEUE_ROOM];
    size_t first, used;
    bool closed;
};

struct queue *queue_new(void);

/* Waits for room. */
void queue_put(struct queue *queue, struct file *file);

/* No more will be put. */
void queue_close(struct queue *queue);

/* Waits for a file; NULL when the queue is closed and empty. */
struct file *queue_take(struct queue *queue);

#endif
