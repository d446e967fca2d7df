/* SPDX-License-Identifier: MIT */
/*
 * mark/team/team.c: several markers mark what one marks, under every switch and with helpers that
 * come late or in the middle; they
 * do share the work; a mark can be given up; stacks that cannot grow lose nothing; the child of a fork marks alone.
 */

#include "tests/lib/child.h"
#include "tests/unit/mark/teams.h"

enum { HELPERS = 3, TEAMS = 16 };

/* A team is for ever, since its helpers are. */
static struct sgc_team teams[TEAMS];
static int team_count;

static struct sgc_team *make_team(const struct sgc_team_config *config, int helpers)
{
    start_team(&teams[team_count], config, helpers);
    return &teams[team_count++];
}

/* ---- the same marks under every switch ---- */

struct variant {
    const char *name;
    enum sgc_stack_form form;
    enum sgc_steal steal;
    enum sgc_termination_form termination;
    enum sgc_markbit markbit;
    bool balance;
    uint32_t edges;
    size_t split, stack;
};

#define LARGE ((size_t)16 << 20)

static const struct variant variants[] = {
    { "split, half, flags, or", SGC_STACK_SPLIT, SGC_STEAL_HALF, SGC_TERMINATION_FLAGS, SGC_MARKBIT_OR, true, 16, 4096, LARGE },
    { "split, one, counter, cas", SGC_STACK_SPLIT, SGC_STEAL_ONE, SGC_TERMINATION_COUNTER, SGC_MARKBIT_CAS, true, 16, 4096,
      LARGE },
    { "locked, half, counter, or", SGC_STACK_LOCKED, SGC_STEAL_HALF, SGC_TERMINATION_COUNTER, SGC_MARKBIT_OR, true, 64, 512,
      LARGE },
    { "locked, one, flags, lock", SGC_STACK_LOCKED, SGC_STEAL_ONE, SGC_TERMINATION_FLAGS, SGC_MARKBIT_LOCK, true, 16, 4096,
      LARGE },
    { "not balanced", SGC_STACK_SPLIT, SGC_STEAL_HALF, SGC_TERMINATION_COUNTER, SGC_MARKBIT_OR, false, 16, 4096, LARGE },
    { "no prefetch, not split", SGC_STACK_SPLIT, SGC_STEAL_HALF, SGC_TERMINATION_FLAGS, SGC_MARKBIT_OR, true, 0, 0, LARGE },
    { "a stack of 64 KB", SGC_STACK_SPLIT, SGC_STEAL_HALF, SGC_TERMINATION_FLAGS, SGC_MARKBIT_OR, true, 16, 0, 64 << 10 },
};

static struct sgc_team_config config_of(const struct variant *v)
{
    return (struct sgc_team_config){
        .mark = { .interior_pointers = true, .split_bytes = v->split, .edges = v->edges, .stack_bytes = v->stack,
                  .stack_form = v->form },
        .max_markers = HELPERS + 1, .balance = v->balance, .steal = v->steal, .termination = v->termination,
        .markbit = v->markbit,
    };
}

static void mark_roots(struct sgc_team *team, uint32_t want)
{
    sgc_clear_finish();
    sgc_team_begin(team, want);
    for (int i = 0; i < ROOTS; i++)
        sgc_mark_roots(sgc_team_first(team), &roots[i], &roots[i + 1]);
    sgc_mark_uncollectable(sgc_team_first(team));
    if (!sgc_team_mark(team, NULL) || !sgc_team_rescan(team, NULL))
        tap_bail("a mark gave up though nobody asked it to");
    sgc_team_check(team);
}

static void test_variant(const struct variant *v)
{
    struct sgc_team_config config = config_of(v);
    struct sgc_team *team = make_team(&config, HELPERS);
    int wrong = 0, rounds = TEST_SANITIZED ? 20 : 100;

    for (int i = 0; i < rounds; i++) {
        mark_roots(team, i % 4 == 0 ? 1 : HELPERS + 1);
        wrong += wrong_marks(team);
        heap_unmark();
    }
    tap_ok(wrong == 0, "%s: %d marks as they should be (%d wrong)", v->name, rounds, wrong);
}

static void test_variants(void)
{
    make_graph(11, true);
    reach_all();
    heap_retire();
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++)
        test_variant(&variants[i]);
}

/* ---- the work is shared ---- */

enum { BIG = 200000 };

static void test_sharing(struct sgc_team *team)
{
    struct sgc_team_totals totals;
    size_t stolen = 0;
    uint32_t most = 0;
    uintptr_t *top = heap_fan(BIG);
    int wrong = 0;

    heap_retire();
    for (int i = 0; i < 200 && (most < 2 || stolen == 0); i++) {
        heap_unmark();
        sgc_team_begin(team, HELPERS + 1);
        sgc_mark_roots(sgc_team_first(team), &top, &top + 1);
        sgc_team_mark(team, NULL);
        totals = totals_of(team);
        wrong += totals.objects != BIG + 1;
        stolen += totals.stolen;
        most = totals.markers > most ? totals.markers : most;
    }
    tap_ok(most > 1 && stolen > 0, "%u markers took part, %zu pieces were stolen", most, stolen);
    tap_ok(wrong == 0, "each object was counted once (%d times not)", wrong);
    heap_unmark();
}

