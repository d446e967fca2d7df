/* SPDX-License-Identifier: MIT */
/* Messages on stderr, from any thread; stderr is locked for a whole line, so that lines do not mix. */
#ifndef WORDINDEX_COMPLAIN_H
#define WORDINDEX_COMPLAIN_H

#include <stddef.h>

/* Exit codes of the program. */
enum {
    EXIT_FINE = 0,
    EXIT_PARTLY = 1, /* something could not be read or written */
    EXIT_USAGE = 2,
};

__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

/* Complains and ends the program with EXIT_PARTLY. */
_Noreturn __attribute__((format(printf, 1, 2))) void die(const char *format, ...);

/* Never returns; its type lets an allocation be one expression. */
void *out_of_memory(size_t size);

#endif
