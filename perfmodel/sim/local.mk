# SPDX-License-Identifier: MIT
# The simulator: the library's marking code once more, against simulated atomics, and what it runs on.
sim_sources = \
	perfmodel/sim/access.h \
	perfmodel/sim/atomics.h \
	perfmodel/sim/coroutine.c \
	perfmodel/sim/coroutine.h \
	perfmodel/sim/endo_marker.c \
	perfmodel/sim/endo_marker.h \
	perfmodel/sim/machine.c \
	perfmodel/sim/machine.h \
	perfmodel/sim/memory.c \
	perfmodel/sim/memory.h \
	perfmodel/sim/occupied.h perfmodel/sim/prefetcher.h \
	perfmodel/sim/platform.c \
	perfmodel/sim/platform.h \
	perfmodel/sim/preset.h \
	perfmodel/sim/queue.h \
	perfmodel/sim/restore.c \
	perfmodel/sim/restore.h \
	perfmodel/sim/schedule.c \
	perfmodel/sim/schedule.h \
	perfmodel/sim/sim.c \
	perfmodel/sim/sim.h \
	perfmodel/sim/stream.c \
	perfmodel/sim/stream.h

noinst_LTLIBRARIES += libsgcsim.la
libsgcsim_la_SOURCES = $(sim_sources) $(mark_sources) \
	alloc/object.c \
	alloc/pages/kind.c \
	alloc/pages/page.c \
	alloc/pages/reserve.c \
	alloc/pages/size_class.c \
	platform/report.c
libsgcsim_la_CPPFLAGS = -include $(top_srcdir)/perfmodel/sim/atomics.h $(AM_CPPFLAGS)
libsgcsim_la_LIBADD = libsgcmodel.la

bin_PROGRAMS += perfmodel/tools/sgc-simulate
perfmodel_tools_sgc_simulate_SOURCES = perfmodel/tools/sgc-simulate.c $(tool_sources)
perfmodel_tools_sgc_simulate_LDADD = libsgcsim.la
perfmodel_tools_sgc_simulate_CPPFLAGS = $(AM_CPPFLAGS) -DSGC_SIMULATE_VERSION='"$(PACKAGE_VERSION)"' \
	-DSGC_MACHINES='"$(machinesdir)"'

dist_man_MANS += doc/man/sgc-simulate.1
