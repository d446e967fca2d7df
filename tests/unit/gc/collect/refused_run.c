/* SPDX-License-Identifier: MIT */
/*
 * Runs the work of refused_threads.c in a child process that is refused a system call, and judges
 * what came of it.
 *
 * One system call of a process is refused, and who runs the process counts how often.  A seccomp filter in it stops at the
 * call (SECCOMP_RET_USER_NOTIF); the parent answers for the kernel: with the error, or that the call is to be made.
 *
 * To the process that is what it is under a filter with SECCOMP_RET_ERRNO.  But it can begin at any moment, for threads
 * that there are already, and can let every so-manieth call through; and the parent sees that the call was made at all.
 */
#include "tests/unit/gc/collect/refused.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

#if defined(__x86_64__)
#define REFUSED_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define REFUSED_ARCH AUDIT_ARCH_AARCH64
#endif

#define REFUSED_LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))
#define REFUSED_UNLESS(value, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped)

/* Sets the filter up in the calling thread, and so in all it creates.  The descriptor by which to answer, or -1. */
static int refused_install(const struct refused_call *call)
{
    struct sock_filter code[] = {
        REFUSED_LOAD(arch),
        REFUSED_UNLESS(REFUSED_ARCH, 6),
        REFUSED_LOAD(nr),
        REFUSED_UNLESS((uint32_t)call->number, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offsetof(struct seccomp_data, args) + 8 * call->argument)),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, call->mask),
        REFUSED_UNLESS(call->value, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof *code, code };

    if (call->number == SYS_read)   /* counters of lines would replace those that they cannot read */
        setenv("GCOV_PREFIX", "/dev/null", 1);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

/* ---- answering ------------------------------------------------------------------------------- */

union refused_question {
    struct seccomp_notif question;
    struct seccomp_notif_resp answer;
    char room[512];             /* of a newer kernel's */
};

/* Waits for a question that is there; what is asked may be gone again, since a signal interrupts who asks. */
static bool refused_ask(int listener, uint64_t *id)
{
    union refused_question q;

    memset(&q, 0, sizeof q);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &q) != 0)
        return false;
    *id = q.question.id;
    return true;
}

/* error 0: the call is made.  False if nobody waits for the answer any more. */
static bool refused_answer(int listener, uint64_t id, int error)
{
    union refused_question q;

    memset(&q, 0, sizeof q);
    q.answer.id = id;
    q.answer.error = -error;
    q.answer.flags = error == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
    return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &q) == 0;
}

/* ---- handing the descriptor to the parent ---------------------------------------------------- */

union refused_envelope {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
};

static struct msghdr refused_message(struct iovec *byte, union refused_envelope *envelope)
{
    return (struct msghdr){ .msg_iov = byte, .msg_iovlen = 1, .msg_control = envelope, .msg_controllen = sizeof *envelope };
}

static bool refused_send(int socket, int descriptor)
{
    char byte = 0;
    struct iovec one = { &byte, 1 };
    union refused_envelope envelope = { .header = { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
    struct msghdr message = refused_message(&one, &envelope);

    envelope.header.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&envelope.header), &descriptor, sizeof descriptor);
    return sendmsg(socket, &message, 0) == 1;
}

/* -1 if the child has ended instead. */
static int refused_receive(int socket)
{
    char byte;
    int descriptor = -1;
    struct iovec one = { &byte, 1 };
    union refused_envelope envelope;
    struct msghdr message = refused_message(&one, &envelope);

    ssize_t got;

    do
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got == 1 && CMSG_FIRSTHDR(&message) != NULL)
        memcpy(&descriptor, CMSG_DATA(&envelope.header), sizeof descriptor);
    return descriptor;
}

/* ---- a run ------------------------------------------------------------------------------------ */

enum { RUN_MS = 15000 };        /* a run takes a tenth of a second, and two if stops are given up */

/* ---- the child ------------------------------------------------------------------------------- */

static void refused_child(const struct refused_run *run, int socket, int errors)
{
    int listener;

    setpgid(0, 0);
    dup2(errors, STDERR_FILENO);
    close(errors);
    listener = refused_install(&run->call);
    if (listener < 0)
        _exit(5);
    if (!refused_send(socket, listener))
        _exit(6);
    close(listener);
    close(socket);
    run->work();
    _exit(0);
}

/* ---- the parent ------------------------------------------------------------------------------ */

static void answer(const struct refused_run *run, int listener)
{
    uint64_t id;
    int asked = atomic_load(&report->asked);
    bool refuse = atomic_load(&report->armed) != 0 && (run->once_in == 0 || asked % run->once_in != run->once_in - 1);

    if (!refused_ask(listener, &id) || !refused_answer(listener, id, refuse ? run->error : 0))
        return;
    if (atomic_load(&report->armed) != 0)
        atomic_fetch_add(&report->asked, 1);
    if (refuse)
        atomic_fetch_add(&report->fired, 1);
}

