/* SPDX-License-Identifier: MIT */
/* See share.h. */
#include "bench/acdc/share.h"

#include <pthread.h>

static struct {
    pthread_mutex_t lock;
    struct list entries;
    uint64_t all, left;                 /* bits: of all threads, of those that have ended their work */
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

void share_begin(long threads)
{
    pool.all = (UINT64_C(1) << threads) - 1;
}

void share_put(struct list *list)
{
    unsigned users;

    if (list->first == NULL)
        return;
    pthread_mutex_lock(&pool.lock);
    users = (unsigned)__builtin_popcountll(pool.all & ~pool.left);
    for (struct node *n = list->first; n != NULL; n = n->next) {
        n->reference->sharers = pool.left;
        atomic_store_explicit(&n->reference->users, users, memory_order_relaxed);
    }
    list_join(&pool.entries, list);
    pthread_mutex_unlock(&pool.lock);
}

/* With the lock. */
static long fetch(uint64_t bit, struct arena *arena, struct list *list)
{
    struct list kept = { NULL, NULL };
    long fetched = 0;

    for (struct node *n = pool.entries.first, *next; n != NULL; n = next) {
        struct reference *r = n->reference;

        next = n->next;
        if ((r->sharers & bit) == 0) {
            r->sharers |= bit;
            list_add(list, node_new(arena, r));
            fetched++;
        }
        n->next = NULL;
        if (r->sharers == pool.all)
            node_end(arena, n);
        else
            list_add(&kept, n);
    }
    pool.entries = kept;
    return fetched;
}

long share_fetch(long id, struct arena *arena, struct list *list)
{
    long fetched;

    pthread_mutex_lock(&pool.lock);
    fetched = fetch(UINT64_C(1) << id, arena, list);
    pthread_mutex_unlock(&pool.lock);
    return fetched;
}

long share_leave(long id, struct arena *arena, struct list *list)
{
    long fetched;

    pthread_mutex_lock(&pool.lock);
    fetched = fetch(UINT64_C(1) << id, arena, list);
    pool.left |= UINT64_C(1) << id;
    pthread_mutex_unlock(&pool.lock);
    return fetched;
}
