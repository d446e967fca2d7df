/* SPDX-License-Identifier: MIT */
/*
 * Where memory and threads are put on a machine with several memory nodes.
 *
 * A node is an index, from 0 to sgc_nodes() - 1, into the topology that sgc_placement_use was
 * given: not the system's number.  Only nodes with memory have one.  All functions are [any] in the
 * sense of platform/platform.h.  On a machine with one node, and before sgc_placement_use, they
 * make no system call: they return 0 or true.
 *
 * A system may refuse each of this (EPERM, ENOSYS: containers and filters of system calls do).
 * Then the function returns false, errno says why, and everything works as before: memory is where
 * who touches it first runs, threads run anywhere.
 *
 *   what           written by                                    read by      ordering
 *   the nodes      sgc_placement_start and _use, once, before    any thread   the start of the
 *                  there are other callers                                    collector, which all
 *   the mask at    sgc_placement_keep_mask, once, before there   any thread   other threads wait
 *   start          are other callers                                          for: of all three
 *   the hooks      tests, before there are threads               any thread
 */
#ifndef SGC_PLATFORM_NODES_PLACEMENT_H
#define SGC_PLATFORM_NODES_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/nodes/number_set.h"
#include "platform/nodes/topology.h"

/* From now on these are the nodes.  A topology that was made up (`synthetic`) is not this
 * machine's: it counts as one node. */
void sgc_placement_use(const struct sgc_topology *topology);

/* At start: looks whether this machine has several nodes, in one file, and only then reads more.
 * Before there is a second thread of ours.  [any] */
void sgc_placement_start(void);

/* The topology in use; NULL: none, there is one node.  [any] */
const struct sgc_topology *sgc_placement_topology(void);

/* ---- memory ---- */

/* Nodes that have memory, at least 1. */
int sgc_nodes(void);

/* The system's number of a node, where there are several. */
int sgc_node_number(int node);

/* The node of the processor that the calling thread runs on; if that has no memory, the nearest. */
int sgc_node_here(void);

/* OS pages of the range that are touched from now on come from that node as long as it has memory,
 * then from others.  The bounds are multiples of the OS page. */
bool sgc_memory_prefer(void *start, size_t bytes, int node);

/* They come from all nodes in turn. */
bool sgc_memory_interleave(void *start, size_t bytes);

/* The nodes that these OS pages are on now, -1 for one that is not there.  With one node all are 0,
 * wherever they are. */
bool sgc_memory_nodes(void *const *page, size_t pages, int *node);

/* ---- threads ---- */

/* The calling thread runs on these processors from now on, and those that it creates, too. */
bool sgc_thread_bind(const struct sgc_number_set *set);

/* Those that it may run on. */
bool sgc_thread_processors(struct sgc_number_set *set);

/* The processor that it runs on; -1 if the system does not say. */
int sgc_processor_here(void);

/* Keeps the calling thread's processors as those of the process, which helper threads may be bound
 * to.  Once, at start.  False if the system does not say: then there are none. */
bool sgc_placement_keep_mask(void);
const struct sgc_number_set *sgc_process_processors(void);

/* ---- the system calls ---- */

/* A test may put others here.  Each returns what the kernel does; negative: an error number. */
struct sgc_placement_hooks {
    long (*mbind)(void *start, size_t bytes, int mode, const unsigned long *nodes, size_t bits);
    long (*move_pages)(size_t pages, void *const *page, int *status);       /* asks only */
    long (*getcpu)(unsigned *processor, unsigned *node);                /* the system's numbers */
    long (*setaffinity)(size_t bytes, const unsigned long *mask);       /* of the calling thread */
    long (*getaffinity)(size_t bytes, unsigned long *mask);                 /* bytes written */
};
extern struct sgc_placement_hooks sgc_placement_hooks;

#endif
