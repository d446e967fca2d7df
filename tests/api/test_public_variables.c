/* SPDX-License-Identifier: MIT */
/*
 * The public variables: assigning to one does what its setter does, at once, and the getter answers it.  Each
 * subject runs in a child of its own.
 *
 * Also: gc/api/settings.c.
 */
#define GC_ATTR_DEPRECATED          /* using them is the point here */
#include "api.h"

#define MB ((size_t)1 << 20)

static GC_hidden_pointer hidden[2];
static char *volatile word[2];      /* volatile: the stores matter */

static void *churn(void *bytes)
{
    for (size_t done = 0; done < (size_t)bytes; done += 1000)
        GC_malloc_atomic(1000);
    return NULL;
}

/* Collections while so much is allocated and dropped. */
static GC_word collections(size_t bytes)
{
    GC_word before = GC_get_gc_no();

    api_in_thread(churn, (void *)bytes);
    return GC_get_gc_no() - before;
}

/* ---- whether ---------------------------------------------------------------------------------------- */

static void dont_gc(void)
{
    GC_dont_gc = 1;
    API_CHILD(GC_is_disabled());
    API_CHILD(collections(50 * MB) == 0);
    GC_gcollect();
    API_CHILD(GC_get_gc_no() == 0 && GC_gc_no == 0);
    GC_disable();
    API_CHILD(GC_dont_gc == 2);
    GC_enable();
    GC_dont_gc--;
    GC_gcollect();
    API_CHILD(GC_get_gc_no() == 1 && GC_gc_no == 1 && !GC_is_disabled());
}

static void dont_gc_before(void)
{
    GC_dont_gc = 1;
    GC_INIT();
    API_CHILD(collections(50 * MB) == 0);
}

/* ---- how often ---------------------------------------------------------------------------------------- */

static void *volatile keep[100];     /* never read, but written */

static GC_word collections_with_divisor(GC_word divisor)
{
    GC_free_space_divisor = divisor;
    API_CHILD(GC_get_free_space_divisor() == divisor);
    GC_gcollect();
    return collections(400 * MB);
}

static void divisor(void)
{
    GC_word few, many;

    GC_INIT();
    for (int i = 0; i < 100; i++)
        keep[i] = GC_malloc_atomic(MB);
    few = collections_with_divisor(1);
    many = collections_with_divisor(50);
    API_CHILD(many > 2 * few + 2);
    GC_free_space_divisor = 0;                  /* nonsense, and yet no division by it */
    GC_gcollect();
    API_CHILD(GC_malloc(100) != NULL);
}

static void entire_heap_before(void)
{
    setenv("GC_USE_ENTIRE_HEAP", "1", 1);
    GC_INIT();
    API_CHILD(GC_use_entire_heap == 1);
}

static void divisor_before(void)
{
    GC_free_space_divisor = 7;
    GC_INIT();
    API_CHILD(GC_get_free_space_divisor() == 7 && GC_free_space_divisor == 7);
}

/* As Guile does. */
static void pacing_before(void)
{
    GC_set_free_space_divisor(7);
    GC_set_min_bytes_allocd(1 << 20);
    GC_set_dont_expand(1);
    GC_set_dont_expand(0);
    GC_INIT();
    API_CHILD(GC_get_free_space_divisor() == 7 && GC_get_min_bytes_allocd() == 1 << 20 && GC_get_dont_expand() == 0);
}

/* Lives, until it is dropped: then the heap is large and nearly empty. */
static void grow_and_drop(void)
{
    static void **held;

    for (int i = 0; i < 1000; i++) {
        void **block = GC_malloc(100 << 10);

        block[0] = held;
        held = block;
    }
    held = NULL;
    GC_gcollect();
}

static void entire_heap(void)
{
    grow_and_drop();
    API_CHILD(collections(85 * MB) > 0);
    GC_use_entire_heap = 1;
    GC_gcollect();
    API_CHILD(collections(85 * MB) == 0);
}

static void expanded_heap(void)
{
    API_CHILD(GC_expand_hp(100 * MB));
    API_CHILD(collections(80 * MB) == 0);
}

static void dont_expand(void)
{
    size_t size;

    GC_dont_expand = 1;
    API_CHILD(GC_get_dont_expand());
    GC_gcollect();
    size = GC_get_heap_size();
    API_CHILD(collections(100 * MB) > 5);
    API_CHILD(GC_get_heap_size() <= size + 16 * MB);
}

static void non_gc_bytes(void)
{
    GC_word plain, suppressed;

    GC_gcollect();
    plain = collections(100 * MB);
    GC_gcollect();
    GC_non_gc_bytes += 1000 * MB;
    API_CHILD(GC_get_non_gc_bytes() >= 1000 * MB);
    suppressed = collections(100 * MB);
    API_CHILD(plain > suppressed);
}

/* ---- out of memory --------------------------------------------------------------------------------------- */

static int refusals;

static void *refuse(size_t bytes)
{
    refusals += bytes > 50 * MB;
    return NULL;
}

