/* SPDX-License-Identifier: MIT */
/*
 * Boxed pointers: the address in the low bits, a tag above, as in values that are numbers otherwise.  Nothing that they lead
 * to is lost, whatever holds them, and what they lead to no more goes; shifted ones, and such with tags at both ends.  In
 * children, with the program stopped and beside it, with several markers, under torture.
 */
#include "api.h"

#include <gc/gc_backptr.h>
#include <gc/gc_typed.h>
#include <sgc.h>

#include "../lib/sanitized.h"

#define BESIDE "SGC_MODE=concurrent GC_PAUSE_TIME_TARGET=0"

enum { CELLS = TEST_SANITIZED ? 20000 : 500000, FEW = 3000, ROUNDS = 4, HOLDERS = 7, PLACES = 6, EACH = 40 };

static const GC_word TAG = UINT64_C(0xfff8000000000000), ADDRESS = UINT64_C(0x0000ffffffffffff);

/* How this child writes pointers: (address >> shift) | tag. */
static GC_word tag, mask;
static unsigned shift;

struct cell {
    GC_word number;
    GC_word next;               /* boxed */
};

static GC_word *volatile table; /* plain; its words are boxed */

static GC_word box(const void *object)
{
    return (GC_word)object >> shift | tag;
}

static void *unbox(GC_word word)
{
    return (void *)((word & mask) << shift);
}

static void begin(GC_word tag_bits, GC_word address_bits, unsigned shift_bits)
{
    tag = tag_bits, mask = address_bits, shift = shift_bits;
    GC_set_pointer_shift(shift);        /* before it, */
    GC_INIT();
    GC_set_pointer_mask(mask);          /* and after it */
    API_CHILD(GC_get_pointer_mask() == mask && GC_get_pointer_shift() == shift);
}

static struct cell *make(GC_word next, GC_word number, bool typed)
{
    static GC_descr type;
    const GC_word second_word = 2;
    struct cell *cell;

    if (type == 0)
        type = GC_make_descriptor(&second_word, 2);
    cell = typed ? GC_malloc_explicitly_typed(sizeof *cell, type) : GC_malloc(sizeof *cell);
    API_CHILD(cell != NULL);
    *cell = (struct cell){ number, next };
    return cell;
}

static void check_whole(GC_word cells)
{
    for (GC_word i = 0; i < cells; i++) {
        const struct cell *cell = unbox(table[i]), *next = unbox(cell->next);

        API_CHILD(cell->number == i && next->number == i + cells);
    }
}

/* In each round some cells are new, and those they replace are garbage: twice as many pointers as cells. */
static void keep(GC_word cells)
{
    GC_word cycles = GC_get_gc_no();

    table = GC_malloc(cells * sizeof *table);
    for (GC_word round = 0; round < ROUNDS; round++) {
        for (GC_word i = 0; i < cells; i++)
            if (round == 0 || i % 3 == round % 3)
                table[i] = box(make(box(make(0, i + cells, i % 2 == 0)), i, i % 5 == 0));
        check_whole(cells);
    }
    GC_gcollect();
    check_whole(cells);
    API_CHILD(GC_get_gc_no() > cycles);
}

/* What they lead to goes with them. */
static void drop(GC_word cells)
{
    size_t with = GC_get_heap_size() - GC_get_free_bytes();

    for (GC_word i = 0; i < cells; i++)
        table[i] = i | tag;
    api_collect();
    API_CHILD(GC_get_heap_size() - GC_get_free_bytes() < with / 2);
}

static void keep_and_drop(GC_word cells)
{
    keep(cells);
    drop(cells);
}

static void boxed(void)
{
    begin(TAG, ADDRESS, 0);
    keep_and_drop(CELLS);
}

static void boxed_few(void)
{
    begin(TAG, ADDRESS, 0);
    keep_and_drop(FEW);
}

/* The mask takes bits away that an object's first byte has, so words lead to two places. */
static void tagged_below(void)
{
    begin(TAG | 5, ADDRESS & ~(GC_word)7, 0);
    keep_and_drop(CELLS / 10);
}

static void shifted(void)
{
    begin(UINT64_C(0x5a) << 56, ADDRESS >> 4, 4);
    keep_and_drop(CELLS / 10);
}

/* ---- all that may hold one ---- */

static GC_word volatile in_data[EACH];
static _Thread_local GC_word volatile in_thread[EACH];
static GC_hidden_pointer hidden[HOLDERS][EACH];

static GC_word boxed_large(GC_hidden_pointer *place)
{
    return box(api_large(place));
}

static void *hold(void *places)
{
    GC_word *const *place = places;

    for (int i = 0; i < EACH; i++) {
        void *first = GC_malloc(16);

        in_data[i] = boxed_large(&hidden[0][i]);
        for (int p = 0; p < 4; p++)
            place[p][i] = boxed_large(&hidden[1 + p][i]);
        place[4][i] = (GC_word)first;
        GC_register_finalizer_no_order(first, api_ignore, (void *)boxed_large(&hidden[5][i]), NULL, NULL);
        place[5][i] = (GC_word)api_large(&hidden[6][i]);        /* plain */
    }
    return NULL;
}

