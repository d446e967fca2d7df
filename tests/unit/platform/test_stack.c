/* SPDX-License-Identifier: MIT */
/*
 * platform/stack_linux.c: whose stack lies where, also when seen from a signal handler.
 *
 * Also: platform/unwind_gcc.c.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

#include "platform/file_linux.h"
#include "platform/platform.h"
#include "platform/registers.h"
#include "tests/lib/child.h"
#include "tests/lib/refuse.h"
#include "tests/lib/sanitized.h"

static bool inside(const struct sgc_stack_bounds *bounds, uintptr_t address)
{
    return address >= bounds->low && address < bounds->high;
}

/* ---- bounds ----------------------------------------------------------------------------------------------- */

static void test_first_thread(char **argv)
{
    struct sgc_stack_bounds bounds = { 0 };
    struct rlimit limit;
    tap_ok(sgc_stack_bounds_self(&bounds), "the first thread's stack is known");
    tap_ok(inside(&bounds, sgc_stack_pointer()), "the stack pointer is inside");
    tap_ok(inside(&bounds, (uintptr_t)argv), "so are the program's arguments, above the first frame");
    getrlimit(RLIMIT_STACK, &limit);
    if (limit.rlim_cur == RLIM_INFINITY)
        limit.rlim_cur = 8 << 20;
    tap_ok(bounds.maker == SGC_STACK_KERNEL, "the kernel has made it");
    tap_ok(bounds.high - bounds.low >= limit.rlim_cur, "it may grow to its limit (%zu MB)",
           (size_t)(bounds.high - bounds.low) >> 20);
    uintptr_t mapped = sgc_mem_mapped_from(bounds.low, bounds.high);
    tap_ok(mapped >= bounds.low && mapped <= sgc_stack_pointer(), "what it has grown to is mapped (%zu KB)",
           (size_t)(bounds.high - mapped) >> 10);
}

/* A program may raise the limit again while it runs, so it is no bound. */
static int bounds_with_small_limit(void)
{
    struct sgc_stack_bounds bounds;

    if (!limit_to(RLIMIT_STACK, 1 << 20) || !sgc_stack_bounds_self(&bounds))
        return 1;
    return bounds.high - bounds.low >= 4 << 20 ? 0 : 2;
}

struct probe {
    bool known;
    struct sgc_stack_bounds bounds;
    uintptr_t sp, thread_local_address;
    bool low_readable, guard_unreadable;
    size_t taken;               /* bytes of address space that it took to find out */
    void *told_low;             /* what the C library tells: */
    size_t told_bytes;
};

/* Asking must not allocate: a thread's first memory of malloc's brings 64 MB of address space with it. */
static size_t address_space(void)
{
    char line[64];
    const char *at = line;
    uint64_t pages = 0;

    if (!sgc_read_line_of("/proc/self/statm", line, sizeof line) || !sgc_parse_number(&at, 10, &pages))
        tap_bail("no /proc/self/statm");
    return (size_t)pages * sgc_os_page_size();
}

static void ask_library(struct probe *probe)
{
    pthread_attr_t attributes;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        tap_bail("the C library does not know the stack");
    pthread_attr_getstack(&attributes, &probe->told_low, &probe->told_bytes);
    pthread_attr_destroy(&attributes);
}

static _Thread_local int static_tls;

/* The guard is an OS page that cannot be read. */
static void *probe_bounds(void *raw)
{
    struct probe *probe = raw;
    size_t before = address_space();
    probe->known = sgc_stack_bounds_self(&probe->bounds);
    probe->taken = address_space() - before;
    ask_library(probe);
    probe->sp = sgc_stack_pointer();
    static_tls = 1;
    probe->thread_local_address = (uintptr_t)&static_tls;
    probe->low_readable = sgc_mem_readable(probe->bounds.low);
    probe->guard_unreadable = !sgc_mem_readable(probe->bounds.low - 1);
    return NULL;
}

static struct probe run_thread(pthread_attr_t *attributes, const char *what)
{
    struct probe probe = { .known = false };
    pthread_t thread;
    if (pthread_create(&thread, attributes, probe_bounds, &probe) != 0)
        tap_bail("no thread");
    pthread_join(thread, NULL);
    tap_ok(probe.known && probe.bounds.low == (uintptr_t)probe.told_low &&
           probe.bounds.high - probe.bounds.low == probe.told_bytes, "%s: what the C library tells", what);
    tap_ok(probe.taken == 0 || TEST_SANITIZED, "%s: and no address space is taken to find that out (%zu KB)", what,
           probe.taken >> 10);
    return probe;
}

