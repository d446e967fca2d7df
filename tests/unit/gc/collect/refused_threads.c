/* SPDX-License-Identifier: MIT */
/*
 * The work of a process that is refused a system call (tests/unit/gc/collect/test_refused.c): it holds objects from every kind
 * of place that is a root, collects from several threads, allocates over what was freed, and looks at what it holds.
 *
 *   who holds chains of objects              in which places
 *   the first thread                         deep frames, a thread-local variable, one of a loaded module, thread-specific
 *                                            data, static data
 *   each of four threads                     a frame of its own stack, a thread-local variable, one of a loaded module, and
 *   - one that only waits                    a second frame
 *   - one in a coroutine that it told of     a frame of the coroutine's stack
 *   - one in a coroutine that it did not     a frame of the coroutine's stack
 *   - one in a handler                       a frame on an alternate signal stack
 *   a late thread                            a frame
 *   one that registers itself                a frame
 *   a child of fork                          what the first thread holds
 *
 * It stays clear of waiting in the C library, which could be what is refused: threads look at a number every millisecond.
 */
#include "tests/unit/gc/collect/refused.h"

#include <ucontext.h>

/* ---- threads --------------------------------------------------------------------------------- */

enum { WAITING, TOLD, UNTOLD, IN_HANDLER, THREADS, STACK_BYTES = 256 * 1024, THREAD_BYTES = 1024 * 1024 };

static const char in_frame[] = "a frame of a thread's own stack";
static const char in_variable[] = "a thread-local variable of a thread";
static const char in_module[] = "a thread-local variable of a module, in a thread";
static const char in_late_frame[] = "a frame of a late thread";
static const char stands_in[THREADS][64] = {
    [WAITING] = "a thread's second frame",
    [TOLD] = "the stack of a coroutine that was told of",
    [UNTOLD] = "the stack of a coroutine that was not told of",
    [IN_HANDLER] = "the alternate stack of a handler",
};

static struct {
    pthread_t handle;
    bool runs;
    atomic_int turn, done;      /* which round it is to make; has made.  The last ends it */
    char *stack;
    ucontext_t own, other;
} threads[THREADS];

enum { ROUNDS = 2 };

static _Thread_local struct link *thread_local_chain;
static _Thread_local int thread_kind;
void *(*module_variable)(void);

static struct link **module_chain(void)
{
    return (struct link **)module_variable() + 1;
}

static void wait_until(atomic_int *number, int wanted)
{
    while (atomic_load(number) < wanted)
        poll(NULL, 0, 1);
}

/* On whatever stack it is that the thread stands on while others collect. */
TEST_NOINLINE static void take_turns(void)
{
    int kind = thread_kind;
    struct link *volatile held = make_chain(stands_in[kind]);

    scrub_stack();
    for (int round = 1; round <= ROUNDS; round++) {
        atomic_store(&threads[kind].done, round);
        wait_until(&threads[kind].turn, round);
        collect_and_churn();
        check_chain(held, stands_in[kind]);
    }
    drop_chain(held, stands_in[kind]);
}

static void coroutine_body(void)
{
    take_turns();
    if (thread_kind == TOLD)
        GC_alloc_lock();
}

/* As its users do it: the base and the stack change under the lock. */
static void coroutine_told_body(void)
{
    GC_alloc_unlock();
    coroutine_body();
}

TEST_NOINLINE static void run_coroutine(int kind)
{
    struct GC_stack_base base, own;

    getcontext(&threads[kind].other);
    threads[kind].other.uc_stack.ss_sp = threads[kind].stack;
    threads[kind].other.uc_stack.ss_size = STACK_BYTES;
    threads[kind].other.uc_link = &threads[kind].own;
    makecontext(&threads[kind].other, kind == TOLD ? coroutine_told_body : coroutine_body, 0);
    if (kind == UNTOLD) {
        swapcontext(&threads[kind].own, &threads[kind].other);
        return;
    }
    GC_get_my_stackbottom(&own);
    base.mem_base = threads[kind].stack + STACK_BYTES;
    GC_alloc_lock();
    GC_set_stackbottom(NULL, &base);
    swapcontext(&threads[kind].own, &threads[kind].other);
    GC_set_stackbottom(NULL, &own);
    GC_alloc_unlock();
}

static void on_signal(TEST_UNUSED int signal)
{
    take_turns();
}

TEST_NOINLINE static void run_handler(int kind)
{
    stack_t alternate = { .ss_sp = threads[kind].stack, .ss_size = STACK_BYTES };

    if (sigaltstack(&alternate, NULL) != 0)
        take_turns();           /* what is refused may be this */
    else
        raise(SIGUSR2);
}

static void *thread_body(void *arg)
{
    int kind = (int)(intptr_t)arg;
    struct link *volatile held = make_chain(in_frame);

    thread_kind = kind;
    thread_local_chain = make_chain(in_variable);
    *module_chain() = make_chain(in_module);
    scrub_stack();
    if (kind == WAITING)
        take_turns();
    else if (kind == IN_HANDLER)
        run_handler(kind);
    else
        run_coroutine(kind);
    drop_chain(held, in_frame);
    drop_chain(thread_local_chain, in_variable);
    drop_chain(*module_chain(), in_module);
    atomic_store(&threads[kind].done, ROUNDS + 1);
    return NULL;
}

/* With a stack so small that the C library keeps it for the next thread: where it cannot unmap one, it ends the process. */
static bool create_thread(pthread_t *thread, void *(*body)(void *), int kind)
{
    pthread_attr_t small;
    bool created;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, THREAD_BYTES);
    created = GC_pthread_create(thread, &small, body, (void *)(intptr_t)kind) == 0;
    pthread_attr_destroy(&small);
    atomic_fetch_add(&report->no_thread, !created);
    return created;
}

