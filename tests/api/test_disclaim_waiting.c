/* SPDX-License-Identifier: MIT */
/*
 * Objects that wait to be asked about: their memory is used again in the same cycle, they do not make the heap grow as live
 * ones do, and one that the program frees, or its procedure, is not freed again, though its kind has no procedure any more and
 * something else lies there.
 */
#include "disclaim.h"

enum { OBJECTS = 1000, KEPT = 1 << 15, MADE = 1 << 20 };

static volatile int finalized;

/* ---- the heap's size ---- */

struct small { void *link; long number; };

static void closed(void *object, TEST_UNUSED void *data)
{
    finalized += ((struct small *)object)->number == READY;
}

static void churn(void)
{
    static const struct GC_finalizer_closure closure = { closed, NULL };
    struct small **kept = GC_malloc(KEPT * sizeof *kept);
    unsigned random = 1;

    for (int i = 0; i < MADE; i++) {
        struct small *s = GC_finalized_malloc(sizeof *s, &closure);

        API_CHILD(s != NULL && s->number == 0 && s->link == NULL);
        s->number = READY;
        random = random * 1103515245 + 12345;
        kept[(random >> 16) % KEPT] = s;
    }
}

/* How much is allocated between two collections depends on what these cost here.  Beside that there is what lives, about 1.3
 * MB. With a sanitizer there are three or four collections in all, which tell nothing. */
static size_t enough(void)
{
    size_t each = MADE * (size_t)32 / (GC_get_gc_no() + 1);

    return (((size_t)2 << 20) + each) / 2 * 3;
}

static void little_memory(void)
{
    GC_init_finalized_malloc();
    api_run(churn);
    API_CHILD(finalized > MADE / 2);
    API_CHILD(TEST_SANITIZED || GC_get_heap_size() < enough());
}

/* ---- freed while it waits ---- */

static void *hidden[OBJECTS];
static struct thing *successor[OBJECTS];
static volatile int asked;

static int leave(TEST_UNUSED void *object)
{
    if (leaves)
        longjmp(back, 1);
    asked++;
    return 0;
}

static size_t bytes = sizeof(struct thing);

static struct thing *make(int number)
{
    return make_thing(number, bytes);
}

static void make_hidden(void)
{
    for (int i = 0; i < OBJECTS; i++)
        hidden[i] = (void *)GC_HIDE_POINTER(make(i));
}

/* What is asked for last takes the slow way, where objects are asked about. */
static void free_and_make(void)
{
    for (int i = 0; i < OBJECTS; i++)
        GC_free(GC_REVEAL_POINTER(hidden[i]));
    for (int i = 0; i < OBJECTS; i++)
        successor[i] = make(i);
    for (int i = 0; i < 100; i++)
        GC_malloc_atomic(100000);
}

static void free_waiting(void)
{
    collect_and_leave();
    GC_disable();
    free_and_make();
}

static void start_hidden(GC_disclaim_proc proc)
{
    start(proc, 0);
    api_make(make_hidden);
}

static int intact(void)
{
    int count = 0;

    for (int i = 0; i < OBJECTS; i++)
        count += successor[i] != NULL && GC_base(successor[i]) == successor[i] && successor[i]->number == i &&
                 successor[i]->ready == READY;
    return count;
}

static void freed_waiting(void)
{
    start_hidden(leave);
    api_run(free_waiting);
    API_CHILD(intact() == OBJECTS && asked == 0);
}

/* ---- their memory, in the same cycle ---- */

static bool was_waiting(const struct thing *t)
{
    for (int i = 0; i < OBJECTS; i++)
        if (GC_REVEAL_POINTER(hidden[i]) == (const void *)t)
            return true;
    return false;
}

static void no_new_page(void)
{
    make_hidden();
    GC_enable();
    collect_and_leave();
    GC_disable();
    API_CHILD(was_waiting(make(0)) && asked > 0);
}

/* Their pages are swept before, and full. */
static int allocates_first(TEST_UNUSED void *object)
{
    if (asked++ == 0)
        for (int i = 0; i < OBJECTS; i++)
            make(i);
    return 0;
}

static void found_though_swept(void)
{
    int again = 0;

    make_hidden();
    GC_enable();
    api_collect_below();
    GC_disable();
    for (int i = 0; i < 2 * OBJECTS; i++)
        again += was_waiting(make(i));
    API_CHILD(again > OBJECTS / 2);
}

static void at_once(GC_disclaim_proc proc, void (*body)(void))
{
    start(proc, 0);
    GC_disable();
    api_run(body);
}

static void in_swept_pages(void) { at_once(allocates_first, found_though_swept); }

/* ---- and when there is no procedure any more ---- */

static void (*volatile register_proc)(int, GC_disclaim_proc, int) = GC_register_disclaim_proc;  /* not "nonnull" */
static int replaced;

/* Nobody is asked about the others, nor meanwhile, so what is made in their places is there when their turn comes. */
static int free_others(void *object)
{
    if (asked++ != 0)
        return 0;
    register_proc(kind, NULL, 0);
    for (int i = 0; i < OBJECTS; i++) {
        void *other = GC_REVEAL_POINTER(hidden[i]);

        if (other == object)
            continue;
        GC_free(other);
        successor[i] = make(i);
        replaced += (void *)successor[i] == other;
    }
    return 1;
}

static void freed_without(void)
{
    start_hidden(free_others);
    api_collect();
    API_CHILD(intact() == OBJECTS - 1 && asked == 1 && replaced > 0);
}

/* ---- freed by its own procedure: not again when that returns ---- */

static int frees_itself(void *object)
{
    struct thing *t = object;
    long number = t->number;

    if (t->ready != READY)
        return 0;
    t->ready = 0;
    GC_free(object);
    successor[number] = GC_generic_malloc(bytes, kind);
    replaced += (void *)successor[number] == object;
    return 0;
}

static void freed_itself(void)
{
    start_hidden(frees_itself);
    api_collect();
    API_CHILD(replaced > 0);
    for (int i = 0; i < OBJECTS; i++)
        API_CHILD(successor[i] == NULL || GC_base(successor[i]) == successor[i]);
}

int main(void)
{
    api_check_started(little_memory, NULL, "the heap stays small when most objects are asked about");
    api_check_child_of(at_once(leave, no_new_page), NULL, "who needs memory asks before it takes a new page");
    api_check_child(in_swept_pages, NULL, "and finds what has been freed in pages that were swept");
    api_check_child(freed_waiting, NULL, "objects that are freed while they wait");
    api_check_child(freed_without, NULL, "and whose kind has no procedure any more");
    api_check_child_of((bytes = 100000, freed_without()), NULL, "large ones");
    api_check_child(freed_itself, NULL, "an object that its procedure frees");
    api_check_child_of((bytes = 100000, freed_itself()), NULL, "a large one");
    return tap_done();
}
