# SPDX-License-Identifier: MIT
# A plain malloc on the heap: the lower rooms once more, without what marks, and the family.
malloc_sources = \
	malloc/checked.c \
	malloc/checked.h \
	malloc/empty.h \
	malloc/family.c \
	malloc/family.h \
	malloc/give_back.c \
	malloc/give_back.h \
	malloc/harden.c \
	malloc/harden.h \
	malloc/info.c \
	malloc/operators.c \
	malloc/options.c \
	malloc/options.def \
	malloc/options.h \
	malloc/paths.h \
	malloc/quarantine.h \
	malloc/slow.c \
	malloc/slow.h \
	malloc/start.c \
	malloc/start.h \
	malloc/threads.c \
	malloc/threads.h

plain_cppflags = -DSGC_TRACES=0 $(AM_CPPFLAGS)

noinst_LTLIBRARIES += libsgcheap.la
libsgcheap_la_SOURCES = $(platform_base_sources) platform/nodes/topology_none.c $(alloc_plain_sources) $(alloc_carving_sources)
libsgcheap_la_CPPFLAGS = $(plain_cppflags)

# White-box tests link it, and their malloc is this one, too.
noinst_LTLIBRARIES += libsgcmallocbody.la
libsgcmallocbody_la_SOURCES = $(malloc_sources) $(options_sources)
libsgcmallocbody_la_CPPFLAGS = $(plain_cppflags)
# Functions that the program may replace are called by name: clang would put ours into their callers otherwise.
libsgcmallocbody_la_CFLAGS = $(AM_CFLAGS) -fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free \
	-fsemantic-interposition
libsgcmallocbody_la_LIBADD = libsgcheap.la

if SGC_PRELOAD
if !SGC_SANITIZED
pkglib_LTLIBRARIES += libsgcmalloc.la
libsgcmalloc_la_SOURCES =
libsgcmalloc_la_LIBADD = libsgcmallocbody.la
libsgcmalloc_la_LDFLAGS = $(shared_flags) -shared -module -avoid-version -static-libgcc $(SGC_SMALL_LDFLAGS) \
	-Wl,-z,now -Wl,-z,initfirst -Wl,--version-script,$(top_srcdir)/link/malloc.map
EXTRA_libsgcmalloc_la_DEPENDENCIES = link/malloc.map
endif
endif
EXTRA_DIST += link/malloc.map
