/* SPDX-License-Identifier: MIT */
/*
 * A handler of the program leaves refreshes, ticks, holds and dated allocations by a jump, wherever they stand: an object whose
 * refresh has returned is there until its date is over, whole, in each mode, and the heap is in order.  On x86-64 they
 * are left after each instruction, too, where lists and the queue change, and an object loses its last date.  For that the test
 * is linked with some functions wrapped (tests/list.txt).
 *
 * Also: shortterm/refresh.c, shortterm/tick.c, shortterm/dates/date_list.c, shortterm/expire.c.
 */
#define GC_THREADS

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#include "gc/gc.h"
#include "gc/threads/mutator.h"
#include "alloc/free.h"
#include "shortterm/dates/counts.h"
#include "shortterm/dates/date_list.h"
#include "tests/lib/child.h"
#include "tests/lib/trap.h"
#include "tests/unit/shortterm/shortterm.h"

enum { SLOTS = 300, WORDS = 8, ENOUGH = 400, SECONDS = 3 };

static uintptr_t slot[SLOTS];           /* objects, inverted: nothing but their dates keeps them; 0: none that is known */
static int mode, collect, wrong;
static sigjmp_buf out;
static volatile sig_atomic_t armed, jumps;

static void jump(TEST_UNUSED int signal)
{
    if (!armed)
        return;
    armed = 0;
    jumps++;
    siglongjmp(out, 1);
}

/* ---- calls that may be left ---- */

static SGC_clock_t *rhythm;
static SGC_region_t *region;

enum { PIECES = 1500, PIECE = 300, REST = 10 };

static unsigned char *piece[PIECES];    /* of the region, each filled with its own byte */
static int pieces, rest;                /* periods in which a date of the region may be left, by a tick that was */

static intptr_t allocate(TEST_UNUSED void *object)
{
    return (intptr_t)SGC_malloc_dated(WORDS * sizeof(uintptr_t), 1, SGC_SHORTTERM_FREEABLE);
}

static intptr_t allocate_global(TEST_UNUSED void *object)
{
    return (intptr_t)SGC_malloc_dated(WORDS * sizeof(uintptr_t), 1, SGC_SHORTTERM_FREEABLE | SGC_SHORTTERM_GLOBAL);
}

static intptr_t refresh_once(void *object) { return SGC_refresh(object, 1); }
static intptr_t refresh_global(void *object) { return SGC_refresh_global(object, 1); }
static intptr_t refresh_clock(void *object) { return SGC_refresh_clock(object, 1, rhythm); }
static intptr_t hold(void *object) { return SGC_hold(object); }
static intptr_t unhold(void *object) { return SGC_unhold(object); }
static intptr_t tick(TEST_UNUSED void *object) { return SGC_tick(); }
static intptr_t tick_global(TEST_UNUSED void *object) { return SGC_tick_global(); }
static intptr_t tick_clock(TEST_UNUSED void *object) { return SGC_tick_clock(rhythm); }
static intptr_t expire(TEST_UNUSED void *object) { return (intptr_t)SGC_expire(50); }
static intptr_t new_clock(TEST_UNUSED void *object) { return (intptr_t)SGC_clock_new(); }
static intptr_t release_clock(TEST_UNUSED void *object) { return SGC_clock_release(rhythm); }
static intptr_t new_region(TEST_UNUSED void *object) { return (intptr_t)SGC_region_new(); }
static intptr_t fill_region(TEST_UNUSED void *object) { return (intptr_t)SGC_region_malloc(region, PIECE); }
static intptr_t refresh_region(TEST_UNUSED void *object) { return SGC_region_refresh(region, 0); }

/* False: it was left, and nobody knows how far it had come. */
TEST_NOINLINE static bool called(intptr_t (*call)(void *object), void *object, intptr_t *result)
{
    if (sigsetjmp(out, 1) != 0)
        return false;
    armed = 1;
    *result = call(object);
    armed = 0;
    return true;
}

/* ---- objects ---- */

static uintptr_t *object_in(int i)
{
    return (uintptr_t *)~slot[i];
}

static bool is_global(int i)
{
    return i % 3 == 0;
}

