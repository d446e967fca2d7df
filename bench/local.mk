# SPDX-License-Identifier: MIT
# Benchmark programs: `make bench` builds them; each says at its head what it measures.

bench_programs = \
	bench/footprint \
	bench/pause \
	bench/stop

EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs)

bench_common = bench/measure.c bench/measure.h
bench_footprint_SOURCES = bench/footprint.c $(bench_common)
bench_footprint_LDADD = libsgc.la
bench_pause_SOURCES = bench/pause.c $(bench_common)
bench_pause_LDADD = libsgc.la
bench_stop_SOURCES = bench/stop.c $(bench_common)
bench_stop_LDADD = libsgc.la

bench: $(bench_programs)
.PHONY: bench
