/* SPDX-License-Identifier: MIT */
/*
 * A message: one collectable object with a graph behind it, passed by its address alone, so that
 * the way it passes holds the only reference.
 */
#ifndef TESTS_STRESS_MESSAGE_H
#define TESTS_STRESS_MESSAGE_H

#include "tests/stress/object.h"

struct message {
    uint64_t seal;
    uint64_t style;             /* the storm's own use */
    uint64_t stream;            /* of random numbers, for the receiver */
    struct ref graph;
};

struct message *message_make(struct rng *rng, int style);

/* Fails the storm if the message, which came by the way named, is not what was made. */
void message_check(const struct message *message, const char *came_by);

#endif
