/* SPDX-License-Identifier: MIT */
/*
 * gc/pacing/help_rules.h: what a byte is worth; and programs that are simulated beside a mark, which has to be over before they
 * have allocated much more than there is room for: with few threads and many, few processors and many, small objects and large
 * ones, a mark that they can take part in and one that only its lead gets on with.
 */
#include "gc/pacing/help_rules.h"
#include "tests/lib/random.h"
#include "tests/lib/tap.h"

#define MB ((size_t)1 << 20)

enum { CASES = 100000, PROGRAMS = 100000, MAX_THREADS = 16, STEPS_MAX = 20000 };

static uint64_t state = 1;

static uint64_t draw(uint64_t low, uint64_t high)
{
    return low + random_word(&state) % (high - low + 1);
}

/* ---- the rules ---- */

/* Who allocates more is not worth less; what takes longer to mark makes a byte worth more, and more room less. */
static bool is_monotonic(void)
{
    for (int i = 0; i < CASES; i++) {
        size_t bytes = draw(0, 1000 * MB), room = draw(1, 1000 * MB), more = bytes + draw(0, MB), larger = room + draw(0, MB);
        uint64_t ns = draw(0, 10000000000), longer = ns + draw(0, 1000000), worth = sgc_help_worth_ns(ns, bytes, room);

        if (sgc_help_worth_ns(ns, more, room) < worth || sgc_help_worth_ns(longer, bytes, room) < worth ||
            sgc_help_worth_ns(ns, bytes, larger) > worth)
            return false;
    }
    return true;
}

/* Who allocates the room in pieces has marked for as long as the mark takes, but for a nanosecond a piece. */
static bool room_is_worth_mark(void)
{
    for (int i = 0; i < CASES / 100; i++) {
        size_t room = draw(1, 1000 * MB), piece = room / draw(1, 500) + 1;
        uint64_t ns = draw(0, 10000000000), sum = 0, pieces = 0;

        for (size_t left = room; left != 0; pieces++) {
            size_t now = left < piece ? left : piece;

            sum += sgc_help_worth_ns(ns, now, room);
            left -= now;
        }
        if (sum > ns || sum + pieces < ns)
            return false;
    }
    return true;
}

static bool ends_of_the_range(void)
{
    return sgc_help_worth_ns(0, SIZE_MAX, 1) == 0 && sgc_help_worth_ns(UINT64_MAX, 0, 1) == 0 &&
           sgc_help_worth_ns(UINT64_MAX, SIZE_MAX, 1) == UINT64_MAX && sgc_help_worth_ns(UINT64_MAX, 5, 5) == UINT64_MAX &&
           sgc_help_worth_ns(1, 1, SIZE_MAX) == 0 && sgc_help_rests(1, 1) == 2 && sgc_help_rests(1, UINT32_MAX) == 1 &&
           sgc_help_rests(UINT32_MAX, 1) > UINT32_MAX && sgc_help_piece_ns(5) == 5 &&
           sgc_help_piece_ns(UINT64_MAX) == SGC_HELP_PIECE_NS && sgc_help_rest_ns(1000, 3) == 3000 &&
           sgc_help_rest_ns(SGC_HELP_PIECE_NS, UINT64_MAX) == SGC_HELP_REST_NS;
}

static bool rests_are_monotonic(void)
{
    for (int i = 0; i < CASES; i++) {
        uint32_t threads = (uint32_t)draw(1, 10000), processors = (uint32_t)draw(1, 1000);

        if (sgc_help_rests(threads + 1, processors) <= sgc_help_rests(threads, processors) ||
            sgc_help_rests(threads, processors + 1) > sgc_help_rests(threads, processors))
            return false;
    }
    return true;
}

/* A thread that helps in pieces, of which it marks in some and rests in others, waits for as long as its bytes are worth; and
 * as much longer as the last of them took longer than it was to. */
static bool waits_as_long_as_worth(void)
{
    for (int i = 0; i < CASES; i++) {
        uint64_t worth = draw(1, 10000000), rests = draw(1, 50), late = 0;
        struct sgc_helped h = { 0, 0, 0 };

        while (h.done_ns < worth) {
            uint64_t piece = sgc_help_piece_ns(worth - h.done_ns), planned;
            bool marks = draw(0, 1) != 0;

            planned = marks ? piece : sgc_help_rest_ns(piece, rests);
            late = draw(0, 9) == 0 ? draw(0, 10000000) : 0;
            sgc_helped_add(&h, planned + late, marks ? piece : 0, rests);
        }
        if (h.waited_ns > sgc_help_wait_ns(worth, h.marked_ns, rests) + late)
            return false;
    }
    return sgc_help_wait_ns(UINT64_MAX, 0, UINT64_MAX) == UINT64_MAX && sgc_help_wait_ns(5, 9, 3) == 5 &&
           sgc_help_wait_ns(5, 2, 3) == 11;
}

