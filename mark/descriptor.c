/* SPDX-License-Identifier: MIT */
/* See mark/descriptor.h. */
#include "mark/descriptor.h"

#include "alloc/object.h"
#include "mark/edge.h"
#include "mark/edge_bits.h"
#include "mark/layouts.h"
#include "mark/mark_procs.h"
#include "mark/noted.h"

_Static_assert((int)SGC_PIECE_DESCRIBED == (int)SGC_WORK_OBJECT, "pages say what a piece of their objects is");

_Thread_local struct sgc_marker *sgc_marker_here __attribute__((tls_model("initial-exec")));

enum {
    PART_WORDS = 64,            /* of a layout, */
    PART_BYTES = 4096,          /* and of an array, that are scanned before the rest */
};

/* The memory that a descriptor describes. */
struct subject {
    uintptr_t start;            /* a multiple of 8 */
    size_t bytes;               /* SIZE_MAX: unknown, it is no object */
    bool quiet;                 /* the program may have changed it halfway, or freed it: nonsense in
                                 * it is no mistake */
    bool pushed;                /* a procedure has pushed it; no object is scanned */
};

typedef struct sgc_client_entry entry;

/* ---- beside the program ---- */

/* The program may have freed it after it was marked: no procedure sees it then. */
static bool is_freed(const struct sgc_marker *marker, struct subject s)
{
    struct sgc_object o;

    sgc_assert(marker->mode.program != SGC_MARK_CONCURRENT);
    return marker->mode.since_run && s.bytes != SIZE_MAX && !(sgc_object_slot(s.start, &o) && sgc_object_allocated(&o));
}

/* Of an object that only a stopped world lets scan, since a procedure is to be called, or memory of
 * the program's to be read that may be gone: its page is flagged, so that each stop to come scans
 * it.  False: now is such a stop, and it is still there. */
static bool put_off(struct sgc_marker *marker, struct subject s)
{
    if (marker->mode.program != SGC_MARK_STOPPED && s.bytes != SIZE_MAX)
        sgc_mark_later(marker, s.start);
    return marker->mode.program == SGC_MARK_CONCURRENT || is_freed(marker, s);
}

/* May a piece of that memory wait on the stack?  Memory outside the heap may be unmapped once the
 * program runs. */
static bool may_wait(const struct sgc_marker *marker, uintptr_t start)
{
    return marker->mode.program == SGC_MARK_STOPPED || sgc_heap_contains(start);
}

static void scan_words(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    sgc_assert(start % sizeof(uintptr_t) == 0);
    if (may_wait(marker, start))
        sgc_mark_words(marker, start, bytes);
    else
        sgc_scan_heap(marker, start, bytes);
}

/* ---- bitmaps ---- */

enum { MANY_EDGES = SGC_EDGES_MAX + SGC_COLLECT_WORDS - 64 };     /* with more there is no room for
                                                                   * those of a bitmap */

_Static_assert(MANY_EDGES + 2 * 64 + 1 <= sizeof ((struct sgc_marker *)0)->edge / sizeof(uintptr_t),
               "nor if each word leads to two addresses");

static void mark_edges(struct sgc_marker *marker, size_t n)
{
    if (n != 0)
        sgc_edges_mark(marker, n, marker->distances);
}

/* For collect_bits, where words are not plain. */
SGC_BLIND __attribute__((noinline))
static size_t collect_formed_bits(struct sgc_marker *marker, size_t n, const uintptr_t *p, const uintptr_t *end,
                                  uintptr_t bits)
{
    for (; bits != 0 && p < end; bits <<= 1, p++)
        if (bits >> 63 != 0)
            n = sgc_edge_append_formed(marker->edge, n, sgc_read_once((uintptr_t)p), marker->base, marker->limit);
    return n;
}

/* Of one object, the words before `end` whose bits are set: the first word's is the highest.  They
 * go behind the n edges collected before, for which there must be room: the result is what to pass
 * next time. */
