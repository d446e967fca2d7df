/* SPDX-License-Identifier: MIT */
/*
 * Placement of memory and threads, with a made-up topology and system calls that answer what the test wants: numbers of
 * nodes in both directions, refusals, one node; and the real calls on this machine.
 */
#include "platform/nodes/placement.h"

#include <errno.h>
#include <linux/mempolicy.h>

#include "platform/platform.h"
#include "tests/lib/child.h"

static struct sgc_placement_hooks real;

/* ---- a system that answers as it is told and keeps what it was asked ---- */

static struct {
    int calls;
    long result;
    int mode;
    unsigned long mask[1024 / 64];
    size_t bits, bytes;
    unsigned node, processor;
    int status[4];
} fake;

static long fake_mbind(TEST_UNUSED void *start, size_t bytes, int mode, const unsigned long *nodes, size_t bits)
{
    fake.calls++;
    fake.bytes = bytes, fake.mode = mode, fake.bits = bits;
    memcpy(fake.mask, nodes, sizeof fake.mask);
    return fake.result;
}

static long fake_move_pages(size_t pages, TEST_UNUSED void *const *page, int *status)
{
    fake.calls++;
    memcpy(status, fake.status, pages * sizeof *status);
    return fake.result;
}

static long fake_getcpu(unsigned *processor, unsigned *node)
{
    fake.calls++;
    if (processor != NULL)
        *processor = fake.processor;
    if (node != NULL)
        *node = fake.node;
    return fake.result;
}

static long fake_setaffinity(TEST_UNUSED size_t bytes, TEST_UNUSED const unsigned long *mask)
{
    fake.calls++;
    return fake.result;
}

static long fake_getaffinity(TEST_UNUSED size_t bytes, TEST_UNUSED unsigned long *mask)
{
    fake.calls++;
    return fake.result;
}

static void begin(long result)
{
    memset(&fake, 0, sizeof fake);
    fake.result = result;
}

static bool mask_is(int node)
{
    unsigned long wanted[1024 / 64] = { 0 };

    wanted[node / 64] |= 1ul << node % 64;
    return memcmp(fake.mask, wanted, sizeof wanted) == 0;
}

/* ---- */

static char *page;

static void test_one_node(const char *when)
{
    int node[2] = { 7, 7 };
    void *pages[2] = { page, NULL };

    begin(-EPERM);
    tap_ok(sgc_nodes() == 1 && sgc_node_here() == 0, "%s: one node", when);
    tap_ok(sgc_memory_prefer(page, sgc_os_page_size(), 0) && sgc_memory_interleave(page, sgc_os_page_size()),
           "%s: all memory is placed well", when);
    tap_ok(sgc_memory_nodes(pages, 2, node) && node[0] == 0 && node[1] == 0, "%s: and lies on node 0", when);
    tap_ok(fake.calls == 0, "%s: without a system call", when);
}

static void test_numbers(void)
{
    int node[4];
    void *pages[4] = { page, page, page, page };

    begin(0);
    tap_ok(sgc_nodes() == 3, "three nodes");
    tap_ok(sgc_memory_prefer(page, sgc_os_page_size(), 1) && fake.mode == MPOL_PREFERRED && mask_is(5) && fake.bits == 1025 &&
           fake.bytes == sgc_os_page_size(), "the second is the system's number 5");
    tap_ok(sgc_memory_prefer(page, sgc_os_page_size(), 2) && mask_is(700), "the third is 700");
    tap_ok(sgc_memory_interleave(page, sgc_os_page_size()) && fake.mode == MPOL_INTERLEAVE && fake.mask[0] == (1 | 1 << 5) &&
           fake.mask[700 / 64] == 1ul << 700 % 64, "interleaved over all three");
    fake.node = 700;
    tap_ok(sgc_node_here() == 2, "a thread on 700 is on the third");
    fake.node = 9;
    tap_ok(sgc_node_here() == 1, "one on 9, which has no memory, is on the nearest");
    fake.node = 5000;
    tap_ok(sgc_node_here() == 0, "a number that is none of a node is taken for the first");
    memcpy(fake.status, (int[]){ 5, 700, -ENOENT, 3 }, sizeof fake.status);
    tap_ok(sgc_memory_nodes(pages, 4, node) && node[0] == 1 && node[1] == 2 && node[2] == -1 && node[3] == -1,
           "pages on 5, on 700, not there, and on an unknown node");
}

