# SPDX-License-Identifier: MIT
# The performance model of marking.  Its parts stand apart from the library: see perfmodel/README.md.

# Heap snapshots and the graphs that are read from them.
snapshot_sources = \
	gc/snapshot/format_rules.h \
	perfmodel/snapshot/check.c \
	perfmodel/snapshot/graph.c \
	perfmodel/snapshot/graph.h \
	perfmodel/snapshot/input.c \
	perfmodel/snapshot/input.h \
	perfmodel/snapshot/make.c \
	perfmodel/snapshot/reader.c \
	perfmodel/snapshot/reader.h \
	perfmodel/snapshot/reader_noted.c \
	perfmodel/snapshot/reader_pages.c \
	perfmodel/snapshot/reader_words.c \
	perfmodel/snapshot/unpack.h
if SGC_ZSTD
snapshot_sources += perfmodel/snapshot/unpack_zstd.c
else
snapshot_sources += perfmodel/snapshot/unpack_none.c
endif

noinst_LTLIBRARIES += libsgcgraph.la
libsgcgraph_la_SOURCES = $(snapshot_sources)
libsgcgraph_la_LIBADD = $(SGC_ZSTD_LIBS)

# The tools.
bin_PROGRAMS += perfmodel/tools/sgc-snapshot
perfmodel_tools_sgc_snapshot_SOURCES = perfmodel/tools/output.c perfmodel/tools/output.h perfmodel/tools/sgc-snapshot.c perfmodel/tools/snapshot_stats.c \
	perfmodel/tools/snapshot_stats.h
perfmodel_tools_sgc_snapshot_LDADD = libsgcgraph.la libsgccore.la
perfmodel_tools_sgc_snapshot_CPPFLAGS = $(AM_CPPFLAGS) -DSGC_SNAPSHOT_TOOL_VERSION='"$(PACKAGE_VERSION)"'
EXTRA_DIST += perfmodel/README.md perfmodel/snapshot/unpack_none.c perfmodel/snapshot/unpack_zstd.c

include perfmodel/model/local.mk
