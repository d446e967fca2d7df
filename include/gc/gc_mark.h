/* SPDX-License-Identifier: MIT */
/*
 * What sits close to marking: hooks that run inside a collection, descriptors and mark procedures, objects by kind, the
 * heap object by object.  For runtimes of other languages; ordinary programs need none of it.
 */
#ifndef GC_MARK_H
#define GC_MARK_H

#include "gc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A hook, called by the collecting thread when a collection starts, before the world is stopped, with the allocation
 * lock held.  NULL: none.  Setter and getter take the lock. */
typedef void (GC_CALLBACK *GC_start_callback_proc)(void);
GC_API void GC_CALL GC_set_start_callback(GC_start_callback_proc hook);
GC_API GC_start_callback_proc GC_CALL GC_get_start_callback(void);

/* A hook, called with the world stopped, while roots are marked.  The client calls GC_push_all inside it for memory that is a
 * root in this collection.  NULL: none.  Call the hook that was set before, so that several clients can share it.  It may
 * allocate small objects, and register finalizers, which count from the end of the pause; nothing else that changes the heap.
 * There are sixteen pages of 64 KB for that, each for one kind and size of object, and twice as many as the hook used the last
 * time, at most 256; NULL beyond that. */
typedef void (GC_CALLBACK *GC_push_other_roots_proc)(void);
GC_API void GC_CALL GC_set_push_other_roots(GC_push_other_roots_proc hook);
GC_API GC_push_other_roots_proc GC_CALL GC_get_push_other_roots(void);

/* Marks from the words in [bottom, top).  The second takes every word for a possible interior pointer, as on
 * a stack; with interior pointers on they are the same.  Only inside the hook of GC_set_push_other_roots. */
GC_API void GC_CALL GC_push_all(void *bottom, void *top);
GC_API void GC_CALL GC_push_all_eager(void *bottom, void *top);

/* GC_push_all for memory of which only written parts matter, unless `all` is not zero.  SGC pushes everything. */
GC_API void GC_CALL GC_push_conditional(void *bottom, void *top, int all);

/* Marks from the words of memory that a descriptor (below) names, in an object or outside the heap; the object itself is not
 * marked.  Only inside that hook. */
GC_API void GC_CALL GC_push_obj_descr(void *object, GC_word descriptor);

/* Finalizers, and what they need, are looked at in every collection: this does nothing. */
GC_API void GC_CALL GC_push_finalizer_structures(void);

/* Calls push(bottom, top, data, hint) for the calling thread's stack from here to `base`, which has its registers, too: for a
 * marker of the client's own.  The hint is GC_CUSTOM_PUSH_HINT_EAGER: the words change once this has returned.  `cold_frame` is
 * not used.  A base below the calling frame is reported.  [unregistered, callback, signal; also before GC_INIT()] */
typedef void (GC_CALLBACK *GC_custom_push_proc)(void **bottom, void **top, void *data, unsigned hint);
#define GC_CUSTOM_PUSH_HINT_EAGER 1U
GC_API void GC_CALL GC_custom_push_regs_and_stack(GC_custom_push_proc push, void *data, const struct GC_stack_base *base,
                                                  void *cold_frame) GC_ATTR_NONNULL(1) GC_ATTR_NONNULL(3);

/* ---- descriptors ------------------------------------------------------------------------------ */

/* A descriptor says which words of an object are pointers.  Its two lowest bits tell the form.  A word beyond the
 * object's end never counts. */
#define GC_DS_TAG_BITS 2
#define GC_DS_TAGS ((1 << GC_DS_TAG_BITS) - 1)

/* So many bytes from the start, a multiple of 8.  0: there are no pointers. */
#define GC_DS_LENGTH 0

/* The other 62 bits are those of words that may be pointers: the highest is the first word's. */
#define GC_DS_BITMAP 1

