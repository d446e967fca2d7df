# SPDX-License-Identifier: MIT
# The tests, and the lists that the fragments of its folders add to: api, model, numa, programs, stress, unit/shortterm.  A
# name is enough: tests/test_x in unit_tests is built from tests/test_x.c and linked with all of the library, hidden
# symbols included.

LDADD = libsgccore.la

# Programs that make check runs.
unit_tests = \
	tests/api/test_one_heap \
	tests/lib/test_tap

# Linked with nothing: it loads the libraries.
tests_api_test_one_heap_LDADD =

# Those of them that run threads: TSan runs these only.
# The longest first, so that none of them is alone at the end.
thread_tests = tests/unit/gc/finalize/test_finalize_many tests/api/test_suspend tests/unit/gc/collect/test_background

# Those that may notice how it was configured, beside them.
variant_tests = tests/unit/platform/test_topology tests/unit/gc/config/test_options tests/unit/gc/config/test_option_docs tests/unit/mark/test_exact tests/unit/alloc/pages/test_reserve tests/unit/alloc/pages/test_huge_pages \
	tests/api/test_malloc tests/api/test_end_and_strings tests/api/test_stats tests/check/check_exports

# Those for which assertions are what is tried.
assertion_tests = tests/unit/mark/work/test_termination tests/unit/gc/collect/test_faults

# Those that show that a port works, few and short: run under qemu-user.
aarch64_tests = \
	tests/lib/test_tap

# Scripts that make check runs.
script_tests = \
	tests/check/check_assertions \
	tests/check/check_dist \
	tests/check/check_exports \
	tests/check/check_layers \
	tests/check/check_modules \
	tests/check/check_quickstart \
	tests/check/check_sgc_run \
	tests/check/check_style \
	tests/check/check_tests \
	tests/check/check_tools \
	tests/check/check_words

# Those that take longest: begun first, so that none of them is alone at the end.
slow_scripts =

# make check-long runs these, each ended after long_test_timeout seconds.
long_test_programs =
long_test_scripts =
long_test_timeout = 3600
LONG_TESTS = $(long_test_programs) $(long_test_scripts) tests/check/check_programs tests/check/check_sandbox tests/check/check_numa

check_PROGRAMS += $(unit_tests)
EXTRA_PROGRAMS += $(long_test_programs)
CLEANFILES += $(long_test_programs)
TESTS += $(slow_scripts) $(unit_tests) $(script_tests)

EXTRA_DIST += \
	$(slow_scripts) \
	$(script_tests) \
	$(long_test_scripts) \
	$(test_headers) \
	tests/check/check_style.awk \
	tests/check/modules.py \
	tests/check/modules.txt \
	tests/check/words.py \
	tests/check/words.txt \
	tests/lib/run-test \
	tests/lib/tap.sh

test_headers = \
	tests/lib/scrub.h \
	tests/lib/tap.h

# The example program: every count against find, tr, sort and uniq.
script_tests += tests/check/check_wordindex

# Options, events, statistics and the log.
unit_tests += tests/unit/gc/config/test_options tests/unit/gc/config/test_option_docs tests/unit/gc/events/test_events tests/unit/platform/test_text_line tests/unit/gc/events/test_stats tests/unit/gc/events/test_json_log
thread_tests += tests/unit/gc/events/test_events tests/unit/gc/events/test_stats tests/unit/gc/events/test_json_log
aarch64_tests += tests/unit/gc/events/test_events tests/unit/gc/events/test_stats
test_headers += tests/lib/capture.h tests/lib/folder.h tests/lib/proc.h tests/lib/refuse.h tests/lib/threads.h tests/lib/vectors.h

# Files that are written: whose they are, limits, and what a terminal gets.
unit_tests += tests/unit/platform/test_written_file
script_tests += tests/check/check_files tests/check/check_shown

# The platform.  qemu-user is no Linux where memory limits and the last signals are concerned, so
# those two do not run under it.
platform_port_tests = \
	tests/unit/platform/test_atomics \
	tests/unit/platform/test_modules \
	tests/unit/platform/test_registers \
	tests/unit/platform/test_vectors \
	tests/unit/platform/test_report \
	tests/unit/platform/test_stack \
	tests/unit/platform/test_tls \
	tests/unit/platform/test_wait
