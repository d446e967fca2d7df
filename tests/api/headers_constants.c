/* SPDX-License-Identifier: MIT */
/*
 * Prints what binary compatibility hangs on: sizes, offsets, values of constants and macros.  tests/check/check_headers
 * compiles it against our headers and against bdwgc's and compares what they print.  It calls no function of the
 * library, so it needs none to run.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#define GC_ATTR_DEPRECATED

#include <gc.h>
#include <gc/gc_backptr.h>
#include <gc/gc_inline.h>
#include <gc/gc_disclaim.h>
#include <gc/gc_gcj.h>
#include <gc/gc_mark.h>
#include <gc/gc_typed.h>
#include <stdio.h>

#define SIZE(type) printf("sizeof " #type " %zu align %zu\n", sizeof(type), _Alignof(type))
#define MEMBER(type, member) \
    printf(#type "." #member " at %zu size %zu\n", offsetof(type, member), sizeof(((type *)0)->member))
#define VALUE(constant) printf(#constant " %lld\n", (long long)(constant))
#define TEXT_OF(...) #__VA_ARGS__
#define EXPANSION(macro) printf(#macro " -> %s\n", TEXT_OF(macro))

static void structures(void)
{
    SIZE(GC_word);
    SIZE(GC_signed_word);
    SIZE(GC_hidden_pointer);
    SIZE(GC_EventType);
    SIZE(struct GC_stack_base);
    MEMBER(struct GC_stack_base, mem_base);
    SIZE(struct GC_timeval_s);
    MEMBER(struct GC_timeval_s, tv_ms);
    MEMBER(struct GC_timeval_s, tv_nsec);
    SIZE(struct GC_ms_entry);
    SIZE(struct GC_prof_stats_s);
    MEMBER(struct GC_prof_stats_s, heapsize_full);
    MEMBER(struct GC_prof_stats_s, free_bytes_full);
    MEMBER(struct GC_prof_stats_s, unmapped_bytes);
    MEMBER(struct GC_prof_stats_s, bytes_allocd_since_gc);
    MEMBER(struct GC_prof_stats_s, allocd_bytes_before_gc);
    MEMBER(struct GC_prof_stats_s, non_gc_bytes);
    MEMBER(struct GC_prof_stats_s, gc_no);
    MEMBER(struct GC_prof_stats_s, markers_m1);
    MEMBER(struct GC_prof_stats_s, bytes_reclaimed_since_gc);
    MEMBER(struct GC_prof_stats_s, reclaimed_bytes_before_gc);
    MEMBER(struct GC_prof_stats_s, expl_freed_bytes_since_gc);
    MEMBER(struct GC_prof_stats_s, obtained_from_os_bytes);
}

static void constants(void)
{
    VALUE(GC_VERSION_MAJOR);
    VALUE(GC_VERSION_MINOR);
    VALUE(GC_SUCCESS);
    VALUE(GC_DUPLICATE);
    VALUE(GC_NO_THREADS);
    VALUE(GC_NO_MEMORY);
    VALUE(GC_UNIMPLEMENTED);
    VALUE(GC_NOT_FOUND);
    VALUE(GC_DS_TAG_BITS);
    VALUE(GC_DS_TAGS);
    VALUE(GC_DS_LENGTH);
    VALUE(GC_DS_BITMAP);
    VALUE(GC_DS_PROC);
    VALUE(GC_DS_PER_OBJECT);
    VALUE(GC_INDIR_PER_OBJ_BIAS);
    VALUE(GC_LOG_MAX_MARK_PROCS);
    VALUE(GC_MAX_MARK_PROCS);
    VALUE(GC_RESERVED_MARK_PROCS);
    VALUE(GC_GCJ_RESERVED_MARK_PROC_INDEX);
    VALUE(GC_PROC_BYTES);
    VALUE(GC_MAKE_PROC(9, (GC_word)0xABCDEF012345));
    VALUE(GC_TIME_UNLIMITED);
    VALUE(GC_PROTECTS_NONE);
    VALUE(GC_PROTECTS_POINTER_HEAP);
    VALUE(GC_PROTECTS_PTRFREE_HEAP);
    VALUE(GC_PROTECTS_STATIC_DATA);
    VALUE(GC_PROTECTS_STACK);
    VALUE(GC_TOGGLE_REF_DROP);
    VALUE(GC_TOGGLE_REF_STRONG);
    VALUE(GC_TOGGLE_REF_WEAK);
    VALUE(GC_GRANULE_BYTES);
    VALUE(GC_GRANULE_WORDS);
    VALUE(GC_TINY_FREELISTS);
    VALUE(GC_RAW_BYTES_FROM_INDEX(7));
    VALUE(GC_WORDS_TO_GRANULES(7));
    VALUE(GC_WORDS_TO_WHOLE_GRANULES(7));
    VALUE(GC_I_PTRFREE);
    VALUE(GC_I_NORMAL);
    VALUE(GC_TYPE_DESCR_LEN);
    VALUE(GC_UNREFERENCED);
    VALUE(GC_NO_SPACE);
    VALUE(GC_REFD_FROM_ROOT);
    VALUE(GC_REFD_FROM_REG);
    VALUE(GC_REFD_FROM_HEAP);
    VALUE(GC_FINALIZER_REFD);
    VALUE(GC_EVENT_START);
    VALUE(GC_EVENT_MARK_START);
    VALUE(GC_EVENT_MARK_END);
    VALUE(GC_EVENT_RECLAIM_START);
    VALUE(GC_EVENT_RECLAIM_END);
    VALUE(GC_EVENT_END);
    VALUE(GC_EVENT_PRE_STOP_WORLD);
    VALUE(GC_EVENT_POST_STOP_WORLD);
    VALUE(GC_EVENT_PRE_START_WORLD);
    VALUE(GC_EVENT_POST_START_WORLD);
    VALUE(GC_EVENT_THREAD_SUSPENDED);
    VALUE(GC_EVENT_THREAD_UNSUSPENDED);
}

/* Macros whose expansion is the interface: which function is called with what. */
static void macros(void)
{
    VALUE(GC_HIDE_POINTER((void *)0x1230));
    VALUE((GC_word)GC_REVEAL_POINTER(GC_HIDE_POINTER((void *)0x1230)));
    VALUE(GC_GNUC_PREREQ(3, 1));
    VALUE(GC_GNUC_PREREQ(99, 0));
    EXPANSION(GC_MALLOC(n));
    EXPANSION(GC_MALLOC_ATOMIC(n));
    EXPANSION(GC_MALLOC_UNCOLLECTABLE(n));
    EXPANSION(GC_MALLOC_ATOMIC_UNCOLLECTABLE(n));
    EXPANSION(GC_MALLOC_IGNORE_OFF_PAGE(n));
    EXPANSION(GC_MALLOC_ATOMIC_IGNORE_OFF_PAGE(n));
    EXPANSION(GC_MALLOC_STUBBORN(n));
    EXPANSION(GC_REALLOC(p, n));
    EXPANSION(GC_FREE(p));
    EXPANSION(GC_STRDUP(p));
    EXPANSION(GC_STRNDUP(p, n));
    EXPANSION(GC_CHANGE_STUBBORN(p));
    EXPANSION(GC_END_STUBBORN_CHANGE(p));
    EXPANSION(GC_PTR_STORE_AND_DIRTY(p, q));
    EXPANSION(GC_REGISTER_DISPLACEMENT(n));
    EXPANSION(GC_REGISTER_FINALIZER(p, f, d, of, od));
    EXPANSION(GC_REGISTER_FINALIZER_IGNORE_SELF(p, f, d, of, od));
    EXPANSION(GC_REGISTER_FINALIZER_NO_ORDER(p, f, d, of, od));
    EXPANSION(GC_REGISTER_FINALIZER_UNREACHABLE(p, f, d, of, od));
    EXPANSION(GC_GENERAL_REGISTER_DISAPPEARING_LINK(p, q));
    EXPANSION(GC_REGISTER_LONG_LINK(p, q));
    EXPANSION(GC_GENERIC_OR_SPECIAL_MALLOC(n, k));
    EXPANSION(GC_MALLOC_EXPLICITLY_TYPED(n, d));
    EXPANSION(GC_CALLOC_EXPLICITLY_TYPED(k, n, d));
    EXPANSION(GC_GCJ_MALLOC(n, p));
    EXPANSION(GC_GCJ_MALLOC_IGNORE_OFF_PAGE(n, p));
    EXPANSION(GC_SUSPEND_THREAD_ID);
    EXPANSION(GC_PTHREAD_CREATE_CONST);
}

