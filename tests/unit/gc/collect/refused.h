/* SPDX-License-Identifier: MIT */
/*
 * A process that is refused a system call: what it works on (refused_work.c), its work
 * (refused_threads.c), and its parent, which runs it and judges what came of it (refused_run.c).
 */
#ifndef TESTS_UNIT_GC_COLLECT_REFUSED_H
#define TESTS_UNIT_GC_COLLECT_REFUSED_H

#include "tests/api/api.h"

#include <stdatomic.h>

/* ---- what it works on ------------------------------------------------------------------------ */

enum { REFUSED_WRONG = 32 };

enum { REFUSED_START, REFUSED_REGISTER, REFUSED_COLLECT, REFUSED_MOMENTS, REFUSED_NEVER = REFUSED_MOMENTS };

/* What a process and who runs it tell each other, in memory of both. */
struct refused_report {
    int moment;                 /* the call is refused from this on */
    atomic_int armed;           /* from now on the call is refused */
    atomic_int asked;           /* so often it was made since, */
    atomic_int fired;           /* and so often refused */
    atomic_int no_memory;       /* GC_malloc answered NULL */
    atomic_int hook_called;     /* and this often the hook was asked */
    atomic_int no_thread;       /* GC_pthread_create answered an error */
    atomic_int no_fork;         /* fork did */
    atomic_int not_collected;   /* GC_gcollect returned without a collection */
    atomic_int collected;
    atomic_int wrong;           /* so much was lost or damaged; the first of these: */
    const char *_Atomic what[REFUSED_WRONG];
};

extern struct refused_report *report;

/* `what` is static: the parent has it at the same address. */
void is_wrong(const char *what);
void *GC_CALLBACK on_no_memory(size_t bytes);

/* Chains of objects.  `place` names where one is held; NULL if there is no memory. */
struct link;
struct link *make_chain(const char *place);

/* Its last object; NULL if it is damaged, or was never made. */
struct link *check_chain(struct link *first, const char *place);
void drop_chain(struct link *first, const char *place);
void collect_and_churn(void);

/* ---- its work -------------------------------------------------------------------------------- */

/* The calling thread's, in a loaded module, whose first word is the module's. */
extern void *(*module_variable)(void);

void run_work(void);

/* What a collection loses shows. */
void run_planted_work(void);

/* ---- running it ------------------------------------------------------------------------------ */

/* Which calls: of this number, where (the lower half of argument `argument`) & mask == value. */
struct refused_call {
    int number;
    unsigned argument;
    uint32_t mask, value;
};

/* What is refused, how, and from when on. */
struct refused_run {
    struct refused_call call;
    int error;
    int once_in;                /* the call is made once in so many times; 0: never */
    int moment;
    void (*work)(void);
};

struct refused_outcome {
    int status;                 /* of the child */
    bool hung;                  /* and was ended */
    char said[8192];
};

/* From now on a signal comes often, which ends waiting for a question that has vanished. */
void tick(void);
void run_refused(const struct refused_run *run, struct refused_outcome *outcome);

/* NULL if that may come of it: all is right, or it was refused, and the program was told. */
const char *verdict(const struct refused_outcome *outcome, int moment);
bool all_right(const struct refused_outcome *outcome);
void describe(const struct refused_outcome *outcome);

#endif
