# SPDX-License-Identifier: MIT
# Short-term memory.

shortterm_sources = \
	shortterm/check.c \
	shortterm/clock_calls.c \
	shortterm/clocks.c \
	shortterm/clocks.h \
	shortterm/count.c \
	shortterm/count.h \
	shortterm/count_rules.h \
	shortterm/counts.c \
	shortterm/counts.h \
	shortterm/date_buffer.c \
	shortterm/date_buffer.h \
	shortterm/date_list.c \
	shortterm/date_list.h \
	shortterm/date_pages.c \
	shortterm/date_pages.h \
	shortterm/dates.c \
	shortterm/dates.h \
	shortterm/expire.c \
	shortterm/expire.h \
	shortterm/expire_stopped.c \
	shortterm/expired.c \
	shortterm/expired.h \
	shortterm/expire_stopped.h \
	shortterm/expiry_procs.c \
	shortterm/expiry_procs.h \
	shortterm/findings.c \
	shortterm/findings.h \
	shortterm/global_time.c \
	shortterm/global_time.h \
	shortterm/hold_calls.c \
	shortterm/holds.c \
	shortterm/holds.h \
	shortterm/layer.c \
	shortterm/named.c \
	shortterm/named.h \
	shortterm/objects.c \
	shortterm/orphan_dates.c \
	shortterm/orphan_dates.h \
	shortterm/refresh.c \
	shortterm/refresh.h \
	shortterm/refresh_reachable.c \
	shortterm/region_calls.c \
	shortterm/region_chunks.c \
	shortterm/region_chunks.h \
	shortterm/region_rules.h \
	shortterm/regions.c \
	shortterm/regions.h \
	shortterm/settings.c \
	shortterm/settings.h \
	shortterm/start.c \
	shortterm/start.h \
	shortterm/still.c \
	shortterm/still.h \
	shortterm/tick.c \
	shortterm/time_rules.h \
	shortterm/verify.c \
	shortterm/verify.h \
	shortterm/watch.c \
	shortterm/watch.h

# libscm.
compat_sources = \
	shortterm/compat/clocks.c \
	shortterm/compat/compat.h \
	shortterm/compat/dates.c \
	shortterm/compat/finalizers.c \
	shortterm/compat/mem_info.c \
	shortterm/compat/objects.c \
	shortterm/compat/regions.c \
	shortterm/compat/threads.c \
	shortterm/compat/wrap.c
