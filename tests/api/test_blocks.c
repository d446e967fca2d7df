/* SPDX-License-Identifier: MIT */
/*
 * The heap block by block: sections are divided into blocks without a gap, each object lies in a used one, the three walks
 * agree, and so do mark bits.  While other threads allocate and free, in concurrent mode, with the world stopped.
 *
 * Also: gc/inspect/blocks.c.
 */
#include "api.h"

#include <sgc.h>

enum { OBJECTS = 500, BLOCKS = 100000, THREADS = 2, WALKS = 15, SMALL = 3000, LARGE = 200000 };

static struct {
    char *start, *end;
    GC_heap_section_type type;
} block[BLOCKS];

static int blocks, used, free_runs, whole;
static int disorder;
static char *at, *section_end;
static size_t section_bytes;

/* What comes next begins where the last block ended. */
static void note(void *start, void *end, GC_heap_section_type type, void *data)
{
    disorder += data != &blocks || (char *)end <= (char *)start || type > GC_HEAP_SECTION_TYPE_WHOLE_SECT;
    if (type == GC_HEAP_SECTION_TYPE_WHOLE_SECT) {
        disorder += at != section_end || (char *)start < at;
        at = start;
        section_end = end;
        section_bytes += (size_t)((char *)end - (char *)start);
        whole++;
        return;
    }
    disorder += (char *)start != at || (char *)end > section_end;
    at = end;
    used += type == GC_HEAP_SECTION_TYPE_USED;
    free_runs += type == GC_HEAP_SECTION_TYPE_FREE || type == GC_HEAP_SECTION_TYPE_UNMAPPED;
    if (blocks < BLOCKS) {
        block[blocks].start = start;
        block[blocks].end = end;
        block[blocks++].type = type;
    }
}

static void *walk_sections(void *unused)
{
    blocks = used = free_runs = whole = 0;
    section_bytes = 0;
    at = section_end = NULL;
    GC_foreach_heap_section_inner(note, &blocks);
    disorder += at != section_end;
    return unused;
}

static int find(const void *address)
{
    for (int i = 0; i < blocks; i++)
        if ((const char *)address >= block[i].start && (const char *)address < block[i].end)
            return i;
    return -1;
}

static bool is_used(const void *address)
{
    int i = find(address);

    return i >= 0 && block[i].type == GC_HEAP_SECTION_TYPE_USED;
}

/* ---- the other two walks ---- */

static int visited, strange;

static void visit_used(struct GC_hblk_s *where, void *data)
{
    int i = find(where);

    visited++;
    strange += data != &visited || i < 0 || block[i].start != (char *)where || block[i].type != GC_HEAP_SECTION_TYPE_USED;
}

static void visit_free(struct GC_hblk_s *where, int index, void *data)
{
    GC_heap_section_type type = index == 0 ? GC_HEAP_SECTION_TYPE_FREE : GC_HEAP_SECTION_TYPE_UNMAPPED;
    int i = find(where);

    visited++;
    strange += data != &visited || i < 0 || block[i].start != (char *)where || block[i].type != type;
}

static void *walk_all(void *unused)
{
    int in_use;

    strange = visited = 0;
    walk_sections(NULL);
    GC_apply_to_all_blocks(visit_used, &visited);
    in_use = visited;
    GC_iterate_free_hblks(visit_free, &visited);
    API_CHILD(disorder == 0 && strange == 0);
    return in_use == used && visited == used + free_runs ? unused : NULL;
}

/* ---- checks ---- */

static void *small[OBJECTS], *large[OBJECTS / 10];