static void oom(void)
{
    GC_word before;

    API_CHILD(GC_oom_fn != NULL && GC_oom_fn == GC_get_oom_fn());
    GC_set_max_heap_size(32 * MB);
    GC_oom_fn = refuse;
    API_CHILD(GC_get_oom_fn() == refuse && GC_malloc(64 * MB) == NULL && refusals == 1);
    GC_max_retries = 5;
    before = GC_get_gc_no();
    API_CHILD(GC_malloc(64 * MB) == NULL && refusals == 2 && GC_get_gc_no() >= before + 5);
}

static int resizes;

static void resized(GC_word bytes)
{
    resizes += bytes > 0;
}

static void on_resize(void)
{
    GC_on_heap_resize = resized;
    API_CHILD(GC_get_on_heap_resize() == resized);
    for (int i = 0; i < 100; i++)
        keep[i] = GC_malloc_atomic(MB);
    API_CHILD(resizes > 3);
}

/* ---- roots ------------------------------------------------------------------------------------------------- */

static void *point(void *offset)
{
    for (int i = 0; i < 2; i++) {
        word[i] = GC_malloc(API_LARGE);
        hidden[i] = GC_HIDE_POINTER(word[i]);
        word[i] += i * (ptrdiff_t)offset;
    }
    return NULL;
}

static void no_interior(void)
{
    GC_all_interior_pointers = 0;
    GC_INIT();
    API_CHILD(GC_get_all_interior_pointers() == 0 && GC_size(GC_malloc(16)) == 16);
    api_in_thread(point, (void *)24);
    api_collect();
    API_CHILD(api_alive(hidden, 1) == 1 && api_alive(hidden + 1, 1) == 0);
}

static void no_dls(void)
{
    GC_no_dls = 1;
    GC_INIT();
    api_in_thread(point, NULL);
    api_collect();
    API_CHILD(GC_get_no_dls() && api_alive(hidden, 2) == 0);
    GC_no_dls = 0;
    api_in_thread(point, NULL);
    API_CHILD(api_survive(hidden, 2) == 2);
}

static void stackbottom(void)
{
    struct GC_stack_base base = { NULL };

    GC_get_my_stackbottom(&base);
    API_CHILD(GC_stackbottom == base.mem_base && (char *)&base < GC_stackbottom);
}

/* ---- those without effect here -------------------------------------------------------------------------------- */

static void kept_only(void)
{
    GC_dont_precollect = 1;
    GC_full_freq = 3;
    GC_time_limit = 77;
    GC_INIT();
    API_CHILD(GC_get_dont_precollect() == 1 && GC_get_full_freq() == 3 && GC_get_time_limit() == 77);
    GC_set_dont_precollect(0);
    GC_set_full_freq(4);
    GC_set_time_limit(78);
    API_CHILD(GC_dont_precollect == 0 && GC_full_freq == 4 && GC_time_limit == 78 && GC_parallel == GC_get_parallel());
}

/* ---- in no header, but exported, and assigned by some ------------------------------------------------- */

extern GC_push_other_roots_proc GC_push_other_roots;
extern GC_abort_func GC_on_abort;

static int pushed;

static void push(void) { pushed++; }

static void push_other_roots(void)
{
    GC_push_other_roots = push;
    GC_gcollect();
    API_CHILD(pushed == 1 && GC_get_push_other_roots() == push);
    GC_set_push_other_roots(NULL);
    GC_gcollect();
    API_CHILD(pushed == 1);
}

static void leave(const char *message)
{
    if (message == NULL)
        _exit(0);
}

static void on_abort(void)
{
    GC_on_abort = leave;
    API_CHILD(GC_get_abort_func() == leave);
    GC_abort_on_oom();
}

/* Beside the program collections come earlier than the budget says. */
int main(void)
{
    setenv("SGC_MODE", "stop", 1);
    api_check_started(dont_gc, NULL, "GC_dont_gc disables collections");
    api_check_child(dont_gc_before, NULL, "also before the start");
    api_check_child(entire_heap_before, NULL, "GC_use_entire_heap is set by the environment");
    api_check_child(divisor_before, NULL, "GC_free_space_divisor before the start");
    api_check_child(pacing_before, NULL, "so are what GC_set_free_space_divisor and its like say");
    api_check_started(dont_expand, NULL, "GC_dont_expand collects before the heap grows");
    if (getenv("SGC_TORTURE") == NULL) {        /* which has its own idea of how often */
        api_check_child(divisor, NULL, "GC_free_space_divisor says how often");
        api_check_started(entire_heap, NULL, "GC_use_entire_heap uses a heap that has grown");
        api_check_started(expanded_heap, NULL, "what GC_expand_hp adds is used before the next collection");
        api_check_started(non_gc_bytes, NULL, "GC_non_gc_bytes calls for no collection");
    }
    api_check_started(oom, NULL, "GC_oom_fn and GC_max_retries");
    api_check_started(on_resize, NULL, "GC_on_heap_resize");
    api_check_started(push_other_roots, NULL, "GC_push_other_roots");
    api_check_started(on_abort, "out of memory", "GC_on_abort");
    api_check_child(no_interior, NULL, "GC_all_interior_pointers before the start");
    api_check_child(no_dls, NULL, "GC_no_dls at any time");
    api_check_started(stackbottom, NULL, "GC_stackbottom is answered");
    api_check_child(kept_only, NULL, "the others are kept and answered");
    return tap_done();
}
