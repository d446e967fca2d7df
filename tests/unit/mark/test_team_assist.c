/* SPDX-License-Identifier: MIT */
/*
 * mark/team/team_assist.c, and mark/team/team_concurrent.c with several markers: whoever marks
 * beside the program, however often all of
 * them are interrupted, and whoever comes and goes meanwhile, what is marked is what one marker marks that nobody interrupts,
 * each object once; and when sgc_team_go_on returns nobody else is in the heap.
 */

#include "mark/edge.h"
#include "tests/unit/mark/teams.h"

enum { HELPERS = 3, ASSISTANTS = 6, DEPTH = TEST_SANITIZED ? 12 : 15, DEEP = 15, WIDE = TEST_SANITIZED ? 6000 : 30000 };

static const uint64_t PATIENCE_NS = UINT64_C(20000000000);

/* ---- teams: one for each number of markers, and a small stack; their helpers never end ---- */

static struct sgc_team team_of[5];
struct sort {
    const char *name;
    uint32_t beside;
    size_t stack;
    bool spares, simple;                /* simple: with a counter, and locks */
};

static const struct sort sorts[] = {
    { "two markers", 2, 16 << 20, false, false }, { "three markers", 3, 16 << 20, true, true },
    { "four markers", 4, 16 << 20, true, false }, { "four with stacks of 64 KB", 4, 64 << 10, true, false },
    { "one marker", 1, 16 << 20, true, false },
};
enum { SORTS = 5, ALONE = 4 };

static void make_team(struct sgc_team *team, const struct sort *sort)
{
    struct sgc_team_config config = {
        .mark = HEAP_MARK, .max_markers = HELPERS + 1, .balance = true, .markbit = SGC_MARKBIT_OR,
        .concurrent_markers = sort->beside,
        .termination = sort->simple ? SGC_TERMINATION_COUNTER : SGC_TERMINATION_FLAGS,
        .steal = sort->simple ? SGC_STEAL_ONE : SGC_STEAL_HALF,
    };

    config.mark.stack_bytes = sort->stack;
    config.mark.split_bytes = sort->stack <= 64 << 10 ? 512 : 128 << 10;
    config.mark.stack_form = sort->simple ? SGC_STACK_LOCKED : SGC_STACK_SPLIT;
    start_team(team, &config, 0);
    if (sort->spares)
        sgc_team_make_spares(team);
}

static void make_teams(void)
{
    for (int i = 0; i < SORTS; i++) {
        make_team(&team_of[i], &sorts[i]);
        for (int k = 0; k < HELPERS; k++)
            start_helper(&team_of[i]);
    }
}

/* ---- a mark ---- */

/* Nobody is inside, nobody but marker 0 has work, and its marks are plain. */
static int not_alone(const struct sgc_team *team)
{
    int wrong = (sgc_a32_load_acq(&team->state) != 0) + (team->marker[0]->how != SGC_MARKBIT_PLAIN) + team->several;

    for (uint32_t i = 1; i < team->made; i++)
        wrong += !sgc_marker_idle(team->marker[i]) || team->marker[i]->mode.program != SGC_MARK_STOPPED;
    for (uint32_t i = 0; i < team->spares; i++)
        wrong += !sgc_marker_idle(team->spare[i].marker) || sgc_a32_load(&team->spare[i].state) != SGC_SPARE_FREE;
    return wrong;
}

/* How often nobody but marker 0 should have been there and somebody was. */
static int go_on_to_the_end(struct sgc_team *team, struct stops *stops)
{
    int wrong = 0;
    bool done;

    sgc_team_program_runs(team);
    do {
        done = sgc_team_go_on(team, stop, stops);
        wrong += not_alone(team);
    } while (!done);
    sgc_team_program_stopped(team);
    while (!sgc_team_go_on_flagged(team, NULL, NULL))
        continue;
    return wrong;
}

static uintptr_t top;

/* From `top`, which leads to so many objects, or, if there are none, from the roots of the graph.  Counts the stolen pieces,
 * too, which are work that others than marker 0 have done, or have had. */
static int mark(struct sgc_team *team, struct stops *stops, size_t objects, size_t *stolen)
{
    bool graph = objects == 0;
    struct sgc_team_totals t;
    int wrong;

    stops->team = team;
    begin(team, graph ? roots : &top, graph ? ROOTS : 1);
    wrong = go_on_to_the_end(team, stops);
    t = totals_of(team);
    *stolen += t.stolen;
    if (graph)
        wrong += wrong_marks(team);
    else if (t.objects != objects)
        tap_diag("%zu objects of %zu", t.objects, objects), wrong++;
    drop_mark(team);
    return wrong;
}

/* ---- shapes ---- */