SGC_BLIND static size_t collect_bits(struct sgc_marker *marker, size_t n, const uintptr_t *p, const uintptr_t *end,
                                     uintptr_t bits)
{
    sgc_assert(n <= MANY_EDGES);
    if (__builtin_expect(!marker->plain, 0)) {
        n = collect_formed_bits(marker, n, p, end, bits);
        bits = 0;
    }
    for (; bits != 0 && p < end; bits <<= 1, p++) {
        if (bits >> 63 != 0)
            n = sgc_edge_append(marker->edge, n, sgc_read_once((uintptr_t)p), marker->base, marker->limit);
    }
    if (n <= MANY_EDGES)
        return n;
    mark_edges(marker, n);
    return 0;
}

/* Scans those words of [start, end) whose bits are set. */
static void scan_bits(struct sgc_marker *marker, uintptr_t start, uintptr_t end, uintptr_t bits)
{
    sgc_assert(sgc_marker_marks(marker) && start % sizeof(uintptr_t) == 0 && start <= end);
    mark_edges(marker, collect_bits(marker, 0, (const uintptr_t *)start, (const uintptr_t *)end, bits));
}

/* Scans the words whose bits are set of each element, of `stride` bytes, of [start, end). */
static void scan_strides(struct sgc_marker *marker, uintptr_t start, uintptr_t end, size_t stride, uintptr_t bits)
{
    size_t n = 0;

    sgc_assert(sgc_marker_marks(marker) && stride != 0 && stride % sizeof(uintptr_t) == 0);
    for (uintptr_t at = start; at < end; at += stride)
        n = collect_bits(marker, n, (const uintptr_t *)at, (const uintptr_t *)(at + stride), bits);
    mark_edges(marker, n);
}

/* ---- descriptors ---- */

/* Each word may be a pointer: always right, since a procedure may only look at a part of them. */
static void scan_all(struct sgc_marker *marker, struct subject s, enum sgc_mark_fault why, uintptr_t descriptor)
{
    sgc_assert(s.start % sizeof(uintptr_t) == 0);
    if (why != SGC_FINE && !s.quiet)
        sgc_record_fault(why, s.start, descriptor);
    if (s.bytes != SIZE_MAX)
        scan_words(marker, s.start, s.bytes);
}

static void scan_length(struct sgc_marker *marker, struct subject s, size_t length)
{
    if (length > s.bytes) {
        scan_all(marker, s, SGC_BAD_LENGTH, length);
        return;
    }
    scan_words(marker, s.start, sgc_round_down(length, sizeof(uintptr_t)));
}

static void scan_bitmap(struct sgc_marker *marker, struct subject s, uintptr_t bits)
{
    size_t max = 64 * sizeof(uintptr_t);

    scan_bits(marker, s.start, s.start + (s.bytes < max ? s.bytes : max), bits);
}

/* Pushes the rest of an object or array, from `start` (a multiple of 8) on, so that it can be
 * stolen.  False: nothing is split in this mark, this memory may not wait, or there is no room. */
static bool leave(struct sgc_marker *marker, uintptr_t start, uintptr_t descriptor)
{
    sgc_assert(start % sizeof(uintptr_t) == 0);
    return marker->split_bytes != 0 && may_wait(marker, start) &&
           sgc_deque_push(&marker->stack, start | SGC_WORK_DESCRIBED, descriptor);
}

static bool more_than(const uintptr_t *words, size_t count)
{
    size_t n = 0;

    while (n < count && (words[n] & SGC_LAYOUT_MORE) != 0)
        n++;
    return n == count;
}

static void scan_layout(struct sgc_marker *marker, struct subject s, uintptr_t number)
{
    size_t stride = SGC_LAYOUT_BITS * sizeof(uintptr_t), max;
    const uintptr_t *words = sgc_layout_words(number, &max);
    uintptr_t end = s.bytes != SIZE_MAX ? s.start + s.bytes : UINTPTR_MAX;
    bool last = false;

    if (words != NULL && max > PART_WORDS && s.bytes > PART_WORDS * stride && more_than(words, PART_WORDS) &&
        leave(marker, s.start + PART_WORDS * stride, sgc_ds_proc(SGC_PROC_LAYOUT, number + PART_WORDS)))
        max = PART_WORDS;
    for (; words != NULL && max > 0 && s.start < end && !last; words++, max--, s.start += stride) {
        scan_bits(marker, s.start, end, *words & ~(uintptr_t)SGC_LAYOUT_MORE);
        last = (*words & SGC_LAYOUT_MORE) == 0;
    }
    if (words == NULL)
        scan_all(marker, s, number == SGC_LAYOUT_ALL ? SGC_FINE : SGC_NO_LAYOUT, sgc_ds_proc(SGC_PROC_LAYOUT, number));
}