unit_tests += \
	$(platform_port_tests) \
	tests/unit/platform/test_barrier \
	tests/unit/platform/test_dirty \
	tests/unit/platform/test_dirty_failing \
	tests/unit/platform/test_dirty_mprotect \
	tests/unit/platform/test_dirty_software \
	tests/unit/platform/test_other_gc \
	tests/unit/platform/test_limits \
	tests/unit/platform/test_memory \
	tests/unit/platform/test_number_set \
	tests/unit/platform/test_own_file \
	tests/unit/platform/test_placement \
	tests/unit/platform/test_readable \
	tests/unit/platform/test_threads \
	tests/unit/platform/test_topology \
	tests/unit/platform/test_find_pointers \
	tests/unit/platform/test_find_pointers_race
thread_tests += tests/unit/platform/test_atomics tests/unit/platform/test_barrier tests/unit/platform/test_dirty_software tests/unit/platform/test_find_pointers_race tests/unit/platform/test_modules tests/unit/platform/test_stack tests/unit/platform/test_threads tests/unit/platform/test_tls tests/unit/platform/test_wait
aarch64_tests += $(platform_port_tests)

# Memory that grows in place, and limits on it.
unit_tests += tests/unit/platform/test_stretch
aarch64_tests += tests/unit/platform/test_stretch
test_headers += tests/lib/child.h tests/lib/module.h tests/lib/random.h tests/lib/sanitized.h

# Modules that tests load and unload; -rpath makes libtool build shared ones although none is installed.
# Their thread-local variables are found as those of any dlopened library.
check_LTLIBRARIES += tests/lib/module_small.la tests/lib/module_large.la tests/lib/module_static.la
test_module_cflags = $(SGC_CFLAGS) -ftls-model=global-dynamic -fvisibility=default
test_module_ldflags = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
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
EXTRA_tests_unit_platform_test_other_gc_DEPENDENCIES = tests/lib/foreign/libgc.la
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
EXTRA_tests_api_test_one_heap_DEPENDENCIES = tests/lib/filter/libgc.la
EXTRA_tests_unit_platform_test_modules_DEPENDENCIES = tests/lib/module_small.la tests/lib/module_large.la \
	tests/lib/sanitizer/libtsan.la
EXTRA_tests_unit_platform_test_tls_DEPENDENCIES = tests/lib/module_small.la tests/lib/module_large.la tests/lib/module_static.la

# The compiler makes calls of calloc and the like of what looks like them.
tests_api_test_malloc_redirected_CFLAGS = $(SGC_CFLAGS) -fno-builtin
test_headers += tests/api/api.h tests/api/api_list.h tests/api/disclaim.h
EXTRA_DIST += tests/api/headers_constants.c tests/api/headers_types.c tests/api/headers_types.cc

# The documents against the tree: files, links, messages, options.
script_tests += tests/check/check_docs tests/check/check_figures
EXTRA_DIST += tests/check/check.sh tests/check/check_docs.awk tests/check/figures.py

# The heap and the marker, from inside, without the collector above them (tests/lib/heap.h).
heap_port_tests = \
	tests/unit/mark/test_follow \
	tests/unit/mark/test_exact \
	tests/unit/alloc/pages/test_page_lists \
	tests/unit/mark/test_edge_span \
	tests/unit/mark/test_marker \
	tests/unit/alloc/small/test_remote_free \
	tests/unit/alloc/pages/test_size_class \
	tests/unit/alloc/small/test_slots \
	tests/unit/alloc/small/test_small \
	tests/unit/alloc/large/test_span \
	tests/unit/alloc/small/test_sweep
heap_tests = \
	$(heap_port_tests) \
	tests/unit/alloc/test_clear \
	tests/unit/alloc/pages/test_decay \
	tests/unit/alloc/pages/test_reserve \
	tests/unit/alloc/pages/test_huge_pages \
	tests/unit/alloc/test_marking \
	tests/unit/alloc/test_marking_quarantine \
	tests/unit/alloc/test_marking_race \
	tests/unit/alloc/test_object \
	tests/unit/alloc/pages/test_pool_transit \
	tests/unit/alloc/pages/test_dangling \
	tests/unit/alloc/pages/test_survival \
	tests/unit/alloc/pages/test_page \
	tests/unit/alloc/test_page_supply \
	tests/unit/alloc/pages/test_pool \
	tests/unit/alloc/pages/test_found_nodes \
	tests/unit/alloc/pages/test_homes \
	tests/unit/alloc/pages/test_pool_nodes \
	tests/unit/alloc/test_refill \
	tests/unit/mark/test_scan \
	tests/unit/alloc/large/test_span_cache \
	tests/unit/alloc/test_check
