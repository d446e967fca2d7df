/* SPDX-License-Identifier: MIT */
/*
 * The pool of free pages on machines with one to eight memory nodes: many random requests, against a model that is an array of
 * bytes and counts by looking at all of it.  After each the pool's counts by home are the model's, and each page came from
 * where the model says that the page rule sends the thread.  A wrong count would be an endless search under the pool's lock.
 */
#include "alloc/pages/homes.h"
#include "alloc/pages/live_pages.h"
#include "alloc/pages/pool.h"
#include "tests/lib/child.h"
#include "tests/lib/fake_nodes.h"
#include "tests/lib/heap.h"

enum {
    ARENAS = 24, PAGES = ARENAS * SGC_ARENA_PAGES,
    OWNERS = 9,                     /* from 1 */
    HELD = 400, STEPS = 6000,
    CLEAN = 0, NOBODYS = 100, IN_USE = 101, NOT_THERE = 102,    /* or the owner whose list it is on */
};

static struct {
    uint32_t nodes, committed, limit;       /* limit: 0: none */
    unsigned char home[ARENAS], state[PAGES];
    int node_of[OWNERS];                    /* of each owner, when it took pages last */
    struct sgc_page_rule rule;
    uint32_t live, singles;
    uint64_t taken[SGC_SOURCES], remote, far;
} model;

static struct held {
    uint32_t first, count;
    bool single;
} held[HELD];
static uint32_t held_count;

static uint64_t random_state;
static const char *failed;

static uint32_t rnd(uint32_t below)
{
    return heap_random(&random_state, below);
}

static bool require(bool ok, const char *what)
{
    if (!ok && failed == NULL)
        failed = what;
    return ok;
}

/* ---- what the model counts ---- */

static bool has_contents(uint32_t page)
{
    return model.state[page] != CLEAN && model.state[page] < IN_USE;
}

/* Pages of the home in that state; of all homes: -1. */
static uint32_t count_state(int home, unsigned char state)
{
    uint32_t n = 0;

    for (uint32_t page = 1; page < model.committed * SGC_ARENA_PAGES; page++)
        n += model.state[page] == state && (home < 0 || model.home[page / SGC_ARENA_PAGES] == home);
    return n;
}

static uint32_t count_contents(int home)
{
    uint32_t n = 0;

    for (uint32_t page = 1; page < model.committed * SGC_ARENA_PAGES; page++)
        n += has_contents(page) && (home < 0 || model.home[page / SGC_ARENA_PAGES] == home);
    return n;
}

/* Arenas that the pool has published since the model looked: for the thread that has just asked. */
static void see_growth(void)
{
    for (; model.committed < sgc_pool.committed; model.committed++) {
        uint32_t a = model.committed;

        model.home[a] = sgc_heap.arenas[a].home;
        require(model.home[a] == fake_nodes.here, "an arena has the home of the thread that needed it");
        require(model.nodes == 1 || fake_bound((void *)sgc_page_start(a * SGC_ARENA_PAGES)) == fake_nodes.here,
                "and is bound to it");
        memset(&model.state[a * SGC_ARENA_PAGES], CLEAN, SGC_ARENA_PAGES);
    }
}

/* ---- where a page is to come from ---- */

static bool is_near(uint32_t page, int near)
{
    return model.home[page / SGC_ARENA_PAGES] == near;
}

static uint32_t wealth(int owner)
{
    return sgc_page_wealth(count_state(-1, (unsigned char)owner));
}

/* The wealth of the richest owner on the node, or on another; 0: none has a free page. */
static uint32_t most_wealth(int near, bool far)
{
    uint32_t most = 0;

    for (int owner = 1; owner < OWNERS; owner++)
        if ((model.node_of[owner] == near) != far && wealth(owner) > most)
            most = wealth(owner);
    return most;
}

static bool within_limit(void)
{
    return model.limit == 0 || count_state(-1, IN_USE) + count_contents(-1) + 1 <= model.limit;
}

