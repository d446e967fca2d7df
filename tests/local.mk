# SPDX-License-Identifier: MIT
# The tests.  A name is enough: tests/test_x in unit_tests is built from tests/test_x.c and linked with
# all of the library, hidden symbols included.

LDADD = libsgccore.la

# Programs that make check runs.
unit_tests = \
	tests/test_one_heap \
	tests/test_tap

# Linked with nothing: it loads the libraries.
tests_test_one_heap_LDADD =

# Those of them that run threads: TSan runs these only.
thread_tests =

# Those that may notice how it was configured, beside them.
variant_tests = tests/test_topology tests/test_options tests/test_option_docs tests/test_exact tests/test_heap tests/test_huge_pages \
	tests/test_api_alloc tests/test_api_rest tests/test_api_stats tests/check_exports

# Those that show that a port works, few and short: run under qemu-user.
aarch64_tests = \
	tests/test_tap

# Scripts that make check runs.
script_tests = \
	tests/check_assertions \
	tests/check_dist \
	tests/check_exports \
	tests/check_layers \
	tests/check_quickstart \
	tests/check_sgc_run \
	tests/check_style \
	tests/check_tools

# Those that take longest: begun first, so that none of them is alone at the end.
slow_scripts =

# make check-long runs these, each ended after long_test_timeout seconds.
long_test_programs =
long_test_scripts =
long_test_timeout = 3600
LONG_TESTS = $(long_test_programs) $(long_test_scripts)

check_PROGRAMS += $(unit_tests)
EXTRA_PROGRAMS += $(long_test_programs)
CLEANFILES += $(long_test_programs)
TESTS += $(slow_scripts) $(unit_tests) $(script_tests)

EXTRA_DIST += \
	$(slow_scripts) \
	$(script_tests) \
	$(long_test_scripts) \
	$(test_headers) \
	tests/check_style.awk \
	tests/run-test \
	tests/tap.sh

test_headers = \
	tests/scrub.h \
	tests/tap.h

# The example program: every count against find, tr, sort and uniq.
script_tests += tests/test_wordindex.sh

# Options, events, statistics and the log.
unit_tests += tests/test_options tests/test_option_docs tests/test_events tests/test_line tests/test_stats tests/test_log
thread_tests += tests/test_events tests/test_stats tests/test_log
aarch64_tests += tests/test_events tests/test_stats
test_headers += tests/capture.h

# The platform.  qemu-user is no Linux where memory limits and the last signals are concerned, so
# those two do not run under it.
unit_tests += \
	tests/test_atomics \
	tests/test_collectors \
	tests/test_limits \
	tests/test_memory \
	tests/test_modules \
	tests/test_readable \
	tests/test_registers \
	tests/test_report \
	tests/test_stack \
	tests/test_threads \
	tests/test_tls \
	tests/test_topology \
	tests/test_wait \
	tests/test_words
thread_tests += tests/test_atomics tests/test_modules tests/test_stack tests/test_threads tests/test_tls tests/test_wait
aarch64_tests += \
	tests/test_atomics \
	tests/test_modules \
	tests/test_registers \
	tests/test_report \
	tests/test_stack \
	tests/test_tls \
	tests/test_wait
test_headers += tests/child.h tests/module.h tests/sanitized.h

