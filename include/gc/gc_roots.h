/* SPDX-License-Identifier: MIT */
/*
 * Part of gc.h: static roots.  The writable data and thread-local variables of all loaded modules are roots
 * without being asked for, and follow dlopen and dlclose.  The functions here add memory of the client's own
 * and take memory out.
 *
 * A range is [low, high).  Its ends need not be aligned; the whole words inside count.  A NULL or reversed
 * range is reported and ignored, an empty one is ignored.  There is no limit on the number of ranges.
 */
#ifndef GC_H
#error "Include <gc/gc.h> instead of its parts."
#endif
#ifndef GC_ROOTS_H
#define GC_ROOTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Scans the range at each collection from now on.  It must stay readable until it is removed.  If a range
 * with the same start was added before, that one becomes as long as the longer of the two; otherwise the range is one
 * of its own, to be removed by itself, even where another covers it. */
GC_API void GC_CALL GC_add_roots(void *low, void *high);

/* Removes the added ranges that lie in [low, high) entirely; one that sticks out stays whole. */
GC_API void GC_CALL GC_remove_roots(void *low, void *high);

/* Removes all added ranges.  The data of loaded modules stays: see GC_set_no_dls. */
GC_API void GC_CALL GC_clear_roots(void);

/* Never scans the range as static data, whether it belongs to a module or was added: for large tables without
 * pointers, and mapped files.  Excluded ranges may overlap. */
GC_API void GC_CALL GC_exclude_static_roots(void *low, void *high);

/* Forgets all exclusions made by clients. */
GC_API void GC_CALL GC_clear_exclusion_table(void);

/* Asked once for each writable segment of a module; zero means it is not a root.  `name` is the loader's
 * name of the module, empty for the program itself.  Runs with the allocation lock held; it must not
 * allocate or load anything. */
typedef int (GC_CALLBACK *GC_has_static_roots_func)(const char *name, void *start, size_t size);

/* Sets the filter; NULL: no filter.  It replaces the previous one and applies from the next collection on. */
GC_API void GC_CALL GC_register_has_static_roots_callback(GC_has_static_roots_func filter);

/* Nonzero: the static data of modules, the program's own included, is no root; the client adds what it needs.
 * Thread-local variables and stacks stay roots. */
GC_API void GC_CALL GC_set_no_dls(int on);
GC_API int GC_CALL GC_get_no_dls(void);
GC_API GC_ATTR_DEPRECATED int GC_no_dls;

#ifdef __cplusplus
}
#endif

#endif
