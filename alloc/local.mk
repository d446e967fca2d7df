# SPDX-License-Identifier: MIT
# The heap.

alloc_sources = \
	alloc/ahead.c \
	alloc/bits.h \
	alloc/cache.c \
	alloc/cache.h \
	alloc/decay.c \
	alloc/free.c \
	alloc/free.h \
	alloc/free_list.c \
	alloc/free_list.h \
	alloc/geometry.h \
	alloc/heap.c \
	alloc/heap.h \
	alloc/huge_pages.c \
	alloc/huge_pages.h \
	alloc/kind.c \
	alloc/kind.h \
	alloc/lists.c \
	alloc/live_pages.c \
	alloc/live_pages.h \
	alloc/object.c \
	alloc/object.h \
	alloc/orphan.c \
	alloc/orphan.h \
	alloc/page.c \
	alloc/page.h \
	alloc/page_policy.h \
	alloc/policy.c \
	alloc/policy.h \
	alloc/pool.c \
	alloc/pool.h \
	alloc/pool_grow.c \
	alloc/pool_page.c \
	alloc/pool_parts.h \
	alloc/pool_state.c \
	alloc/remote.c \
	alloc/remote.h \
	alloc/size_class.c \
	alloc/size_class.h \
	alloc/slots.c \
	alloc/slots.h \
	alloc/small.c \
	alloc/small.h \
	alloc/span.c \
	alloc/span.h \
	alloc/span_parts.h \
	alloc/span_sweep.c \
	alloc/spare.c \
	alloc/spare.h \
	alloc/sweep.c \
	alloc/sweep.h \
	alloc/verify.c \
	alloc/verify.h \
	alloc/walk.c \
	alloc/walk.h