/* ---- simulated programs ---- */

/* A thread allocates a batch, which takes some time of a processor, and then marks for what that is worth, or rests. */
struct thread {
    enum { ALLOCATES, MARKS, RESTS } what;
    size_t batch;
    double left;                        /* nanoseconds: of a processor, or of the clock if it rests */
};

struct program {
    uint32_t threads, processors;
    size_t room;
    double mark_ns, ps;                 /* how long the mark takes, and the program for a byte */
    bool shared;                        /* do threads find anything to mark? */
    struct thread thread[MAX_THREADS];
};

static void draw_program(struct program *p)
{
    *p = (struct program){ .threads = (uint32_t)draw(1, MAX_THREADS), .processors = (uint32_t)draw(1, 8) };
    p->room = draw(1, 500) * MB;
    p->ps = (double)draw(1, 2000);
    p->shared = draw(0, 1) != 0;
    p->mark_ns = (double)draw(1, 500) * 1e6;
    for (uint32_t i = 0; i < p->threads; i++) {
        p->thread[i].batch = p->room / draw(1, 300) + 1;
        p->thread[i].left = (double)p->thread[i].batch * p->ps / 1000;
    }
}

/* The part of a processor that each has that runs; the lead is one of them. */
static double share(const struct program *p)
{
    uint32_t run = 1;

    for (uint32_t i = 0; i < p->threads; i++)
        run += p->thread[i].what != RESTS;
    return run <= p->processors ? 1 : (double)p->processors / run;
}

/* The nanoseconds until the first thread has something else to do, or the mark is over. */
static double until_next(const struct program *p, double part, double marked)
{
    double next = (p->mark_ns - marked) / part;

    for (uint32_t i = 0; i < p->threads; i++) {
        double ns = p->thread[i].left / (p->thread[i].what == RESTS ? 1 : part);

        if (ns < next)
            next = ns;
    }
    return next;
}

/* A batch that is there is paid for, and then comes the next. */
static size_t turn(const struct program *p, struct thread *t)
{
    double worth = (double)sgc_help_worth_ns((uint64_t)p->mark_ns, t->batch, p->room);

    if (t->what != ALLOCATES) {
        t->what = ALLOCATES;
        t->left = (double)t->batch * p->ps / 1000;
        return 0;
    }
    t->what = p->shared ? MARKS : RESTS;
    t->left = p->shared ? worth : worth * (double)sgc_help_rests(p->threads, p->processors);
    return t->batch;
}

/* What is allocated when the mark is over; SIZE_MAX: it never is. */
static size_t simulate(struct program *p)
{
    double marked = 0;
    size_t allocated = 0;

    for (int step = 0; step < STEPS_MAX; step++) {
        double part = share(p), ns = until_next(p, part, marked);

        marked += ns * part;
        for (uint32_t i = 0; i < p->threads; i++) {
            struct thread *t = &p->thread[i];

            marked += t->what == MARKS ? ns * part : 0;
            t->left -= t->what == RESTS ? ns : ns * part;
            if (t->left < 1)
                allocated += turn(p, t);
        }
        if (marked + 1 >= p->mark_ns)
            return allocated;
    }
    return SIZE_MAX;
}

/* No more than the room, and what each thread had in hand. */
static void check_programs(void)
{
    struct program p;
    size_t worst = 0, late = 0, endless = 0;

    for (int i = 0; i < PROGRAMS; i++) {
        size_t in_hand = 0, allocated;

        draw_program(&p);
        for (uint32_t k = 0; k < p.threads; k++)
            in_hand += 2 * p.thread[k].batch;
        allocated = simulate(&p);
        endless += allocated == SIZE_MAX;
        late += allocated != SIZE_MAX && allocated > p.room + p.room / 100 + in_hand;
        if (allocated != SIZE_MAX && allocated / (p.room / 100) > worst)
            worst = allocated / (p.room / 100);
    }
    tap_ok(endless == 0, "%d programs: each mark is over", PROGRAMS);
    tap_ok(late == 0, "and before more is allocated than there was room for, and what threads had in hand (at most %zu %%)",
           worst);
}

int main(void)
{
    tap_plan(7);
    tap_ok(is_monotonic(), "more bytes, a longer mark and less room are worth more");
    tap_ok(room_is_worth_mark(), "the room is worth the mark, in pieces of any size");
    tap_ok(ends_of_the_range(), "nothing overflows, and what is unknown is worth nothing");
    tap_ok(rests_are_monotonic(), "with more threads each rests longer, with more processors not");
    tap_ok(waits_as_long_as_worth(), "no wait is longer than it was worth, but for the lateness of its last piece");
    return tap_all(check_programs);
}
