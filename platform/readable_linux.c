/* SPDX-License-Identifier: MIT */
/*
 * Which memory can be read: asked of the system by calls that fail on an address instead of raising
 * a signal, and that need neither a file nor a descriptor.  Runs on any thread, with the world
 * stopped or not.
 *
 *   what      written by                     read by        ordering
 *   source    any thread: a source that      any thread     relaxed: the value is all there is, and
 *             has just proved itself                        each source answers by itself whether
 *                                                           it works
 *
 * A filter of system calls may refuse each of them, at any time.  So a source has to prove itself
 * first.
 */
#include <sys/uio.h>

#include "platform/compiler.h"
#include "platform/platform.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"

enum answer { NO, YES, NONE };

/* ---- sources --------------------------------------------------------------------------------- */

static enum answer answer_of(long result, long yes)
{
    return result == yes ? YES : result == -EFAULT || result == -ENOMEM ? NO : NONE;
}

/* The kernel copies a signal set from there before it finds that -1 names no operation.  At address
 * 0 there would be none. */
static enum answer ask_by_signal_set(uintptr_t address)
{
    return address < 8 ? NO : answer_of(sgc_syscall(SYS_rt_sigprocmask, -1, (long)(address & ~(uintptr_t)7), 0, 8), -EINVAL);
}

/* The kernel takes six whole registers: the arguments of syscall() are as wide as they are. */
static long copy_by_kernel(void *to, uintptr_t from, size_t bytes)
{
    struct iovec local = { to, bytes }, remote = { (void *)from, bytes };
    int saved = errno;
    long result = syscall(SYS_process_vm_readv, (long)sgc_process_id(), &local, 1UL, &remote, 1UL, 0UL);

    if (result == -1)
        result = -errno;
    errno = saved;
    return result;
}

static enum answer ask_by_copy(uintptr_t address)
{
    char byte;

    return answer_of(copy_by_kernel(&byte, address, 1), 1);
}

/* Says only that memory is mapped: for emulators, which do not know the other two. */
static enum answer ask_by_mincore(uintptr_t address)
{
    unsigned char resident;
    size_t page = sgc_os_page_size();

    return answer_of(sgc_ask_mincore(address & ~(page - 1), page, &resident), 0);
}

static enum answer (*const sources[])(uintptr_t address) = { ask_by_signal_set, ask_by_copy, ask_by_mincore };

enum { SOURCES = sizeof sources / sizeof *sources };

static SGC_STATE sgc_a32_t source;

/* By an address that surely cannot be read: in the kernel's own memory.  A filter that refuses the
 * call answers something else, and an emulator that does not look at the address says that it can
 * be. */
static bool proves_itself(enum answer (*ask)(uintptr_t address))
{
    return ask((uintptr_t)0 - 4096) == NO;
}

static bool find_source(void)
{
    for (uint32_t i = 0; i < SOURCES; i++)
        if (proves_itself(sources[i])) {
            sgc_a32_store(&source, i);
            return true;
        }
    return false;
}

/* The memory below a stack that grows is asked about with mincore alone (sgc_mem_readable_from). */
bool sgc_mem_answers(void)
{
    sgc_assert(sgc_a32_load(&source) < SOURCES);
    return proves_itself(ask_by_mincore) && (proves_itself(sources[sgc_a32_load(&source)]) || find_source());
}

/* ---- questions ------------------------------------------------------------------------------- */

bool sgc_mem_readable(uintptr_t address)
{
    enum answer answer = sources[sgc_a32_load(&source)](address);

    if (answer == NONE && find_source())
        answer = sources[sgc_a32_load(&source)](address);
    return answer != NO;
}

uintptr_t sgc_mem_readable_until(uintptr_t lo, uintptr_t hi)
{
    size_t page = sgc_os_page_size();

    for (uintptr_t at = lo; at < hi; at = (at & ~(page - 1)) + page)
        if (!sgc_mem_readable(at))
            return at;
    return hi;
}

uintptr_t sgc_mem_readable_from(uintptr_t lo, uintptr_t hi)
{
    size_t page = sgc_os_page_size();
    uintptr_t mapped = sgc_mem_mapped_from(lo, hi), from = hi;

    while (from > mapped && sgc_mem_readable(from - 1))
        from = (from - 1) & ~(page - 1);
    return from > lo ? from : lo;
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Word by word: the copying functions of sanitizers look at what they copy. */
__attribute__((no_sanitize("address"), no_sanitize("thread")))
static void copy_words(uintptr_t *to, const volatile uintptr_t *from, size_t words)
{
    sgc_assert(to != NULL && (uintptr_t)from % sizeof *from == 0);
    for (size_t i = 0; i < words; i++)
        to[i] = from[i];
}

/* Where the system refuses to copy, somebody may unmap the page between the question and the
 * copy. */
bool sgc_mem_copy(void *to, uintptr_t from, size_t bytes)
{
    long copied = copy_by_kernel(to, from, bytes);

    sgc_assert(to != NULL && copied <= (long)bytes);
    sgc_assert(from % sizeof(uintptr_t) == 0 && bytes % sizeof(uintptr_t) == 0);
    sgc_assert((from ^ (from + bytes - 1)) < sgc_os_page_size());
    if (copied < 0 && copied != -EFAULT && sgc_mem_readable(from)) {
        copy_words(to, (const volatile uintptr_t *)from, bytes / sizeof(uintptr_t));
        copied = (long)bytes;
    }
    return copied == (long)bytes;
}
