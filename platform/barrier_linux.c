/* SPDX-License-Identifier: MIT */
/* A barrier of all threads: see platform/platform.h.  Keeps no state: the kernel knows who has registered.  [any] */
#include <linux/membarrier.h>

#include "platform/platform.h"
#include "platform/syscall_linux.h"

static long ask(int command)
{
    return sgc_syscall(SYS_membarrier, command, 0, 0, 0);
}

/* A process that has not said before that it will ask is refused with EPERM: the first time, and where a fork or a restore
 * has lost it. */
bool sgc_barrier_all_threads(void)
{
    long result = ask(MEMBARRIER_CMD_PRIVATE_EXPEDITED);

    if (result == -EPERM && ask(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0)
        result = ask(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    return result == 0;
}
