/* SPDX-License-Identifier: MIT */
/*
 * The interface of libscm as the thesis has it ([SCM-C]), on top of SGC: for programs written for it, which need no change.
 *
 * Objects expire when the program's time has gone on far enough, and are freed then; doc/shortterm.md says what that means, and
 * sgc_shortterm.h has the same with more to choose from and with results that say what went wrong: here, as in libscm, what
 * cannot be done is not done, silently.
 *
 * An address is an object's: what scm_malloc returned, or what malloc, calloc and realloc did in a program that is linked with
 * `pkg-config --variable=wrap scm`.  NULL and other addresses are left alone by all functions but scm_free, which hands what
 * is not SGC's to the C library.
 *
 * As libscm would do it: SGC_SHORTTERM=free, lazy, one date taken off by each operation, extensions up to 10.  The environment
 * (SGC_SHORTTERM and its relatives) may say otherwise before the program starts; the macros below are there for programs that
 * use them, and say nothing to the library.
 *
 * All functions may be called on any thread, not by a signal handler.  Those that libscm calls with a thread that it does not
 * know make it known here, too.
 */
#ifndef SGC_SCM_STM_H
#define SGC_SCM_STM_H

#include <stddef.h>

#ifndef SCM_DESCRIPTOR_PAGE_SIZE
#define SCM_DESCRIPTOR_PAGE_SIZE 4096
#endif
#ifndef SCM_MAX_EXPIRATION_EXTENSION
#define SCM_MAX_EXPIRATION_EXTENSION 10
#endif
#ifndef SCM_DECRIPTOR_PAGE_FREELIST_SIZE        /* without the second S, as programs may have it */
#define SCM_DECRIPTOR_PAGE_FREELIST_SIZE 10
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A persistent object of `size` bytes, aligned to 16: it stays until scm_free, or, from its first refresh on, until all its
 * dates are over.  NULL with errno ENOMEM when there is no memory. */
void *scm_malloc(size_t size);

/* Frees a persistent object.  One that has dates goes when these are over, and nothing happens here. */
void scm_free(void *object);

/* Gives the object one more date: it lives until the calling thread has made `extension` more ticks, and has expired at the one
 * after them.  Extensions that are too large are made as large as may be.  Should there be no memory for the date, even after
 * all that has expired is freed, the program is ended with a message: the object would go too early. */
void scm_refresh(void *object, unsigned int extension);

/* scm_refresh by global time, for objects that several threads use: each thread that takes part in global time has had time to
 * refresh the object, too, before this date is over. */
void scm_global_refresh(void *object, unsigned int extension);

/* The calling thread's time goes on by one. */
void scm_tick(void);

/* The calling thread is ready for global time to go on, which it does when all threads that take part are. */
void scm_global_tick(void);

/* The thread takes part in global time from now on: that does not move without it.  A thread that calls neither this nor a
 * global function does not take part. */
void scm_register_thread(void);

/* The thread takes part in global time no more: what a thread may do that ends.  Its dates stay, and go when it ends. */
void scm_unregister_thread(void);

/* scm_unregister_thread for a thread that is about to wait, and scm_register_thread for one that has waited. */
void scm_block_thread(void);
void scm_resume_thread(void);

/* Frees what has expired by the calling thread's dates, all of it. */
void scm_collect(void);

#ifdef __cplusplus
}
#endif

#endif
