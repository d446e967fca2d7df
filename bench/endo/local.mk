# SPDX-License-Identifier: MIT
# [Endo]'s programs, those of chapter 5 each in two builds, on the drop-in as the cases are (bench/local.mk); the study that runs them.

if SGC_SHARED
endo_built = \
	bench/endo/apps/allocrate \
	bench/endo/apps/bh \
	bench/endo/apps/bh-soft \
	bench/endo/apps/cky \
	bench/endo/apps/cky-soft \
	bench/endo/apps/cube \
	bench/endo/apps/cube-soft \
	bench/endo/apps/matmul \
	bench/endo/apps/matmul-soft \
	bench/endo/apps/unfair
endif
check_PROGRAMS += $(endo_built)

endo_common = bench/endo/apps/app.c bench/endo/apps/app.h $(case_common)
endo_libraries = $(case_library) -lm
endo_soft = $(AM_CPPFLAGS) -DENDO_SOFT

bench_endo_apps_allocrate_SOURCES = bench/endo/apps/allocrate.c $(endo_common)
bench_endo_apps_allocrate_LDADD = $(endo_libraries)
bench_endo_apps_allocrate_DEPENDENCIES = libgc.la
bench_endo_apps_unfair_SOURCES = bench/endo/apps/unfair.c $(endo_common)
bench_endo_apps_unfair_LDADD = $(endo_libraries)
bench_endo_apps_unfair_DEPENDENCIES = libgc.la
bench_endo_apps_bh_SOURCES = bench/endo/apps/bh.c $(endo_common)
bench_endo_apps_bh_LDADD = $(endo_libraries)
bench_endo_apps_bh_DEPENDENCIES = libgc.la
bench_endo_apps_bh_soft_SOURCES = $(bench_endo_apps_bh_SOURCES)
bench_endo_apps_bh_soft_CPPFLAGS = $(endo_soft)
bench_endo_apps_bh_soft_LDADD = $(endo_libraries)
bench_endo_apps_bh_soft_DEPENDENCIES = libgc.la
bench_endo_apps_cky_SOURCES = bench/endo/apps/cky.c $(endo_common)
bench_endo_apps_cky_LDADD = $(endo_libraries)
bench_endo_apps_cky_DEPENDENCIES = libgc.la
bench_endo_apps_cky_soft_SOURCES = $(bench_endo_apps_cky_SOURCES)
bench_endo_apps_cky_soft_CPPFLAGS = $(endo_soft)
bench_endo_apps_cky_soft_LDADD = $(endo_libraries)
bench_endo_apps_cky_soft_DEPENDENCIES = libgc.la
bench_endo_apps_cube_SOURCES = bench/endo/apps/cube.c $(endo_common)
bench_endo_apps_cube_LDADD = $(endo_libraries)
bench_endo_apps_cube_DEPENDENCIES = libgc.la
bench_endo_apps_cube_soft_SOURCES = $(bench_endo_apps_cube_SOURCES)
bench_endo_apps_cube_soft_CPPFLAGS = $(endo_soft)
bench_endo_apps_cube_soft_LDADD = $(endo_libraries)
bench_endo_apps_cube_soft_DEPENDENCIES = libgc.la
bench_endo_apps_matmul_SOURCES = bench/endo/apps/matmul.c $(endo_common)
bench_endo_apps_matmul_LDADD = $(endo_libraries)
bench_endo_apps_matmul_DEPENDENCIES = libgc.la
bench_endo_apps_matmul_soft_SOURCES = $(bench_endo_apps_matmul_SOURCES)
bench_endo_apps_matmul_soft_CPPFLAGS = $(endo_soft)
bench_endo_apps_matmul_soft_LDADD = $(endo_libraries)
bench_endo_apps_matmul_soft_DEPENDENCIES = libgc.la

# The study: programs of Python's standard library only.
EXTRA_DIST += \
	bench/endo/run \
	bench/endo/study/chapter2.py \
	bench/endo/study/chapter3.py \
	bench/endo/study/chapter4.py \
	bench/endo/study/experiments.py \
	bench/endo/study/measure.py \
	bench/endo/study/model.py \
	bench/endo/study/policies.py \
	bench/endo/study/results.py \
	bench/endo/study/simulated.py \
	bench/endo/study/snapshots.py \
	bench/endo/study/turns.py \
	bench/endo/study/versions.py \
	bench/endo/thesis.tsv