# Modules that tests load and unload; -rpath makes libtool build shared ones although none is installed.
# Their thread-local variables are found as those of any dlopened library.
check_LTLIBRARIES += tests/module_small.la tests/module_large.la tests/module_static.la
test_module_cflags = $(SGC_CFLAGS) -ftls-model=global-dynamic -fvisibility=default
test_module_ldflags = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
tests_module_small_la_SOURCES = tests/module.c
tests_module_small_la_CPPFLAGS = $(AM_CPPFLAGS) -DMODULE_TLS_BYTES=24576
tests_module_small_la_CFLAGS = $(test_module_cflags)
tests_module_small_la_LDFLAGS = $(test_module_ldflags)
tests_module_large_la_SOURCES = tests/module.c
tests_module_large_la_CPPFLAGS = $(AM_CPPFLAGS) -DMODULE_TLS_BYTES=262144
tests_module_large_la_CFLAGS = $(test_module_cflags)
tests_module_large_la_LDFLAGS = $(test_module_ldflags)
# Its thread-local block has to be where those of the program are: at a fixed distance from the thread pointer.
tests_module_static_la_SOURCES = tests/module.c
tests_module_static_la_CPPFLAGS = $(AM_CPPFLAGS) -DMODULE_TLS_BYTES=424
tests_module_static_la_CFLAGS = $(SGC_CFLAGS) -ftls-model=initial-exec -fvisibility=default
tests_module_static_la_LDFLAGS = $(test_module_ldflags)
# This one's name is what matters.
check_LTLIBRARIES += tests/foreign/libgc.la
tests_foreign_libgc_la_SOURCES = tests/module.c
tests_foreign_libgc_la_CFLAGS = $(SGC_CFLAGS) -fvisibility=default
tests_foreign_libgc_la_LDFLAGS = $(test_module_ldflags)
EXTRA_tests_test_collectors_DEPENDENCIES = tests/foreign/libgc.la
# And a filter of that name for something else.
check_LTLIBRARIES += tests/filter/libgc.la
tests_filter_libgc_la_SOURCES = tests/module.c
tests_filter_libgc_la_CFLAGS = $(SGC_CFLAGS) -fvisibility=default
tests_filter_libgc_la_LDFLAGS = $(test_module_ldflags) -Wl,-F,libc.so.6
EXTRA_tests_test_one_heap_DEPENDENCIES = tests/filter/libgc.la
EXTRA_tests_test_modules_DEPENDENCIES = tests/module_small.la tests/module_large.la
EXTRA_tests_test_tls_DEPENDENCIES = tests/module_small.la tests/module_large.la tests/module_static.la

# The storms (tests/stress/README.md): a second each here, minutes in check-long.  They see the public
# interface only.  storm_dlopen exports the function that the constructors of its modules call.
storms = \
	tests/stress/storm_alloc \
	tests/stress/storm_blocking \
	tests/stress/storm_coroutines \
	tests/stress/storm_dlopen \
	tests/stress/storm_fork \
	tests/stress/storm_large \
	tests/stress/storm_signals \
	tests/stress/storm_threads
storm_common = \
	tests/stress/graph.c \
	tests/stress/hold.c \
	tests/stress/hold.h \
	tests/stress/message.c \
	tests/stress/message.h \
	tests/stress/object.c \
	tests/stress/object.h \
	tests/stress/storm.c \
	tests/stress/storm.h \
	tests/stress/supervise.c \
	tests/stress/supervise.h
check_PROGRAMS += $(storms)
TESTS += $(storms)
thread_tests += \
	tests/stress/storm_alloc \
	tests/stress/storm_blocking \
	tests/stress/storm_coroutines \
	tests/stress/storm_large \
	tests/stress/storm_signals \
	tests/stress/storm_threads
tests_stress_storm_alloc_SOURCES = tests/stress/storm_alloc.c $(storm_common)
tests_stress_storm_alloc_LDADD = libsgc.la
tests_stress_storm_blocking_SOURCES = tests/stress/storm_blocking.c $(storm_common)
tests_stress_storm_blocking_LDADD = libsgc.la
tests_stress_storm_coroutines_SOURCES = tests/stress/storm_coroutines.c $(storm_common)
tests_stress_storm_coroutines_LDADD = libsgc.la
tests_stress_storm_dlopen_SOURCES = tests/stress/storm_dlopen.c tests/stress/storm_module.h $(storm_common)
tests_stress_storm_dlopen_LDADD = libsgc.la
tests_stress_storm_dlopen_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
EXTRA_tests_stress_storm_dlopen_DEPENDENCIES = tests/stress/storm_module.la tests/stress/storm_module_big.la
tests_stress_storm_fork_SOURCES = tests/stress/storm_fork.c $(storm_common)
tests_stress_storm_fork_LDADD = libsgc.la
tests_stress_storm_large_SOURCES = tests/stress/storm_large.c $(storm_common)
tests_stress_storm_large_LDADD = libsgc.la
tests_stress_storm_signals_SOURCES = tests/stress/storm_signals.c tests/stress/storm_signals.h \
	tests/stress/signal_waiters.c $(storm_common)
