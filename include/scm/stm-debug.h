/* SPDX-License-Identifier: MIT */
/*
 * The second half of libscm's interface as the thesis has it ([SCM-C]): finalizers, and figures.  See stm.h.
 */
#ifndef SGC_SCM_STM_DEBUG_H
#define SGC_SCM_STM_DEBUG_H

#ifndef SCM_FINALZIER_TABLE_SIZE                /* spelled as programs may have it */
#define SCM_FINALZIER_TABLE_SIZE 32
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a function known as a finalizer, and returns its number, from 0; -1: there are 32 already, or it is NULL. */
int scm_register_finalizer(int (*finalizer)(void *));

/* When the object has expired, the function of that number is called with it, by the thread that takes off the last date, and
 * outside of all locks, so that it may use this interface.  If it returns 0, the object is freed; else it stays, and is
 * persistent again.  Dates that are over are not taken off by the thread while a finalizer runs.  scm_free calls no finalizer,
 * and neither has an object of a region one.  -1 takes the finalizer away; other numbers that are nobody's change nothing. */
void scm_set_finalizer(void *object, int number);

/* From the start on, of the whole process. */
struct scm_mem_info {
    unsigned long allocated;    /* bytes of objects, SGC's other objects included */
    unsigned long freed;        /* bytes of objects that were freed or have expired */
    unsigned long overhead;     /* bytes that dates take */
    unsigned long num_alloc;    /* objects that this interface made */
    unsigned long num_freed;    /* objects that it freed, or that have expired */
};
void scm_get_mem_info(struct scm_mem_info *info);

#ifdef __cplusplus
}
#endif

#endif