static void check_thread(pthread_attr_t *attributes, size_t bytes, enum sgc_stack_maker maker, const char *what)
{
    struct probe probe = run_thread(attributes, what);
    size_t size = probe.bounds.high - probe.bounds.low;
    tap_ok(probe.known && inside(&probe.bounds, probe.sp), "%s: the stack pointer is inside", what);
    tap_ok(inside(&probe.bounds, probe.thread_local_address), "%s: static thread-local variables too", what);
    tap_ok(size <= bytes && size + 65536 + sgc_os_page_size() >= bytes, "%s: of the right size (%zu KB)", what, size >> 10);
    tap_ok(probe.bounds.maker == maker, "%s: who has made it", what);
    tap_ok(probe.low_readable, "%s: readable down to its lowest address", what);
    tap_ok(probe.guard_unreadable, "%s: and not below", what);
}

static void test_threads(void)
{
    pthread_attr_t attributes;
    size_t bytes;
    pthread_attr_init(&attributes);
    pthread_attr_getstacksize(&attributes, &bytes);
    check_thread(&attributes, bytes, SGC_STACK_LIBRARY, "default stack");
    pthread_attr_setstacksize(&attributes, 1 << 20);
    check_thread(&attributes, 1 << 20, SGC_STACK_LIBRARY, "1 MB stack");
    pthread_attr_setguardsize(&attributes, 65536);
    check_thread(&attributes, 1 << 20, SGC_STACK_LIBRARY, "64 KB guard");
    char *own = mmap(NULL, 3 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mprotect(own + (1 << 20), 1 << 20, PROT_READ | PROT_WRITE) != 0)
        tap_bail("no memory");
    pthread_attr_setstack(&attributes, own + (1 << 20), 1 << 20);
    check_thread(&attributes, 1 << 20, SGC_STACK_UNKNOWN, "the client's own stack");
    pthread_attr_destroy(&attributes);
    munmap(own, 3 << 20);
}

/* No guards, no gaps, and memory of the program's below and above: the system sees one mapping.  The stack need not begin
 * or end with an OS page. */
static void test_merged(void)
{
    pthread_attr_t attributes;
    char *all = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *low = all + (1 << 20) + 16;
    struct probe probe;

    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, low, (1 << 20) - 64);
    probe = run_thread(&attributes, "in the middle of memory");
    tap_ok(probe.bounds.low == (uintptr_t)low && probe.bounds.high == (uintptr_t)low + (1 << 20) - 64,
           "just what the program has given");
    tap_ok(probe.bounds.maker == SGC_STACK_UNKNOWN, "and the program has made it");
    pthread_attr_destroy(&attributes);
    pthread_attr_init(&attributes);
    pthread_attr_setguardsize(&attributes, 0);
    probe = run_thread(&attributes, "without a guard");
    tap_ok(inside(&probe.bounds, probe.sp), "the stack pointer is inside");
    pthread_attr_destroy(&attributes);
    munmap(all, 4 << 20);
}

/* In a child of fork the thread that forked is the first, but on its old stack. */
static int bounds_in_child(void)
{
    struct sgc_stack_bounds bounds;
    if (!sgc_stack_bounds_self(&bounds))
        return 1;
    return inside(&bounds, sgc_stack_pointer()) && bounds.high - bounds.low <= 1 << 20 ? 0 : 2;
}

static void *fork_from_thread(void *status)
{
    *(int *)status = run_in_child(bounds_in_child);
    return NULL;
}

static void test_fork(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int status = -1;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    pthread_create(&thread, &attributes, fork_from_thread, &status);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    tap_ok(status == 0, "after a fork the thread's stack is still its own (status %d)", status);
}

/* ---- contexts ------------------------------------------------------------------------------------------------- */

static struct {
    int calls;
    uintptr_t sp, handler_sp;
    bool alternate;
    struct sgc_stack_bounds bounds;
    bool interrupted;           /* the inner handler ran inside this one: TSan delays it */
} outer, inner;

static void note(int signal, TEST_UNUSED siginfo_t *info, void *context)
{
    __typeof__(outer) *seen = signal == SIGUSR1 ? &outer : (void *)&inner;
    seen->calls++;
    seen->handler_sp = sgc_stack_pointer();
    seen->sp = sgc_context_sp(context);
    seen->alternate = sgc_context_altstack(context, &seen->bounds);
    if (signal == SIGUSR1 && outer.calls == 1) {
        raise(SIGUSR2);
        outer.interrupted = inner.calls == 1;
    }
}

static void handle(int signal, int flags)
{
    struct sigaction action = { .sa_sigaction = note, .sa_flags = SA_SIGINFO | flags };
    sigaction(signal, &action, NULL);
}

/* raise() runs in frames below this one; a few KB are enough for them. */
static bool just_below(uintptr_t sp, uintptr_t frame)
{
    return sp < frame && frame - sp < 16384;
}

static void reset(void)
{
    memset(&outer, 0, sizeof outer);
    memset(&inner, 0, sizeof inner);
}

static void test_own_stack(void)
{
    reset();
    handle(SIGUSR1, 0);
    handle(SIGUSR2, 0);
    uintptr_t frame = sgc_stack_pointer();
    raise(SIGUSR1);
    tap_ok(outer.calls == 1 && inner.calls == 1, "the handlers ran");
    tap_ok(just_below(outer.sp, frame), "an interrupted stack pointer is found");
    tap_ok(outer.handler_sp < outer.sp, "the handler runs below it");
    tap_ok(!outer.alternate && !inner.alternate, "no alternate stack");
    if (outer.interrupted)
        tap_ok(just_below(inner.sp, outer.handler_sp) && inner.handler_sp < inner.sp, "a handler is interrupted");
    else
        tap_skip("a sanitizer delays the signal that interrupts a handler");
}

