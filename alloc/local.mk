# SPDX-License-Identifier: MIT
# The heap: what any malloc needs, and what only marking does.

alloc_plain_sources = \
	alloc/free.c \
	alloc/free.h \
	alloc/large/span.c \
	alloc/large/span.h \
	alloc/large/span_free.c \
	alloc/large/span_resize.c \
	alloc/granule_set.h \
	alloc/new_objects.c \
	alloc/new_objects.h \
	alloc/object.c \
	alloc/object.h \
	alloc/page_supply.c \
	alloc/page_supply.h \
	alloc/pages/dangling.h \
	alloc/pages/geometry.h \
	alloc/pages/heap.h \
	alloc/pages/homes.c \
	alloc/pages/homes.h \
	alloc/pages/huge_pages.h \
	alloc/pages/kind.c \
	alloc/pages/kind.h \
	alloc/pages/live_pages.c \
	alloc/pages/live_pages.h \
	alloc/pages/marks.h \
	alloc/pages/page.c \
	alloc/pages/page.h \
	alloc/pages/page_lists.c \
	alloc/pages/page_lists.h \
	alloc/pages/page_rules.h \
	alloc/pages/pool.c \
	alloc/pages/pool.h \
	alloc/pages/pool_decay.c \
	alloc/pages/pool_grow.c \
	alloc/pages/pool_single.c \
	alloc/pages/pool_state.c \
	alloc/pages/reserve.c \
	alloc/pages/size_class.c \
	alloc/pages/size_class.h \
	alloc/pages/survival.h \
	alloc/release.c \
	alloc/release.h \
	alloc/release_kept.c \
	alloc/small/cache.c \
	alloc/small/cache.h \
	alloc/small/carve.h \
	alloc/small/countdown_rules.h \
	alloc/small/claim_short.h \
	alloc/small/freed.c \
	alloc/small/freed.h \
	alloc/small/orphan.c \
	alloc/small/orphan.h \
	alloc/small/remote_free.c \
	alloc/small/remote_free.h \
	alloc/small/sampling.c \
	alloc/small/sampling.h \
	alloc/small/slots.c \
	alloc/small/slots.h \
	alloc/small/small.c \
	alloc/small/small.h \
	alloc/small/sweep.c \
	alloc/small/sweep.h \
	alloc/whole_heap.c \
	alloc/whole_heap.h

alloc_marking_sources = \
	alloc/marking.c \
	alloc/marking.h \
	alloc/pages/dangling.c \
	alloc/pages/found_nodes.c \
	alloc/pages/found_nodes.h \
	alloc/pages/marks.c \
	alloc/pages/survival.c

alloc_carving_sources = alloc/small/carve.c

alloc_sources = $(alloc_plain_sources) $(alloc_marking_sources)