unit_tests += $(heap_tests)
thread_tests += tests/unit/alloc/test_clear tests/unit/alloc/test_marking_race tests/unit/alloc/pages/test_decay tests/unit/alloc/pages/test_pool_transit tests/unit/alloc/pages/test_pool tests/unit/alloc/small/test_remote_free tests/unit/alloc/large/test_span_cache
aarch64_tests += $(heap_port_tests)
test_headers += tests/lib/fake_nodes.h tests/lib/heap.h tests/unit/alloc/phases.h

# The collector from inside: sections, locks, stopping the world, roots, fork.
unit_tests += \
	tests/unit/platform/test_brief \
	tests/unit/gc/threads/test_bad_process \
	tests/unit/gc/collect/test_cycle \
	tests/unit/gc/finalize/test_finalized_left \
	tests/unit/gc/collect/test_fork \
	tests/unit/gc/threads/test_registry_gone \
	tests/unit/platform/test_lock \
	tests/unit/gc/pacing/test_pacing \
	tests/unit/gc/roots/test_ranges \
	tests/unit/gc/threads/test_registry \
	tests/unit/gc/roots/test_roots \
	tests/unit/platform/test_section \
	tests/unit/gc/collect/test_background \
	tests/unit/gc/roots/test_stale_stack \
	tests/unit/gc/threads/test_stopper \
	tests/unit/gc/roots/test_tls_roots \
	tests/unit/gc/collect/test_closure \
	tests/unit/gc/collect/test_concurrent \
	tests/unit/gc/collect/test_concurrent_markers \
	tests/unit/gc/collect/test_due \
	tests/unit/gc/collect/test_reported \
	tests/unit/gc/collect/test_reported_own \
	tests/unit/gc/collect/test_faults \
	tests/unit/gc/collect/test_torture \
	tests/unit/gc/collect/test_lost_writes \
	tests/unit/gc/collect/test_torture_concurrent \
	tests/unit/gc/collect/test_upper_start \
	tests/unit/gc/collect/test_write_watch \
	tests/unit/gc/collect/test_write_watch_protected \
	tests/unit/gc/threads/test_upper \
	tests/unit/gc/threads/test_world
thread_tests += tests/unit/gc/collect/test_concurrent tests/unit/gc/collect/test_lost_writes tests/unit/gc/collect/test_torture_concurrent tests/unit/gc/collect/test_concurrent_markers tests/unit/gc/collect/test_reported tests/unit/gc/collect/test_cycle tests/unit/platform/test_lock tests/unit/gc/threads/test_registry tests/unit/gc/threads/test_upper tests/unit/gc/collect/test_torture tests/unit/gc/threads/test_world
aarch64_tests += tests/unit/gc/collect/test_cycle tests/unit/platform/test_lock tests/unit/gc/roots/test_ranges
test_headers += tests/lib/failing_calls.h tests/lib/findings.h tests/lib/limit.h tests/lib/layer.h tests/lib/mixed_work.h tests/lib/moving.h tests/lib/trap.h tests/lib/white.h
EXTRA_tests_unit_gc_roots_test_roots_DEPENDENCIES = tests/lib/module_small.la tests/lib/module_large.la
EXTRA_tests_unit_gc_roots_test_tls_roots_DEPENDENCIES = $(EXTRA_tests_unit_platform_test_tls_DEPENDENCIES)

# What GC_pthread_create keeps for threads; threads of programs that know nothing of it.
unit_tests += tests/api/test_created_threads tests/api/test_joins
thread_tests += tests/api/test_created_threads
if SGC_PRELOAD
script_tests += tests/check/check_preload
check_PROGRAMS += tests/check/raw_threads
tests_check_raw_threads_LDADD = libgc.la
endif
EXTRA_DIST += tests/check/check_preload tests/check/raw_threads.c

# Questions about live objects beside collections.
unit_tests += tests/api/test_query_race
thread_tests += tests/api/test_query_race

# The debugger's commands, on a program of its own.
script_tests += tests/check/check_gdb
check_PROGRAMS += tests/check/subject_gdb
EXTRA_DIST += tests/check/check_gdb

# What the common paths cost, on a program of its own.
script_tests += tests/check/check_instructions tests/check/check_valgrind
check_PROGRAMS += tests/check/subject_instructions
EXTRA_DIST += tests/check/check_instructions tests/check/check_valgrind

# Markers working together; a marker beside the program.
unit_tests += tests/unit/mark/test_team tests/unit/mark/test_team_concurrent tests/unit/mark/test_team_assist \
	tests/unit/mark/test_descriptor_later tests/unit/mark/test_marker_race tests/unit/mark/test_written
