/* SPDX-License-Identifier: MIT */
/*
 * shortterm/dates/count.c under the memory orders of C11, every run of small plays (tests/lib/weak.h).
 *
 * First each play must be right: one thread is told that it has the object to itself, when all dates are gone, it sees what
 * the others did to the object, and nothing stays of what it frees.  Then each order is taken away, one at a time; the table
 * says which of them some play misses.
 *
 * An access that is not in the table is an error, so this is also the list of all of them.
 */
#include "tests/lib/weak_sc.h"

#include "platform/report.h"
#include "tests/lib/sanitized.h"

#undef sgc_assert
#define sgc_assert(e) ((e) ? (void)0 : weak_fail(#e))

#include "shortterm/dates/count.c"

/* ---- plays ---- */

static const struct weak_play *now;
static struct sgc_count count;
static sgc_a32_t touched[WEAK_THREADS];         /* what each thread does to the object while it has a date */
static sgc_aw_t knows, answer;                  /* messages between threads */
static int dates, lasts;
static bool early, unseen;

/* The play begins with so many dates of the owner, and of the others. */
static void before(void)
{
    count.own.value = (uint8_t)now->with[0];
    count.others.value = (uint8_t)now->with[1];
    dates = sgc_count_number(count.own.value) + (int)now->with[1];
    for (int i = 0; i < WEAK_THREADS; i++)
        touched[i].value = 0;
    knows.value = answer.value = 0;
    lasts = 0;
    early = unseen = false;
}

/* What the next object there begins with. */
static bool is_left(const sgc_a8_t *byte)
{
    const struct weak_variable *v = &weak.variable[weak_find(byte, byte->value)];

    return v->value[v->count - 1].value != 0;
}

static const char *after(void)
{
    if (early)
        return "an object with a date has no last one any more";
    if (lasts > 1)
        return "two have the object to themselves";
    if (unseen)
        return "not all that was done to the object is seen";
    if (lasts == 1 && (is_left(&count.own) || is_left(&count.others)))
        return "the next object there does not begin without dates, and unmarked";
    return lasts == (dates == 0) ? NULL : "nobody is told";
}

static void look(void)
{
    for (int i = 0; i < WEAK_THREADS; i++)
        if (now->body[i] != NULL && sgc_a32_load(&touched[i]) == 0)
            unseen = true;
}

/* The date is gone as soon as that begins: who has a date has it until then.  Who has the object to itself frees it. */
static void take(bool other)
{
    bool last, stuck = false;

    dates--;
    last = other ? sgc_count_take_other(&count) : sgc_count_take_own(&count, &stuck);
    if (!last)
        return;
    lasts++;
    early = early || dates != 0;
    look();
    sgc_count_clear_bit(&count);
}

static void touch(void)
{
    sgc_a32_store(&touched[weak.current], 1);
}

static void owner_takes(void)
{
    touch();
    take(false);
}

static void owner_takes_two(void)
{
    touch();
    take(false);
    take(false);
}

static void other_takes(void)
{
    touch();
    take(true);
}

/* The owner comes back, while another thread has a date, and does not give it up before it knows that. */
static void owner_comes_back(void)
{
    touch();
    take(false);
    sgc_count_add_own(&count);
    dates++;
    sgc_aw_cas(&knows, 0, 1);
    take(false);
}

static void second_waits(void)
{
    touch();
    if (sgc_aw_load_acq(&knows) != 0)
        take(true);
}

/* Another thread hears of the object from its owner, who waits for it. */
static void second_hears(void)
{
    touch();
    if (sgc_aw_load_acq(&knows) == 0)
        return;
    dates++;
    sgc_count_add_other(&count);
    sgc_aw_cas(&answer, 0, 1);
    take(true);
}

static void owner_tells(void)
{
    touch();
    sgc_count_add_own(&count);
    dates++;
    sgc_aw_cas(&knows, 0, 1);
    if (sgc_aw_load_acq(&answer) != 0)
        take(false);
}

static const struct weak_play plays[] = {
    { "the owner and another", 0, { 1, 1 }, { owner_takes, other_takes }, false, NULL },
    { "the owner and another, freeable", 0, { SGC_COUNT_FREEABLE | 1, 1 }, { owner_takes, other_takes }, false, NULL },
    { "two others", 0, { 0, 2 }, { other_takes, other_takes }, false, NULL },
    { "two of the owner's", 0, { 2, 1 }, { owner_takes_two, other_takes }, false, NULL },
    { "the owner comes back", 0, { 1, 1 }, { owner_comes_back, second_waits }, false, NULL },
    { "the owner tells another", 0, { 0, 0 }, { owner_tells, second_hears }, false, NULL },
};

