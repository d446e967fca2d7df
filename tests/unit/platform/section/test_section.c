/* SPDX-License-Identifier: MIT */
/*
 * platform/section/section.c and gc/threads/world.c: sections that a client's signal handler interrupts, and leaves
 * by siglongjmp or tries to use.
 *
 * On x86-64 the first is tried at every single instruction: the processor traps after each one, and at the
 * n-th inside a section the handler jumps out.  Whatever a section had half done, no object may be
 * handed out twice or change, and every check of the heap must pass.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "alloc/small/claim_short.h"
#include "alloc/free.h"
#include "tests/lib/child.h"
#include "tests/lib/trap.h"
#include "tests/lib/white.h"
#include "sgc.h"

/* ---- objects that show damage ------------------------------------------------------------------------ */

enum { KEPT = 4096, SIZES = 5 };

static void *kept[KEPT];            /* static data: roots */
static size_t kept_bytes[KEPT];
static unsigned kept_next;

static void keep(void *object, size_t bytes)
{
    unsigned at = kept_next++ % KEPT;

    memset(object, (int)(at % 251 + 1), bytes);
    kept[at] = object;
    kept_bytes[at] = bytes;
}

static bool kept_intact(void)
{
    for (unsigned at = 0; at < KEPT; at++)
        for (size_t i = 0; i < kept_bytes[at]; i++)
            if (((unsigned char *)kept[at])[i] != at % 251 + 1)
                return false;
    return true;
}

/* Allocates and keeps a few; false if one is not zeroed, hence perhaps somebody's. */
static bool allocate_some(size_t bytes, int count)
{
    for (int i = 0; i < count; i++) {
        unsigned char *object = sgc_allocate(bytes, WHITE_KIND);

        for (size_t b = 0; b < bytes; b++)
            if (object[b] != 0)
                return false;
        keep(object, bytes);
    }
    return true;
}

#if defined(__x86_64__)

/* ---- jumping out at the n-th instruction ---------------------------------------------------------------- */

static const size_t sizes[SIZES] = { 24, 40, 100, 500, 3000 };
static sigjmp_buf way_out;
static volatile long step, jump_at;
static volatile bool jumped;

/* A handler of a signal that is blocked does not run: so no jump while the mask has SIGUSR1, that
 * is, under a lock. */
static void on_trap(TEST_UNUSED int signal, TEST_UNUSED siginfo_t *info, void *context)
{
    const ucontext_t *interrupted = context;

    if (!sgc_section_inside(&sgc_self->section) || sigismember(&interrupted->uc_sigmask, SIGUSR1))
        return;
    if (++step != jump_at)
        return;
    jumped = true;
    siglongjmp(way_out, 1);
}

static void install_trap(void (*handler)(int signal, siginfo_t *info, void *context), bool altstack)
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | (altstack ? SA_ONSTACK : 0) };

    sigaction(SIGTRAP, &action, NULL);
}

/* Runs op(bytes); true if it was left at instruction `at`, false if it has fewer inside sections. */
TEST_NOINLINE static bool abandon(void (*op)(size_t bytes), size_t bytes, long at)
{
    step = 0;
    jump_at = at;
    jumped = false;
    if (sigsetjmp(way_out, 1) == 0) {
        trap_on();
        op(bytes);
        trap_off();
    }
    return jumped;
}

/* ---- the operations ----------------------------------------------------------------------------------------- */

static void *victim;
static long used_up;            /* bins with nothing but a page between whose objects there are slots */

static void allocate_one(size_t bytes)
{
    keep(sgc_allocate(bytes, WHITE_KIND), bytes);
}

/* For handlers that do something at instruction `at`, and go on. */
static void allocate_trapped(size_t bytes, long at)
{
    step = 0;
    jump_at = at;
    trap_on();
    allocate_one(bytes);
    trap_off();
}

static void allocate_batch(size_t bytes)
{
    void *volatile batch = sgc_allocate_many(bytes, WHITE_KIND);

    (void)batch;
}

static void free_victim(TEST_UNUSED size_t bytes)
{
    sgc_object_free(sgc_self, victim);
}

struct operation {
    const char *name;
    void (*run)(size_t bytes);
    bool fresh;                 /* after a collection: nothing is claimed */
    bool freed;                 /* after freeing an object of the size */
    bool holes;                 /* between live objects, and a run between two of them used up */
};

