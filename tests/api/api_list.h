/* SPDX-License-Identifier: MIT */
/*
 * Every function and variable that the public headers declare, with its type: what gc.h shares with bdwgc 8.2,
 * what it has beyond that, and what only sgc.h and sgc_shortterm.h declare.  Used with
 *
 *     F(result, name, (parameters))       V(type, name)
 *
 * by tests that check types, exports and completeness; tests/check/check_headers compares the list with the headers.
 */
#ifndef TESTS_API_API_LIST_H
#define TESTS_API_API_LIST_H

/* Types that bdwgc 8.3 has changed. */
#if defined(SGC_BDWGC) && SGC_BDWGC == 803
#define API_FORMAT const char
#define API_GCJ_TYPE const void
#define API_STACK_SIZE size_t
#define API_MEMORY_USE GC_word
#else
#define API_FORMAT char
#define API_GCJ_TYPE void
#define API_STACK_SIZE GC_word
#define API_MEMORY_USE size_t
#endif

/* What is set and asked for by one type. */
#define API_SETTING(F, type, name) F(void, GC_set_##name, (type)) F(type, GC_get_##name, (void))

/* ---- objects --------------------------------------------------------------------------------- */

#define API_OBJECTS(F) \
    F(void *, GC_malloc, (size_t)) \
    F(void *, GC_malloc_atomic, (size_t)) \
    F(void *, GC_malloc_uncollectable, (size_t)) \
    F(void *, GC_malloc_atomic_uncollectable, (size_t)) \
    F(void *, GC_malloc_ignore_off_page, (size_t)) \
    F(void *, GC_malloc_atomic_ignore_off_page, (size_t)) \
    F(void *, GC_malloc_many, (size_t)) \
    F(void *, GC_malloc_stubborn, (size_t)) \
    F(char *, GC_strdup, (const char *)) \
    F(char *, GC_strndup, (const char *, size_t)) \
    F(void *, GC_memalign, (size_t, size_t)) \
    F(int, GC_posix_memalign, (void **, size_t, size_t)) \
    F(void *, GC_realloc, (void *, size_t)) \
    F(void, GC_free, (void *)) \
    F(void *, GC_base, (void *)) \
    F(int, GC_is_heap_ptr, (const void *)) \
    F(size_t, GC_size, (const void *)) \
    F(size_t, GC_get_size_map_at, (int)) \
    API_SETTING(F, int, all_interior_pointers) \
    F(void, GC_register_displacement, (size_t)) \
    F(void, GC_change_stubborn, (const void *)) \
    F(void, GC_end_stubborn_change, (const void *)) \
    F(void, GC_ptr_store_and_dirty, (void *, const void *))

/* ---- the heap -------------------------------------------------------------------------------- */

#define API_HEAP(F) \
    F(unsigned, GC_get_version, (void)) \
    F(void, GC_init, (void)) \
    F(int, GC_is_init_called, (void)) \
    F(void, GC_deinit, (void)) \
    F(void, GC_gcollect, (void)) \
    F(void, GC_gcollect_and_unmap, (void)) \
    F(int, GC_try_to_collect, (GC_stop_func)) \
    API_SETTING(F, GC_stop_func, stop_func) \
    F(int, GC_collect_a_little, (void)) \
    F(void, GC_disable, (void)) \
    F(void, GC_enable, (void)) \
    F(int, GC_is_disabled, (void)) \
    API_SETTING(F, int, disable_automatic_collection) \
    F(int, GC_expand_hp, (size_t)) \
    F(void, GC_set_max_heap_size, (GC_word)) \
    API_SETTING(F, GC_word, free_space_divisor) \
    API_SETTING(F, size_t, min_bytes_allocd) \
    API_SETTING(F, int, dont_expand) \
    API_SETTING(F, GC_word, max_retries) \
    API_SETTING(F, GC_word, non_gc_bytes) \
    API_SETTING(F, int, force_unmap_on_gcollect) \
    API_SETTING(F, int, dont_precollect) \
    API_SETTING(F, int, pages_executable) \
    F(void, GC_start_mark_threads, (void)) \
    F(void, GC_enable_incremental, (void)) \
    F(int, GC_is_incremental_mode, (void)) \
    F(void, GC_start_incremental_collection, (void)) \
    F(int, GC_incremental_protection_needs, (void)) \
    API_SETTING(F, int, manual_vdb_allowed) \
    API_SETTING(F, int, full_freq) \
    API_SETTING(F, int, rate) \
    API_SETTING(F, int, max_prior_attempts) \
    API_SETTING(F, unsigned long, time_limit) \
    API_SETTING(F, struct GC_timeval_s, time_limit_tv)