thread_tests += tests/unit/mark/test_team tests/unit/mark/test_team_assist tests/unit/mark/test_marker_race
aarch64_tests += tests/unit/mark/test_marker_race tests/unit/mark/test_written
test_headers += tests/lib/random_graph.h

# The mark deque.
unit_tests += tests/unit/mark/work/test_deque tests/unit/mark/work/test_deque_memory tests/unit/mark/work/test_deque_order tests/unit/mark/work/test_deque_race tests/unit/mark/work/test_steal_rules
thread_tests += tests/unit/mark/work/test_deque_race tests/unit/mark/work/test_steal_rules
aarch64_tests += tests/unit/mark/work/test_deque tests/unit/mark/work/test_deque_race tests/unit/mark/work/test_steal_rules
test_headers += tests/lib/deque.h tests/lib/weak.h tests/lib/weak_state.h
EXTRA_DIST += tests/model/cards.pml tests/model/concurrent.pml tests/model/flip.pml tests/model/deque.pml

# The runner of the benchmarks, on two of its programs.
slow_scripts += tests/check/check_bench tests/check/check_held_out

# [Endo]'s programs, and the study that runs them.
slow_scripts += tests/check/check_endo_apps tests/check/check_endo_policies tests/check/check_endo_study tests/check/check_endo_model

# The programs about short-term memory.
slow_scripts += tests/check/check_shortterm_apps tests/check/check_steady
long_test_scripts += tests/check/check_shortterm_study tests/check/check_shortterm_races_long

# ACDC on each memory, and on a small libscm; the study that runs it.
slow_scripts += tests/check/check_acdc
long_test_scripts += tests/check/check_acdc_study
EXTRA_DIST += tests/check/small_scm.c

# What verify says of these programs.
slow_scripts += tests/check/check_shortterm_verify
long_test_scripts += tests/check/check_shortterm_verify_long

# The end of marking, and what idle markers do.
unit_tests += tests/unit/mark/work/test_idle tests/unit/mark/work/test_termination tests/unit/mark/work/test_termination_order tests/unit/mark/work/test_termination_race
thread_tests += tests/unit/mark/work/test_idle tests/unit/mark/work/test_termination_race
aarch64_tests += tests/unit/mark/work/test_termination_race
test_headers += tests/lib/weak_sc.h
EXTRA_DIST += tests/model/termination.pml tests/model/termination_protocol.pml

# Pacing: the model by itself, the sizes of caches.
unit_tests += tests/unit/platform/test_caches tests/unit/gc/pacing/test_pacing_rules tests/unit/gc/pacing/test_concurrent_pace tests/unit/gc/pacing/test_endo_rules tests/unit/gc/pacing/test_marker_choice tests/unit/gc/threads/test_spin_wait

# Pacing by [Endo]'s rule: the test hears each question whether a collection is due.
unit_tests += tests/unit/gc/pacing/test_pacing_endo
tests_unit_gc_pacing_test_pacing_endo_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sgc_pacing_poll

# The page policies: order of sources, options, races, and the bounds on recorded and random page demands
# (tests/traces/, written by tests/unit/alloc/record_pages).
unit_tests += tests/unit/gc/threads/test_bind_plan tests/unit/gc/threads/test_binding tests/unit/mark/test_team_nodes
thread_tests += tests/unit/mark/test_team_nodes
unit_tests += tests/unit/alloc/pages/test_page_rules_bounds tests/unit/gc/config/test_page_rule tests/unit/alloc/test_page_supply_sources tests/unit/alloc/test_page_supply_race
thread_tests += tests/unit/alloc/test_page_supply_race
unit_tests += tests/unit/alloc/test_drop tests/unit/alloc/test_drop_race tests/unit/alloc/test_emptied tests/unit/alloc/test_kept tests/api/test_phases
thread_tests += tests/unit/alloc/test_drop tests/unit/alloc/test_drop_race tests/unit/alloc/test_kept
tests_unit_alloc_test_emptied_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sgc_sweep_give
aarch64_tests += tests/unit/alloc/test_page_supply_sources
unit_subjects = tests/unit/alloc/record_pages
check_PROGRAMS += $(unit_subjects)
tests_unit_alloc_record_pages_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sgc_policy_take_singles,--wrap=sgc_pool_give_singles
test_headers += tests/lib/page_replay.h tests/lib/page_trace.h
EXTRA_DIST += tests/traces/churn.txt tests/traces/pipeline.txt tests/traces/turns.txt

