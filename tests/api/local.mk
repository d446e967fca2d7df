# SPDX-License-Identifier: MIT
# The public interface: headers against bdwgc's and against what is exported, then every function of gc.h and
# sgc.h.  These tests use public headers only and were checked against bdwgc's library (tests/api/api.h).
script_tests += tests/check/check_headers
unit_tests += \
	tests/api/test_malloc \
	tests/api/test_altstack \
	tests/api/test_bad \
	tests/api/test_check \
	tests/api/test_fork \
	tests/api/test_collect \
	tests/api/test_incremental \
	tests/unit/gc/pacing/test_group_limit \
	tests/api/test_malloc_redirected \
	tests/api/test_hook_alloc \
	tests/api/test_hooks \
	tests/api/test_liveness \
	tests/api/test_loader \
	tests/api/test_alloc_lock \
	tests/api/test_alloc_lock_threads \
	tests/api/test_noticed \
	tests/api/test_end_and_strings \
	tests/api/test_roots \
	tests/api/test_sandbox \
	tests/api/test_sgc \
	tests/api/test_signals \
	tests/api/test_stacks \
	tests/api/test_start \
	tests/api/test_placement \
	tests/api/test_stats \
	tests/api/test_stopped \
	tests/api/test_suspend \
	tests/api/test_suspend_region \
	tests/api/test_tagged \
	tests/api/test_threads \
	tests/api/test_unregister \
	tests/api/test_vars \
	tests/api/test_vectors_left \
	tests/api/test_why_live
thread_tests += tests/api/test_hooks tests/api/test_hook_alloc tests/api/test_loader tests/api/test_alloc_lock tests/api/test_alloc_lock_threads tests/api/test_suspend_region tests/api/test_threads tests/api/test_unregister
aarch64_tests += tests/api/test_malloc tests/api/test_vectors_left tests/api/test_liveness tests/api/test_stacks tests/api/test_threads

# Signals that outlive their program.
unit_tests += tests/api/test_exec

# What a program writes to freed objects, and past the end of others.
unit_tests += tests/api/test_freed_damage

# Threads that wait with little of everything.
unit_tests += tests/api/test_idle_threads tests/unit/alloc/small/test_shared
thread_tests += tests/unit/alloc/small/test_shared
tests_unit_alloc_small_test_shared_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sgc_orphan_enlist,--wrap=sgc_orphan_usable

# Where programs are stopped.
unit_tests += tests/api/test_stop_places

# Limits on memory.
unit_tests += tests/api/test_under_limits

# What threads cost beside their stacks.
unit_tests += tests/api/test_thread_memory
thread_tests += tests/api/test_thread_memory
