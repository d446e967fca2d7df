/* SPDX-License-Identifier: MIT */
/*
 * Part of gc.h: what happens when objects die.  Finalizers, disappearing links, toggle references.
 *
 * An object is unreachable when no root and no living object points at it, as for any collection.  Client data of
 * registered finalizers counts as root; the registrations themselves do not.
 *
 * In a collection, in this order:
 *   1. links (GC_register_disappearing_link and its general form) to unreachable objects are cleared;
 *   2. it is decided which registered objects are ready, depending on how they were registered (below);
 *   3. these lose their registration and are queued; they and all they reach live on until the finalizer has run,
 *      or longer, if it makes them reachable again;
 *   4. long links to what is unreachable now are cleared.
 *
 * Finalizers run afterwards, with no lock held: on threads that allocate or collect, or, with
 * GC_finalize_on_demand, on those that call GC_invoke_finalizers.  Several threads may run them at the same time,
 * in any order.  A finalizer may do what any code may: allocate, collect, register, keep its object, leave by longjmp or
 * a C++ exception (the others then run later).  While a thread runs one, others start on it only if it asks.
 *
 * An object that is freed explicitly loses what was registered for it, also if it is queued; links inside it are forgotten.
 *
 * While leaks are looked for (GC_set_find_leak) finalizers and links are not registered.
 */
#ifndef GC_H
#error "Include <gc/gc.h> instead of its parts."
#endif
#ifndef GC_FINALIZE_H
#define GC_FINALIZE_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- finalizers ------------------------------------------------------------------------------ */

typedef void (GC_CALLBACK *GC_finalization_proc)(void *object, void *data);

/*
 * Registers fn, to be called as fn(object, data) once when `object` has become unreachable; fn NULL removes what is
 * registered.  *old_fn and *old_data (either may be NULL) get what was registered before, or NULL.  What `data`
 * points at stays reachable until then; so an object that its own data points at is never finalized.
 *
 * `object` is the first address of an object, or less than 16 bytes behind it: programs keep types in the lowest bits of
 * pointers.  fn gets it as it is.  NULL and addresses outside the heap are ignored, with *old_fn and *old_data set to NULL;
 * so is, with a message, any other address.  If there is no memory to remember it, that
 * is reported and neither *old_fn nor *old_data change.
 *
 * An object registered by the first form waits as long as another registered object that is unreachable reaches it.  So
 * what points at others is finalized before them, in a collection of its own; objects on a cycle are never
 * finalized, nor collected.
 */
GC_API void GC_CALL GC_register_finalizer(void *object, GC_finalization_proc fn, void *data,
                                          GC_finalization_proc *old_fn, void **old_data);

/* As GC_register_finalizer, but pointers of the object to itself don't count. */
GC_API void GC_CALL GC_register_finalizer_ignore_self(void *object, GC_finalization_proc fn, void *data,
                                                      GC_finalization_proc *old_fn, void **old_data);

/* As GC_register_finalizer, but the object waits only for those that are registered in one of the other ways and reach it: its
 * own pointers make nobody wait, so cycles of such objects are finalized, all at once. */
GC_API void GC_CALL GC_register_finalizer_no_order(void *object, GC_finalization_proc fn, void *data,
                                                   GC_finalization_proc *old_fn, void **old_data);

/* As GC_register_finalizer, but the object also waits as long as one reaches it that is ready or queued to be
 * finalized and could bring it back.  Only with GC_java_finalization set; otherwise it is GC_register_finalizer. */
GC_API void GC_CALL GC_register_finalizer_unreachable(void *object, GC_finalization_proc fn, void *data,
                                                      GC_finalization_proc *old_fn, void **old_data);

/* As the functions without `debug`, for objects of gc_debug.h: `object` is what the client has of it, and fn gets the same.
 * Other objects are taken, too. */
GC_API void GC_CALL GC_debug_register_finalizer(void *object, GC_finalization_proc fn, void *data,
                                                GC_finalization_proc *old_fn, void **old_data);
GC_API void GC_CALL GC_debug_register_finalizer_ignore_self(void *object, GC_finalization_proc fn, void *data,
                                                            GC_finalization_proc *old_fn, void **old_data);
GC_API void GC_CALL GC_debug_register_finalizer_no_order(void *object, GC_finalization_proc fn, void *data,
                                                         GC_finalization_proc *old_fn, void **old_data);
GC_API void GC_CALL GC_debug_register_finalizer_unreachable(void *object, GC_finalization_proc fn, void *data,
                                                            GC_finalization_proc *old_fn, void **old_data);

#if defined(GC_DEBUG)
#define GC_REGISTER_FINALIZER(object, fn, data, old_fn, old_data) \
    GC_debug_register_finalizer(object, fn, data, old_fn, old_data)
