# SPDX-License-Identifier: MIT
# Marking.

mark_sources = \
	mark/descriptor.c \
	mark/descriptor.h \
	mark/descriptor_find.c \
	mark/displacements.c \
	mark/displacements.h \
	mark/drain.c \
	mark/edge.c \
	mark/edge.h \
	mark/edge_bits.h \
	mark/edge_loops.h \
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
	mark/noted.c \
	mark/noted.h \
	mark/read_once.h \
	mark/scan.c \
	mark/visit_words.c \
	mark/word_form.h \
	mark/team/contention_rules.h \
	mark/team/team.c \
	mark/team/team.h \
	mark/team/team_assist.c \
	mark/team/team_concurrent.c \
	mark/team/team_make.c \
	mark/team/team_state.c \
	mark/team/team_state.h \
	mark/work/deque.c \
	mark/work/deque.h \
	mark/work/deque_memory.c \
	mark/work/deque_memory.h \
	mark/work/futex_lock.c \
	mark/work/futex_lock.h \
	mark/work/idle.h \
	mark/work/steal_rules.h \
	mark/work/termination.c \
	mark/work/termination.h