#define API_STATISTICS(F) \
    F(GC_word, GC_get_gc_no, (void)) \
    F(size_t, GC_get_heap_size, (void)) \
    F(size_t, GC_get_free_bytes, (void)) \
    F(size_t, GC_get_unmapped_bytes, (void)) \
    F(size_t, GC_get_bytes_since_gc, (void)) \
    F(size_t, GC_get_expl_freed_bytes_since_gc, (void)) \
    F(size_t, GC_get_total_bytes, (void)) \
    F(size_t, GC_get_obtained_from_os_bytes, (void)) \
    F(void, GC_get_heap_usage_safe, (GC_word *, GC_word *, GC_word *, GC_word *, GC_word *)) \
    F(API_MEMORY_USE, GC_get_memory_use, (void)) \
    F(size_t, GC_get_prof_stats, (struct GC_prof_stats_s *, size_t)) \
    F(void, GC_start_performance_measurement, (void)) \
    F(unsigned long, GC_get_full_gc_total_time, (void))

/* ---- roots and hooks ------------------------------------------------------------------------- */

#define API_ROOTS(F) \
    F(void, GC_add_roots, (void *, void *)) \
    F(void, GC_remove_roots, (void *, void *)) \
    F(void, GC_clear_roots, (void)) \
    F(void, GC_exclude_static_roots, (void *, void *)) \
    F(void, GC_clear_exclusion_table, (void)) \
    F(void, GC_register_has_static_roots_callback, (GC_has_static_roots_func)) \
    API_SETTING(F, int, no_dls)

#define API_HOOKS(F) \
    API_SETTING(F, GC_oom_func, oom_fn) \
    API_SETTING(F, GC_on_heap_resize_proc, on_heap_resize) \
    API_SETTING(F, GC_warn_proc, warn_proc) \
    F(void, GC_ignore_warn_proc, (API_FORMAT *, GC_word)) \
    F(void, GC_set_log_fd, (int)) \
    API_SETTING(F, GC_abort_func, abort_func) \
    F(void, GC_abort_on_oom, (void)) \
    API_SETTING(F, GC_on_collection_event_proc, on_collection_event) \
    API_SETTING(F, GC_start_callback_proc, start_callback) \
    API_SETTING(F, GC_push_other_roots_proc, push_other_roots) \
    F(void, GC_push_all, (void *, void *)) \
    F(void, GC_push_all_eager, (void *, void *))

