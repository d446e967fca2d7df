/* SPDX-License-Identifier: MIT */
/* See perfmodel/sim/schedule.h. */
#include "perfmodel/sim/schedule.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "perfmodel/sim/coroutine.h"
#include "perfmodel/sim/queue.h"
#include "platform/report.h"

enum { STACK = 256 << 10 };

/* Helpers sleep when marker 0 begins: that much earlier they come. */
static const uint64_t LEAD_BEGINS = UINT64_C(1000000000);

struct task {
    sgc_coroutine kept;
    uint64_t clock;
    const void *word;           /* it sleeps on; NULL: it does not sleep */
    uint64_t since;             /* the how many-th sleep it is */
    bool timed_out, done;
};

static struct {
    struct sgc_sim_tasks tasks;
    struct task *task;
    char *stacks;
    struct task *now;           /* NULL: none runs */
    struct sgc_sim_queue queue;
    sgc_coroutine outside;
    uint64_t sleeps, ended, cost[SGC_SIM_OPS][SGC_SIM_REGIONS], word_cost, edge_cost;
    uint32_t left;
} state;

int sgc_sim_hidden;

uint32_t sgc_sim_self(void)
{
    return state.now != NULL ? (uint32_t)(state.now - state.task) : 0;
}

uint64_t sgc_sim_now(void)
{
    return state.now != NULL ? state.now->clock : 0;
}

/* ---- changing between markers ---- */

static void go_to(uint32_t number)
{
    struct task *from = state.now, *to = &state.task[number];
    int hidden = sgc_sim_hidden;            /* an assertion hides itself */

    sgc_assert(hidden == 0);
    if (from == to)
        return;
    state.now = to;
    to->clock = state.queue.time[number];
    sgc_coroutine_switch(&from->kept, to->kept);
}

/* The next marker goes on, the first of the queue; the running one is in the queue, asleep or
 * done. */
static void give_way(void)
{
    uint32_t next;

    sgc_assert(state.now != NULL);
    if (state.queue.count == 0)
        sgc_fatal("all simulated markers sleep, and nobody is there to wake them: report this, with the snapshot");
    next = state.queue.number[0];
    sgc_sim_queue_remove(&state.queue, next);
    state.task[next].timed_out = state.task[next].word != NULL;
    state.task[next].word = NULL;
    go_to(next);
}

/* Others whose clocks are behind come first. */
static void wait_for_turn(void)
{
    struct task *self = state.now;
    uint32_t number = sgc_sim_self(), first;

    sgc_assert(self != NULL && state.queue.place[number] == 0);
    if (state.queue.count == 0)
        return;
    first = state.queue.number[0];
    if (state.queue.time[first] > self->clock || (state.queue.time[first] == self->clock && first > number))
        return;
    sgc_sim_queue_add(&state.queue, number, self->clock);
    give_way();
}

static void leave(void)
{
    sgc_assert(state.left != 0 && !state.now->done);
    state.left--;
    state.now->done = true;
    if (state.now->clock > state.ended)
        state.ended = state.now->clock;
    if (state.left == 0 || (state.tasks.first_ends && state.now == state.task)) {
        sgc_coroutine kept;

        state.now = NULL;
        sgc_coroutine_switch(&kept, state.outside);
    }
    give_way();
}

static void enter(void)
{
    state.tasks.body(sgc_sim_self());
    leave();
}

/* ---- a run ---- */

static uint64_t picoseconds(double ns)
{
    sgc_assert(ns >= 0);
    return (uint64_t)(ns * 1000 + 0.5);
}