tests_stress_storm_signals_LDADD = libsgc.la
tests_stress_storm_threads_SOURCES = tests/stress/storm_threads.c $(storm_common)
tests_stress_storm_threads_LDADD = libsgc.la
check_LTLIBRARIES += tests/stress/storm_module.la tests/stress/storm_module_big.la
tests_stress_storm_module_la_SOURCES = tests/stress/storm_module.c
tests_stress_storm_module_la_CFLAGS = $(test_module_cflags)
tests_stress_storm_module_la_LDFLAGS = $(test_module_ldflags)
tests_stress_storm_module_big_la_SOURCES = tests/stress/storm_module.c
tests_stress_storm_module_big_la_CPPFLAGS = $(AM_CPPFLAGS) -DSTORM_MODULE_BIG
tests_stress_storm_module_big_la_CFLAGS = $(test_module_cflags)
tests_stress_storm_module_big_la_LDFLAGS = $(test_module_ldflags)
long_test_scripts += tests/check-long
EXTRA_DIST += tests/stress/README.md

# The public interface: headers against bdwgc's and against what is exported, then every function of gc.h and
# sgc.h.  These tests use public headers only and were checked against bdwgc's library (tests/api.h).
script_tests += tests/check_headers
unit_tests += \
	tests/test_api_alloc \
	tests/test_api_altstack \
	tests/test_api_bad \
	tests/test_api_check \
	tests/test_api_fork \
	tests/test_api_heap \
	tests/test_group_limit \
	tests/test_malloc_redirected \
	tests/test_api_hook_alloc \
	tests/test_api_hooks \
	tests/test_api_liveness \
	tests/test_api_loader \
	tests/test_api_lock \
	tests/test_api_lock_left \
	tests/test_api_lock_threads \
	tests/test_api_noticed \
	tests/test_api_rest \
	tests/test_api_roots \
	tests/test_api_sandbox \
	tests/test_api_sgc \
	tests/test_api_signals \
	tests/test_api_stacks \
	tests/test_api_start \
	tests/test_api_stats \
	tests/test_api_stopped \
	tests/test_api_suspend \
	tests/test_api_suspend_region \
	tests/test_api_tagged \
	tests/test_api_threads \
	tests/test_api_unregister \
	tests/test_api_vars \
	tests/test_api_why_live
thread_tests += tests/test_api_hooks tests/test_api_hook_alloc tests/test_api_loader tests/test_api_lock tests/test_api_lock_left tests/test_api_lock_threads tests/test_api_suspend tests/test_api_suspend_region tests/test_api_threads tests/test_api_unregister
aarch64_tests += tests/test_api_alloc tests/test_api_liveness tests/test_api_stacks tests/test_api_threads
# The compiler makes calls of calloc and the like of what looks like them.
tests_test_malloc_redirected_CFLAGS = $(SGC_CFLAGS) -fno-builtin
test_headers += tests/api.h tests/api_list.h
EXTRA_DIST += tests/headers_constants.c tests/headers_types.c tests/headers_types.cc

# The documents against the tree: files, links, messages, options.
script_tests += tests/check_docs
EXTRA_DIST += tests/check_docs.awk

# The heap and the marker, from inside, without the collector above them (tests/heap.h).
heap_tests = \
	tests/test_chain \
	tests/test_claim_short \
	tests/test_clear \
	tests/test_decay \
	tests/test_exact \
	tests/test_heap \
	tests/test_huge_pages \
	tests/test_lists \
	tests/test_mark_spans \
	tests/test_marker \
	tests/test_object \
	tests/test_on_the_way \
	tests/test_page \
	tests/test_policy \
	tests/test_pool \
	tests/test_ready \
	tests/test_remote \
	tests/test_scan \
	tests/test_size_class \
	tests/test_slots \
	tests/test_small \
	tests/test_span \
	tests/test_spare \
	tests/test_sweep \
	tests/test_verify
