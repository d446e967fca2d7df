# SPDX-License-Identifier: MIT
# The collector.

gc_sources = \
	gc/events.c \
	gc/events.h \
	gc/histogram.c \
	gc/histogram.h \
	gc/line.c \
	gc/line.h \
	gc/log.c \
	gc/log.h \
	gc/log_file.c \
	gc/log_file.h \
	gc/option_signal.c \
	gc/option_table.c \
	gc/option_table.def \
	gc/option_table.h \
	gc/option_text.c \
	gc/options.c \
	gc/options.h \
	gc/stats.c \
	gc/stats.h \
	gc/stats_print.c

# libsgcpreload, for sgc-run.
preload_sources = gc/preload.c