/* Letters: own, nobody's, of others, any, fresh; small: far. */
static bool is_there_any(char letter, uint32_t owner, int near)
{
    uint32_t nobodys = count_state(near, NOBODYS), clean = count_state(near, CLEAN);

    switch (letter) {
    case 'S': return count_state(-1, (unsigned char)owner) != 0;
    case 'N': return nobodys != 0;
    case 'n': return count_state(-1, NOBODYS) != nobodys;
    case 'O': return most_wealth(near, false) != 0;
    case 'o': return most_wealth(near, true) != 0;
    case 'A': return count_contents(-1) != 0;
    case 'F': return within_limit() && (clean != 0 || model.committed < ARENAS);
    default: return within_limit() && count_state(-1, CLEAN) != clean;
    }
}

static enum sgc_page_source source_of(char letter)
{
    static const char letters[] = "-SNAOFnof";

    return (enum sgc_page_source)(strchr(letters, letter) - letters);
}

static char expected(uint32_t owner, int near)
{
    const char *order = "SNOnoFf";
    bool allowed = model.rule.policy == SGC_POLICY_AL;

    if (model.rule.policy == SGC_POLICY_LPS)
        allowed = (model.singles + count_contents(-1)) * SGC_K_ONE < model.rule.k * model.live;
    if (model.rule.policy == SGC_POLICY_PS)
        order = "AFf";
    else if (allowed)
        order = "SNFOnof";
    if (model.limit != 0 && count_state(-1, IN_USE) + 1 > model.limit)
        return '-';
    for (; *order != '\0'; order++)
        if (is_there_any(*order, owner, near))
            return *order;
    return '-';
}

/* Is it a page that this source may give? */
static bool fits(char letter, uint32_t page, uint32_t owner, int near)
{
    unsigned char state = model.state[page];
    bool listed = state != CLEAN && state < OWNERS;
    bool of_far = listed && model.node_of[state] != near;

    switch (letter) {
    case 'S': return state == owner;
    case 'N': return state == NOBODYS && is_near(page, near);
    case 'n': return state == NOBODYS && !is_near(page, near);
    case 'O': return listed && !of_far && wealth(state) == most_wealth(near, false);
    case 'o': return of_far && wealth(state) == most_wealth(near, true);
    case 'A': return has_contents(page);
    case 'F': return state == CLEAN && is_near(page, near);
    default: return state == CLEAN && !is_near(page, near);
    }
}

/* ---- requests ---- */

static void took_one(const struct sgc_taken *taken, uint32_t owner, int near)
{
    char letter = expected(owner, near);

    if (!require(letter != '-' && taken->page != SGC_NO_PAGE && model.state[taken->page] != NOT_THERE,
                 "a page only where there is one"))
        return;
    require(fits(letter, taken->page, owner, near), "from where the page rule says");
    require(taken->zero == (model.state[taken->page] == CLEAN), "zero if it has no contents");
    model.taken[source_of(letter)]++;
    model.remote += has_contents(taken->page) && model.state[taken->page] < OWNERS && model.state[taken->page] != owner;
    model.far += !is_near(taken->page, near);
    model.state[taken->page] = IN_USE;
    model.singles++;
    sgc_heap.records[taken->page].zero_from = rnd(4) != 0;
    held[held_count++] = (struct held){ taken->page, 1, true };
}

static void take_singles(void)
{
    struct sgc_taken taken[8];
    uint32_t owner = 1 + rnd(OWNERS - 1), most = 1 + rnd(8), n;

    if (held_count + most > HELD)
        return;
    if (rnd(8) == 0)
        fake_nodes.here = (int)rnd(model.nodes);    /* a thread that wanders */
    else
        fake_nodes.here = model.node_of[owner];
    n = sgc_pool_take_singles(owner, most, taken, NULL);
    see_growth();
    model.node_of[owner] = fake_nodes.here;
    for (uint32_t i = 0; i < n && failed == NULL; i++)
        took_one(&taken[i], owner, fake_nodes.here);
    require(n == most || failed != NULL || expected(owner, fake_nodes.here) == '-', "as many as there are");
}

/* The lowest run of free pages, also of those that the heap could grow into; PAGES: none. */
static uint32_t lowest_run(uint32_t count)
{
    uint32_t length = 0;

    for (uint32_t page = 1; page < PAGES; page++) {
        length = model.state[page] == IN_USE ? 0 : length + 1;
        if (length == count)
            return page + 1 - count;
    }
    return PAGES;
}

