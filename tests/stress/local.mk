# SPDX-License-Identifier: MIT
# The storms (tests/stress/README.md): a second each here, minutes in check-long.  They see the public
# interface only.  storm_dlopen exports the function that the constructors of its modules call.
thread_storms = \
	tests/stress/storm_alloc \
	tests/stress/storm_blocking \
	tests/stress/storm_coroutines \
	tests/stress/storm_large \
	tests/stress/storm_signals \
	tests/stress/storm_threads
thread_tests += $(thread_storms)
storms = $(thread_storms) tests/stress/storm_dlopen tests/stress/storm_fork
check_PROGRAMS += $(storms)
TESTS += $(storms)
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
test_headers += tests/stress/hold.h tests/stress/storm_module.h
tests_stress_storm_alloc_LDADD = tests/stress/libstorm.la
tests_stress_storm_blocking_LDADD = tests/stress/libstorm.la
tests_stress_storm_coroutines_LDADD = tests/stress/libstorm.la
tests_stress_storm_dlopen_LDADD = tests/stress/libstorm.la
tests_stress_storm_dlopen_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
EXTRA_tests_stress_storm_dlopen_DEPENDENCIES = tests/stress/storm_module.la tests/stress/storm_module_big.la
tests_stress_storm_fork_LDADD = tests/stress/libstorm.la
tests_stress_storm_large_LDADD = tests/stress/libstorm.la
tests_stress_storm_signals_SOURCES = tests/stress/storm_signals.c tests/stress/storm_signals.h tests/stress/signal_waiters.c
tests_stress_storm_signals_LDADD = tests/stress/libstorm.la
tests_stress_storm_threads_LDADD = tests/stress/libstorm.la
check_LTLIBRARIES += tests/stress/storm_module.la tests/stress/storm_module_big.la
tests_stress_storm_module_la_SOURCES = tests/stress/storm_module.c
tests_stress_storm_module_la_CFLAGS = $(test_module_cflags)
tests_stress_storm_module_la_LDFLAGS = $(test_module_ldflags)
tests_stress_storm_module_big_la_SOURCES = tests/stress/storm_module.c
tests_stress_storm_module_big_la_CPPFLAGS = $(AM_CPPFLAGS) -DSTORM_MODULE_BIG
tests_stress_storm_module_big_la_CFLAGS = $(test_module_cflags)
tests_stress_storm_module_big_la_LDFLAGS = $(test_module_ldflags)
long_test_scripts += tests/check/check-long tests/check/check-concurrent-long tests/check/check-suite-concurrent tests/check/check-programs-concurrent
EXTRA_DIST += tests/stress/README.md
