/* SPDX-License-Identifier: MIT */
/* Lists of references, and a thread's buffer: a list for each lifetime that is left ([SCM-C] 5.4.1).  One thread's, or under
 * the pool's lock. */
#ifndef ACDC_BUFFERS_H
#define ACDC_BUFFERS_H

#include "bench/acdc/metadata.h"

struct list {
    struct node *first, *last;
};

static inline void list_add(struct list *list, struct node *node)
{
    *(list->first == NULL ? &list->first : &list->last->next) = node;
    list->last = node;
}

/* All of `more`, behind what is there. */
static inline void list_join(struct list *list, struct list *more)
{
    if (more->first == NULL)
        return;
    *(list->first == NULL ? &list->first : &list->last->next) = more->first;
    list->last = more->last;
    *more = (struct list){ NULL, NULL };
}

/* Of as many lists as the longest lifetime and 1.  Those whose life ends at the end of time t are in list t modulo this. */
struct buffer {
    struct list *lists;
    long length;
};

static inline struct buffer buffer_new(long lifetime)
{
    return (struct buffer){ metadata_map((size_t)(lifetime + 1) * sizeof(struct list)), lifetime + 1 };
}

static inline struct list *buffer_list(struct buffer *buffer, long time)
{
    return &buffer->lists[time % buffer->length];
}

#endif
