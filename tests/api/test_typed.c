/* SPDX-License-Identifier: MIT */
/*
 * Typed objects: words in the descriptor keep what they point at, the others do not.  With API_PEER it runs on bdwgc's
 * library.
 *
 * Also: mark/descriptor.c, mark/layouts.c.
 */
#include "api.h"

#include <gc/gc_typed.h>
#include <setjmp.h>

enum { MOST = 5000 };           /* words of the longest type */

static GC_hidden_pointer *kept, *lost;      /* not roots */
static void *volatile root;

/* ---- objects with that bitmap, and something large at each place; in arrays the pattern repeats with each element ---- */

struct type {
    size_t words;               /* of the object, or an element */
    size_t length;              /* of the bitmap */
    size_t step;                /* so many words apart are looked at */
    bool (*is_pointer)(size_t n);
    size_t count;               /* elements; 0: no array */
};

static GC_descr describe(const struct type *t)
{
    GC_word bits[MOST / GC_WORDSZ + 1] = { 0 };

    for (size_t n = 0; n < t->length; n++)
        if (t->is_pointer(n))
            GC_set_bit(bits, n);
    return GC_make_descriptor(bits, t->length);
}

static size_t all_words(const struct type *t)
{
    return (t->count == 0 ? 1 : t->count) * t->words;
}

static bool leads_on(const struct type *t, size_t n)
{
    return n % t->words < t->length && t->is_pointer(n % t->words);
}

static bool prepared;

#ifdef API_PEER
static void *calloc_prepared(size_t count, size_t size, GC_descr descriptor)
{
    return GC_calloc_explicitly_typed(count, size, descriptor);
}

static void check_prepared(void)
{
}
#else
/* The second of two that one preparation makes. */
static void *calloc_prepared(size_t count, size_t size, GC_descr descriptor)
{
    struct GC_calloc_typed_descr_s plan, copy;

    API_CHILD(GC_calloc_prepare_explicitly_typed(&plan, sizeof plan, count, size, descriptor) == 1);
    copy = plan;
    memset(GC_calloc_do_explicitly_typed(&plan, sizeof plan), 255, count * size);
    return GC_calloc_do_explicitly_typed(&copy, sizeof copy);
}

static int refused;

static void *refuse_too_large(size_t bytes)
{
    refused += bytes == SIZE_MAX;
    return NULL;
}

static void prepare_too_large(void)
{
    struct GC_calloc_typed_descr_s plan;

    GC_set_oom_fn(refuse_too_large);
    API_CHILD(GC_calloc_prepare_explicitly_typed(&plan, sizeof plan, SIZE_MAX / 4, 16, 0) == 0);
    API_CHILD(refused == 0 && GC_calloc_do_explicitly_typed(&plan, sizeof plan) == NULL && refused == 1);
    API_CHILD(GC_calloc_prepare_explicitly_typed(&plan, sizeof plan, 0, 16, 0) == 1);
    API_CHILD(GC_calloc_do_explicitly_typed(&plan, sizeof plan) != NULL);
}

static void prepare_other_struct(void)
{
    struct GC_calloc_typed_descr_s plan;

    API_CHILD(GC_calloc_prepare_explicitly_typed(&plan, sizeof plan - 8, 1, 16, 0) == 0);
}

static void do_other_struct(void)
{
    struct GC_calloc_typed_descr_s plan = { { 1 }, { 1 } };

    API_CHILD(GC_calloc_do_explicitly_typed(&plan, 0) == NULL);
}

static void check_prepared(void)
{
    api_check_started(prepare_too_large, NULL, "arrays that are prepared and too large: no memory for them");
    api_check_started(prepare_other_struct, "a struct of 56 bytes; 64 are expected", "another struct is reported");
    api_check_started(do_other_struct, "a struct of 0 bytes", "and so when an array is made");
}
#endif