static const struct operation operations[] = {
    { "allocating from a claimed run", allocate_one, false, false, false },
    { "allocating after a collection", allocate_one, true, false, false },
    { "allocating a freed slot", allocate_one, false, true, false },
    { "allocating between live objects", allocate_one, false, false, true },
    { "freeing", free_victim, false, false, false },
    { "freeing after a collection", free_victim, true, false, false },
    { "allocating a batch", allocate_batch, true, false, false },
};

/* Of 64 objects every fourth and fifth die.  Then one or two are allocated, so that a page is chosen, and its first run is used
 * up. */
static void make_holes(size_t bytes)
{
    static void *row[64];
    const struct sgc_bin *bin = bytes <= SGC_FAST_MAX ? sgc_fast_bin(&sgc_mutator_self()->cache, bytes, WHITE_KIND) : NULL;

    for (unsigned i = 0; i < 64; i++)
        row[i] = sgc_allocate(bytes, WHITE_KIND);
    for (unsigned i = 0; i < 64; i++)
        if (i % 4 != 0 && i % 5 != 0)
            keep(row[i], bytes);
    memset(row, 0, sizeof row);
    sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, NULL);
    do
        keep(sgc_allocate(bytes, WHITE_KIND), bytes);
    while (bin != NULL && bin->cur != bin->end);
    used_up += bin != NULL && sgc_bin_used_up(bin) && bin->next < sgc_granule_number((uintptr_t)bin->dirty);
}

static void prepare(const struct operation *o, size_t bytes)
{
    if (o->holes)
        make_holes(bytes);
    else
        victim = sgc_allocate(bytes, WHITE_KIND);
    if (o->fresh)
        sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, NULL);
    if (o->freed)
        sgc_object_free(sgc_self, sgc_allocate(bytes, WHITE_KIND));
}

/* ---- who finds the abandoned section -------------------------------------------------------------------------- */

static sgc_a32_t asked, answered, ending;

/* Another thread collects: the suspend handler finds it. */
static void collect_when_asked(TEST_UNUSED void *unused)
{
    uint32_t seen = 0;

    while (!sgc_a32_load_acq(&ending)) {
        if (sgc_a32_load_acq(&asked) == seen) {
            sgc_wait(&asked, seen, WHITE_MS);
            continue;
        }
        seen = sgc_a32_load_acq(&asked);
        sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, NULL);
        sgc_a32_store_rel(&answered, seen);
    }
}

static void ask(void)
{
    sgc_a32_add(&asked, 1);
    sgc_wake(&asked, 1);
}

static bool is_answered(void)
{
    return sgc_a32_load_acq(&answered) == sgc_a32_load(&asked);
}

/* By where the stack ends.  In a build that is not optimised our frames may be deeper than those of the section: then it is not
 * found before the next one begins. */
static void found_by_handler(void)
{
    ask();
    for (int i = 0; i < 5000 && !is_answered(); i++)
        sgc_yield();
}

static void wait_for_answer(void)
{
    while (!is_answered())
        sgc_yield();
}

/* The first instructions one by one, then with a stride that meets every size and different places of each
 * loop; with TEST_EVERY=1 in the environment all of them one by one, which takes minutes, and with TEST_FEW=1 fewer and
 * fewer, for builds that are not optimised, in which each takes long. */
static bool takes_few(void)
{
    return getenv("TEST_FEW") != NULL;
}

static long next_instruction(long at)
{
    if (getenv("TEST_EVERY") != NULL)
        return at + 1;
    if (takes_few())
        return at + 1 + at / 4;
    return at < 50 ? at + 1 : at < 300 ? at + 13 : at + 83;
}

/* The instructions of one operation; how many there were, or -1 when something was wrong. */
static long abandon_everywhere(const struct operation *o, bool by_handler)
{
    long at;

    for (at = 1; at < 5000; at = next_instruction(at)) {
        size_t bytes = sizes[at % (o->holes ? SIZES - 1 : SIZES)];       /* the last has no common path */

        prepare(o, bytes);
        if (!abandon(o->run, bytes, at) && at > 8 * SIZES)
            break;
        if (by_handler)
            found_by_handler();
        if (!allocate_some(bytes, 3))
            return -1;
        wait_for_answer();
        if (at % 16 == 0)
            sgc_verify(SGC_check() == 0);
    }
    sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, NULL);
    for (int i = 0; i < SIZES; i++)
        if (!allocate_some(sizes[i], 200))
            return -1;
    return kept_intact() ? at : -1;
}

static void step_through(const char *where, bool by_handler)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        long steps = abandon_everywhere(&operations[i], by_handler);

        tap_ok(steps > 0, "%s, left at each instruction %s (%ld)", operations[i].name, where, steps);
    }
}

