/* SPDX-License-Identifier: MIT */
/*
 * BH: the N-body problem by Barnes and Hut's method ([Endo], 1.1).  Each step builds a tree whose leaves are the particles,
 * then computes accelerations from it, and from them speeds and places.  Only building allocates.
 *
 *     --builders 2    BH-pt: all threads insert
 *     --builders 1    BH-st: one thread builds the tree, all compute
 *
 * The tree is an octree; a cell that gets its second particle makes cells for all its octants.  So its shape does not
 * depend on the order of insertion, and neither does the result on the number of threads: sums are made in the order of
 * octants.
 *
 * Ours, since the thesis does not say: particles as in Plummer's model, with a seed; an opening angle of 0.8; forces
 * softened; a fixed step of time.
 *
 * A cell, while the tree is built:
 *   state    set to INNER under the cell's lock, with release, when its children are there; never changes after that
 *   lock     taken by whoever finds the cell not INNER
 *   child, particle   written under the lock, read under it, or after INNER was acquired
 */
#include <float.h>
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bench/endo/apps/app.h"

enum { PARTICLES, STEPS, BUILDERS, PARAMETERS };

static struct app_parameter parameters[PARAMETERS] = {
    [PARTICLES] = { "particles", 2, 10000000, { 1000, 100000, 30000, 50000, 30000 }, 0 },
    [STEPS] = { "steps", 1, 100000, { 8, 30, 20, 10, 20 }, 0 },
    [BUILDERS] = { "builders", 1, 2, { 2, 2, 2, 1, 2 }, 0 },
};

enum { BATCH = 32, OCTANTS = 8, DEPTH_MOST = 200, SAMPLES = 50 };
static const double OPENING = 0.8, SOFTENING = 0.01, TIME_STEP = 0.001;

typedef struct { double x[3]; } vector;

struct particle {
    double mass;
    vector place, speed, pull;
};

enum { EMPTY, LEAF, INNER };

struct cell {
    atomic_uchar state, lock;
    double mass;
    vector centre;                  /* of mass */
    struct particle *particle;      /* of a leaf */
    struct cell *child[OCTANTS];    /* of an inner cell */
};

struct box {
    _Alignas(128) vector least;
    vector most;
};

static struct particle **particles;     /* the one large array */
static struct cell *root;
static vector root_middle;
static double root_half;
static struct box *boxes;               /* of what each thread has moved */
static struct app_tasks inserting, summing, pulling, moving, measuring;
static struct app_counts before_step, first;

static long count(void)
{
    return parameters[PARTICLES].chosen;
}

/* ---- the tree ---- */

static int octant(const vector *middle, const vector *place)
{
    return (place->x[0] >= middle->x[0]) | (place->x[1] >= middle->x[1]) << 1 | (place->x[2] >= middle->x[2]) << 2;
}

static void go_into(vector *middle, double half, int o)
{
    for (int d = 0; d < 3; d++)
        middle->x[d] += (o >> d & 1 ? half : -half) / 2;
}

static void take_lock(struct cell *c)
{
    while (atomic_exchange_explicit(&c->lock, 1, memory_order_acquire) != 0)
        sched_yield();
}

static void put_into(struct cell *leaf, struct particle *p)
{
    STORE(&leaf->particle, p);
    atomic_store_explicit(&leaf->state, LEAF, memory_order_relaxed);
}

/* A leaf that is locked gets children, one of which has its particle. */
static void divide(long i, struct cell *c, const vector *middle)
{
    for (int o = 0; o < OCTANTS; o++)
        STORE(&c->child[o], app_new(i, sizeof *c));
    put_into(c->child[octant(middle, &c->particle->place)], c->particle);
    STORE(&c->particle, NULL);
    atomic_store_explicit(&c->state, INNER, memory_order_release);
}

/* Is the particle in this cell now?  If not, the cell is INNER. */
static bool settle(long i, struct cell *c, struct particle *p, const vector *middle)
{
    bool done = false;

    take_lock(c);
    if (c->state == EMPTY) {
        put_into(c, p);
        done = true;
    } else if (c->state == LEAF) {
        divide(i, c, middle);
    }
    atomic_store_explicit(&c->lock, 0, memory_order_release);
    return done;
}

static void insert(long i, struct particle *p)
{
    struct cell *c = root;
    vector middle = root_middle;
    double half = root_half;

    for (int depth = 0; depth < DEPTH_MOST; depth++) {
        int o = octant(&middle, &p->place);

        if (atomic_load_explicit(&c->state, memory_order_acquire) != INNER && settle(i, c, p, &middle))
            return;
        c = c->child[o];
        go_into(&middle, half, o);
        half /= 2;
    }
    result_check(false, "two particles are at the same place");
}

