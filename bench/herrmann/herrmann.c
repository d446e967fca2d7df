/* SPDX-License-Identifier: MIT */
/*
 * libherrmann: the systems of E. C. Herrmann's thesis, "Threaded Dynamic Memory Management in
 * Many-Core Processors" (Cincinnati, 2010), to be studied: a library for LD_PRELOAD that stands
 * between a program and the next malloc.  A thread of its own prepares blocks and frees others.
 *
 *     HERRMANN=none|pt|lb|lfb|lfb-safe|magazine|magazine-off|ahead|ahead-self
 *                                 which system; none without it
 *     HERRMANN_DRAIN=NUMBER       lb, lfb, lfb-safe: freed blocks after which a drain is asked for
 *                                 (1000; the thesis's text has 100, its code 1000)
 *     HERRMANN_FIGURES=FILE       what it counts, at the end of the process (figures.h)
 *
 * As in the thesis: bins of powers of two; a wish of each bin, one more at each miss, 10 000 at
 * most, never less; bins filled to half of it; a refill asked for at each 1000th request and each
 * miss; freed blocks go back to the front of their bin, else to a list from which bins are refilled
 * first (lfb); a bin that was missed gets a block before all others (lfb).  Nothing large is
 * treated apart.
 *
 * Different, and why:
 *
 * - A header has 16 bytes, not 4 or 8, so that blocks are aligned to 16 bytes as programs expect.
 *   It has a check, so that blocks of the next malloc are recognized.  The smallest block has 16
 *   bytes.
 * - Sizes have all their bits.  calloc and the like refuse products that overflow.  Requests above
 *   32 GB belong to no bin.
 * - realloc frees the old block, and of size 0 returns NULL.  The thesis's code leaks the first.
 * - An aligned place has a header that leads to its block, however large the alignment is.
 * - Waits have a time limit of 10 ms; then the thread makes its block itself.  A thread that waits
 *   yields 100 times, as in the thesis, and then sleeps on a condition.
 * - Where there is no memory, freed blocks are drained, and then the result is NULL with ENOMEM;
 *   the thesis's threads yield for ever.
 * - What is asked for is one atomic word, and the manager is woken under a lock: no wake-up is
 *   lost.
 * - Several missed bins are remembered, not the last one only.
 * - Half of an odd wish is rounded up in lb, too, so that the first miss is served.
 * - The list of freed blocks is taken as a whole, sorted by bins, and drained to its last block;
 *   the thesis's never frees the last one, and is searched.
 * - Where the front of a bin is neither reserved nor empty, lfb's manager waits a moment instead of
 *   putting its chain in front: it could not know the bin's last block then.
 * - lfb keeps the thesis's way of taking a block, which is right for one thread, and refuses a
 *   second one.  lfb-safe is for any number of threads, and puts chains in front (lock_free_safe.c).
 * - The system begins in this library's constructor, and the manager at the first call that asks
 *   for it; the thesis begins both in the first call, which may be the loader's.
 * - The manager blocks all signals, and no handler of the program's is replaced.
 * - A child of fork keeps its bins, and makes a manager when a call asks for one; the thesis's
 *   forgets its bins and makes one at once.
 * - Calls are counted by thread, so that the count needs no atomic operation.
 *
 * Left as it is: a program all of whose threads leave by pthread_exit does not end, since the
 * manager does not.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/herrmann/figures.h"
#include "bench/herrmann/message.h"
#include "bench/herrmann/system.h"

_Atomic(const struct system *) herrmann_system = &system_none;
unsigned herrmann_drain_period = DRAIN_PERIOD;

static const struct system *const systems[] = {
    &system_none, &system_pass_through, &system_locked_bins, &system_lock_free_bins,
    &system_lock_free_safe, &system_magazine, &system_magazine_off, &system_ahead,
    &system_ahead_self
};

#define SYSTEMS (sizeof systems / sizeof *systems)

/* All words, with commas. */
static const char *known_words(void)
{
    static char words[200];
    size_t length = 0;

    for (size_t i = 0; i < SYSTEMS; i++)
        length += (size_t)snprintf(words + length, sizeof words - length, "%s%s", i == 0 ? "" : ", ", systems[i]->word);
    return words;
}

static const struct system *find_system(const char *word)
{
    if (word == NULL)
        return &system_none;
    for (size_t i = 0; i < SYSTEMS; i++)
        if (strcmp(word, systems[i]->word) == 0)
            return systems[i];
    message_refuse("HERRMANN is \"%s\", expected one of %s", word, known_words());
}

static unsigned find_drain_period(const char *word)
{
    char *end;
    long number;

    if (word == NULL)
        return DRAIN_PERIOD;
    number = strtol(word, &end, 10);
    if (end == word || *end != '\0' || number < 1 || number > DRAIN_PERIOD_MAX)
        message_refuse("HERRMANN_DRAIN is \"%s\", expected a number from 1 to %d", word, DRAIN_PERIOD_MAX);
    return (unsigned)number;
}

/* Constructors of this library run before those of the program, and before it has other threads. */
__attribute__((constructor)) static void start(void)
{
    const struct system *system = find_system(getenv("HERRMANN"));

    herrmann_drain_period = find_drain_period(getenv("HERRMANN_DRAIN"));
    figures_start();
    if (system == &system_none)
        return;
    if (system->start != NULL)
        system->start();
    fork_start(system);
    atomic_store_explicit(&herrmann_system, system, memory_order_release);
}

/* Calls may come after it, too; they are not in the figures. */
__attribute__((destructor)) static void stop(void)
{
    const struct system *system = atomic_load_explicit(&herrmann_system, memory_order_acquire);

    if (!figures_wanted())
        return;
    if (system->stop != NULL)
        system->stop();
    figures_write();
}