#define API_FINALIZERS(F) \
    F(void, GC_register_finalizer, (void *, GC_finalization_proc, void *, GC_finalization_proc *, void **)) \
    F(void, GC_register_finalizer_ignore_self, (void *, GC_finalization_proc, void *, GC_finalization_proc *, void **)) \
    F(void, GC_register_finalizer_no_order, (void *, GC_finalization_proc, void *, GC_finalization_proc *, void **)) \
    F(void, GC_register_finalizer_unreachable, (void *, GC_finalization_proc, void *, GC_finalization_proc *, void **)) \
    F(void, GC_debug_register_finalizer, (void *, GC_finalization_proc, void *, GC_finalization_proc *, void **)) \
    F(void, GC_debug_register_finalizer_ignore_self, \
      (void *, GC_finalization_proc, void *, GC_finalization_proc *, void **)) \
    F(void, GC_debug_register_finalizer_no_order, \
      (void *, GC_finalization_proc, void *, GC_finalization_proc *, void **)) \
    F(void, GC_debug_register_finalizer_unreachable, \
      (void *, GC_finalization_proc, void *, GC_finalization_proc *, void **)) \
    API_SETTING(F, int, finalize_on_demand) \
    API_SETTING(F, int, java_finalization) \
    API_SETTING(F, GC_finalizer_notifier_proc, finalizer_notifier) \
    F(int, GC_should_invoke_finalizers, (void)) \
    F(int, GC_invoke_finalizers, (void)) \
    API_SETTING(F, GC_await_finalize_proc, await_finalize_proc) \
    API_SETTING(F, GC_word, allocd_bytes_per_finalizer) \
    F(void, GC_dump_finalization, (void)) \
    F(int, GC_general_register_disappearing_link, (void **, const void *)) \
    F(int, GC_register_disappearing_link, (void **)) \
    F(int, GC_move_disappearing_link, (void **, void **)) \
    F(int, GC_unregister_disappearing_link, (void **)) \
    F(int, GC_register_long_link, (void **, const void *)) \
    F(int, GC_move_long_link, (void **, void **)) \
    F(int, GC_unregister_long_link, (void **)) \
    API_SETTING(F, GC_toggleref_func, toggleref_func) \
    F(int, GC_toggleref_add, (void *, int))

/* ---- debugging, kinds, the heap object by object ---------------------------------------------- */

#define API_DEBUG(F) \
    F(void *, GC_debug_malloc, (size_t, const char *, int)) \
    F(void *, GC_debug_malloc_atomic, (size_t, const char *, int)) \
    F(void *, GC_debug_malloc_uncollectable, (size_t, const char *, int)) \
    F(void *, GC_debug_malloc_atomic_uncollectable, (size_t, const char *, int)) \
    F(void *, GC_debug_malloc_ignore_off_page, (size_t, const char *, int)) \
    F(void *, GC_debug_malloc_atomic_ignore_off_page, (size_t, const char *, int)) \
    F(void *, GC_debug_malloc_stubborn, (size_t, const char *, int)) \
    F(char *, GC_debug_strdup, (const char *, const char *, int)) \
    F(char *, GC_debug_strndup, (const char *, size_t, const char *, int)) \
    F(void *, GC_debug_realloc, (void *, size_t, const char *, int)) \
    F(void, GC_debug_free, (void *)) \
    F(void *, GC_debug_malloc_replacement, (size_t)) \
    F(void *, GC_debug_realloc_replacement, (void *, size_t)) \
    F(void, GC_debug_register_displacement, (size_t)) \
    F(void, GC_debug_ptr_store_and_dirty, (void *, const void *)) \
    F(void, GC_debug_end_stubborn_change, (const void *)) \
    F(void, GC_debug_change_stubborn, (const void *)) \
    API_SETTING(F, int, find_leak) \
    F(void *, GC_debug_generic_or_special_malloc, (size_t, int, const char *, int)) \
    F(size_t, GC_get_debug_header_size, (void)) \
    F(void, GC_register_describe_type_fn, (int, GC_describe_type_fn))