#if SGC_BDWGC == 803
static void of_bdwgc_83(void)
{
    SIZE(GC_uintptr_t);
    SIZE(struct GC_hblk_s);
    SIZE(struct GC_calloc_typed_descr_s);
    VALUE(GC_CALLOC_TYPED_DESCR_PTRS);
    VALUE(GC_CALLOC_TYPED_DESCR_WORDS);
    VALUE(GC_SIZEOF_PTR);
    VALUE(GC_GRANULE_PTRS);
    VALUE(GC_PTRS_TO_GRANULES(7));
    VALUE(GC_PTRS_TO_WHOLE_GRANULES(7));
    VALUE(GC_SIZEOF_IN_PTRS(struct GC_prof_stats_s));
    VALUE(GC_OFFSETOF_IN_PTRS(struct GC_prof_stats_s, gc_no));
    VALUE(GC_GCJ_MARK_DESCR_OFFSET);
    VALUE(GC_CUSTOM_PUSH_HINT_EAGER);
    VALUE(GC_VDB_NONE);
    VALUE(GC_VDB_MPROTECT);
    VALUE(GC_VDB_MANUAL);
    VALUE(GC_VDB_DEFAULT);
    VALUE(GC_VDB_GWW);
    VALUE(GC_VDB_PROC);
    VALUE(GC_VDB_SOFT);
    VALUE(GC_VDB_UFFDWP);
    VALUE(GC_HEAP_SECTION_TYPE_FREE);
    VALUE(GC_HEAP_SECTION_TYPE_PADDING);
    VALUE(GC_HEAP_SECTION_TYPE_USED);
    VALUE(GC_HEAP_SECTION_TYPE_UNMAPPED);
    VALUE(GC_HEAP_SECTION_TYPE_FORWARDING);
    VALUE(GC_HEAP_SECTION_TYPE_WHOLE_SECT);
    VALUE(GC_HIDE_NZ_POINTER(NULL));
    VALUE(GC_HIDE_NZ_POINTER((void *)0x1230));
    VALUE((GC_word)GC_REVEAL_NZ_POINTER(GC_HIDE_NZ_POINTER((void *)0x1230)));
    EXPANSION(GC_VERSION_VAL_T);
    EXPANSION(GC_REALLOCF(p, n));
    EXPANSION(GC_FREEZERO(p, n));
    EXPANSION(GC_FREEZEROALL(p));
    EXPANSION(GC_GENERIC_MALLOC(n, k));
    EXPANSION(GC_TOGGLEREF_ADD(p, s));
    EXPANSION(GC_MALLOC_EXPLICITLY_TYPED_IGNORE_OFF_PAGE(n, d));
}
#else
static void of_bdwgc_83(void)
{
}
#endif

int main(void)
{
    structures();
    constants();
    macros();
    of_bdwgc_83();
    return 0;
}
