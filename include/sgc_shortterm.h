/* SPDX-License-Identifier: MIT */
/*
 * Short-term memory ([SCM], [SCM-C]): objects that go by themselves when their time is over, on top of the collector.
 *
 * A program says of an object how long it will need it, at the longest, in ticks of a clock; saying it again prolongs that.  An
 * object has as many expiration dates as it was refreshed, and has expired when all of them are over.  One that was never
 * refreshed is an ordinary object of the collector.  doc/shortterm.md says when that pays, doc/shortterm-porting.md how a
 * program is ported.
 *
 * What happens to an object that has expired is the mode's business (SGC_SHORTTERM in the environment, or SGC_shortterm_init):
 *
 *   pin      an object with a date that is not over is alive, as if a root pointed at it; when its dates are over it is
 *            alive as long as something reaches it.  Nothing can dangle.  The default
 *   free     it is freed when its last date is over, whoever still points at it
 *   hybrid   as free if it was marked freeable (SGC_SHORTTERM_FREEABLE), else as pin
 *   verify   it is kept, and collections tell which expired objects the program can still reach: what free would have broken
 *
 * Extensions are counted in ticks: refreshed with e, an object has expired at the (e+1)-th tick of the calling thread's own
 * clock; by global time at the (e+3)-th of its global ticks that count ([SCM] 3.2).  Extensions go up to a number that is fixed
 * at the start (SGC_SHORTTERM_EXTENSION, 10 if nobody says).
 *
 * All functions register the calling thread if need be.  They may be called on any thread but not by a signal handler, and
 * neither within GC_do_blocking nor by a callback of a collection that has the world stopped: then they return EBUSY and do
 * nothing; but SGC_refresh, SGC_refresh_global and SGC_tick by such a callback may end the program with a message, as GC_malloc
 * does.  They return 0 or an error number:
 *
 *   EINVAL   the address is not in the heap (NULL included), or lies inside an object (of one that was allocated for debugging
 *            all functions take the address that the program has); a region is NULL
 *   ESTALE   there is no object any more: it has been freed, or expired, or was reclaimed
 *   ERANGE   the extension is larger than the largest
 *   ENOMEM   the system has no memory; nothing has changed
 *   EBUSY    see above
 *   EPERM    the clock or region is another thread's
 *   EALREADY too late, or done already
 */
#ifndef SGC_SHORTTERM_H
#define SGC_SHORTTERM_H

#include "sgc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- start ------------------------------------------------------------------------------------------ */

enum {
    SGC_SHORTTERM_PIN,
    SGC_SHORTTERM_FREE,
    SGC_SHORTTERM_HYBRID,
    SGC_SHORTTERM_VERIFY
};

enum { SGC_SHORTTERM_LAZY, SGC_SHORTTERM_EAGER };

/* What can be chosen before the first use.  A member that is -1 stays as the environment says.  New members come at the end. */
struct SGC_shortterm {
    int mode;                   /* SGC_SHORTTERM_PIN ... */
    int extension;              /* the largest, 0 to 65535 */
    int collect;                /* SGC_SHORTTERM_LAZY: an operation takes off `step` dates at most; _EAGER: a tick takes all */
    int step;                   /* 0 and more */
    int page_bytes;             /* of a page of dates: 24 to 65536, rounded down to whole words */
};

/* Chooses what the first `size` bytes of *wanted say.  The environment wins over them.  Before any other function of this
 * header: else EALREADY; EINVAL, with a message, for a value out of its range. */
GC_API int SGC_shortterm_init(const struct SGC_shortterm *wanted, size_t size);

/* The mode in force. */
GC_API int SGC_shortterm_mode(void);

/* Stores the settings in force; `size` and the result are as those of SGC_get_stats. */
GC_API size_t SGC_get_shortterm(struct SGC_shortterm *settings, size_t size);

/* ---- dates -------------------------------------------------------------------------------------------- */

/* The object lives until the calling thread has made `extension` more ticks: it gets another date, of the thread's own clock.
 * For objects that this thread alone uses, or where the program synchronises.  An object that has 127 dates or more at a time
 * is left to the collector when they are over. */
GC_API int SGC_refresh(void *object, unsigned extension);

/* SGC_refresh by global time, which goes on when each thread that takes part has made a global tick: for objects that several
 * threads use.  The first global call makes the thread take part. */
GC_API int SGC_refresh_global(void *object, unsigned extension);

/*
 * Prolongs a structure as a whole: SGC_refresh, or with SGC_SHORTTERM_GLOBAL in `flags` SGC_refresh_global, of the object, and
 * of each object with dates that it leads to, once.  What leads where, is as in a collection, also through objects without
 * dates; these get none, and live as the collector has it, so no object's life becomes shorter.  A region with dates that is
 * led into gets one more; an address in a region means that region alone.  With `pin` the object alone gets a date: it keeps
 * the others.
 *
 * E2BIG: more than `most` objects are met, those without dates and the memory of regions counted, and nothing has
 * changed.  ENOMEM: some of them may have got a date.  EAGAIN, with a message: the program could not be stopped.  EINVAL also
 * for other flags, or if `most` is 0.
 *
 * The program stands still while it is looked for the objects, for about the time of marking them.  Meant for structures that
 * are the caller's own, and are refreshed now and then; what others free meanwhile gets no date.  (Recursive refresh, as in the
 * Java implementation of [SCM]; that one stops at objects whose date is late enough, and misses what is behind them.)
 */