#define GC_REGISTER_FINALIZER_IGNORE_SELF(object, fn, data, old_fn, old_data) \
    GC_debug_register_finalizer_ignore_self(object, fn, data, old_fn, old_data)
#define GC_REGISTER_FINALIZER_NO_ORDER(object, fn, data, old_fn, old_data) \
    GC_debug_register_finalizer_no_order(object, fn, data, old_fn, old_data)
#define GC_REGISTER_FINALIZER_UNREACHABLE(object, fn, data, old_fn, old_data) \
    GC_debug_register_finalizer_unreachable(object, fn, data, old_fn, old_data)
#else
#define GC_REGISTER_FINALIZER(object, fn, data, old_fn, old_data) \
    GC_register_finalizer(object, fn, data, old_fn, old_data)
#define GC_REGISTER_FINALIZER_IGNORE_SELF(object, fn, data, old_fn, old_data) \
    GC_register_finalizer_ignore_self(object, fn, data, old_fn, old_data)
#define GC_REGISTER_FINALIZER_NO_ORDER(object, fn, data, old_fn, old_data) \
    GC_register_finalizer_no_order(object, fn, data, old_fn, old_data)
#define GC_REGISTER_FINALIZER_UNREACHABLE(object, fn, data, old_fn, old_data) \
    GC_register_finalizer_unreachable(object, fn, data, old_fn, old_data)
#endif

/* ---- running them ---------------------------------------------------------------------------- */

/* Nonzero: finalizers run only when GC_invoke_finalizers is called.  0 by default. */
GC_API void GC_CALL GC_set_finalize_on_demand(int on);
GC_API int GC_CALL GC_get_finalize_on_demand(void);
GC_API GC_ATTR_DEPRECATED int GC_finalize_on_demand;

/* Nonzero, as by default: objects registered as unreachable wait for all others.  Otherwise they are ordered. */
GC_API void GC_CALL GC_set_java_finalization(int on);
GC_API int GC_CALL GC_get_java_finalization(void);
GC_API GC_ATTR_DEPRECATED int GC_java_finalization;

/* A hook, with GC_finalize_on_demand: called once after a collection if finalizers wait, new ones or old ones, by a thread that
 * allocates or collects, without locks.  Not inside itself: a collection that it makes is told of afterwards.  NULL: none. */
typedef void (GC_CALLBACK *GC_finalizer_notifier_proc)(void);
GC_API void GC_CALL GC_set_finalizer_notifier(GC_finalizer_notifier_proc notifier);
GC_API GC_finalizer_notifier_proc GC_CALL GC_get_finalizer_notifier(void);
GC_API GC_ATTR_DEPRECATED GC_finalizer_notifier_proc GC_finalizer_notifier;

/* Nonzero if finalizers wait to be run.  [unregistered, callback, signal] */
GC_API int GC_CALL GC_should_invoke_finalizers(void);

/* Runs finalizers until none waits, and returns how many it ran.  Not with the allocation lock held. */
GC_API int GC_CALL GC_invoke_finalizers(void);

/* The most that run in one call, also of those that are made by allocating and collecting: the others wait for the next one.
 * 0, as by default: no limit.  One that is set while a call runs them counts for it, too.  [unregistered, callback] */
GC_API void GC_CALL GC_set_interrupt_finalizers(unsigned count);
GC_API unsigned GC_CALL GC_get_interrupt_finalizers(void);

/* Takes that limit away, queues every registered object, reachable or not, and runs the finalizers; again, until nothing is
 * registered.
 * For the end of a program: finalizers must bear objects that have been finalized already. */
GC_API void GC_CALL GC_finalize_all(void);

/* A hook, called for each object that a collection queues, not for what GC_finalize_all does, by the collecting thread with the
 * allocation lock held.  NULL: none.  Setter and getter take the lock. */
typedef void (GC_CALLBACK *GC_await_finalize_proc)(void *object);
GC_API void GC_CALL GC_set_await_finalize_proc(GC_await_finalize_proc hook);
GC_API GC_await_finalize_proc GC_CALL GC_get_await_finalize_proc(void);

/* How many bytes bdwgc allocates at least for each finalizer before it collects for their number; here that never is
 * a reason.  Kept and answered, without effect. */
GC_API void GC_CALL GC_set_allocd_bytes_per_finalizer(GC_word bytes);
GC_API GC_word GC_CALL GC_get_allocd_bytes_per_finalizer(void);

/* Writes to the log what is registered. */
GC_API void GC_CALL GC_dump_finalization(void);

/* ---- disappearing links ---------------------------------------------------------------------- */

