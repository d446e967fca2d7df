/* SPDX-License-Identifier: MIT */
/*
 * Threads and signals.
 *
 * Owns the address of the function that really creates threads, written before the first service
 * thread starts.  The [any] functions run in signal handlers too and leave errno alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "platform/file_linux.h"
#include "platform/platform.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"

static SGC_STATE sgc_thread_creator_t create_thread = pthread_create;

/* ---- signals to threads ---------------------------------------------------------------------- */

sgc_tid_t sgc_thread_id(void)
{
    return (sgc_tid_t)sgc_syscall(SYS_gettid, 0, 0, 0, 0);
}

void sgc_thread_name(char name[SGC_THREAD_NAME])
{
    if (sgc_syscall(SYS_prctl, PR_GET_NAME, (long)name, 0, 0) != 0)
        name[0] = '\0';
}

sgc_tid_t sgc_process_id(void)
{
    return (sgc_tid_t)sgc_syscall(SYS_getpid, 0, 0, 0, 0);
}

int sgc_thread_kill(sgc_tid_t process, sgc_tid_t tid, int signal)
{
    sgc_assert(signal >= 0 && signal < _NSIG);
    return (int)-sgc_syscall(SYS_tgkill, process, tid, signal, 0);
}

static bool mask_has(const char *hex, int signal)
{
    uint64_t mask;

    sgc_assert(signal >= 1 && signal <= 64);
    while (*hex == ' ' || *hex == '\t')
        hex++;
    return sgc_parse_number(&hex, 16, &mask) && ((mask >> (signal - 1)) & 1);
}

/* The text after `name` in /proc/self/task/TID/status; NULL if there is none.  It lies in `line`,
 * which has `bytes` bytes. */
static const char *status_of(sgc_tid_t tid, const char *name, char *line, size_t bytes)
{
    struct sgc_reader reader;
    const char *value = NULL;

    sgc_assert(name[0] != '\0' && bytes > strlen(name));
    sgc_format(line, bytes, "/proc/self/task/%d/status", (int)tid);
    if (!sgc_reader_open(&reader, line))
        return NULL;
    while (value == NULL && sgc_reader_line(&reader, line, bytes))
        if (strncmp(line, name, strlen(name)) == 0)
            value = line + strlen(name);
    sgc_reader_close(&reader);
    return value;
}

bool sgc_thread_blocks_signal(sgc_tid_t tid, int signal)
{
    char line[64];
    const char *mask = signal >= 1 && signal <= 64 ? status_of(tid, "SigBlk:", line, sizeof line) : NULL;
    return mask != NULL && mask_has(mask, signal);
}

bool sgc_thread_is_over(sgc_tid_t tid)
{
    char line[64];
    const char *state = status_of(tid, "State:", line, sizeof line);
    if (state == NULL)
        return false;
    state += strspn(state, " \t");
    return *state == 'Z' || *state == 'X';
}

uint64_t sgc_signals_pending(void)
{
    uint64_t pending = 0;
    return sgc_syscall(SYS_rt_sigpending, (long)&pending, sizeof pending, 0, 0) == 0 ? pending : 0;
}

/* ---- masks and handlers ---------------------------------------------------------------------- */

/* Signals raised by a fault stay open: blocked, they would kill the process without its handler.
 * pthread_sigmask leaves out the two that libc needs to cancel threads and to change user ids. */
static void all_but_faults(sigset_t *all)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
    sigfillset(all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(all, faults[i]);
}

/* Where the system refuses, the mask that is put back later is the one that there is, or none: not
 * whatever was in memory. */
void sgc_signals_change(const sigset_t *more, sigset_t *saved)
{
    sgc_assert(more != NULL && saved != NULL);
    if (pthread_sigmask(SIG_BLOCK, more, saved) != 0 && pthread_sigmask(SIG_BLOCK, NULL, saved) != 0)
        sigemptyset(saved);
}

void sgc_signals_block(sigset_t *saved)
{
    sigset_t all;

    all_but_faults(&all);
    sgc_signals_change(&all, saved);
}

void sgc_signals_all_but(int open, sigset_t *set)
{
    sgc_assert(set != NULL && open >= 1 && open < _NSIG);
    all_but_faults(set);
    sigdelset(set, open);
}

void sgc_signals_restore(const sigset_t *saved)
{
    sgc_assert(saved != NULL);
    pthread_sigmask(SIG_SETMASK, saved, NULL);
}

