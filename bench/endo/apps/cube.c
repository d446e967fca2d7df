/* SPDX-License-Identifier: MIT */
/*
 * Cube: looks for an approximate solution of Rubik's cube ([Endo], 1.1).  From each state that was kept all states within
 * three moves are computed, breadth first, and the best of all are kept; so several times.  Threads allocate the states;
 * the tree of an iteration is alive until the best are chosen.
 *
 * Ours, since the thesis does not say: a move is a quarter or half turn of a face, 18 in all; a state is 54 stickers; it is
 * better if more of them have the colour of their face's centre; the cube is turned at random first, with a seed; equally
 * good states are ordered by the numbers of their moves, and equal states count once.
 *
 * The check: each kept state is reached by its own moves from the first one, and from a solved cube there are 18, 243 and
 * 3240 states at the distances 1 to 3.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/endo/apps/app.h"

enum { BEST, ITERATIONS, CUBES, PARAMETERS };

static struct app_parameter parameters[PARAMETERS] = {
    [BEST] = { "best", 1, 100, { 5, 0, 20, 10, 20 }, 0 },
    [ITERATIONS] = { "iterations", 1, 1000, { 3, 0, 10, 10, 10 }, 0 },
    [CUBES] = { "cubes", 1, 100000, { 2, 0, 1, 1, 20 }, 0 },
};

enum { FACES = 6, STICKERS = 54, MOVES = 18, DEPTH = 3, BEST_MOST = 100, SCRAMBLE = 40 };

/* ---- the cube ---- */

struct sticker {
    int at[3], faces[3];            /* its little cube, each coordinate from -1 to 1; the direction it looks to */
};

static struct sticker stickers[STICKERS];
static unsigned char turned[MOVES][STICKERS];       /* where each sticker's colour comes from */

static int number_of(const struct sticker *s)
{
    for (int i = 0; i < STICKERS; i++)
        if (memcmp(&stickers[i], s, sizeof *s) == 0)
            return i;
    return -1;
}

/* Face f looks along axis f / 2, backwards if f is odd; its stickers are f * 9 to f * 9 + 8, the centre in the middle. */
static void place_stickers(void)
{
    for (int i = 0; i < STICKERS; i++) {
        int axis = i / 18, side = i / 9 % 2 == 0 ? 1 : -1;

        stickers[i].at[axis] = stickers[i].faces[axis] = side;
        stickers[i].at[(axis + 1) % 3] = i % 9 / 3 - 1;
        stickers[i].at[(axis + 2) % 3] = i % 3 - 1;
    }
}

static void quarter(int *v, int axis)
{
    int a = (axis + 1) % 3, b = (axis + 2) % 3, old = v[a];

    v[a] = -v[b];
    v[b] = old;
}

/* The move turns face m / 3 by m % 3 + 1 quarters. */
static void make_moves(void)
{
    place_stickers();
    for (int m = 0; m < MOVES; m++)
        for (int i = 0; i < STICKERS; i++) {
            struct sticker s = stickers[i];
            int axis = m / 6, side = m / 3 % 2 == 0 ? 1 : -1;

            for (int quarters = 0; s.at[axis] == side && quarters <= m % 3; quarters++) {
                quarter(s.at, axis);
                quarter(s.faces, axis);
            }
            turned[m][number_of(&s)] = (unsigned char)i;
        }
}

static void turn(unsigned char *to, const unsigned char *from, int move)
{
    for (int i = 0; i < STICKERS; i++)
        to[i] = from[turned[move][i]];
}

static int value(const unsigned char *colour)
{
    int right = 0;

    for (int i = 0; i < STICKERS; i++)
        right += colour[i] == colour[i / 9 * 9 + 4];
    return right;
}

static void solved(unsigned char *colour)
{
    for (int i = 0; i < STICKERS; i++)
        colour[i] = (unsigned char)(i / 9);
}

/* ---- states ---- */

/* How a kept state was reached from the first one. */
struct path {
    struct path *before;
    int moves[DEPTH], length;
};

struct state {
    struct state *parent;
    struct state **children;        /* MOVES of them, or NULL */
    struct path *path;              /* of a kept one */
    unsigned char move, value, colour[STICKERS];
};