/* ---- stopped, not left ---- */

/* The signal comes while the section goes on: the thread parks at its end. */
static void on_trap_ask(TEST_UNUSED int signal, TEST_UNUSED siginfo_t *info, TEST_UNUSED void *context)
{
    if (!sgc_section_inside(&sgc_self->section) || ++step != jump_at)
        return;
    ask();
    sgc_sleep_ns(WHITE_MS / 4);
}

static void test_stopped_between(void)
{
    bool zero = true;
    long at;

    install_trap(on_trap_ask, false);
    step = 1;
    for (at = 1; zero && at < 1000 && step >= at - 1; at++) {
        size_t bytes = sizes[at % (SIZES - 1)];

        make_holes(bytes);
        allocate_trapped(bytes, at);
        found_by_handler();
        zero = allocate_some(bytes, 20);
        if (at % 16 == 0)
            sgc_verify(SGC_check() == 0);
    }
    tap_ok(zero && at > 60 && kept_intact(), "allocating between live objects, a stop asked for at each instruction (%ld)", at);
}

static void test_every_instruction(void)
{
    pthread_t collector;

    install_trap(on_trap, false);
    step_through("from its own stack", false);
    collector = white_start(collect_when_asked, NULL);
    step_through("from its own stack, found by the suspend handler", true);
    install_trap(on_trap, true);
    step_through("from an alternate stack, found by the suspend handler", true);
    test_stopped_between();
    install_trap(on_trap, true);
    sgc_a32_store_rel(&ending, 1);
    white_join(collector);
    step_through("from an alternate stack", false);
    tap_ok(used_up > (takes_few() ? 100 : 200), "short runs were to be claimed (%ld times)", used_up);
}

/* ---- a handler that uses the collector inside a section ------------------------------------------------------ */

static void on_trap_allocate(TEST_UNUSED int signal, TEST_UNUSED siginfo_t *info, TEST_UNUSED void *context)
{
    if (sgc_section_inside(&sgc_self->section) && ++step == jump_at)
        sgc_allocate(24, WHITE_KIND);
}

static bool use_altstack;

static int allocate_in_handler(void)
{
    install_trap(on_trap_allocate, use_altstack);
    allocate_one(24);           /* nothing remains of a section that was left before */
    allocate_trapped(24, 3);
    return 0;
}

static void check_fatal(const char *where)
{
    child_says(allocate_in_handler, 128 + SIGABRT, "a signal handler called the collector",
               "a handler that interrupted a section and allocates ends the program with a message, %s", where);
}

/* ---- alternate stacks, wherever they lie ----------------------------------------------------------------------- */

enum { ALT_BYTES = 65536 };

static void set_altstack(void *memory)
{
    stack_t stack = { .ss_sp = memory, .ss_size = ALT_BYTES };

    sigaltstack(&stack, NULL);
}

/* Its frame lies above those that sections record: a comparison of addresses alone is fooled. */
TEST_NOINLINE static void with_altstack_in_own_stack(void (*fn)(const char *where))
{
    char memory[ALT_BYTES] __attribute__((aligned(16)));

    set_altstack(memory);
    fn("with the alternate stack inside its own");
    stack_t none = { .ss_flags = SS_DISABLE };
    sigaltstack(&none, NULL);
    __asm__ volatile("" : : "r"(memory) : "memory");
}

/* As a handler leaves it that jumps out. */
TEST_NOINLINE static void leave_a_section(void)
{
    char room[1024];

    __asm__ volatile("" : : "r"(room) : "memory");
    sgc_section_enter(&sgc_self->section);
}

static void allocate_much(TEST_UNUSED int signal)
{
    for (int i = 0; i < 10000; i++)
        sgc_allocate(24, WHITE_KIND);
}

static int handler_after_jump(void)
{
    struct sigaction action = { .sa_handler = allocate_much, .sa_flags = SA_ONSTACK };

    sigaction(SIGUSR2, &action, NULL);
    leave_a_section();
    raise(SIGUSR2);
    return sgc_self->section.sp == 0 ? 0 : 1;
}

static void check_after_jump(const char *where)
{
    child_ok(handler_after_jump, "after a section that was left by a jump a handler may allocate, %s", where);
}

/* A thread whose stack is the lower half of a mapping and whose alternate stack is the upper one. */
static void *on_low_stack(void *high)
{
    set_altstack(high);
    sgc_mutator_register(0);
    check_fatal("with the alternate stack above its own");
    check_after_jump("on an alternate stack above its own");
    sgc_mutator_unregister(sgc_mutator_self());
    return NULL;
}

