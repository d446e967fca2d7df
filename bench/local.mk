# SPDX-License-Identifier: MIT
# Benchmark programs: `make bench` builds them; each says at its head what it measures.  bench/run runs the
# cases, bench/report writes bench/RESULTS.md and bench/TABLES.md; see bench/README.md.

# These look into SGC and run on it only.
bench_programs = \
	bench/footprint \
	bench/pause \
	bench/stop

bench_common = bench/measure.c bench/measure.h
bench_footprint_SOURCES = bench/footprint.c $(bench_common)
bench_footprint_LDADD = libsgc.la
bench_pause_SOURCES = bench/pause.c $(bench_common)
bench_pause_LDADD = libsgc.la
bench_stop_SOURCES = bench/stop.c $(bench_common)
bench_stop_LDADD = libsgc.la

# The cases know gc.h only.  They are linked with the drop-in as any program of bdwgc is, without a run path,
# so the loader decides at each start which libgc.so.1 they run on.
if SGC_SHARED
bench_cases = \
	bench/cases/coroutines \
	bench/cases/empty \
	bench/cases/finalize \
	bench/cases/gcbench \
	bench/cases/limits \
	bench/cases/loads \
	bench/cases/pairs \
	bench/cases/pauses

# bench/check/check_bench and check_held_out run these.
bench_tested = \
	bench/cases/alloc \
	bench/cases/handover \
	bench/cases/latency \
	bench/cases/mark \
	bench/cases/markers \
	bench/cases/scaling \
	bench/cases/strings \
	bench/cases/trees \
	bench/cases/unseen
endif

# The runner: programs of Python's standard library only.
EXTRA_DIST += \
	bench/README.md \
	bench/PROGRAMS.md \
	bench/RESULTS.md \
	bench/STUDIES.md \
	bench/TABLES.md \
	bench/plots \
	bench/all \
	bench/programs \
	bench/results \
	bench/held-out \
	bench/held-out.txt \
	bench/report \
	bench/run \
	bench/runner/cases.py \
	bench/runner/command.py \
	bench/runner/concurrent.py \
	bench/runner/front.py \
	bench/runner/goals.py \
	bench/runner/instructions.py \
	bench/runner/machine.py \
	bench/runner/plots.py \
	bench/runner/real.py \
	bench/runner/real_tables.py \
	bench/runner/programs.py \
	bench/runner/results.py \
	bench/runner/stops.py \
	bench/runner/studies.py \
	bench/runner/summary.py \
	bench/runner/tables.py \
	bench/runner/unseen.py

EXTRA_PROGRAMS += $(bench_programs) $(bench_cases)
check_PROGRAMS += $(bench_tested)
CLEANFILES += $(bench_programs) $(bench_cases)

case_common = bench/cases/case.c bench/cases/case.h $(bench_common)
case_library = .libs/libgc.so.1
case_shapes = bench/cases/shapes.c bench/cases/shapes.h

bench_cases_alloc_SOURCES = bench/cases/alloc.c $(case_common)
bench_cases_alloc_LDADD = $(case_library)
bench_cases_alloc_DEPENDENCIES = libgc.la
bench_cases_coroutines_SOURCES = bench/cases/coroutines.c $(case_common)
bench_cases_coroutines_LDADD = $(case_library)
bench_cases_coroutines_DEPENDENCIES = libgc.la
bench_cases_empty_SOURCES = bench/cases/empty.c $(case_common)
bench_cases_empty_LDADD = $(case_library)
bench_cases_empty_DEPENDENCIES = libgc.la
bench_cases_finalize_SOURCES = bench/cases/finalize.c $(case_common)
bench_cases_finalize_LDADD = $(case_library)
bench_cases_finalize_DEPENDENCIES = libgc.la
bench_cases_gcbench_SOURCES = bench/cases/gcbench.c $(case_common)
bench_cases_gcbench_LDADD = $(case_library)
bench_cases_gcbench_DEPENDENCIES = libgc.la
bench_cases_handover_SOURCES = bench/cases/handover.c $(case_common)
bench_cases_handover_LDADD = $(case_library)
bench_cases_handover_DEPENDENCIES = libgc.la
bench_cases_latency_SOURCES = bench/cases/latency.c $(case_common)
bench_cases_latency_LDADD = $(case_library)
bench_cases_latency_DEPENDENCIES = libgc.la
bench_cases_loads_SOURCES = bench/cases/loads.c $(case_common)
bench_cases_loads_LDADD = $(case_library)
bench_cases_loads_DEPENDENCIES = libgc.la
bench_cases_limits_SOURCES = bench/cases/limits.c $(case_common)
bench_cases_limits_LDADD = $(case_library)
bench_cases_limits_DEPENDENCIES = libgc.la
bench_cases_mark_SOURCES = bench/cases/mark.c $(case_shapes) $(case_common)
bench_cases_mark_LDADD = $(case_library)
bench_cases_mark_DEPENDENCIES = libgc.la
bench_cases_markers_SOURCES = bench/cases/markers.c $(case_shapes) $(case_common)
bench_cases_markers_LDADD = $(case_library)
bench_cases_markers_DEPENDENCIES = libgc.la
bench_cases_pairs_SOURCES = bench/cases/pairs.c $(case_common)
bench_cases_pairs_LDADD = $(case_library)
bench_cases_pairs_DEPENDENCIES = libgc.la
bench_cases_pauses_SOURCES = bench/cases/pauses.c $(case_shapes) $(case_common)
bench_cases_pauses_LDADD = $(case_library)
bench_cases_pauses_DEPENDENCIES = libgc.la
bench_cases_scaling_SOURCES = bench/cases/scaling.c $(case_common)
bench_cases_scaling_LDADD = $(case_library)
bench_cases_scaling_DEPENDENCIES = libgc.la
bench_cases_strings_SOURCES = bench/cases/strings.c $(case_common)
bench_cases_strings_LDADD = $(case_library)
bench_cases_strings_DEPENDENCIES = libgc.la
bench_cases_trees_SOURCES = bench/cases/trees.c $(case_common)
bench_cases_trees_LDADD = $(case_library)
bench_cases_trees_DEPENDENCIES = libgc.la
bench_cases_unseen_SOURCES = bench/cases/unseen.c bench/cases/unseen_shapes.c bench/cases/unseen_shapes.h $(case_common)
bench_cases_unseen_LDADD = $(case_library)
bench_cases_unseen_DEPENDENCIES = libgc.la

bench: $(bench_programs) $(bench_cases) $(bench_tested) $(endo_built) $(acdc_built) $(malloc_built) $(herrmann_tables_built) $(shortterm_built)
.PHONY: bench
