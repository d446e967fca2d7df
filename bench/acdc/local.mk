# SPDX-License-Identifier: MIT
# ACDC ([SCM-C]): one program for all memories, on the drop-in as the cases are (bench/local.mk).

if SGC_SHARED
acdc_built = bench/acdc/acdc
endif
check_PROGRAMS += $(acdc_built)

bench_acdc_acdc_SOURCES = \
	bench/acdc/acdc.c \
	bench/acdc/buffers.h \
	bench/acdc/draw.h \
	bench/acdc/memory.c \
	bench/acdc/memory.h \
	bench/acdc/memory_gc.c \
	bench/acdc/memory_gc.h \
	bench/acdc/memory_malloc.c \
	bench/acdc/memory_none.c \
	bench/acdc/memory_scm.c \
	bench/acdc/memory_shortterm.c \
	bench/acdc/metadata.c \
	bench/acdc/metadata.h \
	bench/acdc/metrics.c \
	bench/acdc/metrics.h \
	bench/acdc/mutator.c \
	bench/acdc/mutator.h \
	bench/acdc/options.c \
	bench/acdc/options.h \
	bench/acdc/share.c \
	bench/acdc/share.h
bench_acdc_acdc_LDADD = $(case_library) -lm
bench_acdc_acdc_DEPENDENCIES = libgc.la

EXTRA_DIST += bench/acdc/README.md

# The study: programs of Python's standard library only.
EXTRA_DIST += \
	bench/acdc/run \
	bench/acdc/chapter6/experiments.py \
	bench/acdc/chapter6/factorial.py \
	bench/acdc/chapter6/measure.py \
	bench/acdc/chapter6/tables.py \
	bench/acdc/chapter6/versions.py \
	bench/acdc/thesis.tsv
