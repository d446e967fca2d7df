/* SPDX-License-Identifier: MIT */
/*
 * The hook of GC_set_on_os_get_mem: it is told of all memory of the heap, once each, and of what the system refuses, with the
 * lock held that keeps collections away.
 *
 * Also: gc/pacing/heap_size.c, alloc/pages/pool_grow.c.
 */
#include "api.h"

#include <stdatomic.h>
#include <sys/resource.h>

#include "../lib/sanitized.h"

enum { CHUNKS = 1000, THREADS = 4, LARGE = 1 << 20 };

#define MB ((size_t)1 << 20)

static struct {
    char *space;
    size_t bytes;
} chunk[CHUNKS];

static atomic_int chunks;                   /* threads look for theirs while another is told of more */
static volatile int refusals, collected;
static volatile size_t refused;

static void count_collection(GC_EventType event)
{
    collected += event == GC_EVENT_START;
}

static void note(void *space, size_t bytes)
{
    API_CHILD(bytes != 0);
    if (space == NULL) {
        refused = bytes;
        refusals++;
    } else if (chunks < CHUNKS) {
        chunk[chunks].space = space;
        chunk[chunks].bytes = bytes;
        chunks++;
    }
    GC_gcollect();                      /* it does nothing but report, under the lock */
}

static bool is_in_chunk(const char *address)
{
    for (int i = 0; i < chunks; i++)
        if (address >= chunk[i].space && address < chunk[i].space + chunk[i].bytes)
            return true;
    return false;
}

static bool chunks_overlap(void)
{
    for (int i = 0; i < chunks; i++)
        for (int j = 0; j < i; j++)
            if (chunk[i].space < chunk[j].space + chunk[j].bytes && chunk[j].space < chunk[i].space + chunk[i].bytes)
                return true;
    return false;
}

static size_t in_chunks(void)
{
    size_t bytes = 0;

    for (int i = 0; i < chunks; i++)
        bytes += chunk[i].bytes;
    return bytes;
}

static void *grow(void *unused)
{
    void *list = NULL;

    for (int i = 0; i < 20; i++) {
        void **object = GC_malloc(LARGE);

        API_CHILD(object != NULL && is_in_chunk((char *)object) && is_in_chunk((char *)object + LARGE - 1));
        *object = list;
        list = object;
    }
    GC_reachable_here(list);
    return unused;
}

static void of_growth(void)
{
    pthread_t threads[THREADS];
    int before;

    GC_set_warn_proc(GC_ignore_warn_proc);
    GC_set_on_os_get_mem(note);
    GC_INIT();
    GC_set_on_collection_event(count_collection);
    API_CHILD(GC_get_on_os_get_mem() == note && is_in_chunk(GC_malloc(10)));
    GC_disable();
    grow(NULL);
    api_start_all(threads, THREADS, grow);
    api_join_all(threads, THREADS);
    API_CHILD(chunks > 1 && !chunks_overlap() && refusals == 0 && collected == 0);
    API_CHILD(in_chunks() == GC_get_obtained_from_os_bytes());
    GC_set_on_os_get_mem(NULL);
    before = chunks;
    for (int i = 0; i < 100; i++)
        GC_malloc_uncollectable(MB);
    API_CHILD(chunks == before && GC_get_on_os_get_mem() == NULL);
}

static void of_refusal(void)
{
    struct rlimit limit = { 300 * MB, 300 * MB };
    int tries = 0;

    setrlimit(RLIMIT_AS, &limit);
    GC_set_warn_proc(GC_ignore_warn_proc);
    GC_set_oom_fn(api_refuse);
    GC_set_on_os_get_mem(note);
    GC_INIT();
    while (refusals == 0 && tries++ < 500)
        GC_malloc_uncollectable(MB);
    API_CHILD(refusals > 0 && refused >= MB && in_chunks() < 300 * MB);
}

static void of_limit(void)
{
    GC_set_max_heap_size(20 * MB);
    GC_set_warn_proc(GC_ignore_warn_proc);
    GC_set_oom_fn(api_refuse);
    GC_set_on_os_get_mem(note);
    GC_INIT();
    while (GC_malloc_uncollectable(MB) != NULL)
        continue;
    API_CHILD(refusals == 0 && chunks > 0);
}

int main(void)
{
    api_check_child(of_growth, NULL, "the hook is told of all memory of the heap, once each");
    if (TEST_SANITIZED)
        tap_skip("and when the system refuses some: a sanitizer needs more than the limit");
    else
        api_check_child_with("SGC_TORTURE=0 SGC_MODE=stop SGC_RESERVE=1G", of_refusal, "and when the system refuses some");
    api_check_child(of_limit, NULL, "but not of a limit that is set");
    return tap_done();
}