/* The descriptor itself.  False if there is nothing to scan, or it has been seen to. */
static bool find_descriptor(struct sgc_marker *marker, struct subject s, uintptr_t *descriptor)
{
    enum sgc_descriptor_is is = sgc_descriptor_find(s.start, s.bytes, marker->mode.since_run, descriptor);

    if (is == SGC_DESCRIPTOR_OUTSIDE) {
        if (put_off(marker, s))
            return false;
        is = sgc_descriptor_find(s.start, s.bytes, false, descriptor);
    }
    if (is == SGC_DESCRIPTOR_NOWHERE)
        scan_all(marker, s, SGC_BAD_PLACE, *descriptor);
    return is == SGC_DESCRIPTOR_HERE;
}

/* ---- procedures ---- */

SGC_BLIND static void note_at(void *arg, uintptr_t at)
{
    (void)arg;
    sgc_assert(at % sizeof at == 0);
    sgc_note(SGC_NOTED_WORD, sgc_address_at(at));
}

/* Notes the words behind what a procedure has pushed: the entries behind `top` up to `result`; or,
 * NULL, nothing that makes sense, so that each word of the memory counts (`bytes`, SIZE_MAX:
 * unknown, none do). */
static void note_pushed(const entry *top, const entry *result, uintptr_t start, size_t bytes)
{
    sgc_assert(sgc_noting() && (result == NULL || result >= top));
    if (result == NULL)
        sgc_visit_pushed(start, bytes != SIZE_MAX ? bytes : 0, note_at, NULL);
    for (; result != NULL && top < result; top++)
        sgc_visit_pushed(top[1].start, top[1].descriptor, note_at, NULL);
}

static bool is_entry(const entry *top, const struct sgc_marker *marker)
{
    return (uintptr_t)top >= (uintptr_t)marker->client && (uintptr_t)top < (uintptr_t)(marker->client + SGC_CLIENT_ENTRIES) &&
           ((uintptr_t)top - (uintptr_t)marker->client) % sizeof *top == 0;
}

static struct GC_ms_entry *for_client(entry *e)
{
    return (struct GC_ms_entry *)(void *)e;
}

/* One at a time when objects are looked at again, since two markers may have the same one, and
 * while it is noted what they push.  NULL: it left the stack in no sensible state. */
static entry *call(struct sgc_marker *marker, sgc_mark_proc_t proc, struct subject s, uintptr_t descriptor, entry *top)
{
    bool noted = sgc_noting(), alone = noted || marker->again;
    entry *result;

    sgc_assert(is_entry(top, marker) && sgc_marker_here == NULL);
    if (alone)
        sgc_futex_lock(&sgc_noted_lock);
    if (noted)
        sgc_note(s.pushed ? SGC_NOTED_ENTRY : SGC_NOTED_OBJECT, s.start);
    sgc_marker_here = marker;
    result = (entry *)(void *)proc((unsigned long *)s.start, for_client(top), for_client(marker->client + SGC_CLIENT_ENTRIES),
                                   descriptor >> (SGC_DS_TAG_BITS + SGC_DS_PROC_BITS));
    sgc_marker_here = NULL;
    result = is_entry(result, marker) && result >= top ? result : NULL;
    if (noted) {
        note_pushed(top, result, s.start, s.bytes);
        sgc_note(SGC_NOTED_END, s.start);
    }
    if (alone)
        sgc_futex_unlock(&sgc_noted_lock);
    return result;
}

static entry *run_procedure(struct sgc_marker *marker, struct subject s, uintptr_t descriptor, entry *top)
{
    sgc_mark_proc_t proc = sgc_mark_proc_at(descriptor >> SGC_DS_TAG_BITS & (SGC_MARK_PROCS - 1));
    entry *result;

    if (put_off(marker, s))
        return top;
    if (proc == NULL) {
        scan_all(marker, s, SGC_NO_PROCEDURE, descriptor);
        return top;
    }
    result = call(marker, proc, s, descriptor, top);
    if (result != NULL)
        return result;
    scan_all(marker, s, SGC_BAD_STACK, descriptor);
    return top;
}

