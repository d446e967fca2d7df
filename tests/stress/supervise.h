/* SPDX-License-Identifier: MIT */
/*
 * What the two processes of a storm share: one page-backed structure, made before the fork.
 *
 *   field               written by                      read by
 *   alone, enabled      storm_main, before the threads  everybody
 *   deadline_ns         storm_main                      the storm when alone, the supervisor
 *   stop                the supervisor (alone: anybody) the storm's threads
 *   part, slot.steps    the storm's threads             the supervisor
 *   slot.doing          the slot's thread; points into the program's text, which both processes
 *                       have at the same address
 *   claimed, message    the first thread that fails     the supervisor, after failed_pid is set
 */
#ifndef TESTS_STRESS_SUPERVISE_H
#define TESTS_STRESS_SUPERVISE_H

#include "tests/stress/storm.h"

#include <stdatomic.h>
#include <stdint.h>

#define STORM_SLOTS 256

struct storm_slot {
    _Atomic int tid;
    _Atomic uint64_t steps;
    _Atomic(const char *) doing;
};

struct storm_shared {
    _Atomic int alone;
    _Atomic int stop;
    _Atomic unsigned long enabled;
    _Atomic uint64_t deadline_ns;
    _Atomic uint64_t part[STORM_PARTS_MAX];
    struct storm_slot slot[STORM_SLOTS];
    _Atomic int claimed;
    _Atomic int failed_pid;
    char message[600];
    _Atomic uint64_t collections;       /* of the storm's main process, at its end */
    _Atomic uint64_t heap_bytes;
    _Atomic uint64_t total_bytes;
};
extern struct storm_shared *storm_shared;

/* In the child: a crash is a failure with an address. */
void storm_catch_crashes(void);

#endif
