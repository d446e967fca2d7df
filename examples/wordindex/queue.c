/* SPDX-License-Identifier: MIT */
/* The work queue of queue.h; everything here runs under its lock. */
#include "examples/wordindex/queue.h"

#include "memory.h"

struct queue *queue_new(void)
{
    struct queue *queue = mem_object(sizeof *queue);

    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->not_empty, NULL);
    pthread_cond_init(&queue->not_full, NULL);
    return queue;
}

void queue_put(struct queue *queue, struct file *file)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->used == QUEUE_ROOM)
        pthread_cond_wait(&queue->not_full, &queue->lock);
    queue->waiting[(queue->first + queue->used++) % QUEUE_ROOM] = file;
    pthread_cond_signal(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
}

void queue_close(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_cond_broadcast(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
}

/* Under the lock, with a file waiting. */
static struct file *take_first(struct queue *queue)
{
    struct file *file = queue->waiting[queue->first];

    /* A pointer left behind would keep what is done with from being collected. */
    queue->waiting[queue->first] = NULL;
    queue->first = (queue->first + 1) % QUEUE_ROOM;
    queue->used--;
    pthread_cond_signal(&queue->not_full);
    return file;
}

struct file *queue_take(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->used == 0 && !queue->closed)
        pthread_cond_wait(&queue->not_empty, &queue->lock);
    struct file *file = queue->used > 0 ? take_first(queue) : NULL;
    pthread_mutex_unlock(&queue->lock);
    return file;
}