/* ---- anything ---- */

/* Scans memory by a descriptor that does not lead to another one.  The caller still has to scan the
 * entries of the marker's client buffer up to the result. */
static entry *scan_by(struct sgc_marker *marker, struct subject s, uintptr_t descriptor, entry *top)
{
    if (sgc_ds_is_proc(descriptor, SGC_PROC_LAYOUT))
        scan_layout(marker, s, sgc_ds_environment(descriptor));
    else if ((descriptor & SGC_DS_TAGS) == SGC_DS_PROC)
        return run_procedure(marker, s, descriptor, top);
    else if ((descriptor & SGC_DS_TAGS) == SGC_DS_BITMAP)
        scan_bitmap(marker, s, descriptor & ~(uintptr_t)SGC_DS_TAGS);
    else
        scan_length(marker, s, descriptor);
    return top;
}

static void scan_array(struct sgc_marker *marker, struct subject s, uintptr_t descriptor, entry *top);

static entry *scan(struct sgc_marker *marker, struct subject s, uintptr_t descriptor, entry *top)
{
    if (!find_descriptor(marker, s, &descriptor))
        return top;
    if (!sgc_ds_is_proc(descriptor, SGC_PROC_ARRAY))
        return scan_by(marker, s, descriptor, top);
    scan_array(marker, s, descriptor, top);
    return top;
}

/* Finds the memory of a pushed entry, which may be a part of an object, or lie outside the heap.
 * False: the entry makes no sense. */
static bool subject_at(uintptr_t start, uintptr_t descriptor, bool quiet, struct subject *s)
{
    struct sgc_object o;

    *s = (struct subject){ start, SIZE_MAX, quiet, true };
    if (sgc_heap_contains(start) && sgc_object_slot(start, &o))
        s->bytes = o.start + o.bytes - start;
    if (start >= SGC_NO_ADDRESS && (s->bytes != SIZE_MAX || !sgc_heap_contains(start)))
        return true;
    if (!quiet)
        sgc_record_fault(SGC_BAD_ENTRY, start, descriptor);
    return false;
}

/* From between two words: from the next one on, as many bytes as a length says; other descriptors
 * make no sense there. */
static entry *scan_uneven(struct sgc_marker *marker, struct subject s, uintptr_t descriptor, entry *top)
{
    size_t skip = sizeof(uintptr_t) - s.start % sizeof(uintptr_t);
    bool length = (descriptor & SGC_DS_TAGS) == SGC_DS_LENGTH;

    sgc_assert(s.start % sizeof(uintptr_t) != 0);
    if (s.bytes <= skip || (length && descriptor <= skip))
        return top;
    s.start += skip;
    s.bytes -= s.bytes != SIZE_MAX ? skip : 0;
    if (length)
        return scan(marker, s, sgc_round_down(descriptor - skip, sizeof(uintptr_t)), top);
    scan_all(marker, s, SGC_UNEVEN_ENTRY, descriptor);
    return top;
}

static entry *scan_entry(struct sgc_marker *marker, entry e, bool quiet, entry *top)
{
    struct subject s;

    if (!subject_at(e.start, e.descriptor, quiet, &s))
        return top;
    if (e.start % sizeof(uintptr_t) != 0)
        return scan_uneven(marker, s, e.descriptor, top);
    return scan(marker, s, e.descriptor, top);
}

/* Leaves an entry on the marker's own stack, where it can be stolen.  False: there is no room, or
 * the program may run before it is popped. */
static bool leave_entry(struct sgc_marker *marker, entry e)
{
    return e.start % sizeof(uintptr_t) == 0 && marker->mode.program == SGC_MARK_STOPPED &&
           sgc_deque_push(&marker->stack, e.start | SGC_WORK_DESCRIBED, e.descriptor);
}

/* Leaves the entries that procedures pushed, or scans them at once.  The place of the entry that is
 * taken is free then, so a procedure always finds one. */
static void take_over(struct sgc_marker *marker, const entry *bottom, entry *top)
{
    sgc_assert(is_entry(bottom, marker) && is_entry(top, marker) && bottom <= top);
    while (top > bottom) {
        entry e = *top--;

        if (!leave_entry(marker, e))
            top = scan_entry(marker, e, false, top);
    }
}

