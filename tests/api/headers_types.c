/* SPDX-License-Identifier: MIT */
/*
 * Compiled, never run, by tests/check/check_headers: against our headers and, with API_PEER, against bdwgc's.  Each
 * function is assigned to a pointer of the exact type that tests/api/api_list.h gives it, each callback type is made
 * from a function of the client's, each macro is used as clients use it.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#define GC_I_HIDE_POINTERS
#define GC_ATTR_DEPRECATED
#ifndef API_PEER
#define GC_REQUIRE_WCSDUP
#endif

#include <gc.h>
#include <gc/gc_backptr.h>
#include <gc/gc_disclaim.h>
#include <gc/gc_gcj.h>
#include <gc/gc_inline.h>
#include <gc/gc_mark.h>
#include <gc/gc_typed.h>
#include <gc/javaxfc.h>
#ifndef API_PEER
#include <sgc.h>
#include <sgc_shortterm.h>
#endif

#include "api_list.h"

#define API_POINTER(result, name, parameters) result (*name##_pointer) parameters = name;
#define API_ADDRESS(type, name) type *name##_address = &name;

API_COMMON(API_POINTER)
API_VARIABLES(API_ADDRESS)
#ifdef _POSIX_C_SOURCE
API_SIGNALS(API_POINTER)
#endif
#ifndef API_PEER
#ifdef _GNU_SOURCE
API_JOINS(API_POINTER)
#endif
API_BEYOND(API_POINTER)
API_BACK_POINTERS(API_POINTER)
API_SGC(API_POINTER)
API_SHORTTERM(API_POINTER)
#endif
#if !defined(API_PEER) || SGC_BDWGC == 803
API_8_3(API_POINTER)
#endif

/* Callback types, from functions as a client writes them. */
static int stop(void) { return 0; }
static void *out_of_memory(size_t bytes) { (void)bytes; return NULL; }
static void resized(GC_word bytes) { (void)bytes; }
static void warned(API_FORMAT *format, GC_word argument) { (void)format; (void)argument; }
static void aborted(const char *message) { (void)message; }
static void event(GC_EventType which) { (void)which; }
static void thread_event(GC_EventType which, void *thread) { (void)which; (void)thread; }
static int has_roots(const char *name, void *start, size_t size) { return name != NULL && start != NULL && size > 0; }
static void plain(void) { }
static void visit(void *object, size_t bytes, void *data) { (void)object; (void)bytes; (void)data; }
static void describe(void *object, char *text) { (void)object; text[0] = '\0'; }
static void *call(void *arg) { return arg; }
static void *with_base(struct GC_stack_base *base, void *arg) { return base->mem_base != NULL ? arg : NULL; }

void headers_hooks(void);
void headers_hooks(void)
{
    GC_set_stop_func(stop);
    GC_set_oom_fn(out_of_memory);
    GC_set_on_heap_resize(resized);
    GC_set_warn_proc(warned);
    GC_set_warn_proc(GC_ignore_warn_proc);
    GC_set_abort_func(aborted);
    GC_set_on_collection_event(event);
    GC_set_on_thread_event(thread_event);
    GC_register_has_static_roots_callback(has_roots);
    GC_set_start_callback(plain);
    GC_set_push_other_roots(plain);
    GC_enumerate_reachable_objects_inner(visit, NULL);
    GC_register_describe_type_fn(1, describe);
    (void)GC_do_blocking(call, NULL);
    (void)GC_call_with_stack_base(with_base, NULL);
}

struct node {
    struct node *next;
    double value;
};

