/* SPDX-License-Identifier: MIT */
/*
 * The words of an object that may be pointers, for questions: what mark/descriptor.c scans, without
 * marking.  On the thread that has stopped the world.
 */
#include "mark/descriptor.h"

#include "alloc/object.h"
#include "mark/displacements.h"
#include "mark/edge.h"
#include "mark/layouts.h"

struct words {
    sgc_visit_word_t visit;
    void *arg;
    sgc_readable_t readable;    /* asked before a word outside the object is looked at; NULL: all
                                   can be read */
    bool leaves;                /* out what a procedure decides of */
    bool left;                  /* it has done so */
    bool certain;               /* a collection takes these for pointers, and no others */
};

/* `bytes`: SIZE_MAX if it is not known where the memory ends, here and below. */
static uintptr_t end_of(uintptr_t start, size_t bytes)
{
    return bytes != SIZE_MAX ? start + bytes : UINTPTR_MAX;
}

static void visit_all(struct words *w, uintptr_t start, size_t bytes)
{
    sgc_assert(start % sizeof(uintptr_t) == 0);
    if (bytes == SIZE_MAX)
        return;
    for (uintptr_t end = start + sgc_round_down(bytes, sizeof(uintptr_t)); start < end; start += sizeof(uintptr_t))
        w->visit(w->arg, start);
}

static void visit_uncertainly(struct words *w, uintptr_t start, size_t bytes)
{
    w->certain = false;
    visit_all(w, start, bytes);
}

/* The highest bit is the first word's. */
static void visit_bits(struct words *w, uintptr_t start, uintptr_t end, uintptr_t bits)
{
    sgc_assert(start % sizeof(uintptr_t) == 0);
    for (; bits != 0 && start + sizeof(uintptr_t) <= end; bits <<= 1, start += sizeof(uintptr_t))
        if ((intptr_t)bits < 0)
            w->visit(w->arg, start);
}

static void visit_layout(struct words *w, uintptr_t start, size_t bytes, uintptr_t number)
{
    size_t max;
    const uintptr_t *words = sgc_layout_words(number, &max);
    uintptr_t end = end_of(start, bytes);
    bool more = true;

    if (words == NULL)
        visit_all(w, start, bytes);
    for (; words != NULL && max > 0 && start < end && more; words++, max--, start += SGC_LAYOUT_BITS * sizeof(uintptr_t)) {
        visit_bits(w, start, end, *words & ~(uintptr_t)SGC_LAYOUT_MORE);
        more = (*words & SGC_LAYOUT_MORE) != 0;
    }
}

static void visit_by_procedure(struct words *w, uintptr_t start, size_t bytes, uintptr_t descriptor)
{
    if (w->leaves && sgc_mark_proc_at(descriptor >> SGC_DS_TAG_BITS & (SGC_MARK_PROCS - 1)) != NULL)
        w->left = true;
    else
        visit_uncertainly(w, start, bytes);
}

/* Visits the words that the descriptor itself names.  A procedure names its words only when it is
 * called, and is not called here. */
static void visit_by(struct words *w, uintptr_t start, size_t bytes, uintptr_t descriptor)
{
    if (sgc_ds_is_proc(descriptor, SGC_PROC_LAYOUT))
        visit_layout(w, start, bytes, sgc_ds_environment(descriptor));
    else if ((descriptor & SGC_DS_TAGS) == SGC_DS_PROC)
        visit_by_procedure(w, start, bytes, descriptor);
    else if ((descriptor & SGC_DS_TAGS) == SGC_DS_BITMAP)
        visit_bits(w, start, end_of(start, bytes), descriptor & ~(uintptr_t)SGC_DS_TAGS);
    else if ((descriptor & SGC_DS_TAGS) == SGC_DS_LENGTH && descriptor <= bytes)
        visit_all(w, start, descriptor);
    else
        visit_uncertainly(w, start, bytes);
}

/* Memory that a dead object led to may be unmapped: then the object counts as not set up yet. */
SGC_BLIND static enum sgc_descriptor_is find_readable(sgc_readable_t readable, uintptr_t start, size_t bytes,
                                                      uintptr_t *descriptor)
{
    enum sgc_descriptor_is is = sgc_descriptor_find(start, bytes, true, descriptor);

    for (int hops = 0; is == SGC_DESCRIPTOR_OUTSIDE; hops++) {
        uintptr_t place = sgc_descriptor_outside(start, *descriptor);

        if (hops == SGC_DESCRIPTOR_HOPS || place == 1)
            return SGC_DESCRIPTOR_NOWHERE;
        if (place == 0 || !readable(place))
            return SGC_DESCRIPTOR_NOT_YET;
        *descriptor = sgc_read_once(place);
        is = sgc_descriptor_find(start, bytes, true, descriptor);
    }
    return is;
}