/* A mark procedure finds them: the descriptor is GC_MAKE_PROC(number of the procedure, environment). */
#define GC_DS_PROC 2
#define GC_LOG_MAX_MARK_PROCS 6
#define GC_MAX_MARK_PROCS (1 << GC_LOG_MAX_MARK_PROCS)
#define GC_MAKE_PROC(number, environment) \
    ((((((GC_word)(environment)) << GC_LOG_MAX_MARK_PROCS) | (number)) << GC_DS_TAG_BITS) | GC_DS_PROC)

/* The descriptor proper is a word of the object, at the distance that is left without the tag, a multiple of 8.  If the
 * descriptor is negative, it is instead at (first word of the object) - (descriptor without tag) - GC_INDIR_PER_OBJ_BIAS,
 * so in a description of the object's type, with any distance from 0 on; while the first word is 0, the object has no
 * pointers. */
#define GC_DS_PER_OBJECT 3
#define GC_INDIR_PER_OBJ_BIAS 0x10

/* ---- mark procedures --------------------------------------------------------------------------- */

/* What is pushed, and a block of the heap: for the client, addresses without contents; or a client that defines NOT_GCBUILD has
 * such structs of its own. */
#if defined(GC_BUILD) || defined(NOT_GCBUILD)
struct GC_ms_entry;
struct GC_hblk_s;
#else
struct GC_ms_entry {
    void *opaque;
};
struct GC_hblk_s {
    void *opaque;
};
#endif

/* Marks what the object points at, by GC_mark_and_push or GC_MARK_AND_PUSH, and returns the mark stack pointer that it has
 * got, or the last of these has returned.  It may look only at words of the object where an ordinary pointer could be, since
 * SGC may scan any object word by word instead.
 *
 * It runs with the world stopped, on any thread of the collector, several of them at once, but on one object at a time;
 * usually once in a collection, seldom twice.  It must not allocate, wait, or call anything else of the collector but
 * what is named here and GC_base, GC_size, GC_is_marked, GC_set_mark_bit.  Objects that are not set up yet are zero, and
 * so are those on the lists of GC_generic_malloc_many, but for the link in their first words: it has to take that.
 *
 * Entries that it pushes by itself, as { address, descriptor } above mark_stack_ptr and below mark_stack_limit, are seen
 * to later; there is room for at least 128.  GC_mark_and_push needs none: its room is as large as it has to be. */
typedef struct GC_ms_entry *(*GC_mark_proc)(GC_word *object, struct GC_ms_entry *mark_stack_ptr,
                                            struct GC_ms_entry *mark_stack_limit, GC_word environment);

/* Roughly what a procedure should look at in one call. */
#define GC_PROC_BYTES 100

/* Marks the object that `object` points at or into, if it does and it is not marked yet, and has it scanned.  What points
 * elsewhere is ignored.  The result is the new mark stack pointer.  Only inside a mark procedure, or the hook of
 * GC_set_on_mark_stack_empty; `source`, where the pointer was found, is not used. */
GC_API struct GC_ms_entry *GC_CALL GC_mark_and_push(void *object, struct GC_ms_entry *mark_stack_ptr,
                                                    struct GC_ms_entry *mark_stack_limit, void **source);

/* GC_MARK_AND_PUSH is GC_mark_and_push, sooner for words that cannot be addresses of the heap: outside these bounds, which hold
 * from GC_INIT() on.  Do not assign to them. */
GC_API void *GC_least_plausible_heap_addr;
GC_API void *GC_greatest_plausible_heap_addr;
#define GC_MARK_AND_PUSH(object, mark_stack_ptr, mark_stack_limit, source) \
    ((GC_word)(object) >= (GC_word)GC_least_plausible_heap_addr && \
     (GC_word)(object) <= (GC_word)GC_greatest_plausible_heap_addr \
         ? GC_mark_and_push(object, mark_stack_ptr, mark_stack_limit, source) : (mark_stack_ptr))

/* What a mark procedure may push besides: memory with a descriptor, as GC_push_obj_descr takes it, and the words in [bottom,
 * top), as for GC_push_all.  The result is the new mark stack pointer.  More can be pushed than there is room for; of what does
 * not fit, where another procedure would decide, each word counts, so such memory must be an object. */