#define API_KINDS(F) \
    F(void *, GC_generic_malloc, (size_t, int)) \
    F(void *, GC_generic_malloc_ignore_off_page, (size_t, int)) \
    F(void *, GC_generic_malloc_uncollectable, (size_t, int)) \
    F(void *, GC_generic_or_special_malloc, (size_t, int)) \
    F(void, GC_generic_malloc_many, (size_t, int, void **)) \
    F(void *, GC_malloc_kind, (size_t, int)) \
    F(void *, GC_malloc_kind_global, (size_t, int)) \
    F(void, GC_print_free_list, (int, size_t)) \
    F(int, GC_get_kind_and_size, (const void *, size_t *)) \
    F(void, GC_enumerate_reachable_objects_inner, (GC_reachable_object_proc, void *)) \
    F(int, GC_is_marked, (const void *)) \
    F(void, GC_set_mark_bit, (const void *)) \
    F(void, GC_clear_mark_bit, (const void *)) \
    F(void, GC_push_conditional, (void *, void *, int)) \
    F(void, GC_push_finalizer_structures, (void)) \
    F(unsigned, GC_new_kind, (void **, GC_word, int, int)) \
    F(unsigned, GC_new_kind_inner, (void **, GC_word, int, int)) \
    F(void **, GC_new_free_list, (void)) \
    F(void **, GC_new_free_list_inner, (void)) \
    F(unsigned, GC_new_proc, (GC_mark_proc)) \
    F(unsigned, GC_new_proc_inner, (GC_mark_proc)) \
    F(struct GC_ms_entry *, GC_mark_and_push, (void *, struct GC_ms_entry *, struct GC_ms_entry *, void **)) \
    F(void *, GC_clear_stack, (void *)) \
    F(int, GC_is_tmp_root, (void *))

/* Typed objects, those of gcj and those with a disclaim procedure. */
#define API_TYPED(F) \
    F(GC_descr, GC_make_descriptor, (const GC_word *, size_t)) \
    F(void *, GC_malloc_explicitly_typed, (size_t, GC_descr)) \
    F(void *, GC_malloc_explicitly_typed_ignore_off_page, (size_t, GC_descr)) \
    F(void *, GC_calloc_explicitly_typed, (size_t, size_t, GC_descr)) \
    F(void, GC_init_gcj_malloc, (int, void *)) \
    F(void *, GC_gcj_malloc, (size_t, API_GCJ_TYPE *)) \
    F(void *, GC_debug_gcj_malloc, (size_t, API_GCJ_TYPE *, const char *, int)) \
    F(void *, GC_gcj_malloc_ignore_off_page, (size_t, API_GCJ_TYPE *)) \
    F(void, GC_register_disclaim_proc, (int, GC_disclaim_proc, int)) \
    F(void, GC_init_finalized_malloc, (void)) \
    F(void *, GC_finalized_malloc, (size_t, const struct GC_finalizer_closure *))

/* ---- threads, fork, checks ------------------------------------------------------------------- */

#define API_STACKS(F) \
    F(int, GC_get_stack_base, (struct GC_stack_base *)) \
    F(void *, GC_call_with_stack_base, (GC_stack_base_func, void *)) \
    F(void *, GC_do_blocking, (GC_fn_type, void *)) \
    F(void *, GC_call_with_gc_active, (GC_fn_type, void *)) \
    F(void *, GC_call_with_alloc_lock, (GC_fn_type, void *)) \
    F(void *, GC_get_my_stackbottom, (struct GC_stack_base *)) \
    F(void, GC_set_stackbottom, (void *, const struct GC_stack_base *)) \
    F(void, GC_set_handle_fork, (int)) \
    F(void, GC_atfork_prepare, (void)) \
    F(void, GC_atfork_parent, (void)) \
    F(void, GC_atfork_child, (void))

#define API_CHECKS(F) \
    F(void *, GC_same_obj, (void *, void *)) \
    F(void *, GC_pre_incr, (void **, ptrdiff_t)) \
    F(void *, GC_post_incr, (void **, ptrdiff_t)) \
    F(void *, GC_is_visible, (void *)) \
    F(void *, GC_is_valid_displacement, (void *)) \
    F(void, GC_dump, (void)) \
    F(void, GC_dump_named, (const char *)) \
    F(void, GC_dump_regions, (void))

