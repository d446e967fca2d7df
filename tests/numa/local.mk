# SPDX-License-Identifier: MIT
# Emulated machines with several memory nodes: the programs that run in them, and what starts them (tests/numa/run).
# The first program of a machine and the test of the machine itself are linked with nothing.
numa_tests = \
	tests/numa/test_confined \
	tests/numa/test_homes \
	tests/numa/test_machine \
	tests/numa/test_markers \
	tests/numa/test_platform \
	tests/numa/test_steals
check_PROGRAMS += tests/numa/init $(numa_tests)
# What else runs in a machine, for its kernel: unit tests that are listed elsewhere, too.
numa_others = \
	tests/unit/gc/collect/test_lost_writes \
	tests/unit/gc/collect/test_torture_concurrent \
	tests/unit/gc/collect/test_write_watch \
	tests/unit/platform/test_dirty \
	tests/unit/platform/test_dirty_failing
tests_numa_init_LDADD =
tests_numa_test_machine_LDADD =
slow_scripts += tests/check/check_numa
script_tests += tests/check/check_numa_runner
test_headers += tests/numa/filled.h tests/numa/nodes.h
EXTRA_DIST += tests/numa/archive.py tests/numa/machine.py tests/numa/run