static void test_fatal(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    char *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    use_altstack = false;
    check_fatal("on its own stack");
    use_altstack = true;
    check_fatal("on an alternate stack below");
    with_altstack_in_own_stack(check_fatal);
    with_altstack_in_own_stack(check_after_jump);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, memory, 1 << 19);
    pthread_create(&thread, &attributes, on_low_stack, memory + (1 << 19));
    white_join(thread);
    pthread_attr_destroy(&attributes);
}

/* A collection while a handler is inside a client's section-interrupting handler on its alternate
 * stack: the frame is still there, so the suspend handler must not repair. */
static sgc_a32_t in_handler, handler_may_end, wrongly_parked;

static void on_trap_wait(TEST_UNUSED int signal, TEST_UNUSED siginfo_t *info, TEST_UNUSED void *context)
{
    if (!sgc_section_inside(&sgc_self->section) || ++step != jump_at)
        return;
    sgc_a32_store_rel(&in_handler, 1);
    for (int i = 0; i < 300; i++)
        sgc_sleep_ns(WHITE_MS);
    if (sgc_a32_load_acq(&handler_may_end))
        sgc_a32_store(&wrongly_parked, 1);
}

TEST_NOINLINE static void interrupted_allocation(TEST_UNUSED const char *where)
{
    install_trap(on_trap_wait, true);
    allocate_trapped(24, 4);
}

static void collect_beside_handler(TEST_UNUSED void *unused)
{
    white_reached(&in_handler, 1);
    sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, NULL);
    sgc_a32_store_rel(&handler_may_end, 1);
}

static void check_not_repaired(bool inside, const char *where)
{
    pthread_t thread;

    sgc_a32_store(&in_handler, 0);
    sgc_a32_store(&handler_may_end, 0);
    thread = white_start(collect_beside_handler, NULL);
    if (inside)
        with_altstack_in_own_stack(interrupted_allocation);
    else
        interrupted_allocation(where);
    white_join(thread);
    tap_ok(sgc_a32_load(&wrongly_parked) == 0 && kept_intact(),
           "a handler that is still in a section is not parked, %s", where);
}

static void test_steps(void)
{
    static char altstack[ALT_BYTES];

    set_altstack(altstack);
    check_not_repaired(false, "alternate stack elsewhere");
    check_not_repaired(true, "alternate stack inside its own");
    set_altstack(altstack);
    test_fatal();
    set_altstack(altstack);
    test_every_instruction();
}

#else

static void test_steps(void)
{
    tap_skip("single steps are for x86-64");
    (void)allocate_some;
}

#endif

/* ---- the plain functions ---------------------------------------------------------------------------------- */

static int repairs, parks;

static void count_repair(TEST_UNUSED struct sgc_section *self)
{
    repairs++;
}

static void count_park(struct sgc_section *self)
{
    sgc_a32_and(&self->state, ~(uint32_t)SGC_STATE_STOPREQ);
    parks++;
}

TEST_NOINLINE static void enter_deep(struct sgc_section *section)
{
    volatile char frame[512];

    frame[0] = 0;
    sgc_section_enter(section);
    (void)frame[0];
}

static int run_plain(void)
{
    struct sgc_section section = { .sp = 0 };

    sgc_section_hooks.repair = count_repair;
    sgc_section_hooks.park = count_park;
    sgc_section_enter(&section);
    if (!sgc_section_inside(&section))
        return 1;
    sgc_section_leave(&section);
    if (sgc_section_inside(&section) || parks != 0)
        return 2;
    enter_deep(&section);
    sgc_section_enter(&section);
    if (repairs != 1 || !sgc_section_inside(&section))
        return 3;
    sgc_a32_or(&section.state, SGC_STATE_STOPREQ);
    sgc_section_leave(&section);
    return parks == 1 && repairs == 1 ? 0 : 4;
}

/* Beside a mark slow paths block signals, single steps' too, which the system does not bear. */
int main(void)
{
    setenv("SGC_MODE", "stop", 1);
    white_init();
    memset(kept_bytes, 0, sizeof kept_bytes);
    tap_ok(kept_intact(), "objects are intact");
    child_ok(run_plain, "entering, leaving, parking on the way out, and repairing");
    if (TEST_SANITIZED)
        tap_skip("a sanitizer traces through single steps");
    else
        test_steps();
    return tap_done();
}