GC_API struct GC_ms_entry *GC_CALL GC_ms_push_obj_descr(void *object, GC_word descriptor, struct GC_ms_entry *mark_stack_ptr,
                                                        struct GC_ms_entry *mark_stack_limit);
GC_API struct GC_ms_entry *GC_CALL GC_ms_push_all(void *bottom, void *top, struct GC_ms_entry *mark_stack_ptr,
                                                  struct GC_ms_entry *mark_stack_limit);

/* How words become addresses, for programs that keep tags of their own in some bits of their pointers (boxed numbers,
 * types in the highest bits), or shift them: a word leads to the object at (word & mask) << shift.  It leads to what its
 * plain value says, too, wherever it lies: addresses as the compiler keeps them, on stacks or in libraries' data, need no
 * tag.  (On bdwgc that is so of stacks and registers only.)  The finalizers' client data counts as a word does.  All ones
 * and 0, the defaults, are plain words, for which nothing is done.  What mark procedures and hooks push, and what other
 * functions are given, are addresses, without a tag.
 *
 * To be set before the first object is allocated, before or after GC_INIT, while no other thread calls the collector.
 * Later it is reported, and nothing changed; so is a mask of 0, or a shift by all bits of a word.  A mask with which no
 * word leads to the heap, such as that of the tags, is reported by the first collection.  bdwgc has these functions in
 * 8.3, where they end the program unless it was built for them. */
GC_API void GC_CALL GC_set_pointer_mask(GC_word mask);
GC_API GC_word GC_CALL GC_get_pointer_mask(void);
GC_API void GC_CALL GC_set_pointer_shift(unsigned shift);
GC_API unsigned GC_CALL GC_get_pointer_shift(void);

/* A hook for ephemerons, tables whose values are kept as long as their keys are.  The collecting thread calls it with the
 * world stopped when all that roots lead to is marked, before links are cleared and objects found that are to be
 * finalized.  By GC_is_marked it finds out which objects have no mark yet, and it pushes those that are to be marked
 * besides, as a mark procedure does: by GC_mark_and_push, or as entries above mark_stack_ptr; it returns the new
 * mark_stack_ptr.  The table's own words must not keep what they lead to: they lie in pointer-free objects, or outside
 * the heap.
 *
 * It is called again until it returns mark_stack_ptr as it was and has marked nothing new; one that has pushed what was
 * marked already 100000 times in a row is reported, and not called again in that collection.  When finalizers keep what was
 * dead, it is called for that, too: a key that lives on for a finalizer keeps its value, although short links to both
 * are cleared already.  So what has no mark when it returns without having marked anything is dead, and may be taken out
 * of the table, but it may be called once more.  (bdwgc does not call it for what finalizers keep, nor at all where it
 * marks with several threads.)
 *
 * It may call what mark procedures may: nothing that allocates or takes locks.  In a concurrent collection it runs in the
 * last stop, on any thread, and that stop lasts as long as the hook and the marking of what it pushes take.  Each call
 * looks at the whole table, so a chain of n entries, of which each value leads to the next one's key, takes n
 * calls.  NULL, the default: none.  Setter and getter take the allocation lock.  bdwgc has it in 8.3. */
typedef struct GC_ms_entry *(GC_CALLBACK *GC_on_mark_stack_empty_proc)(struct GC_ms_entry *mark_stack_ptr,
                                                                       struct GC_ms_entry *mark_stack_limit);
GC_API void GC_CALL GC_set_on_mark_stack_empty(GC_on_mark_stack_empty_proc hook);
GC_API GC_on_mark_stack_empty_proc GC_CALL GC_get_on_mark_stack_empty(void);

/* Registers a procedure; the number is for GC_MAKE_PROC.  Numbers below GC_RESERVED_MARK_PROCS are never returned, but
 * for one case: if there are too many or the procedure is NULL, that is reported, and with the number returned objects
 * are scanned word by word.  Procedures are never taken back.  The second form exists for callers that hold the
 * allocation lock; here they are the same. */