/* An array of arrays: more than a stack of 64 KB has room for. */
static size_t make_wide(void)
{
    uintptr_t *array = heap_alloc(sgc_self, WIDE * sizeof *array, SGC_KIND_CONSERVATIVE);

    for (int i = 0; i < WIDE; i++) {
        uintptr_t *one = heap_alloc(sgc_self, 300, SGC_KIND_CONSERVATIVE);

        array[i] = (uintptr_t)one;
        one[30] = (uintptr_t)heap_alloc(sgc_self, 32, SGC_KIND_POINTER_FREE);
        one[31] = (uintptr_t)heap_alloc(sgc_self, 32, SGC_KIND_CONSERVATIVE);
    }
    top = (uintptr_t)array;
    return (size_t)WIDE * 3 + 1;
}

/* ---- interrupted at every n-th question ---- */

static const int everies[] = { 1, 2, 3, 5, 8, 20, 60, 0 };
enum { EVERIES = sizeof everies / sizeof *everies };

static void test_graphs(void)
{
    make_graph(31, true);
    reach_all();
    for (int sort = 0; sort < SORTS; sort++) {
        size_t stolen = 0;
        int wrong = 0, said = 0;

        for (int i = 0; i < EVERIES; i++) {
            struct stops stops = { .every = everies[i] };

            wrong += mark(&team_of[sort], &stops, 0, &stolen);
            said += stops.said;
        }
        tap_ok(wrong == 0 && said > 0, "a graph, %s: the same marks and totals (%d wrong; out %d times, %zu pieces stolen)",
               sorts[sort].name, wrong, said, stolen);
    }
    free_uncollectable();
}

static void test_shape(const char *name, size_t objects, bool others)
{
    for (int sort = 0; sort < ALONE; sort++) {
        uint64_t until = sgc_clock_ns() + PATIENCE_NS;
        size_t stolen = 0, before;
        int wrong = 0, said = 0, helped = 0;

        for (int i = 0; i < EVERIES || (helped < 3 && sgc_clock_ns() < until); i++) {
            struct stops stops = { .every = everies[i % EVERIES], .others = others };

            before = stolen;
            wrong += mark(&team_of[sort], &stops, objects, &stolen);
            said += stops.said;
            helped += stolen != before && (stops.said != 0 || others);
        }
        tap_ok(wrong == 0 && helped >= 3, "%s, %s%s: each object once (%d wrong; out %d times, %zu pieces stolen)", name,
               sorts[sort].name, others ? ", out as soon as others are in" : "", wrong, said, stolen);
    }
}

static void test_shapes(void)
{
    size_t wide;

    heap_empty();
    top = heap_tree(DEPTH);
    test_shape("a tree", ((size_t)2 << DEPTH) - 1, false);
    test_shape("a tree", ((size_t)2 << DEPTH) - 1, true);
    heap_empty();
    wide = make_wide();
    test_shape("an array of arrays", wide, false);
    test_shape("an array of arrays", wide, true);
}

/* ---- a helper that comes twice ---- */

/* Played by marker 0's thread, when it asks: a helper comes in, steals, goes out because the mark is interrupted, and comes in
 * once more before the team is closed. */
struct twice {
    struct sgc_team *team;
    struct sgc_marker *helper;
    bool came, again, found;
};

static bool come_twice(void *raw)
{
    struct twice *t = raw;

    if (!t->team->called || t->came || !sgc_team_enter(t->team, t->helper))
        return false;
    t->came = sgc_team_try_work(t->team, t->helper);
    if (t->came)
        sgc_termination_interrupt(&t->team->termination);
    sgc_team_leave(t->team, t->helper);
    if (t->came && sgc_team_enter(t->team, t->helper)) {
        t->again = true;
        t->found = sgc_team_try_work(t->team, t->helper);
        sgc_team_leave(t->team, t->helper);
    }
    return t->came;
}

static void test_twice(struct sgc_team *team, struct sgc_marker *helper)
{
    struct twice twice = { .team = team, .helper = helper };
    int wrong = 0;

    begin(team, &top, 1);
    sgc_team_program_runs(team);
    wrong += sgc_team_go_on(team, come_twice, &twice);
    wrong += not_alone(team);
    tap_ok(twice.came && twice.again && !twice.found && wrong == 0,
           "a helper that was interrupted and comes again has nothing to do (came %d, again %d, found work %d; %d wrong)",
           twice.came, twice.again, twice.found, wrong);
    wrong = !sgc_team_go_on(team, NULL, NULL);
    sgc_team_program_stopped(team);
    wrong += !sgc_team_go_on_flagged(team, NULL, NULL) + (totals_of(team).objects != ((size_t)2 << DEPTH) - 1);
    tap_ok(wrong == 0, "what it had stolen is marked in the end (%d wrong)", wrong);
    drop_mark(team);
}