/* The descriptor itself.  False if there is nothing to visit, or it has been seen to. */
static bool find_descriptor(struct words *w, uintptr_t start, size_t bytes, uintptr_t *descriptor)
{
    enum sgc_descriptor_is is = w->readable != NULL ? find_readable(w->readable, start, bytes, descriptor)
                                                    : sgc_descriptor_find(start, bytes, false, descriptor);

    if (is == SGC_DESCRIPTOR_NOWHERE)
        visit_uncertainly(w, start, bytes);
    return is == SGC_DESCRIPTOR_HERE;
}

/* `some`: bytes of the elements that are meant; 0: all. */
static void visit_array(struct words *w, uintptr_t start, size_t bytes, size_t some)
{
    struct sgc_array_end end;
    uintptr_t stop;
    size_t max;

    if (!sgc_array_end_of(start, bytes, &end)) {
        visit_uncertainly(w, start, bytes);
        return;
    }
    max = (bytes - sizeof end) / end.element_bytes * end.element_bytes;
    stop = start + (some != 0 && some < max ? some : max);
    for (; start < stop; start += end.element_bytes) {
        uintptr_t descriptor = end.element_descriptor;

        if (find_descriptor(w, start, end.element_bytes, &descriptor))
            visit_by(w, start, end.element_bytes, descriptor);
    }
}

static void visit_described(struct words *w, uintptr_t start, size_t bytes, uintptr_t descriptor)
{
    if (!find_descriptor(w, start, bytes, &descriptor))
        return;
    if (sgc_ds_is_proc(descriptor, SGC_PROC_ARRAY))
        visit_array(w, start, bytes, sgc_ds_environment(descriptor));
    else
        visit_by(w, start, bytes, descriptor);
}

static void visit_object(struct words *w, uint32_t kind, uintptr_t start, size_t bytes)
{
    const struct sgc_kind *k = &sgc_kinds.of[kind];

    sgc_assert(kind < sgc_kind_count() && start % sizeof(uintptr_t) == 0);
    if (k->scan == SGC_SCAN_DESCRIBED)
        visit_described(w, start, bytes, sgc_descriptor_of(k, bytes));
    else if (sgc_kind_has_pointers(kind))
        visit_all(w, start, bytes);
}

bool sgc_visit_words(uint32_t kind, uintptr_t start, size_t bytes, sgc_visit_word_t visit, void *arg)
{
    struct words w = { .visit = visit, .arg = arg, .certain = true };

    visit_object(&w, kind, start, bytes);
    sgc_assert(!w.left);
    return w.certain;
}

bool sgc_visit_known_words(uint32_t kind, uintptr_t start, size_t bytes, sgc_visit_word_t visit, void *arg,
                           sgc_readable_t readable)
{
    struct words w = { .visit = visit, .arg = arg, .readable = readable, .leaves = true };

    visit_object(&w, kind, start, bytes);
    return !w.left;
}

/* ---- what procedures push ---- */

/* From between two words: what a length has left of it, and all of the memory with other
 * descriptors. */
static void visit_uneven(struct words *w, uintptr_t start, size_t bytes, uintptr_t descriptor)
{
    size_t skip = sizeof(uintptr_t) - start % sizeof(uintptr_t);
    bool length = (descriptor & SGC_DS_TAGS) == SGC_DS_LENGTH;

    sgc_assert(start % sizeof(uintptr_t) != 0);
    if (bytes <= skip || (length && descriptor <= skip))
        return;
    bytes -= bytes != SIZE_MAX ? skip : 0;
    if (length)
        visit_described(w, start + skip, bytes, sgc_round_down(descriptor - skip, sizeof(uintptr_t)));
    else
        visit_all(w, start + skip, bytes);
}

void sgc_visit_pushed(uintptr_t start, uintptr_t descriptor, sgc_visit_word_t visit, void *arg)
{
    struct words w = { .visit = visit, .arg = arg, .leaves = true };
    size_t bytes = SIZE_MAX;
    struct sgc_object o;

    if (sgc_heap_contains(start) && sgc_object_slot(start, &o))
        bytes = o.start + o.bytes - start;
    if (start < SGC_NO_ADDRESS || (bytes == SIZE_MAX && sgc_heap_contains(start)))
        return;
    if (start % sizeof start != 0)
        visit_uneven(&w, start, bytes, descriptor);
    else
        visit_described(&w, start, bytes, descriptor);
}

bool sgc_word_keeps(uintptr_t word, const struct sgc_object *o, bool anywhere)
{
    const struct sgc_page *d = &sgc_heap.pages[o->page];
    size_t inside = word - o->start;

    sgc_assert(sgc_object_ok(o) && inside < o->bytes);
    if (o->span && d->limited && inside >= sgc_aw_load(&d->span_reach))
        return false;
    return anywhere || sgc_mark_distance_valid(o->start, inside);
}
