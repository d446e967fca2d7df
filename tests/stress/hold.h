/* SPDX-License-Identifier: MIT */
/*
 * Keeping an address in one processor register and nowhere else, while the thread runs and may be
 * stopped at any instruction.  Stale copies may lie elsewhere on the stack by chance; these tests
 * are repeated often enough that this does not hide an error.
 */
#ifndef TESTS_STRESS_HOLD_H
#define TESTS_STRESS_HOLD_H

#include "tests/stress/object.h"

enum hold_place { HOLD_GENERAL, HOLD_VECTOR, HOLD_WIDE, HOLD_PLACES };

/* Does this machine have such a register? */
bool hold_possible(enum hold_place place);

/* Hides the object's address in memory, keeps it in a register for about `spins` turns of a short
 * loop, and puts it back. */
void hold_object(struct ref *ref, enum hold_place place, unsigned long spins);

/* The address in a register that calls preserve, across a collection by this very thread. */
void hold_across_collection(struct ref *ref);

#endif
