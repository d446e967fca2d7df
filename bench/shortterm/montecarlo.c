/* SPDX-License-Identifier: MIT */
/*
 * A Monte Carlo simulation after the idea of Java Grande's, the program of [SCM] tables 2 and 4 and figures 9 to 14: prices
 * walk at random, and of each walk a few moments are kept.  All tasks are made first, each takes its result, and the walk of a
 * round, a header and two series, is not needed when the next begins.
 *
 *     --walks N        rounds, of each instance
 *     --steps N        prices of a walk
 *     --every T        a tick each T-th round; with --extension N this is SCM(N, T) of the paper
 *     --leak 1         results keep their walks, though nobody looks at them: to a tracing collector these are alive
 *     --instances N    so many simulations at once, each a thread; the paper has one and four
 *
 * As a port of the program by hand: `app_free` where a walk is done with, unless it is kept; with dates, refresh(walk, 0) after
 * its creation and a tick at the end of the loop.  In mode free the walks that results keep are dangling pointers then, which
 * nobody follows: a leak that does no harm.
 *
 * The check: some walks are simulated once more without memory, and all moments together are near what was put in.
 */
#include <math.h>
#include <stdlib.h>

#include "bench/shortterm/app.h"

enum { WALKS, STEPS, EVERY, LEAK, INSTANCES, PARAMETERS };
enum { CHECKED_EACH = 97 };

static struct app_parameter parameters[PARAMETERS] = {
    [WALKS] = { "walks", 1, 10000000, 400, 10000, 0, NULL },
    [STEPS] = { "steps", 2, 10000000, 100, 1000, 0, NULL },
    [EVERY] = { "every", 1, 1000000, 1, 1, 0, NULL },
    [LEAK] = { "leak", 0, 1, 0, 0, 0, NULL },
    [INSTANCES] = { "instances", 1, 64, 1, 1, 0, NULL },
};

static const double first_price = 100, drift = 0.0002, volatility = 0.01;

struct walk {
    double *price, *gain;       /* of each step; a gain is the logarithm of the quotient of two prices */
};

struct moments {
    double last_price, mean, deviation;
};

struct task {
    uint64_t seed;
    struct moments found;
    struct walk *walk;          /* with --leak */
};

static struct task **tasks;     /* of each instance */
static uint64_t digest;

/* ---- simulation ---- */

/* The sum of four uniform numbers of mean 0, scaled to variance 1. */
static double deviate(uint64_t *state)
{
    double sum = -2;

    for (int i = 0; i < 4; i++)
        sum += (double)(random_next(state) >> 11) / 9007199254740992.0;
    return sum * 1.7320508075688772;
}

/* Far from those of other numbers: a sequence that begins within another one would be the same walk once more. */
static uint64_t seed_of(uint64_t number)
{
    uint64_t seed = (number + 1) * UINT64_C(0xd1342543de82ef95);

    seed = (seed ^ seed >> 31) * UINT64_C(0xaf251af3b0f025b5);
    return (seed ^ seed >> 33) | 1;
}

static double next_gain(uint64_t *state)
{
    return drift + volatility * deviate(state);
}

static struct walk *new_walk(size_t steps)
{
    struct walk *walk = app_new(sizeof *walk);

    walk->price = app_new_plain(steps * sizeof *walk->price);
    walk->gain = app_new_plain(steps * sizeof *walk->gain);
    app_refresh(walk, 0);
    app_refresh(walk->price, 0);
    app_refresh(walk->gain, 0);
    return walk;
}

static void free_walk(struct walk *walk)
{
    app_free(walk->price);
    app_free(walk->gain);
    app_free(walk);
}

static void simulate(struct walk *walk, uint64_t seed, size_t steps)
{
    double price = first_price;

    for (size_t i = 0; i < steps; i++) {
        walk->gain[i] = next_gain(&seed);
        price *= exp(walk->gain[i]);
        walk->price[i] = price;
    }
}

static struct moments moments_of(const struct walk *walk, size_t steps)
{
    struct moments found = { walk->price[steps - 1], 0, 0 };

    for (size_t i = 0; i < steps; i++)
        found.mean += walk->gain[i];
    found.mean /= (double)steps;
    for (size_t i = 0; i < steps; i++)
        found.deviation += (walk->gain[i] - found.mean) * (walk->gain[i] - found.mean);
    found.deviation = sqrt(found.deviation / (double)(steps - 1));
    return found;
}

static void one_round(struct task *task)
{
    size_t steps = (size_t)parameters[STEPS].chosen;
    struct walk *walk = new_walk(steps);

    simulate(walk, task->seed, steps);
    task->found = moments_of(walk, steps);
    if (parameters[LEAK].chosen)
        task->walk = walk;
    else
        free_walk(walk);
}

/* A period is what lies between two ticks, of the first instance. */
static void instance(void *arg, long i)
{
    long every = parameters[EVERY].chosen;

    (void)arg;
    for (long n = 0; n < parameters[WALKS].chosen; n++) {
        if (i == 0 && n % every == 0)
            app_period_begin();
        one_round(&tasks[i][n]);
        if (n % every != every - 1)
            continue;
        app_tick();
        if (i == 0)
            app_period_end();
    }
}

/* ---- the check ---- */

/* Each step again, without a place for it. */
static struct moments moments_again(uint64_t seed, size_t steps)
{
    struct moments found = { first_price, 0, 0 };
    uint64_t state = seed;

    for (size_t i = 0; i < steps; i++) {
        double gain = next_gain(&state);

        found.last_price *= exp(gain);
        found.mean += gain;
    }
    found.mean /= (double)steps;
    for (size_t i = 0; i < steps; i++) {
        double gain = next_gain(&seed);

        found.deviation += (gain - found.mean) * (gain - found.mean);
    }
    found.deviation = sqrt(found.deviation / (double)(steps - 1));
    return found;
}

static void check(const struct task *task, long number)
{
    struct moments again;

    if (number % CHECKED_EACH != 0)
        return;
    again = moments_again(task->seed, (size_t)parameters[STEPS].chosen);
    result_check(again.last_price == task->found.last_price && again.mean == task->found.mean &&
              again.deviation == task->found.deviation, "a walk is another one when it is simulated again");
}

/* Within six times the deviation of such a mean. */
static bool is_near(double mean, double count)
{
    return fabs(mean - drift) < 6 * volatility / sqrt(count);
}

static void finish(long instances, long walks)
{
    double sum = 0, gains = (double)(instances * walks * parameters[STEPS].chosen);

    if (app_spoil())
        tasks[0][0].found.mean += 1;
    for (long i = 0; i < instances; i++)
        for (long n = 0; n < walks; n++) {
            struct task *task = &tasks[i][n];

            check(task, n);
            sum += task->found.mean;
            digest = result_digest(digest, &task->found, sizeof task->found);
            if (task->walk != NULL && app_frees())
                free_walk(task->walk);
        }
    result_check(is_near(sum / (double)(instances * walks), gains), "the mean of all gains is not the drift");
}

int main(int argc, char **argv)
{
    long instances, walks;

    app_begin(argc, argv, "montecarlo", parameters, PARAMETERS);
    instances = parameters[INSTANCES].chosen;
    walks = parameters[WALKS].chosen;
    tasks = app_new((size_t)instances * sizeof *tasks);
    for (long i = 0; i < instances; i++) {
        tasks[i] = app_new((size_t)walks * sizeof *tasks[i]);
        for (long n = 0; n < walks; n++)
            tasks[i][n].seed = seed_of((uint64_t)(i * walks + n));
    }
    together_ns(NULL, instance, NULL, instances);
    finish(instances, walks);
    return app_end(digest);
}