static const char *run_play(const struct weak_play *play, size_t *runs)
{
    now = play;
    return weak_explore_sc(before, play->body, after, runs);
}

static const struct weak_access accesses[] = {
    /* the owner */
    { "sgc_count_add_own", "load", 0, RELAXED, "its own; and what the others have been told was told by it" },
    { "sgc_count_add_own", "store", 0, RELAXED, "who reads it has been told of the object after that" },
    { "sgc_count_add_slowly", "load", 0, RELAXED, "its own; and the exchange finds out" },
    { "sgc_count_add_slowly", "cas", WEAK_ACQUIRE, NOT_MISSED, "it learns nothing by that" },
    { "sgc_count_add_slowly", "cas", WEAK_RELEASE, NOT_MISSED, "who waits for it is told otherwise" },
    { "sgc_count_add_slowly", "store", 0, RELAXED, "as above" },
    { "sgc_count_take_own", "load", 0, RELAXED, "its own" },
    { "sgc_count_take_own", "load_acq", WEAK_ACQUIRE, MISSED, "what the others did, who are gone" },
    { "sgc_count_take_own", "store", 0, RELAXED, "nobody else has a date" },
    { "sgc_count_leave_alone", "load_acq", WEAK_ACQUIRE, MISSED, "likewise, of others who have just gone" },
    { "sgc_count_leave_alone", "cas", WEAK_ACQUIRE, NOT_MISSED, "the others have dates, so nothing is done with the object" },
    { "sgc_count_leave_alone", "cas", WEAK_RELEASE, MISSED, "what the owner did" },
    { "sgc_count_leave_alone", "add", WEAK_ACQUIRE, NOT_MISSED, "the exchange before it has decided" },
    { "sgc_count_leave_alone", "add", WEAK_RELEASE, NOT_MISSED, "likewise" },
    /* the others */
    { "sgc_count_add_other", "load", 0, RELAXED, "the exchange finds out" },
    { "sgc_count_add_other", "cas", WEAK_ACQUIRE, NOT_MISSED, "it learns nothing by that" },
    { "sgc_count_add_other", "cas", WEAK_RELEASE, NOT_MISSED, "it has done nothing yet" },
    { "sgc_count_take_other", "load", 0, RELAXED, "the exchange finds out; one before and one after the look at the owner's" },
    { "sgc_count_take_other", "cas", WEAK_ACQUIRE, MISSED, "what the owner and others did, who are gone" },
    { "sgc_count_take_other", "cas", WEAK_RELEASE, MISSED, "what this thread did" },
    /* who has the object to itself */
    { "sgc_count_clear_bit", "load", 0, RELAXED, "the bit does not change meanwhile" },
    { "sgc_count_clear_bit", "store", 0, RELAXED, "nobody else has it" },
    { "sgc_count_clear_bit", "and", WEAK_ACQUIRE, NOT_MISSED, "the exchange before it has decided" },
    { "sgc_count_clear_bit", "and", WEAK_RELEASE, NOT_MISSED, "who comes next there has it by how the place is freed" },
    /* of the plays */
    { "touch", "store", 0, RELAXED, "what is done to the object" },
    { "look", "load", 0, RELAXED, "what was done" },
    { "owner_comes_back", "cas", WEAK_ACQUIRE, NOT_MISSED, "the owner tells that it is back" },
    { "owner_comes_back", "cas", WEAK_RELEASE, MISSED, "the owner tells that it is back" },
    { "second_waits", "load_acq", WEAK_ACQUIRE, MISSED, "the other one hears that" },
    { "owner_tells", "cas", WEAK_ACQUIRE, NOT_MISSED, "the owner tells of the object" },
    { "owner_tells", "cas", WEAK_RELEASE, MISSED, "the owner tells of the object" },
    { "owner_tells", "load_acq", WEAK_ACQUIRE, MISSED, "and hears that the other one has a date" },
    { "second_hears", "load_acq", WEAK_ACQUIRE, MISSED, "the other one hears of it" },
    { "second_hears", "cas", WEAK_ACQUIRE, NOT_MISSED, "and tells that it has a date" },
    { "second_hears", "cas", WEAK_RELEASE, MISSED, "and tells that it has a date" },
};

int main(void)
{
    static const struct weak_test test = {
        run_play, plays, accesses, sizeof plays / sizeof *plays, sizeof accesses / sizeof *accesses, 10,
    };

    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer does not follow coroutines");
    return weak_test_all(&test);
}