/* ---- helpers that come late ---- */

/* They are expected, and called, but nobody is behind their markers before the mark has begun. */
static void test_late(void)
{
    static struct sgc_team late;
    int wrong = 0;
    size_t stolen = 0;
    struct stops stops = { .every = 7 };
    struct sgc_marker *m[HELPERS];

    heap_empty();
    top = heap_tree(DEPTH);
    make_team(&late, &(struct sort){ "late", HELPERS + 1, 16 << 20, false, false });
    for (int i = 0; i < HELPERS; i++)
        m[i] = make_helper(&late);
    wrong += mark(&late, &stops, ((size_t)2 << DEPTH) - 1, &stolen);
    tap_ok(wrong == 0 && stolen == 0, "nobody waits for helpers that do not come (%d wrong)", wrong);
    test_twice(&late, m[0]);
    for (int i = 0; i < HELPERS; i++)
        thread_start(serve, m[i]);
    for (uint64_t until = sgc_clock_ns() + PATIENCE_NS; stolen == 0 && sgc_clock_ns() < until;)
        wrong += mark(&late, &stops, ((size_t)2 << DEPTH) - 1, &stolen);
    tap_ok(wrong == 0 && stolen > 0, "and they may come late (%d wrong)", wrong);
}

/* ---- assistants ---- */

static sgc_a32_t ending, worked[SORTS];

static void *assist(void *number)
{
    uint64_t dice = (uintptr_t)number;

    while (sgc_a32_load_acq(&ending) == 0) {
        uint32_t sort = heap_random(&dice, SORTS);
        uint64_t ns = heap_random(&dice, 4) * UINT64_C(30000);

        if (sgc_team_assist(&team_of[sort], sgc_clock_ns() + ns))
            sgc_a32_add(&worked[sort], 1);
        else
            sgc_sleep_ns(20000);
    }
    return NULL;
}

static int some_marks(int sort, size_t objects, int *said)
{
    size_t stolen = 0;
    int wrong = 0;

    for (int i = 0; i < EVERIES; i++) {
        struct stops stops = { .every = everies[i] == 1 ? 0 : everies[i] };

        wrong += mark(&team_of[sort], &stops, objects, &stolen);
        *said += stops.said;
    }
    return wrong;
}

static void test_assistants(void)
{
    pthread_t thread[ASSISTANTS];
    size_t objects = ((size_t)2 << DEPTH) - 1;

    heap_empty();
    top = heap_tree(DEPTH);
    threads_start(thread, ASSISTANTS, assist);
    for (int sort = 1; sort < SORTS; sort++) {
        uint64_t until = sgc_clock_ns() + PATIENCE_NS;
        int wrong = 0, said = 0;

        do
            wrong += some_marks(sort, objects, &said);
        while (sgc_a32_load(&worked[sort]) < 20 && sgc_clock_ns() < until);
        tap_ok(wrong == 0 && sgc_a32_load(&worked[sort]) >= 20, "assistants help %s %d times (%d wrong; out %d times)",
               sorts[sort].name, (int)sgc_a32_load(&worked[sort]), wrong, said);
    }
    sgc_a32_store_rel(&ending, 1);
    threads_join(thread, ASSISTANTS);
    tap_ok(sgc_a32_load(&worked[0]) == 0, "where there is no spare marker nobody assists");
}

/* ---- one assistant, step by step ---- */

static struct sgc_team *const single = &team_of[ALONE];

/* As marker 0 meets it: the first to ask opens the team; it is a stop function, so nothing is marked meanwhile. */
static int step;
static bool step_ok[5];

static bool steps(void *objects)
{
    size_t before = *(const size_t *)objects;

    switch (step++) {
    case 0:
        step_ok[0] = !sgc_team_assist(single, UINT64_MAX) && !single->called;
        break;
    case 1:
        step_ok[1] = single->called && single->marker[0]->how == SGC_MARKBIT_OR;
        break;
    case 5:                     /* its time is over: it takes something, does a little, and leaves the rest */
        step_ok[2] = sgc_team_assist(single, 0) && sgc_team_spare_left(single) &&
                     sgc_team_first(single)->objects < before;
        break;
    case 7:                     /* another one finishes that, and what else can be stolen */
        step_ok[3] = sgc_team_assist(single, UINT64_MAX) && !sgc_team_spare_left(single);
        break;
    default:
        break;
    }
    return false;
}