static void test_called_late(struct sgc_team *team)
{
    uintptr_t *top = heap_fan(BIG);

    heap_retire();
    sgc_team_begin(team, 1);
    tap_ok(!team->called, "a mark that is expected to be short calls nobody");
    sgc_mark_roots(sgc_team_first(team), &top, &top + 1);
    sgc_team_mark(team, NULL);
    tap_ok(team->called && totals_of(team).objects == BIG + 1, "and calls the helpers when it is long");
    heap_unmark();
    sgc_team_begin(team, 1);
    sgc_team_mark(team, NULL);
    tap_ok(!team->called && sgc_team_rescan(team, NULL), "an empty one does not");
    heap_unmark();
}

enum { LARGES = 64, LARGE_WORDS = 16384 };

/* Nothing but large objects: a marker that is busy with these looks after others, too. */
static uintptr_t *make_larges(void)
{
    uintptr_t *large[LARGES];

    for (int i = 0; i < LARGES; i++)
        large[i] = heap_alloc(sgc_self, LARGE_WORDS * sizeof **large, SGC_KIND_CONSERVATIVE);
    for (int i = 0; i < LARGES; i++)
        for (int w = 0; w < LARGE_WORDS; w += 4)
            large[i][w] = (uintptr_t)large[(i + 1 + w) % LARGES];
    return large[0];
}

static void test_large_objects(struct sgc_team *team)
{
    uintptr_t *top = make_larges();
    struct sgc_team_totals totals;
    size_t stolen = 0, wrong = 0;
    bool called = true;

    heap_retire();
    for (int i = 0; i < 200 && (i == 0 || stolen == 0); i++) {
        heap_unmark();
        sgc_team_begin(team, i == 0 ? 1 : HELPERS + 1);
        sgc_mark_roots(sgc_team_first(team), &top, &top + 1);
        sgc_team_mark(team, NULL);
        totals = totals_of(team);
        called = called && team->called;
        wrong += totals.objects != LARGES;
        stolen += totals.stolen;
    }
    tap_ok(called, "helpers are called while a marker has nothing but large objects");
    tap_ok(stolen > 0 && wrong == 0, "and get some of them (%zu pieces stolen; %zu marks wrong)", stolen, wrong);
    heap_unmark();
}

/* ---- giving up ---- */

static int asked;

static int stop_soon(void)
{
    return ++asked >= 3;
}

static void test_giving_up(struct sgc_team *team)
{
    uintptr_t *top = heap_fan(BIG);
    int gave_up = 0, wrong = 0;

    heap_retire();
    for (int i = 0; i < 20; i++) {
        asked = 0;
        sgc_team_begin(team, HELPERS + 1);
        sgc_mark_roots(sgc_team_first(team), &top, &top + 1);
        gave_up += !sgc_team_mark(team, stop_soon);
        sgc_team_abandon(team);
        sgc_team_check(team);
        heap_unmark();
    }
    tap_ok(gave_up > 0, "%d of 20 marks were given up", gave_up);
    mark_roots(team, HELPERS + 1);
    reach_all();
    wrong = wrong_marks(team);
    heap_unmark();
    tap_ok(wrong == 0, "the next one is whole");
}

/* A list, which nobody can share; and a team whose helper keeps what it is dealt. */
enum { LIST = 300000 };

static void test_asked_while_idle(void)
{
    struct sgc_team_config config = config_of(&variants[0]);
    uintptr_t nothing = 0, top = heap_list(LIST);
    struct sgc_team *team;
    int gave_up = 0;

    config.balance = false;
    team = make_team(&config, 1);
    heap_retire();
    for (int i = 0; i < 20 && gave_up == 0; i++) {
        asked = 0;
        sgc_team_begin(team, 2);
        sgc_mark_roots(sgc_team_first(team), &nothing, &nothing + 1);
        sgc_mark_roots(sgc_team_first(team), &top, &top + 1);
        gave_up += !sgc_team_mark(team, stop_soon);
        sgc_team_abandon(team);
        heap_unmark();
    }
    tap_ok(gave_up > 0, "the stop function is asked while only a helper has work");
}

/* ---- fork ---- */

static struct sgc_team *forked;

static int mark_in_child(void)
{
    struct sgc_team *team = forked;

    sgc_team_after_fork(team);
    mark_roots(team, HELPERS + 1);
    if (wrong_marks(team) != 0)
        return 1;
    heap_unmark();
    start_helper(team);
    mark_roots(team, HELPERS + 1);
    return wrong_marks(team) != 0 ? 2 : 0;
}

int main(void)
{
    struct sgc_team_config config;
    struct sgc_team *team;

    heap_start((size_t)2 << 30, 0, false);
    test_variants();
    config = config_of(&variants[0]);
    team = forked = make_team(&config, HELPERS);
    test_sharing(team);
    test_called_late(team);
    test_large_objects(team);
    test_giving_up(team);
    test_asked_while_idle();
    if (TEST_SANITIZED)
        tap_skip("a sanitizer may start no threads in the child of a fork");
    else
        child_ok(mark_in_child, "the child of a fork marks, alone and with a new helper");
    return tap_done();
}
