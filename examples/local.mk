# SPDX-License-Identifier: MIT
# Example programs: noinst_PROGRAMS += examples/..., built on the public headers only.

# wordindex twice from the same sources: the folder with memory.h decides where memory comes from.
noinst_PROGRAMS += \
	examples/wordindex/wordindex \
	examples/wordindex/wordindex-malloc

wordindex_sources = \
	examples/wordindex/build.c \
	examples/wordindex/build.h \
	examples/wordindex/complain.c \
	examples/wordindex/complain.h \
	examples/wordindex/files.c \
	examples/wordindex/files.h \
	examples/wordindex/index.c \
	examples/wordindex/index.h \
	examples/wordindex/main.c \
	examples/wordindex/options.c \
	examples/wordindex/options.h \
	examples/wordindex/output.c \
	examples/wordindex/output.h \
	examples/wordindex/postings.c \
	examples/wordindex/postings.h \
	examples/wordindex/query.c \
	examples/wordindex/query.h \
	examples/wordindex/queue.c \
	examples/wordindex/queue.h \
	examples/wordindex/table.c \
	examples/wordindex/table.h \
	examples/wordindex/tokens.c \
	examples/wordindex/tokens.h \
	examples/wordindex/walk.c \
	examples/wordindex/walk.h

wordindex_cppflags = $(SGC_CPPFLAGS) -DWORDINDEX_PROJECT='"$(abs_top_srcdir)"' -I$(top_srcdir)

examples_wordindex_wordindex_SOURCES = $(wordindex_sources) examples/wordindex/on_gc/memory.h
examples_wordindex_wordindex_CPPFLAGS = $(wordindex_cppflags) \
	-I$(top_srcdir)/examples/wordindex/on_gc -I$(top_srcdir)/include
examples_wordindex_wordindex_LDADD = libsgc.la -lpthread

# No collector: neither its headers nor its library.
examples_wordindex_wordindex_malloc_SOURCES = $(wordindex_sources) examples/wordindex/on_malloc/memory.h
examples_wordindex_wordindex_malloc_CPPFLAGS = $(wordindex_cppflags) \
	-I$(top_srcdir)/examples/wordindex/on_malloc
examples_wordindex_wordindex_malloc_LDADD = -lpthread

EXTRA_DIST += \
	examples/wordindex/README.md \
	examples/wordindex/collections.awk \
	examples/wordindex/count-words \
	examples/wordindex/demo