static void set_costs(const struct sgc_sim_costs *c)
{
    for (int r = 0; r < SGC_SIM_REGIONS; r++) {
        bool bits = r == SGC_SIM_BITS;

        state.cost[SGC_SIM_READ][r] = picoseconds(bits ? c->test : c->read);
        state.cost[SGC_SIM_WRITE][r] = picoseconds(bits ? c->mark : c->write);
        state.cost[SGC_SIM_UPDATE][r] = picoseconds(bits ? c->mark_shared : c->update);
        state.cost[SGC_SIM_WORD][r] = picoseconds(c->word);
        state.cost[SGC_SIM_ASK][r] = state.cost[SGC_SIM_ASK_TO_WRITE][r] = picoseconds(c->ask);
    }
    state.word_cost = picoseconds(c->word);
    state.edge_cost = picoseconds(c->edge);
}

static bool get_stacks(uint32_t count)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

    state.task = calloc(count, sizeof *state.task);
    state.stacks = mmap(NULL, (size_t)count * STACK, PROT_READ | PROT_WRITE, flags, -1, 0);
    return state.task != NULL && state.stacks != MAP_FAILED;
}

static void release_stacks(uint32_t count)
{
    free(state.task);
    if (state.stacks != MAP_FAILED)
        munmap(state.stacks, (size_t)count * STACK);
}

static void begin(const struct sgc_sim_tasks *tasks)
{
    sgc_assert(tasks->body != NULL && tasks->machine != NULL);
    state.tasks = *tasks;
    state.queue = (struct sgc_sim_queue){ .count = 0 };
    state.sleeps = state.ended = 0;
    state.left = tasks->count;
    set_costs(&tasks->machine->costs);
    for (uint32_t i = 0; i < tasks->count; i++) {
        state.task[i].kept = sgc_coroutine_make(state.stacks + (size_t)i * STACK, STACK, enter);
        sgc_sim_queue_add(&state.queue, i, i == 0 || !tasks->first_ends ? LEAD_BEGINS : 0);
    }
}

/* Comes back when all is over. */
static void go(void)
{
    uint32_t first = state.queue.number[0];

    sgc_assert(state.queue.count == state.tasks.count);
    sgc_sim_queue_remove(&state.queue, first);
    state.now = &state.task[first];
    state.now->clock = state.queue.time[first];
    sgc_coroutine_switch(&state.outside, state.now->kept);
}

bool sgc_sim_run(const struct sgc_sim_tasks *tasks, uint64_t *time)
{
    bool there;

    sgc_assert(tasks->count != 0 && tasks->count <= SGC_SIM_MARKERS_MAX && state.now == NULL);
    there = get_stacks(tasks->count);
    if (there) {
        begin(tasks);
        go();
        *time = state.ended - LEAD_BEGINS;
    }
    release_stacks(tasks->count);
    return there;
}

/* ---- time ---- */

static void spend(uint64_t time)
{
    sgc_assert(state.now != NULL);
    state.now->clock += time;
    sgc_sim_figures_of(sgc_sim_self())->computing += time;
}

void sgc_sim_spend(double ns)
{
    if (state.now == NULL)
        return;
    spend(picoseconds(ns));
    wait_for_turn();
}

void sgc_sim_spend_scan(uint64_t words, uint64_t edges)
{
    if (state.now != NULL)
        spend(words * state.word_cost + edges * state.edge_cost);
}

void sgc_sim_pause(void)
{
    if (state.now == NULL)
        return;
    state.now->clock += picoseconds(state.tasks.machine->costs.pause);
    wait_for_turn();
}

/* A marker that yields has nothing to do: the time is not counted as computing. */
void sgc_sim_yield(void)
{
    if (state.now == NULL)
        return;
    state.now->clock += picoseconds(state.tasks.machine->costs.yield);
    wait_for_turn();
}

/* ---- sleeping and waking ---- */

bool sgc_sim_sleep(const void *word, int64_t ns)
{
    struct task *self = state.now;

    sgc_assert(self != NULL && word != NULL);
    self->clock += picoseconds(state.tasks.machine->costs.sleep);
    self->word = word;
    self->since = ++state.sleeps;
    if (ns >= 0)
        sgc_sim_queue_add(&state.queue, sgc_sim_self(), self->clock + (uint64_t)ns * 1000);
    else
        state.queue.time[sgc_sim_self()] = UINT64_MAX;
    give_way();
    return !self->timed_out;
}

