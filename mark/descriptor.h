/* SPDX-License-Identifier: MIT */
/*
 * Scanning objects by their descriptors, procedures of clients included.  On any marker.
 *
 * While the world runs no procedure is called, and no descriptor read that lies outside the object:
 * memory that a first word leads to may be unmapped (a module's type), or have changed its use (a
 * slot that is free by now).  Such an object's page is flagged instead, and all its marked objects
 * are scanned in each later stop until the mark is complete (mark/marker.h).  In a stop after
 * which the program may go on, entries that a procedure pushes are scanned on the spot, so that
 * nothing on the stack names memory outside the heap once it does.
 */
#ifndef SGC_MARK_DESCRIPTOR_H
#define SGC_MARK_DESCRIPTOR_H

#include "mark/marker.h"

/* The marker that runs a client's procedure on this thread; NULL: none does. */
SGC_INNER _Thread_local struct sgc_marker *sgc_marker_here __attribute__((tls_model("initial-exec")));

/* Scans a marked object, whatever its kind.  On the spot, but a large one may be left on the stack
 * in part. */
void sgc_scan_object(struct sgc_marker *marker, uintptr_t start, size_t bytes);

enum { SGC_NO_ADDRESS = 4096 };         /* below, nothing is ever mapped */
enum { SGC_DESCRIPTOR_HOPS = 8 };       /* descriptors that say where the descriptor is, one after
                                         * the other, at most */

/* The kind of the object that begins there, and what that says of one of so many bytes. */
static inline const struct sgc_kind *sgc_kind_at(uintptr_t start)
{
    return &sgc_kinds.of[sgc_heap.pages[sgc_page_number(start)].kind];
}

static inline uintptr_t sgc_descriptor_of(const struct sgc_kind *kind, size_t bytes)
{
    return kind->descriptor + (kind->add_size ? bytes : 0);
}

/* If the piece is an object whose descriptor is a length of at most SGC_BATCH_BYTES, it becomes
 * those words, which can be scanned in a batch with others.  False: it is another piece, and stays
 * as it is. */
bool sgc_described_words(const struct sgc_marker *marker, struct sgc_work *work);

/* Does a piece of work of the kinds SGC_WORK_OBJECT and SGC_WORK_DESCRIBED. */
void sgc_scan_described(struct sgc_marker *marker, struct sgc_work work);

/* Calls visit(arg, address) for each word of an object of that kind that a collection would take
 * for a pointer, for questions.  Of one that a client's procedure scans, or whose descriptor makes
 * no sense, each word, and false.  World stopped, caches retired. */
typedef void (*sgc_visit_word_t)(void *arg, uintptr_t address);
bool sgc_visit_words(uint32_t kind, uintptr_t start, size_t bytes, sgc_visit_word_t visit, void *arg);

/* Calls visit(arg, address) for the words about which no client's procedure decides, exactly as a
 * collection scans them.  False if a procedure decides about others.  World stopped, caches
 * retired.  The object may be dead: readable(address) is asked before a word outside of it is
 * read. */
typedef bool (*sgc_readable_t)(uintptr_t address);
bool sgc_visit_known_words(uint32_t kind, uintptr_t start, size_t bytes, sgc_visit_word_t visit, void *arg,
                           sgc_readable_t readable);

/* Calls visit(arg, address) for the words of an entry that a procedure has pushed, but those about
 * which another procedure decides.  On any marker, world stopped. */
void sgc_visit_pushed(uintptr_t start, uintptr_t descriptor, sgc_visit_word_t visit, void *arg);

/* Does a collection take the word, which points into the object, for a pointer to it?  `anywhere`:
 * all interior pointers count where the word lies; otherwise only registered displacements.  World
 * stopped. */
struct sgc_object;
bool sgc_word_keeps(uintptr_t word, const struct sgc_object *object, bool anywhere);

enum sgc_descriptor_is {
    SGC_DESCRIPTOR_HERE,
    SGC_DESCRIPTOR_NOT_YET,             /* the object is not set up yet and points at nothing */
    SGC_DESCRIPTOR_NOWHERE,             /* the place that is given for it makes no sense */
    SGC_DESCRIPTOR_OUTSIDE,             /* it is where the object's first word leads, and that was
                                         * not to be followed */
};

/* Follows descriptors that say where the object's descriptor is to the one that says something
 * itself.  `bytes` as the object has, SIZE_MAX: unknown.  `inside`: only within the object. */
enum sgc_descriptor_is sgc_descriptor_find(uintptr_t start, size_t bytes, bool inside, uintptr_t *descriptor);

/* Where such a descriptor lies, to which the object's first word leads; 0: the object is not set up
 * yet; 1: nowhere. */
uintptr_t sgc_descriptor_outside(uintptr_t start, uintptr_t descriptor);

/* The end of the array that the object is, or is the rest of. */
struct sgc_array_end;
bool sgc_array_end_of(uintptr_t start, size_t bytes, struct sgc_array_end *end);

/* Marks what a word of an object points at, for a procedure.  False if none runs on this thread. */
bool sgc_mark_for_procedure(uintptr_t word);

/* For the procedure that runs on this thread: pushes memory with a descriptor, and returns the new
 * top of the marker's client buffer.  If that is full the memory is left elsewhere, or scanned at
 * once: then, where a procedure would decide, each word counts. */
struct sgc_client_entry *sgc_push_for_procedure(struct sgc_client_entry *top, uintptr_t start, uintptr_t descriptor);

/* For that one, too: all words of a range count as those of objects do. */
void sgc_push_words_for_procedure(uintptr_t start, uintptr_t end);

/* Scans memory by a descriptor, or leaves it on the marker's stack: a root of this stop.  World
 * stopped; no procedure runs on this thread. */
void sgc_mark_described(struct sgc_marker *marker, uintptr_t start, uintptr_t descriptor);

/* Asks the client's hook what else is to be marked; what it has pushed waits on the marker's stack,
 * or is marked already.  World stopped for good, nobody else marks. */
struct GC_ms_entry;
typedef struct GC_ms_entry *(*sgc_mark_hook_t)(struct GC_ms_entry *top, struct GC_ms_entry *limit);
enum sgc_hook_result {
    SGC_HOOK_CONTENT,                   /* no entry */
    SGC_HOOK_PUSHED,                    /* entries, which may lead to nothing new */
    SGC_HOOK_STRAYED,                   /* what it returned is no place on the stack it got; entries
                                         * are lost */
};
enum sgc_hook_result sgc_mark_by_hook(struct sgc_marker *marker, sgc_mark_hook_t hook);

#endif
