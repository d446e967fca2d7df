# SPDX-License-Identifier: MIT
# Short-term memory.

shortterm_sources = \
	shortterm/check.c \
	shortterm/clocks.c \
	shortterm/clocks.h \
	shortterm/dates.c \
	shortterm/dates.h \
	shortterm/dates/count.c \
	shortterm/dates/count.h \
	shortterm/dates/count_rules.h \
	shortterm/dates/counts.c \
	shortterm/dates/counts.h \
	shortterm/dates/date_list.c \
	shortterm/dates/date_list.h \
	shortterm/dates/date_pages.c \
	shortterm/dates/date_pages.h \
	shortterm/dates/time_rules.h \
	shortterm/expire.c \
	shortterm/expire.h \
	shortterm/expire_stopped.c \
	shortterm/expiry_procs.c \
	shortterm/expiry_procs.h \
	shortterm/findings.c \
	shortterm/findings.h \
	shortterm/global_time.c \
	shortterm/global_time.h \
	shortterm/holds.c \
	shortterm/holds.h \
	shortterm/layer.c \
	shortterm/objects.c \
	shortterm/orphan_dates.c \
	shortterm/orphan_dates.h \
	shortterm/refresh.c \
	shortterm/refresh_reachable.c \
	shortterm/region_chunks.c \
	shortterm/region_chunks.h \
	shortterm/region_rules.h \
	shortterm/regions.c \
	shortterm/regions.h \
	shortterm/start.c \
	shortterm/start.h \
	shortterm/tick.c \
	shortterm/verify.c \
	shortterm/verify.h

# libscm.
compat_sources = \
	shortterm/compat/compat.h \
	shortterm/compat/dates.c \
	shortterm/compat/objects.c \
	shortterm/compat/wrap.c
