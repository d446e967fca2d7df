# SPDX-License-Identifier: MIT
# The programs of [SCM], on the drop-in as the cases are (bench/local.mk), and the study that runs them.

if SGC_SHARED
shortterm_built = \
	bench/shortterm/convert \
	bench/shortterm/indexer \
	bench/shortterm/montecarlo \
	bench/shortterm/operations
endif
check_PROGRAMS += $(shortterm_built)

shortterm_common = bench/shortterm/app.c bench/shortterm/app.h bench/shortterm/series.c bench/shortterm/series.h $(case_common)
shortterm_libraries = $(case_library) -lm

bench_shortterm_convert_SOURCES = bench/shortterm/convert.c bench/shortterm/sound.c bench/shortterm/sound.h $(shortterm_common)
bench_shortterm_convert_LDADD = $(shortterm_libraries)
bench_shortterm_convert_DEPENDENCIES = libgc.la
bench_shortterm_indexer_SOURCES = bench/shortterm/indexer.c bench/shortterm/corpus.c bench/shortterm/corpus.h \
	bench/shortterm/table.c bench/shortterm/table.h $(shortterm_common)
bench_shortterm_indexer_LDADD = $(shortterm_libraries)
bench_shortterm_indexer_DEPENDENCIES = libgc.la
bench_shortterm_montecarlo_SOURCES = bench/shortterm/montecarlo.c $(shortterm_common)
bench_shortterm_montecarlo_LDADD = $(shortterm_libraries)
bench_shortterm_montecarlo_DEPENDENCIES = libgc.la
bench_shortterm_operations_SOURCES = bench/shortterm/operations.c bench/shortterm/arena.c bench/shortterm/arena.h \
	bench/shortterm/loops.c bench/shortterm/loops.h $(shortterm_common)
bench_shortterm_operations_LDADD = $(shortterm_libraries)
bench_shortterm_operations_DEPENDENCIES = libgc.la

# The study: programs of Python's standard library only, and the tables of bench/endo.
EXTRA_DIST += \
	bench/shortterm/README.md \
	bench/shortterm/paper.tsv \
	bench/shortterm/run \
	bench/shortterm/series \
	bench/shortterm/scm/measure.py \
	bench/shortterm/scm/subjects.py \
	bench/shortterm/scm/tables.py
