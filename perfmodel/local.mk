# SPDX-License-Identifier: MIT
# The performance model of marking.  Its parts stand apart from the library: see perfmodel/README.md.

# Heap snapshots and the graphs that are read from them.
snapshot_sources = \
	perfmodel/snapshot/graph.c \
	perfmodel/snapshot/graph.h \
	perfmodel/snapshot/make.c

noinst_LTLIBRARIES += libsgcgraph.la
libsgcgraph_la_SOURCES = $(snapshot_sources)
libsgcgraph_la_LIBADD =