static struct state **kept;             /* where an iteration begins */
static long kept_count;
static unsigned char first[STICKERS];
static struct app_tasks tasks[DEPTH];
static struct app_counts before_iteration;

/* Candidates of a thread, in an uncollectable object, which is a root: stores into it need not be reported. */
struct choice {
    long number;                    /* of the state among all of an iteration, whoever computes it */
    struct state *state;
};

struct choices {
    _Alignas(128) long count;
    struct choice of[BEST_MOST];
};

static struct choices *chosen;

static struct state *new_state(long i, struct state *parent, int move)
{
    struct state *s = app_new(i, sizeof *s);

    STORE(&s->parent, parent);
    s->move = (unsigned char)move;
    turn(s->colour, parent->colour, move);
    s->value = (unsigned char)value(s->colour);
    return s;
}

/* ---- choosing ---- */

static bool is_better(const struct choice *a, const struct choice *b)
{
    return a->state->value != b->state->value ? a->state->value > b->state->value : a->number < b->number;
}

/* Among those that are better: at the first that is equal, there is nothing to add. */
static long rank_of(const struct choices *c, const struct choice *one)
{
    long rank = 0;

    while (rank < c->count && is_better(&c->of[rank], one)) {
        if (memcmp(c->of[rank].state->colour, one->state->colour, STICKERS) == 0)
            return -1;
        rank++;
    }
    return rank;
}

/* An equal state that comes behind makes room. */
static long without_equal(const struct choices *c, long rank, const struct choice *one)
{
    for (long i = rank; i < c->count; i++)
        if (memcmp(c->of[i].state->colour, one->state->colour, STICKERS) == 0)
            return i;
    return c->count < parameters[BEST].chosen ? c->count : c->count - 1;
}

static void consider(struct choices *c, struct choice one)
{
    long rank = rank_of(c, &one), last;

    if (rank < 0 || rank >= parameters[BEST].chosen)
        return;
    last = without_equal(c, rank, &one);
    memmove(&c->of[rank + 1], &c->of[rank], (size_t)(last - rank) * sizeof one);
    c->of[rank] = one;
    if (last == c->count)
        c->count++;
}

/* ---- an iteration ---- */

/* The state of a number at that depth: digits are moves, the first one is which kept state. */
static struct state *state_at(int depth, long number)
{
    return depth == 0 ? kept[number] : state_at(depth - 1, number / MOVES)->children[number % MOVES];
}

static void expand(long i, int depth, long number)
{
    struct state *s = state_at(depth, number);

    STORE(&s->children, app_new(i, MOVES * sizeof *s->children));
    for (int m = 0; m < MOVES; m++) {
        STORE(&s->children[m], new_state(i, s, m));
        consider(&chosen[i], (struct choice){ (number * MOVES + m) * DEPTH + depth, s->children[m] });
    }
}

static struct path *path_to(const struct state *s)
{
    struct path *p = app_new(0, sizeof *p);

    for (; s->path == NULL; s = s->parent)
        p->moves[p->length++] = s->move;
    STORE(&p->before, s->path);
    return p;
}

/* What is kept must not lead to the tree it comes from. */
static struct state *keep(const struct state *s)
{
    struct state *copy = app_new(0, sizeof *copy);

    *copy = *s;
    STORE(&copy->parent, NULL);
    STORE(&copy->children, NULL);
    STORE(&copy->path, path_to(s));
    return copy;
}

static void select_best(void)
{
    struct choices *best = &chosen[0];

    for (long i = 1; i < app_threads(); i++)
        for (long c = 0; c < chosen[i].count; c++)
            consider(best, chosen[i].of[c]);
    app_live_since(before_iteration);
    before_iteration = app_allocated();
    kept = app_new(0, (size_t)best->count * sizeof *kept);
    kept_count = best->count;
    for (long c = 0; c < kept_count; c++)
        STORE(&kept[c], keep(best->of[c].state));
    memset(chosen, 0, (size_t)app_threads() * sizeof *chosen);
    for (int depth = 0; depth < DEPTH; depth++)
        app_reset(&tasks[depth]);
}

