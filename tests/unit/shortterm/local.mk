# SPDX-License-Identifier: MIT
# Short-term memory.
unit_tests += tests/unit/shortterm/test_clocks tests/unit/shortterm/test_expiry_procs tests/unit/shortterm/test_holds \
	tests/unit/shortterm/test_regions tests/unit/shortterm/test_refresh_reachable
unit_tests += tests/unit/shortterm/test_date_list tests/unit/shortterm/test_shortterm tests/unit/shortterm/test_global_time tests/unit/shortterm/test_verify tests/unit/shortterm/test_findings
unit_tests += tests/unit/shortterm/test_kept_exactly tests/unit/shortterm/test_verify_places tests/unit/shortterm/test_wrong_calls \
	tests/unit/shortterm/test_jumps tests/unit/shortterm/test_between
tests_unit_shortterm_test_between_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sgc_date_pages_lock,--wrap=sgc_tree_value,--wrap=sgc_with_world_stopped

# The rules of global time and of numbers of dates.
unit_tests += tests/unit/shortterm/test_orphan_dates tests/unit/shortterm/test_storm_dates tests/unit/shortterm/test_refresh_race tests/unit/shortterm/test_expire tests/unit/shortterm/test_expire_stopped tests/unit/shortterm/test_count tests/unit/shortterm/test_count_order tests/unit/shortterm/test_counts tests/unit/shortterm/test_time_rules
thread_tests += tests/unit/shortterm/test_orphan_dates tests/unit/shortterm/test_storm_dates tests/unit/shortterm/test_refresh_race tests/unit/shortterm/test_count tests/unit/shortterm/test_expire tests/unit/shortterm/test_expire_stopped
EXTRA_DIST += tests/model/dates.pml tests/model/time.pml

# libscm, as programs have it.
scm_tests = \
	tests/unit/shortterm/compat/test_clocks \
	tests/unit/shortterm/compat/test_finalizers \
	tests/unit/shortterm/compat/test_objects \
	tests/unit/shortterm/compat/test_threads \
	tests/unit/shortterm/compat/test_wrap
unit_tests += $(scm_tests)
script_tests += tests/check/check_scm
EXTRA_DIST += tests/check/subject_scm.c
test_headers += tests/unit/shortterm/compat/scm.h
scm_cppflags = -I$(top_srcdir)/include/scm $(AM_CPPFLAGS)
tests_unit_shortterm_compat_test_clocks_CPPFLAGS = $(scm_cppflags)
tests_unit_shortterm_compat_test_clocks_LDADD = libscm.la libsgc.la
tests_unit_shortterm_compat_test_finalizers_CPPFLAGS = $(scm_cppflags)
tests_unit_shortterm_compat_test_finalizers_LDADD = libscm.la libsgc.la
tests_unit_shortterm_compat_test_objects_CPPFLAGS = $(scm_cppflags)
tests_unit_shortterm_compat_test_objects_LDADD = libscm.la libsgc.la
tests_unit_shortterm_compat_test_threads_CPPFLAGS = $(scm_cppflags)
tests_unit_shortterm_compat_test_threads_LDADD = libscm.la libsgc.la
tests_unit_shortterm_compat_test_wrap_CPPFLAGS = $(scm_cppflags)
tests_unit_shortterm_compat_test_wrap_CFLAGS = $(SGC_CFLAGS) -fno-builtin
tests_unit_shortterm_compat_test_wrap_LDADD = libscm.la libsgc.la
tests_unit_shortterm_compat_test_wrap_LDFLAGS = $(AM_LDFLAGS) $(wrap_flags)

# Expiry procedures, addresses, right programs under verify, what dates cost others.
unit_tests += tests/unit/shortterm/test_addresses tests/unit/shortterm/test_expiry_stops tests/unit/shortterm/test_watch tests/unit/shortterm/test_verify_masks \
	tests/unit/shortterm/test_verify_right
thread_tests += tests/unit/shortterm/test_watch tests/unit/shortterm/test_expiry_stops tests/unit/shortterm/test_verify_right
script_tests += tests/check/check_dates_cost
check_PROGRAMS += tests/check/subject_dates
EXTRA_DIST += tests/check/check_dates_cost

# Regions, and threads that end.
unit_tests += tests/unit/shortterm/test_ended_threads tests/unit/shortterm/test_region_rules tests/unit/shortterm/test_region_ways
unit_tests += tests/unit/shortterm/test_storm_regions tests/unit/shortterm/test_two_phases tests/unit/shortterm/test_as_seen
thread_tests += tests/unit/shortterm/test_storm_regions tests/unit/shortterm/test_ended_threads
unit_tests += tests/unit/shortterm/test_random_dates tests/unit/shortterm/test_region_steps
test_headers += tests/unit/shortterm/date_model.h
long_test_scripts += tests/check/check_random_dates_long
tests_unit_shortterm_test_region_steps_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sgc_allocate_or_null,--wrap=sgc_region_empty

# What operations take.
script_tests += tests/check/check_refresh_cost
check_PROGRAMS += tests/check/subject_refresh
EXTRA_DIST += tests/check/check_refresh_cost