/* The object macros, as statements and as expressions. */
GC_word headers_macros(struct node *old);
GC_word headers_macros(struct node *old)
{
    struct node *node, *list = (struct node *)GC_malloc_many(sizeof(struct node));
    char *text = GC_STRNDUP(GC_STRDUP("abc"), 2);
    GC_PTR untyped = GC_MALLOC(10);
    GC_hidden_pointer hidden = HIDE_POINTER(untyped);

    GC_INIT();
    if (old == NULL)
        GC_INIT();
    node = GC_NEW(struct node);
    node = GC_NEW_ATOMIC(struct node);
    node = GC_NEW_UNCOLLECTABLE(struct node);
    node = GC_NEW_STUBBORN(struct node);
    GC_CHANGE_STUBBORN(node);
    node = (struct node *)GC_REALLOC(node, 2 * sizeof(*node));
    node = (struct node *)GC_MALLOC_ATOMIC(1);
    node = (struct node *)GC_MALLOC_UNCOLLECTABLE(1);
    node = (struct node *)GC_MALLOC_ATOMIC_UNCOLLECTABLE(1);
    node = (struct node *)GC_MALLOC_IGNORE_OFF_PAGE(1);
    node = (struct node *)GC_MALLOC_ATOMIC_IGNORE_OFF_PAGE(1);
    node = (struct node *)GC_MALLOC_STUBBORN(1);
    GC_PTR_STORE(&node->next, list);
    GC_PTR_STORE_AND_DIRTY(&node->next, GC_NEXT(list));
    GC_END_STUBBORN_CHANGE(node);
    GC_REGISTER_DISPLACEMENT(8);
    text = GC_PTR_ADD(text, 1);
    GC_PRE_INCR(text, 1);
    GC_POST_INCR(text);
    GC_POST_DECR(text);
    GC_reachable_here(text);
    GC_FREE(REVEAL_POINTER(hidden));
    return GC_HIDE_POINTER(GC_REVEAL_POINTER(hidden)) - (GC_word)old;
}

/* The macros of gc_inline.h. */
void *headers_inline(void *first, void *second);
void *headers_inline(void *first, void *second)
{
    static void *lists[GC_TINY_FREELISTS];
    void *result;

    GC_MALLOC_WORDS(result, 3, lists);
    GC_MALLOC_ATOMIC_WORDS(result, 3, lists);
    GC_CONS(result, first, second, lists);
    return GC_USR_PTR_FROM_BASE(GC_GENERIC_OR_SPECIAL_MALLOC(sizeof(result), GC_I_NORMAL)) == first ? second : result;
}

#if !defined(API_PEER) || SGC_BDWGC == 803
/* The macros and callback types of bdwgc 8.3. */
static void got_memory(void *space, size_t bytes) { (void)space; (void)bytes; }
static void in_section(void *start, void *end, GC_heap_section_type type, void *data)
{
    (void)start, (void)end, (void)type, (void)data;
}
static void in_block(struct GC_hblk_s *block, void *data) { (void)block; (void)data; }
static void in_free_block(struct GC_hblk_s *block, int index, void *data) { (void)block; (void)index; (void)data; }
static void pushed(void **bottom, void **top, void *data, unsigned hint) { (void)bottom; (void)top; (void)data; (void)hint; }
static void failed(void *p) { (void)p; }
static void differ(void *p, void *q) { (void)p; (void)q; }

void *headers_of_bdwgc_83(void **link, const void *object, const struct GC_stack_base *base);
void *headers_of_bdwgc_83(void **link, const void *object, const struct GC_stack_base *base)
{
    struct node *node = GC_NEW_ARRAY(struct node, 3), *other = GC_NEW_ATOMIC_ARRAY(struct node, 3);
    int *number = GC_NEW_UNCOLLECTABLE_ARRAY(int, 3);
    GC_hidden_pointer hidden = GC_HIDE_NZ_POINTER(node);

    GC_set_on_os_get_mem(got_memory);
    GC_foreach_heap_section_inner(in_section, NULL);
    GC_apply_to_all_blocks(in_block, NULL);
    GC_iterate_free_hblks(in_free_block, NULL);
    GC_custom_push_regs_and_stack(pushed, NULL, base, NULL);
    GC_set_is_visible_print_proc(failed);
    GC_set_is_valid_displacement_print_proc(failed);
    GC_set_same_obj_print_proc(differ);
    number = (int *)GC_REALLOCF(number, GC_ADDR_LT(node, other) ? 10 : 20);
    GC_FREEZERO(number, 4);
    GC_FREEZEROALL(GC_GENERIC_MALLOC(10, GC_I_NORMAL));
    GC_noop1_ptr(other);
    if (GC_TOGGLEREF_ADD(node, 1) != GC_SUCCESS || GC_GENERAL_REGISTER_DISAPPEARING_LINK_SAFE(link, object) == GC_DUPLICATE ||
        GC_REGISTER_LONG_LINK_SAFE(link, object) == GC_DUPLICATE || GC_base_C(object) == object)
        GC_abort_on_oom();
    return GC_call_with_reader_lock(call, GC_REVEAL_NZ_POINTER(hidden), 0);
}
#endif
