# SPDX-License-Identifier: MIT
# Marking.

mark_sources = \
	mark/edge.h \
	mark/marker.c \
	mark/marker.h \
	mark/scan.c \
	mark/scan.h \
	mark/work.c \
	mark/work.h
