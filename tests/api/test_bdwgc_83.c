/* SPDX-License-Identifier: MIT */
/*
 * Small settings and questions that bdwgc 8.3 has added: the lock for readers, times of stops, the hooks of failed checks, how
 * written pages are found, how many finalizers run at once.
 *
 * Also: gc/api/query.c, gc/api/settings.c, gc/collect/write_watch.c.
 */
#include "api.h"

#include <gc/gc_inline.h>

/* ---- the lock -------------------------------------------------------------------------------- */

static int volatile value;

static void *read_value(void *arg)
{
    GC_word before = GC_get_gc_no();

    API_CHILD(arg == &value && GC_call_with_reader_lock(api_give_back, arg, 0) == arg);
    for (int i = 0; i < 1000; i++)
        GC_noop1((GC_word)value);
    API_CHILD(GC_get_gc_no() == before);
    return arg;
}

static void *read_often(void *arg)
{
    for (int i = 0; i < 2000; i++) {
        GC_call_with_reader_lock(read_value, (void *)&value, i % 2);
        if (i % 100 == 0)
            GC_gcollect();
    }
    return arg;
}

static void check_reader_lock(void)
{
    pthread_t threads[4];

    api_start_all(threads, 4, read_often);
    api_join_all(threads, 4);
    tap_ok(GC_call_with_reader_lock(read_value, (void *)&value, 1) == &value, "no collection comes between readers' words");
}

/* ---- times ----------------------------------------------------------------------------------- */

static void check_times(void)
{
    unsigned long full, fraction, stopped, average;

    tap_ok(GC_get_avg_stopped_mark_time_ns() == 0 && GC_get_stopped_mark_total_time() == 0, "no time before it is measured");
    GC_start_performance_measurement();
    for (int i = 0; i < 100; i++)
        GC_gcollect();
    full = GC_get_full_gc_total_time();
    fraction = GC_get_full_gc_total_ns_frac();
    stopped = GC_get_stopped_mark_total_time();
    average = GC_get_avg_stopped_mark_time_ns();
    tap_ok(fraction < 1000000 && full * 1000000 + fraction > 0, "milliseconds and nanoseconds");
    tap_ok(average > 0 && average < 1000000000 && stopped <= full, "of all collections stops are a part");
    tap_ok(average * 100 / 1000000 <= stopped, "the average is of one stop");
}

/* ---- checks ---------------------------------------------------------------------------------- */

static void *different[2], *invisible, *invalid;

static void on_different(void *p, void *q)
{
    different[0] = p;
    different[1] = q;
}

static void on_invisible(void *p)
{
    invisible = p;
}

static void on_invalid(void *p)
{
    invalid = p;
}

static void check_procs(void)
{
    char *one = GC_malloc(10), *other = GC_malloc(10), *atomic = GC_malloc_atomic(10), *old = GC_malloc(API_LARGE);
    GC_valid_ptr_print_proc_t first = GC_get_is_visible_print_proc();

    GC_set_same_obj_print_proc(on_different);
    GC_set_is_visible_print_proc(on_invisible);
    GC_set_is_valid_displacement_print_proc(on_invalid);
    GC_same_obj(one, other);
    GC_is_visible(atomic);
    GC_free(old);
    GC_is_valid_displacement(old);
    tap_ok(different[0] == one && different[1] == other && invisible == atomic && invalid == old,
           "failed checks call the hooks");
    tap_ok(GC_get_same_obj_print_proc() == on_different && GC_get_is_valid_displacement_print_proc() == on_invalid &&
           first != NULL, "which can be asked for");
    GC_set_is_visible_print_proc(first);
    tap_ok(GC_get_is_visible_print_proc() == first, "and set back");
}

/* ---- written pages --------------------------------------------------------------------------- */

static void of_stop_mode(void)
{
    API_CHILD(GC_get_supported_vdbs() == (GC_VDB_UFFDWP | GC_VDB_SOFT | GC_VDB_MPROTECT | GC_VDB_MANUAL));
    API_CHILD(GC_get_actual_vdb() == GC_VDB_NONE && GC_get_mprotect_vdb_allowed() == 1);
    GC_INIT();
    API_CHILD(GC_get_actual_vdb() == GC_VDB_NONE);
}

static void enable(unsigned vdb)
{
    GC_enable_incremental();
    API_CHILD(GC_get_actual_vdb() == vdb && GC_is_incremental_mode() == (vdb != GC_VDB_NONE));
}

static void of_reports(void)
{
    GC_set_manual_vdb_allowed(1);
    enable(GC_VDB_MANUAL);
}