static void iterate(long i)
{
    long bound = kept_count;

    for (int depth = 0; depth < DEPTH; depth++, bound *= MOVES) {
        for (long t; (t = app_take(&tasks[depth], 1)) < bound;)
            expand(i, depth, t);
        app_barrier();
    }
    if (app_barrier())
        select_best();
    app_barrier();
}

/* ---- the whole ---- */

static uint64_t digest;

static void scramble(uint64_t *state)
{
    unsigned char old[STICKERS];

    solved(first);
    for (int i = 0; i < SCRAMBLE; i++) {
        memcpy(old, first, STICKERS);
        turn(first, old, (int)random_below(state, MOVES));
    }
}

static void begin_cube(void)
{
    static uint64_t random = 19740513;
    struct state *s;

    scramble(&random);
    before_iteration = app_allocated();
    kept = app_new(0, sizeof *kept);
    s = app_new(0, sizeof *s);
    memcpy(s->colour, first, STICKERS);
    STORE(&s->path, app_new(0, sizeof *s->path));
    STORE(&kept[0], s);
    kept_count = 1;
    for (int depth = 0; depth < DEPTH; depth++)
        app_reset(&tasks[depth]);
}

/* A path has the moves of each part backwards. */
static void replay(const struct path *p, unsigned char *colour)
{
    unsigned char old[STICKERS];

    if (p->before != NULL)
        replay(p->before, colour);
    for (int m = p->length; m-- > 0;) {
        memcpy(old, colour, STICKERS);
        turn(colour, old, p->moves[m]);
    }
}

static void check_kept(void)
{
    if (app_spoil())
        kept[0]->colour[0] ^= 1;
    for (long k = 0; k < kept_count; k++) {
        unsigned char colour[STICKERS];

        memcpy(colour, first, STICKERS);
        replay(kept[k]->path, colour);
        result_check(memcmp(colour, kept[k]->colour, STICKERS) == 0, "a state is not the one that its moves lead to");
        digest = result_digest(digest, kept[k]->colour, STICKERS);
    }
}

static void body(long i)
{
    for (long cube = 0; cube < parameters[CUBES].chosen; cube++) {
        if (app_barrier())
            begin_cube();
        app_barrier();
        for (long n = 0; n < parameters[ITERATIONS].chosen; n++)
            iterate(i);
        if (app_barrier())
            check_kept();
        app_barrier();
    }
}

/* ---- the moves are those of a cube ---- */

static int by_colour(const void *a, const void *b)
{
    return memcmp(a, b, STICKERS);
}

static size_t count_distinct(unsigned char (*all)[STICKERS], size_t n)
{
    size_t distinct = n > 0;

    qsort(all, n, sizeof *all, by_colour);
    for (size_t i = 1; i < n; i++)
        if (memcmp(all[i], all[i - 1], STICKERS) != 0)
            memcpy(all[distinct++], all[i], STICKERS);
    return distinct;
}

/* All states within so many moves grow by those at the distance after that. */
static void check_moves(void)
{
    static const size_t within[DEPTH + 1] = { 1, 1 + 18, 1 + 18 + 243, 1 + 18 + 243 + 3240 };
    unsigned char(*all)[STICKERS] = obtained(malloc((MOVES + 1) * within[DEPTH] * sizeof *all));
    size_t n = 1;

    solved(all[0]);
    for (int depth = 1; depth <= DEPTH; depth++) {
        for (size_t i = 0; i < n * MOVES; i++)
            turn(all[n + i], all[i / MOVES], (int)(i % MOVES));
        n = count_distinct(all, n * (MOVES + 1));
        result_check(n == within[depth], "a solved cube has another number of states around it");
    }
    free(all);
}

int main(int argc, char **argv)
{
    app_begin(argc, argv, "cube", parameters, PARAMETERS);
    make_moves();
    check_moves();
    chosen = GC_malloc_uncollectable((size_t)app_threads() * sizeof *chosen);
    need(chosen != NULL, "cube");
    memset(chosen, 0, (size_t)app_threads() * sizeof *chosen);
    app_run(body);
    return app_end(digest);
}