void sgc_signal_unblock(int signal)
{
    sigset_t one;

    sgc_assert(signal >= 1 && signal < _NSIG);
    sigemptyset(&one);
    sigaddset(&one, signal);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

/* The mask is filled by hand: sigfillset would leave libc's own signals open, and an asynchronous
 * cancellation must not unwind a parked thread.  A store in the handler may meet a page that is
 * read only for a while (platform/written/written_mprotect.c).  The handler stays off alternate
 * stacks: there are programs that set one up in a frame which is gone by now, so that a handler
 * would run over what lies there. */
bool sgc_signal_install(int signal, sgc_signal_handler_t handler)
{
    struct sigaction action;

    sgc_assert(handler != NULL);
    memset(&action, 0, sizeof action);
    memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
    sigdelset(&action.sa_mask, SIGSEGV);
    action.sa_sigaction = handler;
    action.sa_flags = SA_RESTART | SA_SIGINFO;
    return sigaction(signal, &action, NULL) == 0;
}

enum sgc_signal_fate sgc_signal_fate(int signal, sgc_signal_handler_t handler)
{
    struct sigaction now;

    sgc_assert(handler != NULL);
    if (sigaction(signal, NULL, &now) != 0)
        return SGC_SIGNAL_HANDLED;
    if (now.sa_flags & SA_SIGINFO)
        return now.sa_sigaction == handler ? SGC_SIGNAL_HANDLED : SGC_SIGNAL_TAKEN;
    return now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN ? SGC_SIGNAL_PLAIN : SGC_SIGNAL_TAKEN;
}

/* ---- service threads ------------------------------------------------------------------------- */

struct service {
    void (*body)(void *);
    void *argument;
    char name[16];              /* what the kernel keeps of a name */
    sgc_a32_t taken;            /* the new thread has copied all this from its creator's stack */
};

/* The creator may be gone as soon as `taken` is set: the wake-up only names an address. */
static void *run_service(void *raw)
{
    struct service *given = raw;
    void (*body)(void *) = given->body;
    void *argument = given->argument;

    sgc_assert(body != NULL && sgc_a32_load(&given->taken) == 0);
    pthread_setname_np(pthread_self(), given->name);
    sgc_a32_store_rel(&given->taken, 1);
    sgc_wake(&given->taken, 1);
    body(argument);
    return NULL;
}

static int add_tls(struct dl_phdr_info *info, size_t size, void *sum)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            *(size_t *)sum += info->dlpi_phdr[i].p_memsz + info->dlpi_phdr[i].p_align;
    return 0;
}

/* glibc takes static thread-local variables out of the stack that was asked for. */
static size_t service_stack_bytes(void)
{
    size_t bytes = 256 * 1024, page = sgc_os_page_size();
    dl_iterate_phdr(add_tls, &bytes);
    return (bytes + page - 1) & ~(page - 1);
}

/* 0, or why not.  No stack_bytes: the default. */
static int create_detached(struct service *service, size_t stack_bytes)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);

    sgc_assert(service->body != NULL && stack_bytes % sgc_os_page_size() == 0);
    if (error != 0)
        return error;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (stack_bytes != 0)
        error = pthread_attr_setstacksize(&attributes, stack_bytes);
    if (error == 0)
        error = create_thread(&thread, &attributes, run_service, service);
    pthread_attr_destroy(&attributes);
    return error;
}

/* With a small stack, or, if libc finds it too small all the same, with the default one. */
static bool create(struct service *service)
{
    int error = create_detached(service, service_stack_bytes());
    return error == 0 || (error == EINVAL && create_detached(service, 0) == 0);
}

bool sgc_thread_start_service(void (*body)(void *), void *argument, const char *name)
{
    struct service service = { .body = body, .argument = argument };
    sigset_t saved;

    sgc_assert(body != NULL && name[0] != '\0');
    sgc_format(service.name, sizeof service.name, "%s", name);
    sgc_signals_block(&saved);
    bool started = create(&service);
    sgc_signals_restore(&saved);
    while (started && sgc_a32_load_acq(&service.taken) == 0)
        sgc_wait(&service.taken, 0, -1);
    return started;
}

void sgc_thread_set_creator(sgc_thread_creator_t creator)
{
    sgc_assert(creator != NULL);
    create_thread = creator;
}
