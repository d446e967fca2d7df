/* SPDX-License-Identifier: MIT */
/*
 * Stacks where the system gives no answer: no /proc (a build jail), no free descriptor, a filter that refuses open(),
 * a stack that the kernel keeps as several mappings, guards in the middle of a mapping, neighbours that come and go.
 * What a frame holds is alive.
 *
 * Each check runs in a child, since most change the process for good.  Objects are held by frames only.
 */
#include "api.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "../lib/sanitized.h"

enum { HELD = 20, STACK = 256 * 1024, PAGE = 4096 };

static GC_hidden_pointer hidden[HELD], own_hidden[HELD];

/* ---- frames that hold objects ------------------------------------------------------------------- */

/* Objects that were taken for dead would be allocated again. */
static void check_objects(void *volatile *object)
{
    for (int i = 0; i < HELD; i++)
        GC_malloc(API_LARGE);
    API_CHILD(api_lost(object, HELD) == 0 && api_alive(hidden, HELD) == HELD);
}

/* fn(), from `depth` frames of two KB below. */
TEST_NOINLINE static void below(int depth, void (*fn)(void))
{
    volatile char room[2048];

    room[0] = 0;
    if (depth > 0)
        below(depth - 1, fn);
    else
        fn();
    API_CHILD(room[0] == 0);
}

/* More than a dead frame may have left behind is gone then. */
TEST_NOINLINE static void hold_and(int depth, void (*fn)(void))
{
    void *volatile object[HELD];

    api_fill(object, hidden, HELD);
    below(depth, fn);
    check_objects(object);
}

/* ---- what the system refuses ---------------------------------------------------------------------- */

static void no_descriptors(void)
{
    struct rlimit none = { 0, 0 };

    API_CHILD(setrlimit(RLIMIT_NOFILE, &none) == 0);
    API_CHILD(open("/dev/null", O_RDONLY) < 0);
}

static void empty_root(void)
{
    char folder[] = "/tmp/sgc-test-XXXXXX";

    API_CHILD(mkdtemp(folder) != NULL && chdir(folder) == 0 && chroot(".") == 0);
    API_CHILD(access("/proc", F_OK) != 0);
}

