/* SPDX-License-Identifier: MIT */
/* Inputs for fuzzers, made of seeds by small changes, or of nothing.  By one thread. */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include "tests/fuzz/fuzz.h"

/* Reads the files of tests/fuzz/seeds/NAME. */
void fuzz_read_seeds(void);
unsigned fuzz_seed_count(void);

/* One of them; its size. */
size_t fuzz_seed(unsigned n, const uint8_t **data);

/* The next input of the generator's state, which is not 0: into `data`, of fuzz_subject.longest bytes.  Its size. */
size_t fuzz_next_input(uint64_t *random, uint8_t *data);

#endif
