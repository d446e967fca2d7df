# SPDX-License-Identifier: MIT
# The programs that the tables of [Herrmann] need (bench/herrmann/run), linked with the C library alone, and the scripts that run them.

herrmann_programs = \
	bench/herrmann/arguments \
	bench/herrmann/events \
	bench/herrmann/growing \
	bench/herrmann/increment \
	bench/herrmann/partitions
check_PROGRAMS += $(herrmann_programs)
check_LTLIBRARIES += bench/herrmann/recorder.la
herrmann_tables_built = $(herrmann_programs) bench/herrmann/recorder.la

bench_herrmann_arguments_SOURCES = bench/herrmann/arguments.c $(bench_common)
bench_herrmann_arguments_LDADD = -lm
bench_herrmann_events_SOURCES = bench/herrmann/events.c $(bench_common)
bench_herrmann_events_CFLAGS = $(malloc_cflags)
bench_herrmann_events_LDADD =
bench_herrmann_growing_SOURCES = bench/herrmann/growing.c $(malloc_common)
bench_herrmann_growing_CFLAGS = $(malloc_cflags)
bench_herrmann_growing_LDADD =
bench_herrmann_increment_SOURCES = bench/herrmann/increment.c $(bench_common)
bench_herrmann_increment_LDADD =
bench_herrmann_partitions_SOURCES = bench/herrmann/partitions.c $(bench_common)
bench_herrmann_partitions_CFLAGS = $(malloc_cflags)
bench_herrmann_partitions_LDADD =

# Preloaded; its functions are those of the malloc family, which the compiler must not take for granted.
bench_herrmann_recorder_la_SOURCES = bench/herrmann/recorder.c
bench_herrmann_recorder_la_CFLAGS = $(test_module_cflags) -fno-builtin
bench_herrmann_recorder_la_LDFLAGS = $(test_module_ldflags)

# Programs of Python's standard library only, and parts of bench/endo and bench/malloc.
EXTRA_DIST += \
	bench/herrmann/run \
	bench/herrmann/repeated/counting.py \
	bench/herrmann/repeated/experiments.py \
	bench/herrmann/repeated/inputs.py \
	bench/herrmann/repeated/measuring.py \
	bench/herrmann/repeated/predictor.py \
	bench/herrmann/repeated/refill.py \
	bench/herrmann/repeated/standins.py \
	bench/herrmann/repeated/systems.py \
	bench/herrmann/repeated/tests.py \
	bench/herrmann/thesis.tsv