static void check_alternate(const struct sgc_stack_bounds *alternate, uintptr_t frame)
{
    tap_ok(just_below(outer.sp, frame), "alternate stack: the interrupted stack pointer is on the usual one");
    tap_ok(outer.alternate && outer.bounds.low == alternate->low && outer.bounds.high == alternate->high,
           "the handler's stack is known");
    tap_ok(inside(alternate, outer.handler_sp), "and it runs there");
    if (outer.interrupted)
        tap_ok(inside(alternate, inner.sp) && inner.alternate && inner.bounds.low == alternate->low,
               "a handler on it is interrupted");
    else
        tap_skip("a sanitizer delays the signal that interrupts a handler");
}

static void test_alternate_stack(void)
{
    size_t bytes = 256 * 1024;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = { .ss_sp = memory, .ss_size = bytes }, old;
    struct sgc_stack_bounds alternate = { .low = (uintptr_t)memory, .high = (uintptr_t)memory + bytes };
    reset();
    sigaltstack(&stack, &old);
    handle(SIGUSR1, SA_ONSTACK);
    handle(SIGUSR2, SA_ONSTACK);
    uintptr_t frame = sgc_stack_pointer();
    raise(SIGUSR1);
    check_alternate(&alternate, frame);
    reset();
    handle(SIGUSR1, 0);
    handle(SIGUSR2, 0);
    raise(SIGUSR1);
    tap_ok(outer.calls == 1 && !outer.alternate, "one that is set up but not used is not reported");
    sigaltstack(&old, NULL);
    munmap(memory, bytes);
}

/* ---- whose frame an address lies in ------------------------------------------------------------------------- */

/* A function without unwind tables, as a just-in-time compiler makes them, which calls its argument. */
#if defined(__x86_64__)
static const unsigned char unknown_code[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3 };
#elif defined(__aarch64__)
static const uint32_t unknown_code[] = { 0xa9bf7bfd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0 };
#endif

static void (*call_by_unknown)(void (*fn)(void));

static bool make_unknown_code(void)
{
    char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return false;
    memcpy(memory, unknown_code, sizeof unknown_code);
    __builtin___clear_cache(memory, memory + sizeof unknown_code);
    memcpy(&call_by_unknown, &memory, sizeof memory);
    return mprotect(memory, 4096, PROT_READ | PROT_EXEC) == 0;
}

struct owner {
    bool ours, gone;
};

static uintptr_t address;
static struct owner near, far, hidden;

static void look_hidden(void)
{
    hidden = (struct owner){ sgc_stack_frame_ours(address, NULL), sgc_stack_frame_gone(address, NULL) };
}

/* Called by the C library: where this frame ends, that one's begins. */
static int look(TEST_UNUSED const void *a, TEST_UNUSED const void *b)
{
    uintptr_t own = (uintptr_t)&own;

    near = (struct owner){ sgc_stack_frame_ours(own, NULL), sgc_stack_frame_gone(own, NULL) };
    address = (uintptr_t)__builtin_dwarf_cfa();
    far = (struct owner){ sgc_stack_frame_ours(address, NULL), sgc_stack_frame_gone(address, NULL) };
    call_by_unknown(look_hidden);
    return 0;
}

static void test_owners(void)
{
    int numbers[] = { 1, 2 };

    if (!make_unknown_code()) {
        tap_skip("the system does not let a program write code");
        return;
    }
    qsort(numbers, 2, sizeof numbers[0], look);
    tap_ok(near.ours && !near.gone, "an address in a frame of the program");
    tap_ok(!far.ours && far.gone, "one in a frame of the C library's is in none of ours");
    tap_ok(!hidden.ours && !hidden.gone, "beyond code without unwind tables nothing is known");
}

/* ---- the environment -------------------------------------------------------------------------------------- */

extern char **environ;

static void test_environment(void)
{
    char **before = environ;
    char *other[] = { "SGC_NAME=1", NULL };
    char *const *found;

    tap_ok(sgc_environment() == environ, "the environment is the program's");
    environ = other;
    tap_ok(sgc_environment() == other, "also when the program has made another one");
    environ = NULL;
    found = sgc_environment();
    environ = before;
    if (found == NULL)
        tap_skip("the loader does not say where the program's arguments are");
    else
        tap_ok(found == before, "and the one that the program got, as long as the C library has not seen it");
}

int main(TEST_UNUSED int argc, char **argv)
{
    test_first_thread(argv);
    child_ok(bounds_with_small_limit, "the limit it has now does not matter");
    return tap_all(test_threads, test_merged, test_fork, test_own_stack, test_alternate_stack, test_owners, test_environment);
}