GC_API int SGC_refresh_reachable(void *object, unsigned extension, int flags, size_t most);

/* The thread's own clock goes on by one tick. */
GC_API int SGC_tick(void);

/* The thread has made its tick of this phase of global time; more than one in a phase does nothing. */
GC_API int SGC_tick_global(void);

/* The thread takes no part in global time until it joins again, or makes a global call: for threads that wait, so that time
 * goes on without them.  GC_do_blocking does it by itself.  EALREADY: it took no part. */
GC_API int SGC_leave_time(void);
GC_API int SGC_join_time(void);

/* Frees up to `most` expired objects whose dates this thread has to take off; returns how many dates these were. */
GC_API size_t SGC_expire(size_t most);

/* Flags of SGC_malloc_dated; the first also of SGC_refresh_reachable. */
enum {
    SGC_SHORTTERM_GLOBAL = 1,       /* a date of global time */
    SGC_SHORTTERM_ATOMIC = 2,       /* the object has no pointers */
    SGC_SHORTTERM_FREEABLE = 4      /* hybrid: free it when its last date is over */
};

/* An object with a date from the beginning: there is no moment at which it has none.  Zeroed, unless it has no pointers.  NULL
 * when there is no memory, or with errno ERANGE, for an extension that is too large, or EBUSY. */
GC_API void *SGC_malloc_dated(size_t bytes, unsigned extension, int flags);

/*
 * What is to be done with the object when it has expired.  The function is called by the thread that takes off the last date,
 * within the call that does so, once; it may use everything, and dates are not taken off while it runs.  Until then the object
 * stays: a collection leaves such a date to its thread.  If it returns 0, the object is freed; otherwise it stays, without a
 * date, until it gets one again.  With verify it is called, on the same thread, by the tick that follows the collection in
 * which the object was found to have expired.  Where an expired object is not freed (pin), and for one that is unreachable
 * without a date, it is called as a finalizer is, when a collection has found the object unreachable, and what it returns says
 * nothing.  NULL forgets it, and so does GC_free of the object, or GC_realloc that moves it, also where dates or holds keep
 * it.  It takes the place of the object's finalizer, and GC_register_finalizer takes its.
 */
typedef int (GC_CALLBACK *SGC_expiry_proc)(void *object);
GC_API int SGC_set_expiry_proc(void *object, SGC_expiry_proc proc);

/* How many dates the object has, with those that are over and not taken off yet, and one for all its holds; -1: that is not
 * counted (pin), or there is no object.  127 and more: there are, or were, too many to count. */
GC_API int SGC_dates(const void *object);

/* ---- clocks ------------------------------------------------------------------------------------------- */

/* A clock of the calling thread beside its own one: for what has another rhythm.  Extensions count as for the own clock. */
typedef struct SGC_clock SGC_clock_t;

/* Makes a clock; NULL when there is no memory.  It lasts until it is released, or its thread ends. */
GC_API SGC_clock_t *SGC_clock_new(void);

/* The clock is no more: all its dates are over now.  Nobody may pass it any more; it is not found out. */
GC_API int SGC_clock_release(SGC_clock_t *clock);

/* SGC_refresh and SGC_tick by that clock; NULL is the thread's own one. */
GC_API int SGC_refresh_clock(void *object, unsigned extension, SGC_clock_t *clock);
GC_API int SGC_tick_clock(SGC_clock_t *clock);

/* ---- holds -------------------------------------------------------------------------------------------- */

/*
 * A hold is a date without an end that is no thread's: anybody may make one and anybody may take it back.  For what is handed
 * to a thread that waits, or does not exist yet: who hands it over holds it, and who has got it refreshes it and takes the hold
 * back.  Also for what is not to expire at all.  Holds of one object are counted.  GC_free leaves an object that is held.
 */
GC_API int SGC_hold(void *object);

/* Takes one hold back.  EINVAL: nobody holds the object. */
GC_API int SGC_unhold(void *object);

/* ---- regions ------------------------------------------------------------------------------------------ */

/*
 * A region is memory for objects that go together.  Objects in it have no dates of their own: a refresh of one, or of any
 * address inside the region's memory, is one of the region, by any thread; so is SGC_refresh of the region itself.  A
 * region and its objects are persistent until its first refresh.  When its last date is over it is empty, and can be filled
 * again: with `free` its memory is freed; otherwise what something reaches stays alive, for each piece of 4 KB and more
 * that objects lie in.
 *
 * The region itself is alive as long as it has a date, or something points at it or into it, whether interior pointers count
 * or not; GC_free is not for it, and GC_base finds no object in it.  Only the thread that has made it allocates in it and
 * closes it.  If its last date is over by another thread's tick, what is in it goes when its own thread uses it next; until
 * then others that refresh it get ESTALE.
 */