#define GC_RESERVED_MARK_PROCS 8
#define GC_GCJ_RESERVED_MARK_PROC_INDEX 0
GC_API unsigned GC_CALL GC_new_proc(GC_mark_proc procedure);
GC_API unsigned GC_CALL GC_new_proc_inner(GC_mark_proc procedure);

/* GC_init_gcj_malloc (gc_gcj.h) with the types that it should have, and the place of the descriptor in the description of a
 * type: GC_GCJ_MARK_DESCR_OFFSET, or another multiple of 8.  If it is none, that is reported, and all words of the objects
 * count as pointers.  bdwgc takes its own place only. */
GC_API void GC_CALL GC_init_gcj_malloc_mp(unsigned proc_number, GC_mark_proc proc, size_t descriptor_offset);

/* ---- kinds of the client ----------------------------------------------------------------------- */

/* Makes a kind: its objects have this descriptor, to which their size is added if `add_size` is not zero (for lengths: 0
 * with it scans all words).  New objects are zero if `clear` is not; and always if a procedure or a descriptor in the
 * object looks at them.  The result is the number of the kind, for the functions below.  There can be 12; if there are
 * too many, that is reported and 1 returned, ordinary objects.  A descriptor that makes no sense is reported, and objects
 * of the kind are scanned word by word.  Kinds are never taken back.
 *
 * The list is what GC_new_free_list returned.  SGC keeps none: a program that looks into it finds it empty.  The `inner`
 * forms exist for callers that hold the allocation lock. */
GC_API unsigned GC_CALL GC_new_kind(void **free_list, GC_word descriptor, int add_size, int clear) GC_ATTR_NONNULL(1);
GC_API unsigned GC_CALL GC_new_kind_inner(void **free_list, GC_word descriptor, int add_size, int clear)
    GC_ATTR_NONNULL(1);
GC_API void **GC_CALL GC_new_free_list(void);
GC_API void **GC_CALL GC_new_free_list_inner(void);

/* ---- objects by kind -------------------------------------------------------------------------- */

/* Allocates an object of a kind: 0 pointer-free, 1 with pointers, 2 the same and uncollectable, 3 pointer-free and
 * uncollectable, or what GC_new_kind returned.  As GC_malloc otherwise.  An unknown kind is reported and NULL returned.
 * GC_generic_malloc_uncollectable allocates one of such a kind that is not collected until it is freed; for kinds of the
 * client the first such object takes a kind of its own, which GC_get_kind_and_size tells. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_generic_malloc(size_t size, int kind);
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_generic_malloc_ignore_off_page(size_t size, int kind);
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_generic_malloc_uncollectable(size_t size, int kind);

/* GC_generic_malloc with guards and the position, as gc_debug.h has them. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_debug_generic_malloc(size_t size, int kind, GC_EXTRA_PARAMS);

/* For an object like another one, with the kind that GC_get_kind_and_size tells. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_generic_or_special_malloc(size_t size, int kind);
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_debug_generic_or_special_malloc(size_t size, int kind,
                                                                                            GC_EXTRA_PARAMS);
#ifdef GC_DEBUG
#define GC_GENERIC_MALLOC(size, kind) GC_debug_generic_malloc(size, kind, GC_EXTRAS)
#define GC_GENERIC_OR_SPECIAL_MALLOC(size, kind) GC_debug_generic_or_special_malloc(size, kind, GC_EXTRAS)
#else
#define GC_GENERIC_MALLOC(size, kind) GC_generic_malloc(size, kind)
#define GC_GENERIC_OR_SPECIAL_MALLOC(size, kind) GC_generic_or_special_malloc(size, kind)
#endif

/* The kind of an object, and its size as GC_size tells it unless `size` is NULL.  Of one that was allocated for debugging the
 * address is what the program has of it, or its base.  Any other that is not the first one of an object is reported, and the
 * result is -1. */
GC_API int GC_CALL GC_get_kind_and_size(const void *object, size_t *size) GC_ATTR_NONNULL(1);

/* ---- debugging objects ------------------------------------------------------------------------- */

/* How many bytes an object allocated for debugging has before the address that the client gets.  The variable is for old
 * programs. */
