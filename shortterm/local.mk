# SPDX-License-Identifier: MIT
# Short-term memory.

shortterm_sources = \
	shortterm/date_buffer.c \
	shortterm/date_buffer.h \
	shortterm/date_list.c \
	shortterm/date_list.h \
	shortterm/date_pages.c \
	shortterm/date_pages.h \
	shortterm/dates.c \
	shortterm/dates.h \
	shortterm/global_time.c \
	shortterm/global_time.h \
	shortterm/layer.c \
	shortterm/layer.h \
	shortterm/objects.c \
	shortterm/refresh.c \
	shortterm/settings.c \
	shortterm/settings.h \
	shortterm/start.c \
	shortterm/start.h \
	shortterm/tick.c \
	shortterm/time_rules.h
