/* SPDX-License-Identifier: MIT */
/* See platform/quiet_write.h. */
#include "platform/quiet_write.h"

#include <signal.h>
#include <time.h>

#include "platform/syscall_linux.h"

#define MASK(signal) (UINT64_C(1) << ((signal) - 1))

static const uint64_t ours = MASK(SIGPIPE) | MASK(SIGXFSZ);

/* If the signal came, it did so at once, to this thread, and is pending: it is taken off. */
static void take(uint64_t signals)
{
    const struct timespec no_time = { 0, 0 };

    if (signals != 0)
        sgc_syscall(SYS_rt_sigtimedwait, (long)&signals, 0, (long)&no_time, sizeof signals);
}

long sgc_quiet_write(int fd, const void *data, size_t bytes)
{
    uint64_t before = 0, pending = 0;
    long written, blocked = sgc_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&ours, (long)&before, sizeof ours);

    if ((before & ours) != 0)
        sgc_syscall(SYS_rt_sigpending, (long)&pending, sizeof pending, 0, 0);
    written = sgc_syscall(SYS_write, fd, (long)data, (long)bytes, 0);
    if (blocked != 0)
        return written;
    if (written < (long)bytes)          /* a reader that leaves in the middle: the signal comes, and what was written is said */
        take(ours & ~pending);
    sgc_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before);
    return written;
}

int sgc_quiet_write_all(int fd, const void *data, size_t bytes, size_t *written)
{
    for (*written = 0; *written < bytes;) {
        long more = sgc_quiet_write(fd, (const char *)data + *written, bytes - *written);

        if (more > 0)
            *written += (size_t)more;
        else if (more != -EINTR)
            return more == 0 ? ENOSPC : (int)-more;
    }
    return 0;
}