unit_tests += $(heap_tests)
thread_tests += tests/test_clear tests/test_decay tests/test_on_the_way tests/test_pool tests/test_remote tests/test_spare
aarch64_tests += \
	tests/test_chain \
	tests/test_claim_short \
	tests/test_exact \
	tests/test_lists \
	tests/test_mark_spans \
	tests/test_marker \
	tests/test_remote \
	tests/test_size_class \
	tests/test_slots \
	tests/test_small \
	tests/test_span \
	tests/test_sweep
test_headers += tests/heap.h

# The collector from inside: sections, locks, stopping the world, roots, fork.
unit_tests += \
	tests/test_brief \
	tests/test_bad_process \
	tests/test_cycle \
	tests/test_finalized_left \
	tests/test_fork \
	tests/test_gone \
	tests/test_lock \
	tests/test_pacing \
	tests/test_ranges \
	tests/test_registry \
	tests/test_roots \
	tests/test_section \
	tests/test_service \
	tests/test_stale_stack \
	tests/test_stopper \
	tests/test_tls_roots \
	tests/test_torture \
	tests/test_world
thread_tests += tests/test_cycle tests/test_lock tests/test_registry tests/test_service tests/test_torture tests/test_world
aarch64_tests += tests/test_cycle tests/test_lock tests/test_ranges
test_headers += tests/trap.h tests/white.h
EXTRA_tests_test_roots_DEPENDENCIES = tests/module_small.la tests/module_large.la
EXTRA_tests_test_tls_roots_DEPENDENCIES = $(EXTRA_tests_test_tls_DEPENDENCIES)

# The models of the protocols, for the checker spin.
slow_scripts += \
	tests/model/check_brief \
	tests/model/check_deque \
	tests/model/check_gate \
	tests/model/check_remote \
	tests/model/check_stop \
	tests/model/check_suspend \
	tests/model/check_termination
long_test_scripts += tests/model/check-models-long
EXTRA_DIST += \
	tests/model/brief.pml \
	tests/model/gate.pml \
	tests/model/remote.pml \
	tests/model/remote_protocol.pml \
	tests/model/search.sh \
	tests/model/stop.pml \
	tests/model/stop_stopper.pml \
	tests/model/stop_thread.pml

# What GC_pthread_create keeps for threads; threads of programs that know nothing of it.
unit_tests += tests/test_start_records
thread_tests += tests/test_start_records
if SGC_PRELOAD
script_tests += tests/check_preload
check_PROGRAMS += tests/raw_threads
tests_raw_threads_LDADD = libgc.la
endif
EXTRA_DIST += tests/check_preload tests/raw_threads.c

# Questions about live objects beside collections.
unit_tests += tests/test_api_query_race
thread_tests += tests/test_api_query_race

# The debugger's commands, on a program of its own.
script_tests += tests/check_gdb
check_PROGRAMS += tests/subject_gdb
EXTRA_DIST += tests/check_gdb

# What the common paths cost, on a program of its own.
script_tests += tests/check_instructions tests/check_valgrind
check_PROGRAMS += tests/subject_instructions
EXTRA_DIST += tests/check_instructions tests/check_valgrind

# Markers working together.
unit_tests += tests/test_team
thread_tests += tests/test_team
test_headers += tests/child_says.h tests/random_graph.h

# The mark deque.
unit_tests += tests/test_deque tests/test_deque_memory tests/test_deque_order tests/test_deque_race
thread_tests += tests/test_deque_race
aarch64_tests += tests/test_deque tests/test_deque_race
test_headers += tests/deque.h tests/weak.h tests/weak_state.h
EXTRA_DIST += tests/model/deque.pml

# The runner of the benchmarks, on two of its programs.
slow_scripts += tests/check_bench

# The end of marking, and what idle markers do.
unit_tests += tests/test_backoff tests/test_termination tests/test_termination_order tests/test_termination_race
thread_tests += tests/test_backoff tests/test_termination_race
aarch64_tests += tests/test_termination_race
test_headers += tests/weak_sc.h
EXTRA_DIST += tests/model/termination.pml tests/model/termination_protocol.pml

