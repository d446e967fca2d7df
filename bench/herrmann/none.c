/* SPDX-License-Identifier: MIT */
/*
 * HERRMANN=none: all calls go to the next malloc.  It is the control of the others, and serves what
 * is called before the library has started.  Owns nothing; any thread.
 */
#include "bench/herrmann/block.h"
#include "bench/herrmann/next.h"
#include "bench/herrmann/system.h"

/* Of a block that has a header, which the next malloc's do not have. */
static void release(void *block, unsigned bin)
{
    (void)bin;
    block_destroy(block);
}

const struct system system_none = {
    .word = "none", .allocate = next_malloc, .release = release, .zeroed = next_calloc, .aligned = next_memalign
};