static void fill(int i)
{
    intptr_t made = 0;

    slot[i] = 0;
    if (!called(is_global(i) ? allocate_global : allocate, NULL, &made) || made == 0)
        return;
    slot[i] = ~(uintptr_t)made;
    for (int w = 0; w < WORDS; w++)
        object_in(i)[w] = slot[i] + (uintptr_t)(i * WORDS + w);
}

static void look(int i)
{
    for (int w = 0; w < WORDS; w++)
        wrong += object_in(i)[w] != slot[i] + (uintptr_t)(i * WORDS + w);
}

/* What is held is kept by that until it is refreshed. */
static void hold_between(int i)
{
    intptr_t error;

    if (!called(hold, object_in(i), &error))
        return;                         /* it may be held for ever */
    wrong += error != 0;
    if (called(unhold, object_in(i), &error))
        wrong += error != 0;
}

static void refresh(int i)
{
    intptr_t error;

    look(i);
    if (i % 16 == 5)
        hold_between(i);
    if (called(is_global(i) ? refresh_global : refresh_once, object_in(i), &error))
        wrong += error != 0;
    else
        slot[i] = 0;
}

/* Nobody else has got its bytes, and they lie in the region. */
static void look_at_pieces(void)
{
    for (int i = 0; i < pieces; i++) {
        wrong += SGC_region_of(piece[i]) != region || SGC_region_of(piece[i] + PIECE - 1) != region;
        for (int j = 0; j < PIECE; j++)
            wrong += piece[i][j] != (unsigned char)i;
    }
    pieces = 0;
}

/* It is used again and again, whatever was left.  It has no date until it is full, and is empty after some periods then. */
static void use_region(void)
{
    intptr_t result;

    if (region == NULL)
        region = called(new_region, NULL, &result) ? (SGC_region_t *)result : NULL;
    if (rest > 0 && rest-- > 0)
        return;
    for (int i = 0; i < 60 && region != NULL && pieces < PIECES; i++)
        if (called(fill_region, NULL, &result) && result != 0) {
            piece[pieces] = (unsigned char *)result;
            memset(piece[pieces], pieces, PIECE);
            pieces++;
        }
    if (region != NULL && pieces == PIECES) {
        look_at_pieces();
        rest = REST;
        called(refresh_region, NULL, &result);
    }
}

/* A clock, of which nobody knows anything any more when a call with it was left, and a region. */
static void use_others(int number)
{
    intptr_t result;

    called(expire, NULL, &result);
    if (rhythm == NULL)
        rhythm = called(new_clock, NULL, &result) ? (SGC_clock_t *)result : NULL;
    if (rhythm != NULL && (!called(refresh_clock, slot[0] != 0 ? object_in(0) : NULL, &result) ||
                           !called(tick_clock, NULL, &result)))
        rhythm = NULL;
    if (rhythm != NULL && number % 8 == 0) {
        called(release_clock, NULL, &result);
        rhythm = NULL;
    }
    use_region();
}

/* One tick of each clock at most: so what was refreshed with 1 is there in the next one. */
static void one_period(int number)
{
    intptr_t error;

    for (int i = 0; i < SLOTS; i++)
        if (slot[i] == 0 || (i + number) % 10 == 0)
            fill(i);
        else
            refresh(i);
    use_others(number);
    if (called(tick, NULL, &error))
        wrong += error != 0;
    if (called(tick_global, NULL, &error))
        wrong += error != 0;
    if (number % 16 == 0)
        GC_gcollect();
    for (int i = 0; i < SLOTS; i++)
        if (slot[i] != 0)
            look(i);
}

/* ---- the test ---- */

static void let_jump(long microseconds)
{
    struct itimerval each = { { 0, microseconds }, { 0, microseconds } };
    struct sigaction action = { .sa_handler = jump, .sa_flags = SA_RESTART };

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &each, NULL);
}