static void *make(void *arg)
{
    const struct type *t = arg;
    void **object;

    object = t->count == 0 ? GC_malloc_explicitly_typed(t->words * sizeof *object, describe(t))
                           : (prepared ? calloc_prepared : GC_calloc_explicitly_typed)(t->count, t->words * sizeof *object,
                                                                                       describe(t));
    for (size_t n = 0; n < all_words(t); n++)
        API_CHILD(object[n] == NULL);
    for (size_t n = 0, place = 0; n < all_words(t); n += t->step, place++) {
        object[n] = GC_malloc_atomic(API_LARGE);
        (leads_on(t, n) ? kept : lost)[place] = GC_HIDE_POINTER(object[n]);
    }
    root = object;
    return arg;
}

/* Of some arrays bdwgc follows more words than it has to. */
static void check_type(const struct type *t)
{
    int expected = 0;

    memset(kept, 0, MOST * sizeof *kept);
    memset(lost, 0, MOST * sizeof *lost);
    for (size_t n = 0; n < all_words(t); n += t->step)
        expected += leads_on(t, n);
    api_make_in_thread(make, (void *)(uintptr_t)t);
    API_CHILD(api_survive(kept, MOST) == expected);
    API_CHILD(api_alive(lost, MOST) <= 1 || (t->count != 0 && !api_on_sgc));
    root = NULL;
    API_CHILD(api_survive(kept, MOST) <= 1);
}

static bool never(size_t n) { (void)n; return false; }
static bool always(size_t n) { (void)n; return true; }
static bool even(size_t n) { return n % 2 == 0; }
static bool third(size_t n) { return n % 3 == 2; }
static bool late(size_t n) { return n >= 60 && n % 2 == 1; }

static void start(void)
{
    GC_INIT();
    kept = api_outside(MOST * sizeof *kept);
    lost = api_outside(MOST * sizeof *lost);
}

static void check_bitmaps(void)
{
    static const struct type types[] = {
        { 4, 4, 1, never, 0 },        { 4, 4, 1, always, 0 },      { 4, 4, 1, even, 0 },        { 3, 3, 1, third, 0 },
        { 10, 5, 1, always, 0 },      { 10, 5, 1, even, 0 },       { 61, 61, 1, third, 0 },     { 62, 62, 1, even, 0 },
        { 63, 63, 1, even, 0 },       { 64, 64, 1, third, 0 },     { 65, 65, 1, even, 0 },      { 127, 126, 1, even, 0 },
        { 200, 189, 1, third, 0 },    { 200, 200, 1, late, 0 },    { 200, 190, 1, never, 0 },   { 200, 150, 1, always, 0 },
        { 5000, 5000, 19, third, 0 }, { 5000, 4099, 20, even, 0 }, { 5000, 4100, 21, late, 0 }, { 5000, 40, 23, even, 0 },
    };

    start();
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        check_type(&types[i]);
}

static void check_arrays(void)
{
    static const struct type arrays[] = {
        { 4, 4, 1, even, 1 },      { 4, 4, 1, even, 5 },         { 3, 3, 1, third, 20 },     { 3, 3, 1, third, 21 },
        { 7, 7, 1, even, 50 },     { 1, 1, 7, always, 300 },     { 3, 3, 11, never, 300 },   { 3, 3, 7, third, 1000 },
        { 3, 3, 101, third, 40000 }, { 100, 100, 3, even, 20 },  { 150, 150, 101, late, 700 }, { 2, 2, 901, even, 400000 },
        { 4000, 4000, 11, third, 3 },
    };

    start();
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        check_type(&arrays[i]);
}

/* ---- lengths that are no whole granules ---- */

enum { BEHIND = 100 };

/* Two words lead on: the first, so that a marker has nothing else in hand, and the one behind the described ones, which
 * must not count. */
