/* SPDX-License-Identifier: MIT */
/*
 * mark/work/deque.c and mark/work/futex_lock.c under the memory orders of C11, every run of small plays (tests/lib/weak.h).
 *
 * First each play must be right: every piece goes to exactly one marker and arrives as it was pushed.  Then each
 * acquire and each release is taken away, one at a time; the table says which of them some play misses.  An access
 * that is not in the table is an error, so this is also the list of all of them.
 */
#define WEAK_DEFERRED "sgc_deque_entry_get"
#include "tests/lib/weak.h"

#include "platform/platform.h"
#include "platform/report.h"
#include "tests/lib/sanitized.h"

#undef sgc_assert
#define sgc_assert(e) ((e) ? (void)0 : weak_fail(#e))
#define sgc_spin_hint() weak_pass_time()
#define sgc_wait(word, expected, timeout) wait_on((word), (expected))
#define sgc_wake(word, count) ((void)0)
#define SGC_FUTEX_SPINS 1

static void wait_on(const sgc_a32_t *word, uint32_t expected)
{
    const struct weak_variable *v = &weak.variable[weak_find(word, word->value)];

    while (v->value[v->count - 1].value == expected)
        weak_pass_time();
}

#include "mark/work/futex_lock.c"
#include "mark/work/deque.c"

enum { OWNER, THIEF, THIRD, PLACES = 8 };

static const struct weak_play *now;
static struct sgc_deque deques[WEAK_THREADS];
static struct sgc_deque_entry memory[WEAK_THREADS][PLACES];

static uint32_t pushed;                 /* a bit a piece */
static bool forgot;                     /* pieces were given up: some may be missing */
static struct sgc_work done[32];
static size_t dones;

static void before(void)
{
    memset(memory, 0, sizeof memory);
    for (size_t i = 0; i < WEAK_THREADS; i++)
        deques[i] = (struct sgc_deque){
            .memory = { memory[i], now->with[0], now->with[0], true },
            .form = (enum sgc_stack_form)now->form,
            .entries = memory[i],
        };
    pushed = 0;
    forgot = false;
    dones = 0;
}

/* What is public in the end and nobody's. */
static uint32_t left_over(void)
{
    const struct weak_variable *v = &weak.variable[weak_find(&deques[OWNER].word, 0)];
    uintptr_t word = v->value[v->count - 1].value;
    uint32_t left = 0;

    for (size_t i = 0; i < sgc_public_length(word); i++) {
        v = &weak.variable[weak_find(&memory[OWNER][sgc_public_bottom(word) + i].bytes, 0)];
        left |= UINT32_C(1) << v->value[v->count - 1].value;
    }
    return left;
}

static const char *after(void)
{
    uint32_t seen = left_over();

    for (size_t i = 0; i < dones; i++) {
        uintptr_t start = weak_value_of(done[i].start), number = weak_value_of(done[i].bytes);

        if (start != number * 8)
            return "a piece made of two";
        if (number >= 32 || (pushed >> number & 1) == 0)
            return "a piece that nobody pushed";
        if ((seen >> number & 1) != 0)
            return "a piece done twice";
        seen |= UINT32_C(1) << number;
    }
    return seen == pushed || forgot ? NULL : "a piece lost";
}

/* ---- what threads do ---- */

static void push(size_t from, size_t to)
{
    for (; from <= to; from++)
        if (sgc_deque_push(&deques[OWNER], from * 8, from))
            pushed |= UINT32_C(1) << from;
}

static bool pop(void)
{
    struct sgc_work work;

    if (!sgc_deque_pop(&deques[OWNER], &work))
        return false;
    done[dones++] = work;
    return true;
}

/* Looks at what it got only in the end, so that nothing but the theft itself orders the loads. */
static void steal(int self, enum sgc_steal how, int times)
{
    struct sgc_deque *d = &deques[self];

    while (times-- > 0)
        sgc_deque_steal(&deques[OWNER], d, how);
    for (size_t i = 0; i < d->top; i++)
        sgc_deque_entry_get(&d->entries[i], &done[dones++]);
}

static void twice(void) { steal(THIEF, SGC_STEAL_HALF, 2); }
static void once(void) { steal(THIEF, SGC_STEAL_HALF, 1); }
static void third(void) { steal(THIRD, SGC_STEAL_ONE, 1); }