/* Findings: old words on the stack. */
static void be_silent(void)
{
    int nowhere = open("/dev/null", O_WRONLY);

    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

static int jumps_out(void)
{
    time_t end = time(NULL) + SECONDS;

    if (TEST_SANITIZED)
        return CHILD_SKIPS;
    if (mode == SGC_SHORTTERM_VERIFY)
        be_silent();
    choose(mode, 3, collect, -1, 64);
    SGC_join_time();
    let_jump(100);
    for (int number = 0; wrong == 0 && jumps < ENOUGH && time(NULL) < end; number++)
        one_period(number);
    let_jump(0);
    memset(slot, 0, sizeof slot);
    for (int i = 0; i < 8; i++)
        wrong += SGC_tick() != 0 || SGC_tick_global() != 0;
    GC_gcollect();
    GC_gcollect();
    if (jumps == 0)
        return CHILD_SKIPS;
    return wrong != 0 || SGC_check() != 0;
}

/* ---- after each instruction ---- */

/* Where a call is left: the first list comes to the queue, or the second; the first page of the queue leaves it, up to where it
 * is given back; or an object loses its last date, up to where it is freed. */
enum place { NOWHERE, APPEND_FIRST, APPEND_SECOND, LEAVE_PAGE, LOSE_LAST };

static enum place place;

void __real_sgc_date_queue_append(struct sgc_date_queue *queue, struct sgc_date_list *list);
void __wrap_sgc_date_queue_append(struct sgc_date_queue *queue, struct sgc_date_list *list);
void __real_sgc_date_pages_give(struct sgc_date_pool *pool, struct sgc_date_page *first, struct sgc_date_page *last,
                                struct sgc_section *self);
void __wrap_sgc_date_pages_give(struct sgc_date_pool *pool, struct sgc_date_page *first, struct sgc_date_page *last,
                                struct sgc_section *self);
struct sgc_dropped __real_sgc_drop(struct sgc_cache *cache, const uintptr_t *objects, size_t count);
struct sgc_dropped __wrap_sgc_drop(struct sgc_cache *cache, const uintptr_t *objects, size_t count);

void __wrap_sgc_date_queue_append(struct sgc_date_queue *queue, struct sgc_date_list *list)
{
    bool steps = place == APPEND_FIRST || place == APPEND_SECOND;

    if (steps)
        trap_on();
    __real_sgc_date_queue_append(queue, list);
    if (steps)
        trap_off();
}

void __wrap_sgc_date_pages_give(struct sgc_date_pool *pool, struct sgc_date_page *first, struct sgc_date_page *last,
                                struct sgc_section *self)
{
    if (place == LEAVE_PAGE)
        trap_off();
    __real_sgc_date_pages_give(pool, first, last, self);
}

struct sgc_dropped __wrap_sgc_drop(struct sgc_cache *cache, const uintptr_t *objects, size_t count)
{
    if (place == LOSE_LAST)
        trap_off();
    return __real_sgc_drop(cache, objects, count);
}

#if defined(__x86_64__)

/* Dates of a round: the second page of those that are over has less than the first. */
enum { LIVING = 4, FIRST = 5, SECOND = 2, PLAIN = 3000, BYTES = WORDS * sizeof(uintptr_t) };

static uintptr_t *living[LIVING], *plain[PLAIN];
static long steps, leave_after;

/* The program's signals would not come while there is a guard. */
static void after_step(TEST_UNUSED int signal)
{
    if (sgc_self->section.guards == 0 && ++steps == leave_after)
        siglongjmp(out, 1);
}

/* False: it was left. */
TEST_NOINLINE static bool returns(enum place where)
{
    bool returned = false;

    steps = 0;
    place = where;
    if (sigsetjmp(out, 1) == 0) {
        if (where == LEAVE_PAGE || where == LOSE_LAST) {
            trap_on();
            SGC_expire(1);
            trap_off();
        } else {
            SGC_tick();
        }
        returned = true;
    }
    place = NOWHERE;
    return returned;
}

static void make_over(int count)
{
    for (int i = 0; i < count; i++)
        memset(SGC_malloc_dated(BYTES, 0, SGC_SHORTTERM_FREEABLE), 0x5a, BYTES);
}

static void make(uintptr_t **object, int count)
{
    for (int i = 0; i < count; i++) {
        object[i] = GC_MALLOC(BYTES);
        for (int w = 0; w < WORDS; w++)
            object[i][w] = (uintptr_t)(i * WORDS + w);
    }
}

static bool are_whole(uintptr_t *const *object, int count)
{
    bool whole = true;

    for (int i = 0; i < count; i++)
        for (int w = 0; w < WORDS; w++)
            whole = whole && object[i][w] == (uintptr_t)(i * WORDS + w);
    return whole;
}

/* Others get the places of what is free. */
static void churn(void)
{
    for (int i = 0; i < 2 * SLOTS; i++)
        memset(GC_MALLOC(BYTES), 0x55, BYTES);
}

/* Objects that were never marked as freeable, and to which something leads, outlive their dates; some lie where a freeable one
 * lay that was lost. */
static bool are_plain_kept(void)
{
    bool dated = true;

    GC_gcollect();
    make(plain, PLAIN);
    for (int i = 0; i < PLAIN; i++)
        dated = dated && SGC_refresh(plain[i], 0) == 0;
    SGC_tick();
    SGC_expire(SIZE_MAX);
    churn();
    return dated && are_whole(plain, PLAIN);
}

/* Numbers that jumps have left too high are right again: else no object there would lose its last date. */
static void begin_again(void)
{
    SGC_expire(SIZE_MAX);
    sgc_counts_doubt();
    GC_gcollect();
}

/* Objects with a date that is not over outlive a call that is left at that place, and lists are in order. */
static bool is_right_after(enum place where, bool *left)
{
    bool dated = true;

    begin_again();
    for (int i = 0; i < LIVING; i++)
        dated = dated && SGC_refresh(living[i], 3) == 0;
    make_over(FIRST);
    if (where != APPEND_FIRST)
        SGC_tick();
    make_over(SECOND);
    if (where == LEAVE_PAGE || where == LOSE_LAST) {
        uint64_t first = figures().expired;

        SGC_tick();
        SGC_expire(first - (where == LEAVE_PAGE ? 1 : 2));
    }
    *left = !returns(where);
    make_over(SECOND);
    if (mode == SGC_SHORTTERM_HYBRID)
        return dated && are_plain_kept() && are_whole(living, LIVING);
    SGC_tick();
    SGC_expire(SIZE_MAX);
    churn();
    return dated && are_whole(living, LIVING);
}

/* Until a call comes to its end. */
static bool at_each_step(enum place where)
{
    bool left = true, right = true;

    for (leave_after = 1; left && right; leave_after++)
        right = is_right_after(where, &left);
    tap_diag("%ld steps%s", leave_after - 1, right ? "" : ": wrong after the last");
    return right;
}

/* Only SGC_expire takes dates off. */
static int left_at_each_step(void)
{
    struct sigaction action = { .sa_handler = after_step };
    int last = mode == SGC_SHORTTERM_HYBRID ? LOSE_LAST : LEAVE_PAGE;
    bool right = true;

    choose(mode, 4, SGC_SHORTTERM_LAZY, 0, 256);
    if (sigaction(SIGTRAP, &action, NULL) != 0)
        return 100;
    make(living, LIVING);
    for (int where = APPEND_FIRST; where <= last; where++)
        right = right && at_each_step((enum place)where);
    return !right || SGC_check() != 0;
}

#else

static int left_at_each_step(void)
{
    return CHILD_SKIPS;
}

#endif

int main(void)
{
    unsetenv("SGC_SHORTTERM");
    setenv("SGC_MODE", "stop", 1);
    tap_plan(10);
    for (mode = 0; mode < 4; mode++)
        for (collect = SGC_SHORTTERM_LAZY; collect <= SGC_SHORTTERM_EAGER; collect++)
            child_ok(jumps_out, "%s, %s: calls are left by jumps, and objects are as they were", mode_names[mode],
                     collect == SGC_SHORTTERM_LAZY ? "lazily" : "eagerly");
    for (mode = SGC_SHORTTERM_FREE; mode <= SGC_SHORTTERM_HYBRID; mode++)
        child_ok_of(TEST_SANITIZED ? CHILD_SKIPS : left_at_each_step(), "%s: a tick is left after each instruction",
                    mode_names[mode]);
    return tap_done();
}