# System calls that are refused.
tests_unit_gc_collect_test_clear_waits_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sgc_wait
unit_tests += tests/unit/gc/collect/test_clear_waits tests/unit/gc/collect/test_refused
test_headers += tests/lib/refused_run.h tests/lib/refused_threads.h tests/lib/refused_work.h
EXTRA_tests_unit_gc_collect_test_refused_DEPENDENCIES = tests/lib/module_large.la

# Several threads at the heap's limit.
unit_tests += tests/api/test_limit_race
thread_tests += tests/api/test_limit_race

# The switches of long runs.
script_tests += tests/check/check_switches
EXTRA_DIST += tests/check/switches.txt

# The threads of helper markers; presets.
unit_tests += tests/unit/gc/collect/test_helpers

# Finalizers, links and toggle references; many of them with 1, 2 and 8 markers, and by threads beside collections.
unit_tests += \
	tests/api/test_finalize tests/api/test_free_watched \
	tests/api/test_links \
	tests/api/test_toggle \
	tests/unit/gc/finalize/test_finalize_many \
	tests/unit/gc/finalize/test_finalize_race \
	tests/unit/gc/finalize/test_address_tree
thread_tests += tests/unit/gc/finalize/test_finalize_race tests/unit/gc/finalize/test_address_tree
aarch64_tests += tests/unit/gc/finalize/test_address_tree
# Allocation for debugging, by kind, inside client code; looking at the heap.
unit_tests += tests/api/test_debug tests/api/test_gc_inline tests/api/test_looks tests/api/test_walk

# Kinds and mark procedures of clients.
unit_tests += tests/api/test_kinds tests/api/test_kinds_bad tests/api/test_procs tests/api/test_procs_team

# Typed objects, those of gcj and those with a disclaim procedure.
unit_tests += tests/api/test_disclaim tests/api/test_disclaim_coroutine \
	tests/api/test_disclaim_race tests/api/test_disclaim_waiting tests/api/test_gcj tests/api/test_typed
slow_scripts += tests/check/check_objc
EXTRA_DIST += tests/check/objc_client.m

# The exports of the libraries beside bdwgc's.
script_tests += tests/check/check_abi tests/check/check_frames
EXTRA_DIST += tests/check/abi_missing.txt

# Our own exports and their types, as stored; "make update-abi" stores what is built.
script_tests += tests/check/check_abi_own
EXTRA_DIST += tests/abi/libgc.abi

# Lines that the tests run, in a build of its own.
long_test_scripts += tests/check/check_coverage_long
EXTRA_DIST += tests/check/coverage.txt

# Not run by make check: "make check-mutants".
EXTRA_DIST += tests/check/check_mutants tests/check/mutants_accepted.txt

# C++ programs.
slow_scripts += tests/check/check_cpp
EXTRA_DIST += tests/check/cpp_client.cc

# What sgc-topo prints.
script_tests += tests/check/check_topo

# The manual pages against the options.
script_tests += tests/check/check_man

# Pauses of a program: the observer's file, the figures, and all of sgc-pauses on known and on real programs.
unit_tests += tests/unit/tools/pauses/test_file
tests_unit_tools_pauses_test_file_SOURCES = tests/unit/tools/pauses/test_file.c tools/pauses/file.c
script_tests += tests/check/check_pause_figures
long_test_scripts += tests/check/check_pauses tests/check/check_pauses_programs
EXTRA_DIST += tests/check/pause_figures.py
if SGC_SHARED
check_PROGRAMS += tests/check/subject_pauses
tests_check_subject_pauses_LDADD = .libs/libgc.so.1
tests_check_subject_pauses_DEPENDENCIES = libgc.la
endif

# Figures asked for while threads count and cycles end.
unit_tests += tests/api/test_count_race
thread_tests += tests/api/test_count_race

# The closure of a mark, of threads on stacks that nobody was told of.
unit_tests += tests/unit/gc/collect/test_closure_stacks

# Limits on memory, compared with what bdwgc gets.
script_tests += tests/check/check_limits
long_test_scripts += tests/check/check_limits_long
EXTRA_DIST += tests/check/limits_list.c

# How often cycles beside the program begin.
unit_tests += tests/unit/gc/pacing/test_concurrent_pace_cycles
thread_tests += tests/unit/gc/pacing/test_concurrent_pace_cycles

# Stops at the worst places that are known.
long_test_scripts += tests/check/check_stops_long
EXTRA_DIST += tests/programs/deep.scm tests/programs/deep-threads.scm
