# SPDX-License-Identifier: MIT
# The collector.

gc_sources = \
	gc/collect/allocate.c \
	gc/collect/allocate.h \
	gc/api/memalign.c \
	gc/api/malloc.c \
	gc/inspect/api_check.c \
	gc/api/counters.h \
	gc/api/disclaim.c \
	gc/inspect/api_dump.c \
	gc/api/events.c \
	gc/api/fork.c \
	gc/api/free.c \
	gc/api/collect.c \
	gc/api/hooks.c \
	gc/api/incremental.c \
	gc/api/internal.h \
	gc/api/kinds.c \
	gc/api/alloc_lock.c \
	gc/api/start.c \
	gc/api/objects.c \
	gc/api/own_kinds.h \
	gc/inspect/api_pointer_checks.c \
	gc/api/query.c \
	gc/api/displacements.c \
	gc/api/roots.c \
	gc/api/settings.c \
	gc/api/sgc.c \
	gc/api/stacks.c \
	gc/api/strings.c \
	gc/api/suspend.c \
	gc/api/threads.c \
	gc/api/typed.c \
	gc/config/public_vars.c \
	gc/collect/client_hooks.h \
	gc/config/public_vars.h \
	gc/collect/cycle.c \
	gc/collect/cycle.h \
	gc/finalize/disclaim.c \
	gc/finalize/disclaim.h \
	gc/events/events.c \
	gc/events/events.h \
	gc/collect/fork.c \
	gc/collect/fork.h \
	gc/threads/gc_lock.c \
	gc/threads/gc_lock.h \
	gc/pacing/group_limit.c \
	gc/pacing/group_limit.h \
	gc/pacing/heap_size.c \
	gc/pacing/heap_size.h \
	gc/collect/helpers.c \
	gc/collect/helpers.h \
	gc/events/histogram.c \
	gc/events/histogram.h \
	gc/collect/start.c \
	gc/collect/start.h \
	platform/text_line.c \
	platform/text_line.h \
	gc/events/json_log.c \
	gc/events/json_log.h \
	gc/events/log_file.c \
	gc/events/log_file.h \
	gc/threads/mutator.h \
	gc/config/option_signal.c \
	gc/config/option_table.c \
	gc/config/option_table.def \
	gc/config/option_table.h \
	gc/config/option_text.c \
	gc/config/options.c \
	gc/config/options.h \
	gc/pacing/pacing.c \
	gc/pacing/pacing.h \
	gc/threads/spin_wait.c \
	gc/threads/spin_wait.h \
	gc/config/preset.c \
	gc/config/preset.h \
	gc/roots/ranges.c \
	gc/roots/ranges.h \
	gc/api/real_threads.h \
	gc/threads/registry.c \
	gc/roots/roots.c \
	gc/roots/roots.h \
	gc/collect/background.c \
	gc/collect/background.h \
	gc/roots/stack_roots.c \
	gc/roots/stack_roots.h \
	gc/api/created_threads.c \
	gc/api/created_threads.h \
	gc/events/stats.c \
	gc/events/stats.h \
	gc/events/stats_print.c \
	gc/threads/stopper.c \
	gc/collect/torture.c \
	gc/collect/torture.h \
	gc/threads/world.c \
	gc/threads/world.h \
	gc/threads/world_internal.h

# libsgcpreload, for sgc-run.
preload_sources = preload/threads.c gc/api/real_threads.h

# Pacing.
gc_sources += \
	gc/pacing/costs.c \
	gc/pacing/costs.h \
	gc/pacing/pacing_rules.h

# Page policies.
gc_sources += \
	gc/config/page_rule.c \
	gc/config/page_rule.h

# Finalization.
gc_sources += \
	gc/api/finalize.c \
	gc/api/finalize.h \
	gc/api/links.c \
	gc/finalize/register.c \
	gc/finalize/finalize.h \
	gc/finalize/enumerate.c \
	gc/finalize/rounds.c \
	gc/finalize/links.c \
	gc/finalize/queue.c \
	gc/finalize/rounds.h \
	gc/threads/node_pool.c \
	gc/threads/node_pool.h \
	gc/finalize/address_tree.c \
	gc/finalize/address_tree.h \
	gc/finalize/toggle.c
# Who points at an object, and the way from a root.
gc_sources += \
	gc/inspect/api_why_live.c \
	gc/inspect/why_live.c \
	gc/inspect/why_live.h
# Allocation for debugging; objects by kind, one by one, and who points at them.
gc_sources += \
	gc/inspect/api_backptr.c \
	gc/inspect/api_debug.c \
	gc/inspect/api_debug_finalize.c \
	gc/api/gcj.c \
	gc/api/generic.c \
	gc/api/unofficial.c \
	gc/api/bdwgc_tables.c \
	gc/inspect/api_walk.c \
	gc/inspect/guards.c \
	gc/inspect/guards.h \
	gc/inspect/guards_check.c