typedef struct SGC_region SGC_region_t;

/* Makes a region; NULL when there is no memory, whatever the out-of-memory hook returns. */
GC_API SGC_region_t *SGC_region_new(void);

/* Memory for an object, aligned to 16, whose words may be pointers; not cleared.  NULL when there is no memory, and with errno
 * EPERM, EBUSY, EALREADY for a region that is closed, or EINVAL for no region. */
GC_API void *SGC_region_malloc(SGC_region_t *region, size_t bytes);

/* The region gets a date, as an object does by SGC_refresh, SGC_refresh_global and SGC_refresh_clock. */
GC_API int SGC_region_refresh(SGC_region_t *region, unsigned extension);
GC_API int SGC_region_refresh_global(SGC_region_t *region, unsigned extension);
GC_API int SGC_region_refresh_clock(SGC_region_t *region, unsigned extension, SGC_clock_t *clock);

/* The region is not used any more: nobody may allocate in it.  It goes with its last date, after which nobody may pass it;
 * without any, when nothing reaches it or its objects.  EALREADY: it is closed. */
GC_API int SGC_region_close(SGC_region_t *region);

/* The region in whose memory the address lies; NULL: in none. */
GC_API SGC_region_t *SGC_region_of(const void *address);

/* ---- verify ------------------------------------------------------------------------------------------- */

/* With SGC_SHORTTERM=verify each collection looks at what has expired since the one before: whether words lead there.  What
 * the program pushes is not seen (a mark procedure, a hook of GC_set_push_other_roots or GC_set_on_mark_stack_empty). */
enum {
    SGC_FINDING_PREMATURE,      /* an object that has expired can be reached: with free a pointer to it would dangle */
    SGC_FINDING_NEEDED,         /* one that has expired can be reached from an object that has a date: the same, later */
    SGC_FINDING_STILL           /* a clock has stood still for some collections, and its dates keep memory */
};

/* How sure it is that an object can be reached: by variables of the program and by pointers to objects' first bytes alone; else
 * by other words on the way, or another thread's stack; only by a word on the stack, or in a register, of the thread that has
 * collected, which may be an old one. */
enum { SGC_FINDING_CERTAIN, SGC_FINDING_LIKELY, SGC_FINDING_POSSIBLE };

/* New members come at the end only. */
struct SGC_finding {
    int kind;                   /* SGC_FINDING_PREMATURE ... */
    int certainty;              /* SGC_FINDING_CERTAIN ...; of objects */
    int global;                 /* of a clock: it is global time, for which `thread` does not tick */
    const void *object;         /* its first address */
    size_t bytes;               /* of the object; that the clock's dates keep, at most */
    const void *refreshed_at;   /* in the program, behind the call by which it got the date that was over last; of a hold,
                                   behind that of SGC_unhold */
    long thread;                /* kernel's number of the thread whose date, or clock, that was; 0: it has ended, or it was a
                                   hold */
    SGC_held_t held;            /* what the way to the object begins with, as by SGC_find_way; SGC_HELD_UNKNOWN: no memory */
    size_t steps;               /* objects on the way, it is the last; of a clock: collections for which it has stood still */
    const struct SGC_step *step;        /* the first of them, 24 at most */
    size_t objects;             /* so many that got their dates at that place were found: this one is the surest of them */
};

typedef void (GC_CALLBACK *SGC_finding_proc)(const struct SGC_finding *finding, void *data);

/* Collects, and calls proc with all that was found and not told yet, once for each place in the program where dates were given,
 * certain ones first; proc NULL: that is said in messages.  An object is told again if it can be reached more surely later.
 * Returns how many objects and clocks that were.  proc may use the collector; others may have changed the objects meanwhile.
 * 0 in other modes.
 *
 * SGC_SHORTTERM_CHECK=n does it, with messages, in each n-th tick of a thread; without it what was found is said at the next
 * tick of any thread. */
GC_API size_t SGC_shortterm_check(SGC_finding_proc proc, void *data);

/* ---- figures ------------------------------------------------------------------------------------------ */

/* Of all threads, from the start on.  New members come at the end only. */
struct SGC_shortterm_stats {
    uint64_t dates;             /* not over yet, now */
    uint64_t expired;           /* over, and not taken off yet, now */
    uint64_t ticks;             /* of threads' own clocks */
    uint64_t global_ticks;      /* that counted */
    uint64_t global_time;
    uint64_t active;            /* threads that take part in global time */
    uint64_t freed;             /* objects, because their last date was over */
    uint64_t freed_bytes;
    uint64_t date_bytes;        /* memory for dates, in use or not */
    uint64_t kept_bytes;        /* verify: of objects that nothing but dates kept in the last collection */
};

/* Stores these figures; `size` and the result are as those of SGC_get_stats. */
GC_API size_t SGC_get_shortterm_stats(struct SGC_shortterm_stats *stats, size_t size);

#ifdef __cplusplus
}
#endif

#endif
