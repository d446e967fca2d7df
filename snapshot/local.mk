# SPDX-License-Identifier: MIT
# Heap snapshots, the graphs that are read from them, and the tool for them: see snapshot/README.md.
snapshot_sources = \
	gc/snapshot/format_rules.h \
	snapshot/check.c \
	snapshot/graph.c \
	snapshot/graph.h \
	snapshot/input.c \
	snapshot/input.h \
	snapshot/make.c \
	snapshot/reader.c \
	snapshot/reader.h \
	snapshot/reader_names.c \
	snapshot/reader_noted.c \
	snapshot/reader_pages.c \
	snapshot/reader_sites.c \
	snapshot/reader_words.c \
	snapshot/unpack.h
if SGC_ZSTD
snapshot_sources += snapshot/unpack_zstd.c
else
snapshot_sources += snapshot/unpack_none.c
endif

noinst_LTLIBRARIES += libsgcgraph.la
libsgcgraph_la_SOURCES = $(snapshot_sources)
libsgcgraph_la_LIBADD = $(SGC_ZSTD_LIBS)

# Names for objects, by the symbols of the modules that were loaded.
names_sources = snapshot/class_names.c snapshot/namer.h snapshot/group_names.c snapshot/names.h snapshot/root_names.c \
	snapshot/site_names.c snapshot/symbols.h snapshot/texts.c snapshot/texts.h
if SGC_ELFUTILS
names_sources += snapshot/symbols_libdw.c
else
names_sources += snapshot/symbols_none.c
endif
noinst_LTLIBRARIES += libsgcnames.la
libsgcnames_la_SOURCES = $(names_sources)
libsgcnames_la_LIBADD = $(SGC_ELFUTILS_LIBS)

# Views of graphs: who keeps what, by groups.
noinst_LTLIBRARIES += libsgcview.la
libsgcview_la_SOURCES = \
	platform/pprof.h \
	snapshot/view/compare.c \
	snapshot/view/compare.h \
	snapshot/view/dominators.c \
	snapshot/view/dominators.h \
	snapshot/view/export.h \
	snapshot/view/export_folded.c \
	snapshot/view/export_heapsnapshot.c \
	snapshot/view/export_json.c \
	snapshot/view/export_pprof.c \
	snapshot/view/groups.c \
	snapshot/view/groups.h \
	snapshot/view/merged.c \
	snapshot/view/merged.h \
	snapshot/view/roots.c \
	snapshot/view/text.c \
	snapshot/view/text.h \
	snapshot/view/view.c \
	snapshot/view/view.h \
	snapshot/view/ways.c \
	snapshot/view/ways.h
libsgcview_la_LIBADD = libsgcgraph.la

# What programs say in a terminal and write: the tools of perfmodel/ share it.
tool_sources = snapshot/tools/command_line.c snapshot/tools/command_line.h
output_sources = snapshot/tools/output.c snapshot/tools/output.h

bin_PROGRAMS += snapshot/tools/sgc-snapshot
snapshot_tools_sgc_snapshot_SOURCES = snapshot/tools/sgc-snapshot.c snapshot/tools/snapshot_stats.c snapshot/tools/snapshot_stats.h \
	snapshot/tools/draw.c snapshot/tools/draw.h snapshot/tools/views.c snapshot/tools/views.h snapshot/tools/views_compare.c \
	snapshot/tools/views_export.c snapshot/tools/views_print.c snapshot/tools/views_print.h snapshot/tools/views_why.c \
	$(output_sources) $(tool_sources)
snapshot_tools_sgc_snapshot_LDADD = libsgcview.la libsgcnames.la libsgcgraph.la libsgccore.la
snapshot_tools_sgc_snapshot_CPPFLAGS = $(AM_CPPFLAGS) -DSGC_SNAPSHOT_TOOL_VERSION='"$(PACKAGE_VERSION)"'
EXTRA_DIST += snapshot/README.md snapshot/symbols_libdw.c snapshot/symbols_none.c snapshot/unpack_none.c snapshot/unpack_zstd.c