GC_API GC_ATTR_CONST size_t GC_CALL GC_get_debug_header_size(void);
#define GC_USR_PTR_FROM_BASE(base) ((void *)((char *)(base) + GC_get_debug_header_size()))
GC_API GC_ATTR_DEPRECATED
#ifdef GC_BUILD
const
#endif
size_t GC_debug_header_size;

/* A hook that describes objects of a kind in messages: it writes a text into `text`, of GC_TYPE_DESCR_LEN bytes.
 * NULL: none. */
#define GC_TYPE_DESCR_LEN 40
typedef void (GC_CALLBACK *GC_describe_type_fn)(void *object, char *text);
GC_API void GC_CALL GC_register_describe_type_fn(int kind, GC_describe_type_fn describe);

/* ---- the heap, object by object ---------------------------------------------------------------- */

/* Calls visit(object, bytes, data) for each object that the last collection found reachable and each one allocated
 * since, as they are when the call begins.  The caller holds the allocation lock, and so does visit, with the world
 * running: objects are not collected meanwhile, but other threads may free them. */
typedef void (GC_CALLBACK *GC_reachable_object_proc)(void *object, size_t bytes, void *data);
GC_API void GC_CALL GC_enumerate_reachable_objects_inner(GC_reachable_object_proc visit, void *data)
    GC_ATTR_NONNULL(1);

/* The heap block by block.  A block has objects of one size and kind: it is a page, of GC_get_hblk_size() bytes, or as many
 * pages as a large object takes.  Its address is that of its first object, or would be.
 *
 * The first walk visits the blocks of small objects, also if these are dead, and of large ones that are allocated; the second
 * each run of free pages, with index 0, or 1 if they have no memory of the system's.  They are as they were when the call
 * began, for which the program is stopped for a moment.  With the allocation lock held no collection changes them meanwhile,
 * and the function runs with the lock, so it must not allocate; other threads may free objects, and take pages. */
typedef void (GC_CALLBACK *GC_walk_hblk_fn)(struct GC_hblk_s *block, void *data);
typedef void (GC_CALLBACK *GC_walk_free_blk_fn)(struct GC_hblk_s *block, int index, void *data);
GC_API GC_ATTR_CONST size_t GC_CALL GC_get_hblk_size(void);
GC_API void GC_CALL GC_apply_to_all_blocks(GC_walk_hblk_fn visit, void *data) GC_ATTR_NONNULL(1);
GC_API void GC_CALL GC_iterate_free_hblks(GC_walk_free_blk_fn visit, void *data) GC_ATTR_NONNULL(1);

/* How many mark bits (below) are set in the block that the address is in, 0 where there is none.  Slots that a thread has in
 * hand to allocate next count as allocated.  [unregistered, callback] */
GC_API unsigned GC_CALL GC_count_set_marks_in_hblk(const void *p) GC_ATTR_NONNULL(1);

/* Where the block could begin instead because of words that seem to point at it.  SGC keeps no such list: NULL. */
GC_API struct GC_hblk_s *GC_CALL GC_is_black_listed(struct GC_hblk_s *block, size_t bytes);

/* Mark bits.  In mark procedures and in the hooks of GC_set_push_other_roots and GC_set_on_mark_stack_empty, setting one
 * keeps the object, but not what it points at, and the question is whether it has been reached yet.  At other times an
 * object is marked while it is allocated, and setting does nothing.  Clearing always does nothing. */
GC_API int GC_CALL GC_is_marked(const void *object) GC_ATTR_NONNULL(1);
GC_API void GC_CALL GC_set_mark_bit(const void *object) GC_ATTR_NONNULL(1);
GC_API void GC_CALL GC_clear_mark_bit(const void *object) GC_ATTR_NONNULL(1);

/* Overwrites some of the unused part of the stack, where old addresses may lie, and returns its argument. */
GC_API void *GC_CALL GC_clear_stack(void *result);

/* Whether the address is in a root that goes away with its module: SGC forgets such roots by itself, the answer is 0. */
GC_API int GC_CALL GC_is_tmp_root(void *address);

#ifdef __cplusplus
}
#endif

#endif
