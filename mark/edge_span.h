/* SPDX-License-Identifier: MIT */
/* Edges into large objects.  On any marker, world stopped. */
#ifndef SGC_MARK_EDGE_SPAN_H
#define SGC_MARK_EDGE_SPAN_H

#include "mark/marker.h"

/* Marks the span that byte `offset` of the heap lies in, if it does, at once: what that needs is rarely cold.
 * `distances`: those that count, as in mark/edge.h. */
void sgc_mark_span_at(struct sgc_marker *marker, size_t offset, const sgc_a8_t *distances);

/* Marks the span that begins with the page. */
void sgc_mark_span(struct sgc_marker *marker, uint32_t page);

enum { SGC_SPANS_MANY = 16 };           /* of those marked together that lead to no small object, which make it worth while */

/* Leaves out edges into the first pages of spans that are marked, and sees whether that was worth it.  How many are left. */
size_t sgc_drop_marked_spans(struct sgc_marker *marker, uintptr_t *edge, size_t count);

#endif
