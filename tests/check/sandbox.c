/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into real programs by tests/check/check_sandbox, before the collector.  By what SANDBOX says it takes away, from
 * the collector only, what a sandbox would:
 *
 *   nothing       nothing: it only reports
 *   descriptors   no descriptor is free while GC_init, GC_register_my_thread and each collection run
 *   files         no file can be opened by a raw system call, which is how the collector opens them.  A seccomp filter sees it
 *                 by where the call comes from: the C library's function syscall(), and not its open() that programs use
 *
 * SANDBOX_REPORT names a file: for the first GC_init and the first collection of each process a line is added, "start" or
 * "collection" and the error number that the collector meets at that moment when it opens /proc/self/maps, 0 if it can.
 *
 * It does nothing in processes without a collector, such as the shells on the way.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include "gc/gc.h"
#include "gc/gc_hooks.h"
#include "gc/gc_mark.h"

enum { REPORT_AT = 100 };       /* no descriptor that a program would use */

static int report = -1;
static bool takes_descriptors;

static void fail(const char *what)
{
    fprintf(stderr, "tests/check/sandbox.c: %s: %s\n", what, strerror(errno));
    abort();
}

/* What the collector exports: set in *function. */
static void find(const char *name, void *function)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    if (symbol == NULL)
        fail("no collector behind this library");
    memcpy(function, &symbol, sizeof symbol);
}

/* ---- reporting ------------------------------------------------------------------------------- */

static void tell(const char *what)
{
    char line[64];
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    int length = snprintf(line, sizeof line, "%s %d\n", what, fd >= 0 ? 0 : errno);

    if (fd >= 0)
        close(fd);
    if (report >= 0 && write(report, line, (size_t)length) != length)
        fail("write");
}

static void open_report(void)
{
    const char *path = getenv("SANDBOX_REPORT");
    int fd = path != NULL ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;

    if (fd < 0)
        fail("SANDBOX_REPORT");
    report = fcntl(fd, F_DUPFD_CLOEXEC, REPORT_AT);
    close(fd);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static struct rlimit usual;
static atomic_int takers;       /* several threads may have taken them */

static void limit_descriptors(rlim_t limit)
{
    struct rlimit wanted = { limit, usual.rlim_max };

    if (takes_descriptors && setrlimit(RLIMIT_NOFILE, &wanted) != 0)
        fail("setrlimit");
}

/* With a limit of 0 no number is free, while what is open stays so. */
static void take_descriptors(void)
{
    if (atomic_fetch_add(&takers, 1) == 0)
        limit_descriptors(0);
}

static void give_descriptors(void)
{
    if (atomic_fetch_sub(&takers, 1) == 1)
        limit_descriptors(usual.rlim_cur);
}

static void GC_CALLBACK on_event(GC_EventType event)
{
    static bool told;

    if (event == GC_EVENT_START) {
        take_descriptors();
        if (!told)
            tell("collection");
        told = true;
    } else if (event == GC_EVENT_END) {
        give_descriptors();
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset))
#define UNLESS(test, value, skipped) BPF_JUMP(BPF_JMP | (test) | BPF_K, value, 0, skipped)

enum { SYSCALL_BYTES = 64 };    /* more than that function's code; what lies behind it opens no files */

static void refuse_files(void)
{
    size_t at = offsetof(struct seccomp_data, instruction_pointer);
    uint64_t code = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "syscall");
    struct sock_filter filter[] = {
        LOAD(offsetof(struct seccomp_data, arch)),
        UNLESS(BPF_JEQ, ARCH, 8),
        LOAD(offsetof(struct seccomp_data, nr)),
        UNLESS(BPF_JEQ, SYS_openat, 6),
        LOAD(at + 4),
        UNLESS(BPF_JEQ, (uint32_t)(code >> 32), 4),
        LOAD(at),
        UNLESS(BPF_JGE, (uint32_t)code, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)code + SYSCALL_BYTES, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof *filter, filter };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        fail("seccomp");
}

/* ---- in place of the collector's functions --------------------------------------------------- */

void GC_init(void)
{
    static bool done;
    void (*real)(void);
    void (*set)(GC_on_collection_event_proc);

    find("GC_init", &real);
    find("GC_set_on_collection_event", &set);
    take_descriptors();
    if (!done)
        tell("start");
    real();
    give_descriptors();
    if (!done)
        set(on_event);
    done = true;
}

int GC_register_my_thread(const struct GC_stack_base *base)
{
    int (*real)(const struct GC_stack_base *), result;

    find("GC_register_my_thread", &real);
    take_descriptors();
    result = real(base);
    give_descriptors();
    return result;
}

__attribute__((constructor)) static void begin(void)
{
    const char *mode = getenv("SANDBOX");

    if (mode == NULL || dlsym(RTLD_NEXT, "GC_init") == NULL)
        return;
    open_report();
    getrlimit(RLIMIT_NOFILE, &usual);
    takes_descriptors = strcmp(mode, "descriptors") == 0;
    if (strcmp(mode, "files") == 0)
        refuse_files();
}