static void of_objects(void)
{
    void *freed;

    GC_INIT();
    API_CHILD(GC_get_hblk_size() == 65536 && GC_is_black_listed((struct GC_hblk_s *)small, 1 << 20) == NULL);
    GC_disable();
    for (int i = 0; i < OBJECTS; i++)
        small[i] = GC_malloc(SMALL);
    for (int i = 0; i < OBJECTS / 10; i++)
        large[i] = GC_malloc_atomic(LARGE);
    freed = GC_malloc(10 * LARGE);
    GC_free(freed);
    API_CHILD(GC_call_with_alloc_lock(walk_all, &used) == &used);
    API_CHILD(section_bytes == GC_get_obtained_from_os_bytes() && whole > 0);
    for (int i = 0; i < OBJECTS; i++)
        API_CHILD(is_used(small[i]) && is_used((char *)small[i] + SMALL - 1));
    for (int i = 0; i < OBJECTS / 10; i++)
        API_CHILD(block[find(large[i])].start == (char *)large[i] && is_used((char *)large[i] + LARGE - 1));
    API_CHILD(!is_used(freed) && find(freed) >= 0 && GC_count_set_marks_in_hblk(freed) == 0);
    API_CHILD(GC_count_set_marks_in_hblk((char *)large[0] + LARGE / 2) == 1 && GC_count_set_marks_in_hblk(small) == 0);
    API_CHILD(walk_all(&used) == &used);                        /* without the lock */
    GC_stop_world_external();
    API_CHILD(walk_all(&used) == &used);
    GC_start_world_external();
}

static int in_page(const void *object)
{
    int count = 0;

    for (int i = 0; i < OBJECTS; i++)
        count += (uintptr_t)small[i] >> 16 == (uintptr_t)object >> 16;
    return count;
}

static unsigned marked_before, marked_small;

/* Nothing has marked the objects yet, but what it marks here. */
static void push(void)
{
    marked_before = GC_count_set_marks_in_hblk(small[OBJECTS / 2]);
    GC_set_mark_bit(small[OBJECTS / 2]);
    marked_small = GC_count_set_marks_in_hblk(small[OBJECTS / 2]);
}

static void of_marks(void)
{
    void *middle;

    GC_INIT();
    for (int i = 0; i < OBJECTS; i++)
        small[i] = GC_malloc(SMALL);
    GC_gcollect();
    middle = small[OBJECTS / 2];
    API_CHILD(in_page(middle) > 5 && (int)GC_count_set_marks_in_hblk(middle) >= in_page(middle));
    API_CHILD(GC_count_set_marks_in_hblk(middle) <= GC_get_hblk_size() / SMALL);
    GC_set_push_other_roots(push);
    GC_gcollect();
    API_CHILD(marked_small == marked_before + 1);
}

static int over;

static void *churn(void *unused)
{
    void *volatile keep[50] = { NULL };

    for (unsigned n = 1; __atomic_load_n(&over, __ATOMIC_RELAXED) == 0; n = n * 1103515245 + 12345) {
        unsigned i = n >> 16 & 31;

        if (keep[i] != NULL && n % 3 == 0)
            GC_free(keep[i]);
        keep[i] = GC_malloc(n % 7 == 0 ? LARGE : n >> 8 & 4095);
    }
    return unused;
}

static void beside_others(void)
{
    pthread_t threads[THREADS];

    GC_INIT();
    api_start_all(threads, THREADS, churn);
    for (int i = 0; i < WALKS; i++) {
        void *mine = GC_malloc(SMALL);

        if (i % 2 == 0)
            GC_call_with_alloc_lock(walk_sections, NULL);
        else
            walk_sections(NULL);
        API_CHILD(disorder == 0 && is_used(mine));
        GC_apply_to_all_blocks(visit_used, &visited);
        GC_iterate_free_hblks(visit_free, &visited);
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    api_join_all(threads, THREADS);
    API_CHILD(SGC_check() == 0);
}

int main(void)
{
    api_check_child(of_objects, NULL, "sections are divided into blocks, and each object is in a used one");
    api_check_child(of_marks, NULL, "mark bits of a block");
    api_check_child_with("GC_MARKERS=4", beside_others, "while others allocate");
    api_check_child_with("SGC_MODE=concurrent GC_PAUSE_TIME_TARGET=0 GC_MARKERS=4", beside_others, "in concurrent mode");
    api_check_child_with("SGC_TORTURE=97", beside_others, "under torture");
    return tap_done();
}