static void *make_behind(void *length)
{
    GC_word bits[2] = { ~(GC_word)0, ((GC_word)1 << (*(size_t *)length - 64)) - 1 };
    GC_descr d = GC_make_descriptor(bits, *(size_t *)length);
    void ***all = root;

    for (int i = 0; i < BEHIND; i++) {
        void **object = GC_malloc_explicitly_typed((*(size_t *)length + 3) * sizeof *object, d);

        all[i] = object;
        object[0] = GC_malloc(1000);
        object[*(size_t *)length] = GC_malloc_atomic(API_LARGE);
        lost[i] = GC_HIDE_POINTER(object[*(size_t *)length]);
    }
    return length;
}

static void just_so_long(void)
{
    lost = api_outside(BEHIND * sizeof *lost);
    for (size_t length = 65; length <= 68; length++) {
        root = GC_malloc(BEHIND * sizeof(void *));
        api_make_in_thread(make_behind, &length);
        API_CHILD(api_survive(lost, BEHIND) <= 2);
    }
}

/* ---- what only SGC promises ---- */

/* What is freed is not used again before a collection, so collections must come. */
static void freed(void)
{
    GC_word bit = 1;
    GC_descr d;

    GC_INIT();
    d = GC_make_descriptor(&bit, 1);
    for (int i = 0; i < 2000000; i++)
        GC_free(GC_malloc_explicitly_typed(64, d));
    API_CHILD(GC_get_heap_size() < 64 << 20);
}

static GC_word two_bits = 5;

static void sizes(void)
{
    for (size_t size = 0; size < 40000; size = size * 9 / 8 + 1) {
        GC_descr d = GC_make_descriptor(&two_bits, 3);
        char *object = GC_malloc_explicitly_typed(size, d), *near = GC_malloc_explicitly_typed_ignore_off_page(size, d);
        char *array = GC_calloc_explicitly_typed(size / 24 + 1, 24, d);

        API_CHILD(GC_size(object) >= size && GC_base(object + size) == object && GC_size(near) >= size);
        API_CHILD(GC_size(array) >= (size / 24 + 1) * 24 && GC_base(array + (size / 24 + 1) * 24) == array);
        memset(object, 255, GC_size(object));
        memset(array, 255, GC_size(array));
        API_CHILD(GC_size(object) >= size && GC_size(array) >= size);
        GC_gcollect();
        GC_free(object);
        GC_free(near);
    }
}

/* ---- resizing: words up to the last pointer keep their meaning, added ones may be pointers ---- */

struct form {
    size_t element;             /* words; 0: no array; WHOLE: one element, with an even bitmap */
    size_t bits;                /* of two_bits */
};

enum { WHOLE = 1000 };

static const struct form plain = { 0, 3 }, plain_all = { 0, 1 }, pairs = { 2, 2 }, pointers = { 1, 1 }, no_pointers = { 1, 0 },
                         long_one = { WHOLE, 0 };

struct resizing {
    size_t from, to;            /* words */
    size_t lost;                /* the place of a word that is none, if there is one */
    size_t kept;                /* and of a pointer */
    const struct form *form;
};

static void put(void **object, size_t n, GC_hidden_pointer *places)
{
    object[n] = GC_malloc_atomic(API_LARGE);
    places[0] = GC_HIDE_POINTER(object[n]);
}

static void **make_form(const struct form *f, size_t words)
{
    const struct type whole = { words, words, 1, even, 0 };

    if (f->element == 0)
        return GC_malloc_explicitly_typed(words * sizeof(void *), GC_make_descriptor(&two_bits, f->bits));
    if (f->element == WHOLE)
        return GC_calloc_explicitly_typed(1, words * sizeof(void *), describe(&whole));
    return GC_calloc_explicitly_typed(words / f->element, f->element * sizeof(void *), GC_make_descriptor(&two_bits, f->bits));
}

static void *make_resized(void *arg)
{
    const struct resizing *r = arg;
    void **object = make_form(r->form, r->from);

    object[0] = object;
    object = GC_realloc(object, r->to * sizeof *object);
    for (size_t n = 1; n < r->to; n++)
        API_CHILD(object[n] == NULL);
    object[0] = NULL;
    GC_disable();
    put(object, r->kept, kept);
    if (r->lost != 0)
        put(object, r->lost, lost);
    root = object;
    GC_enable();
    return arg;
}