static void start_thread(int kind)
{
    threads[kind].stack = api_outside(STACK_BYTES);
    threads[kind].runs = create_thread(&threads[kind].handle, thread_body, kind);
    if (threads[kind].runs)
        wait_until(&threads[kind].done, 1);
}

/* Each makes its next round, one after the other. */
static void give_turns(int round)
{
    for (int kind = 0; kind < THREADS; kind++)
        if (threads[kind].runs) {
            atomic_store(&threads[kind].turn, round);
            wait_until(&threads[kind].done, round + 1);
        }
}

static void join_threads(void)
{
    for (int kind = 0; kind < THREADS; kind++)
        if (threads[kind].runs && GC_pthread_join(threads[kind].handle, NULL) != 0)
            is_wrong("GC_pthread_join");
}

static void *late_body(void *arg)
{
    struct link *volatile held = make_chain(in_late_frame);

    collect_and_churn();
    drop_chain(held, in_late_frame);
    return arg;
}

/* One that the C library creates, and that registers itself. */
static void *own_body(void *arg)
{
    struct GC_stack_base base = { __builtin_frame_address(0) };

    if (GC_get_stack_base(&base) != GC_SUCCESS)
        base.mem_base = (char *)__builtin_frame_address(0) + 64;
    if (GC_register_my_thread(&base) != GC_SUCCESS) {
        atomic_fetch_add(&report->no_thread, 1);
        return arg;
    }
    late_body(arg);
    GC_unregister_my_thread();
    return arg;
}

static void run_own_thread(void)
{
    pthread_t own;

    GC_allow_register_threads();
    if (pthread_create(&own, NULL, own_body, NULL) != 0)
        atomic_fetch_add(&report->no_thread, 1);
    else if (GC_pthread_join(own, NULL) != 0)
        is_wrong("the end of a thread that registered itself");
}

static void run_late_thread(void)
{
    pthread_t late;

    if (create_thread(&late, late_body, THREADS) && GC_pthread_join(late, NULL) != 0)
        is_wrong("GC_pthread_join of a late thread");
}

/* ---- the first thread, and its moments -------------------------------------------------------- */

enum { DEEP_FRAMES = 24, FRAME_BYTES = 4096 };

static const char in_first_frame[] = "a frame of the first thread";
static const char in_first_variable[] = "a thread-local variable of the first thread";
static const char in_first_module[] = "a thread-local variable of a module, in the first thread";
static const char in_specific[] = "thread-specific data of the first thread";
static const char in_static[] = "static data";

static struct link *static_chain;
static pthread_key_t specific_chain;

static void at_moment(int moment)
{
    if (moment == report->moment)
        atomic_store(&report->armed, 1);
}

static void check_first(void)
{
    check_chain(thread_local_chain, in_first_variable);
    check_chain(*module_chain(), in_first_module);
    check_chain(pthread_getspecific(specific_chain), in_specific);
    check_chain(static_chain, in_static);
}

/* What the child has found wrong is in the report; what it says would be what its parent has said. */
static void run_fork(void)
{
    int status = -1;
    pid_t child = fork();

    if (child < 0) {
        atomic_fetch_add(&report->no_fork, 1);
        return;
    }
    if (child == 0) {
        GC_set_warn_proc(GC_ignore_warn_proc);
        collect_and_churn();
        check_first();
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        is_wrong("the child of fork");
}

static void make_rounds(void)
{
    for (int round = 1; round <= ROUNDS; round++) {
        collect_and_churn();
        check_first();
        give_turns(round);
        check_first();
        run_late_thread();
        run_own_thread();
    }
    run_fork();
    join_threads();
}

TEST_NOINLINE static void go_deeper(int depth)
{
    volatile char room[FRAME_BYTES];
    struct link *volatile held = make_chain(in_first_frame);

    room[0] = (char)depth;
    scrub_stack();
    if (depth < DEEP_FRAMES) {
        go_deeper(depth + 1);
    } else {
        at_moment(REFUSED_COLLECT);
        make_rounds();
    }
    check_chain(held, in_first_frame);
    if (room[0] != (char)depth)
        is_wrong("a frame");
}

/* Prepared before anything is refused: what is a matter of the program's alone. */
static void prepare_work(void)
{
    struct sigaction on_alternate = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

    sigaction(SIGUSR2, &on_alternate, NULL);
    if (pthread_key_create(&specific_chain, NULL) != 0)
        _exit(4);
    GC_set_oom_fn(on_no_memory);
}

/* What a collection loses shows: a chain that nobody can see, held where everybody's are. */
static GC_hidden_pointer hidden_chain;

void run_planted_work(void)
{
    prepare_work();
    GC_INIT();
    hidden_chain = GC_HIDE_POINTER(make_chain(in_static));
    for (int i = 0; i < 2; i++)
        collect_and_churn();
    check_chain(GC_REVEAL_POINTER(hidden_chain), in_static);
}

void run_work(void)
{
    prepare_work();
    at_moment(REFUSED_START);
    GC_INIT();
    GC_start_mark_threads();
    at_moment(REFUSED_REGISTER);
    for (int kind = 0; kind < THREADS; kind++)
        start_thread(kind);
    thread_local_chain = make_chain(in_first_variable);
    *module_chain() = make_chain(in_first_module);
    pthread_setspecific(specific_chain, make_chain(in_specific));
    static_chain = make_chain(in_static);
    scrub_stack();
    go_deeper(0);
    check_first();
}
