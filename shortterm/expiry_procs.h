/* SPDX-License-Identifier: MIT */
/*
 * The program's functions for objects that have expired, called before these are freed
 * (SGC_set_expiry_proc).
 *
 * A function is registered as a finalizer: so the tracer knows of it, and calls it when an object
 * dies without a date, and a free of the object forgets it.
 */
#ifndef SGC_SHORTTERM_EXPIRY_PROCS_H
#define SGC_SHORTTERM_EXPIRY_PROCS_H

#include "shortterm/dates.h"

enum sgc_expiry_answer {
    SGC_EXPIRY_NOTHING,         /* there is no such function: nothing has changed */
    SGC_EXPIRY_KEEP,            /* the object stays */
    SGC_EXPIRY_FREE,            /* it may be freed, and nothing is registered for it any more */
};

/* The object has no date any more, and the calling thread has it to itself: calls its function,
 * once.  While that runs the thread takes no dates off (sgc_expiry_calling), but for those of holds
 * that it gives up.  On the thread of the dates, outside sections. */
enum sgc_expiry_answer sgc_expiry_ask(struct sgc_dates *d, uintptr_t object);

/* Has the object, which begins there, such a function?  World stopped by the caller. */
bool sgc_expiry_has(uintptr_t object);

/* Has any object had such a function?  By a thread that has an object: its function was set
 * before. */
bool sgc_expiry_used(void);

/* Does the thread run such a function?  Not if it has left it by a jump. */
bool sgc_expiry_calling(struct sgc_dates *d);

#endif