static void check_resized(const struct resizing *r)
{
    memset(kept, 0, sizeof *kept);
    memset(lost, 0, sizeof *lost);
    api_in_thread(make_resized, (void *)(uintptr_t)r);
    api_collect();
    if (api_alive(kept, 1) != (r->form != &no_pointers) || api_alive(lost, 1) != 0)
        fprintf(stderr, "resized from %zu to %zu words: kept %d, lost %d\n", r->from, r->to, api_alive(kept, 1),
                api_alive(lost, 1));
    API_CHILD(api_alive(kept, 1) == (r->form != &no_pointers) && api_alive(lost, 1) == 0);
    root = NULL;
}

static void resized(void)
{
    static const struct resizing cases[] = {
        { 3, 3, 1, 2, &plain },          { 3, 50, 1, 2, &plain },         { 3, 50, 1, 49, &plain },
        { 3, 62, 1, 61, &plain },        { 3, 63, 0, 62, &plain },        { 3, 125, 0, 124, &plain },
        { 40, 5, 1, 2, &plain },         { 40, 2, 0, 0, &plain },         { 1, 40, 0, 39, &plain_all },
        { 8, 16, 1, 14, &pairs },        { 8, 16, 5, 8, &pairs },         { 8, 10, 1, 8, &pairs },
        { 50, 54, 1, 52, &pairs },       { 50, 200, 0, 198, &pairs },     { 50, 6, 5, 4, &pairs },
        { 200, 20, 1, 18, &pairs },      { 200, 2000, 1, 1998, &pairs },  { 2000, 20000, 19999, 19998, &pairs },
        { 8, 9, 0, 8, &pointers },       { 8, 100, 0, 99, &pointers },    { 100, 8, 0, 7, &pointers },
        { 300, 330, 0, 329, &pointers }, { 100, 200, 0, 198, &long_one }, { 100, 90, 1, 88, &long_one },
        { 8, 16, 0, 14, &no_pointers },  { 8, 500, 0, 1, &no_pointers },
    };

    start();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_resized(&cases[i]);
}

static void *out_of_memory(size_t size)
{
    API_CHILD(size >= SIZE_MAX / 4);
    return NULL;
}

/* Hidden from the compiler, which knows how large objects may be. */
static volatile size_t half = SIZE_MAX / 2, huge = SIZE_MAX;

static void overflow(void)
{
    GC_set_oom_fn(out_of_memory);
    API_CHILD(GC_calloc_explicitly_typed(half + 1, 8, GC_DS_BITMAP) == NULL);
    API_CHILD(GC_calloc_explicitly_typed(huge, 1, 0) == NULL && GC_calloc_explicitly_typed(huge / 8, 8, 0) == NULL);
    API_CHILD(GC_malloc_explicitly_typed(huge, 0) == NULL && GC_malloc_explicitly_typed(huge - 9, 0) == NULL);
    API_CHILD(GC_calloc_explicitly_typed(0, 8, GC_DS_BITMAP) != NULL && GC_calloc_explicitly_typed(8, 0, 0) != NULL);
}

/* Objects with a descriptor that makes no sense keep everything. */
static GC_descr nonsense;

static void *make_nonsense(void *arg)
{
    void **object = GC_calloc_explicitly_typed(2, *(size_t *)arg, nonsense);

    object[0] = GC_malloc_atomic(API_LARGE);
    kept[0] = GC_HIDE_POINTER(object[0]);
    root = object;
    return arg;
}

static void with_descriptor(GC_descr d, size_t size)
{
    if (kept == NULL)
        start();
    nonsense = d;
    api_in_thread(make_nonsense, &size);
    API_CHILD(api_survive(kept, 1) == 1);
}