/* The owner's script: so many pieces are pushed, s: it shares, -: it pops one, *: all, r: it resets. */
static void owner(void)
{
    size_t next = 1;

    for (const char *step = now->script; *step != '\0'; step++)
        switch (*step) {
        case 's':
            sgc_deque_share(&deques[OWNER]);
            break;
        case '-':
            pop();
            break;
        case '*':
            while (pop())
                continue;
            break;
        case 'r':
            sgc_deque_reset(&deques[OWNER]);
            forgot = true;
            break;
        default:
            push(next, next + (size_t)(*step - '1'));
            next += (size_t)(*step - '0');
        }
}

/* ---- plays ---- */

/* Those of a deque that has memory for so many pieces. */
static const struct weak_play plays[] = {
    { "split, take back and share again", SGC_STACK_SPLIT, { PLACES }, { owner, twice }, false, "4s---2s*" },
    { "split, begin anew below", SGC_STACK_SPLIT, { PLACES }, { owner, twice }, false, "2s--2s--2s*" },
    { "split, move down for room", SGC_STACK_SPLIT, { 4 }, { owner, twice }, false, "4s2s*" },
    /* What is shared the second time looks like the first. */
    { "split, begin anew, two thieves", SGC_STACK_SPLIT, { PLACES }, { owner, once, third }, true, "2s--2s*" },
    { "split, move down, two thieves", SGC_STACK_SPLIT, { 4 }, { owner, twice, third }, true, "4s2s*" },
    { "split, reset and fill", SGC_STACK_SPLIT, { PLACES }, { owner, twice }, false, "4sr4s*" },
    { "split, two thieves", SGC_STACK_SPLIT, { PLACES }, { owner, once, third }, false, "4s*" },
    { "locked, take back", SGC_STACK_LOCKED, { PLACES }, { owner, once }, false, "2s*" },
    { "locked, two thieves", SGC_STACK_LOCKED, { PLACES }, { owner, once, third }, true, "2s-" },
};

static const char *run_play(const struct weak_play *play, size_t *runs)
{
    now = play;
    return weak_explore(before, play->body, after, runs);
}

/* "By a branch": a write that depends on a load by a branch comes after it on every processor and is
 * not explored otherwise; C11 alone would not promise that, so the acquire stays. */
static const struct weak_access accesses[] = {
    /* pieces */
    { "sgc_deque_entry_set", "store", 0, RELAXED, "the word publishes it" },
    { "sgc_deque_entry_get", "load", 0, RELAXED, "between a thief's acquire of the word and its release of it" },
    /* the word: owner */
    { "sgc_deque_seems_empty", "load", 0, RELAXED, "only the owner's next step or a theft makes use of it" },
    { "sgc_deque_publish", "store_rel", WEAK_RELEASE, MISSED, "the pieces that become public" },
    { "take_back", "load_acq", WEAK_ACQUIRE, NOT_MISSED,
      "pushes depend on it by a branch; the end of marking needs it: mark/work/termination.h" },
    { "all_stolen", "load_acq", WEAK_ACQUIRE, NOT_MISSED, "the slide depends on it by a branch" },
    /* the word: owner and thieves */
    { "replace", "cas", WEAK_ACQUIRE, NOT_MISSED, "the look before it was an acquire" },
    { "replace", "cas", WEAK_RELEASE, MISSED, "a thief has read its pieces" },
    { "replace", "store_rel", WEAK_RELEASE, NOT_MISSED, "the lock does it, or a branch" },
    { "sgc_deque_steal", "load_acq", WEAK_ACQUIRE, MISSED, "the pieces that are public" },
    /* the lock */
    { "take_spinning", "load", 0, RELAXED, "whoever sees it free tries" },
    { "take_spinning", "cas", WEAK_ACQUIRE, MISSED, "what the last holder did" },
    { "take_spinning", "cas", WEAK_RELEASE, NOT_MISSED, "who takes it has nothing to pass on" },
    { "sgc_futex_lock", "swap", WEAK_ACQUIRE, MISSED, "what the last holder did" },
    { "sgc_futex_lock", "swap", WEAK_RELEASE, NOT_MISSED, "who takes it has nothing to pass on" },
    { "sgc_futex_unlock", "swap", WEAK_ACQUIRE, NOT_MISSED, "it learns only whether somebody sleeps" },
    { "sgc_futex_unlock", "swap", WEAK_RELEASE, MISSED, "what this holder did" },
};

int main(void)
{
    static const struct weak_test test = {
        run_play, plays, accesses, sizeof plays / sizeof *plays, sizeof accesses / sizeof *accesses, 100,
    };

    if (TEST_SANITIZED)
        tap_skip_all("coroutines that are left behind confuse a sanitizer; orders are the same in every build");
    return weak_test_all(&test);
}