/* ---- mass and centre of each cell, from below ---- */

static void sum_of_children(struct cell *c)
{
    c->mass = 0;
    c->centre = (vector){ { 0, 0, 0 } };
    for (int o = 0; o < OCTANTS; o++)
        c->mass += c->child[o]->mass;
    for (int d = 0; d < 3; d++) {
        for (int o = 0; o < OCTANTS; o++)
            c->centre.x[d] += c->child[o]->mass * c->child[o]->centre.x[d];
        c->centre.x[d] /= c->mass;
    }
}

static void sum_up(struct cell *c)
{
    if (c->state == LEAF) {
        c->mass = c->particle->mass;
        c->centre = c->particle->place;
    } else if (c->state == INNER) {
        for (int o = 0; o < OCTANTS; o++)
            sum_up(c->child[o]);
        sum_of_children(c);
    }
}

/* The cell that task t is about: two levels below the root, or NULL. */
static struct cell *below(long t)
{
    struct cell *c = root->state == INNER ? root->child[t / OCTANTS] : NULL;

    return c != NULL && c->state == INNER ? c->child[t % OCTANTS] : NULL;
}

static void sum_of_top(void)
{
    if (root->state != INNER)
        return;
    for (int o = 0; o < OCTANTS; o++) {
        if (root->child[o]->state == INNER)
            sum_of_children(root->child[o]);
        else
            sum_up(root->child[o]);
    }
    sum_of_children(root);
}

/* ---- forces ---- */

static void pull_towards(struct particle *p, double mass, const vector *there)
{
    double d[3], square = SOFTENING * SOFTENING, factor;

    for (int k = 0; k < 3; k++) {
        d[k] = there->x[k] - p->place.x[k];
        square += d[k] * d[k];
    }
    factor = mass / (square * sqrt(square));
    for (int k = 0; k < 3; k++)
        p->pull.x[k] += factor * d[k];
}

static bool is_far(const struct particle *p, const struct cell *c, double half)
{
    double square = 0;

    for (int k = 0; k < 3; k++)
        square += (c->centre.x[k] - p->place.x[k]) * (c->centre.x[k] - p->place.x[k]);
    return 4 * half * half < OPENING * OPENING * square;
}

static void pull_by(struct particle *p, const struct cell *c, double half)
{
    if (c->state == EMPTY || c->particle == p)
        return;
    if (c->state == LEAF || is_far(p, c, half)) {
        pull_towards(p, c->mass, &c->centre);
        return;
    }
    for (int o = 0; o < OCTANTS; o++)
        pull_by(p, c->child[o], half / 2);
}

static void move(struct particle *p)
{
    for (int k = 0; k < 3; k++) {
        p->speed.x[k] += p->pull.x[k] * TIME_STEP;
        p->place.x[k] += p->speed.x[k] * TIME_STEP;
    }
}

static void widen(struct box *b, const vector *least, const vector *most)
{
    for (int k = 0; k < 3; k++) {
        b->least.x[k] = fmin(b->least.x[k], least->x[k]);
        b->most.x[k] = fmax(b->most.x[k], most->x[k]);
    }
}

/* ---- phases ---- */

static void each(struct app_tasks *tasks, long bound, long batch, void (*work)(long i, long t), long i)
{
    for (long begin; (begin = app_take(tasks, batch)) < bound;)
        for (long t = begin; t < begin + batch && t < bound; t++)
            work(i, t);
}

static void insert_one(long i, long t)
{
    insert(i, particles[t]);
}

static void sum_one(long i, long t)
{
    struct cell *c = below(t);

    (void)i;
    if (c != NULL)
        sum_up(c);
}

static void pull_one(long i, long t)
{
    (void)i;
    particles[t]->pull = (vector){ { 0, 0, 0 } };
    pull_by(particles[t], root, root_half);
}

static void move_one(long i, long t)
{
    (void)i;
    move(particles[t]);
}

static void measure_one(long i, long t)
{
    widen(&boxes[i], &particles[t]->place, &particles[t]->place);
}

/* A new root around all particles, by one thread. */
static void plant(void)
{
    struct box all = boxes[0];

    for (long i = 1; i < app_threads(); i++)
        widen(&all, &boxes[i].least, &boxes[i].most);
    root_half = 0;
    for (int k = 0; k < 3; k++) {
        root_middle.x[k] = (all.least.x[k] + all.most.x[k]) / 2;
        root_half = fmax(root_half, (all.most.x[k] - all.least.x[k]) / 2 * 1.000001);
    }
    before_step = app_allocated();
    root = app_new(0, sizeof *root);
    app_reset(&inserting);
    app_reset(&summing);
}