/* Only with GC_THREADS. */
#define API_THREADS(F) \
    F(void, GC_set_markers_count, (unsigned)) \
    F(int, GC_get_parallel, (void)) \
    F(size_t, GC_get_prof_stats_unsafe, (struct GC_prof_stats_s *, size_t)) \
    API_SETTING(F, GC_on_thread_event_proc, on_thread_event) \
    F(void, GC_allow_register_threads, (void)) \
    F(int, GC_register_my_thread, (const struct GC_stack_base *)) \
    F(int, GC_unregister_my_thread, (void)) \
    F(int, GC_thread_is_registered, (void)) \
    F(void, GC_register_altstack, (void *, API_STACK_SIZE, void *, API_STACK_SIZE)) \
    F(void, GC_alloc_lock, (void)) \
    F(void, GC_alloc_unlock, (void)) \
    F(void, GC_stop_world_external, (void)) \
    F(void, GC_start_world_external, (void)) \
    F(void, GC_set_suspend_signal, (int)) \
    F(void, GC_set_thr_restart_signal, (int)) \
    F(int, GC_get_suspend_signal, (void)) \
    F(int, GC_get_thr_restart_signal, (void)) \
    F(int, GC_pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)) \
    F(int, GC_pthread_join, (pthread_t, void **)) \
    F(int, GC_pthread_detach, (pthread_t)) \
    F(int, GC_pthread_cancel, (pthread_t)) \
    F(void, GC_pthread_exit, (void *)) \
    F(void *, GC_dlopen, (const char *, int))

/* In javaxfc.h. */
#define API_JAVA(F) \
    F(void, GC_finalize_all, (void)) \
    F(void, GC_suspend_thread, (pthread_t)) \
    F(void, GC_resume_thread, (pthread_t)) \
    F(int, GC_is_thread_suspended, (pthread_t))

/* And where the client's C library declares sigset_t. */
#define API_SIGNALS(F) \
    F(int, GC_pthread_sigmask, (int, const sigset_t *, sigset_t *))

/* And where it declares pthread_tryjoin_np; bdwgc has none of these. */
#define API_JOINS(F) \
    F(int, GC_pthread_tryjoin_np, (pthread_t, void **)) \
    F(int, GC_pthread_timedjoin_np, (pthread_t, void **, const struct timespec *)) \
    F(int, GC_pthread_clockjoin_np, (pthread_t, void **, clockid_t, const struct timespec *))

/* ---- beyond bdwgc 8.2's library -------------------------------------------------------------- */

#define API_BEYOND(F) \
    F(void *, GC_valloc, (size_t)) \
    F(void *, GC_pvalloc, (size_t)) \
    F(wchar_t *, GC_wcsdup, (const wchar_t *)) \
    F(wchar_t *, GC_debug_wcsdup, (const wchar_t *, const char *, int)) \
    F(void, GC_noop1, (GC_word)) \
    API_SETTING(F, GC_sp_corrector_proc, sp_corrector)