/* ---- what is pushed by functions ---- */

/* A descriptor with which no procedure need be called: where one would decide, each word counts. */
static uintptr_t without_procedure(struct subject s, uintptr_t descriptor)
{
    if ((descriptor & SGC_DS_TAGS) != SGC_DS_PROC || sgc_ds_is_proc(descriptor, SGC_PROC_LAYOUT))
        return descriptor;
    if (s.bytes != SIZE_MAX)
        return sgc_round_down(s.bytes, sizeof(uintptr_t));
    sgc_record_fault(SGC_NO_ROOM, s.start, descriptor);
    return 0;
}

/* While a procedure runs, or another call of one could not be noted.  `note`: notes the words. */
static void scan_now(struct sgc_marker *marker, entry e, bool note)
{
    bool even = e.start % sizeof(uintptr_t) == 0;
    struct subject s;

    if (!subject_at(e.start, e.descriptor, false, &s) || (even && !find_descriptor(marker, s, &e.descriptor)))
        return;
    if (even)
        e.descriptor = without_procedure(s, e.descriptor);
    if (note)
        sgc_visit_pushed(e.start, e.descriptor, note_at, NULL);
    if (even)
        scan_by(marker, s, e.descriptor, marker->client);
    else
        scan_uneven(marker, s, e.descriptor, marker->client);
}

/* A snapshot has the words already, but those that procedures decide about: these are noted as they
 * run, which must be after the hook. */
void sgc_mark_described(struct sgc_marker *marker, uintptr_t start, uintptr_t descriptor)
{
    entry e = { start, descriptor };

    sgc_assert(sgc_marker_marks(marker) && sgc_marker_here == NULL);
    if (leave_entry(marker, e))
        return;
    if (sgc_noting())
        scan_now(marker, e, false);
    else
        take_over(marker, marker->client, scan_entry(marker, e, false, marker->client));
}

struct sgc_client_entry *sgc_push_for_procedure(struct sgc_client_entry *top, uintptr_t start, uintptr_t descriptor)
{
    struct sgc_marker *marker = sgc_marker_here;
    entry e = { start, descriptor };

    sgc_assert(marker != NULL && sgc_marker_marks(marker));
    if (is_entry(top, marker) && is_entry(top + 1, marker)) {
        *++top = e;
        return top;
    }
    if (!leave_entry(marker, e))
        scan_now(marker, e, sgc_noting());
    else if (sgc_noting())
        sgc_visit_pushed(start, descriptor, note_at, NULL);
    return top;
}

void sgc_push_words_for_procedure(uintptr_t start, uintptr_t end)
{
    sgc_assert(sgc_marker_here != NULL && start % sizeof start == 0 && end % sizeof end == 0 && start <= end);
    for (uintptr_t at = start; at < end && sgc_noting(); at += sizeof at)
        note_at(NULL, at);
    scan_words(sgc_marker_here, start, end - start);
}

/* ---- arrays ---- */

static bool leave_elements(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    return leave(marker, start, sgc_ds_proc(SGC_PROC_ARRAY, bytes));
}

/* Leaves elements that others may take: halves of a large array, and all after the first part.  The
 * bytes to scan now. */
static size_t share_array(struct sgc_marker *marker, uintptr_t start, size_t bytes, size_t element)
{
    size_t part = element < PART_BYTES ? PART_BYTES / element * element : element;

    sgc_assert(element != 0);
    while (bytes > marker->split_bytes && bytes > part) {
        size_t first = sgc_round_up(bytes / element, 2) / 2 * element;

        if (!leave_elements(marker, start + first, bytes - first))
            return bytes;
        bytes = first;
    }
    return bytes > part && leave_elements(marker, start + part, bytes - part) ? part : bytes;
}

/* No element is an array again: a descriptor that says so is an error. */
static void scan_elements(struct sgc_marker *marker, struct subject array, size_t bytes, const struct sgc_array_end *end,
                          entry *top)
{
    size_t element = end->element_bytes;

    if ((end->element_descriptor & SGC_DS_TAGS) == SGC_DS_BITMAP) {
        scan_strides(marker, array.start, array.start + bytes, element, end->element_descriptor & ~(uintptr_t)SGC_DS_TAGS);
        return;
    }
    for (size_t at = 0; at < bytes; at += element) {
        struct subject s = { array.start + at, element, array.quiet, array.pushed };
        uintptr_t descriptor = end->element_descriptor;

        if (find_descriptor(marker, s, &descriptor))
            take_over(marker, top, scan_by(marker, s, descriptor, top));
    }
}