/* Of those that sleep on the word the one that has longest; NULL: none. */
static struct task *longest_asleep(const void *word)
{
    struct task *found = NULL;

    sgc_assert(word != NULL);
    for (uint32_t i = 0; i < state.tasks.count; i++) {
        struct task *task = &state.task[i];

        if (task->word == word && (found == NULL || task->since < found->since))
            found = task;
    }
    return found;
}

static void wake_one(struct task *task)
{
    const struct sgc_sim_costs *costs = &state.tasks.machine->costs;
    uint32_t number = (uint32_t)(task - state.task);
    uint64_t now = state.now->clock + picoseconds(costs->woken);

    sgc_assert(task != state.now && task->word != NULL && !task->done);
    if (state.queue.place[number] != 0)
        sgc_sim_queue_remove(&state.queue, number);
    task->word = NULL;
    sgc_sim_queue_add(&state.queue, number, task->clock > now ? task->clock : now);
    spend(picoseconds(costs->wake));
}

void sgc_sim_wake(const void *word, int count)
{
    struct task *task;

    if (state.now == NULL)
        return;
    for (; count > 0 && (task = longest_asleep(word)) != NULL; count--)
        wake_one(task);
    wait_for_turn();
}

/* ---- accesses ---- */

static void ask(size_t offset, bool write)
{
    uint64_t ready;

    if (state.tasks.machine->in_flight <= 1 || sgc_sim_memory_hit(sgc_sim_self(), offset, write, state.now->clock, &ready))
        return;
    wait_for_turn();
    state.now->clock = sgc_sim_memory_ask(sgc_sim_self(), offset, write, state.now->clock);
}

static void pass(uint64_t time)
{
    sgc_assert(state.now != NULL);
    sgc_sim_figures_of(sgc_sim_self())->missing += time;
    state.now->clock += time;
    wait_for_turn();
}

/* The request travels, and is served in the order in which requests arrive. */
static void request(size_t offset, bool write, enum sgc_sim_request what)
{
    uint64_t now;

    sgc_assert(write || what == SGC_SIM_REQUEST_READ);
    pass(sgc_sim_memory_way(sgc_sim_self(), offset, what));
    now = state.now->clock;
    pass(sgc_sim_memory_request(sgc_sim_self(), offset, write, what, now) - now);
}

/* While others come first, the line may change. */
static void demand(size_t offset, enum sgc_sim_op op)
{
    bool write = op == SGC_SIM_WRITE || op == SGC_SIM_UPDATE;
    uint32_t self = sgc_sim_self();
    uint64_t ready;

    if (!sgc_sim_memory_hit(self, offset, write, state.now->clock, &ready)) {
        wait_for_turn();
        if (!sgc_sim_memory_hit(self, offset, write, state.now->clock, &ready)) {
            request(offset, write, op == SGC_SIM_UPDATE ? SGC_SIM_REQUEST_UPDATE : SGC_SIM_REQUEST_READ);
            return;
        }
    }
    if (ready > state.now->clock)
        pass(ready - state.now->clock);
}

void sgc_sim_access(const volatile void *address, enum sgc_sim_op op)
{
    size_t offset = (uintptr_t)address - state.tasks.base;
    enum sgc_sim_region region;

    if (state.now == NULL || sgc_sim_hidden != 0 || !sgc_sim_memory_has(offset))
        return;
    region = sgc_sim_region_of(offset);
    if (state.tasks.watch != NULL)
        state.tasks.watch(state.tasks.arg, sgc_sim_self(), offset, op);
    sgc_sim_figures_of(sgc_sim_self())->accesses++;
    spend(state.cost[op][region]);
    if (op == SGC_SIM_ASK || op == SGC_SIM_ASK_TO_WRITE)
        ask(offset, op == SGC_SIM_ASK_TO_WRITE);
    else
        demand(offset, op);
    if (region != SGC_SIM_OBJECTS)
        wait_for_turn();
}
