/* SPDX-License-Identifier: MIT */
/*
 * The accesses of one marker that marks a graph depth first, as [Endo]'s: it marks the objects that
 * the roots lead to, in their order, and puts them on its stack; then it takes the object that was
 * put there last, reads its words from the first to the last, and marks and puts on the stack the
 * objects that they lead to.  An object above a size is put back in halves until it is not.
 *
 * Accesses are the words of objects (reads), and for each edge the mark bit: a read if it is set
 * already, else an atomic read-modify-write.  The stack, the roots' own words and the tables that
 * lead from a word to its object are left out.
 */
#ifndef SGC_PERFMODEL_MODEL_SERIAL_MARK_H
#define SGC_PERFMODEL_MODEL_SERIAL_MARK_H

#include "perfmodel/model/access.h"
#include "perfmodel/model/homes.h"

/* False: no memory.  split_bytes: the size above which objects are halved; 0: none is. */
bool sgc_serial_mark(const struct sgc_homes *homes, uint32_t split_bytes, sgc_access_fn *access, void *arg);

#endif