static void build(long i)
{
    boxes[i] = (struct box){ { { DBL_MAX, DBL_MAX, DBL_MAX } }, { { -DBL_MAX, -DBL_MAX, -DBL_MAX } } };
    each(&measuring, count(), BATCH, measure_one, i);
    if (app_barrier())
        plant();
    app_barrier();
    if (i == 0 || parameters[BUILDERS].chosen > 1)
        each(&inserting, count(), BATCH, insert_one, i);
    app_barrier();
}

static void compute(long i)
{
    each(&summing, OCTANTS * OCTANTS, 1, sum_one, i);
    if (app_barrier()) {
        sum_of_top();
        app_live(app_allocated().objects - before_step.objects + first.objects,
                 app_allocated().bytes - before_step.bytes + first.bytes);
        app_reset(&pulling);
    }
    app_barrier();
    each(&pulling, count(), BATCH, pull_one, i);
    if (app_barrier()) {
        app_reset(&moving);
        app_reset(&measuring);
    }
    app_barrier();
}

/* The last step ends with the forces, which are checked where they act. */
static void body(long i)
{
    for (long step = 0; step < parameters[STEPS].chosen; step++) {
        if (step > 0)
            each(&moving, count(), BATCH, move_one, i);
        app_barrier();
        build(i);
        compute(i);
    }
}

/* ---- particles ---- */

static double random_share(uint64_t *state)
{
    return (double)(random_next(state) >> 11) / 9007199254740992.0;
}

/* A direction by chance, of this length. */
static vector random_direction(uint64_t *state, double length)
{
    double z = 2 * random_share(state) - 1, angle = 6.283185307179586 * random_share(state), flat = sqrt(1 - z * z);

    return (vector){ { length * flat * cos(angle), length * flat * sin(angle), length * z } };
}

static struct particle *new_particle(uint64_t *state)
{
    struct particle *p = app_new(0, sizeof *p);
    double share = 0.001 + 0.998 * random_share(state), radius = 1 / sqrt(pow(share, -2.0 / 3) - 1);

    p->mass = 1.0 / (double)count();
    p->place = random_direction(state, radius);
    p->speed = random_direction(state, 0.5 * random_share(state) * pow(1 + radius * radius, -0.25));
    return p;
}

static void make_particles(void)
{
    uint64_t state = 20010601;

    particles = app_new(0, (size_t)count() * sizeof *particles);
    for (long n = 0; n < count(); n++)
        STORE(&particles[n], new_particle(&state));
    boxes = obtained(aligned_alloc(_Alignof(struct box), (size_t)app_threads() * sizeof *boxes));
    first = app_allocated();
}

/* ---- the check ---- */

static long particles_in(const struct cell *c)
{
    long n = c->state == LEAF;

    for (int o = 0; c->state == INNER && o < OCTANTS; o++)
        n += particles_in(c->child[o]);
    return n;
}

/* How far the tree's force is from the sum over all particles, in proportion. */
static double error_of(struct particle *p)
{
    vector by_tree = p->pull;
    double off = 0, length = 0;

    p->pull = (vector){ { 0, 0, 0 } };
    for (long n = 0; n < count(); n++)
        if (particles[n] != p)
            pull_towards(p, particles[n]->mass, &particles[n]->place);
    for (int k = 0; k < 3; k++) {
        off += (by_tree.x[k] - p->pull.x[k]) * (by_tree.x[k] - p->pull.x[k]);
        length += p->pull.x[k] * p->pull.x[k];
    }
    p->pull = by_tree;
    return sqrt(off / length);
}

static double mean_error(void)
{
    double sum = 0;

    for (long s = 0; s < SAMPLES; s++)
        sum += error_of(particles[s * count() / SAMPLES]);
    return sum / SAMPLES;
}

static uint64_t check(void)
{
    uint64_t digest = 0;

    if (app_spoil())
        particles[0]->pull.x[0] *= 100;
    result_check(particles_in(root) == count(), "the tree does not have each particle once");
    result_check(fabs(root->mass - 1) < 1e-9, "the tree does not have the mass of all particles");
    result_check(mean_error() < 0.05, "forces differ from those that are summed up directly");
    for (long n = 0; n < count(); n++)
        digest = result_digest(digest, &particles[n]->place, sizeof(vector));
    return digest;
}

int main(int argc, char **argv)
{
    uint64_t digest;

    app_begin(argc, argv, "bh", parameters, PARAMETERS);
    make_particles();
    app_run(body);
    digest = check();
    free(boxes);
    return app_end(digest);
}
