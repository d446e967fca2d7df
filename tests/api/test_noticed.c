/* SPDX-License-Identifier: MIT */
/*
 * What no other test of the interface would miss: each check here is for a function that could do nothing, or return 0
 * always, without any of them noticing (tests/check/check_mutants).
 *
 * Also: gc/api/unofficial.c.
 */
#define GC_ATTR_DEPRECATED
#include "api.h"

#include <dlfcn.h>
#include <gc/gc_backptr.h>
#include <gc/gc_inline.h>
#include <sgc.h>
#include <sys/stat.h>

void GC_err_printf(const char *, ...);
void GC_log_printf(const char *, ...);
void GC_printf(const char *, ...);

/* ---- figures and objects ---------------------------------------------------------------------- */

static void check_figures(void)
{
    GC_expand_hp((size_t)4 << 20);
    tap_ok(GC_get_free_bytes() >= (size_t)1 << 20 && GC_get_free_bytes() <= GC_get_heap_size(),
           "a heap that was expanded has free bytes (%zu)", GC_get_free_bytes());
}

static void check_stubborn(void)
{
    char *object = GC_debug_malloc_stubborn(100, __FILE__, __LINE__);

    tap_ok(object != NULL && GC_base(object) != NULL && object[99] == 0, "GC_debug_malloc_stubborn gives an object");
}

/* What is in it is in tests/api/test_snapshot.c, which needs the reader. */
static void write_snapshot(void)
{
    char path[] = "/tmp/sgc-noticed-XXXXXX";
    struct stat written = { .st_size = 0 };
    int file = mkstemp(path);

    API_CHILD(file >= 0);
    close(file);
    GC_INIT();
    for (int i = 0; i < 1000; i++)
        GC_reachable_here(GC_malloc(64));
    API_CHILD(SGC_write_heap_snapshot(path) == 0);
    API_CHILD(stat(path, &written) == 0);
    unlink(path);
    API_CHILD(written.st_size > 0);
}

/* ---- modules --------------------------------------------------------------------------------- */

static void check_dlopen(void)
{
    void *self = GC_dlopen(NULL, RTLD_NOW);

    tap_ok(self != NULL && dlsym(self, "malloc") != NULL, "GC_dlopen gives a handle");
    if (self != NULL)
        dlclose(self);
}

/* ---- what is printed ------------------------------------------------------------------------- */

static void *volatile kept;

static void describe(TEST_UNUSED void *object, char *text)
{
    strcpy(text, "described by the test");
}

static void *pushed;

static void push(void)
{
    GC_push_conditional(&pushed, &pushed + 1, 1);
}

static void *make_hidden(void *slot)
{
    void *object = GC_malloc(API_LARGE);

    *(void **)slot = object;
    return (void *)GC_HIDE_POINTER(object);
}

/* Only the hook says that it is a root. */
static void check_push(void)
{
    GC_hidden_pointer hidden;

    GC_exclude_static_roots(&pushed, &pushed + 1);
    GC_set_push_other_roots(push);
    hidden = (GC_hidden_pointer)api_in_thread(make_hidden, &pushed);
    tap_ok(api_survive(&hidden, 1) == 1, "GC_push_conditional pushes roots");
    GC_set_push_other_roots(NULL);
    tap_ok(api_survive(&hidden, 1) == 0, "which are none afterwards");
}

static void backtrace_described(void)
{
    kept = GC_malloc(16);
    GC_register_describe_type_fn(GC_get_kind_and_size(kept, NULL), describe);
    GC_print_backtrace(kept);
}

/* ---- threads --------------------------------------------------------------------------------- */

static volatile int over;

static void *wait_for_end(void *unused)
{
    while (!over)
        usleep(1000);
    return unused;
}

static void check_detach(void)
{
    pthread_t thread = api_start(wait_for_end, NULL);

    tap_ok(GC_pthread_detach(thread) == 0 && GC_pthread_detach(thread) == EINVAL, "a thread is detached once");
    over = 1;
}

static void dump(void)
{
    kept = GC_malloc(16);
    GC_register_finalizer(kept, api_ignore, NULL, NULL, NULL);
    GC_dump_finalization();
}

/* ---- the thread that starts the collector ---------------------------------------------------- */

/* Without the first of the three calls nothing would be locked while it forks. */
static void fork_takes_lock(void)
{
    GC_word before;

    GC_set_handle_fork(-1);
    GC_INIT();
    before = GC_get_gc_no();
    GC_atfork_prepare();
    GC_gcollect();
    API_CHILD(GC_get_gc_no() == before);
    GC_atfork_parent();
}

static void allow_first(void)
{
    API_CHILD(!GC_is_init_called());
    GC_allow_register_threads();
    API_CHILD(GC_is_init_called());
}

int main(void)
{
    api_check_child(allow_first, NULL, "GC_allow_register_threads starts the collector");
    api_check_child(fork_takes_lock, "it is not made", "between GC_atfork_prepare and the other there is no collection");
    GC_INIT();
    tap_each(check_figures, check_detach, check_push, check_stubborn, check_dlopen);
    api_check_child_of(GC_err_printf("an error: %d\n", 12), "an error: 12", "GC_err_printf prints");
    api_check_child(write_snapshot, NULL, "SGC_write_heap_snapshot writes a file");
    api_check_child_of(SGC_print_placement(), " memory node", "SGC_print_placement says how many memory nodes there are");
    api_check_child_of(GC_print_free_list(1, 2), "free list of kind 1", "GC_print_free_list says that there is none");
    api_check_child_of((dup2(STDERR_FILENO, STDOUT_FILENO), GC_printf("plainly: %d\n", 14)), "plainly: 14", "GC_printf prints");
    api_check_child(backtrace_described, "described by the test", "a kind's objects are described by the program");
    api_check_child_of(GC_log_printf("for the log: %d\n", 13), "for the log: 13", "GC_log_printf prints");
    api_check_child(dump, "1 registered", "GC_dump_finalization tells of a finalizer");
    api_check_child_of((kept = GC_malloc(16), GC_generate_random_backtrace()), "back pointers of",
                       "GC_generate_random_backtrace tells of an object");
    return tap_done();
}