static void of_none(void)
{
    enable(GC_VDB_DEFAULT);
}

static void of_protection(void)
{
    enable(GC_VDB_MPROTECT);
    API_CHILD(GC_incremental_protection_needs() == GC_PROTECTS_POINTER_HEAP);
    GC_set_mprotect_vdb_allowed(0);                     /* too late */
    API_CHILD(GC_get_actual_vdb() == GC_VDB_MPROTECT && GC_get_mprotect_vdb_allowed() == 1);
}

static void of_protection_forbidden(void)
{
    GC_set_mprotect_vdb_allowed(0);
    API_CHILD(GC_get_mprotect_vdb_allowed() == 0);
    enable(GC_VDB_NONE);
    GC_gcollect();
}

static void check_sources(void)
{
    api_check_child_with("SGC_MODE=stop", of_stop_mode, "all sources are supported, none is used in stop mode");
    api_check_child_with("SGC_DIRTY=auto", of_reports, "reports of the program");
    api_check_child_with("SGC_DIRTY=none", of_none, "all pages count as written");
    api_check_child_with("SGC_DIRTY=mprotect", of_protection, "protected pages");
    api_settings = "SGC_DIRTY=mprotect";
    api_check_child(of_protection_forbidden, "the program forbids it", "protected pages that the program forbids");
    api_settings = NULL;
}

/* ---- end bytes ------------------------------------------------------------------------------- */

static void with_end_byte(void)
{
    API_CHILD(GC_get_dont_add_byte_at_end() == 0 && GC_size(GC_malloc(16)) > 16);
}

static void without_end_byte(void)
{
    API_CHILD(GC_get_dont_add_byte_at_end() == 1 && GC_size(GC_malloc(16)) == 16);
}

static void check_end_byte(void)
{
    api_check_child_with("SGC_END_BYTE=all", with_end_byte, "a byte is added to requests");
    api_check_child_with("SGC_END_BYTE=roots", without_end_byte, "or it is not");
}

/* ---- finalizers ------------------------------------------------------------------------------ */

enum { FINALIZED = 100 };

static GC_hidden_pointer finalized[FINALIZED];

static void make_finalized(void)
{
    for (int i = 0; i < FINALIZED; i++)
        GC_register_finalizer(api_large(&finalized[i]), api_count, NULL, NULL, NULL);
}

static int interrupted;

static void interrupt(void *object, void *unused)
{
    api_count(object, unused);
    if (++interrupted == 5)
        GC_set_interrupt_finalizers(1);
}

static void make_interrupting(void)
{
    for (int i = 0; i < FINALIZED; i++)
        GC_register_finalizer(api_large(&finalized[i]), interrupt, NULL, NULL, NULL);
}

/* By a finalizer of the run, and so by any thread. */
static void check_interrupt_under_way(void)
{
    GC_set_finalize_on_demand(1);
    api_make(make_interrupting);
    api_collect();
    tap_ok(GC_invoke_finalizers() == 5 && GC_should_invoke_finalizers(), "a limit that is set meanwhile ends the run");
    GC_set_interrupt_finalizers(0);
    GC_invoke_finalizers();
    api_finalized = 0;
}

static void check_interrupt(void)
{
    int queued, first;

    GC_set_interrupt_finalizers(7);
    tap_ok(GC_get_interrupt_finalizers() == 7, "how many finalizers run at once");
    GC_set_finalize_on_demand(1);
    api_make(make_finalized);
    api_collect();
    first = GC_invoke_finalizers();
    tap_ok(first == 7 && api_finalized == 7 && GC_should_invoke_finalizers(), "no more run in one call");
    GC_set_interrupt_finalizers(0);
    queued = GC_invoke_finalizers();
    tap_ok(queued >= FINALIZED - 10 && api_finalized == queued + 7, "without a limit all do (%d)", queued);
    GC_set_interrupt_finalizers(3);
    GC_set_finalize_on_demand(0);
    api_make(make_finalized);
    api_finalized = 0;
    GC_gcollect();
    tap_ok(api_finalized == 3, "nor after a collection (%d)", api_finalized);
    for (int i = 0; i < FINALIZED; i++)
        GC_gcollect();
    tap_ok(api_finalized >= FINALIZED - 3, "the others run later (%d)", api_finalized);
    GC_finalize_all();
    tap_ok(GC_get_interrupt_finalizers() == 0, "GC_finalize_all takes the limit away");
}

int main(void)
{
    check_sources();
    check_end_byte();
    GC_INIT();
    return tap_all(check_reader_lock, check_times, check_procs, check_interrupt_under_way, check_interrupt);
}