/* Of bdwgc 8.3. */
#define API_8_3(F) \
    F(void *, GC_reallocf, (void *, size_t)) \
    F(void, GC_freezero, (void *, size_t)) \
    F(void *, GC_debug_reallocf, (void *, size_t, const char *, int)) \
    F(void *, GC_debug_reallocf_replacement, (void *, size_t)) \
    F(void, GC_debug_freezero, (void *, size_t)) \
    F(void *, GC_debug_generic_malloc, (size_t, int, const char *, int)) \
    F(void *, GC_debug_malloc_uncollectable_replacement, (size_t)) \
    F(int, GC_debug_toggleref_add, (void *, int)) \
    F(void, GC_noop1_ptr, (volatile void *)) \
    F(void, GC_init_gcj_malloc_mp, (unsigned, GC_mark_proc, size_t)) \
    API_SETTING(F, GC_on_os_get_mem_proc, on_os_get_mem) \
    API_SETTING(F, unsigned, interrupt_finalizers) \
    F(void, GC_finish_and_disable, (void)) \
    F(void *, GC_call_with_reader_lock, (GC_fn_type, void *, int)) \
    F(unsigned long, GC_get_full_gc_total_ns_frac, (void)) \
    F(unsigned long, GC_get_stopped_mark_total_time, (void)) \
    F(unsigned long, GC_get_avg_stopped_mark_time_ns, (void)) \
    API_SETTING(F, GC_same_obj_print_proc_t, same_obj_print_proc) \
    API_SETTING(F, GC_valid_ptr_print_proc_t, is_visible_print_proc) \
    API_SETTING(F, GC_valid_ptr_print_proc_t, is_valid_displacement_print_proc) \
    F(int, GC_get_dont_add_byte_at_end, (void)) \
    API_SETTING(F, int, mprotect_vdb_allowed) \
    F(unsigned, GC_get_supported_vdbs, (void)) \
    F(unsigned, GC_get_actual_vdb, (void)) \
    F(int, GC_calloc_prepare_explicitly_typed, (struct GC_calloc_typed_descr_s *, size_t, size_t, size_t, GC_descr)) \
    F(void *, GC_calloc_do_explicitly_typed, (const struct GC_calloc_typed_descr_s *, size_t)) \
    F(size_t, GC_get_hblk_size, (void)) \
    F(struct GC_hblk_s *, GC_is_black_listed, (struct GC_hblk_s *, size_t)) \
    F(void, GC_apply_to_all_blocks, (GC_walk_hblk_fn, void *)) \
    F(void, GC_iterate_free_hblks, (GC_walk_free_blk_fn, void *)) \
    F(void, GC_foreach_heap_section_inner, (GC_heap_section_proc, void *)) \
    F(unsigned, GC_count_set_marks_in_hblk, (const void *)) \
    F(void, GC_push_obj_descr, (void *, GC_word)) \
    F(struct GC_ms_entry *, GC_ms_push_obj_descr, (void *, GC_word, struct GC_ms_entry *, struct GC_ms_entry *)) \
    F(struct GC_ms_entry *, GC_ms_push_all, (void *, void *, struct GC_ms_entry *, struct GC_ms_entry *)) \
    F(void, GC_custom_push_regs_and_stack, (GC_custom_push_proc, void *, const struct GC_stack_base *, void *)) \
    API_SETTING(F, GC_word, pointer_mask) \
    API_SETTING(F, unsigned, pointer_shift) \
    API_SETTING(F, GC_on_mark_stack_empty_proc, on_mark_stack_empty)

/* In gc_backptr.h, which bdwgc's library has only in special builds. */
#define API_BACK_POINTERS(F) \
    F(GC_ref_kind, GC_get_back_ptr_info, (void *, void **, size_t *)) \
    F(void *, GC_generate_random_heap_address, (void)) \
    F(void *, GC_generate_random_valid_address, (void)) \
    F(void, GC_generate_random_backtrace, (void)) \
    F(void, GC_print_backtrace, (void *))

/* Exported by both and declared by neither. */
#define API_UNDECLARED(F) \
    F(void, GC_printf, (const char *, ...)) \
    F(void, GC_err_printf, (const char *, ...)) \
    F(void, GC_log_printf, (const char *, ...)) \
    F(void, GC_incr_bytes_allocd, (size_t)) \
    F(void, GC_incr_bytes_freed, (size_t))

#define API_SGC(F) \
    F(const char *, SGC_version, (void)) \
    F(int, SGC_init, (int, SGC_attr_t *)) \
    F(void, GC_collect, (void)) \
    F(int, SGC_mark_some, (uint64_t)) \
    F(size_t, SGC_get_stats, (struct SGC_stats *, size_t)) \
    F(void, SGC_dirty, (const void *, size_t)) \
    F(int, SGC_check, (void)) \
    F(SGC_held_t, SGC_find_way, (const void *, SGC_step_proc, void *)) \
    F(SGC_held_t, SGC_why_live, (const void *)) \
    F(int, SGC_write_heap_snapshot, (const char *)) \
    F(int, SGC_name_kind, (int, const char *)) \
    F(int, SGC_set_profile_rate, (size_t)) \
    F(int, SGC_write_profile, (const char *)) \
    F(void *, SGC_memalign, (size_t, size_t, int)) \
    F(void, SGC_print_options, (void)) \
    F(void, SGC_print_placement, (void))

