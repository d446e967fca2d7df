/* SPDX-License-Identifier: MIT */
/*
 * Which OS pages were written: the sources that say so, for marking while the program runs.
 *
 * A source is armed for a range and collects from then on: an OS page of the range is *clean* if it
 * was armed and has not been written since, by anybody: a store, or the kernel on the program's
 * behalf (read, recv); or if it was never touched at all.  One that has lost its contents since it
 * was written (sgc_mem_discard) may count as either.  Everything else counts as written: what was
 * never armed, what the system says nothing about, and all of a range when something goes wrong.
 * So a source errs on one side only.
 *
 * The software source is the exception: it knows of writes that are reported to it
 * (sgc_written_report), and of no others.
 *
 * One source is open at a time.  The collector's lead opens and closes it, and arms; collecting may
 * be split over threads, each with ranges of its own.  The program may run and write meanwhile,
 * except where a function says otherwise.  [any] in the sense of platform/platform.h but for
 * opening and closing, which are [outside].
 */
#ifndef SGC_PLATFORM_WRITTEN_WRITTEN_H
#define SGC_PLATFORM_WRITTEN_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/atomics.h"
#include "platform/compiler.h"

/* Why a source cannot be had. */
struct sgc_written_refusal {
    const char *step;       /* "userfaultfd", "/proc/self/pagemap", "it reports wrong pages" */
    int error;              /* an error number; 0: the step says it all */
};

struct sgc_written_source {
    const char *name;       /* as SGC_DIRTY says it */
    bool rearms_running;    /* a page that is collected and armed again, and read behind a barrier
                               of all threads, loses no write of a program that runs */
    bool kernel_writes;     /* system calls can write into armed pages; otherwise they fail there
                               with EFAULT */
    bool reported;          /* a page counts as written only if that was reported */
    bool arms_all;          /* arming a range, or collecting with `rearm`, arms all ranges: so a
                               caller arms once, for all, and with `rearm` collects all */

    /* For ranges within [low, high), a reservation.  False: nothing is open, and *why says what is
     * missing. */
    bool (*open)(uintptr_t low, uintptr_t high, struct sgc_written_refusal *why);

    /* Everything counts as written from now on, and no store costs anything any more. */
    void (*close)(void);

    /* Watches [low, high), whole OS pages of committed memory.  A store made before the call may
     * still count as made after it.  False: the range, or a part of it, counts as written until it
     * is armed again. */
    bool (*arm)(uintptr_t low, uintptr_t high);

    /* Sets the bit of each written OS page of [low, high), bit n % 64 of word n / 64 for the n-th;
     * clears none.  With `rearm` these pages are watched anew; a thread that reads them afterwards
     * (with the world stopped, or behind a barrier of all threads) sees all earlier writes.  False:
     * an error, and all bits are set; nothing may be watched anew then. */
    bool (*collect)(uintptr_t low, uintptr_t high, bool rearm, uint64_t *written);

    /* The source has nothing to do for these where they are NULL. */

    /* [low, high) is not watched from now on, and counts as written, until `rest`: a stack, which
     * the kernel must be able to write to when a thread on it gets a signal. */
    void (*keep_open)(uintptr_t low, uintptr_t high);

    /* The cycle is over: nothing need be watched until it is armed again. */
    void (*rest)(void);
};

/* Best first. */
extern const struct sgc_written_source sgc_written_async;       /* userfaultfd, Linux 6.7 */
extern const struct sgc_written_source sgc_written_soft;        /* soft-dirty bits of the page table */
extern const struct sgc_written_source sgc_written_mprotect;    /* protected pages and SIGSEGV */
extern const struct sgc_written_source sgc_written_software;    /* the program reports its writes */
extern const struct sgc_written_source sgc_written_none;        /* all counts as written, always */

/* Opens the source for [low, high) after a round trip on pages of its own has shown that it works
 * here: return codes do not tell, since kernels take orders that they do not carry out.  Where
 * writes are reported there is nothing to try.  False: as source->open.  [outside] */
bool sgc_written_open(const struct sgc_written_source *source, uintptr_t low, uintptr_t high,
                      struct sgc_written_refusal *why);

/* Sets the bits of the OS pages from the `from`-th up to the `to`-th, which is not set.  [any] */
void sgc_written_set(uint64_t *written, size_t from, size_t to);

/* ---- reports of writes, for the software source; without it they say nothing ---- */

enum sgc_card { SGC_CARD_WRITTEN, SGC_CARD_WATCHED };   /* the first is what fresh memory says */

/* A card for each OS page of a range: platform/written/written_software.c has the table. */
struct sgc_cards {
    _Alignas(64) sgc_aw_t bytes;        /* of the range; 0: the source is closed */
    sgc_aw_t low;               /* its first */
    sgc_a8_t *of;
    uint32_t shift;             /* an OS page has so many bits */
    uintptr_t covered;          /* bytes that the cards are for, closed or not */
};

SGC_INNER struct sgc_cards sgc_cards;

/* Does it matter what is reported? */
static inline bool sgc_written_is_reported(void)
{
    return sgc_aw_load_acq(&sgc_cards.bytes) != 0;
}

/* Reports that a pointer has been stored at `address`, in the heap or elsewhere.  The
 * pointer's target has to be reachable from a stack or a register until this returns, as the thread
 * may be stopped between the store and this call.  Any thread, signal handlers too, at any time. */
static inline void sgc_written_report(const void *address)
{
    uintptr_t bytes = sgc_aw_load_acq(&sgc_cards.bytes), at = (uintptr_t)address - sgc_aw_load(&sgc_cards.low);
    sgc_a8_t *card;

    sgc_compiler_barrier();     /* first the store, then the look at the card */
    if (__builtin_expect(at >= bytes, 1))
        return;
    card = &sgc_cards.of[at >> sgc_cards.shift];
    if (sgc_a8_load(card) != SGC_CARD_WRITTEN)
        sgc_a8_store_rel(card, SGC_CARD_WRITTEN);
}

/* Stores a pointer and reports that. */
static inline void sgc_written_store(void *place, void *value)
{
    *(void *volatile *)place = value;
    sgc_written_report(place);
    __asm__ volatile("" : : "r"(value));
}

/* Pointers have been stored somewhere in a range. */
void sgc_written_report_range(uintptr_t start, size_t bytes);

#endif