static void test_refused(int error)
{
    int node[1];
    void *pages[1] = { page };

    begin(-error);
    errno = 0;
    tap_ok(!sgc_memory_prefer(page, sgc_os_page_size(), 0) && errno == error, "preferring is refused: %d", error);
    errno = 0;
    tap_ok(!sgc_memory_interleave(page, sgc_os_page_size()) && errno == error, "interleaving is refused: %d", error);
    errno = 0;
    tap_ok(!sgc_memory_nodes(pages, 1, node) && errno == error, "asking where is refused: %d", error);
    errno = 0;
    tap_ok(!sgc_thread_bind(sgc_process_processors()) && errno == error, "binding a thread is refused: %d", error);
    errno = 0;
    tap_ok(!sgc_placement_keep_mask() && errno == error && sgc_number_set_count(sgc_process_processors()) == 0,
           "asking for processors is refused: %d", error);
    tap_ok(sgc_node_here() == 0 && sgc_processor_here() == -1, "and where the thread runs: %d", error);
}

/* On this machine: nodes with numbers that it may not have are refused, memory stays what it was. */
static void test_real_memory(void)
{
    static const struct sgc_topology two = { .nodes = 2, .cpus = 2, .source = "test", .os_index = { 0, 1000 } };
    void *pages[2] = { page, page + sgc_os_page_size() };
    int node[2] = { -2, -2 };

    sgc_placement_hooks = real;
    sgc_placement_use(&two);
    page[0] = 1;
    if (!sgc_memory_prefer(page, 2 * sgc_os_page_size(), 0)) {
        tap_skip("the system refuses mbind: %s", strerror(errno));
        return;
    }
    errno = 0;
    tap_ok(!sgc_memory_prefer(page, 2 * sgc_os_page_size(), 1) && errno == EINVAL, "node 1000 is refused");
    if (!sgc_memory_nodes(pages, 2, node))
        tap_skip("the system refuses move_pages: %s", strerror(errno));
    else
        tap_ok(node[0] >= -1 && node[0] <= 1 && node[1] == -1, "the first page is on %d, the second nowhere", node[0]);
    tap_ok(page[0] == 1 && page[sgc_os_page_size()] == 0, "and the contents are untouched");
}

static int bind_myself(void)
{
    struct sgc_number_set one = { { 0 } }, now;

    if (!sgc_placement_keep_mask() || sgc_number_set_count(sgc_process_processors()) < 1)
        return 1;
    sgc_number_set_add(&one, (uint64_t)sgc_number_set_next(sgc_process_processors(), 0));
    if (!sgc_thread_bind(&one) || !sgc_thread_processors(&now))
        return 2;
    if (memcmp(&now, &one, sizeof now) != 0 || sgc_processor_here() != sgc_number_set_next(&one, 0))
        return 3;
    return sgc_number_set_has(sgc_process_processors(), (uint64_t)sgc_processor_here()) ? 0 : 4;
}

int main(void)
{
    static struct sgc_topology topology = { .nodes = 3, .cpus = 4, .source = "test", .os_index = { 0, 5, 700 },
                                     .others = 1, .other = { { .os_index = 9, .nearest = 1 } } };

    sgc_platform_init();
    page = sgc_mem_obtain(2 * sgc_os_page_size());
    real = sgc_placement_hooks;
    sgc_placement_hooks = (struct sgc_placement_hooks){ fake_mbind, fake_move_pages, fake_getcpu, fake_setaffinity,
                                                        fake_getaffinity };
    test_one_node("not said");
    sgc_placement_use(&topology);
    test_numbers();
    test_refused(EPERM);
    test_refused(ENOSYS);
    topology.synthetic = true;
    sgc_placement_use(&topology);
    test_one_node("made up");
    topology.synthetic = false, topology.nodes = 1, topology.others = 0;
    sgc_placement_use(&topology);
    test_one_node("one");
    test_real_memory();
    child_ok(bind_myself, "a thread binds itself to the first processor of the process");
    return tap_done();
}
