# SPDX-License-Identifier: MIT
# Marking.

mark_sources = \
	mark/backoff.h \
	mark/chain.c \
	mark/chain.h \
	mark/described.c \
	mark/described.h \
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
	mark/pages.c \
	mark/pages.h \
	mark/procs.c \
	mark/procs.h \
	mark/scan.c \
	mark/scan.h \
	mark/spans.c \
	mark/team.c \
	mark/team.h \
	mark/team_make.c \
	mark/termination.c \
	mark/termination.h \
	mark/visit_words.c \
	mark/work.h

# Passing work between markers.
mark_sources += \
	mark/deque.c \
	mark/deque.h \
	mark/futex_lock.c \
	mark/futex_lock.h \
	mark/policy.h \
	mark/stack_memory.c \
	mark/stack_memory.h
