# SPDX-License-Identifier: MIT
# The systems of [Herrmann], a library for LD_PRELOAD over the next malloc.  It is not installed; bench/herrmann/run and
# bench/check/check_herrmann load it.

if SGC_SHARED
herrmann_library = bench/herrmann/libherrmann.la
endif
check_LTLIBRARIES += $(herrmann_library)
bench: $(herrmann_library)

# A compare-and-swap of 16 bytes is in the instructions of all processors of today, though not in the first of x86-64.
if SGC_ARCH_X86_64
herrmann_cflags = -mcx16
endif

bench_herrmann_libherrmann_la_SOURCES = \
	bench/herrmann/ahead.c \
	bench/herrmann/block.c bench/herrmann/block.h \
	bench/herrmann/family.c \
	bench/herrmann/figures.c bench/herrmann/figures.h \
	bench/herrmann/fork.c \
	bench/herrmann/herrmann.c \
	bench/herrmann/lock_free_bins.c \
	bench/herrmann/lock_free_safe.c \
	bench/herrmann/locked_bins.c \
	bench/herrmann/magazine.c \
	bench/herrmann/manager.c bench/herrmann/manager.h \
	bench/herrmann/message.c bench/herrmann/message.h \
	bench/herrmann/next.c bench/herrmann/next.h \
	bench/herrmann/none.c \
	bench/herrmann/pass_through.c \
	bench/herrmann/stock.c bench/herrmann/stock.h \
	bench/herrmann/system.h
# The compiler must not make calls of calloc of what is in it, nor leave out what a free makes useless.
bench_herrmann_libherrmann_la_CFLAGS = $(malloc_cflags) -fno-builtin $(herrmann_cflags)
bench_herrmann_libherrmann_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