static void overlong(void) { with_descriptor(GC_make_descriptor(&two_bits, half), 24); }
static void odd_elements(void) { with_descriptor(GC_make_descriptor(&two_bits, 3), 27); }
static void no_such_layout(void) { with_descriptor(GC_MAKE_PROC(63, 123456), 240); }
static void too_long(void) { nonsense = 1 << 20; start(); root = GC_malloc_explicitly_typed(100, 1 << 20); GC_gcollect(); }

static void nothing_wrong(void)
{
    start();
    API_CHILD(GC_make_descriptor(NULL, 0) == 0 && GC_make_descriptor(&two_bits, 0) == 0);
    API_CHILD(GC_malloc_explicitly_typed(0, 0) != NULL);
}

static void bad_input(void)
{
    api_check_child_of(with_descriptor(GC_make_descriptor(NULL, 3), 24), "there is no bitmap", "NULL for a bitmap");
    api_check_child(overlong, "no object has so many words", "a bitmap that is too long");
    api_check_child(odd_elements, "a multiple of 8 is expected", "elements without a place for pointers");
    api_check_child(no_such_layout, "GC_make_descriptor never returned it", "a number that no layout has");
    api_check_child_of(with_descriptor(GC_MAKE_PROC(62, 0), 24), "is no descriptor", "the descriptor of an array");
    api_check_child_of(with_descriptor(GC_MAKE_PROC(40, 1), 24), "names a mark procedure", "a procedure that there is not");
    api_check_child(too_long, "a length beyond the object's end", "a length beyond the object");
    api_check_child(nothing_wrong, NULL, "no bits, no bytes");
}

/* ---- finalizers ---- */

enum { JUMPERS = 20 };

static jmp_buf out;
static volatile int jumps;

static void jump(TEST_UNUSED void *object, TEST_UNUSED void *data)
{
    longjmp(out, 1);
}

static void make_jumpers(void)
{
    for (int i = 0; i < JUMPERS; i++)
        GC_register_finalizer(GC_malloc(API_LARGE), jump, NULL, NULL, NULL);
}

/* Typed objects come by a deeper way than GC_gcollect, whose finalizers are left by jumps. */
static void jumps_out(void)
{
    static const GC_word bitmap = 1;
    GC_descr descriptor = GC_make_descriptor(&bitmap, 1);
    volatile int tries = 0;

    GC_INIT();
    api_run(make_jumpers);
    scrub_stack();
    if (setjmp(out) != 0)
        jumps++;
    if (jumps == 0)
        GC_gcollect();
    while (jumps < JUMPERS && tries++ < 3000000)
        GC_malloc_explicitly_typed(64, descriptor);
    API_CHILD(jumps == JUMPERS);
}

static void check_prepared_arrays(void)
{
    prepared = true;
    check_arrays();
}

int main(void)
{
    api_check_child_with("GC_MARKERS=1", check_bitmaps, "bitmaps of all lengths, one marker");
    api_check_child_with("GC_MARKERS=8", check_bitmaps, "eight markers");
    api_check_child_with("GC_MARKERS=1", check_arrays, "arrays, one marker");
    api_check_child_with("GC_MARKERS=8", check_arrays, "arrays, eight markers");
    api_check_child_with("SGC_SPLIT_BYTES=0", check_arrays, "arrays, not split");
    api_check_child_with("SGC_MARK_STACK_LIMIT=64K", check_arrays, "arrays, a mark stack that is too small");
    api_check_child_with("GC_MARKERS=8", check_prepared_arrays, "arrays that are prepared");
    check_prepared();
    if (api_on_sgc) {
        api_check_started(just_so_long, NULL, "nothing behind the described words counts");
        api_check_child(freed, NULL, "what is freed does not pile up");
        api_check_child(sizes, NULL, "sizes: what the program may use is its own");
        api_check_child(resized, NULL, "GC_realloc: added words may be pointers, the others stay what they were");
        api_check_started(overflow, NULL, "too large");
        api_check_child(jumps_out, NULL, "after a jump out of a finalizer who allocates them runs the others");
        bad_input();
    }
    return tap_done();
}
