# SPDX-License-Identifier: MIT
# What the storms are made of (tests/stress/README.md).  They see the public interface only.
check_LTLIBRARIES += tests/stress/libstorm.la
tests_stress_libstorm_la_SOURCES = \
	tests/stress/graph.c \
	tests/stress/object.c \
	tests/stress/object.h \
	tests/stress/storm.c \
	tests/stress/storm.h \
	tests/stress/supervise.c \
	tests/stress/supervise.h
tests_stress_libstorm_la_LIBADD = libsgc.la

# It exports the function that the constructors of its modules call.
tests_stress_storm_dlopen_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
check_LTLIBRARIES += tests/stress/storm_module.la tests/stress/storm_module_big.la
tests_stress_storm_module_la_SOURCES = tests/stress/storm_module.c
tests_stress_storm_module_la_CFLAGS = $(test_module_cflags)
tests_stress_storm_module_la_LDFLAGS = $(test_module_ldflags)
tests_stress_storm_module_big_la_SOURCES = tests/stress/storm_module.c
tests_stress_storm_module_big_la_CPPFLAGS = $(AM_CPPFLAGS) -DSTORM_MODULE_BIG
tests_stress_storm_module_big_la_CFLAGS = $(test_module_cflags)
tests_stress_storm_module_big_la_LDFLAGS = $(test_module_ldflags)