static void test_steps(void)
{
    size_t objects = ((size_t)2 << DEEP) - 1;
    bool done;

    heap_empty();
    top = heap_tree(DEEP);
    tap_ok(!sgc_team_assist(single, UINT64_MAX), "nobody marks: an assistant does nothing");
    begin(single, &top, 1);
    tap_ok(!sgc_team_assist(single, UINT64_MAX), "nor in a stop");
    sgc_a32_store(&single->wanted, 0);
    sgc_team_program_runs(single);
    done = sgc_team_go_on(single, steps, &objects);
    tap_ok(step_ok[0], "marker 0 marks alone until somebody asks");
    tap_ok(step_ok[1], "then it marks as one of several");
    tap_ok(step_ok[2], "an assistant whose time is over leaves work");
    tap_ok(step_ok[3], "the next one takes that first");
    tap_ok(done && step >= 8 && totals_of(single).objects == objects && not_alone(single) == 0, "each object was marked once");
    tap_ok(!sgc_team_assist(single, UINT64_MAX), "afterwards there is nothing to do");
    sgc_team_program_stopped(single);
    drop_mark(single);
}

/* Marker 0 has nothing else to do: it takes what was left.  An interruption does so, too. */
static bool leave_work(void *raw)
{
    struct stops *s = raw;

    if (s->asked++ < 5)
        sgc_team_assist(single, 0);
    s->said += sgc_team_spare_left(single);
    return s->every != 0 && s->asked == 5;
}

static void test_left(bool interrupted)
{
    struct stops stops = { .every = interrupted };
    size_t objects = ((size_t)2 << DEEP) - 1;
    bool done;

    begin(single, &top, 1);
    sgc_team_program_runs(single);
    done = sgc_team_go_on(single, leave_work, &stops);
    tap_ok(done != interrupted && stops.said > 0 && not_alone(single) == 0, "what was left is marker 0's in the end%s",
           interrupted ? ", interrupted" : "");
    while (!done)
        done = sgc_team_go_on(single, NULL, NULL);
    tap_ok(totals_of(single).objects == objects, "and is done once");
    sgc_team_program_stopped(single);
    drop_mark(single);
}

/* ---- without room ---- */

enum { HOLDERS = 500 };

/* Marker 0's stack is full when it takes over: pages are flagged, and arenas looked through at once. */
static void test_no_room(void)
{
    struct sgc_team *team = &team_of[3];
    struct sgc_marker *first = sgc_team_first(team), *spare = team->spare[0].marker;
    uintptr_t *holder[HOLDERS], *filler;
    void *uncollectable;
    int wrong = 0;

    heap_empty();
    filler = heap_alloc(sgc_self, 32, SGC_KIND_CONSERVATIVE);
    uncollectable = heap_alloc(sgc_self, 32, SGC_KIND_UNCOLLECTABLE);
    for (int i = 0; i < HOLDERS; i++) {
        holder[i] = heap_alloc(sgc_self, 48, SGC_KIND_CONSERVATIVE);
        holder[i][1] = (uintptr_t)heap_alloc(sgc_self, 32, SGC_KIND_CONSERVATIVE);
    }
    begin(team, NULL, 0);
    sgc_team_go_on(team, NULL, NULL);
    sgc_aw_and(sgc_mark_word(sgc_granule_number((uintptr_t)uncollectable)),
               ~sgc_bit_mask(sgc_granule_number((uintptr_t)uncollectable)));
    sgc_team_program_runs(team);
    first->how = SGC_MARKBIT_OR;
    sgc_marker_join(spare, first);
    first->how = SGC_MARKBIT_PLAIN;
    for (int i = 0; i < HOLDERS; i++) {
        heap_set_mark(holder[i]);
        sgc_deque_push(&spare->stack, (uintptr_t)holder[i], 48);
    }
    sgc_deque_push(&spare->stack, SGC_WORK_PAGES, sgc_marker_arenas(spare));
    sgc_deque_share(&spare->stack);
    while (sgc_deque_push(&first->stack, (uintptr_t)filler, 32))
        continue;
    sgc_marker_take_over(first, spare);
    tap_ok(sgc_marker_idle(spare) && first->overflowed && sgc_pages_flagged(), "what there is no room for is flagged");
    tap_ok(heap_marked(uncollectable), "or done at once, if it is a part of the roots");
    spare->mode.program = SGC_MARK_STOPPED;
    spare->split_bytes = first->split_bytes;
    sgc_team_go_on(team, NULL, NULL);
    sgc_team_program_stopped(team);
    sgc_team_go_on_flagged(team, NULL, NULL);
    for (int i = 0; i < HOLDERS; i++)
        wrong += !heap_marked((void *)holder[i][1]);
    tap_ok(wrong == 0, "nothing is lost (%d wrong)", wrong);
    drop_mark(team);
    sgc_object_free(sgc_self, uncollectable);
}

int main(void)
{
    heap_start((size_t)2 << 30, 0, false);
    make_teams();
    tap_each(test_graphs, test_shapes, test_late, test_assistants, test_steps);
    test_left(false);
    test_left(true);
    test_no_room();
    sgc_heap_check();
    return tap_done();
}