static void scan_array(struct sgc_marker *marker, struct subject s, uintptr_t descriptor, entry *top)
{
    size_t bytes = sgc_ds_environment(descriptor), max;
    struct sgc_array_end end;

    if (!sgc_array_end_of(s.start, s.bytes, &end)) {
        scan_all(marker, s, SGC_NO_PROCEDURE, descriptor);
        return;
    }
    max = (s.bytes - sizeof end) / end.element_bytes * end.element_bytes;
    if (bytes == 0 || bytes > max)
        bytes = max;
    scan_elements(marker, s, share_array(marker, s.start, bytes, end.element_bytes), &end, top);
}

/* ---- objects, and pieces of work ---- */

void sgc_scan_object(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    const struct sgc_kind *kind = sgc_kind_at(start);
    struct subject s = { start, bytes, marker->mode.program == SGC_MARK_CONCURRENT, false };

    sgc_assert(sgc_marker_marks(marker) && sgc_heap_contains(start));
    if (kind->scan == SGC_SCAN_DESCRIBED)
        take_over(marker, marker->client, scan(marker, s, sgc_descriptor_of(kind, bytes), marker->client));
    else if (kind->scan == SGC_SCAN_WORDS && marker->mode.program == SGC_MARK_STOPPED)
        sgc_scan_heap(marker, start, bytes);
    else if (kind->scan == SGC_SCAN_WORDS)
        sgc_mark_words(marker, start, bytes);
}

void sgc_scan_described(struct sgc_marker *marker, struct sgc_work work)
{
    uintptr_t start = work.start & ~(uintptr_t)SGC_WORK_KINDS;

    sgc_assert(sgc_marker_marks(marker) && sgc_work_ok(&work));
    if ((work.start & SGC_WORK_KINDS) == SGC_WORK_OBJECT)
        sgc_scan_object(marker, start, work.bytes);
    else
        take_over(marker, marker->client,
                  scan_entry(marker, (entry){ start, work.bytes }, marker->mode.since_run, marker->client));
}

/* Most often the object is a small one that is marked already. */
bool sgc_mark_for_procedure(uintptr_t word)
{
    struct sgc_marker *marker = sgc_marker_here;
    uintptr_t edge;

    if (marker == NULL)
        return false;
    if (sgc_noting())
        sgc_note(SGC_NOTED_WORD, word);
    edge = word - marker->base;
    if (edge < marker->limit && !sgc_bit_of(sgc_aw_load(&marker->marks[sgc_edge_word(edge)]), sgc_edge_granule(edge)))
        sgc_edge_mark(marker, edge);
    return true;
}

/* ---- the client's hook ---- */

static entry *call_hook(struct sgc_marker *marker, sgc_mark_hook_t hook)
{
    entry *result;

    sgc_assert(sgc_marker_here == NULL);
    if (sgc_noting()) {
        sgc_futex_lock(&sgc_noted_lock);
        sgc_note(SGC_NOTED_ENTRY, (uintptr_t)hook);
    }
    sgc_marker_here = marker;
    result = (entry *)(void *)hook(for_client(marker->client), for_client(marker->client + SGC_CLIENT_ENTRIES));
    sgc_marker_here = NULL;
    if (sgc_noting()) {
        note_pushed(marker->client, is_entry(result, marker) ? result : marker->client, 0, 0);
        sgc_note(SGC_NOTED_END, (uintptr_t)hook);
        sgc_futex_unlock(&sgc_noted_lock);
    }
    return result;
}

enum sgc_hook_result sgc_mark_by_hook(struct sgc_marker *marker, sgc_mark_hook_t hook)
{
    entry *result = call_hook(marker, hook);

    sgc_assert(sgc_marker_marks(marker) && marker->mode.program == SGC_MARK_STOPPED);
    if (!is_entry(result, marker))
        return SGC_HOOK_STRAYED;
    take_over(marker, marker->client, result);
    return result != marker->client ? SGC_HOOK_PUSHED : SGC_HOOK_CONTENT;
}
