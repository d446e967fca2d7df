/* SPDX-License-Identifier: MIT */
/*
 * Where stacks lie.  Owns where a thread's descriptor names its stack, written by the constructor
 * alone; sgc_stack_bounds_self runs on the thread it is about, the rest also in its signal
 * handlers.
 */
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include "platform/compiler.h"
#include "platform/file_linux.h"
#include "platform/platform.h"
#include "platform/registers.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"

/* ---- what the C library knows ---------------------------------------------------------------- */

/* The stack pointer at the program's start, noted by the loader: the first frames lie below it,
 * arguments and environment above. */
extern void *__libc_stack_end __attribute__((weak));

enum { ARGC_MAX = 1 << 24 };       /* more do not fit: what is read there is no number of them */

extern char **environ;

/* The number of arguments, the arguments, NULL, the environment, NULL. */
char *const *sgc_environment(void)
{
    char *const *at;
    size_t arguments;

    if (environ != NULL)
        return environ;
    if (&__libc_stack_end == NULL || __libc_stack_end == NULL)
        return NULL;
    arguments = *(const size_t *)__libc_stack_end;
    at = (char *const *)__libc_stack_end + 1;
    return arguments <= ARGC_MAX && at[arguments] == NULL ? &at[arguments + 1] : NULL;
}

/*
 * glibc's pthread_getattr_np allocates, and a thread that allocates for the first time is given an
 * arena of 64 MB of address space, which a process under RLIMIT_AS does not have for each thread.
 * The thread's descriptor, at its handle, holds the answer: the lowest address of the stack's
 * block, its size, and the size of the guard at its lower end.  The first thread's descriptor shows
 * where these words are: its own block is 0, and its size __libc_stack_end.
 */
enum { DESCRIPTOR_WORDS = 256 };        /* of glibc's, at least, where it does not end at the thread
                                           pointer */

static SGC_STATE size_t block_word;     /* of a descriptor; 0: not known */

/* Not always of the first thread: the library may have been loaded by another one, which has no
 * such word. */
__attribute__((constructor))
static void find_block_word(void)
{
    const uintptr_t *descriptor = (const uintptr_t *)pthread_self();
    uintptr_t tp = sgc_tls_thread_pointer(), end = &__libc_stack_end != NULL ? (uintptr_t)__libc_stack_end : 0;
    size_t words = (tp - (uintptr_t)descriptor) / sizeof *descriptor, found = 0;

    if (words == 0 || words > DESCRIPTOR_WORDS)
        words = DESCRIPTOR_WORDS;
    for (size_t i = 1; end != 0 && i < words; i++) {
        if (descriptor[i] != end || descriptor[i - 1] != 0)
            continue;
        if (found != 0)
            return;
        found = i - 1;
    }
    block_word = found;
}

/* False unless it is a block in which the thread's descriptor lies, as it does in each stack but
 * the first thread's. */
static bool read_descriptor(struct sgc_stack_bounds *bounds)
{
    const uintptr_t *words = (const uintptr_t *)pthread_self() + block_word;
    uintptr_t block = words[0], bytes = words[1], guard = words[2], end;

    if (block_word == 0 || block == 0 || __builtin_add_overflow(block, bytes, &end))
        return false;
    if ((uintptr_t)words < block || (uintptr_t)words >= end || guard >= bytes || guard % sgc_os_page_size() != 0)
        return false;
    *bounds = (struct sgc_stack_bounds){ block + guard, end, guard > 0 ? SGC_STACK_LIBRARY : SGC_STACK_UNKNOWN };
    sgc_assert(bounds->low < bounds->high);
    return true;
}

/* Of a stack that the program has given it, the C library says that it has no guard. */
static bool ask_attributes(const pthread_attr_t *attributes, struct sgc_stack_bounds *bounds)
{
    void *low;
    size_t bytes, guard;
    if (pthread_attr_getstack(attributes, &low, &bytes) != 0 || pthread_attr_getguardsize(attributes, &guard) != 0)
        return false;
    bounds->low = (uintptr_t)low;
    bounds->high = (uintptr_t)low + bytes;
    bounds->maker = guard > 0 ? SGC_STACK_LIBRARY : SGC_STACK_UNKNOWN;
    sgc_assert(bounds->low <= bounds->high);
    return true;
}

static bool ask_pthread(struct sgc_stack_bounds *bounds)
{
    pthread_attr_t attributes;
    if (read_descriptor(bounds))
        return true;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return false;
    bool known = ask_attributes(&attributes, bounds);
    pthread_attr_destroy(&attributes);
    return known;
}

/* ---- the first thread's ---------------------------------------------------------------------- */

/*
 * The first thread's stack grows until it meets the next mapping or RLIMIT_STACK, and a program may
 * raise that limit while it runs: so its lowest address is the end of the mapping below it.
 */