static void check_held(bool kept)
{
    for (int h = 0; h < HOLDERS; h++) {
        int alive = api_alive(hidden[h], EACH);

        if (kept ? alive != EACH : alive > 3)
            fprintf(stderr, "holder %d: %d\n", h, alive);
        API_CHILD(kept ? alive == EACH : alive <= 3);
    }
}

/* Static and thread-local data, an added root, uncollectable and described objects; a finalizer's data, which goes with the
 * object; and plain words. */
static void holders(void)
{
    const size_t bytes = EACH * sizeof(GC_word);
    const GC_word all = ~(GC_word)0;
    GC_word *place[PLACES];

    begin(TAG, ADDRESS, 0);
    for (int p = 0; p < PLACES; p++)
        place[p] = GC_malloc_uncollectable(bytes);
    place[0] = (GC_word *)in_thread;
    place[1] = api_outside(bytes);
    GC_add_roots(place[1], (char *)place[1] + bytes);
    table = place[2] = GC_malloc_explicitly_typed(bytes, GC_make_descriptor(&all, EACH));
    api_make_in_thread(hold, place);
    api_collect();
    check_held(true);
    for (int p = 0; p < PLACES; p++)
        memset(place[p], 0, bytes);
    memset((void *)(GC_word)in_data, 0, bytes);
    api_collect();
    GC_invoke_finalizers();
    api_collect();
    check_held(false);
}

/* Questions about what holds an object follow boxed words, too. */
static void questions(void)
{
    struct cell *inner;
    void *base = NULL;
    size_t offset = 0;

    begin(TAG, ADDRESS, 0);
    table = GC_malloc(sizeof *table);
    inner = make(0, 1, false);
    table[0] = box(inner);
    API_CHILD(SGC_find_way(inner, NULL, NULL) != SGC_HELD_BY_NOTHING);
    API_CHILD(GC_get_back_ptr_info(inner, &base, &offset) == GC_REFD_FROM_HEAP && base == table && offset == 0);
}

/* ---- mistakes ---- */

static void without_bits(void)
{
    GC_set_pointer_mask(0);
    API_CHILD(GC_get_pointer_mask() == ~(GC_word)0);
}

static void shift_by_all(void)
{
    GC_set_pointer_shift(64);
    API_CHILD(GC_get_pointer_shift() == 0);
}

static void too_late(void)
{
    void *volatile object = GC_malloc(16);

    API_CHILD(object != NULL);
    GC_set_pointer_mask(ADDRESS);
    GC_set_pointer_shift(0);            /* as it is */
    API_CHILD(GC_get_pointer_mask() == ~(GC_word)0);
}

static void the_tags(void)
{
    void *volatile object;

    GC_set_pointer_mask(~ADDRESS);
    object = GC_malloc(16);
    GC_gcollect();
    GC_gcollect();
    API_CHILD(GC_base(object) == object);
}

int main(void)
{
    api_check_child_with("SGC_MODE=stop GC_MARKERS=1", boxed, "a million boxed pointers, one marker");
    api_check_child_with("SGC_MODE=stop GC_MARKERS=4", boxed, "four markers");
    api_check_child_with(BESIDE " GC_MARKERS=2 SGC_VERIFY=marks", boxed, "beside the program");
    api_check_child_with("SGC_TORTURE=500 GC_MARKERS=2", boxed_few, "under torture");
    api_check_child_with(BESIDE " SGC_TORTURE=500", boxed_few, "under torture, beside the program");
    api_check_child_with("SGC_MARK_STACK_LIMIT=64K", boxed, "a mark stack that is too small");
    api_check_child_with("GC_ALL_INTERIOR_POINTERS=0", boxed_few, "no interior pointers");
    api_check_child_with("SGC_END_BYTE=roots", boxed_few, "without the end byte");
    api_check_child_with(NULL, tagged_below, "tags below, too");
    api_check_child_with("GC_ALL_INTERIOR_POINTERS=0", tagged_below, "tags below, no interior pointers");
    api_check_child_with(NULL, shifted, "shifted pointers");
    api_check_child_with("SGC_TORTURE=500 GC_MARKERS=2", holders, "all that may hold them");
    api_check_child_with("SGC_END_BYTE=roots", holders, "all that may hold them, without the end byte");
    api_check_child(questions, NULL, "ways to objects lead through them");
    api_check_child(without_bits, "GC_set_pointer_mask(0): no word would lead anywhere", "a mask without bits");
    api_check_child(shift_by_all, "GC_set_pointer_shift(64): expected less than", "a shift by all bits");
    api_check_child(too_late, "the program has objects already", "a mask that comes too late");
    api_check_child(the_tags, "no word leads to the heap", "the mask of the tags");
    return tap_done();
}
