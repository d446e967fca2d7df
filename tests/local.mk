# SPDX-License-Identifier: MIT
# What the tests are made of.  The tests themselves are the rows of tests/list.txt, of which build-aux/tests.mk is made.

LDADD = tests/lib/libtest.la libsgccore.la

# What tests have in common.
check_LTLIBRARIES += tests/lib/libtest.la
tests_lib_libtest_la_SOURCES = tests/lib/capture.c tests/lib/child.c tests/lib/folder.c tests/lib/proc.c tests/lib/refuse.c \
	tests/lib/world.c

EXTRA_PROGRAMS += $(long_test_programs)
CLEANFILES += $(long_test_programs)

# make check-long runs these, each ended after long_test_timeout seconds.
LONG_TESTS = $(long_test_programs) $(long_test_scripts) $(also_long_tests)
long_test_timeout = 3600

# make_lists adds the tests, and what has a source's name.
EXTRA_DIST += \
	tests/consumers/meson.build \
	tests/fuzz/seeds \
	tests/lib/run-test \
	tests/make_lists \
	tests/numa/run

# ---- modules -------------------------------------------------------------------------------------
#
# Modules that tests load and unload; -rpath makes libtool build shared ones although none is installed.
# Their thread-local variables are found as those of any dlopened library.
test_module_cflags = $(SGC_CFLAGS) -ftls-model=global-dynamic -fvisibility=default
test_module_ldflags = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere

check_LTLIBRARIES += tests/lib/module_small.la tests/lib/module_large.la tests/lib/module_static.la
tests_lib_module_small_la_SOURCES = tests/lib/module.c
tests_lib_module_small_la_CPPFLAGS = $(AM_CPPFLAGS) -DMODULE_TLS_BYTES=24576
tests_lib_module_small_la_CFLAGS = $(test_module_cflags)
tests_lib_module_small_la_LDFLAGS = $(test_module_ldflags)
tests_lib_module_large_la_SOURCES = tests/lib/module.c
tests_lib_module_large_la_CPPFLAGS = $(AM_CPPFLAGS) -DMODULE_TLS_BYTES=262144
tests_lib_module_large_la_CFLAGS = $(test_module_cflags)
tests_lib_module_large_la_LDFLAGS = $(test_module_ldflags)
# Its thread-local block has to be where those of the program are: at a fixed distance from the thread pointer.
tests_lib_module_static_la_SOURCES = tests/lib/module.c
tests_lib_module_static_la_CPPFLAGS = $(AM_CPPFLAGS) -DMODULE_TLS_BYTES=424
tests_lib_module_static_la_CFLAGS = $(SGC_CFLAGS) -ftls-model=initial-exec -fvisibility=default
tests_lib_module_static_la_LDFLAGS = $(test_module_ldflags)
# This one's name is what matters.
check_LTLIBRARIES += tests/lib/foreign/libgc.la
tests_lib_foreign_libgc_la_SOURCES = tests/lib/module.c
tests_lib_foreign_libgc_la_CFLAGS = $(SGC_CFLAGS) -fvisibility=default
tests_lib_foreign_libgc_la_LDFLAGS = $(test_module_ldflags)
# So is this one's.
check_LTLIBRARIES += tests/lib/sanitizer/libtsan.la
tests_lib_sanitizer_libtsan_la_SOURCES = tests/lib/module.c
tests_lib_sanitizer_libtsan_la_CFLAGS = $(SGC_CFLAGS) -fvisibility=default
tests_lib_sanitizer_libtsan_la_LDFLAGS = $(test_module_ldflags)
# And a filter of that name for something else.
check_LTLIBRARIES += tests/lib/filter/libgc.la
tests_lib_filter_libgc_la_SOURCES = tests/lib/module.c
tests_lib_filter_libgc_la_CFLAGS = $(SGC_CFLAGS) -fvisibility=default
tests_lib_filter_libgc_la_LDFLAGS = $(test_module_ldflags) -Wl,-F,libc.so.6

# ---- single tests --------------------------------------------------------------------------------

# The compiler makes calls of calloc and the like of what looks like them.
plain_cflags = $(SGC_CFLAGS) -fno-builtin

# Of a test without marking, what is for the other build is left out, and with it the names that only that one has.
plain_test_cflags = $(AM_CFLAGS) -ffunction-sections
plain_test_ldflags = $(AM_LDFLAGS) -Wl,--gc-sections

# libscm, as programs have it.
scm_cppflags = -I$(top_srcdir)/include/scm $(AM_CPPFLAGS)

if SGC_SHARED
tests_check_subject_pauses_LDADD = .libs/libgc.so.1
tests_check_subject_pauses_DEPENDENCIES = libgc.la
endif

# Debian's programs where the collector is refused what it asks the system.
if SGC_SHARED
check_LTLIBRARIES += tests/check/sandbox.la
tests_check_sandbox_la_SOURCES = tests/check/sandbox.c
tests_check_sandbox_la_CFLAGS = $(SGC_CFLAGS) -fvisibility=default
tests_check_sandbox_la_LDFLAGS = $(test_module_ldflags)
tests_check_sandbox_la_LIBADD =
endif

# Its functions are seen by the libraries that it runs with.
tests_malloc_allocating_calls_LDFLAGS = $(AM_LDFLAGS) -rdynamic