#define API_SHORTTERM(F) \
    F(int, SGC_shortterm_init, (const struct SGC_shortterm *, size_t)) \
    F(int, SGC_shortterm_mode, (void)) \
    F(size_t, SGC_get_shortterm, (struct SGC_shortterm *, size_t)) \
    F(int, SGC_refresh, (void *, unsigned)) \
    F(int, SGC_refresh_global, (void *, unsigned)) \
    F(int, SGC_tick, (void)) \
    F(int, SGC_tick_global, (void)) \
    F(int, SGC_leave_time, (void)) \
    F(int, SGC_join_time, (void)) \
    F(size_t, SGC_expire, (size_t)) \
    F(void *, SGC_malloc_dated, (size_t, unsigned, int)) \
    F(int, SGC_set_expiry_proc, (void *, SGC_expiry_proc)) \
    F(int, SGC_dates, (const void *)) \
    F(SGC_clock_t *, SGC_clock_new, (void)) \
    F(int, SGC_clock_release, (SGC_clock_t *)) \
    F(int, SGC_refresh_clock, (void *, unsigned, SGC_clock_t *)) \
    F(int, SGC_refresh_reachable, (void *, unsigned, int, size_t)) \
    F(int, SGC_tick_clock, (SGC_clock_t *)) \
    F(int, SGC_hold, (void *)) \
    F(int, SGC_unhold, (void *)) \
    F(SGC_region_t *, SGC_region_new, (void)) \
    F(void *, SGC_region_malloc, (SGC_region_t *, size_t)) \
    F(int, SGC_region_refresh, (SGC_region_t *, unsigned)) \
    F(int, SGC_region_refresh_global, (SGC_region_t *, unsigned)) \
    F(int, SGC_region_refresh_clock, (SGC_region_t *, unsigned, SGC_clock_t *)) \
    F(int, SGC_region_close, (SGC_region_t *)) \
    F(SGC_region_t *, SGC_region_of, (const void *)) \
    F(size_t, SGC_shortterm_check, (SGC_finding_proc, void *)) \
    F(size_t, SGC_get_shortterm_stats, (struct SGC_shortterm_stats *, size_t))

/* ---- groups, variables ----------------------------------------------------------------------- */

#define API_COMMON(F) \
    API_OBJECTS(F) API_HEAP(F) API_STATISTICS(F) API_ROOTS(F) API_HOOKS(F) API_FINALIZERS(F) API_STACKS(F) API_CHECKS(F) \
    API_THREADS(F) API_DEBUG(F) API_KINDS(F) API_TYPED(F) API_JAVA(F)

typedef void (*api_check_1)(void *);
typedef void (*api_check_2)(void *, void *);

#define API_VARIABLES(V) \
    V(int, GC_all_interior_pointers) \
    V(int, GC_dont_gc) \
    V(int, GC_find_leak) \
    V(GC_word, GC_free_space_divisor) \
    V(int, GC_dont_expand) \
    V(int, GC_use_entire_heap) \
    V(GC_word, GC_max_retries) \
    V(GC_word, GC_non_gc_bytes) \
    V(int, GC_dont_precollect) \
    V(int, GC_parallel) \
    V(int, GC_full_freq) \
    V(unsigned long, GC_time_limit) \
    V(GC_word, GC_gc_no) \
    V(int, GC_no_dls) \
    V(int, GC_finalize_on_demand) \
    V(int, GC_java_finalization) \
    V(int, GC_gcj_kind) \
    V(int, GC_gcj_debug_kind) \
    V(GC_finalizer_notifier_proc, GC_finalizer_notifier) \
    V(GC_oom_func, GC_oom_fn) \
    V(GC_on_heap_resize_proc, GC_on_heap_resize) \
    V(char *, GC_stackbottom) \
    V(void *, GC_least_plausible_heap_addr) \
    V(void *, GC_greatest_plausible_heap_addr) \
    V(api_check_2, GC_same_obj_print_proc) \
    V(api_check_1, GC_is_visible_print_proc) \
    V(api_check_1, GC_is_valid_displacement_print_proc)

#endif