/* Every open() fails from now on; and with `questions` also what asks whether memory is mapped or readable. */
static void filter(bool questions)
{
    struct sock_filter refuse[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, questions ? SYS_mincore : SYS_openat, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, questions ? SYS_process_vm_readv : SYS_openat, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, questions ? SYS_rt_sigprocmask : SYS_openat, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog program = { sizeof refuse / sizeof *refuse, refuse };

    API_CHILD(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    API_CHILD(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    API_CHILD(open("/dev/null", O_RDONLY) < 0 && errno == EPERM);
}

static void filter_open(void)
{
    filter(false);
}

/* What the next child has to do without; NULL: nothing. */
static void (*refuse)(void);

/* ---- the first thread's stack ---------------------------------------------------------------------- */

static void start(void)
{
    GC_INIT();
}

/* The frame that holds the objects lies above the one that starts the collector. */
static void start_and_hold(void)
{
    void *volatile object[HELD];

    refuse();
    below(8, start);
    api_fill(object, hidden, HELD);
    below(20, api_collect);
    check_objects(object);
}

/* The bottom lies above the program's arguments, and the thread may go deep below. */
static void bounds_without_proc(void)
{
    struct GC_stack_base base;

    no_descriptors();
    GC_INIT();
    API_CHILD(GC_get_stack_base(&base) == GC_SUCCESS);
    API_CHILD((char *)base.mem_base > environ[0]);
    hold_and(1500, api_collect);
}

/* ---- coroutines ------------------------------------------------------------------------------------- */

/* A coroutine on a stack that the caller provides, which holds objects and calls fn() below them. */
static struct {
    ucontext_t context, caller;
    struct GC_stack_base bottom, own;
    void (*fn)(void);
    int depth;
    bool told;
} routine;

static void tell(const struct GC_stack_base *base)
{
    if (routine.told)
        GC_set_stackbottom(NULL, base);
}

static void routine_body(void)
{
    GC_alloc_unlock();
    hold_and(routine.depth, routine.fn);
    GC_alloc_lock();
    tell(&routine.own);
}

static void run_on(char *stack, size_t bytes, int depth, void (*fn)(void))
{
    API_CHILD(GC_get_my_stackbottom(&routine.own) != NULL);
    routine.bottom.mem_base = stack + bytes;
    routine.fn = fn;
    routine.depth = depth;
    getcontext(&routine.context);
    routine.context.uc_stack.ss_sp = stack;
    routine.context.uc_stack.ss_size = bytes;
    routine.context.uc_link = &routine.caller;
    makecontext(&routine.context, routine_body, 0);
    GC_alloc_lock();
    tell(&routine.bottom);
    swapcontext(&routine.caller, &routine.context);
    GC_alloc_unlock();
}

/* The same with objects of the thread's own frames, below which it leaves its own stack. */
static void run_and_keep(char *stack, size_t bytes, int depth, void (*fn)(void))
{
    void *volatile own[HELD];

    api_fill(own, own_hidden, HELD);
    run_on(stack, bytes, depth, fn);
    API_CHILD(api_lost(own, HELD) == 0);
}

static void refuse_and_collect(void)
{
    refuse();
    api_collect();
}

static void on_coroutine(void)
{
    GC_INIT();
    run_and_keep(api_outside(STACK), STACK, 40, refuse_and_collect);
}

/* Nothing can be asked while a thread stands on a strange stack: the collection is not made.  Contexts cannot be switched
 * without rt_sigprocmask, so the child ends here. */
static void ask_in_vain_and_collect(void)
{
    GC_word before = GC_get_gc_no();

    filter(true);
    GC_gcollect();
    GC_gcollect();
    API_CHILD(GC_get_gc_no() == before && api_alive(hidden, HELD) == HELD);
    _exit(0);
}

static void without_answers(void)
{
    GC_INIT();
    run_and_keep(api_outside(STACK), STACK, 40, ask_in_vain_and_collect);
}

static void vain_filter_and_collect(void)
{
    GC_word before = GC_get_gc_no();

    filter(true);
    api_collect();
    API_CHILD(GC_get_gc_no() == before + 2);
}

/* On its own stack nothing has to be asked. */
static void own_without_answers(void)
{
    hold_and(40, vain_filter_and_collect);
}

/* The upper part is a mapping of its own. */
static void in_two_mappings(void)
{
    char *stack = api_outside(STACK);

    API_CHILD(madvise(stack + STACK - STACK / 4, STACK / 4, MADV_DONTDUMP) == 0);
    GC_INIT();
    run_and_keep(stack, STACK, 60, api_collect);
}

/* ---- guards ------------------------------------------------------------------------------------------- */

static char *range;             /* of a thread's own stack; a coroutine's lies in its lower half */

static void *body_with_guard(void *unused)
{
    run_and_keep(range, STACK, 40, api_collect);
    return unused;
}

static void in_thread_on(char *stack, size_t bytes, void *(*body)(void *))
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    API_CHILD(pthread_attr_setstack(&attributes, stack, bytes) == 0);
    API_CHILD(GC_pthread_create(&thread, &attributes, body, NULL) == 0);
    API_CHILD(GC_pthread_join(thread, NULL) == 0);
    pthread_attr_destroy(&attributes);
}

static void guard_in_own_range(void)
{
    GC_INIT();
    range = api_outside(4 * STACK);
    API_CHILD(mprotect(range + STACK, PAGE, PROT_NONE) == 0);
    in_thread_on(range, 4 * STACK, body_with_guard);
}

static void *body_elsewhere(void *unused)
{
    run_and_keep(api_outside(STACK), STACK, 40, api_collect);
    return unused;
}

/* The thread is on a coroutine elsewhere, and its own range begins with a guard of the client's. */
static void guard_below_own_frames(void)
{
    GC_INIT();
    range = api_outside(4 * STACK);
    API_CHILD(mprotect(range, PAGE, PROT_NONE) == 0);
    in_thread_on(range, 4 * STACK, body_elsewhere);
}

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

/* Just above an untold coroutine's stack, in the same mapping, lies a guard, which only the page tables know of. */
static void guard_above_untold(void)
{
    char *stack = api_outside(4 * STACK);

    if (madvise(stack + STACK, PAGE, MADV_GUARD_INSTALL) != 0 &&
        mprotect(stack + STACK, PAGE, PROT_NONE) != 0)
        API_CHILD(false);
    GC_INIT();
    run_and_keep(stack, STACK, 40, api_collect);
}

/* ---- neighbours that come and go ------------------------------------------------------------------------- */

enum { NEIGHBOURS = 2048 * PAGE, ROUNDS = 60 };

static char *neighbours;
static volatile int stop;

/* Never a hole, in which another thread's memory would be put. */
static void *map_and_unmap(void *unused)
{
    while (!stop) {
        mmap(neighbours, NEIGHBOURS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        mmap(neighbours, NEIGHBOURS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        sched_yield();
    }
    return unused;
}

static void collect_often(void)
{
    for (int i = 0; i < ROUNDS; i++)
        GC_gcollect();
    api_collect();
}

/* By a thread that nobody stops. */
static void unmapped_above_untold(void)
{
    char *stack = api_outside(STACK + NEIGHBOURS);
    pthread_t thread;

    neighbours = stack + STACK;
    GC_INIT();
    API_CHILD(pthread_create(&thread, NULL, map_and_unmap, NULL) == 0);
    run_and_keep(stack, STACK, 40, collect_often);
    stop = 1;
    pthread_join(thread, NULL);
}

/* ---- all of them ------------------------------------------------------------------------------------------- */

static void check(bool told, void (*refused)(void), void (*fn)(void), const char *message, const char *name)
{
    routine.told = told;
    refuse = refused;
    api_check_child(fn, message, name);
}

static void check_first_thread(void)
{
    if (geteuid() == 0 && !TEST_SANITIZED)
        check(false, empty_root, start_and_hold, NULL, "no /proc: what the first thread's frames hold is alive");
    else
        tap_skip("only root may change the root folder, and sanitizers need /proc");
    check(false, no_descriptors, start_and_hold, NULL, "no descriptors: what the first thread's frames hold is alive");
    api_check_child(bounds_without_proc, NULL, "no descriptors: its stack begins above the environment");
}

static void check_filtered(void)
{
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0) {
        tap_skip("system calls cannot be filtered here");
        return;
    }
    check(false, filter_open, start_and_hold, NULL, "open() refused: what the first thread's frames hold is alive");
    check(true, filter_open, on_coroutine, NULL, "a told coroutine's frames are seen where open() is refused");
    check(false, filter_open, on_coroutine, NULL, "an untold one's, too");
    check(true, NULL, without_answers, "is not scanned", "where nothing can be asked, nothing is collected");
    api_check_started(own_without_answers, NULL, "but with every thread on its own stack it is");
}

static void check_coroutines(void)
{
    check(true, no_descriptors, on_coroutine, NULL, "a told coroutine's frames are seen without descriptors");
    check(true, NULL, in_two_mappings, NULL, "a told coroutine's stack may be two mappings");
    check(false, NULL, in_two_mappings, NULL, "an untold one's, too");
    check(false, NULL, guard_in_own_range, NULL, "an untold coroutine below a guard in the thread's own range");
    check(true, NULL, guard_in_own_range, NULL, "a told one there");
    check(false, NULL, guard_below_own_frames, NULL, "a guard in the own range of a thread that is on a coroutine");
    check(false, NULL, guard_above_untold, NULL, "a guard just above an untold coroutine's stack");
    check(false, NULL, unmapped_above_untold, NULL, "memory above it that comes and goes");
}

/* What a source of written pages says where it is refused is not what this is about. */
int main(void)
{
    setenv("SGC_MODE", "stop", 1);
    check_first_thread();
    if (TEST_SANITIZED) {
        tap_skip("sanitizers complain of coroutines, and have stacks and memory of their own");
    } else {
        check_filtered();
        check_coroutines();
    }
    return tap_done();
}