# Pacing: the model by itself, the sizes of caches.
unit_tests += tests/test_caches tests/test_pacing_model tests/test_patience
thread_tests += tests/test_pacing

# The page policies: order of sources, options, races, and the bounds on recorded and random page demands
# (tests/traces/, written by tests/record_pages).
unit_tests += tests/test_lps_bounds tests/test_page_rule tests/test_page_sources tests/test_policy_race
thread_tests += tests/test_policy_race
aarch64_tests += tests/test_page_sources
check_PROGRAMS += tests/record_pages
tests_record_pages_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sgc_policy_take_singles,--wrap=sgc_pool_give_singles
test_headers += tests/page_replay.h tests/page_trace.h
EXTRA_DIST += tests/traces/churn.txt tests/traces/pipeline.txt tests/traces/turns.txt

# System calls that are refused.
unit_tests += tests/test_refused
test_headers += tests/refused_filter.h tests/refused_main.h tests/refused_run.h tests/refused_threads.h tests/refused_work.h
EXTRA_tests_test_refused_DEPENDENCIES = tests/module_large.la

# Several threads at the heap's limit.
unit_tests += tests/test_api_limit_race
thread_tests += tests/test_api_limit_race

# The switches of long runs.
script_tests += tests/check_switches
EXTRA_DIST += tests/switches.txt

# The threads of helper markers; presets.
unit_tests += tests/test_helpers

# Finalizers, links and toggle references; many of them with 1, 2 and 8 markers, and by threads beside collections.
unit_tests += \
	tests/test_api_finalize \
	tests/test_api_links \
	tests/test_api_toggle \
	tests/test_finalize_many \
	tests/test_finalize_race \
	tests/test_side_tree
thread_tests += tests/test_finalize_many tests/test_finalize_race tests/test_side_tree
aarch64_tests += tests/test_side_tree
# Allocation for debugging, by kind, inside client code; looking at the heap.
unit_tests += tests/test_api_debug tests/test_api_debug_finalize tests/test_api_inline tests/test_api_walk

# Kinds and mark procedures of clients.
unit_tests += tests/test_api_kinds tests/test_api_kinds_bad tests/test_api_procs tests/test_api_procs_team

# Typed objects, those of gcj and those with a disclaim procedure.
unit_tests += tests/test_api_disclaim tests/test_api_disclaim_coroutine tests/test_api_disclaim_free \
	tests/test_api_disclaim_race tests/test_api_disclaim_waiting tests/test_api_gcj tests/test_api_typed
slow_scripts += tests/check_objc
EXTRA_DIST += tests/objc_client.m

# The exports of the libraries beside bdwgc's.
script_tests += tests/check_abi tests/check_frames
EXTRA_DIST += tests/abi_missing.txt

# Our own exports and their types, as stored; "make update-abi" stores what is built.
script_tests += tests/check_abi_own
EXTRA_DIST += tests/abi/libgc.abi

# Not run by make check: "make check-mutants".
EXTRA_DIST += tests/check_mutants tests/mutants_accepted.txt

# C++ programs.
slow_scripts += tests/check_cpp
EXTRA_DIST += tests/cpp_client.cc

# Real programs built for bdwgc.
slow_scripts += tests/check_programs
long_test_scripts += tests/check-programs-long
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
slow_scripts += tests/check_sandbox
if SGC_SHARED
check_LTLIBRARIES += tests/sandbox.la
tests_sandbox_la_SOURCES = tests/sandbox.c
tests_sandbox_la_CFLAGS = $(SGC_CFLAGS) -fvisibility=default
tests_sandbox_la_LDFLAGS = $(test_module_ldflags)
tests_sandbox_la_LIBADD =
endif

# Programs that include the gc.h family, with both families of headers.
script_tests += tests/check_family
EXTRA_DIST += tests/programs/family_kinds.c tests/programs/family_objects.c tests/programs/family_threads.c

# The manual pages against the options.
script_tests += tests/check_man
