# SPDX-License-Identifier: MIT
# Marking.

mark_sources = \
	mark/descriptor.c \
	mark/descriptor.h \
	mark/displacements.c \
	mark/displacements.h \
	mark/drain.c \
	mark/drain.h \
	mark/edge.c \
	mark/edge.h \
	mark/edge_bits.h \
	mark/edge_loops.h \
	mark/edge_span.c \
	mark/follow.c \
	mark/follow.h \
	mark/layouts.c \
	mark/layouts.h \
	mark/mark_procs.c \
	mark/mark_procs.h \
	mark/mark_roots.c \
	mark/mark_roots.h \
	mark/markbit.c \
	mark/markbit.h \
	mark/marker.c \
	mark/marker.h \
	mark/scan.c \
	mark/scan.h \
	mark/team.c \
	mark/team.h \
	mark/team_make.c \
	mark/team_state.c \
	mark/team_state.h \
	mark/visit_words.c \
	mark/work/deque.c \
	mark/work/deque.h \
	mark/work/deque_memory.c \
	mark/work/deque_memory.h \
	mark/work/futex_lock.c \
	mark/work/futex_lock.h \
	mark/work/idle.h \
	mark/work/steal_rules.h \
	mark/work/termination.c \
	mark/work/termination.h \
	mark/work/work.h