/*
 * A link is a word, at an address that is a multiple of its size, anywhere.  It is cleared, and forgotten, when `object`
 * becomes unreachable.  Usually it holds a hidden pointer to it (GC_HIDE_POINTER; or it lies in a pointer-free object), which
 * must be turned into a plain one with the allocation lock held.
 *
 * A link is forgotten also when the object that contains it dies.  Memory of other origin has to be unregistered before
 * it is given back.  If `object` is freed explicitly, its links are cleared by the next collection.
 *
 * Returns GC_SUCCESS; GC_DUPLICATE: it was registered, and is now for `object`; GC_NO_MEMORY; GC_UNIMPLEMENTED: leaks are
 * looked for.  An `object` that is not an object's first address, or less than 16 bytes behind it, or a `link` that is no
 * word's, are reported, and the answer is GC_NOT_FOUND.
 */
GC_API int GC_CALL GC_general_register_disappearing_link(void **link, const void *object)
    GC_ATTR_NONNULL(1) GC_ATTR_NONNULL(2);

/* As GC_general_register_disappearing_link, for the object that contains the link. */
GC_API int GC_CALL GC_register_disappearing_link(void **link) GC_ATTR_NONNULL(1);

/* The registration of a link, but not the word's contents, goes to `to`.  Returns GC_SUCCESS, also if both are the same;
 * GC_NOT_FOUND: `from` is not registered; GC_DUPLICATE: `to` is already. */
GC_API int GC_CALL GC_move_disappearing_link(void **from, void **to) GC_ATTR_NONNULL(2);

/* Forgets a link.  Returns 1: it was registered, and is no more; 0: it was not. */
GC_API int GC_CALL GC_unregister_disappearing_link(void **link);

/* For long links, what the functions above are for others.  Long links are cleared later: when no finalizer can bring the
 * object back.  One word may be both. */
GC_API int GC_CALL GC_register_long_link(void **link, const void *object) GC_ATTR_NONNULL(1) GC_ATTR_NONNULL(2);
GC_API int GC_CALL GC_move_long_link(void **from, void **to) GC_ATTR_NONNULL(2);
GC_API int GC_CALL GC_unregister_long_link(void **link);

/* For an address anywhere in the object, with or without guards. */
#define GC_GENERAL_REGISTER_DISAPPEARING_LINK_SAFE(link, object) \
    GC_general_register_disappearing_link(link, GC_base(GC_CAST_AWAY_CONST_PVOID(object)))
#define GC_REGISTER_LONG_LINK_SAFE(link, object) GC_register_long_link(link, GC_base(GC_CAST_AWAY_CONST_PVOID(object)))

#if defined(GC_DEBUG)
#define GC_GENERAL_REGISTER_DISAPPEARING_LINK(link, object) GC_GENERAL_REGISTER_DISAPPEARING_LINK_SAFE(link, object)
#define GC_REGISTER_LONG_LINK(link, object) GC_REGISTER_LONG_LINK_SAFE(link, object)
#else
#define GC_GENERAL_REGISTER_DISAPPEARING_LINK(link, object) GC_general_register_disappearing_link(link, object)
#define GC_REGISTER_LONG_LINK(link, object) GC_register_long_link(link, object)
#endif

/* ---- toggle references ----------------------------------------------------------------------- */

/* Something outside the heap refers to the object: strongly, so that it lives, or weakly. */
typedef enum {
    GC_TOGGLE_REF_DROP,             /* no longer: it is forgotten */
    GC_TOGGLE_REF_STRONG,
    GC_TOGGLE_REF_WEAK
} GC_ToggleRefStatus;

/* A hook that says which of these it is, about each object of GC_toggleref_add, before the world is stopped, in concurrent
 * mode before each stop of a collection.  By the collecting thread, with the allocation lock held.  NULL: none.  Setter and
 * getter take the lock. */
typedef GC_ToggleRefStatus (GC_CALLBACK *GC_toggleref_func)(void *object);
GC_API void GC_CALL GC_set_toggleref_func(GC_toggleref_func hook);
GC_API GC_toggleref_func GC_CALL GC_get_toggleref_func(void);

/* Adds an object, until the hook of GC_set_toggleref_func drops it or it is collected: it stays added if it waits for its
 * finalizer, which may bring it back.  One that is added while the hook is asked about it stays as it was added, whatever the
 * answer.  Returns GC_SUCCESS, also, and without effect, if there is no such hook; GC_NO_MEMORY; GC_NOT_FOUND, with a message,
 * for what is not an object's first address. */
GC_API int GC_CALL GC_toggleref_add(void *object, int is_strong) GC_ATTR_NONNULL(1);

/* For objects of gc_debug.h: `object` is what the client has of it, and the function is asked about GC_base of that.  Others
 * are as above. */
GC_API int GC_CALL GC_debug_toggleref_add(void *object, int is_strong) GC_ATTR_NONNULL(1);

#if defined(GC_DEBUG)
#define GC_TOGGLEREF_ADD(object, is_strong) GC_debug_toggleref_add(object, is_strong)
#else
#define GC_TOGGLEREF_ADD(object, is_strong) GC_toggleref_add(object, is_strong)
#endif

#ifdef __cplusplus
}
#endif

#endif
