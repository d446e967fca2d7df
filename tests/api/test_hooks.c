/* SPDX-License-Identifier: MIT */
/* The functions of a client that the collector calls (gc/inspect/client_hooks.c): when, with what, and that they can be
 * taken off again. */
#include "api.h"

#include <setjmp.h>

#define MB ((size_t)1 << 20)

static void *keep[100];

/* ---- events of a collection ------------------------------------------------------------------ */

enum { EVENTS_MAX = 1000 };

static struct {
    int count;
    GC_EventType event[EVENTS_MAX];
} events;

static void record_event(GC_EventType event)
{
    if (events.count < EVENTS_MAX)
        events.event[events.count++] = event;
}

/* Where an event stands in the record; -1: nowhere; -2: more than once. */
static int position(GC_EventType event)
{
    int found = -1;

    for (int i = 0; i < events.count; i++)
        if (events.event[i] == event)
            found = found == -1 ? i : -2;
    return found;
}

static bool in_order(void)
{
    static const GC_EventType order[] = {
        GC_EVENT_START, GC_EVENT_PRE_STOP_WORLD, GC_EVENT_POST_STOP_WORLD, GC_EVENT_MARK_START, GC_EVENT_MARK_END,
        GC_EVENT_PRE_START_WORLD, GC_EVENT_POST_START_WORLD, GC_EVENT_RECLAIM_START, GC_EVENT_RECLAIM_END, GC_EVENT_END
    };
    bool good = true;

    for (size_t i = 1; i < sizeof(order) / sizeof(order[0]); i++)
        good = good && position(order[i - 1]) >= 0 && position(order[i - 1]) < position(order[i]);
    return good;
}

static void check_events(void)
{
    GC_set_on_collection_event(record_event);
    tap_ok(GC_get_on_collection_event() == record_event, "the event hook can be read");
    GC_gcollect();
    GC_set_on_collection_event(NULL);
    tap_ok(in_order(), "a collection's events, once each, in their order: reclaiming when the world runs (%d)", events.count);
    tap_ok(position(GC_EVENT_THREAD_SUSPENDED) == -1, "threads are not mentioned to this hook");
    events.count = 0;
    GC_gcollect();
    tap_ok(events.count == 0 && GC_get_on_collection_event() == NULL, "without hook no events");
}

/* To a stop it does not answer. */
static void *be_deaf(void *unused)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    api_stay();
    return unused;
}

static void cannot_stop(void)
{
    pthread_t thread;
    int before;

    setenv("SGC_STOP_WARN_MS", "20", 1);
    GC_INIT();
    GC_pthread_create(&thread, NULL, be_deaf, NULL);
    api_wait(&api_there);
    GC_set_on_collection_event(record_event);
    before = (int)GC_get_gc_no();
    GC_gcollect();
    GC_set_on_collection_event(NULL);
    sem_post(&api_may_go);
    GC_pthread_join(thread, NULL);
    API_CHILD((int)GC_get_gc_no() == before && events.count == 3 && position(GC_EVENT_START) == 0 &&
              position(GC_EVENT_PRE_STOP_WORLD) == 1 && position(GC_EVENT_END) == 2);
}

/* ---- events of threads ----------------------------------------------------------------------- */

enum { THREADS = 5 };

static pthread_t threads[THREADS];
static int suspended[THREADS], resumed[THREADS], others;

static void record_thread(GC_EventType event, void *thread)
{
    for (int i = 0; i < THREADS; i++) {
        if (thread != (void *)threads[i])
            continue;
        if (event == GC_EVENT_THREAD_SUSPENDED)
            suspended[i]++;
        if (event == GC_EVENT_THREAD_UNSUSPENDED && resumed[i] < suspended[i])
            resumed[i]++;
        return;
    }
    others++;
}

static void *wait_for_end(void *unused)
{
    api_stay();
    return unused;
}

static void check_thread_events(void)
{
    int good = 0;

    api_start_all(threads, THREADS, wait_for_end);
    for (int i = 0; i < THREADS; i++)
        api_wait(&api_there);
    GC_set_on_thread_event(record_thread);
    tap_ok(GC_get_on_thread_event() == record_thread, "the thread hook can be read");
    GC_gcollect();
    GC_set_on_thread_event(NULL);
    for (int i = 0; i < THREADS; i++)
        good += suspended[i] == 1 && resumed[i] == 1;
    tap_ok(good == THREADS && others == 0, "each other thread was stopped once and let go (%d of %d)", good, THREADS);
    for (int i = 0; i < THREADS; i++)
        sem_post(&api_may_go);
    api_join_all(threads, THREADS);
}

/* ---- at the start, and roots of the moment --------------------------------------------------- */

static int starts, pushes;
static GC_push_other_roots_proc push_before;
static void **outside;
static GC_hidden_pointer hidden[10];

static void count_start(void)
{
    starts++;
}

static void push_outside(void)
{
    pushes++;
    GC_push_all(outside, outside + 5);
    GC_push_all_eager(outside + 5, outside + 10);
    push_before();          /* which clients of bdwgc call without a look: there it pushes the stacks */
}

static void fill_outside(void)
{
    api_fill(outside, hidden, 10);
}

static void check_start(void)
{
    GC_set_start_callback(count_start);
    tap_ok(GC_get_start_callback() == count_start, "the start hook can be read");
    GC_gcollect();
    tap_ok(starts == 1, "it is called once a collection");
    GC_set_start_callback(NULL);
    GC_gcollect();
    tap_ok(starts == 1, "and no more when it is taken off");
}