static void take_run(void)
{
    uint32_t count = 2 + rnd(rnd(10) == 0 ? 150 : 10), first, clean = 0;
    bool zero;

    if (held_count == HELD)
        return;
    fake_nodes.here = (int)rnd(model.nodes);
    first = sgc_pool_take(count, NULL, &zero);
    see_growth();
    if (first == SGC_NO_PAGE) {
        require(model.limit != 0 || lowest_run(count) == PAGES, "no run only if there is none");
        return;
    }
    require(first == lowest_run(count), "the lowest run, whatever its home");
    for (uint32_t page = first; page < first + count; page++) {
        clean += model.state[page] == CLEAN;
        model.state[page] = IN_USE;
    }
    require(zero == (clean == count), "zero if no page of it has contents");
    held[held_count++] = (struct held){ first, count, false };
}

static void give(void)
{
    uint32_t i = held_count == 0 ? 0 : rnd(held_count), owner = 1 + rnd(OWNERS - 1);
    struct held h;

    if (held_count == 0)
        return;
    h = held[i];
    held[i] = held[--held_count];
    for (uint32_t page = h.first; page < h.first + h.count; page++)
        model.state[page] = NOBODYS;
    if (!h.single) {
        sgc_pool_give(h.first, h.count, NULL);
        return;
    }
    model.state[h.first] = sgc_heap.records[h.first].zero_from == 0 ? CLEAN : (unsigned char)owner;
    model.singles--;
    sgc_pool_give_singles(&h.first, 1, owner, NULL);
}

static void forget(void)
{
    uint32_t owner = 1 + rnd(OWNERS - 1);

    while (sgc_pool_forget_owner(owner, 1 + rnd(20), NULL))
        continue;
    for (uint32_t page = 1; page < PAGES; page++)
        if (model.state[page] == owner)
            model.state[page] = NOBODYS;
}

/* Gives back what some arenas have, each of them all or nothing. */
static void decay(void)
{
    uint32_t most = rnd(3) == 0 ? UINT32_MAX : 1 + rnd(3), arenas = 0;

    sgc_pool_decay(sgc_clock_ns(), 0, most, NULL);
    for (uint32_t a = 0; a < model.committed; a++) {
        uint32_t before = 0;

        for (uint32_t page = a * SGC_ARENA_PAGES; page < (a + 1) * SGC_ARENA_PAGES; page++)
            before += has_contents(page);
        if (before == 0 || sgc_heap.arenas[a].dirty != 0)
            continue;
        arenas++;
        for (uint32_t page = a * SGC_ARENA_PAGES; page < (a + 1) * SGC_ARENA_PAGES; page++)
            if (has_contents(page))
                model.state[page] = CLEAN;
    }
    require(arenas <= most && (arenas == most || count_contents(-1) == 0), "as many arenas as were asked for");
    sgc_live_pages_renew();
    model.live = (uint32_t)sgc_live_pages_max();
}

static void learn_live(void)
{
    for (uint32_t i = rnd(40); i > 0; i--)
        sgc_live_pages_count(1);
    model.live = (uint32_t)sgc_live_pages_max();
}

/* As in the child of a fork: what is in somebody's hands is nobody's. */
static void lose(void)
{
    sgc_pool_take_back_lost();
    for (uint32_t i = 0; i < held_count; i++)
        for (uint32_t page = held[i].first; page < held[i].first + held[i].count; page++)
            model.state[page] = NOBODYS;
    held_count = 0;
    model.singles = 0;
}

static void step(void)
{
    uint32_t what = rnd(1000);

    if (what < 400)
        take_singles();
    else if (what < 480)
        take_run();
    else if (what < 940)
        give();
    else if (what < 960)
        forget();
    else if (what < 975)
        decay();
    else if (what < 980)
        sgc_pool_expand(rnd(2 * SGC_ARENA_PAGES), NULL);    /* arenas are there when somebody needs them */
    else if (what < 999)
        learn_live();
    else
        lose();
}

/* ---- after each step ---- */

static uint32_t count_listed(uint32_t home)
{
    uint32_t n = 0;

    for (uint32_t a = 0; a < sgc_pool.committed; a++)
        n += sgc_heap.arenas[a].home == home ? (uint32_t)__builtin_popcountll(sgc_heap.arenas[a].listed) : 0;
    return n;
}

