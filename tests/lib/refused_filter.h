/* SPDX-License-Identifier: MIT */
/*
 * One system call of a process is refused, and who runs the process counts how often.  A seccomp filter in it stops at the
 * call (SECCOMP_RET_USER_NOTIF); the parent answers for the kernel: with the error, or that the call is to be made.
 *
 * To the process that is what it is under a filter with SECCOMP_RET_ERRNO.  But it can begin at any moment, for threads
 * that there are already, and can let every so-manieth call through; and the parent sees that the call was made at all.
 */
#ifndef TESTS_LIB_REFUSED_FILTER_H
#define TESTS_LIB_REFUSED_FILTER_H

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define REFUSED_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define REFUSED_ARCH AUDIT_ARCH_AARCH64
#endif

/* Which calls: of this number, where (the lower half of argument `argument`) & mask == value. */
struct refused_call {
    int number;
    unsigned argument;
    uint32_t mask, value;
};

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

#endif