static void check_push(void)
{
    outside = api_outside(10 * sizeof(void *));
    push_before = GC_get_push_other_roots();
    tap_ok(push_before != NULL, "there is a hook from the start");
    GC_set_push_other_roots(push_outside);
    api_make(fill_outside);
    api_collect();
    tap_ok(pushes >= 2 && api_alive(hidden, 10) == 10, "what the hook pushes is a root");
    GC_set_push_other_roots(push_before);
    tap_ok(api_survive(hidden, 10) <= 1, "until the hook is taken off");
}

/* ---- the heap's size ------------------------------------------------------------------------- */

static int resizes;
static GC_word last_size;

static void resized(GC_word bytes)
{
    resizes++;
    last_size = bytes;
}

static void check_resize(void)
{
    GC_set_on_heap_resize(resized);
    tap_ok(GC_get_on_heap_resize() == resized, "the resize hook can be read");
    for (int i = 0; i < 100; i++)
        keep[i] = GC_malloc_atomic(MB);
    tap_ok(resizes > 0 && last_size >= 100 * MB, "it learns that the heap grew, and how large it is");
    tap_ok(last_size <= GC_get_heap_size() + GC_get_unmapped_bytes(), "as large as the queries say at most");
    GC_set_on_heap_resize(NULL);
    memset(keep, 0, sizeof(keep));
}

/* ---- out of memory --------------------------------------------------------------------------- */

static jmp_buf away;

static void *jump_away(size_t bytes)
{
    longjmp(away, bytes >= (size_t)1 << 50 ? 1 : 2);
}

static void check_oom_jump(void)
{
    GC_oom_func before = GC_get_oom_fn();
    GC_warn_proc warn = GC_get_warn_proc();
    volatile size_t size = (size_t)1 << 50;
    int came;

    GC_set_warn_proc(GC_ignore_warn_proc);
    GC_set_oom_fn(jump_away);
    came = setjmp(away);
    if (came == 0)
        GC_free(GC_malloc(size));
    GC_set_oom_fn(before);
    tap_ok(came == 1, "the out-of-memory hook may leave by longjmp, and knows the size");
    tap_ok(GC_malloc(100) != NULL && GC_get_oom_fn() == before, "after which everything works");
    GC_set_warn_proc(warn);
    tap_ok(warn != NULL && warn != GC_ignore_warn_proc && GC_get_warn_proc() == warn, "the warning hook can be put back");
}

/* ---- the end of the process: in children ----------------------------------------------------- */

static bool told_of_exit;

static void note_exit(const char *message)
{
    told_of_exit = message == NULL;
}

static void leave_well(void)
{
    if (told_of_exit)
        _exit(0);
}

static void abort_on_oom(void)
{
    API_CHILD(GC_get_abort_func() != NULL);
    GC_set_abort_func(note_exit);
    API_CHILD(GC_get_abort_func() == note_exit);
    atexit(leave_well);
    GC_abort_on_oom();
    _exit(5);
}

static void plain_abort_on_oom(void)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        GC_INIT();
        GC_abort_on_oom();
        _exit(5);
    }
    waitpid(child, &status, 0);
    API_CHILD(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static int warnings;

static void count_warning(char *format, TEST_UNUSED GC_word argument)
{
    warnings += format != NULL && strchr(format, '%') == strrchr(format, '%');
}

/* A late call of a setter that only works before the start is something to warn of. */
static void warning_hook(void)
{
    GC_set_warn_proc(count_warning);
    GC_set_suspend_signal(SIGUSR1);
    API_CHILD(warnings == 1);
    GC_set_warn_proc(GC_ignore_warn_proc);
    GC_set_suspend_signal(SIGUSR1);
    API_CHILD(warnings == 1);
}

static void log_to_file(void)
{
    FILE *file = tmpfile();
    char text[256] = "";

    GC_set_log_fd(fileno(file));
    GC_dump();
    rewind(file);
    API_CHILD(fread(text, 1, sizeof(text) - 1, file) > 0 && strlen(text) > 10);
}

static int notified, depth, deepest;

static void collecting_notifier(void)
{
    notified++;
    if (++depth > deepest)
        deepest = depth;
    if (depth < 5)
        GC_gcollect();
    depth--;
}

/* Nobody invokes the finalizer, so each collection would call the notifier again. */
static void collect_in_notifier(void)
{
    GC_set_finalize_on_demand(1);
    GC_set_finalizer_notifier(collecting_notifier);
    for (int i = 0; i < 10; i++)
        GC_register_finalizer(GC_malloc(API_LARGE), api_ignore, NULL, NULL, NULL);
    GC_gcollect();
    API_CHILD(GC_should_invoke_finalizers() != 0 && deepest == 1 && notified == 1);
    GC_free(GC_malloc(API_LARGE));
    API_CHILD(deepest == 1 && notified == 2);
}

int main(void)
{
    api_check_started(abort_on_oom, "", "GC_abort_on_oom calls the abort hook, without a message, and exit()");
    api_check_child(plain_abort_on_oom, api_on_sgc ? "out of memory" : "", "says why, and the status is 1");
    if (api_on_sgc) {
        api_check_started(warning_hook, NULL, "warnings go to the hook");
        api_check_started(collect_in_notifier, NULL,
                          "a notifier of finalizers that collects is not called inside itself, but afterwards");
        api_check_child(cannot_stop, "blocks signal", "a collection whose stop fails has an end, too");
        api_check_started(log_to_file, NULL, "GC_set_log_fd says where dumps go");
    }
    GC_INIT();
    return tap_all(check_events, check_thread_events, check_start, check_push, check_resize, check_oom_jump);
}
