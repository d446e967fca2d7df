/* SPDX-License-Identifier: MIT */
/*
 * The options of the collector: one struct of values, filled once at start, read everywhere.
 *
 * Every option stands in one table, gc/config/option_table.def: name, type, range, default, help
 * and the field it sets.  Parsing, messages, SGC_PRINT_OPTIONS and the check of doc/options.md come
 * from it.  Reading the environment and setting an option: gc/config/option_set.h.
 *
 * The initialising thread writes sgc_options (sgc_options_read, sgc_option_set and sgc_option_clamp
 * before the first helper thread exists), later only a caller that holds the lock of the value's
 * user.  Any thread reads values that no longer change, without synchronisation.  A value that an
 * API function can change at run time is copied at start into the module that uses it.
 */
#ifndef SGC_GC_CONFIG_OPTIONS_H
#define SGC_GC_CONFIG_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alloc/pages/heap.h"
#include "alloc/pages/page_rules.h"
#include "mark/work/deque.h"
#include "mark/markbit.h"
#include "mark/work/termination.h"

#define SGC_OPTION_TEXT_BYTES 1024        /* room for an option that is a text, its end included */

enum sgc_mode { SGC_MODE_STOP, SGC_MODE_CONCURRENT };

enum sgc_dirty_choice {
    SGC_DIRTY_AUTO, SGC_DIRTY_ASYNC, SGC_DIRTY_SOFT, SGC_DIRTY_MPROTECT, SGC_DIRTY_NONE, SGC_DIRTY_SOFTWARE,
};

enum sgc_verify { SGC_VERIFY_NOTHING, SGC_VERIFY_MARKS };

enum sgc_end_byte {
    SGC_END_BYTE_ALL,               /* every request gets one byte more */
    SGC_END_BYTE_ROOTS,             /* a root word just past an object keeps it; no byte is added */
};

enum sgc_service_mode { SGC_SERVICE_OFF, SGC_SERVICE_ON, SGC_SERVICE_EAGER };
enum sgc_marker_choice { SGC_MARKERS_ALL, SGC_MARKERS_COST, SGC_MARKERS_MODEL };
enum sgc_pacing_mode { SGC_PACING_COST, SGC_PACING_LIMIT, SGC_PACING_ENDO };
enum sgc_bind { SGC_BIND_OFF, SGC_BIND_NODE, SGC_BIND_CORE, SGC_BIND_AUTO };
enum sgc_preset { SGC_PRESET_OPT, SGC_PRESET_NO_SLO, SGC_PRESET_NO_NSB, SGC_PRESET_NO_OPT, SGC_PRESET_SIMPLE };

struct sgc_options {
    /* heap */
    size_t initial_heap;            /* bytes allocated before the first collection is considered */
    size_t maximum_heap;            /* 0: no limit but the system's */
    int free_space_divisor;
    size_t reserve;                 /* bytes of address space; 0: automatic */
    int decay_ms;                   /* until free memory goes back; 0: at once, -1: never */
    int huge_pages;                 /* enum sgc_huge_pages */
    bool name_mappings;
    int numa;                       /* enum sgc_numa */
    bool force_unmap_on_gcollect;
    bool use_entire_heap;
    int service;                    /* enum sgc_service_mode: the helper thread that sweeps and
                                       gives memory back */
    bool dont_gc;
    int pacing;                     /* enum sgc_pacing_mode */
    int page_policy;                /* enum sgc_page_policy */
    int lps_k;                      /* in 256ths; 0: automatic */
    bool share_pages;
    /* which words are pointers */
    bool all_interior_pointers;
    int end_byte;                   /* enum sgc_end_byte */
    /* marking */
    int markers;                    /* 0 until the start has asked for the number of processors */
    int concurrent_markers;         /* of them, beside the program; 0 until the start */
    int marker_choice;              /* enum sgc_marker_choice */
    int node_mb_s;
    int bind;                       /* enum sgc_bind: where helper threads may run */
    int processors;                 /* 0: as many as sgc_limit_cpus() says */
    int mode;                       /* enum sgc_mode */
    bool enable_incremental, disable_incremental;
    int pause_target_ms;
    int dirty;                      /* enum sgc_dirty_choice */
    size_t split_bytes;             /* pieces of large objects; 0: not split */
    int prefetch;                   /* edges looked up together; 0: no prefetching */
    int preset;                     /* enum sgc_preset */
    bool balance;
    int stack_form, steal, termination, markbit;    /* enums of these names */
    size_t mark_stack_limit;        /* bytes a marker may commit; 0: all that is reserved */
    /* stopping the world */
    int stop_warn_ms;               /* -1: never */
    int suspend_signal;
    /* reports */
    bool print_stats, print_verbose_stats, print_options, only_log_to_file;
    bool numa_report;
    char log_file[SGC_OPTION_TEXT_BYTES]; /* GC_LOG_FILE: messages and statistics; "": stderr */
    char log[SGC_OPTION_TEXT_BYTES];      /* SGC_LOG_JSON: a JSON object per collection; "": none */
    char snapshot[SGC_OPTION_TEXT_BYTES]; /* SGC_SNAPSHOT: heap snapshots; "": none */
    char profile[SGC_OPTION_TEXT_BYTES];  /* SGC_PROFILE: allocation profiles; "": none */
    char trace[SGC_OPTION_TEXT_BYTES];    /* SGC_TRACE: a timeline; "": none */
    /* leaks and overwritten memory */
    bool find_leak, findleak_delay_free, abort_on_leak;
    /* short-term memory */
    int shortterm;                  /* SGC_SHORTTERM_PIN ...: sgc_shortterm.h */
    int shortterm_extension, shortterm_collect, shortterm_step, shortterm_page, shortterm_check;
    /* tests of the collector itself */
    int torture;                    /* collect at every n-th allocation; 0: off */
    int verify;                     /* enum sgc_verify */
    int torture_seed;
};

extern struct sgc_options sgc_options;

#endif
