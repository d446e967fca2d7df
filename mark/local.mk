# SPDX-License-Identifier: MIT
# Marking.

mark_sources = \
	mark/work/idle.h \
	mark/follow.c \
	mark/follow.h \
	mark/descriptor.c \
	mark/descriptor.h \
	mark/edge.c \
	mark/edge.h \
	mark/edge_bits.h \
	mark/layouts.c \
	mark/layouts.h \
	mark/markbit.c \
	mark/markbit.h \
	mark/marker.c \
	mark/marker.h \
	mark/owners.c \
	mark/owners.h \
	mark/rescan.c \
	mark/rescan.h \
	mark/mark_procs.c \
	mark/mark_procs.h \
	mark/scan.c \
	mark/scan.h \
	mark/edge_span.c \
	mark/team.c \
	mark/team.h \
	mark/team_make.c \
	mark/work/termination.c \
	mark/work/termination.h \
	mark/visit_words.c \
	mark/work/work.h

# Passing work between markers.
mark_sources += \
	mark/work/deque.c \
	mark/work/deque.h \
	mark/work/futex_lock.c \
	mark/work/futex_lock.h \
	mark/work/steal_rules.h \
	mark/work/deque_memory.c \
	mark/work/deque_memory.h