static bool read_said(int errors, struct refused_outcome *outcome, size_t *length)
{
    char rest[256];
    bool full = *length + 1 >= sizeof outcome->said;
    ssize_t got = full ? read(errors, rest, sizeof rest)
                       : read(errors, outcome->said + *length, sizeof outcome->said - 1 - *length);

    if (got > 0 && !full)
        *length += (size_t)got;
    outcome->said[*length] = '\0';
    return got > 0 || (got < 0 && errno == EINTR);
}

/* Answers until everyone who could write to `errors` has ended. */
static void attend(const struct refused_run *run, pid_t child, int listener, int errors, struct refused_outcome *outcome)
{
    struct pollfd ends[2] = { { .fd = errors, .events = POLLIN }, { .fd = listener, .events = POLLIN } };
    long until = api_milliseconds() + RUN_MS;
    size_t length = 0;

    for (;;) {
        if (!outcome->hung && api_milliseconds() > until) {
            outcome->hung = true;
            kill(-child, SIGKILL);
        }
        if (poll(ends, 2, 100) <= 0)
            continue;
        if ((ends[1].revents & POLLIN) != 0)
            answer(run, listener);
        else if (ends[1].revents != 0)
            ends[1].fd = -1;
        if (ends[0].revents != 0 && !read_said(errors, outcome, &length))
            return;
    }
}

/* A question may vanish between poll and ioctl, which then waits: a signal ends that. */
static void on_tick(TEST_UNUSED int signal)
{
}

void tick(void)
{
    struct sigaction action = { .sa_handler = on_tick };
    struct itimerval often = { { 0, 100000 }, { 0, 100000 } };

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

void run_refused(const struct refused_run *run, struct refused_outcome *outcome)
{
    int sockets[2], errors[2], listener;
    pid_t child = -1;

    *outcome = (struct refused_outcome){ .status = -1 };
    memset(report, 0, sizeof *report);
    report->moment = run->moment;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0 || pipe(errors) != 0 || (child = fork()) < 0)
        tap_bail("no child: %s", strerror(errno));
    if (child == 0) {
        close(errors[0]);
        close(sockets[0]);
        refused_child(run, sockets[1], errors[1]);
    }
    close(sockets[1]);
    close(errors[1]);
    listener = refused_receive(sockets[0]);
    attend(run, child, listener, errors[0], outcome);
    close(listener);
    close(sockets[0]);
    close(errors[0]);
    while (waitpid(child, &outcome->status, 0) != child && errno == EINTR)
        continue;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* A line that is there twice, or NULL. */
static const char *said_twice(const char *said)
{
    static char once[512];

    for (const char *line = said, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        snprintf(once, sizeof once, "%.*s", (int)(end + 1 - line), line);
        if (strstr(end + 1, once) != NULL)
            return once;
    }
    return NULL;
}

/* The library says that it cannot start, and ends the program: by abort, which without gettid cannot raise its signal and
 * executes an instruction that raises another. */
static bool would_not_start(const struct refused_outcome *outcome, int moment)
{
    return moment == REFUSED_START && WIFSIGNALED(outcome->status) &&
           (WTERMSIG(outcome->status) == SIGABRT || WTERMSIG(outcome->status) == SIGSEGV) &&
           strstr(outcome->said, "SGC: fatal: the collector cannot start, for the reason given above\n") != NULL;
}

/* NULL if that may come of it: all is right, or it was refused, and the program was told. */
const char *verdict(const struct refused_outcome *outcome, int moment)
{
    if (outcome->hung)
        return "it hung";
    if (would_not_start(outcome, moment))
        return NULL;
    if (atomic_load(&report->wrong) != 0)
        return "objects were lost or damaged";
    if (WIFSIGNALED(outcome->status))
        return "it was ended by a signal";
    if (outcome->status != 0)
        return "it ended with an error";
    if (atomic_load(&report->not_collected) != 0 && outcome->said[0] == '\0')
        return "collections were not made, and nothing was said of that";
    if (atomic_load(&report->no_memory) != 0 && atomic_load(&report->hook_called) == 0)
        return "there was no memory, and the hook was not asked";
    return said_twice(outcome->said) != NULL ? "a message was said twice" : NULL;
}

bool all_right(const struct refused_outcome *outcome)
{
    return outcome->status == 0 && atomic_load(&report->no_memory) == 0 && atomic_load(&report->no_thread) == 0 &&
           atomic_load(&report->no_fork) == 0 && atomic_load(&report->not_collected) == 0;
}

void describe(const struct refused_outcome *outcome)
{
    tap_diag("  status %#x; %d collections, not made %d; no memory %d, no thread %d, no fork %d; wrong %d; refused %d times",
             (unsigned)outcome->status, atomic_load(&report->collected), atomic_load(&report->not_collected),
             atomic_load(&report->no_memory), atomic_load(&report->no_thread), atomic_load(&report->no_fork),
             atomic_load(&report->wrong), atomic_load(&report->fired));
    for (int i = 0; i < REFUSED_WRONG && report->what[i] != NULL; i++)
        tap_diag("  wrong: %s", report->what[i]);
    tap_diag("  said: %.1000s", outcome->said);
}
