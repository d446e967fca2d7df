# SPDX-License-Identifier: MIT
# Programs that measure a malloc, whose ever: linked with the C library alone, so that the loader decides (LD_PRELOAD); what runs them.

malloc_built = \
	bench/malloc/batches \
	bench/malloc/idle \
	bench/malloc/messages \
	bench/malloc/mixed \
	bench/malloc/pairs \
	bench/malloc/phases \
	bench/malloc/resize \
	bench/malloc/server \
	bench/malloc/sharing \
	bench/malloc/trees
check_PROGRAMS += $(malloc_built)

# The compiler must leave pairs of malloc and free where they are.
malloc_cflags = $(AM_CFLAGS) -fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free
malloc_common = bench/malloc/client.c bench/malloc/client.h $(bench_common)

bench_malloc_batches_SOURCES = bench/malloc/batches.c $(malloc_common)
bench_malloc_batches_CFLAGS = $(malloc_cflags)
bench_malloc_batches_LDADD =
bench_malloc_idle_SOURCES = bench/malloc/idle.c $(malloc_common)
bench_malloc_idle_CFLAGS = $(malloc_cflags)
bench_malloc_idle_LDADD =
bench_malloc_messages_SOURCES = bench/malloc/messages.c $(malloc_common)
bench_malloc_messages_CFLAGS = $(malloc_cflags)
bench_malloc_messages_LDADD =
bench_malloc_mixed_SOURCES = bench/malloc/mixed.c $(malloc_common)
bench_malloc_mixed_CFLAGS = $(malloc_cflags)
bench_malloc_mixed_LDADD =
bench_malloc_pairs_SOURCES = bench/malloc/pairs.c $(malloc_common)
bench_malloc_pairs_CFLAGS = $(malloc_cflags)
bench_malloc_pairs_LDADD =
bench_malloc_phases_SOURCES = bench/malloc/phases.c $(malloc_common)
bench_malloc_phases_CFLAGS = $(malloc_cflags)
bench_malloc_phases_LDADD =
bench_malloc_resize_SOURCES = bench/malloc/resize.c $(malloc_common)
bench_malloc_resize_CFLAGS = $(malloc_cflags)
bench_malloc_resize_LDADD =
bench_malloc_server_SOURCES = bench/malloc/server.c $(malloc_common)
bench_malloc_server_CFLAGS = $(malloc_cflags)
bench_malloc_server_LDADD =
bench_malloc_sharing_SOURCES = bench/malloc/sharing.c $(malloc_common)
bench_malloc_sharing_CFLAGS = $(malloc_cflags)
bench_malloc_sharing_LDADD =
bench_malloc_trees_SOURCES = bench/malloc/trees.c $(malloc_common)
bench_malloc_trees_CFLAGS = $(malloc_cflags)
bench_malloc_trees_LDADD =

# What runs them: programs of Python's standard library only, and the results of bench/endo.
EXTRA_DIST += \
	bench/malloc/README.md \
	bench/malloc/comparison/aims.py \
	bench/malloc/comparison/allocators.py \
	bench/malloc/comparison/cases.py \
	bench/malloc/comparison/inputs.py \
	bench/malloc/comparison/measure.py \
	bench/malloc/comparison/packages.py \
	bench/malloc/comparison/redis.py \
	bench/malloc/comparison/report.py \
	bench/malloc/comparison/suite.py \
	bench/malloc/run \
	bench/malloc/work/documents.py \
	bench/malloc/work/objects.js \
	bench/malloc/work/objects.py \
	bench/malloc/work/rest.py \
	bench/malloc/work/text.py \
	bench/malloc/work/words.pl