static void extend_first_stack(struct sgc_stack_bounds *bounds)
{
    struct sgc_reader reader;
    char line[128];
    uint64_t from, to, below = 0;
    if (!sgc_reader_open(&reader, "/proc/self/maps"))
        return;
    while (sgc_reader_line(&reader, line, sizeof line)) {
        const char *at = line;
        if (!sgc_parse_number(&at, 16, &from) || *at++ != '-' || !sgc_parse_number(&at, 16, &to))
            continue;
        sgc_assert(from < to);
        if (bounds->high > from && bounds->high <= to) {
            if (strstr(at, "[stack]")) {
                bounds->low = below;
                bounds->maker = SGC_STACK_KERNEL;
            }
            break;
        }
        below = to;
    }
    sgc_reader_close(&reader);
}

enum {
    USUAL_LIMIT = 8 << 20,          /* of a stack, and what the kernel leaves free for it if there
                                       is none */
    MAX_ROOM = 128 << 20,          /* a limit beyond that may have been set since the program
                                      began */
    ARGUMENTS_MAX = 16 << 20,       /* the kernel allows 6 MB */
};

/*
 * The C library finds the first thread's stack in /proc, which a jail may not have, by a file,
 * which takes a descriptor and memory of malloc's.  The stack also ends where the name of the
 * program's file ends that the kernel puts above everything else; an emulator may keep that
 * elsewhere, and then the arguments are not seen.
 */
static uintptr_t room(void)
{
    struct rlimit limit;
    if (sgc_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return USUAL_LIMIT;
    return limit.rlim_cur < MAX_ROOM ? limit.rlim_cur : MAX_ROOM;
}

static bool first_stack(struct sgc_stack_bounds *bounds)
{
    uintptr_t end = &__libc_stack_end != NULL ? (uintptr_t)__libc_stack_end : 0;
    uintptr_t name = getauxval(AT_EXECFN), page = sgc_os_page_size();

    if (end == 0)
        return false;
    if (name > end && name - end < ARGUMENTS_MAX)
        end = name + strlen((const char *)name);
    bounds->high = (end + page) & ~(page - 1);
    bounds->low = bounds->high - room();
    bounds->maker = SGC_STACK_KERNEL;
    sgc_assert(bounds->low <= bounds->high && bounds->high > end);
    return true;
}

/* The thread that has the process's number is the first, unless another one has forked: the child's
 * only thread stands on that one's stack.  A first thread on a coroutine's stack is found by the C
 * library, or by exclusion. */
static bool find_first_stack(struct sgc_stack_bounds *bounds)
{
    struct sgc_stack_bounds kernel;
    bool known = first_stack(&kernel);
    bool on_it = known && sgc_stack_within(&kernel, sgc_stack_pointer());
    if (!on_it && ask_pthread(bounds))
        return true;
    if (known)
        *bounds = kernel;
    return known;
}

/* ---- the calling thread's -------------------------------------------------------------------- */

bool sgc_stack_bounds_self(struct sgc_stack_bounds *bounds)
{
    sgc_assert(bounds != NULL);
    if (sgc_thread_id() != sgc_process_id())
        return ask_pthread(bounds);
    if (!find_first_stack(bounds))
        return false;
    extend_first_stack(bounds);
    return true;
}

/* ---- alternate signal stacks ----------------------------------------------------------------- */

static bool bounds_of(const stack_t *alternate, struct sgc_stack_bounds *bounds)
{
    sgc_assert(bounds != NULL);
    if ((alternate->ss_flags & SS_DISABLE) || alternate->ss_size == 0)
        return false;
    bounds->low = (uintptr_t)alternate->ss_sp;
    bounds->high = bounds->low + alternate->ss_size;
    return true;
}

bool sgc_context_altstack_set(const void *context, struct sgc_stack_bounds *bounds)
{
    const ucontext_t *interrupted = context;

    sgc_assert(context != NULL);
    return bounds_of(&interrupted->uc_stack, bounds);
}

bool sgc_altstack_self(struct sgc_stack_bounds *bounds)
{
    stack_t now;
    return sgc_syscall(SYS_sigaltstack, 0, (long)&now, 0, 0) == 0 && bounds_of(&now, bounds);
}

/*
 * Under TSan a handler runs when the thread next calls into the C library, not where the signal met
 * it, and its context is from then: only where the handler itself stands is true.
 */
#if SGC_TSAN
uintptr_t sgc_interrupted_sp(const void *context)
{
    (void)context;
    return (uintptr_t)__builtin_frame_address(0);
}
#else
uintptr_t sgc_interrupted_sp(const void *context)
{
    sgc_assert(context != NULL);
    return sgc_context_sp(context) + SGC_RED_ZONE;
}
#endif