static void compare(void)
{
    uint32_t listed = 0;

    for (uint32_t home = 0; home < model.nodes; home++) {
        uint32_t contents = count_contents((int)home);

        require(sgc_pool.home[home].used == contents, "pages with contents of a home");
        require(sgc_pool.home[home].clean == count_state((int)home, CLEAN), "pages without contents of a home");
        require(count_listed(home) == contents - count_state((int)home, NOBODYS), "pages on lists of a home");
        listed += count_listed(home);
    }
    require(listed == sgc_free_list_total(), "the sum of those on lists");
    require(sgc_aw_load(&sgc_pool.dirty) == count_contents(-1) && sgc_aw_load(&sgc_pool.in_use) == count_state(-1, IN_USE),
            "the sums");
    require(sgc_aw_load(&sgc_pool.small) == model.singles, "single pages in use");
    require(sgc_aw_load(&sgc_pool.remote) == model.remote && sgc_aw_load(&sgc_pool.far) == model.far, "remote and far pages");
    for (int source = 0; source < SGC_SOURCES; source++)
        require(sgc_aw_load(&sgc_pool.taken[source]) == model.taken[source], "pages by source");
}

/* ---- one machine, one rule ---- */

static const struct machine {
    uint32_t nodes, limit;
    struct sgc_page_rule rule;
} machines[] = {
    { 1, 0, { SGC_POLICY_LPS, 2 * SGC_K_ONE } }, { 1, 500, { SGC_POLICY_PS, 0 } }, { 2, 0, { SGC_POLICY_LPS, 2 * SGC_K_ONE } },
    { 2, 0, { SGC_POLICY_PS, 0 } }, { 3, 600, { SGC_POLICY_LPS, 3 * SGC_K_ONE } }, { 4, 0, { SGC_POLICY_LPS, SGC_K_ONE } },
    { 4, 0, { SGC_POLICY_AL, 0 } }, { 4, 400, { SGC_POLICY_AL, 0 } }, { 5, 0, { SGC_POLICY_LPS, 3 * SGC_K_ONE / 2 } },
    { 6, 0, { SGC_POLICY_AL, 0 } }, { 7, 900, { SGC_POLICY_LPS, 2 * SGC_K_ONE } }, { 8, 0, { SGC_POLICY_LPS, 2 * SGC_K_ONE } },
    { 8, 300, { SGC_POLICY_AL, 0 } }, { 8, 0, { SGC_POLICY_PS, 0 } },
};

static const struct machine *machine;

static void start(void)
{
    struct sgc_heap_config config = {
        .reserve = (size_t)ARENAS * SGC_ARENA, .limit = (size_t)machine->limit * SGC_PAGE, .page_rule = machine->rule,
        .numa = SGC_NUMA_BALANCED,
    };

    fake_nodes_begin((int)machine->nodes);
    fake_nodes.here = (int)machine->nodes - 1;      /* of the thread that starts the collector */
    if (!sgc_heap_init(&config))
        tap_bail("no heap");
    memset(model.state, NOT_THERE, sizeof model.state);
    model.nodes = machine->nodes;
    model.limit = machine->limit;
    model.rule = machine->rule;
    see_growth();
    model.state[0] = IN_USE;
    for (uint32_t owner = 1; owner < OWNERS; owner++)
        model.node_of[owner] = 0;                   /* until it asks for a page */
    random_state = (uint64_t)(machine - machines) + 1;
}

static int play(void)
{
    start();
    for (uint32_t i = 0; i < STEPS && failed == NULL; i++) {
        step();
        compare();
        if (i % 64 == 0)
            sgc_pool_check();
    }
    if (failed != NULL)
        fprintf(stderr, "%s\n", failed);
    return failed == NULL ? 0 : 1;
}

int main(void)
{
    static const char *const policies[] = { "PS", "AL", "LPS" };

    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        machine = &machines[i];
        child_ok(play, "%u nodes, %s%s: each page from where it is to come from, every count right", machine->nodes,
                 policies[machine->rule.policy], machine->limit != 0 ? ", limited" : "");
    }
    return tap_done();
}
