# SPDX-License-Identifier: MIT
# Real programs built for bdwgc.
program_scripts = tests/check/check_programs
slow_scripts += tests/check/check_programs
long_test_scripts += tests/check/check-programs-long
EXTRA_DIST += \
	tests/programs/lib.sh \
	tests/programs/list.txt \
	tests/programs/prepare \
	tests/programs/work.asy \
	tests/programs/work.goo \
	tests/programs/work.html \
	tests/programs/work.cr tests/programs/work.ly tests/programs/work.m2 tests/programs/work.mac \
	tests/programs/work.def tests/programs/work.tpl \
	tests/programs/work.lisp tests/programs/work-weak.lisp \
	tests/programs/work.m \
	tests/programs/work.neko \
	tests/programs/work.nix \
	tests/programs/work.pk \
	tests/programs/work.sc \
	tests/programs/work.scm tests/programs/work-compile.scm

# The same ones where the collector is refused what it asks the system.
if SGC_SHARED
program_scripts += tests/check/check_sandbox
slow_scripts += tests/check/check_sandbox
check_LTLIBRARIES += tests/check/sandbox.la
tests_check_sandbox_la_SOURCES = tests/check/sandbox.c
tests_check_sandbox_la_CFLAGS = $(SGC_CFLAGS) -fvisibility=default
tests_check_sandbox_la_LDFLAGS = $(test_module_ldflags)
tests_check_sandbox_la_LIBADD =
endif

# Programs that include the gc.h family, with both families of headers.
script_tests += tests/check/check_family
EXTRA_DIST += tests/programs/family_kinds.c tests/programs/family_objects.c tests/programs/family_threads.c
